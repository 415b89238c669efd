/*
 * A copy of a database: what was committed is in it, what others write meanwhile is not disturbed,
 * and nothing is left where it fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/backup.h"
#include "db/db.h"

typedef struct world {
    char folder[64], url[96], copy[96], copy_url[104];
    db *database;
} world;

static int set_up(void **state)
{
    world *self = calloc(1, sizeof *self);
    db_session *session = NULL;
    snprintf(self->folder, sizeof self->folder, "/tmp/db-backup-XXXXXX");
    assert_non_null(mkdtemp(self->folder));
    snprintf(self->url, sizeof self->url, "sqlite:%s/a.db", self->folder);
    snprintf(self->copy, sizeof self->copy, "%s/b.db", self->folder);
    snprintf(self->copy_url, sizeof self->copy_url, "sqlite:%s", self->copy);
    assert_int_equal(db_open(&self->database, self->url, NULL, NULL), MCP_OK);
    assert_int_equal(db_begin(&session, self->database, DB_WRITE, NULL), MCP_OK);
    assert_int_equal(db_run(session, NULL, "CREATE TABLE t (n BIGINT NOT NULL)", NULL, 0, NULL),
                     MCP_OK);
    assert_int_equal(db_run(session, NULL, "INSERT INTO t VALUES (1), (2)", NULL, 0, NULL), MCP_OK);
    assert_int_equal(db_commit(session, NULL), MCP_OK);
    *state = self;
    return 0;
}

static int tear_down(void **state)
{
    world *self = *state;
    char command[128];
    db_close(self->database);
    snprintf(command, sizeof command, "rm -r %s", self->folder);
    int failed = system(command);
    free(self);
    return failed;
}

static int64_t sum_of(const char *url)
{
    db *copy = NULL;
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool has_row = false;
    assert_int_equal(db_open(&copy, url, NULL, NULL), MCP_OK);
    assert_int_equal(db_begin(&session, copy, DB_READ, NULL), MCP_OK);
    assert_int_equal(db_query(&rows, session, "SELECT SUM(n) FROM t", NULL, 0, NULL), MCP_OK);
    assert_int_equal(db_next(rows, &has_row, NULL), MCP_OK);
    int64_t sum = db_int_at(rows, 0);
    db_rows_free(rows);
    db_rollback(session);
    db_close(copy);
    return sum;
}

static void test_what_is_committed_is_copied(void **state)
{
    world *self = *state;
    struct stat info;
    int64_t bytes = 0;
    db_session *writer = NULL;
    assert_int_equal(db_begin(&writer, self->database, DB_WRITE, NULL), MCP_OK);
    assert_int_equal(db_run(writer, NULL, "INSERT INTO t VALUES (4)", NULL, 0, NULL), MCP_OK);
    assert_int_equal(db_backup(&bytes, self->url, self->copy, NULL), MCP_OK);
    assert_int_equal(db_commit(writer, NULL), MCP_OK);
    assert_int_equal(stat(self->copy, &info), 0);
    assert_int_equal(info.st_size, bytes);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(sum_of(self->copy_url), 3);
    assert_int_equal(sum_of(self->url), 7);
}

static void test_what_is_there_stays(void **state)
{
    world *self = *state;
    int64_t bytes = 0;
    assert_int_equal(db_backup(&bytes, self->url, self->copy, NULL), MCP_OK);
    assert_int_equal(db_backup(&bytes, self->url, self->copy, NULL), MCP_E_EXISTS);
    assert_int_equal(sum_of(self->copy_url), 3);
}

static void test_a_failure_leaves_nothing(void **state)
{
    world *self = *state;
    int64_t bytes = 0;
    char other[128];
    snprintf(other, sizeof other, "sqlite:%s/none.db", self->folder);
    assert_int_equal(db_backup(&bytes, other, self->copy, NULL), MCP_E_NOT_FOUND);
    assert_int_equal(access(other + 7, F_OK), -1);
    snprintf(other, sizeof other, "sqlite:%s/text", self->folder);
    FILE *file = fopen(other + 7, "wb");
    fputs("this is not a database, but a text that is long enough to be read as one", file);
    fclose(file);
    assert_int_equal(db_backup(&bytes, other, self->copy, NULL), MCP_E_IO);
    assert_int_equal(db_backup(&bytes, "postgres://h/d", self->copy, NULL), MCP_E_UNSUPPORTED);
    assert_int_equal(access(self->copy, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_committed_is_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_there_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_failure_leaves_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
