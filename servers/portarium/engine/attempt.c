/*
 * attempt.c - leases, attempts, and what their outcomes mean.
 */
#include "engine/attempt.h"

#include <stdio.h>
#include <string.h>

#include "engine/gate.h"
#include "engine/sealed/secrets.h"
#include "engine/sealed/stored.h"
#include "executors/credentials.h"
#include "language/portable.h"
#include "model/identity.h"
#include "model/shapes.h"
#include "store/journal.h"

/* ---- the end of an action -------------------------------------------------------------------- */

static int64_t attempt_of(const portarium_run_action *action)
{
    int64_t attempt = 0;
    mcp_json_int(mcp_json_get(action->record.json, "attempt"), &attempt);
    return attempt;
}

static mcp_status end_lease(portarium_run_action *action, portarium_tx *tx, mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_text(action->record.id) };
    return db_defer(tx->session, MCP_OK,
                    "UPDATE run_actions SET lease_owner = NULL, lease_until = NULL "
                    "WHERE workspace = $1 AND id = $2",
                    values, 2, err);
}

/* The row of the attempt that has ended. */
static mcp_status end_row(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                          const char *outcome, const char *class, mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_text(run->record.id),
                          db_text(action->id),    db_int(attempt_of(action)),
                          db_int(tx->now_ms),     db_text(outcome),
                          db_text(class) };
    return attempt_of(action) > 0
               ? db_defer(
                     tx->session, MCP_OK,
                     "UPDATE action_attempts SET ended_at = $5, outcome = $6, error_class = $7 "
                     "WHERE workspace = $1 AND run_id = $2 AND action_id = $3 AND attempt = $4",
                     values, sizeof values / sizeof values[0], err)
               : MCP_OK;
}

mcp_status portarium_action_succeed(portarium_run *run, portarium_run_action *action,
                                    portarium_tx *tx, const mcp_json *output, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *hidden = NULL, *patch = NULL;
    const char *payload = NULL;
    mcp_status st = portarium_gate_end(run, action, tx, &output, err);
    if (st == MCP_OK && output) {
        st = portarium_payload_add(tx, &payload, run->record.id, "Operational", output, err);
        portarium_draft_object(&draft);
        mcp_write_member_value(&draft.json, "output", output);
        if (st == MCP_OK)
            st = portarium_draft_read(&draft, tx, &hidden, err);
        else
            portarium_draft_clear(&draft);
    }
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "outputRef",
                              payload ? mcp_arena_printf(tx->arena, "portarium://%s/payloads/%s",
                                                         tx->workspace, payload)
                                      : NULL,
                              "errorClass", portarium_null, "errorMessage", portarium_null,
                              "nextAttemptAtIso", portarium_null, NULL);
    if (st == MCP_OK)
        st = portarium_action_become(run, action, tx, PORTARIUM_ACTION_SUCCEEDED, patch, hidden,
                                     err);
    if (st == MCP_OK)
        st = end_row(run, action, tx, "Succeeded", NULL, err);
    const portarium_evidence entry = {
        .category = "Action",
        .summary = mcp_arena_printf(tx->arena, "Action %s succeeded", action->id),
        .by = PORTARIUM_BY_SYSTEM,
        .run_id = run->record.id,
        .payloads = { payload },
    };
    if (st == MCP_OK)
        st = portarium_evidence_add(tx, &entry, err);
    return st == MCP_OK ? portarium_run_event(run, tx, "ActionCompleted", action, NULL, err) : st;
}

mcp_status portarium_action_fail(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                                 portarium_error_class error_class, const char *message,
                                 mcp_error *err)
{
    const mcp_json *patch = NULL;
    const char *class = portarium_error_class_text(error_class);
    mcp_status st = MCP_OK;
    if (error_class != PORTARIUM_CLASS_UNKNOWN_OUTCOME)
        st = portarium_gate_end(run, action, tx, NULL, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "errorClass", class, "errorMessage", message,
                              "nextAttemptAtIso", portarium_null, NULL);
    if (st == MCP_OK)
        st = portarium_action_become(run, action, tx, PORTARIUM_ACTION_FAILED, patch, NULL, err);
    if (st == MCP_OK)
        st = end_row(run, action, tx, "Failed", class, err);
    if (st == MCP_OK)
        st = portarium_run_evidence(run, tx, "Action", err, "Action %s failed (%s): %s", action->id,
                                    class, message);
    return st == MCP_OK ? portarium_run_event(run, tx, "ActionFailed", action, patch, err) : st;
}

