/*
 * idempotency.c - the table of answers by key.
 */
#include "store/idempotency.h"

#include <string.h>

enum { KEEP_MS = 24 * 3600 * 1000 };

static int64_t kept_ms(const portarium_tx *tx)
{
    return tx->settings->idempotency_ms > 0 ? tx->settings->idempotency_ms : KEEP_MS;
}

static mcp_status copy(const char **out, portarium_tx *tx, const db_rows *rows, int column,
                       mcp_error *err)
{
    const char *text = db_text_at(rows, column, NULL);
    *out = mcp_arena_strdup(tx->arena, text);
    return *out || !text ? MCP_OK
                         : mcp_error_set(err, MCP_E_NOMEM, "no memory for a stored answer");
}

mcp_status portarium_idempotency_find(portarium_stored_answer *out, bool *found, portarium_tx *tx,
                                      const char *command, const char *key, const char *fingerprint,
                                      mcp_error *err)
{
    db_rows *rows = NULL;
    bool is_same = false;
    db_value values[] = { db_text(tx->workspace), db_text(command), db_text(key),
                          db_int(tx->now_ms - kept_ms(tx)) };
    *found = false;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT status, response, location, fingerprint FROM idempotency "
                             "WHERE workspace = $1 AND command = $2 AND key = $3 AND "
                             "created_at >= $4",
                             values, 4, err);
    if (st == MCP_OK)
        st = db_next(rows, found, err);
    if (st == MCP_OK && *found) {
        const char *known = db_text_at(rows, 3, NULL);
        *out = (portarium_stored_answer){ .status = (int)db_int_at(rows, 0) };
        is_same = known && strcmp(known, fingerprint) == 0;
        st = copy(&out->text, tx, rows, 1, err);
        if (st == MCP_OK)
            st = copy(&out->location, tx, rows, 2, err);
    }
    db_rows_free(rows);
    if (st == MCP_OK && *found && !is_same)
        st = mcp_error_set(err, MCP_E_EXISTS,
                           "Idempotency-Key was used with another request; use a new key.");
    return st;
}

mcp_status portarium_idempotency_add(portarium_tx *tx, const char *command, const char *key,
                                     const char *fingerprint, const portarium_stored_answer *answer,
                                     mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace),    db_text(command),       db_text(key),
                          db_text(fingerprint),      db_int(answer->status), db_text(answer->text),
                          db_text(answer->location), db_int(tx->now_ms) };
    return db_defer(
        tx->session, MCP_OK,
        "INSERT INTO idempotency (workspace, command, key, fingerprint, status, response, "
        "location, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) "
        "ON CONFLICT (workspace, command, key) DO UPDATE SET fingerprint = $4, "
        "status = $5, response = $6, location = $7, created_at = $8",
        values, sizeof values / sizeof values[0], err);
}

mcp_status portarium_idempotency_expire(portarium_tx *tx, mcp_error *err)
{
    db_value values[] = { db_int(tx->now_ms - kept_ms(tx)) };
    return db_run(tx->session, NULL, "DELETE FROM idempotency WHERE created_at < $1", values, 1,
                  err);
}
