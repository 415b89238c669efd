/*
 * test_lease.c - one process works on a row, and who lost it is refused, on every engine.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine.h"
#include "jobs/lease.h"

enum { LONG_MS = 3600000, ROWS = 60, TAKERS = 6 };

static const jobs_table work = {
    .name = "work", .id = "id", .due = "due_at", .where = "state = 'queued'"
};
static const jobs_holder anna = { "anna", LONG_MS };
static const jobs_holder bert = { "bert", LONG_MS };

#define TABLE                                                                                      \
    "CREATE TABLE work (id TEXT PRIMARY KEY, due_at BIGINT, state TEXT DEFAULT 'queued', "         \
    "lease_owner TEXT, lease_until BIGINT, fence BIGINT NOT NULL DEFAULT 0)"

/* Take in a transaction of its own. @return how many */
static size_t take(db *db, jobs_lease *out, size_t max, jobs_which which, const jobs_holder *holder)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    size_t count = 0;

    if (db_begin(&session, db, DB_WRITE, &err) != MCP_OK ||
        jobs_take(out, &count, max, session, &work, which, holder, &err) != MCP_OK ||
        db_commit(session, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return count;
}

typedef mcp_status on_lease(db_session *session, const jobs_table *table, const jobs_lease *lease,
                            mcp_error *err);

/* Do it in a transaction of its own, which is committed in any case: it has not failed. */
static mcp_status with(db *db, on_lease *function, const jobs_lease *lease)
{
    db_session *session = NULL;

    assert_int_equal(db_begin(&session, db, DB_WRITE, NULL), MCP_OK);
    mcp_status st = function(session, &work, lease, NULL);
    assert_int_equal(db_commit(session, NULL), MCP_OK);
    return st;
}

static mcp_status renew(db_session *session, const jobs_table *table, const jobs_lease *lease,
                        mcp_error *err)
{
    jobs_lease copy = *lease;

    return jobs_renew(session, table, &copy, LONG_MS, err);
}

static void those_due_are_taken_once(void **state)
{
    engine *e = *state;
    jobs_lease leases[10];

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO work (id, due_at, state) VALUES ('late', 9, 'queued'), "
                      "('early', 5, 'queued'), ('never', NULL, 'queued'), ('done', 1, 'done'), "
                      "('later', 9000000000000000, 'queued')");
    assert_int_equal(take(e->db, leases, 1, JOBS_FREE, &anna), 1);
    assert_string_equal(leases[0].id, "early");
    assert_int_equal(leases[0].fence, 1);
    assert_int_equal(take(e->db, leases, 10, JOBS_FREE, &bert), 1);
    assert_string_equal(leases[0].id, "late");
    assert_int_equal(take(e->db, leases, 10, JOBS_FREE, &anna), 0);
    assert_int_equal(take(e->db, leases, 10, JOBS_EXPIRED, &anna), 0);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM work WHERE lease_owner = 'bert'"), 1);
}

