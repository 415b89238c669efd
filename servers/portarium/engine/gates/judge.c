/*
 * judge.c - contexts, judgements, and the table evaluations.
 */
#include "engine/gates/judge.h"

#include <string.h>

enum {
    REASON_MAX = 200,
    CONTEXT_MAX = 64 << 10,
    STORED_MAX = 10000,
    PRUNE_EVERY = 100,
    ROW_ARENA = 4 << 20
};

/* ---- the context ----------------------------------------------------------------------------- */

static portarium_environment environment_of(const portarium_settings *settings)
{
    portarium_environment environment = PORTARIUM_ENVIRONMENT_PROD;
    if (settings->environment && strcmp(settings->environment, "test") == 0)
        return PORTARIUM_ENVIRONMENT_DEV;
    if (settings->environment)
        portarium_environment_read(&environment, settings->environment);
    return environment;
}

static void write_known(mcp_json_writer *json, const char *name, const char *value)
{
    if (value)
        mcp_write_member_string(json, name, value);
}

static mcp_status context_of(const mcp_json **out, portarium_tx *tx, const portarium_facts *facts,
                             mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_json_writer *json = &draft.json;
    mcp_write_member_object(json, "actor");
    write_known(json, "id", facts->actor);
    if (facts->roles)
        mcp_write_member_value(json, "roles", facts->roles);
    mcp_write_end(json);
    mcp_write_member_object(json, "workflow");
    write_known(json, "id", facts->workflow_id);
    write_known(json, "name", facts->workflow_name);
    mcp_write_end(json);
    mcp_write_member_object(json, "action");
    write_known(json, "operation", facts->operation);
    write_known(json, "portFamily", facts->port_family);
    mcp_write_member_string(json, "tier", portarium_tier_text(facts->tier));
    mcp_write_end(json);
    mcp_write_member_object(json, "run");
    if (facts->parameters)
        mcp_write_member_value(json, "parameters", facts->parameters);
    mcp_write_end(json);
    mcp_write_member_object(json, "agent");
    write_known(json, "id", facts->agent_id);
    mcp_write_end(json);
    mcp_write_member_object(json, "machine");
    write_known(json, "id", facts->machine_id);
    mcp_write_end(json);
    mcp_write_member_string(json, "env", portarium_environment_text(environment_of(tx->settings)));
    return portarium_draft_read(&draft, tx, out, err);
}

/* ---- judging --------------------------------------------------------------------------------- */

static const portarium_ruling ruling_of[] = {
    [PORTARIUM_EFFECT_ALLOW] = PORTARIUM_RULING_GO,
    [PORTARIUM_EFFECT_REQUIRE_APPROVAL] = PORTARIUM_RULING_GATE,
    [PORTARIUM_EFFECT_DENY] = PORTARIUM_RULING_DENY,
};

static portarium_effect effect_of(portarium_ruling ruling)
{
    return ruling == PORTARIUM_RULING_GO     ? PORTARIUM_EFFECT_ALLOW
           : ruling == PORTARIUM_RULING_GATE ? PORTARIUM_EFFECT_REQUIRE_APPROVAL
                                             : PORTARIUM_EFFECT_DENY;
}

static mcp_status judge(portarium_judgement *out, portarium_tx *tx, const mcp_json *context,
                        mcp_error *err)
{
    portarium_policy_set policies;
    portarium_verdict verdict;
    mcp_status st = portarium_policies_active(&policies, tx, err);
    if (st == MCP_OK)
        st = portarium_policies_judge(&verdict, policies.items, policies.count, context, tx->arena,
                                      err);
    if (st != MCP_OK || ruling_of[verdict.effect] <= out->ruling)
        return st;
    const char *detail = portarium_text_begin(tx->arena, verdict.explanations[0].detail,
                                              REASON_MAX);
    *out = (portarium_judgement){
        .ruling = ruling_of[verdict.effect],
        .policy_id = verdict.policy_id,
        .rule_id = verdict.rule_id,
        .reason = detail ? mcp_arena_printf(tx->arena, "policy %s, rule %s: %s", verdict.policy_id,
                                            verdict.rule_id, detail)
                         : NULL,
    };
    return out->reason ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a judgement");
}

