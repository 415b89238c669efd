/*
 * test_timers.c - what is due is done once, by one of several processes, on every engine.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "engine.h"
#include "jobs/timers.h"
#include "mcp/clock.h"

enum { WAIT_S = 60, TIMERS = 150, REPLICAS = 3 };

static const char table[] =
    "CREATE TABLE timers (id TEXT PRIMARY KEY, due_at BIGINT NOT NULL, kind TEXT NOT NULL, "
    "ref TEXT NOT NULL, lease_owner TEXT, lease_until BIGINT, fence BIGINT NOT NULL)";

/* A server: what fired at it. */
struct server {
    db *db;
    jobs_timers *timers;
    sem_t fired;
    int fails;    /* so many firings fail */
    bool ignores; /* fires do not end the timer */
    atomic_int firings;
    pthread_mutex_t lock; /* guards the rest */
    char last[200];
    jobs_lease lease;
    int64_t at_ms;
    int64_t due_ms;
};

/* The work: a number rises in the transaction that ends the timer. */
static mcp_status work(struct server *self, const jobs_lease *lease, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, self->db, DB_WRITE, err);

    if (st != MCP_OK)
        return st;
    st = jobs_timer_finish(session, lease, err);
    if (st == MCP_OK)
        st = db_run(session, NULL, "UPDATE done SET n = n + 1", NULL, 0, err);
    if (st == MCP_OK)
        return db_commit(session, err);
    db_rollback(session);
    return st;
}

static mcp_status fire(const jobs_timer *timer, void *data, mcp_error *err)
{
    struct server *self = data;
    int before = atomic_fetch_add(&self->firings, 1);
    mcp_status st = MCP_OK;

    pthread_mutex_lock(&self->lock);
    snprintf(self->last, sizeof self->last, "%s %s %s", timer->lease.id, timer->kind, timer->ref);
    self->lease = timer->lease;
    self->at_ms = mcp_clock_wall_ms();
    self->due_ms = timer->due_ms;
    pthread_mutex_unlock(&self->lock);
    if (before < self->fails)
        st = mcp_error_set(err, MCP_E_LIMIT, "not this time");
    else if (!self->ignores)
        st = work(self, &timer->lease, err);
    sem_post(&self->fired);
    return st;
}

static void server_init(struct server *self, db *db)
{
    *self = (struct server){ .db = db, .lock = PTHREAD_MUTEX_INITIALIZER };
    sem_init(&self->fired, 0, 0);
}

static void server_start(struct server *self, const jobs_timers_options *how)
{
    mcp_error err = MCP_ERROR_INIT;
    jobs_timers_options options = how ? *how : (jobs_timers_options){ 0 };

    options.fire = fire;
    options.data = self;
    if (!options.owner)
        options.owner = "server";
    if (jobs_timers_new(&self->timers, self->db, &options, &err) != MCP_OK)
        fail_msg("%s", err.message);
}

static void await(struct server *self)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    assert_int_equal(sem_timedwait(&self->fired, &until), 0);
}

static void make_tables(engine *e)
{
    engine_run(e->db, table);
    engine_run(e->db, "CREATE INDEX timers_due ON timers (due_at) WHERE lease_owner IS NULL");
    engine_run(e->db, "CREATE INDEX timers_leased ON timers (lease_until) "
                      "WHERE lease_owner IS NOT NULL");
    engine_run(e->db, "CREATE TABLE done (n BIGINT)");
    engine_run(e->db, "INSERT INTO done VALUES (0)");
}

/* Set a timer that is due in `ms`. */
static void set(db *db, const char *id, int64_t ms, const char *kind, const char *ref)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    int64_t now_ms = 0;

    if (db_begin(&session, db, DB_WRITE, &err) != MCP_OK ||
        db_now(session, &now_ms, &err) != MCP_OK ||
        jobs_timer_set(session, id, now_ms + ms, kind, ref, &err) != MCP_OK ||
        db_commit(session, &err) != MCP_OK)
        fail_msg("%s", err.message);
}

