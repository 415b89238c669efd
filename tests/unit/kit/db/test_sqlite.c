/*
 * test_sqlite.c - what only a file can do: modes, damage, a full disk, a process that dies.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/db.h"
#include "engine.h"

static mcp_status try_open(engine *e, const char *name, const db_options *options)
{
    char url[1024];
    db *opened = NULL;

    e->err = (mcp_error)MCP_ERROR_INIT;
    snprintf(url, sizeof url, "sqlite:%s/%s", e->folder.path, name);
    mcp_status st = db_open(&opened, url, options, &e->err);
    db_close(opened);
    return st;
}

static void its_files_are_its_owners_alone(void **state)
{
    static const char *const names[] = { "test.db", "test.db-wal", "test.db-shm" };
    engine *e = *state;
    struct stat st;

    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stat(scratch_path(&e->folder, names[i]), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
}

static void what_is_no_database_is_refused_by_name(void **state)
{
    engine *e = *state;
    char text[5000];

    memset(text, 'x', sizeof text);
    scratch_write(&e->folder, "letter.txt", text, sizeof text);
    assert_int_equal(try_open(e, "letter.txt", NULL), MCP_E_IO);
    assert_non_null(strstr(e->err.message, "letter.txt is not a SQLite database"));
}

static void a_missing_folder_and_a_folder_are_refused_by_name(void **state)
{
    engine *e = *state;
    db_options reader = { .read_only = true };

    assert_int_equal(try_open(e, "none/test.db", NULL), MCP_E_NOT_FOUND);
    assert_non_null(strstr(e->err.message, "none/test.db"));
    assert_int_equal(try_open(e, "none.db", &reader), MCP_E_NOT_FOUND);
    assert_non_null(strstr(e->err.message, "none.db"));
    assert_int_equal(access(scratch_path(&e->folder, "none.db"), F_OK), -1);
    assert_int_equal(mkdir(scratch_path(&e->folder, "folder"), 0700), 0);
    assert_int_equal(try_open(e, "folder", NULL), MCP_E_IO);
    assert_non_null(strstr(e->err.message, "folder is not a file"));
}

static void damage_is_reported_and_names_the_file(void **state)
{
    engine *e = *state;
    db_session *session = NULL;
    char junk[3000];

    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    for (int i = 0; i < 20; i++)
        engine_run(e->db, "INSERT INTO t VALUES (printf('%.1000c', 'x'))");
    db_close(e->db);
    int fd = open(scratch_path(&e->folder, "test.db"), O_WRONLY | O_CLOEXEC);
    memset(junk, 0x5a, sizeof junk);
    assert_int_equal(pwrite(fd, junk, sizeof junk, 4096), sizeof junk);
    close(fd);
    e->db = engine_connect(e, NULL);
    assert_int_equal(db_begin(&session, e->db, DB_READ, &e->err), MCP_OK);
    assert_int_equal(db_run(session, NULL, "SELECT * FROM t", NULL, 0, &e->err), MCP_E_IO);
    assert_non_null(strstr(e->err.message, "test.db"));
    db_rollback(session);
}

/* The engine's own bound on pages gives the same failure as the disk's. */
static void a_full_disk_is_reported_and_nothing_is_half_done(void **state)
{
    engine *e = *state;
    db_options options = { .connections = 1 };
    db_session *session = NULL;
    mcp_status st = MCP_OK;

    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    db *small = engine_connect(e, &options);
    engine_run(small, "PRAGMA max_page_count = 10");
    assert_int_equal(db_begin(&session, small, DB_WRITE, &e->err), MCP_OK);
    for (int i = 0; i < 100 && st == MCP_OK; i++)
        st = db_run(session, NULL, "INSERT INTO t VALUES (printf('%.2000c', 'x'))", NULL, 0,
                    &e->err);
    assert_int_equal(st, MCP_E_STORAGE);
    assert_non_null(strstr(e->err.message, "test.db: the disk is full"));
    assert_int_equal(db_commit(session, NULL), MCP_E_STORAGE);
    assert_int_equal(engine_int(small, "SELECT COUNT(*) FROM t"), 0);
    db_close(small);
}

/* Another process that has the write lock, until it is released or killed. */
static pid_t hold_lock_elsewhere(const engine *e, int ready[2])
{
    pid_t pid = fork();

    if (pid != 0) {
        char byte;
        close(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        return pid;
    }
    db *own = NULL;
    db_session *session = NULL;
    if (db_open(&own, e->url, NULL, NULL) == MCP_OK &&
        db_begin(&session, own, DB_WRITE, NULL) == MCP_OK &&
        db_run(session, NULL, "INSERT INTO t VALUES ('half done')", NULL, 0, NULL) == MCP_OK &&
        write(ready[1], "x", 1) == 1)
        for (;;)
            pause();
    _exit(1);
}

static void a_lock_of_another_process_is_waited_for_and_ends_with_it(void **state)
{
    engine *e = *state;
    db_options options = { .wait_ms = 100 };
    db_session *session = NULL;
    int ready[2];

    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    db_close(e->db);
    e->db = NULL; /* a fork must not inherit an open database */
    assert_int_equal(pipe(ready), 0);
    pid_t pid = hold_lock_elsewhere(e, ready);
    e->db = engine_connect(e, &options);
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_E_BUSY);
    assert_non_null(strstr(e->err.message, "test.db was locked"));
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 0); /* readers go on */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    engine_run(e->db, "INSERT INTO t VALUES ('whole')");
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 1);
}

