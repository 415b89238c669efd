/**
 * duties.h - separation of duties: who may decide, judged from stored decisions. Pure; any thread.
 */
#ifndef PORTARIUM_DUTIES_H
#define PORTARIUM_DUTIES_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/fields.h"

/** The kinds that are served. */
typedef enum portarium_duty_kind {
    PORTARIUM_DUTY_MAKER_CHECKER,
    PORTARIUM_DUTY_DISTINCT_APPROVERS,
    PORTARIUM_DUTY_INCOMPATIBLE_DUTIES,
    PORTARIUM_DUTY_SPECIALIST_APPROVAL,
} portarium_duty_kind;

/** One constraint of a policy. */
typedef struct portarium_duty {
    portarium_duty_kind kind;
    size_t minimum_approvers; /* DistinctApprovers */
    const char *const *words; /* IncompatibleDuties: duty keys; SpecialistApproval: roles */
    size_t word_count;
    const char *rationale; /* SpecialistApproval */
} portarium_duty;

/** Somebody did something: a user and the key of a duty ("run:start"). */
typedef struct portarium_deed {
    const char *user_id;
    const char *duty_key;
} portarium_deed;

/** What is stored about an approval and its run, and who wants to decide. */
typedef struct portarium_duty_facts {
    const char *decider_id;
    const char *const *decider_roles; /* by name, also those that the four roles do not have */
    size_t decider_role_count;
    const char *duty_key;          /* what deciding is; NULL: "approval:submit" */
    const char *const *requesters; /* who asked, who started the run, who owns the agent */
    size_t requester_count;
    const char *const *approvers; /* who has already decided */
    size_t approver_count;
    const portarium_deed *deeds; /* of the run, by anybody */
    size_t deed_count;
} portarium_duty_facts;

/** The name of a kind: "MakerChecker". */
const char *portarium_duty_kind_text(portarium_duty_kind kind);

/**
 * Read the sodConstraints of a policy, whose shape was checked.
 *
 * @param place the pointer of the list in the body
 * @return MCP_OK, also when a kind was refused in `fields`; MCP_E_NOMEM
 */
mcp_status portarium_duties_read(const portarium_duty **out, size_t *count, mcp_arena *arena,
                                 const mcp_json *list, const char *place, portarium_fields *fields,
                                 mcp_error *err);

/** True when the decider may not decide because of this constraint: "SoD violation:
 *  <kind>Violation". */
bool portarium_duty_is_violated(const portarium_duty *duty, const portarium_duty_facts *facts);

/** The first constraint that the decider violates, NULL when there is none. Maker-checker holds
 *  always, also without a constraint. */
const portarium_duty *portarium_duties_violated(const portarium_duty *duties, size_t count,
                                                const portarium_duty_facts *facts);

/** How many distinct approvers are needed: the largest minimum, at least 1. */
size_t portarium_duties_approvers(const portarium_duty *duties, size_t count);

#endif