static bool cancel(db *db, const char *id)
{
    db_session *session = NULL;
    bool was_set = false;

    assert_int_equal(db_begin(&session, db, DB_WRITE, NULL), MCP_OK);
    assert_int_equal(jobs_timer_cancel(&was_set, session, id, NULL), MCP_OK);
    assert_int_equal(db_commit(session, NULL), MCP_OK);
    return was_set;
}

/* Wait until so much was done, or a minute is over. */
static void await_done(db *db, int64_t times)
{
    const struct timespec nap = { .tv_nsec = 5000000 };
    int64_t until_ms = mcp_clock_mono_ms() + WAIT_S * 1000;

    while (engine_int(db, "SELECT n FROM done") < times && mcp_clock_mono_ms() < until_ms)
        nanosleep(&nap, NULL);
    assert_int_equal(engine_int(db, "SELECT n FROM done"), times);
}

static void what_is_due_fires_with_what_was_set(void **state)
{
    engine *e = *state;
    struct server server;

    make_tables(e);
    server_init(&server, e->db);
    set(e->db, "was-due", -5000, "a kind", "its ref");
    server_start(&server, NULL);
    await(&server);
    await_done(e->db, 1);
    jobs_timers_free(server.timers);
    assert_string_equal(server.last, "was-due a kind its ref");
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM timers"), 0);
    assert_int_equal(server.firings, 1);
    jobs_timers_free(NULL);
}

/* The thread sleeps for an hour when it is set. */
static void a_new_timer_wakes_the_thread_and_fires_in_time(void **state)
{
    engine *e = *state;
    struct server server;

    make_tables(e);
    server_init(&server, e->db);
    set(e->db, "far", 100 * 3600000, "", "");
    server_start(&server, &(jobs_timers_options){ .poll_ms = 3600000 });
    set(e->db, "soon", 80, "k", "r");
    await(&server);
    await_done(e->db, 1);
    assert_string_equal(server.last, "soon k r");
    assert_true(server.at_ms >= server.due_ms);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM timers"), 1);
    assert_true(cancel(e->db, "far"));
    assert_false(cancel(e->db, "far"));
    jobs_timers_free(server.timers);
    assert_int_equal(server.firings, 1);
}

static void a_timer_that_is_set_again_fires_once_as_set_last(void **state)
{
    engine *e = *state;
    struct server server;

    make_tables(e);
    server_init(&server, e->db);
    set(e->db, "t", 3600000, "old", "1");
    set(e->db, "t", 0, "new", "2");
    server_start(&server, NULL);
    await(&server);
    await_done(e->db, 1);
    jobs_timers_free(server.timers);
    assert_string_equal(server.last, "t new 2");
    assert_int_equal(server.firings, 1);
}

static void one_that_fails_fires_again(void **state)
{
    engine *e = *state;
    struct server server;

    make_tables(e);
    server_init(&server, e->db);
    server.fails = 2;
    set(e->db, "t", 0, "k", "r");
    server_start(&server, NULL);
    await_done(e->db, 1);
    jobs_timers_free(server.timers);
    assert_int_equal(server.firings, 3);
}

/* It is set again, or ends and is made again, while a firing is at work. */
static void an_older_firing_is_refused(void **state)
{
    engine *e = *state;
    struct server server;

    make_tables(e);
    server_init(&server, e->db);
    server.ignores = true;
    set(e->db, "t", 0, "k", "r");
    server_start(&server, &(jobs_timers_options){ .lease_ms = 3600000 });
    await(&server);
    jobs_lease first = server.lease;
    set(e->db, "t", 0, "k", "r");
    await(&server);
    jobs_lease second = server.lease;
    assert_int_equal(work(&server, &first, &e->err), MCP_E_NOT_FOUND);
    assert_int_equal(work(&server, &second, &e->err), MCP_OK);
    set(e->db, "t", 0, "k", "r");
    await(&server);
    assert_int_equal(work(&server, &first, &e->err), MCP_E_NOT_FOUND);
    assert_int_equal(work(&server, &second, &e->err), MCP_E_NOT_FOUND);
    assert_true(cancel(e->db, "t"));
    assert_int_equal(work(&server, &server.lease, &e->err), MCP_E_NOT_FOUND);
    jobs_timers_free(server.timers);
    assert_int_equal(engine_int(e->db, "SELECT n FROM done"), 1);
}