mcp_status portarium_action_cancel(portarium_run *run, portarium_run_action *action,
                                   portarium_tx *tx, mcp_error *err)
{
    const mcp_json *patch = NULL;
    bool is_running = action->state == PORTARIUM_ACTION_RUNNING;
    mcp_status st = portarium_object(tx, &patch, err, "nextAttemptAtIso", portarium_null, NULL);
    if (st == MCP_OK)
        st = portarium_action_become(run, action, tx, PORTARIUM_ACTION_CANCELLED, patch, NULL, err);
    if (st == MCP_OK && is_running)
        st = end_lease(action, tx, err);
    return st == MCP_OK && is_running ? end_row(run, action, tx, "Cancelled", NULL, err) : st;
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* Of an active machine: where it is, and the name of the credential that it wants. */
static mcp_status write_machine(mcp_json_writer *json, const char **secret, portarium_tx *tx,
                                const char *id, mcp_error *err)
{
    portarium_record machine;
    bool is_active = false;
    mcp_status st = portarium_record_get(&machine, tx, &portarium_machines, id, err);
    if (st != MCP_OK)
        return st == MCP_E_NOT_FOUND ? MCP_OK : st;
    mcp_json_bool(mcp_json_get(machine.json, "active"), &is_active);
    if (!is_active)
        return MCP_OK;
    const mcp_json *auth = mcp_json_get(machine.hidden, "authConfig");
    const char *kind = mcp_json_get_string(auth, "kind");
    const char *credential = mcp_json_get_string(auth, "secretRef");
    mcp_write_member_object(json, "machine");
    mcp_write_member_string(json, "endpointUrl", mcp_json_get_string(machine.json, "endpointUrl"));
    if (kind)
        mcp_write_member_string(json, "auth", kind);
    if (credential)
        mcp_write_member_string(json, "credential", credential);
    mcp_write_end(json);
    *secret = credential;
    return MCP_OK;
}

/* Where it is performed, and with what. */
static mcp_status write_place(mcp_json_writer *json, portarium_tx *tx,
                              const portarium_record *adapter, mcp_error *err)
{
    const mcp_json *binding = mcp_json_get(adapter->json, "binding");
    const char *provider = mcp_json_get_string(adapter->json, "providerSlug");
    const char *machine = mcp_json_get_string(binding, "machineId");
    const char *names[PORTARIUM_STORED_NAMES] = {
        portarium_credential_name(binding, NULL, tx->arena),
        portarium_credential_name(NULL, provider, tx->arena),
    };
    mcp_write_member_value(json, "binding", binding);
    mcp_write_member_string(json, "provider", provider);
    mcp_status st = machine ? write_machine(json, &names[2], tx, machine, err) : MCP_OK;
    return st == MCP_OK ? portarium_stored_write(json, tx, names, err) : st;
}

static mcp_status write_dispatch(portarium_dispatch *out, portarium_run *run,
                                 portarium_run_action *action, portarium_tx *tx,
                                 const portarium_record *adapter, const mcp_json *input,
                                 mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_json_writer *json = &draft.json;
    const mcp_json *policy = mcp_json_get(adapter->json, "executionPolicy");
    mcp_write_member_string(json, "workspace", tx->workspace);
    mcp_write_member_string(json, "operation", action->definition->operation);
    mcp_write_member_string(json, "key",
                            mcp_arena_printf(tx->arena, "%s:%s", run->record.id, action->id));
    mcp_write_member_int(json, "attempt", attempt_of(action));
    if (input)
        mcp_write_member_value(json, "input", input);
    mcp_write_member_value(json, "egress", mcp_json_get(policy, "egressAllowlist"));
    mcp_write_member_string(json, "correlationId",
                            mcp_json_get_string(run->record.json, "correlationId"));
    portarium_trace_write(json, &tx->trace);
    mcp_status st = write_place(json, tx, adapter, err);
    mcp_write_end(json);
    if (st == MCP_OK)
        st = mcp_json_writer_status(json);
    out->run = run->record.id;
    out->action = action->id;
    out->timeout_ms = action->definition->timeout_ms;
    out->text = st == MCP_OK ? mcp_arena_strndup(tx->arena, draft.buf.data, draft.buf.length)
                             : NULL;
    portarium_draft_clear(&draft);
    if (st == MCP_OK && !out->text)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for an attempt");
    return st;
}

static mcp_status take_lease(portarium_run_action *action, portarium_tx *tx, int64_t lease_ms,
                             mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_text(action->record.id),
                          db_text(tx->settings->instance), db_int(tx->now_ms + lease_ms) };
    action->fence++;
    return db_defer(tx->session, MCP_OK,
                    "UPDATE run_actions SET lease_owner = $3, lease_until = $4, fence = fence + 1 "
                    "WHERE workspace = $1 AND id = $2",
                    values, 4, err);
}

