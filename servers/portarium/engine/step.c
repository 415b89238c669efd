/*
 * step.c - what is next for each action, and for the run.
 */
#include "engine/step.h"

#include <string.h>

#include "engine/builtin.h"
#include "engine/compensate.h"
#include "engine/gate.h"
#include "engine/gates/budgets.h"
#include "engine/offer.h"
#include "engine/sealed/secrets.h"
#include "engine/work.h"
#include "language/template.h"
#include "model/identity.h"
#include "model/shapes.h"

/* A step in progress. */
typedef struct step {
    portarium_run *run;
    portarium_tx *tx;
    int64_t lease_ms;
    portarium_dispatches *dispatches;
    int64_t wake_at_ms; /* the earliest timer; NEVER: none */
    bool has_changed;   /* look at the actions again */
    portarium_run_gate gate;
} step;

/* ---- conditions and input -------------------------------------------------------------------- */

static mcp_status context_of(step *self, const mcp_json **out, mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_object(&draft.json, "run");
    mcp_write_member_string(&draft.json, "id", self->run->record.id);
    mcp_write_member_value(&draft.json, "parameters",
                           mcp_json_get(self->run->record.json, "parameters"));
    mcp_write_end(&draft.json);
    mcp_write_member_object(&draft.json, "actions");
    for (size_t i = 0; i < self->run->action_count; i++) {
        const portarium_run_action *action = &self->run->actions[i];
        mcp_write_member_object(&draft.json, action->id);
        mcp_write_member_string(&draft.json, "state", portarium_action_state_text(action->state));
        mcp_write_member_value(&draft.json, "output", portarium_action_output(action));
        mcp_write_end(&draft.json);
    }
    mcp_write_end(&draft.json);
    return portarium_draft_read(&draft, self->tx, out, err);
}

/* `when`: false skips the action; an error fails it. */
static mcp_status judge_when(step *self, portarium_run_action *action, bool *may_proceed,
                             mcp_error *err)
{
    const mcp_json *context = NULL;
    mcp_error why = MCP_ERROR_INIT;
    *may_proceed = true;
    if (!action->definition->test)
        return MCP_OK;
    mcp_status st = context_of(self, &context, err);
    if (st != MCP_OK)
        return st;
    st = portarium_condition_judge(may_proceed, action->definition->test,
                                   portarium_condition_get_member, (void *)context, &why);
    if (st == MCP_OK && *may_proceed)
        return MCP_OK;
    *may_proceed = false;
    self->has_changed = true;
    if (st != MCP_OK)
        return portarium_action_fail(self->run, action, self->tx, PORTARIUM_CLASS_VALIDATION,
                                     mcp_arena_printf(self->tx->arena, "when: %s", why.message),
                                     err);
    st = portarium_action_become(self->run, action, self->tx, PORTARIUM_ACTION_SKIPPED, NULL, NULL,
                                 err);
    return st == MCP_OK ? portarium_run_evidence(self->run, self->tx, "Action", err,
                                                 "Action %s skipped: when is false", action->id)
                        : st;
}

static mcp_status fill(step *self, const mcp_json *template, const mcp_json *parameters,
                       const mcp_json **out, mcp_error *why)
{
    mcp_buf buf;
    mcp_json_writer json;
    portarium_scope scope;
    portarium_run_scope(&scope, self->run);
    if (parameters)
        scope.parameters = parameters;
    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&json, &buf);
    mcp_status st = portarium_template_body(&json, template, &scope, why);
    if (st == MCP_OK)
        st = mcp_json_read(out, self->tx->arena, buf.data, buf.length, why);
    mcp_buf_clear(&buf);
    if (st == MCP_OK && portarium_is_deeper(*out, PORTARIUM_DEPTH_MAX))
        st = mcp_error_set(why, MCP_E_LIMIT, "nested deeper than %d levels", PORTARIUM_DEPTH_MAX);
    return st;
}

