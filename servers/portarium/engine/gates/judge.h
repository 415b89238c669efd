/**
 * judge.h - what the workspace's policies and the environment say of one action, and the record of
 * what they said.
 *
 * The facts become the context of spec 8.2, which all active policies judge. A judgement that leads
 * to something is stored with its context: the last 10,000 of a workspace, for simulations.
 */
#ifndef PORTARIUM_ENGINE_GATES_JUDGE_H
#define PORTARIUM_ENGINE_GATES_JUDGE_H

#include "engine/gates/policies.h"

typedef enum portarium_ruling {
    PORTARIUM_RULING_GO,     /* may be dispatched now */
    PORTARIUM_RULING_GATE,   /* a person must approve it */
    PORTARIUM_RULING_MANUAL, /* a person must do it */
    PORTARIUM_RULING_HOLD,   /* not now: a budget has frozen the run or the workspace */
    PORTARIUM_RULING_DENY    /* must not be done */
} portarium_ruling;

/** A judgement, and why. Strings in the arena; NULL: none. */
typedef struct portarium_judgement {
    portarium_ruling ruling;
    const char *policy_id, *rule_id; /* that decided; of a budget, rule_id is the budget's */
    const char *reason;              /* one line */
} portarium_judgement;

/** What is to be judged. NULL: unknown, which conditions see as null. */
typedef struct portarium_facts {
    const char *actor;     /* who wants it */
    const mcp_json *roles; /* an array of the actor's roles */
    const char *workflow_id, *workflow_name;
    const char *operation, *port_family;
    portarium_tier tier;
    const mcp_json *parameters;
    const char *agent_id, *machine_id;
    const char *run_id, *action_id; /* for the record of the judgement */
} portarium_facts;

/**
 * Judge: the strictest of `at_least` and what environment and policies ask for.
 *
 * @param at_least GO or GATE: what the tier or the tool's class asks for
 * @param why      the reason of `at_least`
 * @return MCP_OK; statuses of portarium_policies_active: nothing may be done then
 */
mcp_status portarium_judge(portarium_judgement *out, portarium_tx *tx, const portarium_facts *facts,
                           portarium_ruling at_least, const char *why, mcp_error *err);

/** As portarium_judge, and store the judgement. A context of more than 64 KiB is not stored. */
mcp_status portarium_judge_and_store(portarium_judgement *out, portarium_tx *tx,
                                     const portarium_facts *facts, portarium_ruling at_least,
                                     const char *why, mcp_error *err);

/** A stored judgement that a policy would have changed. Texts live for the call. */
typedef struct portarium_simulated {
    int64_t at_ms;
    const char *was, *would; /* "Allow", "RequireApproval" or "Deny" */
    const char *policy_id, *rule_id;
    const char *run_id, *action_id; /* NULL: none */
} portarium_simulated;

/**
 * Judge the last stored contexts again, with the active policies and one more.
 *
 * @param policy takes the place of the active one of the same id
 * @param last   how many, 1 to 10,000
 * @param judged how many there were
 */
mcp_status portarium_simulate(portarium_tx *tx, const portarium_policy *policy, int64_t last,
                              void (*on_change)(const portarium_simulated *change, void *data),
                              void *data, int64_t *judged, mcp_error *err);

#endif
