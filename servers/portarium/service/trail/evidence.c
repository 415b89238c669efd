/*
 * evidence.c - the evidence of a workspace: lists, its head, and the payloads that entries refer
 * to.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/identity.h"
#include "service/list.h"
#include "service/operations.h"

enum { SQL_MAX = 1024, VALUES_MAX = 10 };

/* ---- lists ----------------------------------------------------------------------------------- */

/* A list as its statement grows. */
typedef struct selection {
    char sql[SQL_MAX];
    size_t length;
    db_value values[VALUES_MAX];
    size_t count;
} selection;

/* Add SQL that ends with a value. */
static void add(selection *self, const char *sql, db_value value)
{
    self->values[self->count++] = value;
    self->length += (size_t)snprintf(self->sql + self->length, sizeof self->sql - self->length,
                                     "%s$%zu", sql, self->count);
}

/* Each is a column of portarium_entries. */
static void add_filters(selection *self, const portarium_query *query)
{
    for (size_t i = 0; i < query->filter_count; i++) {
        const portarium_column *at = portarium_entries.columns;
        char condition[64];
        while (strcmp(at->member, query->filters[i].name) != 0)
            at++;
        snprintf(condition, sizeof condition, " AND %s = ", at->name);
        add(self, condition, db_text(query->filters[i].value));
    }
}

/* The number of the entry that the page before ended with. */
static mcp_status cursor_seq(int64_t *out, portarium_tx *tx, const char *text, uint64_t list,
                             mcp_error *err)
{
    portarium_cursor cursor;
    db_rows *rows = NULL;
    mcp_status st = portarium_cursor_read(&cursor, text, tx->arena, err);
    if (st != MCP_OK)
        return st;
    if (cursor.key && cursor.list != list)
        return mcp_error_set(err, MCP_E_PARAMS, "cursor is of another list");
    if (cursor.key) {
        *out = strtoll(cursor.key, NULL, 10);
        return MCP_OK;
    }
    db_value values[] = { db_text(tx->workspace), db_text(cursor.id) };
    st = db_query(&rows, tx->session, "SELECT seq FROM evidence WHERE workspace = $1 AND id = $2",
                  values, 2, err);
    bool found = portarium_next(rows, &st, err);
    if (found)
        *out = db_int_at(rows, 0);
    db_rows_free(rows);
    return st == MCP_OK && !found ? mcp_error_set(err, MCP_E_PARAMS, "The cursor is invalid.") : st;
}

static mcp_status write_page(portarium_tx *tx, const selection *what, int limit, uint64_t list,
                             portarium_draft *draft, mcp_error *err)
{
    db_rows *rows = NULL;
    char key[24];
    const char *next = NULL;
    int count = 0;
    mcp_status st = db_query(&rows, tx->session, what->sql, what->values, what->count, err);
    mcp_write_member_array(&draft->json, "items");
    portarium_cursor last = { .key = key, .list = list };
    while (portarium_next(rows, &st, err) && count++ < limit) {
        size_t length = 0;
        const char *text = db_text_at(rows, 2, &length);
        mcp_write_raw(&draft->json, text, length);
        snprintf(key, sizeof key, "%" PRId64, db_int_at(rows, 0));
        last.id = mcp_arena_strdup(tx->arena, db_text_at(rows, 1, NULL));
    }
    mcp_write_end(&draft->json);
    db_rows_free(rows);
    if (st == MCP_OK && count > limit)
        st = portarium_cursor_write(&next, &last, tx->arena, err);
    if (next)
        mcp_write_member_string(&draft->json, "nextCursor", next);
    return st;
}