/* The input that the action's template makes. @param out NULL: it has none */
static mcp_status resolve(step *self, portarium_run_action *action, const mcp_json **out,
                          bool *may_proceed, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    *out = NULL;
    *may_proceed = true;
    if (!action->definition->input)
        return MCP_OK;
    if (fill(self, action->definition->input, NULL, out, &why) == MCP_OK)
        return MCP_OK;
    *may_proceed = false;
    self->has_changed = true;
    return portarium_action_fail(self->run, action, self->tx, PORTARIUM_CLASS_VALIDATION,
                                 mcp_arena_printf(self->tx->arena, "input: %s", why.message), err);
}

/* ---- performing ------------------------------------------------------------------------------ */

static void wake_at(step *self, int64_t at_ms)
{
    if (self->wake_at_ms == PORTARIUM_NEVER || at_ms < self->wake_at_ms)
        self->wake_at_ms = at_ms;
}

static mcp_status perform_builtin(step *self, portarium_run_action *action, const mcp_json *input,
                                  mcp_error *err)
{
    portarium_draft draft;
    portarium_builtin_result result;
    const mcp_json *hidden = NULL;
    mcp_status st = portarium_builtin_run(&result, self->run, action, self->tx, input, err);
    if (st != MCP_OK)
        return st;
    if (result.state == PORTARIUM_ACTION_WAITING) {
        wake_at(self, result.wake_at_ms);
        if (action->state == PORTARIUM_ACTION_WAITING)
            return MCP_OK;
        portarium_draft_object(&draft);
        mcp_write_member_int(&draft.json, "wakeAtMs", result.wake_at_ms);
        st = portarium_draft_read(&draft, self->tx, &hidden, err);
        return st == MCP_OK ? portarium_action_become(self->run, action, self->tx,
                                                      PORTARIUM_ACTION_WAITING, NULL, hidden, err)
                            : st;
    }
    self->has_changed = true;
    st = portarium_action_become(self->run, action, self->tx, PORTARIUM_ACTION_RUNNING, NULL, NULL,
                                 err);
    if (st != MCP_OK)
        return st;
    return result.state == PORTARIUM_ACTION_SUCCEEDED
               ? portarium_action_succeed(self->run, action, self->tx, result.output, err)
               : portarium_action_fail(self->run, action, self->tx, result.error_class,
                                       result.message, err);
}

static mcp_status deny(step *self, portarium_run_action *action,
                       const portarium_judgement *judgement, mcp_error *err)
{
    self->has_changed = true;
    return portarium_action_fail(self->run, action, self->tx, PORTARIUM_CLASS_POLICY_DENY,
                                 judgement->reason, err);
}

/* A use of budgets. One that is used up denies the action, or leaves it as it is and holds the run.
 */
static mcp_status spend(step *self, portarium_run_action *action, portarium_metrics metrics,
                        bool *may_proceed, mcp_error *err)
{
    portarium_judgement judgement;
    mcp_status st = portarium_budgets_spend(&judgement, self->run, self->tx, metrics, err);
    *may_proceed = st == MCP_OK && judgement.ruling == PORTARIUM_RULING_GO;
    return st == MCP_OK && judgement.ruling == PORTARIUM_RULING_DENY
               ? deny(self, action, &judgement, err)
               : st;
}

/* The input with its secrets, for the attempt alone. What a person has put in its place since is
 * left as it is. */
static mcp_status reveal(step *self, portarium_run_action *action, const mcp_json **input,
                         bool *may_proceed, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    const mcp_json *shown = NULL, *parameters = NULL;
    const mcp_json *template = action->definition->input;
    *may_proceed = true;
    if (!template || !portarium_secrets_has(self->run))
        return MCP_OK;
    mcp_status st = portarium_secrets_reveal(&parameters, self->run, self->tx, &why);
    if (st == MCP_OK)
        st = fill(self, template, NULL, &shown, &why);
    if (st == MCP_OK && mcp_json_equal(shown, *input))
        st = fill(self, template, parameters, input, &why);
    if (st == MCP_OK)
        return MCP_OK;
    *may_proceed = false;
    self->has_changed = true;
    return portarium_action_fail(
        self->run, action, self->tx, PORTARIUM_CLASS_VALIDATION,
        mcp_arena_printf(self->tx->arena, "secret parameters: %s", why.message), err);
}

