/*
 * rows.h - values of rows and JSON texts of columns.
 */
#ifndef CASPARIAN_JOBS_STATE_ROWS_H
#define CASPARIAN_JOBS_STATE_ROWS_H

#include "db/db.h"
#include "mcp/arena.h"
#include "mcp/json.h"

/* Longest JSON text of a column. */
#define CASPARIAN_COLUMN_MAX ((size_t)64 << 20)

/* Go to the next row, as long as *st is MCP_OK. False: there is none, or *st says why. */
bool casparian_next(db_rows *rows, mcp_status *st, mcp_error *err);

/* A copy of a text in the arena; NULL for NULL. *st becomes MCP_E_NOMEM. */
const char *casparian_row_text(const db_rows *rows, int column, mcp_arena *arena, mcp_status *st);

/* The value of a JSON text; NULL for NULL. *st: MCP_E_INTERNAL (no JSON), MCP_E_NOMEM. */
const mcp_json *casparian_row_json(const db_rows *rows, int column, mcp_arena *arena,
                                   mcp_status *st, mcp_error *err);

/* The first column of the first row; `missing` where there is no row or it is NULL. */
mcp_status casparian_query_int(int64_t *out, int64_t missing, db_session *session, const char *sql,
                               const db_value *values, size_t count, mcp_error *err);

/* A JSON object that is being written. */
typedef struct casparian_text {
    mcp_buf buf;
    mcp_json_writer out;
} casparian_text;

/* Begin an object. casparian_text_free must follow. */
void casparian_text_init(casparian_text *self);

/* End the object. MCP_OK; MCP_E_LIMIT; MCP_E_NOMEM; MCP_E_PARAMS (a text is not UTF-8). */
mcp_status casparian_text_end(casparian_text *self, mcp_error *err);

void casparian_text_free(casparian_text *self);

/* The object as a value of a statement; it is not copied. */
db_value casparian_text_value(const casparian_text *self);

/* A wall time as a member, "2026-01-17T08:00:00.123Z"; nothing for 0. */
void casparian_write_time(mcp_json_writer *out, const char *name, int64_t wall_ms);

/* A member, unless the text is NULL. */
void casparian_write_text(mcp_json_writer *out, const char *name, const char *text);

/* A job id as a member; nothing for 0. */
void casparian_write_job(mcp_json_writer *out, const char *name, int64_t job);

#endif
