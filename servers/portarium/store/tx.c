/*
 * tx.c - the beginning and the end of a transaction.
 */
#include "store/tx.h"

#include <stdio.h>
#include <string.h>

static mcp_status read_head(portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace) };
    bool found = false;
    mcp_status st = db_query(
        &rows, tx->session,
        "SELECT evidence_seq, evidence_hash, evidence_at, event_seq, frozen, pending "
        "FROM heads WHERE workspace = $1 FOR UPDATE",
        values, 1, err);
    if (st == MCP_OK)
        st = db_next(rows, &found, err);
    if (st == MCP_OK && found) {
        const char *hash = db_text_at(rows, 1, NULL);
        tx->head = (portarium_head){ .evidence_seq = db_int_at(rows, 0),
                                     .evidence_at = db_int_at(rows, 2),
                                     .event_seq = db_int_at(rows, 3),
                                     .is_frozen = db_int_at(rows, 4) != 0,
                                     .pending = db_int_at(rows, 5) };
        snprintf(tx->head.evidence_hash, sizeof tx->head.evidence_hash, "%s", hash ? hash : "");
    }
    db_rows_free(rows);
    if (st == MCP_OK && !found)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "Workspace %.128s not found.", tx->workspace);
    return st;
}

/* PostgreSQL holds every row against the workspace, too (sql/002-evidence.postgres.sql). */
static mcp_status name_workspace(portarium_tx *tx, mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace ? tx->workspace : "") };
    return tx->settings->has_row_security
               ? db_defer(tx->session, MCP_OK, "SELECT set_config('portarium.workspace', $1, true)",
                          values, 1, err)
               : MCP_OK;
}

mcp_status portarium_tx_begin(portarium_tx *tx, mcp_error *err)
{
    tx->head = (portarium_head){ 0 };
    tx->after = (portarium_after){ 0 };
    mcp_status st = name_workspace(tx, err);
    if (st == MCP_OK && tx->writes && tx->workspace)
        st = read_head(tx, err);
    if (st == MCP_OK)
        st = db_now(tx->session, &tx->now_ms, err);
    mcp_clock_utc(tx->now, tx->now_ms, 1);
    return st;
}

mcp_status portarium_tx_end(portarium_tx *tx, mcp_error *err)
{
    const portarium_head *head = &tx->head;
    if (!head->has_changed)
        return MCP_OK;
    mcp_status st = tx->after.has_events
                        ? db_notify(tx->session, PORTARIUM_CHANNEL, tx->workspace, err)
                        : MCP_OK;
    if (st != MCP_OK)
        return st;
    db_value values[] = { db_text(tx->workspace),
                          db_int(head->evidence_seq),
                          db_text(head->evidence_seq > 0 ? head->evidence_hash : NULL),
                          db_int(head->evidence_at),
                          db_int(head->event_seq),
                          db_int(head->is_frozen),
                          db_int(head->pending) };
    return db_defer(tx->session, MCP_OK,
                    "UPDATE heads SET evidence_seq = $2, evidence_hash = $3, evidence_at = $4, "
                    "event_seq = $5, frozen = $6, pending = $7 WHERE workspace = $1",
                    values, sizeof values / sizeof values[0], err);
}

void portarium_tx_count_pending(portarium_tx *tx, int more)
{
    tx->head.pending += more;
    if (tx->head.pending < 0)
        tx->head.pending = 0;
    tx->head.has_changed = true;
}

void portarium_tx_freeze(portarium_tx *tx, bool is_frozen)
{
    tx->head.is_frozen = is_frozen;
    tx->head.has_changed = true;
}

void portarium_tx_wake_run(portarium_tx *tx, const char *run)
{
    portarium_after *after = &tx->after;
    for (size_t i = 0; i < after->run_count; i++) {
        if (strcmp(after->runs[i], run) == 0)
            return;
    }
    if (after->run_count == sizeof after->runs / sizeof after->runs[0])
        after->has_more_runs = true;
    else
        after->runs[after->run_count++] = run;
}

bool portarium_next(db_rows *rows, mcp_status *st, mcp_error *err)
{
    bool has_row = false;
    if (*st == MCP_OK)
        *st = db_next(rows, &has_row, err);
    return has_row;
}

mcp_status portarium_tx_json(portarium_tx *tx, const mcp_json **out, const char *text,
                             size_t length, mcp_error *err)
{
    *out = NULL;
    mcp_status st = mcp_json_read(out, tx->arena, text, length, err);
    return st == MCP_E_PARSE ? mcp_error_set(err, MCP_E_INTERNAL, "stored text is not JSON") : st;
}
