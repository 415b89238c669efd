/*
 * test_db.c - the pool under threads, on every engine; notifications.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "db/db.h"
#include "engine.h"

enum { THREADS = 6, ROUNDS = 30, WAIT_S = 60 };

struct adder {
    db *db;
    pthread_t thread;
    int done;
};

/* Read under a lock, then write what follows from it. */
static mcp_status add_one(db *db, mcp_error *err)
{
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool has_row = false;
    mcp_status st = db_begin(&session, db, DB_WRITE, err);

    if (st == MCP_OK)
        st = db_query(&rows, session, "SELECT n FROM t WHERE id = 'a' FOR UPDATE", NULL, 0, err);
    if (st == MCP_OK)
        st = db_next(rows, &has_row, err);
    db_value next = db_int(st == MCP_OK ? db_int_at(rows, 0) + 1 : 0);
    db_rows_free(rows);
    if (st == MCP_OK)
        st = db_run(session, NULL, "UPDATE t SET n = $1 WHERE id = 'a'", &next, 1, err);
    if (st == MCP_OK)
        return db_commit(session, err);
    db_rollback(session);
    return st;
}

static void *add_many(void *data)
{
    struct adder *self = data;
    mcp_error err = MCP_ERROR_INIT;

    while (self->done < ROUNDS) {
        mcp_status st = add_one(self->db, &err);
        if (st == MCP_OK)
            self->done++;
        else if (st != MCP_E_BUSY)
            break;
        (void)engine_int(self->db, "SELECT n FROM t");
    }
    return NULL;
}

/* Half the threads use one pool, half another, as two processes would. */
static void no_update_is_lost(void **state)
{
    engine *e = *state;
    db_options options = { .connections = 3 };
    db *other = e->is_memory ? e->db : engine_connect(e, &options);
    struct adder all[THREADS] = { 0 };

    engine_run(e->db, "CREATE TABLE t (id TEXT PRIMARY KEY, n BIGINT)");
    engine_run(e->db, "INSERT INTO t VALUES ('a', 0)");
    for (int i = 0; i < THREADS; i++) {
        all[i].db = i % 2 ? other : e->db;
        assert_int_equal(pthread_create(&all[i].thread, NULL, add_many, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].done, ROUNDS);
    }
    assert_int_equal(engine_int(e->db, "SELECT n FROM t"), THREADS * ROUNDS);
    if (other != e->db)
        db_close(other);
}

static void without_a_free_connection_one_waits_so_long(void **state)
{
    engine *e = *state;
    db_options options = { .connections = 1, .wait_ms = 50 };
    db *narrow = engine_connect(e, &options);
    db_session *first = NULL;
    db_session *second = NULL;

    assert_int_equal(db_begin(&first, narrow, DB_READ, &e->err), MCP_OK);
    assert_int_equal(db_begin(&second, narrow, DB_READ, &e->err), MCP_E_BUSY);
    assert_null(second);
    assert_non_null(strstr(e->err.message, "50 ms"));
    db_rollback(first);
    assert_int_equal(db_begin(&second, narrow, DB_WRITE, &e->err), MCP_OK);
    db_rollback(second);
    db_close(narrow);
}

struct latecomer {
    db *db;
    mcp_status status;
    atomic_bool done;
};

static void *come_late(void *data)
{
    struct latecomer *self = data;
    db_session *session = NULL;

    self->status = db_begin(&session, self->db, DB_WRITE, NULL);
    if (self->status == MCP_OK)
        db_rollback(session);
    atomic_store(&self->done, true);
    return NULL;
}

