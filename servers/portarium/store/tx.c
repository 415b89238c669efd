/*
 * tx.c - the beginning and the end of a transaction.
 */
#include "store/tx.h"

#include <stdio.h>
#include <string.h>

#include "store/tx/held.h"

/* ---- the workspace --------------------------------------------------------------------------- */

/* PostgreSQL holds every row against the workspace, too (sql/002-evidence.postgres.sql). */
static mcp_status name_workspace(const portarium_tx *tx, portarium_holdings *holdings,
                                 mcp_error *err)
{
    const char *name = tx->workspace ? tx->workspace : "";
    db_value values[] = { db_text(name) };
    if (!tx->settings->has_row_security ||
        (holdings && holdings->named && strcmp(holdings->named, name) == 0))
        return MCP_OK;
    if (holdings)
        holdings->named = mcp_arena_strdup(holdings->arena, name);
    return db_defer(tx->session, MCP_OK, "SELECT set_config('portarium.workspace', $1, true)",
                    values, 1, err);
}

/* Where the database has a clock of its own, the same statement reads it: when it has the lock. */
static mcp_status read_head(portarium_held *out, bool *found, const portarium_tx *tx,
                            mcp_error *err)
{
    char sql[512];
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace) };
    const char *clock = db_clock_sql(tx->session);
    out->sent_mono_ms = mcp_clock_mono_ms();
    snprintf(sql, sizeof sql,
             "SELECT evidence_seq, evidence_hash, evidence_at, event_seq, frozen, pending, %s FROM "
             "(SELECT * FROM heads WHERE workspace = $1 FOR UPDATE) AS locked",
             clock ? clock : "0");
    mcp_status st = db_query(&rows, tx->session, sql, values, 1, err);
    *found = portarium_next(rows, &st, err);
    if (*found) {
        portarium_head *head = &out->head;
        const char *hash = db_text_at(rows, 1, NULL);
        *head = (portarium_head){ .evidence_seq = db_int_at(rows, 0),
                                  .evidence_at = db_int_at(rows, 2),
                                  .event_seq = db_int_at(rows, 3),
                                  .is_frozen = db_int_at(rows, 4) != 0,
                                  .pending = db_int_at(rows, 5) };
        snprintf(head->evidence_hash, sizeof head->evidence_hash, "%s", hash ? hash : "");
        db_time_reach(tx->session, head->evidence_at);
        out->clock_ms = clock ? db_time(tx->session, db_int_at(rows, 6), out->sent_mono_ms) : 0;
        out->read_mono_ms = mcp_clock_mono_ms();
    }
    db_rows_free(rows);
    return st;
}

/* Lock the workspace, unless a command before has. */
static mcp_status hold(portarium_tx *tx, portarium_holdings *holdings, mcp_error *err)
{
    portarium_held read = { .next = NULL };
    bool found = true;
    mcp_status st = MCP_OK;
    tx->held = portarium_held_find(holdings, tx->workspace);
    if (tx->held)
        return MCP_OK;
    st = read_head(&read, &found, tx, err);
    if (st == MCP_OK && !found)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "Workspace %.128s not found.", tx->workspace);
    if (st == MCP_OK)
        st = portarium_held_add(&tx->held, holdings, tx->workspace, err);
    if (st != MCP_OK)
        return st;
    tx->held->head = read.head;
    tx->held->clock_ms = read.clock_ms;
    tx->held->sent_mono_ms = read.sent_mono_ms;
    tx->held->read_mono_ms = read.read_mono_ms;
    return MCP_OK;
}

/* The database's clock, read with the lock, has gone on since as the clock of this process. A
 * process that is frozen after it was read is late, so mono_ms begins before it was read. */
static mcp_status read_clock(portarium_tx *tx, mcp_error *err)
{
    const portarium_held *held = tx->held;
    tx->mono_ms = mcp_clock_mono_ms();
    if (!tx->writes)
        return db_now_recent(tx->session, &tx->now_ms, err);
    if (!held || held->clock_ms == 0)
        return db_now(tx->session, &tx->now_ms, err);
    int64_t since_ms = tx->mono_ms - held->read_mono_ms;
    tx->now_ms = held->clock_ms + since_ms;
    tx->mono_ms = held->sent_mono_ms + since_ms;
    return MCP_OK;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

mcp_status portarium_tx_begin(portarium_tx *tx, mcp_error *err)
{
    portarium_holdings *holdings = NULL;
    mcp_status st = tx->writes ? portarium_holdings_of(&holdings, tx->session, err) : MCP_OK;
    tx->held = NULL;
    tx->pending = NULL;
    tx->after = (portarium_after){ 0 };
    tx->payload.id = NULL;
    if (st == MCP_OK)
        st = name_workspace(tx, holdings, err);
    if (st == MCP_OK && holdings && tx->workspace)
        st = hold(tx, holdings, err);
    tx->head = tx->held ? tx->held->head : (portarium_head){ 0 };
    tx->head.has_changed = false;
    if (st == MCP_OK)
        st = read_clock(tx, err);
    mcp_clock_utc(tx->now, tx->now_ms, 1);
    return st;
}

static mcp_status store_head(const portarium_tx *tx, const portarium_head *head, bool has_events,
                             mcp_error *err)
{
    mcp_status st = has_events ? db_notify(tx->session, PORTARIUM_CHANNEL, tx->workspace, err)
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

/* A workspace that was made in this transaction was not locked before. */
mcp_status portarium_tx_end(portarium_tx *tx, mcp_error *err)
{
    portarium_held *held = tx->held;
    bool is_held = held && strcmp(held->workspace, tx->workspace) == 0;
    if (!is_held && tx->head.has_changed)
        return store_head(tx, &tx->head, tx->after.has_events, err);
    if (!is_held)
        return MCP_OK;
    tx->head.has_changed = tx->head.has_changed || held->head.has_changed;
    held->head = tx->head;
    held->has_events = held->has_events || tx->after.has_events;
    return MCP_OK;
}

mcp_status portarium_tx_flush(db_session *session, const portarium_settings *settings,
                              mcp_error *err)
{
    portarium_holdings *holdings = NULL;
    portarium_tx tx = { .session = session, .settings = settings };
    mcp_status st = portarium_holdings_of(&holdings, session, err);
    for (portarium_held *at = st == MCP_OK ? holdings->first : NULL; at && st == MCP_OK;
         at = at->next) {
        if (!at->head.has_changed)
            continue;
        tx.workspace = at->workspace;
        st = name_workspace(&tx, holdings, err);
        if (st == MCP_OK)
            st = store_head(&tx, &at->head, at->has_events, err);
        at->head.has_changed = false;
        at->has_events = false;
    }
    return st;
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
