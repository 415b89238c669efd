/**
 * interventions.h - what a person may do to a run in flight, and what it does. Pure; any thread.
 */
#ifndef PORTARIUM_INTERVENTIONS_H
#define PORTARIUM_INTERVENTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/roles.h"
#include "model/vocabulary.h"

/** A run as an intervention finds it. */
typedef struct portarium_run_facts {
    portarium_run_status status;
    bool has_control_state; /* any is set */
    bool is_held;           /* by one that stops it: blocked, degraded or frozen */
    bool has_open_gate;     /* an approval of it is neither approved nor executed */
} portarium_run_facts;

/** What becomes of a member of the run. */
typedef enum portarium_change { PORTARIUM_KEEP, PORTARIUM_SET, PORTARIUM_REMOVE } portarium_change;

/** The effect of an intervention. */
typedef struct portarium_intervention_effect {
    portarium_run_status status; /* the run's, changed or not */
    portarium_change control;    /* PORTARIUM_SET: to `control_state` */
    portarium_control_state control_state;
    portarium_change owner; /* PORTARIUM_SET: to the target */
} portarium_intervention_effect;

/** The judgement of an intervention, in the order in which it is made. */
typedef enum portarium_intervention_verdict {
    PORTARIUM_INTERVENTION_DONE,
    PORTARIUM_INTERVENTION_UNKNOWN,   /* no such type */
    PORTARIUM_INTERVENTION_FORBIDDEN, /* not with these roles */
    PORTARIUM_INTERVENTION_NO_TARGET, /* the type needs a target */
    PORTARIUM_INTERVENTION_FINAL,     /* the run has ended */
    PORTARIUM_INTERVENTION_GATED,     /* resume, while a gate is not approved */
    PORTARIUM_INTERVENTION_ILLEGAL,   /* resume, while nothing holds the run */
} portarium_intervention_verdict;

/**
 * Judge an intervention and tell its effect.
 *
 * An intervention that pauses (pause, freeze, ...) sets only the control state of a run that is
 * Pending, WaitingForApproval or Paused: the scheduler honours it when the run becomes runnable.
 * Who gets a run that is held has it held: reroute and handoff leave such a control state, as only
 * `resume` may remove it. `resume` of a Pending or Running run with a control state removes that
 * alone.
 *
 * @param out  untouched unless PORTARIUM_INTERVENTION_DONE is returned
 * @param type the text of interventionType
 */
portarium_intervention_verdict portarium_intervene(portarium_intervention_effect *out,
                                                   const char *type, portarium_roles roles,
                                                   bool has_target, const portarium_run_facts *run);

/** The text of the i-th type, NULL behind the last. */
const char *portarium_intervention_type(size_t index);

#endif
