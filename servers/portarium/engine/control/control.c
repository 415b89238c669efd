/*
 * control.c - cancel, interventions, unknown outcomes, freeze.
 */
#include "engine/control/control.h"

#include <string.h>

#include "engine/attempt.h"
#include "engine/compensate.h"
#include "engine/gate.h"
#include "engine/work.h"
#include "store/journal.h"

static const portarium_run_action *first_unknown(const portarium_run *run)
{
    for (size_t i = 0; i < run->action_count + run->hook_count; i++) {
        if (portarium_action_is_unknown(&run->actions[i]))
            return &run->actions[i];
    }
    return NULL;
}

/* ---- cancel ---------------------------------------------------------------------------------- */

static mcp_status cancel_actions(portarium_run *run, portarium_tx *tx, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < run->action_count + run->hook_count; i++) {
        if (!portarium_action_is_final(run->actions[i].state))
            st = portarium_action_cancel(run, &run->actions[i], tx, err);
    }
    return st;
}

mcp_status portarium_run_cancel(portarium_run *run, portarium_tx *tx, const char *rationale,
                                mcp_error *err)
{
    if (run->status == PORTARIUM_RUN_CANCELLED)
        return MCP_OK;
    mcp_status st = portarium_run_become(run, tx, PORTARIUM_RUN_CANCELLED, NULL, err);
    if (st == MCP_OK)
        st = cancel_actions(run, tx, err);
    if (st == MCP_OK)
        st = portarium_work_close(run, tx, "run cancelled", err);
    tx->after.changes_timers = true; /* the engine looks, and tells its attempts to stop */
    return st == MCP_OK
               ? portarium_run_evidence(run, tx, "OperatorSurface", err, "Run cancelled%s%s",
                                        rationale ? ": " : "", rationale ? rationale : "")
               : st;
}

/* Who has cancelled it, and that nobody holds it any more. */
static mcp_status note_cancellation(portarium_run *run, portarium_tx *tx, const char *rationale,
                                    mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *patch = NULL, *hidden = NULL;
    portarium_draft_object(&draft);
    mcp_write_member_object(&draft.json, "cancellation");
    mcp_write_member_string(&draft.json, "requestedByUserId", tx->actor->subject);
    mcp_write_member_string(&draft.json, "requestedAtIso", tx->now);
    if (rationale)
        mcp_write_member_string(&draft.json, "rationale", rationale);
    mcp_write_end(&draft.json);
    mcp_write_member_null(&draft.json, "controlState");
    mcp_write_member_null(&draft.json, "operatorOwnerId");
    mcp_status st = portarium_draft_read(&draft, tx, &patch, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &hidden, err, "heldBy", portarium_null, NULL);
    return st == MCP_OK
               ? portarium_record_patch(&run->record, tx, &portarium_runs, patch, hidden, err)
               : st;
}

mcp_status portarium_run_cancel_and_undo(portarium_run *run, portarium_tx *tx,
                                         const char *rationale, mcp_error *err)
{
    size_t count = 0;
    if (portarium_run_is_final(run->status))
        return portarium_run_cancel(run, tx, rationale, err);
    if (portarium_run_is_cancelling(run))
        return MCP_OK;
    if (run->hook_count > 0)
        return mcp_error_set(err, MCP_E_EXISTS,
                             "Run %s has failed and is being undone; cancel it without compensate "
                             "to stop that.",
                             run->record.id);
    const portarium_run_action *unknown = first_unknown(run);
    if (unknown)
        return mcp_error_set(err, MCP_E_EXISTS,
                             "The outcome of action %s is unknown: resolve it first, so that it is "
                             "undone if it happened, or cancel without compensate.",
                             unknown->id);
    mcp_status st = cancel_actions(run, tx, err);
    if (st == MCP_OK)
        st = portarium_compensate_begin(&count, run, tx, err);
    if (st != MCP_OK || count == 0)
        return st == MCP_OK ? portarium_run_cancel(run, tx, rationale, err) : st;
    st = note_cancellation(run, tx, rationale, err);
    if (st == MCP_OK && run->status != PORTARIUM_RUN_RUNNING)
        st = portarium_run_become(run, tx, PORTARIUM_RUN_RUNNING, NULL, err);
    if (st == MCP_OK)
        st = portarium_work_close(run, tx, "run cancelled", err);
    if (st == MCP_OK)
        st = portarium_run_evidence(run, tx, "OperatorSurface", err,
                                    "Run cancelled, to be undone%s%s", rationale ? ": " : "",
                                    rationale ? rationale : "");
    tx->after.changes_timers = true; /* the engine looks, and tells its attempts to stop */
    return st == MCP_OK ? portarium_run_due(run, tx, 0, err) : st;
}