/* The newest first, unless `sort` is occurredAtIso:asc. */
static mcp_status list_evidence(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    selection what = { .count = 0 };
    portarium_query query;
    portarium_draft draft;
    int64_t after = 0;
    mcp_status st = portarium_query_read(&query, &portarium_entries, request, reply, err);
    if (st == MCP_OK && query.sort && strcmp(query.sort, "occurredAtIso") != 0) {
        portarium_fields_add(&reply->fields, "sort", "must be occurredAtIso:asc or :desc");
        st = portarium_fields_status(&reply->fields, err);
    }
    uint64_t list = portarium_query_hash(&query, &portarium_entries, tx->workspace);
    if (st == MCP_OK && query.cursor)
        st = cursor_seq(&after, tx, query.cursor, list, err);
    if (st != MCP_OK)
        return st;
    bool ascends = query.sort && query.ascends;
    add(&what, "SELECT seq, id, json FROM evidence WHERE workspace = ", db_text(tx->workspace));
    add_filters(&what, &query);
    if (query.cursor)
        add(&what, ascends ? " AND seq > " : " AND seq < ", db_int(after));
    add(&what, ascends ? " ORDER BY seq LIMIT " : " ORDER BY seq DESC LIMIT ",
        db_int(query.limit + 1));
    portarium_draft_object(&draft);
    st = write_page(tx, &what, query.limit, list, &draft, err);
    if (st == MCP_OK)
        return portarium_reply_draft(reply, tx, 200, &draft, err);
    portarium_draft_clear(&draft);
    return st;
}

static mcp_status list_run_evidence(portarium_tx *tx, const portarium_request *request,
                                    portarium_reply *reply, mcp_error *err)
{
    portarium_record run;
    mcp_status st = portarium_record_get(&run, tx, &portarium_runs,
                                         portarium_argument(request, "runId"), err);
    return st == MCP_OK ? list_evidence(tx, request, reply, err) : st;
}

/* ---- the head -------------------------------------------------------------------------------- */

static mcp_status get_head(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_draft draft;
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace) };
    (void)request;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT evidence_seq, evidence_hash FROM heads WHERE workspace = $1",
                             values, 1, err);
    bool found = portarium_next(rows, &st, err);
    portarium_draft_object(&draft);
    if (found) {
        mcp_write_member_int(&draft.json, "seq", db_int_at(rows, 0));
        if (!db_null_at(rows, 1))
            mcp_write_member_string(&draft.json, "hash", db_text_at(rows, 1, NULL));
    }
    db_rows_free(rows);
    if (st == MCP_OK && !found)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "Workspace %.128s not found.", tx->workspace);
    if (st == MCP_OK)
        return portarium_reply_draft(reply, tx, 200, &draft, err);
    portarium_draft_clear(&draft);
    return st;
}

/* ---- payloads -------------------------------------------------------------------------------- */

static mcp_status get_payload(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    const char *id = portarium_argument(request, "payloadId");
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(id) };
    bool is_gone = false;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT bytes, disposed_at FROM payloads WHERE workspace = $1 AND "
                             "id = $2",
                             values, 2, err);
    bool found = portarium_next(rows, &st, err);
    if (found && !db_null_at(rows, 1)) {
        is_gone = true;
    } else if (found) {
        const void *bytes = db_blob_at(rows, 0, &reply->length);
        reply->text = mcp_arena_strndup(tx->arena, bytes, reply->length);
        reply->status = 200;
    }
    db_rows_free(rows);
    if (st != MCP_OK)
        return st;
    if (is_gone)
        return portarium_refuse(reply, tx, err, 410,
                                "Payload %.128s was disposed of at the end of its retention.", id);
    if (!found)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "Payload %.128s not found.", id);
    return reply->text ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a payload");
}

/* clang-format off */
const portarium_operation portarium_evidence_operations[] = {
    { "listEvidence", "GET", "/evidence", PORTARIUM_MAY_READ, PORTARIUM_EVIDENCE,
      PORTARIUM_NO_BODY, "Evidence", "entries of evidence, the newest first", list_evidence },
    { "listRunEvidence", "GET", "/runs/{runId}/evidence", PORTARIUM_MAY_READ, PORTARIUM_EVIDENCE,
      PORTARIUM_NO_BODY, "Evidence", "the evidence of a run", list_run_evidence },
    { "getEvidenceHead", "GET", "/evidence/head", PORTARIUM_MAY_VERIFY_EVIDENCE, 0,
      PORTARIUM_NO_BODY, NULL, "the number and the hash of the last entry", get_head },
    { "getPayload", "GET", "/payloads/{payloadId}", PORTARIUM_MAY_READ, PORTARIUM_EVIDENCE,
      PORTARIUM_NO_BODY, NULL, "what an entry refers to", get_payload },
    { 0 },
};
/* clang-format on */
