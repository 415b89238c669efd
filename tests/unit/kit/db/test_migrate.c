/*
 * test_migrate.c - a schema is brought up to date once, wholly or not at all, on every engine.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "db/db.h"
#include "engine.h"

/* clang-format off */
#define FILE_OF(path, text) { path, text, sizeof text - 1 }

static const mcp_file two[] = {
    FILE_OF("sql/002-more.sql", "ALTER TABLE t ADD COLUMN n BIGINT NOT NULL DEFAULT 3;"),
    FILE_OF("sql/001-first.sql",
            "-- the first\nCREATE TABLE t (id TEXT PRIMARY KEY, body BLOB);\n"
            "INSERT INTO t (id) VALUES ('a;b'); CREATE INDEX t_body ON t (body);"),
    FILE_OF("web/page.html", "no SQL"),
    { 0 },
};
/* clang-format on */

static mcp_status migrate(engine *e, const mcp_file *files)
{
    e->err = (mcp_error)MCP_ERROR_INIT;
    return db_migrate(e->db, files, "sql", &e->err);
}

static void all_run_in_order_and_once(void **state)
{
    engine *e = *state;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(migrate(e, two), MCP_OK);
        assert_int_equal(engine_int(e->db, "SELECT SUM(n) FROM t WHERE id = 'a;b'"), 3);
        assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM db_migrations"), 2);
    }
}