/* ---- interventions --------------------------------------------------------------------------- */

static mcp_status count_gates(int64_t *out, portarium_run *run, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(run->record.id) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT COUNT(*) FROM approvals WHERE workspace = $1 AND run_id = $2 "
                             "AND status IN ('Pending', 'RequestChanges')",
                             values, 2, err);
    *out = portarium_next(rows, &st, err) ? db_int_at(rows, 0) : 0;
    db_rows_free(rows);
    return st;
}

static const char *changed(portarium_change change, const char *value)
{
    return change == PORTARIUM_SET ? value : change == PORTARIUM_REMOVE ? portarium_null : NULL;
}

/* From here on a person holds the run, or nobody does: not an unknown outcome. */
static mcp_status forget_reason(portarium_run *run, portarium_tx *tx, mcp_error *err)
{
    const mcp_json *hidden = NULL;
    mcp_status st = portarium_object(tx, &hidden, err, "heldBy", portarium_null, NULL);
    return st == MCP_OK
               ? portarium_record_patch(&run->record, tx, &portarium_runs, NULL, hidden, err)
               : st;
}

static mcp_status apply(portarium_run *run, portarium_tx *tx,
                        const portarium_intervention_effect *effect, const char *target,
                        mcp_error *err)
{
    const mcp_json *patch = NULL;
    const char *control = portarium_control_state_text(effect->control_state);
    mcp_status st = portarium_object(tx, &patch, err, "controlState",
                                     changed(effect->control, control), "operatorOwnerId",
                                     changed(effect->owner, target), NULL);
    if (st == MCP_OK && effect->control != PORTARIUM_KEEP)
        st = forget_reason(run, tx, err);
    if (st != MCP_OK)
        return st;
    st = effect->status == run->status ? portarium_run_patch(run, tx, patch, err)
                                       : portarium_run_become(run, tx, effect->status, patch, err);
    return st == MCP_OK && effect->control == PORTARIUM_REMOVE ? portarium_run_due(run, tx, 0, err)
                                                               : st;
}

static mcp_status record(portarium_run *run, portarium_tx *tx, const portarium_intervention *what,
                         mcp_error *err)
{
    const char *payload = NULL;
    const mcp_json *data = NULL;
    mcp_status st = portarium_payload_add(tx, &payload, run->record.id, "Compliance", what->body,
                                          err);
    const portarium_evidence entry = {
        .category = "OperatorSurface",
        .summary = mcp_arena_printf(tx->arena, "Intervention %s%s%s: %s", what->type,
                                    what->target ? " to " : "", what->target ? what->target : "",
                                    what->rationale),
        .run_id = run->record.id,
        .payloads = { payload },
    };
    if (st == MCP_OK)
        st = portarium_evidence_add(tx, &entry, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &data, err, "interventionType", what->type, "target",
                              what->target, NULL);
    return st == MCP_OK ? portarium_run_event(run, tx, "RunIntervened", NULL, data, err) : st;
}

mcp_status portarium_run_intervene(portarium_intervention_verdict *verdict, portarium_run *run,
                                   portarium_tx *tx, const portarium_intervention *what,
                                   mcp_error *err)
{
    int64_t gates = 0;
    portarium_intervention_effect effect;
    mcp_status st = count_gates(&gates, run, tx, err);
    if (st != MCP_OK)
        return st;
    const portarium_run_facts facts = {
        .status = run->status,
        .has_control_state = mcp_json_get(run->record.json, "controlState") != NULL,
        .is_held = portarium_run_is_held(run),
        .has_open_gate = gates > 0,
    };
    const portarium_run_action *unknown = first_unknown(run);
    *verdict = portarium_intervene(&effect, what->type, tx->actor->roles, what->target != NULL,
                                   &facts);
    if (*verdict != PORTARIUM_INTERVENTION_DONE)
        return MCP_OK;
    if (effect.control == PORTARIUM_REMOVE && unknown)
        return mcp_error_set(err, MCP_E_EXISTS,
                             "The outcome of action %s is unknown; resolve it first.", unknown->id);
    st = apply(run, tx, &effect, what->target, err);
    return st == MCP_OK ? record(run, tx, what, err) : st;
}

