/*
 * start.c - the checks before a run, and its first records.
 */
#include "engine/start.h"

#include <stdio.h>
#include <string.h>

#include "engine/builtin.h"
#include "engine/gate.h"
#include "engine/run.h"
#include "engine/sealed/secrets.h"
#include "model/identity.h"
#include "store/definitions.h"

enum { PENDING_MAX = 10000 };

/* ---- which workflow -------------------------------------------------------------------------- */

/* By a name that one active workflow has. */
static mcp_status find_by_name(portarium_record *out, portarium_tx *tx, const char *name,
                               mcp_error *err)
{
    db_rows *rows = NULL;
    const char *id = NULL;
    int count = 0;
    db_value values[] = { db_text(tx->workspace), db_text(name) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT id FROM workflows WHERE workspace = $1 AND name = $2 AND "
                             "active = 1 LIMIT 2",
                             values, 2, err);
    while (portarium_next(rows, &st, err)) {
        id = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL));
        count++;
    }
    db_rows_free(rows);
    if (st != MCP_OK)
        return st;
    if (count == 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "Workflow %.128s not found.", name);
    if (count > 1)
        return mcp_error_set(err, MCP_E_EXISTS,
                             "More than one active workflow is named %.128s; start one by its id.",
                             name);
    return portarium_record_get_kept(out, tx, &portarium_workflows, id, err);
}

static mcp_status find_workflow(portarium_record *out, portarium_tx *tx, const char *name,
                                mcp_error *err)
{
    bool is_active = false;
    mcp_status st = portarium_record_get_kept(out, tx, &portarium_workflows, name, err);
    if (st == MCP_E_NOT_FOUND)
        st = find_by_name(out, tx, name, err);
    if (st != MCP_OK)
        return st;
    mcp_json_bool(mcp_json_get(out->json, "active"), &is_active);
    return is_active ? MCP_OK
                     : mcp_error_set(err, MCP_E_EXISTS, "Workflow %.128s is not active.", out->id);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static mcp_status count_of(int64_t *out, portarium_tx *tx, const char *sql, const char *value,
                           mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(value) };
    mcp_status st = db_query(&rows, tx->session, sql, values, value ? 2 : 1, err);
    if (portarium_next(rows, &st, err))
        *out = db_int_at(rows, 0);
    db_rows_free(rows);
    return st;
}

/* Exactly one enabled adapter serves each port family of the workflow. */
static mcp_status check_adapters(portarium_tx *tx, const portarium_workflow *workflow,
                                 mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < workflow->action_count; i++) {
        const char *family = workflow->actions[i].port_family;
        int64_t count = 0;
        if (portarium_is_builtin(workflow->actions[i].operation))
            continue;
        st = count_of(&count, tx,
                      "SELECT COUNT(*) FROM adapters WHERE workspace = $1 AND port_family = $2 "
                      "AND enabled = 1",
                      family, err);
        if (st == MCP_OK && count != 1)
            st = mcp_error_set(err, MCP_E_EXISTS,
                               "%lld enabled adapter registrations serve %s; exactly one must.",
                               (long long)count, family);
    }
    return st;
}

/* By the head's number; before a refusal they are counted, because another version of the program
 * may not keep it. */
