/*
 * engine.h - one empty database after another, on each engine that kit/db knows.
 *
 * The body of a test is written once, with an engine as its state:
 *
 *     static void it_counts(void **state) { engine *e = *state; ... e->db ... }
 *     ENGINE_TESTS(it_counts)       in the table: one test a SQLite file, memory, PostgreSQL
 */
#ifndef TESTS_ENGINE_H
#define TESTS_ENGINE_H

#include "db/db.h"
#include "scratch.h"

typedef struct engine {
    db *db;
    char url[1024]; /* another db of this URL sees the same (memory: an empty one) */
    scratch folder;
    bool is_memory;
    mcp_error err;
} engine;

/* Set-ups of cmocka, one an engine, and the tear-down. */
int engine_sqlite(void **state);
int engine_memory(void **state);
int engine_postgres(void **state);
int engine_end(void **state);

/* End what engine_postgres started; the tear-down of a group. */
int engine_stop_all(void **state);

/* Open the same database once more; close it with db_close. A failure ends the test. */
db *engine_connect(const engine *e, const db_options *options);

/* Run one statement in a session of its own; anything but MCP_OK ends the test. */
void engine_run(db *db, const char *sql);

/* The integer that a query of one row and column gives, in a session of its own. */
int64_t engine_int(db *db, const char *sql);

/* clang-format off */
#define ENGINE_TESTS(test)                                                                         \
    { #test " (sqlite)", test, engine_sqlite, engine_end, NULL },                                  \
    { #test " (memory)", test, engine_memory, engine_end, NULL },                                  \
    { #test " (postgres)", test, engine_postgres, engine_end, NULL }
/* clang-format on */

#endif