static void the_timers_of_the_dead_are_taken_over(void **state)
{
    engine *e = *state;
    struct server server;

    make_tables(e);
    server_init(&server, e->db);
    engine_run(e->db, "INSERT INTO timers (id, due_at, kind, ref, lease_owner, lease_until, fence) "
                      "VALUES ('t', 1, 'k', 'r', 'a process that is gone', 2, 77)");
    server_start(&server, NULL);
    await_done(e->db, 1);
    jobs_timers_free(server.timers);
    assert_int_equal(server.lease.fence, 78);
}

/* A firing whose work is never done: the lease ends, and it fires again. */
static void work_that_is_not_done_is_asked_for_again(void **state)
{
    engine *e = *state;
    struct server server;

    make_tables(e);
    server_init(&server, e->db);
    server.ignores = true;
    set(e->db, "t", 0, "k", "r");
    server_start(&server, &(jobs_timers_options){ .lease_ms = 100 });
    await(&server);
    await(&server);
    jobs_timers_free(server.timers);
}

static void several_processes_do_each_once(void **state)
{
    engine *e = *state;
    struct server servers[REPLICAS];
    static const char *const owners[REPLICAS] = { "one", "two", "three" };
    char id[40];
    int firings = 0;

    make_tables(e);
    for (int i = 0; i < REPLICAS; i++) {
        server_init(&servers[i], e->is_memory ? e->db : engine_connect(e, NULL));
        server_start(&servers[i], &(jobs_timers_options){ .owner = owners[i], .lease_ms = 600000 });
    }
    for (int i = 0; i < TIMERS; i++) {
        snprintf(id, sizeof id, "timer%d", i);
        set(e->db, id, i % 7 * 20, "k", "r");
    }
    await_done(e->db, TIMERS);
    for (int i = 0; i < REPLICAS; i++) {
        jobs_timers_free(servers[i].timers);
        firings += servers[i].firings;
        if (servers[i].db != e->db)
            db_close(servers[i].db);
    }
    assert_int_equal(firings, TIMERS);
    assert_int_equal(engine_int(e->db, "SELECT n FROM done"), TIMERS);
}

static void what_is_missing_is_named(void **state)
{
    engine *e = *state;
    jobs_timers *timers = NULL;
    char id[JOBS_ID_SIZE + 1];
    db_session *session = NULL;

    assert_int_equal(jobs_timers_new(&timers, e->db, NULL, &e->err), MCP_E_PARAMS);
    assert_int_equal(
        jobs_timers_new(&timers, e->db, &(jobs_timers_options){ .fire = fire }, &e->err),
        MCP_E_PARAMS);
    assert_null(timers);
    memset(id, 'x', sizeof id);
    id[JOBS_ID_SIZE] = '\0';
    assert_int_equal(db_begin(&session, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(jobs_timer_set(session, id, 0, "", "", &e->err), MCP_E_LIMIT);
    db_rollback(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(what_is_due_fires_with_what_was_set),
        ENGINE_TESTS(a_new_timer_wakes_the_thread_and_fires_in_time),
        ENGINE_TESTS(a_timer_that_is_set_again_fires_once_as_set_last),
        ENGINE_TESTS(one_that_fails_fires_again),
        ENGINE_TESTS(an_older_firing_is_refused),
        ENGINE_TESTS(the_timers_of_the_dead_are_taken_over),
        ENGINE_TESTS(work_that_is_not_done_is_asked_for_again),
        ENGINE_TESTS(several_processes_do_each_once),
        ENGINE_TESTS(what_is_missing_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