static void a_holder_checks_renews_and_gives_up(void **state)
{
    engine *e = *state;
    jobs_lease lease;
    jobs_lease next;
    db_session *session = NULL;

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO work (id, due_at) VALUES ('a', 0)");
    assert_int_equal(take(e->db, &lease, 1, JOBS_FREE, &(jobs_holder){ "anna", 1000 }), 1);
    assert_int_equal(with(e->db, jobs_check, &lease), MCP_OK);
    int64_t until_ms = lease.until_ms;
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(jobs_renew(session, &work, &lease, LONG_MS, &e->err), MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
    assert_true(lease.until_ms > until_ms);
    assert_int_equal(engine_int(e->db, "SELECT lease_until FROM work"), lease.until_ms);
    assert_int_equal(with(e->db, jobs_give_up, &lease), MCP_OK);
    assert_int_equal(with(e->db, jobs_give_up, &lease), MCP_E_NOT_FOUND);
    assert_int_equal(with(e->db, jobs_check, &lease), MCP_E_NOT_FOUND);
    assert_int_equal(take(e->db, &next, 1, JOBS_FREE, &bert), 1);
    assert_int_equal(next.fence, lease.fence + 1);
}

static void who_lost_a_lease_is_refused(void **state)
{
    engine *e = *state;
    jobs_lease old;
    jobs_lease now;

    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO work (id, due_at) VALUES ('a', 0)");
    assert_int_equal(take(e->db, &old, 1, JOBS_FREE, &(jobs_holder){ "anna", 0 }), 1);
    assert_int_equal(with(e->db, jobs_check, &old), MCP_OK); /* it ended, and is nobody's else */
    assert_int_equal(take(e->db, &now, 1, JOBS_FREE, &bert), 0);
    engine_run(e->db, "UPDATE work SET state = 'running'"); /* of free rows alone that is asked */
    assert_int_equal(take(e->db, &now, 1, JOBS_EXPIRED, &bert), 1);
    assert_string_equal(now.id, "a");
    assert_true(now.fence > old.fence);
    assert_int_equal(with(e->db, jobs_check, &old), MCP_E_NOT_FOUND);
    assert_int_equal(with(e->db, renew, &old), MCP_E_NOT_FOUND);
    assert_int_equal(with(e->db, jobs_give_up, &old), MCP_E_NOT_FOUND);
    assert_int_equal(with(e->db, jobs_check, &now), MCP_OK);
    engine_run(e->db, "DELETE FROM work");
    assert_int_equal(with(e->db, jobs_check, &now), MCP_E_NOT_FOUND);
}

static void rows_may_have_numbers(void **state)
{
    static const jobs_table numbered = { .name = "numbered", .id = "job_id" };
    engine *e = *state;
    jobs_lease lease;
    db_session *session = NULL;
    size_t count = 0;

    engine_run(e->db, "CREATE TABLE numbered (job_id BIGINT PRIMARY KEY, lease_owner TEXT, "
                      "lease_until BIGINT, fence BIGINT NOT NULL DEFAULT 0)");
    engine_run(e->db, "INSERT INTO numbered (job_id) VALUES (12), (7)");
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(jobs_take(&lease, &count, 1, session, &numbered, JOBS_FREE, &anna, &e->err),
                     MCP_OK);
    assert_int_equal(count, 1);
    assert_string_equal(lease.id, "7");
    assert_int_equal(jobs_check(session, &numbered, &lease, &e->err), MCP_OK);
    assert_int_equal(jobs_give_up(session, &numbered, &lease, &e->err), MCP_OK);
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
}

static void an_id_too_long_is_refused(void **state)
{
    engine *e = *state;
    char sql[400];
    char id[200];
    jobs_lease lease;
    db_session *session = NULL;
    size_t count = 0;

    engine_run(e->db, TABLE);
    memset(id, 'x', sizeof id);
    snprintf(sql, sizeof sql, "INSERT INTO work (id, due_at) VALUES ('%.*s', 0)", JOBS_ID_SIZE, id);
    engine_run(e->db, sql);
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(jobs_take(&lease, &count, 1, session, &work, JOBS_FREE, &anna, &e->err),
                     MCP_E_LIMIT);
    db_rollback(session);
}

static int64_t next_of(engine *e)
{
    db_session *session = NULL;
    int64_t at_ms = 0;

    assert_int_equal(db_begin(&session, e->db, DB_READ, &e->err), MCP_OK);
    assert_int_equal(jobs_next(session, &work, &at_ms, &e->err), MCP_OK);
    db_rollback(session);
    return at_ms;
}

static void it_is_known_when_the_next_is_due(void **state)
{
    engine *e = *state;

    engine_run(e->db, TABLE);
    assert_true(next_of(e) == INT64_MAX);
    engine_run(e->db, "INSERT INTO work (id, due_at, state) VALUES ('a', 700, 'queued'), "
                      "('b', 500, 'done'), ('c', NULL, 'queued')");
    assert_int_equal(next_of(e), 700);
    engine_run(e->db, "UPDATE work SET lease_owner = 'x', lease_until = 600 WHERE id = 'b'");
    assert_int_equal(next_of(e), 600);
    engine_run(e->db, "UPDATE work SET lease_owner = 'x', lease_until = 900");
    assert_int_equal(next_of(e), 600 + 300);
}

/* On SQLite the second waits for the first, and takes what it left. */
static void a_row_that_is_being_taken_is_skipped(void **state)
{
    engine *e = *state;
    jobs_lease first;
    jobs_lease second;
    db_session *session = NULL;
    size_t count = 0;

    if (!db_is_shared(e->db))
        return;
    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO work (id, due_at) VALUES ('a', 1), ('b', 2)");
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(jobs_take(&first, &count, 1, session, &work, JOBS_FREE, &anna, &e->err),
                     MCP_OK);
    assert_int_equal(take(e->db, &second, 1, JOBS_FREE, &bert), 1);
    assert_string_equal(first.id, "a");
    assert_string_equal(second.id, "b");
    assert_int_equal(db_commit(session, &e->err), MCP_OK);
}

struct taker {
    engine *e;
    pthread_t thread;
    char owner[20];
    size_t taken;
    size_t lost;
};

static mcp_status count_up(db_session *session, const jobs_lease *lease)
{
    db_value id = db_text(lease->id);
    mcp_status st = jobs_check(session, &work, lease, NULL);

    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "UPDATE work SET state = 'done', times = times + 1 WHERE id = $1", &id, 1,
                    NULL);
    return st == MCP_OK ? jobs_give_up(session, &work, lease, NULL) : st;
}