/* What tier and environment ask for, before any policy. */
static portarium_judgement base_of(portarium_tx *tx, const portarium_facts *facts,
                                   portarium_ruling at_least, const char *why)
{
    portarium_environment environment = environment_of(tx->settings);
    portarium_environment_verdict asks = portarium_environment_judge(environment, facts->tier);
    if (at_least != PORTARIUM_RULING_GO || !asks.requires_approval || !asks.is_enforced)
        return (portarium_judgement){ .ruling = at_least, .reason = why };
    return (portarium_judgement){
        .ruling = PORTARIUM_RULING_GATE,
        .reason = mcp_arena_printf(tx->arena, "the environment %s asks for approval of %s",
                                   portarium_environment_text(environment),
                                   portarium_tier_text(facts->tier)),
    };
}

mcp_status portarium_judge(portarium_judgement *out, portarium_tx *tx, const portarium_facts *facts,
                           portarium_ruling at_least, const char *why, mcp_error *err)
{
    const mcp_json *context = NULL;
    mcp_status st = context_of(&context, tx, facts, err);
    *out = base_of(tx, facts, at_least, why);
    return st == MCP_OK ? judge(out, tx, context, err) : st;
}

/* ---- the record ------------------------------------------------------------------------------ */

static mcp_status next_number(int64_t *out, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace) };
    *out = tx->head.evaluations + 1;
    if (tx->head.evaluations > 0)
        return MCP_OK;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT seq FROM evaluations WHERE workspace = $1 ORDER BY seq DESC "
                             "LIMIT 1",
                             values, 1, err);
    if (portarium_next(rows, &st, err))
        *out = db_int_at(rows, 0) + 1;
    db_rows_free(rows);
    return st;
}

static mcp_status prune(portarium_tx *tx, int64_t newest, mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_int(newest - STORED_MAX) };
    return newest % PRUNE_EVERY == 0
               ? db_defer(tx->session, MCP_OK,
                          "DELETE FROM evaluations WHERE workspace = $1 AND seq <= $2", values, 2,
                          err)
               : MCP_OK;
}

static void write_outcome(mcp_json_writer *json, const portarium_facts *facts,
                          const portarium_judgement *judgement, portarium_ruling base)
{
    mcp_write_object(json);
    mcp_write_member_string(json, "effect", portarium_effect_text(effect_of(judgement->ruling)));
    mcp_write_member_string(json, "base", portarium_effect_text(effect_of(base)));
    write_known(json, "policyId", judgement->policy_id);
    write_known(json, "ruleId", judgement->rule_id);
    write_known(json, "runId", facts->run_id);
    write_known(json, "actionId", facts->action_id);
    mcp_write_end(json);
}

static mcp_status store(portarium_tx *tx, const mcp_json *context, const portarium_facts *facts,
                        const portarium_judgement *judgement, portarium_ruling base, mcp_error *err)
{
    int64_t number = 0;
    mcp_buf what, outcome;
    mcp_json_writer json;
    mcp_buf_init(&what, CONTEXT_MAX);
    mcp_buf_init(&outcome, CONTEXT_MAX);
    mcp_json_writer_init(&json, &what);
    mcp_write_value(&json, context);
    mcp_status st = mcp_json_writer_status(&json);
    bool is_too_long = st == MCP_E_LIMIT;
    if (st == MCP_OK) {
        mcp_json_writer_init(&json, &outcome);
        write_outcome(&json, facts, judgement, base);
        st = mcp_json_writer_status(&json);
    }
    if (st != MCP_OK && !is_too_long)
        mcp_error_set(err, st, "a judgement cannot be written: %s", mcp_status_words(st));
    if (st == MCP_OK)
        st = next_number(&number, tx, err);
    db_value values[] = { db_text(tx->workspace), db_int(number), db_int(tx->now_ms),
                          db_text_n(what.data, what.length),
                          db_text_n(outcome.data, outcome.length) };
    if (st == MCP_OK)
        st = db_defer(tx->session, MCP_OK,
                      "INSERT INTO evaluations (workspace, seq, at, context, outcome) "
                      "VALUES ($1, $2, $3, $4, $5)",
                      values, 5, err);
    mcp_buf_clear(&what);
    mcp_buf_clear(&outcome);
    if (is_too_long)
        return MCP_OK;
    tx->head.evaluations = number;
    return st == MCP_OK ? prune(tx, number, err) : st;
}

