/*
 * run.c - reading a run, and its transitions.
 */
#include "engine/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "language/template.h"
#include "store/definitions.h"
#include "store/journal.h"

enum { ACTION_KEY_MAX = 512 };

/* Behind the id of the action that is undone. */
static const char compensate[] = ":compensate";

/* ---- reading --------------------------------------------------------------------------------- */

static mcp_status read_definition(portarium_run *run, portarium_tx *tx, mcp_error *err)
{
    int64_t version = 0;
    const char *workflow = mcp_json_get_string(run->record.json, "workflowId");
    mcp_json_int(mcp_json_get(run->record.json, "workflowVersion"), &version);
    return portarium_definition_get(&run->workflow, tx, workflow, version, err);
}

const portarium_action *portarium_compensation_of(portarium_tx *tx, const portarium_action *action)
{
    portarium_action *out = mcp_arena_alloc(tx->arena, sizeof *out);
    const char *id = mcp_arena_printf(tx->arena, "%s%s", action->id, compensate);
    if (!out || !id)
        return NULL;
    *out = (portarium_action){ .id = id,
                               .port_family = action->port_family,
                               .capability = action->capability,
                               .operation = action->compensation,
                               .tier = PORTARIUM_TIER_AUTO,
                               .input = action->compensation_input,
                               .retry = portarium_retry_compensation,
                               .timeout_ms = action->timeout_ms,
                               .has_side_effect = true };
    return out;
}

/* The definition of ID:compensate; NULL: there is none, or no memory. */
static const portarium_action *find_compensation(portarium_run *run, portarium_tx *tx,
                                                 const char *id)
{
    size_t length = strlen(id), suffix = sizeof compensate - 1;
    const char *of = length > suffix ? mcp_arena_strndup(tx->arena, id, length - suffix) : NULL;
    const portarium_action *action = of ? portarium_workflow_action(run->workflow, of) : NULL;
    return action && action->compensation && strcmp(id + length - suffix, compensate) == 0
               ? portarium_compensation_of(tx, action)
               : NULL;
}

/* A row of the run or of an action, in the order of the query. */
typedef struct row {
    struct row *next;
    portarium_record record;
    int64_t fence;
} row;

static mcp_status read_rows(row **first, size_t *count, portarium_tx *tx, const char *id,
                            mcp_error *err)
{
    db_rows *rows = NULL;
    row **end = first;
    db_value values[] = { db_text(tx->workspace), db_text(id) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT id, revision, created_at, json, hidden, 0 AS fence, 0 AS ord "
                             "FROM runs WHERE workspace = $1 AND id = $2 UNION ALL "
                             "SELECT id, revision, created_at, json, hidden, fence, ord FROM "
                             "run_actions WHERE workspace = $1 AND run_id = $2 ORDER BY ord",
                             values, 2, err);
    *first = NULL;
    *count = 0;
    while (portarium_next(rows, &st, err)) {
        row *made = mcp_arena_alloc(tx->arena, sizeof *made);
        st = made ? portarium_record_read(&made->record, tx, rows, err)
                  : mcp_error_set(err, MCP_E_NOMEM, "no memory for a run");
        if (st != MCP_OK)
            break;
        made->fence = db_int_at(rows, 5);
        *end = made;
        end = &made->next;
        ++*count;
    }
    db_rows_free(rows);
    return st;
}

static mcp_status take_action(portarium_run *run, portarium_tx *tx, const row *from, mcp_error *err)
{
    portarium_run_action *action = &run->actions[run->action_count + run->hook_count];
    action->record = from->record;
    action->id = mcp_json_get_string(action->record.json, "actionId");
    action->definition = portarium_workflow_action(run->workflow, action->id);
    bool is_hook = !action->definition;
    if (is_hook)
        action->definition = find_compensation(run, tx, action->id);
    action->fence = from->fence;
    if (!action->definition ||
        !portarium_action_state_read(&action->state,
                                     mcp_json_get_string(action->record.json, "state")))
        return mcp_error_set(err, MCP_E_INTERNAL, "action %s is stored wrongly", action->record.id);
    run->action_count += !is_hook;
    run->hook_count += is_hook;
    run->hooks = run->actions + run->action_count;
    return MCP_OK;
}

static mcp_status take_actions(portarium_run *run, portarium_tx *tx, const row *first, size_t count,
                               mcp_error *err)
{
    mcp_status st = MCP_OK;
    if (count > 2 * run->workflow->action_count)
        return mcp_error_set(err, MCP_E_INTERNAL, "run %s has too many actions", run->record.id);
    run->actions = mcp_arena_array(tx->arena, count, sizeof *run->actions);
    if (!run->actions)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the actions of a run");
    for (const row *at = first; at && st == MCP_OK; at = at->next)
        st = take_action(run, tx, at, err);
    return st;
}