static mcp_status check_pending(portarium_tx *tx, mcp_error *err)
{
    int64_t count = 0;
    if (tx->head.pending < PENDING_MAX)
        return MCP_OK;
    mcp_status st = count_of(&count, tx,
                             "SELECT COUNT(*) FROM (SELECT 1 FROM runs WHERE workspace = $1 AND "
                             "status = 'Pending' LIMIT 10000) AS pending",
                             NULL, err);
    if (st == MCP_OK && count >= PENDING_MAX)
        st = mcp_error_set(err, MCP_E_EXISTS, "%d runs are pending; try again later.", PENDING_MAX);
    tx->head.pending = count;
    return st;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Who has started it, for policies and for those who decide; its sealed parameters; its trace. */
static mcp_status hidden_of(const mcp_json **out, portarium_tx *tx, const char *sealed,
                            mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *initiator = NULL;
    mcp_status st = portarium_gate_initiator(&initiator, tx, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_value(&draft.json, "initiator", initiator);
    if (sealed)
        mcp_write_member_string(&draft.json, "parameters", sealed);
    portarium_trace_write(&draft.json, &tx->trace);
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status insert_run(portarium_run *run, portarium_tx *tx, const portarium_record *workflow,
                             const mcp_json *parameters, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *json = NULL, *hidden = NULL;
    const char *id = NULL, *sealed = NULL;
    mcp_status st = portarium_id_new(&id, "run-", tx->arena, err);
    if (st == MCP_OK)
        st = portarium_secrets_hide(&parameters, &sealed, tx, id, run->workflow->parameters_schema,
                                    parameters, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    mcp_write_member_string(&draft.json, "runId", id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_string(&draft.json, "workflowId", workflow->id);
    mcp_write_member_value(&draft.json, "workflowVersion", mcp_json_get(workflow->json, "version"));
    mcp_write_member_string(&draft.json, "correlationId", tx->correlation_id);
    mcp_write_member_value(&draft.json, "executionTier",
                           mcp_json_get(workflow->json, "executionTier"));
    mcp_write_member_string(&draft.json, "initiatedByUserId", tx->actor->subject);
    mcp_write_member_string(&draft.json, "status",
                            portarium_run_status_text(PORTARIUM_RUN_PENDING));
    mcp_write_member_string(&draft.json, "createdAtIso", tx->now);
    mcp_write_member_value(&draft.json, "parameters", parameters);
    st = portarium_draft_read(&draft, tx, &json, err);
    if (st == MCP_OK)
        st = hidden_of(&hidden, tx, sealed, err);
    return st == MCP_OK
               ? portarium_record_make(&run->record, tx, &portarium_runs, id, json, hidden, err)
               : st;
}

static mcp_status store(portarium_run *run, portarium_tx *tx, const portarium_record *workflow,
                        const mcp_json *parameters, mcp_error *err)
{
    mcp_status st = insert_run(run, tx, workflow, parameters, err);
    portarium_tx_count_pending(tx, 1);
    for (size_t i = 0; st == MCP_OK && i < run->workflow->action_count; i++)
        st = portarium_action_insert(tx, run->record.id, &run->workflow->actions[i], (int64_t)i + 1,
                                     err);
    if (st == MCP_OK)
        st = portarium_run_evidence(run, tx, "Action", err, "Run of workflow %s started",
                                    workflow->id);
    if (st == MCP_OK)
        st = portarium_run_event(run, tx, "RunStarted", NULL, NULL, err);
    if (st == MCP_OK)
        portarium_tx_wake_run(tx, run->record.id);
    return st;
}

/* The workflow, when a run of it may be started with the parameters. */
static mcp_status check_start(const portarium_workflow **out, portarium_record *workflow,
                              portarium_tx *tx, const portarium_start *start,
                              portarium_fields *fields, mcp_error *err)
{
    int64_t version = 0;
    mcp_status st = find_workflow(workflow, tx, start->workflow, err);
    if (st != MCP_OK)
        return st;
    mcp_json_int(mcp_json_get(workflow->json, "version"), &version);
    st = portarium_definition_get(out, tx, workflow->id, version, err);
    if (st == MCP_OK)
        st = check_adapters(tx, *out, err);
    return st == MCP_OK ? portarium_workflow_check_parameters(*out, start->parameters, fields, err)
                        : st;
}

mcp_status portarium_start_check(const portarium_workflow **out, portarium_tx *tx,
                                 const portarium_start *start, portarium_fields *fields,
                                 mcp_error *err)
{
    portarium_record workflow;
    return check_start(out, &workflow, tx, start, fields, err);
}

mcp_status portarium_start_run(portarium_record *out, portarium_tx *tx,
                               const portarium_start *start, portarium_fields *fields,
                               mcp_error *err)
{
    portarium_record workflow;
    portarium_run run = { .status = PORTARIUM_RUN_PENDING };
    const mcp_json *parameters = start->parameters;
    mcp_status st = parameters ? MCP_OK : mcp_json_read(&parameters, tx->arena, "{}", 2, err);
    if (st == MCP_OK)
        st = check_start(&run.workflow, &workflow, tx, start, fields, err);
    if (st == MCP_OK)
        st = check_pending(tx, err);
    if (st == MCP_OK)
        st = store(&run, tx, &workflow, parameters, err);
    *out = run.record;
    return st;
}