static void later_ones_follow(void **state)
{
    engine *e = *state;
    const mcp_file first[] = { two[1], { 0 } };

    assert_int_equal(migrate(e, first), MCP_OK);
    assert_int_equal(migrate(e, two), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT n FROM t"), 3);
}

static void none_is_fine(void **state)
{
    engine *e = *state;
    const mcp_file none[] = { { 0 } };

    assert_int_equal(migrate(e, none), MCP_OK);
    assert_int_equal(migrate(e, NULL), MCP_OK);
}

static void a_failure_leaves_the_old_schema_and_names_the_file(void **state)
{
    engine *e = *state;
    const mcp_file files[] = {
        two[1], two[0], FILE_OF("sql/003-bad.sql", "CREATE TABLE u (a TEXT); SELEKT 1;"), { 0 }
    };
    const mcp_file first[] = { two[1], { 0 } };

    assert_int_equal(migrate(e, first), MCP_OK);
    assert_int_equal(migrate(e, files), MCP_E_INTERNAL);
    assert_memory_equal(e->err.message, "003-bad.sql: ", 13);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM db_migrations"), 1);
    assert_int_equal(migrate(e, two), MCP_OK);
}

static void a_changed_one_is_refused(void **state)
{
    engine *e = *state;
    const mcp_file files[] = { FILE_OF("sql/001-first.sql", "CREATE TABLE t (id TEXT)"),
                               two[0],
                               { 0 } };

    assert_int_equal(migrate(e, two), MCP_OK);
    assert_int_equal(migrate(e, files), MCP_E_PARAMS);
    assert_non_null(strstr(e->err.message, "001-first.sql"));
}

static void a_newer_database_is_refused(void **state)
{
    engine *e = *state;
    const mcp_file first[] = { two[1], { 0 } };

    assert_int_equal(migrate(e, two), MCP_OK);
    assert_int_equal(migrate(e, first), MCP_E_PARAMS);
    assert_non_null(strstr(e->err.message, "002-more.sql"));
}

/* Also on a database that has never been migrated. */
static void a_look_changes_nothing(void **state)
{
    engine *e = *state;
    const mcp_file first[] = { two[1], { 0 } };
    bool is_current = true, is_migrated = true;

    assert_int_equal(db_is_migrated(&is_migrated, e->db, &e->err), MCP_OK);
    assert_false(is_migrated);
    assert_int_equal(db_migrations_check(&is_current, e->db, two, "sql", &e->err), MCP_OK);
    assert_false(is_current);
    assert_int_equal(migrate(e, first), MCP_OK);
    assert_int_equal(db_is_migrated(&is_migrated, e->db, &e->err), MCP_OK);
    assert_true(is_migrated);
    assert_int_equal(db_migrations_check(&is_current, e->db, two, "sql", &e->err), MCP_OK);
    assert_false(is_current);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM db_migrations"), 1);
    assert_int_equal(migrate(e, two), MCP_OK);
    assert_int_equal(db_migrations_check(&is_current, e->db, two, "sql", &e->err), MCP_OK);
    assert_true(is_current);
    assert_int_equal(db_migrations_check(&is_current, e->db, first, "sql", &e->err), MCP_E_PARAMS);
    assert_non_null(strstr(e->err.message, "002-more.sql"));
}

static void one_that_comes_too_late_is_refused(void **state)
{
    engine *e = *state;
    const mcp_file without[] = { two[1],
                                 FILE_OF("sql/003-x.sql", "CREATE TABLE x (a TEXT)"),
                                 { 0 } };
    const mcp_file with[] = { two[1], without[1], two[0], { 0 } };

    assert_int_equal(migrate(e, without), MCP_OK);
    assert_int_equal(migrate(e, with), MCP_E_PARAMS);
    assert_non_null(strstr(e->err.message, "002-more.sql"));
}

static void bad_names_are_refused(void **state)
{
    engine *e = *state;
    static const char *const names[] = { "sql/1-x.sql",           "sql/001.sql",
                                         "sql/001-.sql",          "sql/001-x.txt",
                                         "sql/001-x/y.sql",       "sql/first.sql",
                                         "sql/001-x.oracle.sql",  "sql/001-.sqlite.sql",
                                         "sql/001-x.y.sqlite.sql" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const mcp_file files[] = { { names[i], "SELECT 1", 8 }, { 0 } };
        assert_int_equal(migrate(e, files), MCP_E_PARAMS);
        assert_non_null(strstr(e->err.message, names[i]));
    }
    const mcp_file twice[] = { two[1], FILE_OF("sql/001-other.sql", "SELECT 1"), { 0 } };
    assert_int_equal(migrate(e, twice), MCP_E_PARAMS);
}

/* A table whose rows cannot be removed, in the words of each engine. */
static const char guard_sqlite[] = "CREATE TRIGGER t_kept BEFORE DELETE ON t BEGIN\n"
                                   "  SELECT RAISE(ABORT, 'rows of t are kept; always');\nEND;\n"
                                   "CREATE INDEX t_sqlite ON t (id);";
static const char guard_postgres[] =
    "CREATE FUNCTION t_kept() RETURNS trigger LANGUAGE plpgsql AS $body$\nBEGIN\n"
    "  RAISE EXCEPTION 'rows of t are kept; always';\nEND;\n$body$;\n"
    "CREATE TRIGGER t_kept BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION t_kept();";

static void one_for_an_engine_runs_only_there(void **state)
{
    engine *e = *state;
    const mcp_file files[] = { two[1],
                               two[0],
                               FILE_OF("sql/003-guard.sqlite.sql", guard_sqlite),
                               FILE_OF("sql/003-guard.postgres.sql", guard_postgres),
                               { 0 } };
    const mcp_file own[] = {
        two[1], two[0], files[strcmp(db_engine(e->db), "sqlite") == 0 ? 2 : 3], { 0 }
    };
    db_session *session = NULL;

    for (int i = 0; i < 2; i++)
        assert_int_equal(migrate(e, files), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM db_migrations"), 3);
    assert_int_equal(migrate(e, own), MCP_OK); /* that of the other engine is not missed */
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(db_run(session, NULL, "DELETE FROM t", NULL, 0, &e->err), MCP_E_SCHEMA);
    assert_non_null(strstr(e->err.message, "rows of t are kept; always"));
    db_rollback(session);
}

static void one_for_an_engine_is_held_to_its_hash(void **state)
{
    engine *e = *state;
    const mcp_file files[] = { two[1],
                               FILE_OF("sql/002-a.sqlite.sql", "CREATE TABLE a (x TEXT)"),
                               FILE_OF("sql/002-a.postgres.sql", "CREATE TABLE a (x TEXT)"),
                               { 0 } };
    const mcp_file changed[] = { two[1],
                                 FILE_OF("sql/002-a.sqlite.sql", "CREATE TABLE b (x TEXT)"),
                                 FILE_OF("sql/002-a.postgres.sql", "CREATE TABLE b (x TEXT)"),
                                 { 0 } };
    const mcp_file without[] = { two[1], { 0 } };

    assert_int_equal(migrate(e, files), MCP_OK);
    assert_int_equal(migrate(e, changed), MCP_E_PARAMS);
    assert_non_null(strstr(e->err.message, "002-a."));
    assert_int_equal(migrate(e, without), MCP_E_PARAMS);
    assert_non_null(strstr(e->err.message, "002-a."));
}

/* Also on the engine that would not run them. */
static void numbers_are_unique_for_each_engine(void **state)
{
    engine *e = *state;
    const mcp_file all_and_one[] = { two[1], FILE_OF("sql/001-x.postgres.sql", "SELECT 1"), { 0 } };
    const mcp_file one_and_all[] = { FILE_OF("sql/001-x.sqlite.sql", "SELECT 1"), two[1], { 0 } };
    const mcp_file twice[] = { FILE_OF("sql/001-a.sqlite.sql", "SELECT 1"),
                               FILE_OF("sql/001-b.postgres.sql", "SELECT 1"),
                               FILE_OF("sql/001-c.sqlite.sql", "SELECT 1"),
                               { 0 } };

    assert_int_equal(migrate(e, all_and_one), MCP_E_PARAMS);
    assert_int_equal(migrate(e, one_and_all), MCP_E_PARAMS);
    assert_int_equal(migrate(e, twice), MCP_E_PARAMS);
    assert_non_null(strstr(e->err.message, "same number"));
}

static void a_script_cannot_end_the_transaction(void **state)
{
    engine *e = *state;
    const mcp_file files[] = { FILE_OF("sql/001-x.sql", "CREATE TABLE x (a TEXT); COMMIT;"),
                               { 0 } };

    assert_int_equal(migrate(e, files), MCP_E_INTERNAL);
    assert_int_equal(engine_int(e->db, "SELECT 4"), 4);
}

static void a_database_for_reading_must_be_up_to_date(void **state)
{
    engine *e = *state;
    db_options options = { .read_only = true };

    if (e->is_memory)
        return;
    db *reader = engine_connect(e, &options);
    assert_int_equal(db_migrate(reader, two, "sql", &e->err), MCP_E_DENIED);
    assert_non_null(strstr(e->err.message, "001-first.sql"));
    assert_int_equal(migrate(e, two), MCP_OK);
    assert_int_equal(db_migrate(reader, two, "sql", &e->err), MCP_OK);
    db_close(reader);
}

struct starter {
    engine *e;
    pthread_t thread;
    mcp_status status;
};

static void *start_up(void *data)
{
    struct starter *self = data;
    db *opened = engine_connect(self->e, NULL);

    self->status = db_migrate(opened, two, "sql", NULL);
    db_close(opened);
    return NULL;
}

static void many_that_start_at_once_take_turns(void **state)
{
    engine *e = *state;
    struct starter all[6];

    if (e->is_memory)
        return;
    for (int i = 0; i < 6; i++) {
        all[i].e = e;
        assert_int_equal(pthread_create(&all[i].thread, NULL, start_up, &all[i]), 0);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].status, MCP_OK);
    }
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(all_run_in_order_and_once),
        ENGINE_TESTS(later_ones_follow),
        ENGINE_TESTS(none_is_fine),
        ENGINE_TESTS(a_failure_leaves_the_old_schema_and_names_the_file),
        ENGINE_TESTS(a_changed_one_is_refused),
        ENGINE_TESTS(a_newer_database_is_refused),
        ENGINE_TESTS(a_look_changes_nothing),
        ENGINE_TESTS(one_that_comes_too_late_is_refused),
        ENGINE_TESTS(bad_names_are_refused),
        ENGINE_TESTS(one_for_an_engine_runs_only_there),
        ENGINE_TESTS(one_for_an_engine_is_held_to_its_hash),
        ENGINE_TESTS(numbers_are_unique_for_each_engine),
        ENGINE_TESTS(a_script_cannot_end_the_transaction),
        ENGINE_TESTS(a_database_for_reading_must_be_up_to_date),
        ENGINE_TESTS(many_that_start_at_once_take_turns),
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