static mcp_status perform(step *self, portarium_run_action *action, const mcp_json *input,
                          mcp_error *err)
{
    portarium_record adapter;
    mcp_error why = MCP_ERROR_INIT;
    bool may_proceed = false;
    if (portarium_is_builtin(action->definition->operation))
        return perform_builtin(self, action, input, err);
    mcp_status st = portarium_gate_adapter(&adapter, action, self->tx, &why);
    if (st == MCP_E_NOT_FOUND) {
        self->has_changed = true;
        return portarium_action_fail(self->run, action, self->tx, PORTARIUM_CLASS_CONFLICT,
                                     why.message, err);
    }
    if (st != MCP_OK)
        return mcp_error_set(err, st, "%s", why.message);
    st = spend(self, action, portarium_metrics_of(mcp_json_get(adapter.json, "binding")),
               &may_proceed, err);
    if (st == MCP_OK && may_proceed && portarium_is_offered(&adapter))
        return portarium_offer(self->run, action, self->tx, &adapter, input, err);
    if (st == MCP_OK && may_proceed)
        st = reveal(self, action, &input, &may_proceed, err);
    if (st != MCP_OK || !may_proceed)
        return st;
    return portarium_attempt_begin(self->run, action, self->tx, &adapter, input, self->lease_ms,
                                   self->dispatches, err);
}

/* ---- the states of an action ----------------------------------------------------------------- */

static bool is_released(const step *self, const portarium_run_action *action)
{
    const portarium_action *definition = action->definition;
    for (size_t i = 0; i < definition->predecessor_count; i++) {
        const portarium_run_action *before = &self->run->actions[definition->predecessors[i]];
        if (!portarium_action_releases(before->state))
            return false;
    }
    return true;
}

/* An Assisted action is announced first, so that somebody can pause the run. */
static bool has_grace(const step *self, const portarium_run_action *action)
{
    return action->definition->tier == PORTARIUM_TIER_ASSISTED &&
           self->tx->settings->assisted_grace_ms > 0 &&
           !portarium_is_builtin(action->definition->operation);
}

static mcp_status announce(step *self, portarium_run_action *action, const mcp_json *input,
                           mcp_error *err)
{
    char at[MCP_CLOCK_UTC_SIZE];
    portarium_draft draft;
    const mcp_json *patch = NULL, *hidden = NULL;
    int64_t until = self->tx->now_ms + self->tx->settings->assisted_grace_ms;
    portarium_time_write(at, until);
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "wakeAtMs", until);
    if (input)
        mcp_write_member_value(&draft.json, "input", input);
    mcp_status st = portarium_draft_read(&draft, self->tx, &hidden, err);
    if (st == MCP_OK)
        st = portarium_object(self->tx, &patch, err, "nextAttemptAtIso", at, NULL);
    if (st == MCP_OK)
        st = portarium_action_become(self->run, action, self->tx, PORTARIUM_ACTION_WAITING, patch,
                                     hidden, err);
    wake_at(self, until);
    return st == MCP_OK
               ? portarium_run_event(self->run, self->tx, "ActionDispatched", action, patch, err)
               : st;
}

static mcp_status ask(step *self, portarium_run_action *action,
                      const portarium_judgement *judgement, const mcp_json *input, mcp_error *err)
{
    bool may_proceed = false;
    mcp_status st = spend(self, action, 1u << PORTARIUM_METRIC_APPROVAL_REQUESTS, &may_proceed,
                          err);
    return st == MCP_OK && may_proceed
               ? portarium_gate_open(self->run, action, self->tx, judgement, input, err)
               : st;
}

static mcp_status begin(step *self, portarium_run_action *action, mcp_error *err)
{
    const mcp_json *input = NULL;
    portarium_judgement judgement;
    bool may_proceed = false;
    mcp_status st = judge_when(self, action, &may_proceed, err);
    if (st == MCP_OK && may_proceed)
        st = resolve(self, action, &input, &may_proceed, err);
    if (st != MCP_OK || !may_proceed)
        return st;
    st = portarium_gate_judge(&judgement, self->run, action, self->tx, err);
    if (st != MCP_OK)
        return st;
    switch (judgement.ruling) {
    case PORTARIUM_RULING_GO:
        return has_grace(self, action) ? announce(self, action, input, err)
                                       : perform(self, action, input, err);
    case PORTARIUM_RULING_GATE:
        return ask(self, action, &judgement, input, err);
    case PORTARIUM_RULING_MANUAL:
        return portarium_gate_hand_over(self->run, action, self->tx, input, err);
    default:
        return deny(self, action, &judgement, err);
    }
}

