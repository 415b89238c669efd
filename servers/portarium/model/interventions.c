/*
 * interventions.c - the table of interventions.
 *
 * `resume` is the one that could walk through a gate, so it alone looks at the run's approvals.
 */
#include "model/interventions.h"

#include <string.h>

#include "model/states.h"

#define A PORTARIUM_ROLE(ADMIN)
#define O PORTARIUM_ROLE(OPERATOR)
#define P PORTARIUM_ROLE(APPROVER)
#define U PORTARIUM_ROLE(AUDITOR)

enum { PAUSES = 1, RESUMES = 2, NEEDS_TARGET = 4, ON_FINAL = 8 };

struct intervention {
    const char *type;
    portarium_roles roles;
    unsigned flags;
    portarium_change control;
    portarium_control_state control_state;
    portarium_change owner;
};

/* clang-format off */
static const struct intervention table[] = {
    /* type                    roles      flags                  control state                                  owner */
    { "pause",                 A | O,     PAUSES,                PORTARIUM_SET, PORTARIUM_CONTROL_BLOCKED,        PORTARIUM_KEEP },
    { "resume",                A | O,     RESUMES,               PORTARIUM_REMOVE, 0,                             PORTARIUM_REMOVE },
    { "reroute",               A | O | P, NEEDS_TARGET,          PORTARIUM_SET, PORTARIUM_CONTROL_OPERATOR_OWNED, PORTARIUM_SET },
    { "handoff",               A | O,     NEEDS_TARGET,          PORTARIUM_SET, PORTARIUM_CONTROL_OPERATOR_OWNED, PORTARIUM_SET },
    { "escalate",              A | O | P, PAUSES | NEEDS_TARGET, PORTARIUM_SET, PORTARIUM_CONTROL_BLOCKED,        PORTARIUM_SET },
    { "annotate",              A | U,     ON_FINAL,              PORTARIUM_KEEP, 0,                               PORTARIUM_KEEP },
    { "request-evidence",      A | O | P, PAUSES,                PORTARIUM_SET, PORTARIUM_CONTROL_BLOCKED,        PORTARIUM_KEEP },
    { "request-more-evidence", A | O | P, PAUSES,                PORTARIUM_SET, PORTARIUM_CONTROL_BLOCKED,        PORTARIUM_KEEP },
    { "freeze",                A | O,     PAUSES,                PORTARIUM_SET, PORTARIUM_CONTROL_FROZEN,         PORTARIUM_KEEP },
    { "sandbox",               A | O,     PAUSES,                PORTARIUM_SET, PORTARIUM_CONTROL_DEGRADED,       PORTARIUM_KEEP },
    { "emergency-disable",     A,         PAUSES,                PORTARIUM_SET, PORTARIUM_CONTROL_FROZEN,         PORTARIUM_KEEP },
};
/* clang-format on */

enum { TABLE_COUNT = sizeof table / sizeof *table };

static const struct intervention *find(const char *type)
{
    for (size_t i = 0; i < TABLE_COUNT; i++)
        if (strcmp(table[i].type, type) == 0)
            return &table[i];
    return NULL;
}

static portarium_intervention_verdict judge_resume(portarium_run_status *status,
                                                   const portarium_run_facts *run)
{
    bool is_paused = run->status == PORTARIUM_RUN_PAUSED;
    bool is_waiting = run->status == PORTARIUM_RUN_WAITING_FOR_APPROVAL;

    if ((is_paused || is_waiting) && run->has_open_gate)
        return PORTARIUM_INTERVENTION_GATED;
    if (is_paused || is_waiting)
        *status = PORTARIUM_RUN_RUNNING;
    else if (!run->has_control_state)
        return PORTARIUM_INTERVENTION_ILLEGAL;
    return PORTARIUM_INTERVENTION_DONE;
}

portarium_intervention_verdict portarium_intervene(portarium_intervention_effect *out,
                                                   const char *type, portarium_roles roles,
                                                   bool has_target, const portarium_run_facts *run)
{
    const struct intervention *row = find(type);
    portarium_run_status status = run->status;

    if (!row)
        return PORTARIUM_INTERVENTION_UNKNOWN;
    if (!(row->roles & roles))
        return PORTARIUM_INTERVENTION_FORBIDDEN;
    if ((row->flags & NEEDS_TARGET) && !has_target)
        return PORTARIUM_INTERVENTION_NO_TARGET;
    if (portarium_run_is_final(status) && !(row->flags & ON_FINAL))
        return PORTARIUM_INTERVENTION_FINAL;
    if (row->flags & RESUMES) {
        portarium_intervention_verdict verdict = judge_resume(&status, run);
        if (verdict != PORTARIUM_INTERVENTION_DONE)
            return verdict;
    }
    if ((row->flags & PAUSES) && portarium_run_may_become(status, PORTARIUM_RUN_PAUSED))
        status = PORTARIUM_RUN_PAUSED;
    bool gives_away = row->control == PORTARIUM_SET &&
                      row->control_state == PORTARIUM_CONTROL_OPERATOR_OWNED;
    *out = (portarium_intervention_effect){
        .status = status,
        .control = gives_away && run->is_held ? PORTARIUM_KEEP : row->control,
        .control_state = row->control_state,
        .owner = row->owner,
    };
    return PORTARIUM_INTERVENTION_DONE;
}

const char *portarium_intervention_type(size_t index)
{
    return index < TABLE_COUNT ? table[index].type : NULL;
}