static mcp_status begin_row(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                            mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_text(run->record.id), db_text(action->id),
                          db_int(attempt_of(action)), db_int(tx->now_ms) };
    return db_defer(
        tx->session, MCP_OK,
        "INSERT INTO action_attempts (workspace, run_id, action_id, attempt, started_at) "
        "VALUES ($1, $2, $3, $4, $5)",
        values, 5, err);
}

static portarium_dispatch *add(portarium_dispatches *out, portarium_tx *tx, size_t most)
{
    if (!out->items) {
        out->items = mcp_arena_array(tx->arena, most, sizeof *out->items);
        out->capacity = out->items ? most : 0;
    }
    return out->count < out->capacity ? &out->items[out->count++] : NULL;
}

/* Whether the system that performs it knows a key again: then an attempt may be repeated. */
static bool knows_key(const portarium_executors *executors, const portarium_record *adapter)
{
    void *data = NULL;
    const mcp_json *binding = mcp_json_get(adapter->json, "binding");
    const portarium_executor *executor = executors
                                             ? portarium_executor_find(executors, binding, &data)
                                             : NULL;
    return executor && executor->is_idempotent && executor->is_idempotent(binding);
}

/* The action is Running, with one attempt more. */
static mcp_status count_attempt(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                                bool is_idempotent, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *patch = NULL, *hidden = NULL;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "attempt", attempt_of(action) + 1);
    mcp_write_member_null(&draft.json, "nextAttemptAtIso");
    mcp_status st = portarium_draft_read(&draft, tx, &patch, err);
    portarium_draft_object(&draft);
    mcp_write_member_bool(&draft.json, "isIdempotent", is_idempotent);
    if (st == MCP_OK)
        st = portarium_draft_read(&draft, tx, &hidden, err);
    else
        portarium_draft_clear(&draft);
    return st == MCP_OK ? portarium_action_become(run, action, tx, PORTARIUM_ACTION_RUNNING, patch,
                                                  hidden, err)
                        : st;
}

mcp_status portarium_attempt_begin(portarium_run *run, portarium_run_action *action,
                                   portarium_tx *tx, const portarium_record *adapter,
                                   const mcp_json *input, int64_t lease_ms,
                                   portarium_dispatches *out, mcp_error *err)
{
    portarium_dispatch *dispatch = add(out, tx, run->action_count);
    if (!dispatch)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an attempt");
    mcp_status st = count_attempt(run, action, tx, knows_key(out->executors, adapter), err);
    if (st == MCP_OK)
        st = take_lease(action, tx, lease_ms, err);
    if (st == MCP_OK)
        st = begin_row(run, action, tx, err);
    if (st == MCP_OK)
        st = portarium_run_evidence(run, tx, "Action", err, "Action %s dispatched, attempt %lld",
                                    action->id, (long long)attempt_of(action));
    if (st == MCP_OK)
        st = portarium_run_event(run, tx, "ActionDispatched", action, NULL, err);
    if (st == MCP_OK)
        st = write_dispatch(dispatch, run, action, tx, adapter, input, err);
    dispatch->fence = action->fence;
    return st;
}

