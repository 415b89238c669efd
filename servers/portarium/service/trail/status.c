/*
 * status.c - the state of the plane in figures: how much of each status there is in a workspace.
 */
#include "service/operations.h"

/* What is counted: the kind, and the SQL of a status and its number. */
static const struct {
    const char *name;
    const char *sql;
} counts[] = {
    { "runs", "SELECT status, COUNT(*) FROM runs WHERE workspace = $1 GROUP BY status "
              "ORDER BY status" },
    { "approvals", "SELECT status, COUNT(*) FROM approvals WHERE workspace = $1 GROUP BY status "
                   "ORDER BY status" },
    { "workItems", "SELECT status, COUNT(*) FROM work_items WHERE workspace = $1 GROUP BY status "
                   "ORDER BY status" },
    { "humanTasks", "SELECT status, COUNT(*) FROM human_tasks WHERE workspace = $1 GROUP BY "
                    "status ORDER BY status" },
};

/* Single figures of the workspace. */
static const struct {
    const char *name;
    const char *sql;
} figures[] = {
    { "agents", "SELECT COUNT(*) FROM agents WHERE workspace = $1" },
    { "machines", "SELECT COUNT(*) FROM machines WHERE workspace = $1" },
    { "evidenceEntries", "SELECT evidence_seq FROM heads WHERE workspace = $1" },
    { "events", "SELECT event_seq FROM heads WHERE workspace = $1" },
};

static mcp_status write_counts(mcp_json_writer *json, portarium_tx *tx, const char *sql,
                               mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace) };
    mcp_status st = db_query(&rows, tx->session, sql, values, 1, err);
    while (portarium_next(rows, &st, err))
        mcp_write_member_int(json, db_text_at(rows, 0, NULL), db_int_at(rows, 1));
    db_rows_free(rows);
    return st;
}

static mcp_status write_figure(mcp_json_writer *json, portarium_tx *tx, const char *name,
                               const char *sql, const db_value *values, size_t count,
                               mcp_error *err)
{
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, tx->session, sql, values, count, err);
    if (portarium_next(rows, &st, err))
        mcp_write_member_int(json, name, db_int_at(rows, 0));
    db_rows_free(rows);
    return st;
}

/* Processes that hold a lease on an action at the moment: those that are idle are not known. */
static mcp_status write_holders(mcp_json_writer *json, portarium_tx *tx, mcp_error *err)
{
    int64_t now = 0;
    mcp_status st = db_now(tx->session, &now, err);
    const db_value values[] = { db_text(tx->workspace), db_int(now) };
    return st == MCP_OK ? write_figure(json, tx, "replicasAtWork",
                                       "SELECT COUNT(DISTINCT lease_owner) FROM run_actions WHERE "
                                       "workspace = $1 AND lease_until > $2",
                                       values, 2, err)
                        : st;
}

static mcp_status write_status(mcp_json_writer *json, portarium_tx *tx, bool is_frozen,
                               mcp_error *err)
{
    const db_value values[] = { db_text(tx->workspace) };
    mcp_write_member_string(json, "workspaceId", tx->workspace);
    mcp_write_member_bool(json, "ready", true);
    mcp_write_member_string(json, "database",
                            tx->settings->has_row_security ? "postgres" : "sqlite");
    mcp_status st = write_figure(json, tx, "schemaVersion", "SELECT MAX(number) FROM db_migrations",
                                 NULL, 0, err);
    mcp_write_member_bool(json, "frozen", is_frozen);
    for (size_t i = 0; st == MCP_OK && i < sizeof counts / sizeof counts[0]; i++) {
        mcp_write_member_object(json, counts[i].name);
        st = write_counts(json, tx, counts[i].sql, err);
        mcp_write_end(json);
    }
    for (size_t i = 0; st == MCP_OK && i < sizeof figures / sizeof figures[0]; i++)
        st = write_figure(json, tx, figures[i].name, figures[i].sql, values, 1, err);
    return st == MCP_OK ? write_holders(json, tx, err) : st;
}

static mcp_status get_status(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    bool is_frozen = false;
    portarium_record workspace;
    portarium_draft draft;
    mcp_status st = portarium_record_get(&workspace, tx, &portarium_workspaces, request->workspace,
                                         err);
    if (st != MCP_OK)
        return st;
    mcp_json_bool(mcp_json_get(workspace.json, "frozen"), &is_frozen);
    portarium_draft_object(&draft);
    st = write_status(&draft.json, tx, is_frozen, err);
    if (st == MCP_OK)
        return portarium_reply_draft(reply, tx, 200, &draft, err);
    portarium_draft_clear(&draft);
    return st;
}

/* clang-format off */
const portarium_operation portarium_status_operations[] = {
    { "getStatus", "GET", "/status", PORTARIUM_MAY_ADMINISTER, 0,
      PORTARIUM_NO_BODY, "Status", "how much the workspace has, by status; the database's schema",
      get_status },
    { 0 },
};
/* clang-format on */