static mcp_status try_insert(engine *e)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, e->db, DB_WRITE, &e->err);

    if (st == MCP_OK)
        st = db_run(session, NULL, "INSERT INTO t VALUES ('more')", NULL, 0, &e->err);
    if (st == MCP_OK)
        return db_commit(session, &e->err);
    db_rollback(session);
    return st;
}

/* What is written to a file without a name is lost when the program ends, so none of it may be
 * called durable. */
static void a_file_that_was_removed_or_replaced_takes_no_more(void **state)
{
    engine *e = *state;
    char path[1024], aside[1024];

    snprintf(path, sizeof path, "%s", scratch_path(&e->folder, "test.db"));
    snprintf(aside, sizeof aside, "%s", scratch_path(&e->folder, "aside.db"));
    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(try_insert(e), MCP_E_IO);
    assert_non_null(strstr(e->err.message, "test.db was removed or replaced"));
    assert_int_equal(access(path, F_OK), -1); /* nor is another one made in its place */
    scratch_write(&e->folder, "test.db", "", 0);
    assert_int_equal(try_insert(e), MCP_E_IO);
    assert_int_equal(rename(aside, path), 0);
    assert_int_equal(try_insert(e), MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 1);
}

static void what_was_committed_to_a_log_that_was_removed_is_kept(void **state)
{
    engine *e = *state;

    engine_run(e->db, "CREATE TABLE t (a TEXT)");
    engine_run(e->db, "INSERT INTO t VALUES ('one')");
    assert_int_equal(unlink(scratch_path(&e->folder, "test.db-wal")), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(try_insert(e), MCP_E_IO);
        assert_non_null(strstr(e->err.message, "test.db-wal was removed or replaced"));
    }
    db_close(e->db);
    e->db = engine_connect(e, NULL);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 1);
    assert_int_equal(try_insert(e), MCP_OK);
}

static void settings_are_safe(void **state)
{
    engine *e = *state;
    db_options relaxed = { .relaxed = true };

    assert_int_equal(engine_int(e->db, "SELECT foreign_keys FROM pragma_foreign_keys"), 1);
    assert_int_equal(engine_int(e->db, "SELECT trusted_schema FROM pragma_trusted_schema"), 0);
    assert_int_equal(engine_int(e->db, "SELECT synchronous FROM pragma_synchronous"), 2);
    assert_int_equal(engine_int(e->db, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    db *quick = engine_connect(e, &relaxed);
    assert_int_equal(engine_int(quick, "SELECT synchronous FROM pragma_synchronous"), 1);
    db_close(quick);
}

static void parameters_are_dollar_and_number_alone(void **state)
{
    static const char *const statements[] = { "SELECT ?",  "SELECT :a", "SELECT @a",
                                              "SELECT $a", "SELECT $0", "SELECT $1::text" };
    engine *e = *state;
    db_value value = db_int(1);

    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        db_session *session = NULL;
        assert_int_equal(db_begin(&session, e->db, DB_READ, &e->err), MCP_OK);
        assert_int_equal(db_run(session, NULL, statements[i], &value, 1, &e->err), MCP_E_INTERNAL);
        db_rollback(session);
    }
}

static void no_descriptor_is_left_open(void **state)
{
    engine *e = *state;
    size_t before = scratch_open_descriptors();

    for (int i = 0; i < 3; i++) {
        db *opened = engine_connect(e, NULL);
        assert_int_equal(engine_int(opened, "SELECT 1"), 1);
        db_close(opened);
        assert_int_equal(try_open(e, "none/x.db", NULL), MCP_E_NOT_FOUND);
    }
    assert_int_equal(scratch_open_descriptors(), before);
}

#define SQLITE_TEST(test) cmocka_unit_test_setup_teardown(test, engine_sqlite, engine_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SQLITE_TEST(its_files_are_its_owners_alone),
        SQLITE_TEST(what_is_no_database_is_refused_by_name),
        SQLITE_TEST(a_missing_folder_and_a_folder_are_refused_by_name),
        SQLITE_TEST(damage_is_reported_and_names_the_file),
        SQLITE_TEST(a_full_disk_is_reported_and_nothing_is_half_done),
        SQLITE_TEST(a_lock_of_another_process_is_waited_for_and_ends_with_it),
        SQLITE_TEST(a_file_that_was_removed_or_replaced_takes_no_more),
        SQLITE_TEST(what_was_committed_to_a_log_that_was_removed_is_kept),
        SQLITE_TEST(settings_are_safe),
        SQLITE_TEST(parameters_are_dollar_and_number_alone),
        SQLITE_TEST(no_descriptor_is_left_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