mcp_status portarium_run_load(portarium_run *out, portarium_tx *tx, const char *id, mcp_error *err)
{
    row *rows = NULL;
    size_t count = 0;
    *out = (portarium_run){ .action_count = 0 };
    mcp_status st = read_rows(&rows, &count, tx, id, err);
    if (st != MCP_OK)
        return st;
    if (!rows || strcmp(rows->record.id, id) != 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "Run %.128s not found.", id);
    out->record = rows->record;
    if (!portarium_run_status_read(&out->status, mcp_json_get_string(out->record.json, "status")))
        return mcp_error_set(err, MCP_E_INTERNAL, "run %s has an unknown status", id);
    st = read_definition(out, tx, err);
    return st == MCP_OK ? take_actions(out, tx, rows->next, count - 1, err) : st;
}

portarium_run_action *portarium_run_action_find(portarium_run *run, const char *id)
{
    for (size_t i = 0; i < run->action_count + run->hook_count; i++) {
        if (strcmp(run->actions[i].id, id) == 0)
            return &run->actions[i];
    }
    return NULL;
}

const mcp_json *portarium_action_output(const portarium_run_action *action)
{
    return mcp_json_get(action->record.hidden, "output");
}

static const mcp_json *output_of(const char *action, size_t length, void *data)
{
    portarium_run *run = data;
    for (size_t i = 0; i < run->action_count; i++) {
        const portarium_run_action *at = &run->actions[i];
        if (strlen(at->id) == length && memcmp(at->id, action, length) == 0)
            return portarium_action_output(at);
    }
    return NULL;
}

void portarium_run_scope(struct portarium_scope *out, portarium_run *run)
{
    *out = (portarium_scope){ .parameters = mcp_json_get(run->record.json, "parameters"),
                              .run_id = run->record.id,
                              .output = output_of,
                              .data = run };
}

/* ---- evidence and events --------------------------------------------------------------------- */

mcp_status portarium_run_evidence(portarium_run *run, portarium_tx *tx, const char *category,
                                  mcp_error *err, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t size = (size_t)vsnprintf(NULL, 0, format, again) + 1;
    va_end(again);
    char *summary = mcp_arena_alloc(tx->arena, size);
    if (summary)
        vsnprintf(summary, size, format, arguments);
    va_end(arguments);
    if (!summary)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for evidence");
    const portarium_evidence entry = { .category = category,
                                       .summary = summary,
                                       .run_id = run->record.id };
    return portarium_evidence_add(tx, &entry, err);
}

mcp_status portarium_run_event(portarium_run *run, portarium_tx *tx, const char *type,
                               const portarium_run_action *action, const mcp_json *data,
                               mcp_error *err)
{
    const portarium_event event = { .type = type,
                                    .kind = "run",
                                    .id = run->record.id,
                                    .run_id = run->record.id,
                                    .action_id = action ? action->id : NULL,
                                    .data = data };
    return portarium_event_add(tx, &event, err);
}

/* ---- transitions ----------------------------------------------------------------------------- */

/* The event of a transition; NULL: it has none. */
static const char *event_of(portarium_run_status from, portarium_run_status to)
{
    switch (to) {
    case PORTARIUM_RUN_SUCCEEDED:
        return "RunSucceeded";
    case PORTARIUM_RUN_FAILED:
        return "RunFailed";
    case PORTARIUM_RUN_CANCELLED:
        return "RunCancelled";
    case PORTARIUM_RUN_PAUSED:
        return "RunPaused";
    case PORTARIUM_RUN_RUNNING:
        return from == PORTARIUM_RUN_PENDING ? NULL : "RunResumed";
    default:
        return NULL;
    }
}

bool portarium_run_is_held(const portarium_run *run)
{
    portarium_control_state state;
    const char *text = mcp_json_get_string(run->record.json, "controlState");
    return text && portarium_control_state_read(&state, text) &&
           state != PORTARIUM_CONTROL_OPERATOR_OWNED && state != PORTARIUM_CONTROL_WAITING;
}

bool portarium_run_is_cancelling(const portarium_run *run)
{
    return !portarium_run_is_final(run->status) && mcp_json_get(run->record.json, "cancellation");
}

mcp_status portarium_run_patch(portarium_run *run, portarium_tx *tx, const mcp_json *patch,
                               mcp_error *err)
{
    return portarium_record_patch(&run->record, tx, &portarium_runs, patch, NULL, err);
}

mcp_status portarium_run_become(portarium_run *run, portarium_tx *tx, portarium_run_status status,
                                const mcp_json *patch, mcp_error *err)
{
    const mcp_json *change = NULL;
    bool is_final = portarium_run_is_final(status);
    bool begins = run->status == PORTARIUM_RUN_PENDING && status == PORTARIUM_RUN_RUNNING;
    const char *event = event_of(run->status, status);
    const char *removed = is_final ? portarium_null : NULL;
    if (!portarium_run_may_become(run->status, status))
        return mcp_error_set(err, MCP_E_EXISTS, "Run %s is %s and cannot become %s.",
                             run->record.id, portarium_run_status_text(run->status),
                             portarium_run_status_text(status));
    mcp_status st = portarium_object(tx, &change, err, "status", portarium_run_status_text(status),
                                     "startedAtIso", begins ? tx->now : NULL, "endedAtIso",
                                     is_final ? tx->now : NULL, "controlState", removed,
                                     "operatorOwnerId", removed, NULL);
    if (st == MCP_OK && patch)
        st = portarium_merge(tx, &run->record.json, run->record.json, patch, err);
    if (st == MCP_OK)
        st = portarium_run_patch(run, tx, change, err);
    if (run->status == PORTARIUM_RUN_PENDING)
        portarium_tx_count_pending(tx, -1);
    run->status = status;
    if (st == MCP_OK && event)
        st = portarium_run_event(run, tx, event, NULL, NULL, err);
    if (st == MCP_OK && is_final)
        st = portarium_run_due(run, tx, PORTARIUM_NEVER, err);
    return st;
}

