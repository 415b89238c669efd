/*
 * quarantined.c - reads the summaries of quarantine.
 *
 * contexts_json is the array of violations, or {"violations": [...], "parser_errors": {...}}.
 */
#include "jobs/state/quarantined.h"

#include "jobs/state/rows.h"

/* cf_outputs has the quarantine table of an output, if it was committed. */
static const char select_summaries[] =
    "SELECT s.job_id, s.job_type, s.plugin_name, s.plugin_version, s.output_name, s.rows_emitted, "
    "s.rows_quarantined, s.contexts_json, s.created_at, o.location "
    "FROM cf_quarantine_summary s LEFT JOIN cf_outputs o ON o.job_id = s.job_id AND "
    "o.output_name = s.output_name AND o.kind = 'quarantine' "
    "WHERE (CAST($1 AS BIGINT) = 0 OR s.job_id = $1) AND "
    "(CAST($2 AS TEXT) IS NULL OR s.plugin_name = $2) AND "
    "(CAST($3 AS TEXT) IS NULL OR s.output_name = $3) AND s.created_at >= $4 "
    "ORDER BY s.job_id DESC, s.output_name LIMIT $5";

static mcp_status read_row(casparian_quarantined *out, const db_rows *rows, mcp_arena *arena,
                           mcp_error *err)
{
    mcp_status st = MCP_OK;
    *out = (casparian_quarantined){ .job = db_int_at(rows, 0),
                                    .job_type = casparian_row_text(rows, 1, arena, &st),
                                    .plugin = casparian_row_text(rows, 2, arena, &st),
                                    .version = casparian_row_text(rows, 3, arena, &st),
                                    .output = casparian_row_text(rows, 4, arena, &st),
                                    .rows_emitted = db_int_at(rows, 5),
                                    .rows_quarantined = db_int_at(rows, 6),
                                    .created_ms = db_int_at(rows, 8),
                                    .location = casparian_row_text(rows, 9, arena, &st) };
    const mcp_json *contexts = casparian_row_json(rows, 7, arena, &st, err);
    out->violations = mcp_json_is_array(contexts) ? contexts : mcp_json_get(contexts, "violations");
    out->parser_errors = mcp_json_get(contexts, "parser_errors");
    return st;
}

static mcp_status read_all(casparian_quarantined *out, size_t *count, db_session *session,
                           mcp_arena *arena, const casparian_quarantined_filter *filter,
                           mcp_error *err)
{
    db_rows *rows = NULL;
    const db_value values[] = { db_int(filter->job), db_text(filter->plugin),
                                db_text(filter->output), db_int(filter->since_ms),
                                db_int(CASPARIAN_QUARANTINED_MAX) };
    mcp_status st = db_query(&rows, session, select_summaries, values, 5, err);
    while (casparian_next(rows, &st, err))
        st = read_row(&out[(*count)++], rows, arena, err);
    db_rows_free(rows);
    return st;
}

mcp_status casparian_quarantined_read(const casparian_quarantined **out, size_t *count,
                                      casparian_store *store, mcp_arena *arena,
                                      const casparian_quarantined_filter *filter, mcp_error *err)
{
    db_session *session = NULL;
    casparian_quarantined *all = mcp_arena_array(arena, CASPARIAN_QUARANTINED_MAX, sizeof *all);
    *count = 0;
    *out = all;
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for summaries of quarantine");
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st != MCP_OK)
        return st;
    return casparian_store_end(session, read_all(all, count, session, arena, filter, err), err);
}