mcp_status portarium_attempt_open(portarium_run *run, portarium_run_action *action,
                                  portarium_tx *tx, bool is_idempotent, mcp_error *err)
{
    mcp_status st = count_attempt(run, action, tx, is_idempotent, err);
    if (st == MCP_OK)
        st = begin_row(run, action, tx, err);
    if (st == MCP_OK)
        st = portarium_run_evidence(run, tx, "Action", err,
                                    "Action %s offered to agents, attempt %lld", action->id,
                                    (long long)attempt_of(action));
    return st == MCP_OK ? portarium_run_event(run, tx, "ActionDispatched", action, NULL, err) : st;
}

/* ---- the end of an attempt ------------------------------------------------------------------- */

static mcp_status schedule_retry(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                                 const portarium_result *result, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *patch = NULL, *hidden = NULL;
    char at[MCP_CLOCK_UTC_SIZE];
    const portarium_retry *retry = &action->definition->retry;
    int64_t delay = portarium_retry_delay_ms(retry, (uint32_t)attempt_of(action) + 1);
    if (result->retry_after_ms > 0)
        delay = result->retry_after_ms;
    portarium_time_write(at, tx->now_ms + delay);
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "wakeAtMs", tx->now_ms + delay);
    mcp_status st = portarium_draft_read(&draft, tx, &hidden, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "nextAttemptAtIso", at, "errorClass",
                              portarium_error_class_text(result->error_class), "errorMessage",
                              result->message, NULL);
    if (st == MCP_OK)
        st = portarium_action_become(run, action, tx, PORTARIUM_ACTION_WAITING, patch, hidden, err);
    if (st == MCP_OK)
        st = end_row(run, action, tx, "Failed", portarium_error_class_text(result->error_class),
                     err);
    if (st == MCP_OK)
        st = portarium_run_evidence(run, tx, "Action", err, "Attempt %lld of action %s failed (%s)",
                                    (long long)attempt_of(action), action->id,
                                    portarium_error_class_text(result->error_class));
    return st == MCP_OK ? portarium_run_event(run, tx, "ActionRetryScheduled", action, patch, err)
                        : st;
}

/* Nobody knows whether it happened: a person must say. What a person holds stays held by them. */
static mcp_status end_unknown(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                              const char *message, mcp_error *err)
{
    const mcp_json *patch = NULL, *hidden = NULL;
    bool is_held = portarium_run_is_held(run);
    mcp_status st = portarium_action_fail(run, action, tx, PORTARIUM_CLASS_UNKNOWN_OUTCOME, message,
                                          err);
    if (st == MCP_OK && !is_held)
        st = portarium_object(tx, &hidden, err, "heldBy", "unknown-outcome", NULL);
    if (st == MCP_OK && hidden)
        st = portarium_record_patch(&run->record, tx, &portarium_runs, NULL, hidden, err);
    if (st == MCP_OK)
        st = portarium_object(
            tx, &patch, err, "controlState",
            is_held ? NULL : portarium_control_state_text(PORTARIUM_CONTROL_BLOCKED), NULL);
    if (st != MCP_OK)
        return st;
    return run->status == PORTARIUM_RUN_RUNNING
               ? portarium_run_become(run, tx, PORTARIUM_RUN_PAUSED, patch, err)
               : portarium_run_patch(run, tx, patch, err);
}

static bool may_repeat(const portarium_run_action *action, portarium_error_class error_class)
{
    return portarium_error_is_retryable(error_class) &&
           attempt_of(action) < (int64_t)action->definition->retry.max_attempts;
}

static bool is_idempotent(const portarium_run_action *action)
{
    bool is = false;
    mcp_json_bool(mcp_json_get(action->record.hidden, "isIdempotent"), &is);
    return is;
}