/* What was approved is repeated as it was approved, or not at all. */
static mcp_status is_approved(step *self, portarium_run_action *action, const mcp_json *input,
                              bool *out, mcp_error *err)
{
    portarium_record adapter;
    const char *hash = NULL;
    const char *approved = mcp_json_get_string(action->record.hidden, "subjectHash");
    *out = !approved || portarium_is_builtin(action->definition->operation);
    if (*out)
        return MCP_OK;
    mcp_status st = portarium_gate_adapter(&adapter, action, self->tx, err);
    if (st == MCP_OK)
        st = portarium_gate_subject(&hash, self->run, action, self->tx, &adapter, input, err);
    if (st != MCP_OK && st != MCP_E_NOT_FOUND)
        return st;
    *out = hash && strcmp(hash, approved) == 0;
    if (*out)
        return MCP_OK;
    self->has_changed = true;
    return portarium_action_fail(self->run, action, self->tx, PORTARIUM_CLASS_APPROVAL_STALE,
                                 "the adapter has changed since the approval", err);
}

/* A policy that denies an action meanwhile wins. */
static mcp_status is_still_allowed(step *self, portarium_run_action *action, bool *out,
                                   mcp_error *err)
{
    portarium_judgement judgement;
    *out = true;
    if (portarium_is_builtin(action->definition->operation))
        return MCP_OK;
    mcp_status st = portarium_gate_judge_again(&judgement, self->run, action, self->tx, err);
    *out = st == MCP_OK && judgement.ruling != PORTARIUM_RULING_DENY;
    return st == MCP_OK && !*out ? deny(self, action, &judgement, err) : st;
}

/* A timer: a wait, or the next attempt. The input is the one of the first attempt. Policies do not
 * judge a compensation. */
static mcp_status wake(step *self, portarium_run_action *action, bool is_hook, mcp_error *err)
{
    const mcp_json *input = mcp_json_get(action->record.hidden, "input");
    int64_t at = 0;
    bool may_proceed = true;
    mcp_status st = MCP_OK;
    mcp_json_int(mcp_json_get(action->record.hidden, "wakeAtMs"), &at);
    if (at > self->tx->now_ms) {
        wake_at(self, at);
        return MCP_OK;
    }
    if (mcp_json_is_null(input))
        input = NULL;
    if (!is_hook)
        st = is_still_allowed(self, action, &may_proceed, err);
    if (st == MCP_OK && may_proceed && !input)
        st = resolve(self, action, &input, &may_proceed, err);
    if (st == MCP_OK && may_proceed)
        st = is_approved(self, action, input, &may_proceed, err);
    return st == MCP_OK && may_proceed ? perform(self, action, input, err) : st;
}

/* A compensation begins: no gate asks again. */
static mcp_status undo(step *self, portarium_run_action *hook, mcp_error *err)
{
    const mcp_json *input = NULL;
    bool may_proceed = false;
    mcp_status st = resolve(self, hook, &input, &may_proceed, err);
    return st == MCP_OK && may_proceed ? perform(self, hook, input, err) : st;
}

/* A gate that may have been decided. */
static mcp_status look(step *self, portarium_run_action *action, mcp_error *err)
{
    const mcp_json *input = NULL;
    bool is_released = false;
    mcp_status st = portarium_gate_look(self->run, action, self->tx, &is_released,
                                        &self->has_changed, &input, err);
    return st == MCP_OK && is_released ? perform(self, action, input, err) : st;
}

