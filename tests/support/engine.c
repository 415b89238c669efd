/*
 * engine.c - making an empty database on each engine.
 *
 * PostgreSQL runs once a program; each test has a schema of its own there, which its URL chooses.
 */
#include "engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "postgres.h"

static engine current;

static int set_up(void **state)
{
    current.err = (mcp_error)MCP_ERROR_INIT;
    current.db = engine_connect(&current, NULL);
    *state = &current;
    return 0;
}

int engine_sqlite(void **state)
{
    current = (engine){ 0 };
    scratch_open(&current.folder);
    snprintf(current.url, sizeof current.url, "sqlite:%s/test.db", current.folder.path);
    return set_up(state);
}

int engine_memory(void **state)
{
    current = (engine){ .url = "memory", .is_memory = true };
    return set_up(state);
}

int engine_postgres(void **state)
{
    static int schemas;
    const char *url = postgres_url();
    mcp_error err = MCP_ERROR_INIT;
    char sql[64];
    db *all = NULL;

    current = (engine){ 0 };
    snprintf(sql, sizeof sql, "CREATE SCHEMA test%d", ++schemas);
    if (db_open(&all, url, NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
    engine_run(all, sql);
    db_close(all);
    snprintf(current.url, sizeof current.url, "%s?options=-csearch_path%%3Dtest%d", url, schemas);
    return set_up(state);
}

int engine_end(void **state)
{
    engine *e = *state;

    db_close(e->db);
    if (e->folder.path[0])
        scratch_close(&e->folder);
    return 0;
}

int engine_stop_all(void **state)
{
    (void)state;
    postgres_stop();
    return 0;
}

db *engine_connect(const engine *e, const db_options *options)
{
    mcp_error err = MCP_ERROR_INIT;
    db *opened = NULL;

    if (db_open(&opened, e->url, options, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return opened;
}

void engine_run(db *db, const char *sql)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;

    if (db_begin(&session, db, DB_WRITE, &err) != MCP_OK ||
        db_run(session, NULL, sql, NULL, 0, &err) != MCP_OK || db_commit(session, &err) != MCP_OK)
        fail_msg("%s: %s", sql, err.message);
}

int64_t engine_int(db *db, const char *sql)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool has_row = false;

    if (db_begin(&session, db, DB_READ, &err) != MCP_OK ||
        db_query(&rows, session, sql, NULL, 0, &err) != MCP_OK ||
        db_next(rows, &has_row, &err) != MCP_OK)
        fail_msg("%s: %s", sql, err.message);
    assert_true(has_row);
    int64_t number = db_int_at(rows, 0);
    db_rows_free(rows);
    if (db_commit(session, &err) != MCP_OK)
        fail_msg("%s: %s", sql, err.message);
    return number;
}
