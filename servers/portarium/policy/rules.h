/**
 * rules.h - a workspace's policy: conditional rules, separation of duties, budgets of autonomy.
 *
 * Policies are read once and judged as pure functions of the facts that a caller gives. Several
 * policies combine by the strictest effect: Deny, then RequireApproval, then Allow. A condition
 * that cannot be evaluated denies.
 */
#ifndef PORTARIUM_RULES_H
#define PORTARIUM_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/condition.h"
#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/fields.h"
#include "model/shapes.h"
#include "model/vocabulary.h"
#include "policy/budget.h"
#include "policy/duties.h"

/** One rule: its effect holds when its condition is true. */
typedef struct portarium_rule {
    const char *id;
    const char *text;
    const portarium_condition *condition;
    portarium_effect effect;
    const char *rationale; /* NULL: none */
} portarium_rule;

/** A policy. Immutable, lives in one arena; any thread. */
typedef struct portarium_policy {
    const char *id;
    const char *name;
    int64_t version;
    int64_t priority; /* orders explanations only */
    bool is_active;
    const portarium_rule *rules;
    size_t rule_count;
    const portarium_duty *duties;
    size_t duty_count;
    const portarium_budget *budgets;
    size_t budget_count;
    const mcp_json *source; /* the body */
} portarium_policy;

/**
 * Read a policy. Kinds of separation of duties that version 1 does not serve are refused, as are
 * rules and budgets of one id, conditions that do not parse or name what no context has, and a
 * warning behind its hard stop.
 *
 * @param out     the arena's; its texts are those of `body`, which must live as long
 * @param id      the policy's id; a policyId of the body must be the same
 * @param version its version
 * @param fields  every breach
 * @return MCP_OK; MCP_E_SCHEMA (`fields` says why); MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status portarium_policy_read(const portarium_policy **out, mcp_arena *arena,
                                 const portarium_shapes *shapes, const mcp_json *body,
                                 const char *id, int64_t version, portarium_fields *fields,
                                 mcp_error *err);

/** A rule that took effect, or could not be evaluated. */
typedef struct portarium_explanation {
    const char *policy_id;
    const char *rule_id;
    portarium_effect effect;
    int64_t priority;
    bool is_error;      /* the condition failed, so the effect is Deny */
    const char *detail; /* the rule's rationale or condition, or the error; never NULL */
} portarium_explanation;

/** Maximum number of explanations of one verdict. */
#define PORTARIUM_EXPLANATIONS_MAX 32

/** What the policies say of one action. */
typedef struct portarium_verdict {
    portarium_effect effect; /* Allow when no rule took effect */
    const char *policy_id;   /* of the first explanation with that effect; NULL: none */
    const char *rule_id;
    portarium_explanation explanations[PORTARIUM_EXPLANATIONS_MAX];
    size_t
        count; /* the strictest first, among equals the highest priority, then policy and rule id */
} portarium_verdict;

/**
 * Judge an action by all active policies.
 *
 * @param policies inactive ones are skipped
 * @param context  an object with the members actor, workflow, action, run, agent, machine and env;
 *                 a rule that names an absent one denies
 * @param arena    holds the details of errors
 * @return MCP_OK; MCP_E_NOMEM, which a caller must treat as Deny
 */
mcp_status portarium_policies_judge(portarium_verdict *out, const portarium_policy *const *policies,
                                    size_t count, const mcp_json *context, mcp_arena *arena,
                                    mcp_error *err);

/** What an environment asks of a tier. */
typedef struct portarium_environment_verdict {
    bool requires_approval; /* the tier is at or above the environment's threshold */
    bool is_enforced;       /* false: it is only logged (dev) */
    bool may_override;      /* a person may set it aside (dev and staging) */
} portarium_environment_verdict;

/** Judge a tier: the threshold is ManualOnly in dev, HumanApprove in staging, Assisted in prod. */
portarium_environment_verdict portarium_environment_judge(portarium_environment environment,
                                                          portarium_tier tier);

#endif