mcp_status portarium_run_due(portarium_run *run, portarium_tx *tx, int64_t at_ms, mcp_error *err)
{
    int64_t at = at_ms == 0 ? tx->now_ms : at_ms;
    if (at_ms == 0)
        portarium_tx_wake_run(tx, run->record.id);
    else if (at_ms != PORTARIUM_NEVER)
        tx->after.changes_timers = true;
    return portarium_record_due(tx, &portarium_runs, run->record.id,
                                at_ms == PORTARIUM_NEVER ? db_null() : db_int(at), err);
}

bool portarium_action_is_unknown(const portarium_run_action *action)
{
    const char *class = mcp_json_get_string(action->record.json, "errorClass");
    return action->state == PORTARIUM_ACTION_FAILED && class &&
           strcmp(class, portarium_error_class_text(PORTARIUM_CLASS_UNKNOWN_OUTCOME)) == 0;
}

mcp_status portarium_action_reopen(portarium_run *run, portarium_run_action *action,
                                   portarium_tx *tx, const char *outcome, mcp_error *err)
{
    const mcp_json *patch = NULL;
    portarium_action_state state = PORTARIUM_ACTION_PENDING;
    bool is_unknown = portarium_action_is_unknown(action);
    if (!is_unknown ||
        !portarium_action_resolve(&state, action->state, PORTARIUM_CLASS_UNKNOWN_OUTCOME, outcome))
        return mcp_error_set(err, MCP_E_EXISTS, "The outcome of action %s of run %s is known.",
                             action->id, run->record.id);
    if (state != PORTARIUM_ACTION_PENDING)
        state = PORTARIUM_ACTION_RUNNING;
    mcp_status st = portarium_object(tx, &patch, err, "state", portarium_action_state_text(state),
                                     "errorClass", portarium_null, "errorMessage", portarium_null,
                                     "endedAtIso", portarium_null, NULL);
    if (st == MCP_OK)
        st = portarium_record_patch(&action->record, tx, &portarium_actions, patch, NULL, err);
    action->state = state;
    return st;
}

mcp_status portarium_action_become(portarium_run *run, portarium_run_action *action,
                                   portarium_tx *tx, portarium_action_state state,
                                   const mcp_json *patch, const mcp_json *hidden, mcp_error *err)
{
    const mcp_json *change = NULL;
    bool is_final = portarium_action_is_final(state);
    bool begins = !mcp_json_get(action->record.json, "startedAtIso") &&
                  (state == PORTARIUM_ACTION_RUNNING ||
                   state == PORTARIUM_ACTION_WAITING_FOR_MANUAL_COMPLETION);
    if (!portarium_action_may_become(action->state, state))
        return mcp_error_set(err, MCP_E_EXISTS, "Action %s of run %s is %s and cannot become %s.",
                             action->id, run->record.id, portarium_action_state_text(action->state),
                             portarium_action_state_text(state));
    mcp_status st = portarium_object(tx, &change, err, "state", portarium_action_state_text(state),
                                     "startedAtIso", begins ? tx->now : NULL, "endedAtIso",
                                     is_final ? tx->now : NULL, NULL);
    if (st == MCP_OK && patch)
        st = portarium_merge(tx, &action->record.json, action->record.json, patch, err);
    if (st == MCP_OK)
        st = portarium_record_patch(&action->record, tx, &portarium_actions, change, hidden, err);
    action->state = state;
    return st;
}

mcp_status portarium_action_insert(portarium_tx *tx, const char *run,
                                   const portarium_action *definition, int64_t order,
                                   mcp_error *err)
{
    char key[ACTION_KEY_MAX];
    portarium_draft draft;
    const mcp_json *json = NULL;
    snprintf(key, sizeof key, "%s/%s", run, definition->id);
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "actionId", definition->id);
    mcp_write_member_string(&draft.json, "runId", run);
    mcp_write_member_int(&draft.json, "order", order);
    mcp_write_member_string(&draft.json, "state",
                            portarium_action_state_text(PORTARIUM_ACTION_PENDING));
    mcp_write_member_int(&draft.json, "attempt", 0);
    mcp_write_member_string(&draft.json, "effectiveTier", portarium_tier_text(definition->tier));
    mcp_status st = portarium_draft_read(&draft, tx, &json, err);
    return st == MCP_OK ? portarium_record_make(NULL, tx, &portarium_actions, key, json, NULL, err)
                        : st;
}