/* ---- unknown outcomes ------------------------------------------------------------------------ */

/* Nothing is unknown any more: the run continues, if that was what held it. */
static mcp_status go_on(portarium_run *run, portarium_tx *tx, mcp_error *err)
{
    const mcp_json *patch = NULL;
    if (first_unknown(run) || !mcp_json_get(run->record.hidden, "heldBy"))
        return MCP_OK;
    mcp_status st = forget_reason(run, tx, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "controlState", portarium_null, NULL);
    if (st == MCP_OK)
        st = run->status == PORTARIUM_RUN_PAUSED
                 ? portarium_run_become(run, tx, PORTARIUM_RUN_RUNNING, patch, err)
                 : portarium_run_patch(run, tx, patch, err);
    return st == MCP_OK ? portarium_run_due(run, tx, 0, err) : st;
}

mcp_status portarium_run_resolve(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                                 const portarium_resolution *what, mcp_error *err)
{
    if (portarium_run_is_final(run->status))
        return mcp_error_set(err, MCP_E_EXISTS, "Run %s has ended.", run->record.id);
    mcp_status st = portarium_action_reopen(run, action, tx, what->outcome, err);
    if (st == MCP_OK)
        st = portarium_run_evidence(run, tx, "OperatorSurface", err, "Action %s resolved as %s: %s",
                                    action->id, what->outcome, what->rationale);
    if (st == MCP_OK && strcmp(what->outcome, "succeeded") == 0)
        st = portarium_action_succeed(run, action, tx, what->output, err);
    else if (st == MCP_OK && strcmp(what->outcome, "failed") == 0)
        st = portarium_action_fail(run, action, tx, PORTARIUM_CLASS_UNKNOWN,
                                   "a person has found that it did not happen", err);
    else if (st == MCP_OK) /* what was approved was tried: the next attempt has a gate of its own */
        st = portarium_gate_end(run, action, tx, NULL, err);
    return st == MCP_OK ? go_on(run, tx, err) : st;
}

/* ---- freeze ---------------------------------------------------------------------------------- */

/* Runs that were due while the workspace was frozen. */
static mcp_status wake_all(portarium_tx *tx, mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_int(tx->now_ms) };
    tx->after.has_more_runs = true;
    return db_defer(tx->session, MCP_OK,
                    "UPDATE runs SET due_at = $2 WHERE workspace = $1 AND status IN "
                    "('Pending', 'Running', 'WaitingForApproval', 'Paused')",
                    values, 2, err);
}

mcp_status portarium_workspace_freeze(portarium_record *out, portarium_tx *tx, bool is_frozen,
                                      const char *rationale, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *patch = NULL;
    mcp_status st = portarium_record_get(out, tx, &portarium_workspaces, tx->workspace, err);
    if (st != MCP_OK || tx->head.is_frozen == is_frozen)
        return st;
    portarium_tx_freeze(tx, is_frozen);
    portarium_draft_object(&draft);
    mcp_write_name(&draft.json, "frozen");
    mcp_write_bool(&draft.json, is_frozen);
    st = portarium_draft_read(&draft, tx, &patch, err);
    if (st == MCP_OK)
        st = portarium_record_patch(out, tx, &portarium_workspaces, patch, NULL, err);
    const portarium_evidence entry = {
        .category = "OperatorSurface",
        .summary = mcp_arena_printf(tx->arena, "Workspace %s: %s",
                                    is_frozen ? "frozen" : "unfrozen", rationale),
    };
    if (st == MCP_OK)
        st = portarium_evidence_add(tx, &entry, err);
    const portarium_event event = { .type = is_frozen ? "WorkspaceFrozen" : "WorkspaceUnfrozen",
                                    .kind = "workspace",
                                    .id = tx->workspace };
    if (st == MCP_OK)
        st = portarium_event_add(tx, &event, err);
    return st == MCP_OK && !is_frozen ? wake_all(tx, err) : st;
}