static void *take_all(void *data)
{
    struct taker *self = data;
    const jobs_holder holder = { self->owner, LONG_MS };
    db *own = self->e->is_memory ? self->e->db : engine_connect(self->e, NULL);
    jobs_lease leases[3];

    for (size_t count = 1; count > 0;) {
        count = take(own, leases, 3, JOBS_FREE, &holder);
        for (size_t i = 0; i < count; i++) {
            db_session *session = NULL;
            mcp_status st = db_begin(&session, own, DB_WRITE, NULL);
            if (st == MCP_OK)
                st = count_up(session, &leases[i]);
            if (st == MCP_OK && db_commit(session, NULL) == MCP_OK)
                self->taken++;
            else
                self->lost++;
        }
    }
    if (own != self->e->db)
        db_close(own);
    return NULL;
}

static void many_takers_share_without_doing_anything_twice(void **state)
{
    engine *e = *state;
    struct taker all[TAKERS] = { { 0 } };
    char sql[120];
    size_t taken = 0;

    engine_run(e->db, TABLE);
    engine_run(e->db, "ALTER TABLE work ADD COLUMN times BIGINT NOT NULL DEFAULT 0");
    for (int i = 0; i < ROWS; i++) {
        snprintf(sql, sizeof sql, "INSERT INTO work (id, due_at) VALUES ('row%d', %d)", i, i);
        engine_run(e->db, sql);
    }
    for (int i = 0; i < TAKERS; i++) {
        all[i].e = e;
        snprintf(all[i].owner, sizeof all[i].owner, "taker%d", i);
        assert_int_equal(pthread_create(&all[i].thread, NULL, take_all, &all[i]), 0);
    }
    for (int i = 0; i < TAKERS; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].lost, 0);
        taken += all[i].taken;
    }
    assert_int_equal(taken, ROWS);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM work WHERE times = 1"), ROWS);
}

/* In a process of its own: take the row, say so, and do nothing more. */
static void take_and_hang(const char *url, int to)
{
    db *own = NULL;
    jobs_lease lease;

    if (db_open(&own, url, NULL, NULL) != MCP_OK ||
        take(own, &lease, 1, JOBS_FREE, &(jobs_holder){ "child", 1500 }) != 1 ||
        write(to, &lease, sizeof lease) != sizeof lease)
        _exit(1);
    for (;;)
        pause();
}

static void a_dead_holders_row_is_taken_over(void **state)
{
    engine *e = *state;
    const struct timespec nap = { .tv_nsec = 20000000 };
    jobs_lease dead;
    jobs_lease lease;
    int line[2];

    if (e->is_memory)
        return;
    engine_run(e->db, TABLE);
    engine_run(e->db, "INSERT INTO work (id, due_at) VALUES ('a', 0)");
    assert_int_equal(pipe(line), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        take_and_hang(e->url, line[1]);
    assert_int_equal(read(line[0], &dead, sizeof dead), sizeof dead);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(take(e->db, &lease, 1, JOBS_FREE, &anna), 0);
    while (take(e->db, &lease, 1, JOBS_EXPIRED, &anna) == 0)
        nanosleep(&nap, NULL);
    assert_int_equal(lease.fence, dead.fence + 1);
    assert_int_equal(with(e->db, jobs_check, &dead), MCP_E_NOT_FOUND);
    assert_int_equal(with(e->db, jobs_check, &lease), MCP_OK);
    close(line[0]);
    close(line[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(those_due_are_taken_once),
        ENGINE_TESTS(a_holder_checks_renews_and_gives_up),
        ENGINE_TESTS(who_lost_a_lease_is_refused),
        ENGINE_TESTS(rows_may_have_numbers),
        ENGINE_TESTS(an_id_too_long_is_refused),
        ENGINE_TESTS(it_is_known_when_the_next_is_due),
        ENGINE_TESTS(a_row_that_is_being_taken_is_skipped),
        ENGINE_TESTS(many_takers_share_without_doing_anything_twice),
        ENGINE_TESTS(a_dead_holders_row_is_taken_over),
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