static mcp_status visit(step *self, portarium_run_action *action, mcp_error *err)
{
    switch (action->state) {
    case PORTARIUM_ACTION_PENDING:
        return is_released(self, action) ? begin(self, action, err) : MCP_OK;
    case PORTARIUM_ACTION_WAITING:
        return wake(self, action, false, err);
    case PORTARIUM_ACTION_WAITING_FOR_APPROVAL:
        return look(self, action, err);
    default:
        return MCP_OK;
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static size_t count_in(const step *self, portarium_action_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < self->run->action_count; i++)
        count += self->run->actions[i].state == state;
    return count;
}

/* One that a person has cancelled counts, too: what follows it never runs. */
static const portarium_run_action *first_failed(const step *self)
{
    for (size_t i = 0; i < self->run->action_count; i++) {
        portarium_action_state state = self->run->actions[i].state;
        if (state == PORTARIUM_ACTION_FAILED || state == PORTARIUM_ACTION_CANCELLED)
            return &self->run->actions[i];
    }
    return NULL;
}

/* An approval of the whole run was denied, or has expired. */
static void write_refusal(mcp_json_writer *json, portarium_run_gate gate)
{
    bool is_denied = gate == PORTARIUM_RUN_GATE_DENIED;
    portarium_error_class class = is_denied ? PORTARIUM_CLASS_APPROVAL_DENIED
                                            : PORTARIUM_CLASS_APPROVAL_EXPIRED;
    mcp_write_member_string(json, "class", portarium_error_class_text(class));
    mcp_write_member_string(json, "message",
                            is_denied ? "the approval of the run was denied"
                                      : "the approval of the run has expired");
}

/* @param failed NULL: an approval of the whole run is why */
static mcp_status failure_of(step *self, const portarium_run_action *failed, const mcp_json **out,
                             mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_object(&draft.json, "failure");
    if (self->gate > PORTARIUM_RUN_GATE_WAITS) {
        write_refusal(&draft.json, self->gate);
        mcp_write_end(&draft.json);
        return portarium_draft_read(&draft, self->tx, out, err);
    }
    mcp_write_member_value(&draft.json, "class", mcp_json_get(failed->record.json, "errorClass"));
    mcp_write_member_string(&draft.json, "actionId", failed->id);
    mcp_write_member_value(&draft.json, "message",
                           mcp_json_get(failed->record.json, "errorMessage"));
    mcp_write_end(&draft.json);
    return portarium_draft_read(&draft, self->tx, out, err);
}

static size_t count_undone(const step *self)
{
    size_t undone = 0;
    for (size_t i = 0; i < self->run->hook_count; i++)
        undone += self->run->hooks[i].state == PORTARIUM_ACTION_SUCCEEDED;
    return undone;
}

static mcp_status end_failed(step *self, const portarium_run_action *failed, mcp_error *err)
{
    const mcp_json *patch = NULL;
    size_t undone = count_undone(self);
    mcp_status st = failure_of(self, failed, &patch, err);
    if (st == MCP_OK)
        st = portarium_run_become(self->run, self->tx, PORTARIUM_RUN_FAILED, patch, err);
    if (st != MCP_OK)
        return st;
    return self->run->hook_count > 0
               ? portarium_run_evidence(self->run, self->tx, "System", err,
                                        "Run failed; %zu of %zu compensations succeeded", undone,
                                        self->run->hook_count)
               : portarium_run_evidence(self->run, self->tx, "System", err, "Run failed");
}

/* A run that was cancelled with compensation is undone. */
static mcp_status end_cancelled(step *self, mcp_error *err)
{
    mcp_status st = portarium_run_become(self->run, self->tx, PORTARIUM_RUN_CANCELLED, NULL, err);
    if (st == MCP_OK)
        st = portarium_work_close(self->run, self->tx, "run cancelled", err);
    return st == MCP_OK
               ? portarium_run_evidence(self->run, self->tx, "System", err,
                                        "Run cancelled; %zu of %zu compensations succeeded",
                                        count_undone(self), self->run->hook_count)
               : st;
}

/* Nothing new is begun; what can be undone is. */
static mcp_status fail_run(step *self, const portarium_run_action *failed, mcp_error *err)
{
    size_t count = 0;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < self->run->action_count; i++) {
        portarium_run_action *action = &self->run->actions[i];
        if (!portarium_action_is_final(action->state))
            st = portarium_action_cancel(self->run, action, self->tx, err);
    }
    if (st == MCP_OK)
        st = portarium_work_close(self->run, self->tx, "run failed", err);
    if (st == MCP_OK && self->run->status != PORTARIUM_RUN_RUNNING)
        st = portarium_run_become(self->run, self->tx, PORTARIUM_RUN_RUNNING, NULL, err);
    if (st == MCP_OK)
        st = portarium_compensate_begin(&count, self->run, self->tx, err);
    if (st != MCP_OK)
        return st;
    return count > 0 ? portarium_run_due(self->run, self->tx, 0, err)
                     : end_failed(self, failed, err);
}