/* A thread that begins again as soon as it has ended comes after those that wait already. */
static void who_waits_gets_a_turn(void **state)
{
    engine *e = *state;
    db_options options = { .connections = 1, .wait_ms = 60000 };
    db *narrow = engine_connect(e, &options);
    struct latecomer late = { .db = narrow };
    const struct timespec hold = { .tv_nsec = 2000000 };
    db_session *session = NULL;
    pthread_t thread;

    assert_int_equal(db_begin(&session, narrow, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(pthread_create(&thread, NULL, come_late, &late), 0);
    while (!atomic_load(&late.done)) {
        nanosleep(&hold, NULL);
        db_rollback(session);
        assert_int_equal(db_begin(&session, narrow, DB_WRITE, &e->err), MCP_OK);
    }
    db_rollback(session);
    pthread_join(thread, NULL);
    assert_int_equal(late.status, MCP_OK);
    db_close(narrow);
}

static void a_lock_is_waited_for_so_long(void **state)
{
    engine *e = *state;
    db_options options = { .connections = 2, .wait_ms = 50 };
    db_session *first = NULL;
    db_session *second = NULL;

    if (e->is_memory)
        return;
    engine_run(e->db, "CREATE TABLE t (id TEXT PRIMARY KEY, n BIGINT)");
    engine_run(e->db, "INSERT INTO t VALUES ('a', 0)");
    db *other = engine_connect(e, &options);
    assert_int_equal(db_begin(&first, e->db, DB_WRITE, &e->err), MCP_OK);
    assert_int_equal(db_run(first, NULL, "UPDATE t SET n = 1", NULL, 0, &e->err), MCP_OK);
    mcp_status st = db_begin(&second, other, DB_WRITE, &e->err);
    if (st == MCP_OK)
        st = db_run(second, NULL, "UPDATE t SET n = 2", NULL, 0, &e->err);
    assert_int_equal(st, MCP_E_BUSY);
    db_rollback(second);
    assert_int_equal(db_commit(first, &e->err), MCP_OK);
    assert_int_equal(add_one(other, &e->err), MCP_OK); /* and afterwards it is free */
    db_close(other);
}

static void a_database_for_reading_is_not_written(void **state)
{
    engine *e = *state;
    db_options options = { .read_only = true };
    db_session *session = NULL;

    db *reader = engine_connect(e, &options);
    assert_int_equal(db_begin(&session, reader, DB_WRITE, &e->err), MCP_E_DENIED);
    assert_null(session);
    assert_int_equal(engine_int(reader, "SELECT 3"), 3);
    db_close(reader);
}

static void null_is_fine_where_it_should_be(void **state)
{
    (void)state;
    db_close(NULL);
    db_rollback(NULL);
    db_rows_free(NULL);
    db_listener_free(NULL);
}

/* What a listener heard, as one text: "a b NULL c ". */
struct ear {
    pthread_mutex_t lock;
    char heard[4096];
    sem_t each;
};

static void hear(const char *payload, void *data)
{
    struct ear *ear = data;

    pthread_mutex_lock(&ear->lock);
    size_t length = strlen(ear->heard);
    snprintf(ear->heard + length, sizeof ear->heard - length, "%s ", payload ? payload : "NULL");
    pthread_mutex_unlock(&ear->lock);
    sem_post(&ear->each);
}

static void ear_init(struct ear *ear)
{
    pthread_mutex_init(&ear->lock, NULL);
    ear->heard[0] = '\0';
    sem_init(&ear->each, 0, 0);
}

static void ear_wait(struct ear *ear, int times)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    while (times-- > 0)
        assert_int_equal(sem_timedwait(&ear->each, &until), 0);
}

static void tell(db *db, const char *channel, const char *payload, bool commits)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;

    assert_int_equal(db_begin(&session, db, DB_WRITE, &err), MCP_OK);
    assert_int_equal(db_notify(session, channel, payload, &err), MCP_OK);
    if (commits)
        assert_int_equal(db_commit(session, &err), MCP_OK);
    else
        db_rollback(session);
}