mcp_status portarium_judge_and_store(portarium_judgement *out, portarium_tx *tx,
                                     const portarium_facts *facts, portarium_ruling at_least,
                                     const char *why, mcp_error *err)
{
    const mcp_json *context = NULL;
    mcp_status st = context_of(&context, tx, facts, err);
    *out = base_of(tx, facts, at_least, why);
    portarium_ruling base = out->ruling;
    if (st == MCP_OK)
        st = judge(out, tx, context, err);
    return st == MCP_OK ? store(tx, context, facts, out, base, err) : st;
}

/* ---- simulation ------------------------------------------------------------------------------ */

/* The active policies with one more, or another in its place. */
static mcp_status with_policy(portarium_policy_set *set, portarium_tx *tx,
                              const portarium_policy *policy, mcp_error *err)
{
    const portarium_policy **items = mcp_arena_array(tx->arena, set->count + 1, sizeof(void *));
    size_t count = 0;
    if (!items)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policies");
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i]->id, policy->id) != 0)
            items[count++] = set->items[i];
    }
    items[count++] = policy;
    *set = (portarium_policy_set){ .items = items, .count = count };
    return MCP_OK;
}

/* A row judged again. Its values live in an arena of its own. */
static mcp_status judge_again(portarium_simulated *out, bool *has_changed,
                              const portarium_policy_set *set, const mcp_json *context,
                              const mcp_json *outcome, mcp_arena *arena, mcp_error *err)
{
    portarium_verdict verdict;
    portarium_effect base = PORTARIUM_EFFECT_ALLOW;
    portarium_effect_read(&base, mcp_json_get_string(outcome, "base"));
    mcp_status st = portarium_policies_judge(&verdict, set->items, set->count, context, arena, err);
    if (st != MCP_OK)
        return st;
    bool is_stricter = verdict.effect > base;
    out->was = mcp_json_get_string(outcome, "effect");
    out->would = portarium_effect_text(is_stricter ? verdict.effect : base);
    out->policy_id = is_stricter ? verdict.policy_id : NULL;
    out->rule_id = is_stricter ? verdict.rule_id : NULL;
    out->run_id = mcp_json_get_string(outcome, "runId");
    out->action_id = mcp_json_get_string(outcome, "actionId");
    *has_changed = strcmp(out->was, out->would) != 0;
    return MCP_OK;
}

mcp_status portarium_simulate(portarium_tx *tx, const portarium_policy *policy, int64_t last,
                              void (*on_change)(const portarium_simulated *change, void *data),
                              void *data, int64_t *judged, mcp_error *err)
{
    portarium_policy_set set;
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_int(last) };
    *judged = 0;
    mcp_status st = portarium_policies_active(&set, tx, err);
    if (st == MCP_OK)
        st = with_policy(&set, tx, policy, err);
    if (st == MCP_OK)
        st = db_query(&rows, tx->session,
                      "SELECT at, context, outcome FROM evaluations WHERE workspace = $1 ORDER BY "
                      "seq DESC LIMIT $2",
                      values, 2, err);
    while (portarium_next(rows, &st, err)) {
        const mcp_json *context = NULL, *outcome = NULL;
        portarium_simulated change = { .at_ms = db_int_at(rows, 0) };
        bool has_changed = false;
        size_t length = 0, outcome_length = 0;
        const char *text = db_text_at(rows, 1, &length);
        const char *ended = db_text_at(rows, 2, &outcome_length);
        mcp_arena *arena = mcp_arena_new(ROW_ARENA);
        st = arena ? mcp_json_read(&context, arena, text, length, err)
                   : mcp_error_set(err, MCP_E_NOMEM, "no memory for a simulation");
        if (st == MCP_OK)
            st = mcp_json_read(&outcome, arena, ended, outcome_length, err);
        if (st == MCP_OK)
            st = judge_again(&change, &has_changed, &set, context, outcome, arena, err);
        if (st == MCP_OK && has_changed)
            on_change(&change, data);
        mcp_arena_free(arena);
        ++*judged;
    }
    db_rows_free(rows);
    return st;
}