/* The next compensation, once the one before has ended, whichever way. */
static mcp_status compensate(step *self, const portarium_run_action *failed, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < self->run->hook_count; i++) {
        portarium_run_action *hook = &self->run->hooks[i];
        if (hook->state == PORTARIUM_ACTION_PENDING)
            st = undo(self, hook, err);
        else if (hook->state == PORTARIUM_ACTION_WAITING)
            st = wake(self, hook, true, err);
        if (st == MCP_OK && !portarium_action_is_final(hook->state))
            return portarium_run_due(self->run, self->tx, self->wake_at_ms, err);
    }
    if (st != MCP_OK)
        return st;
    return portarium_run_is_cancelling(self->run) ? end_cancelled(self, err)
                                                  : end_failed(self, failed, err);
}

static mcp_status complete_run(step *self, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *patch = NULL, *output = NULL;
    for (size_t i = 0; i < self->run->action_count; i++) {
        if (portarium_action_output(&self->run->actions[i]))
            output = portarium_action_output(&self->run->actions[i]);
    }
    portarium_draft_object(&draft);
    if (output)
        mcp_write_member_value(&draft.json, "output", output);
    mcp_status st = portarium_draft_read(&draft, self->tx, &patch, err);
    if (st == MCP_OK)
        st = portarium_run_become(self->run, self->tx, PORTARIUM_RUN_SUCCEEDED, patch, err);
    return st == MCP_OK
               ? portarium_run_evidence(self->run, self->tx, "System", err, "Run succeeded")
               : st;
}

/* The status that the states of its actions give the run. */
static mcp_status settle(step *self, mcp_error *err)
{
    const portarium_run_action *failed = first_failed(self);
    size_t gates = count_in(self, PORTARIUM_ACTION_WAITING_FOR_APPROVAL);
    size_t manual = count_in(self, PORTARIUM_ACTION_WAITING_FOR_MANUAL_COMPLETION);
    size_t running = count_in(self, PORTARIUM_ACTION_RUNNING);
    size_t ended = count_in(self, PORTARIUM_ACTION_SUCCEEDED) +
                   count_in(self, PORTARIUM_ACTION_SKIPPED);
    portarium_run_status now = self->run->status, next = PORTARIUM_RUN_RUNNING;
    bool has_failed = failed || self->gate > PORTARIUM_RUN_GATE_WAITS;
    if (self->run->hook_count > 0 && (has_failed || portarium_run_is_cancelling(self->run)))
        return compensate(self, failed, err);
    if (has_failed)
        return running == 0 ? fail_run(self, failed, err)
                            : portarium_run_due(self->run, self->tx, PORTARIUM_NEVER, err);
    if (gates > 0 || self->gate == PORTARIUM_RUN_GATE_WAITS)
        next = PORTARIUM_RUN_WAITING_FOR_APPROVAL;
    else if (manual > 0)
        next = PORTARIUM_RUN_PAUSED;
    mcp_status st = MCP_OK;
    if (next != now && now != PORTARIUM_RUN_RUNNING)
        st = portarium_run_become(self->run, self->tx, PORTARIUM_RUN_RUNNING, NULL, err);
    if (st == MCP_OK && next != self->run->status)
        st = portarium_run_become(self->run, self->tx, next, NULL, err);
    if (st == MCP_OK && ended == self->run->action_count)
        return complete_run(self, err);
    return st == MCP_OK ? portarium_run_due(self->run, self->tx, self->wake_at_ms, err) : st;
}