static void committed_news_is_heard_in_order(void **state)
{
    engine *e = *state;
    struct ear ear;
    struct ear deaf;
    db_listener *listener = NULL;
    db_listener *other = NULL;

    ear_init(&ear);
    ear_init(&deaf);
    tell(e->db, "news", "too early", true);
    assert_int_equal(db_listen(&listener, e->db, "news", hear, &ear, &e->err), MCP_OK);
    assert_int_equal(db_listen(&other, e->db, "other", hear, &deaf, &e->err), MCP_OK);
    tell(e->db, "news", "a", true);
    tell(e->db, "news", "never", false);
    tell(e->db, "news", "it's \"b\"", true);
    tell(e->db, "news", "", true);
    tell(e->db, "news", "c", true);
    ear_wait(&ear, 4);
    assert_string_equal(ear.heard, "a it's \"b\"  c ");
    db_listener_free(listener);
    tell(e->db, "news", "too late", true);
    db_listener_free(other);
    assert_string_equal(ear.heard, "a it's \"b\"  c ");
    assert_string_equal(deaf.heard, "");
}

static void another_process_hears_where_the_engine_is_shared(void **state)
{
    engine *e = *state;
    struct ear ear;
    db_listener *listener = NULL;

    if (!db_is_shared(e->db))
        return;
    ear_init(&ear);
    db *other = engine_connect(e, NULL);
    assert_int_equal(db_listen(&listener, other, "news", hear, &ear, &e->err), MCP_OK);
    tell(e->db, "news", "over there", true);
    ear_wait(&ear, 1);
    assert_string_equal(ear.heard, "over there ");
    db_listener_free(listener);
    db_close(other);
}

struct teller {
    engine *e;
    pthread_t thread;
};

static void *tell_many(void *data)
{
    struct teller *self = data;

    for (int i = 0; i < 20; i++)
        tell(self->e->db, "news", "x", true);
    return NULL;
}

static void listeners_come_and_go_while_others_tell(void **state)
{
    engine *e = *state;
    struct teller all[3];
    struct ear ear;
    db_listener *listener = NULL;

    for (int i = 0; i < 3; i++) {
        all[i].e = e;
        assert_int_equal(pthread_create(&all[i].thread, NULL, tell_many, &all[i]), 0);
    }
    for (int i = 0; i < 5; i++) {
        ear_init(&ear);
        assert_int_equal(db_listen(&listener, e->db, "news", hear, &ear, &e->err), MCP_OK);
        tell(e->db, "news", "mine", true);
        ear_wait(&ear, 1);
        db_listener_free(listener);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(all[i].thread, NULL);
}

static void urls_that_mean_nothing_are_refused(void **state)
{
    static const char *const urls[] = {
        "",          "sqlite:", "test.db",          "mysql://user:geheim@host/db",
        "postgres:", "Memory",  "sqlite:file:x.db", "postgresql:geheim",
    };
    mcp_error err = MCP_ERROR_INIT;
    db *opened = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        assert_int_equal(db_open(&opened, urls[i], NULL, &err), MCP_E_PARAMS);
        assert_null(opened);
        assert_null(strstr(err.message, "geheim"));
        assert_true(i != 2 || strstr(err.message, "\"test.db\" is no database"));
    }
}

static void a_bad_channel_is_refused(void **state)
{
    engine *e = *state;
    db_listener *listener = NULL;

    assert_int_equal(db_listen(&listener, e->db, "a\"; DROP", hear, NULL, &e->err), MCP_E_PARAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(no_update_is_lost),
        ENGINE_TESTS(without_a_free_connection_one_waits_so_long),
        ENGINE_TESTS(who_waits_gets_a_turn),
        ENGINE_TESTS(a_lock_is_waited_for_so_long),
        ENGINE_TESTS(a_database_for_reading_is_not_written),
        ENGINE_TESTS(committed_news_is_heard_in_order),
        ENGINE_TESTS(another_process_hears_where_the_engine_is_shared),
        ENGINE_TESTS(listeners_come_and_go_while_others_tell),
        ENGINE_TESTS(a_bad_channel_is_refused),
        cmocka_unit_test(urls_that_mean_nothing_are_refused),
        cmocka_unit_test(null_is_fine_where_it_should_be),
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
