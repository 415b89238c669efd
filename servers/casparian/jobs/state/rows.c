/*
 * rows.c - values of rows and JSON texts of columns.
 */
#include "jobs/state/rows.h"

#include <stdio.h>

#include "mcp/clock.h"

bool casparian_next(db_rows *rows, mcp_status *st, mcp_error *err)
{
    bool has_row = false;
    if (*st == MCP_OK)
        *st = db_next(rows, &has_row, err);
    return *st == MCP_OK && has_row;
}

const char *casparian_row_text(const db_rows *rows, int column, mcp_arena *arena, mcp_status *st)
{
    size_t length = 0;
    const char *text = db_text_at(rows, column, &length);
    if (!text)
        return NULL;
    char *copy = mcp_arena_strndup(arena, text, length);
    if (!copy)
        *st = MCP_E_NOMEM;
    return copy;
}

const mcp_json *casparian_row_json(const db_rows *rows, int column, mcp_arena *arena,
                                   mcp_status *st, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    const mcp_json *json = NULL;
    size_t length = 0;
    const char *text = db_text_at(rows, column, &length);
    if (!text || *st != MCP_OK)
        return NULL;
    mcp_status read = mcp_json_read(&json, arena, text, length, &cause);
    if (read == MCP_E_PARSE)
        *st = mcp_error_set(err, MCP_E_INTERNAL, "a JSON text of the state: %s", cause.message);
    else if (read != MCP_OK)
        *st = mcp_error_set(err, read, "%s", cause.message);
    return json;
}

mcp_status casparian_query_int(int64_t *out, int64_t missing, db_session *session, const char *sql,
                               const db_value *values, size_t count, mcp_error *err)
{
    db_rows *rows = NULL;
    int64_t value = missing;
    mcp_status st = db_query(&rows, session, sql, values, count, err);
    if (casparian_next(rows, &st, err) && !db_null_at(rows, 0))
        value = db_int_at(rows, 0);
    db_rows_free(rows);
    if (st == MCP_OK)
        *out = value;
    return st;
}

void casparian_text_init(casparian_text *self)
{
    mcp_buf_init(&self->buf, CASPARIAN_COLUMN_MAX);
    mcp_json_writer_init(&self->out, &self->buf);
    mcp_write_object(&self->out);
}

mcp_status casparian_text_end(casparian_text *self, mcp_error *err)
{
    mcp_write_end(&self->out);
    mcp_status st = mcp_json_writer_status(&self->out);
    if (st == MCP_E_LIMIT)
        return mcp_error_set(err, st, "a JSON text of the state is too long");
    if (st == MCP_E_PARAMS)
        return mcp_error_set(err, st, "a text for the state is not UTF-8");
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "no memory for a text of the state");
}

void casparian_text_free(casparian_text *self)
{
    mcp_buf_clear(&self->buf);
}

db_value casparian_text_value(const casparian_text *self)
{
    return db_text_n(self->buf.data, self->buf.length);
}

void casparian_write_time(mcp_json_writer *out, const char *name, int64_t wall_ms)
{
    char text[MCP_CLOCK_UTC_SIZE];
    if (wall_ms == 0)
        return;
    mcp_clock_utc(text, wall_ms, 1);
    mcp_write_member_string(out, name, text);
}

void casparian_write_text(mcp_json_writer *out, const char *name, const char *text)
{
    if (text)
        mcp_write_member_string(out, name, text);
}

void casparian_write_job(mcp_json_writer *out, const char *name, int64_t job)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)job);
    if (job > 0)
        mcp_write_member_string(out, name, text);
}