static bool is_held(const step *self)
{
    return self->tx->head.is_frozen || portarium_run_is_held(self->run);
}

static bool may_go_on(const step *self)
{
    return self->gate == PORTARIUM_RUN_GATE_OPEN && !is_held(self) && !first_failed(self) &&
           self->run->hook_count == 0;
}

/* The actions, one after the other, again as long as one has changed. */
static mcp_status visit_all(step *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    while (st == MCP_OK && self->has_changed && may_go_on(self)) {
        self->has_changed = false;
        for (size_t i = 0; st == MCP_OK && i < self->run->action_count && may_go_on(self); i++)
            st = visit(self, &self->run->actions[i], err);
    }
    return st;
}

/* A budget has frozen the run, or the workspace: what it would do stays as it is. */
static mcp_status hold(step *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    if (self->run->status == PORTARIUM_RUN_RUNNING)
        st = portarium_run_become(self->run, self->tx, PORTARIUM_RUN_PAUSED, NULL, err);
    return st == MCP_OK ? portarium_run_due(self->run, self->tx, PORTARIUM_NEVER, err) : st;
}

mcp_status portarium_step(portarium_run *run, portarium_tx *tx, int64_t lease_ms,
                          portarium_dispatches *dispatches, mcp_error *err)
{
    step self = { .run = run,
                  .tx = tx,
                  .lease_ms = lease_ms,
                  .dispatches = dispatches,
                  .wake_at_ms = PORTARIUM_NEVER,
                  .has_changed = true };
    mcp_status st = MCP_OK;
    if (portarium_run_is_final(run->status) || is_held(&self))
        return portarium_run_due(run, tx, PORTARIUM_NEVER, err);
    if (run->status == PORTARIUM_RUN_PENDING)
        st = portarium_run_become(run, tx, PORTARIUM_RUN_RUNNING, NULL, err);
    if (st == MCP_OK)
        st = portarium_gate_look_run(&self.gate, run, tx, err);
    if (st == MCP_OK)
        st = visit_all(&self, err);
    if (st == MCP_OK && is_held(&self))
        return hold(&self, err);
    return st == MCP_OK ? settle(&self, err) : st;
}

/* ---- a run that cannot go on ----------------------------------------------------------------- */

static mcp_status failure_because(const mcp_json **out, portarium_tx *tx, const char *message,
                                  mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_object(&draft.json, "failure");
    mcp_write_member_string(&draft.json, "class",
                            portarium_error_class_text(PORTARIUM_CLASS_VALIDATION));
    mcp_write_member_string(&draft.json, "message", message);
    mcp_write_end(&draft.json);
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status cancel_each(portarium_run *run, portarium_run_action *actions, size_t count,
                              portarium_tx *tx, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        if (!portarium_action_is_final(actions[i].state))
            st = portarium_action_cancel(run, &actions[i], tx, err);
    }
    return st;
}

mcp_status portarium_step_fail(portarium_run *run, portarium_tx *tx, const char *message,
                               mcp_error *err)
{
    const mcp_json *patch = NULL;
    if (portarium_run_is_final(run->status))
        return portarium_run_due(run, tx, PORTARIUM_NEVER, err);
    mcp_status st = cancel_each(run, run->actions, run->action_count, tx, err);
    if (st == MCP_OK)
        st = cancel_each(run, run->hooks, run->hook_count, tx, err);
    if (st == MCP_OK)
        st = portarium_work_close(run, tx, "run failed", err);
    if (st == MCP_OK && run->status != PORTARIUM_RUN_RUNNING)
        st = portarium_run_become(run, tx, PORTARIUM_RUN_RUNNING, NULL, err);
    if (st == MCP_OK)
        st = failure_because(&patch, tx, message, err);
    if (st == MCP_OK)
        st = portarium_run_become(run, tx, PORTARIUM_RUN_FAILED, patch, err);
    return st == MCP_OK ? portarium_run_evidence(run, tx, "System", err, "Run failed: %s", message)
                        : st;
}