static mcp_status late(portarium_run *run, portarium_tx *tx, const char *action,
                       const portarium_result *result, mcp_error *err)
{
    return portarium_run_evidence(
        run, tx, "Action", err, "A late result of action %s was ignored: %s", action,
        result->outcome == PORTARIUM_OUTCOME_DONE ? "done" : result->message);
}

/* The result without the run's secrets, whatever the other system has repeated, and so that
 * evidence can have it: a number that a double does not hold, as many ids, becomes a text. */
static mcp_status redact(portarium_result *out, portarium_run *run, portarium_tx *tx,
                         const portarium_result *result, mcp_error *err)
{
    *out = *result;
    mcp_status st = portarium_secrets_redact(&out->output, run, tx, result->output, err);
    if (st == MCP_OK && out->output)
        st = portarium_portable(&out->output, out->output, tx->arena, err);
    return st == MCP_OK
               ? portarium_secrets_redact_message(out->message, sizeof out->message, run, tx, err)
               : st;
}

mcp_status portarium_attempt_end(portarium_run *run, const char *id, int64_t fence,
                                 const portarium_result *found, portarium_tx *tx, mcp_error *err)
{
    portarium_result shown;
    const portarium_result *result = &shown;
    portarium_run_action *action = portarium_run_action_find(run, id);
    mcp_status st = redact(&shown, run, tx, found, err);
    if (st != MCP_OK)
        return st;
    if (!action || action->fence != fence || action->state != PORTARIUM_ACTION_RUNNING)
        return late(run, tx, id, result, err);
    st = end_lease(action, tx, err);
    if (st != MCP_OK)
        return st;
    if (result->outcome == PORTARIUM_OUTCOME_DONE &&
        portarium_is_deeper(result->output, PORTARIUM_DEPTH_MAX))
        return portarium_action_fail(run, action, tx, PORTARIUM_CLASS_VALIDATION,
                                     "it is done, but its output is nested too deep", err);
    if (result->outcome == PORTARIUM_OUTCOME_DONE) {
        st = portarium_action_succeed(run, action, tx, result->output, err);
        return st == MCP_E_LIMIT /* before anything was changed */
                   ? portarium_action_fail(run, action, tx, PORTARIUM_CLASS_VALIDATION,
                                           "it is done, but its output is longer than 1 MiB", err)
                   : st;
    }
    if (result->outcome == PORTARIUM_OUTCOME_UNKNOWN &&
        !(is_idempotent(action) && may_repeat(action, result->error_class)))
        return end_unknown(run, action, tx, result->message, err);
    return may_repeat(action, result->error_class)
               ? schedule_retry(run, action, tx, result, err)
               : portarium_action_fail(run, action, tx, result->error_class, result->message, err);
}

mcp_status portarium_attempt_return(portarium_run *run, const char *id, int64_t fence,
                                    portarium_tx *tx, mcp_error *err)
{
    portarium_run_action *action = portarium_run_action_find(run, id);
    const portarium_result never = { .outcome = PORTARIUM_OUTCOME_FAILED,
                                     .error_class = PORTARIUM_CLASS_TRANSPORT,
                                     .message = "the process ended before it began",
                                     .retry_after_ms = 1 };
    if (!action || action->fence != fence || action->state != PORTARIUM_ACTION_RUNNING)
        return MCP_OK;
    mcp_status st = end_lease(action, tx, err);
    return st == MCP_OK ? schedule_retry(run, action, tx, &never, err) : st;
}

mcp_status portarium_attempt_lost(portarium_run *run, portarium_run_action *action,
                                  portarium_tx *tx, mcp_error *err)
{
    static const char message[] = "the process that performed it has died";
    const portarium_result again = { .outcome = PORTARIUM_OUTCOME_FAILED,
                                     .error_class = PORTARIUM_CLASS_UNKNOWN,
                                     .message = "the process that performed it has died",
                                     .retry_after_ms = 1 };
    mcp_status st = end_lease(action, tx, err);
    if (st != MCP_OK)
        return st;
    return is_idempotent(action) && may_repeat(action, PORTARIUM_CLASS_UNKNOWN)
               ? schedule_retry(run, action, tx, &again, err)
               : end_unknown(run, action, tx, message, err);
}
