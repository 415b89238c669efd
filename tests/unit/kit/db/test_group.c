/*
 * test_group.c - functions of many callers share a transaction, and each receives its own outcome,
 * on every engine.
 *
 * A function that waits at a gate lets the others of a test gather behind it, so that it is known
 * which of them run in one transaction.
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

#include "db/group.h"
#include "engine.h"
#include "oom.h"

enum { WAIT_S = 60, MANY = 200, THREADS = 8 };

static bool reached(sem_t *sem)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    return sem_timedwait(sem, &until) == 0;
}

/* One change: what it does, and what its caller was told. */
struct change {
    int64_t id;
    int64_t fails_as; /* a status */
    int busy_times;   /* first it is busy so often */
    bool breaks;      /* it fails, and says that it did not */
    bool loses;       /* its first run loses the connection */
    int64_t violates; /* a row that it refers to, and that is not there */
    int nap_ms;
    int runs;
    int told_times;
    mcp_status status;
    char message[80];
    sem_t *told;
    struct gate *gate;
};

struct gate {
    sem_t reached;
    sem_t open;
};

static mcp_status insert(db_session *session, int64_t id, mcp_error *err)
{
    db_value value = db_int(id);

    return db_run(session, NULL, "INSERT INTO t (id, at) VALUES ($1, (SELECT COUNT(*) FROM t))",
                  &value, 1, err);
}

static mcp_status apply(db_session *session, void *data, mcp_error *err)
{
    struct change *self = data;
    db_value violates = db_int(self->violates);
    const struct timespec nap = { .tv_nsec = self->nap_ms * 1000000L };
    mcp_status st = insert(session, self->id, err);

    self->runs++;
    nanosleep(&nap, NULL);
    if (self->gate && self->runs == 1) {
        sem_post(&self->gate->reached);
        (void)reached(&self->gate->open);
    }
    if (st == MCP_OK && self->loses && self->runs == 1)
        return db_run(session, NULL, "SELECT pg_terminate_backend(pg_backend_pid())", NULL, 0, err);
    if (st == MCP_OK && self->runs <= self->busy_times)
        return mcp_error_set(err, MCP_E_BUSY, "busy so far");
    if (st == MCP_OK && self->violates)
        st = db_run(session, NULL, "INSERT INTO child VALUES ($1)", &violates, 1, err);
    if (st == MCP_OK && self->breaks)
        (void)insert(session, self->id, NULL);
    if (st == MCP_OK && self->fails_as)
        return mcp_error_set(err, (mcp_status)self->fails_as, "number %d fails", (int)self->id);
    return st;
}

static void note(void *data, mcp_status status, const mcp_error *err)
{
    struct change *self = data;

    self->status = err->status == status ? status : MCP_E_INTERNAL;
    self->told_times++;
    snprintf(self->message, sizeof self->message, "%.79s", err->message);
    sem_post(self->told);
}

/* A database with its table, a group, and a gate that its thread waits at. */
struct stage {
    engine *e;
    db_group *group;
    sem_t told;
    struct gate gate;
    struct change first;
};

/* The first function has begun, alone, and waits. */
static void stage_open(struct stage *self, engine *e, const db_group_options *options)
{
    db_group_options one = options ? *options : (db_group_options){ .batch_ms = 60000 };

    *self = (struct stage){ .e = e };
    one.threads = 1;
    engine_run(e->db, "CREATE TABLE t (id BIGINT PRIMARY KEY, at BIGINT)");
    assert_int_equal(db_group_new(&self->group, e->db, &one, &e->err), MCP_OK);
    sem_init(&self->told, 0, 0);
    sem_init(&self->gate.reached, 0, 0);
    sem_init(&self->gate.open, 0, 0);
    self->first = (struct change){ .id = 1000000, .told = &self->told, .gate = &self->gate };
    assert_int_equal(db_group_submit(self->group, NULL, apply, &self->first, note, &e->err),
                     MCP_OK);
    assert_true(reached(&self->gate.reached));
}

static void stage_submit(struct stage *self, const char *key, struct change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        changes[i].told = &self->told;
        assert_int_equal(db_group_submit(self->group, key, apply, &changes[i], note, &self->e->err),
                         MCP_OK);
    }
}

/* Open the gate, and wait until all were told. */
static db_group_counts stage_finish(struct stage *self, size_t count)
{
    db_group_counts counts;

    sem_post(&self->gate.open);
    for (size_t i = 0; i < count + 1; i++)
        assert_true(reached(&self->told));
    assert_int_equal(self->first.status, MCP_OK);
    db_group_count(self->group, &counts);
    db_group_free(self->group);
    return counts;
}

static void number(struct change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        changes[i].id = (int64_t)i + 1;
}

static void one_caller_receives_its_outcome(void **state)
{
    engine *e = *state;
    struct change good = { .id = 1 };
    struct change bad = { .id = 2, .fails_as = MCP_E_NOT_FOUND };
    struct change twice = { .id = 1 };
    db_group *group = NULL;

    engine_run(e->db, "CREATE TABLE t (id BIGINT PRIMARY KEY, at BIGINT)");
    assert_int_equal(db_group_new(&group, e->db, NULL, &e->err), MCP_OK);
    assert_int_equal(db_group_run(group, NULL, apply, &good, &e->err), MCP_OK);
    assert_int_equal(db_group_run(group, "a", apply, &bad, &e->err), MCP_E_NOT_FOUND);
    assert_int_equal(e->err.status, MCP_E_NOT_FOUND);
    assert_string_equal(e->err.message, "number 2 fails");
    assert_int_equal(db_group_run(group, "a", apply, &twice, NULL), MCP_E_EXISTS);
    assert_int_equal(engine_int(e->db, "SELECT SUM(id) FROM t"), 1);
    assert_int_equal(good.runs, 1);
    assert_int_equal(bad.runs, 1);
    db_group_free(group);
    db_group_free(NULL);
}

static void what_gathers_shares_a_commit(void **state)
{
    struct change changes[MANY] = { { 0 } };
    struct stage stage;

    stage_open(&stage, *state, &(db_group_options){ .batch_max = 1000, .batch_ms = 60000 });
    number(changes, MANY);
    stage_submit(&stage, "a", changes, MANY);
    db_group_counts counts = stage_finish(&stage, MANY);
    assert_int_equal(counts.commits, 2);
    assert_int_equal(counts.repeated, 0);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(changes[i].status, MCP_OK);
        assert_int_equal(changes[i].told_times, 1);
    }
    /* In order: each saw as many rows as were submitted before it. */
    assert_int_equal(engine_int(stage.e->db, "SELECT COUNT(*) FROM t WHERE at = id"), MANY);
}

static void a_failure_is_its_callers_alone(void **state)
{
    struct change changes[5] = { { 0 } };
    struct stage stage;

    stage_open(&stage, *state, NULL);
    number(changes, 5);
    changes[1].fails_as = MCP_E_DENIED;
    changes[2].id = 1;
    changes[3].breaks = true;
    stage_submit(&stage, "a", changes, 5);
    db_group_counts counts = stage_finish(&stage, 5);
    assert_int_equal(changes[0].status, MCP_OK);
    assert_int_equal(changes[1].status, MCP_E_DENIED);
    assert_string_equal(changes[1].message, "number 2 fails");
    assert_int_equal(changes[2].status, MCP_E_EXISTS);
    assert_int_equal(changes[3].status, MCP_E_EXISTS);
    assert_int_equal(changes[4].status, MCP_OK);
    assert_int_equal(counts.commits, 2);
    assert_int_equal(engine_int(stage.e->db, "SELECT SUM(id) FROM t WHERE id < 1000"), 1 + 5);
}

/* One function that only looks, and refuses: nobody runs again for it. */
static mcp_status look_and_refuse(db_session *session, void *data, mcp_error *err)
{
    struct change *self = data;
    db_rows *rows = NULL;
    bool has_row = false;

    self->runs++;
    mcp_status st = db_query(&rows, session, "SELECT id FROM t WHERE id = -1", NULL, 0, err);
    if (st == MCP_OK)
        st = db_next(rows, &has_row, err);
    db_rows_free(rows);
    return st == MCP_OK ? mcp_error_set(err, MCP_E_NOT_FOUND, "no such row") : st;
}

static void a_refusal_that_changed_nothing_repeats_nobody(void **state)
{
    struct change changes[4] = { { 0 } };
    struct change looker = { .id = 9 };
    struct stage stage;

    stage_open(&stage, *state, NULL);
    number(changes, 4);
    looker.told = &stage.told;
    stage_submit(&stage, "a", changes, 2);
    assert_int_equal(
        db_group_submit(stage.group, "a", look_and_refuse, &looker, note, &stage.e->err), MCP_OK);
    stage_submit(&stage, "a", changes + 2, 2);
    db_group_counts counts = stage_finish(&stage, 5);
    assert_int_equal(looker.status, MCP_E_NOT_FOUND);
    assert_string_equal(looker.message, "no such row");
    assert_int_equal(looker.runs, 1);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(changes[i].status, MCP_OK);
        assert_int_equal(changes[i].runs, 1);
    }
    assert_int_equal(counts.commits, 2);
    assert_int_equal(counts.repeated, 0);
}

/* A counter that functions share, and that is stored once for all of them. */
struct tally {
    int64_t count;
    bool has_changed;
};

static int reads, stores; /* of the group's thread, read after its end */

static mcp_status read_tally(struct tally **out, db_session *session, mcp_error *err)
{
    db_shared *shared = db_session_shared(session);
    db_rows *rows = NULL;
    bool has_row = false;

    assert_non_null(shared);
    *out = shared->data;
    if (*out)
        return MCP_OK;
    *out = shared->data = mcp_arena_alloc(shared->arena, sizeof **out);
    assert_non_null(*out);
    reads++;
    mcp_status st = db_query(&rows, session, "SELECT n FROM n FOR UPDATE", NULL, 0, err);
    if (st == MCP_OK)
        st = db_next(rows, &has_row, err);
    (*out)->count = has_row ? db_int_at(rows, 0) : -1;
    db_rows_free(rows);
    return st;
}

static mcp_status count_and_apply(db_session *session, void *data, mcp_error *err)
{
    struct tally *tally = NULL;
    mcp_status st = read_tally(&tally, session, err);

    if (st == MCP_OK)
        st = apply(session, data, err);
    if (st != MCP_OK)
        return st;
    tally->count++;
    tally->has_changed = true;
    return MCP_OK;
}

static mcp_status store_tally(db_session *session, void *data, mcp_error *err)
{
    struct tally *tally = db_session_shared(session)->data;

    (void)data;
    if (!tally || !tally->has_changed)
        return MCP_OK;
    db_value value = db_int(tally->count);
    tally->has_changed = false;
    stores++;
    return db_defer(session, MCP_E_NOT_FOUND, "UPDATE n SET n = $1", &value, 1, err);
}

static void open_tally(struct stage *stage, engine *e)
{
    const db_group_options options = { .batch_ms = 60000, .finish = store_tally };

    engine_run(e->db, "CREATE TABLE n (n BIGINT)");
    engine_run(e->db, "INSERT INTO n VALUES (0)");
    stage_open(stage, e, &options);
    reads = stores = 0;
}

static void submit_tally(struct stage *stage, struct change *changes, size_t count)
{
    number(changes, count);
    for (size_t i = 0; i < count; i++) {
        changes[i].told = &stage->told;
        assert_int_equal(
            db_group_submit(stage->group, "a", count_and_apply, &changes[i], note, &stage->e->err),
            MCP_OK);
    }
}

static void what_functions_share_is_stored_once(void **state)
{
    struct change changes[5] = { { 0 } };
    struct stage stage;

    open_tally(&stage, *state);
    submit_tally(&stage, changes, 5);
    (void)stage_finish(&stage, 5);
    assert_int_equal(reads, 1);
    assert_int_equal(stores, 1);
    assert_int_equal(engine_int(stage.e->db, "SELECT n FROM n"), 5);
}

/* Whatever is undone, those that were told of success are counted, and nobody else is. */
static void what_functions_share_is_undone_with_them(void **state)
{
    struct change changes[8] = { { 0 } };
    struct stage stage;

    open_tally(&stage, *state);
    changes[1].fails_as = MCP_E_DENIED;
    changes[3].breaks = true;
    changes[6].busy_times = 2;
    submit_tally(&stage, changes, 8);
    (void)stage_finish(&stage, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(changes[i].status, i == 1 ? MCP_E_DENIED : i == 3 ? MCP_E_EXISTS : MCP_OK);
    assert_int_equal(engine_int(stage.e->db, "SELECT n FROM n"), 6);
    assert_int_equal(engine_int(stage.e->db, "SELECT COUNT(*) FROM t WHERE id < 1000"), 6);
}

static void a_batch_is_bounded(void **state)
{
    struct change changes[10] = { { 0 } };
    struct stage stage;

    stage_open(&stage, *state, &(db_group_options){ .batch_max = 3, .batch_ms = 60000 });
    number(changes, 10);
    stage_submit(&stage, "a", changes, 10);
    db_group_counts counts = stage_finish(&stage, 10);
    assert_int_equal(counts.commits, 1 + 4);
    assert_int_equal(engine_int(stage.e->db, "SELECT COUNT(*) FROM t WHERE at = id"), 10);
}

/* A caller that waits for its change. */
struct caller {
    db_group *group;
    struct change change;
    pthread_t thread;
};

static void *call(void *data)
{
    struct caller *self = data;

    self->change.status = db_group_run(self->group, "a", apply, &self->change, NULL);
    return NULL;
}

static void wait_until_queued(db_group *group, size_t wanted)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    db_group_counts counts = { 0 };

    for (int i = 0; i < WAIT_S * 1000 && counts.waiting < wanted; i++) {
        db_group_count(group, &counts);
        nanosleep(&pause, NULL);
    }
    assert_int_equal(counts.waiting, wanted);
}

static void start_callers(struct caller *callers, int count, db_group *group)
{
    for (int i = 0; i < count; i++) {
        callers[i].group = group;
        callers[i].change.id = 100 + i;
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
}

static void join_callers(struct caller *callers, int count)
{
    for (int i = 0; i < count; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].change.status, MCP_OK);
    }
}

/* Three batches of 4 hold the 8 callers, so each of them has a place for what was submitted. */
static void callers_that_wait_go_first(void **state)
{
    struct change changes[20] = { { 0 } };
    struct caller callers[8] = { { 0 } };
    struct stage stage;

    stage_open(&stage, *state, &(db_group_options){ .batch_max = 4, .batch_ms = 60000 });
    number(changes, 20);
    stage_submit(&stage, "a", changes, 20);
    start_callers(callers, 8, stage.group);
    wait_until_queued(stage.group, 28);
    sem_post(&stage.gate.open);
    join_callers(callers, 8);
    for (int i = 0; i < 20 + 1; i++)
        assert_true(reached(&stage.told));
    db_group_free(stage.group);
    engine *e = stage.e;
    assert_in_range(engine_int(e->db, "SELECT MAX(at) FROM t WHERE id BETWEEN 100 AND 107"), 8, 12);
    assert_in_range(engine_int(e->db, "SELECT at FROM t WHERE id = 1"), 1, 4);
    assert_in_range(engine_int(e->db, "SELECT at FROM t WHERE id = 2"), 5, 8);
}

/* 20 of 40 places are taken: the 8 callers share their batch with as many of the 20. */
static void a_queue_that_fills_gets_as_much_as_callers(void **state)
{
    struct change changes[20] = { { 0 } };
    struct caller callers[8] = { { 0 } };
    struct stage stage;

    stage_open(&stage, *state,
               &(db_group_options){ .batch_max = 16, .batch_ms = 60000, .queue_max = 40 });
    number(changes, 20);
    stage_submit(&stage, "a", changes, 20);
    start_callers(callers, 8, stage.group);
    wait_until_queued(stage.group, 28);
    sem_post(&stage.gate.open);
    join_callers(callers, 8);
    for (int i = 0; i < 20 + 1; i++)
        assert_true(reached(&stage.told));
    db_group_free(stage.group);
    assert_in_range(engine_int(stage.e->db, "SELECT COUNT(*) FROM t WHERE id <= 20 AND at < "
                                            "(SELECT MAX(at) FROM t WHERE id >= 100)"),
                    6, 8);
}

/* Of 10 that were submitted 3 have run when 4 callers come. These are next: on SQLite in the same
 * transaction, on PostgreSQL in another one, with one of the 7 others. */
static void callers_do_not_wait_for_what_was_submitted(void **state)
{
    struct change changes[10] = { { 0 } };
    struct caller callers[4] = { { 0 } };
    struct gate within = { 0 };
    struct stage stage;

    sem_init(&within.reached, 0, 0);
    sem_init(&within.open, 0, 0);
    stage_open(&stage, *state, NULL);
    number(changes, 10);
    changes[2].gate = &within;
    stage_submit(&stage, "a", changes, 10);
    sem_post(&stage.gate.open);
    assert_true(reached(&within.reached));
    start_callers(callers, 4, stage.group);
    wait_until_queued(stage.group, 4);
    sem_post(&within.open);
    join_callers(callers, 4);
    for (int i = 0; i < 10 + 1; i++)
        assert_true(reached(&stage.told));
    db_group_counts counts;
    db_group_count(stage.group, &counts);
    db_group_free(stage.group);
    engine *e = stage.e;
    assert_in_range(engine_int(e->db, "SELECT MAX(at) FROM t WHERE id BETWEEN 100 AND 103"), 7, 8);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t WHERE id < 4 AND at = id"), 3);
    assert_int_equal(counts.commits, db_is_shared(e->db) ? 4 : 3);
    assert_int_equal(counts.repeated, 0);
}

static atomic_bool is_over;

/* A call after the other, until it is over. */
static void *call_again_and_again(void *data)
{
    struct caller *self = data;

    while (!atomic_load(&is_over) && self->change.status == MCP_OK) {
        self->change.id++;
        self->change.status = db_group_run(self->group, NULL, apply, &self->change, NULL);
    }
    return NULL;
}

/* However many callers come, what was submitted has its turn. */
static void callers_starve_nobody(void **state)
{
    struct change changes[10] = { { 0 } };
    struct caller callers[THREADS] = { { 0 } };
    struct stage stage;

    atomic_store(&is_over, false);
    stage_open(&stage, *state, NULL);
    number(changes, 10);
    stage_submit(&stage, "a", changes, 10);
    for (int i = 0; i < THREADS; i++) {
        callers[i].group = stage.group;
        callers[i].change.id = 1000000 * (int64_t)(i + 2);
        assert_int_equal(
            pthread_create(&callers[i].thread, NULL, call_again_and_again, &callers[i]), 0);
    }
    wait_until_queued(stage.group, 10 + THREADS);
    sem_post(&stage.gate.open);
    for (int i = 0; i < 10 + 1; i++)
        assert_true(reached(&stage.told));
    atomic_store(&is_over, true);
    join_callers(callers, THREADS);
    db_group_free(stage.group);
}

static void a_batch_takes_no_longer_than_its_time(void **state)
{
    struct change changes[4] = { { 0 } };
    struct stage stage;

    stage_open(&stage, *state, &(db_group_options){ .batch_ms = 1 });
    number(changes, 4);
    for (int i = 0; i < 4; i++)
        changes[i].nap_ms = 5;
    stage_submit(&stage, "a", changes, 4);
    db_group_counts counts = stage_finish(&stage, 4);
    assert_int_equal(counts.commits, 1 + 4);
    assert_int_equal(engine_int(stage.e->db, "SELECT COUNT(*) FROM t WHERE at = id"), 4);
}

static void a_full_queue_refuses(void **state)
{
    struct change changes[3] = { { 0 } };
    struct change more = { .id = 4 };
    struct stage stage;

    stage_open(&stage, *state, &(db_group_options){ .queue_max = 3, .batch_ms = 60000 });
    number(changes, 3);
    stage_submit(&stage, "a", changes, 3);
    assert_int_equal(db_group_run(stage.group, "b", apply, &more, &stage.e->err), MCP_E_LIMIT);
    assert_int_equal(db_group_submit(stage.group, NULL, apply, &more, note, NULL), MCP_E_LIMIT);
    (void)stage_finish(&stage, 3);
    assert_int_equal(more.runs, 0);
    assert_int_equal(engine_int(stage.e->db, "SELECT COUNT(*) FROM t"), 4);
}

static void a_busy_one_is_repeated_alone(void **state)
{
    struct change changes[4] = { { 0 } };
    struct stage stage;

    stage_open(&stage, *state, NULL);
    number(changes, 4);
    changes[2].busy_times = 3;
    stage_submit(&stage, "a", changes, 4);
    db_group_counts counts = stage_finish(&stage, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(changes[i].status, MCP_OK);
    assert_int_equal(changes[2].runs, 4);
    assert_int_equal(counts.commits, 1 + 4);
    assert_true(counts.repeated > 0);
    assert_int_equal(engine_int(stage.e->db, "SELECT COUNT(*) FROM t WHERE at = id"), 4);
}

static void a_busy_one_is_not_repeated_for_ever(void **state)
{
    engine *e = *state;
    const db_group_options options = { .retry_ms = 1000 };
    struct change busy = { .id = 1, .busy_times = INT32_MAX };
    db_group *group = NULL;

    engine_run(e->db, "CREATE TABLE t (id BIGINT PRIMARY KEY, at BIGINT)");
    assert_int_equal(db_group_new(&group, e->db, &options, &e->err), MCP_OK);
    assert_int_equal(db_group_run(group, NULL, apply, &busy, &e->err), MCP_E_BUSY);
    assert_string_equal(e->err.message, "busy so far");
    assert_true(busy.runs > 1);
    db_group_free(group);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 0);
}

/* The constraint is judged when all is committed, and then it is not known whose row it was. */
static void a_commit_that_one_prevents_is_made_by_the_others(void **state)
{
    struct change changes[3] = { { 0 } };
    struct stage stage;
    engine *e = *state;

    engine_run(e->db, "CREATE TABLE parent (id BIGINT PRIMARY KEY)");
    engine_run(e->db, "CREATE TABLE child (id BIGINT REFERENCES parent (id) "
                      "DEFERRABLE INITIALLY DEFERRED)");
    stage_open(&stage, e, NULL);
    number(changes, 3);
    changes[1].violates = 7;
    stage_submit(&stage, "a", changes, 3);
    (void)stage_finish(&stage, 3);
    assert_int_equal(changes[0].status, MCP_OK);
    assert_int_equal(changes[1].status, MCP_E_SCHEMA);
    assert_int_equal(changes[2].status, MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT SUM(id) FROM t WHERE id < 1000"), 1 + 3);
}

static void a_lost_connection_is_not_the_callers_trouble(void **state)
{
    struct change changes[3] = { { 0 } };
    struct stage stage;
    engine *e = *state;

    if (!db_is_shared(e->db))
        return;
    stage_open(&stage, e, NULL);
    number(changes, 3);
    changes[1].loses = true;
    stage_submit(&stage, "a", changes, 3);
    (void)stage_finish(&stage, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(changes[i].status, MCP_OK);
    assert_int_equal(engine_int(e->db, "SELECT COUNT(*) FROM t"), 4);
}

static void the_end_commits_what_was_submitted(void **state)
{
    struct change changes[20] = { { 0 } };
    struct stage stage;

    stage_open(&stage, *state, NULL);
    number(changes, 20);
    stage_submit(&stage, NULL, changes, 20);
    sem_post(&stage.gate.open);
    db_group_free(stage.group);
    for (int i = 0; i < 20; i++)
        assert_int_equal(changes[i].told_times, 1);
    assert_int_equal(engine_int(stage.e->db, "SELECT COUNT(*) FROM t"), 21);
}

/* Adds to two rows in an order of its own: with others, a deadlock where rows are locked. */
struct transfer {
    const char *first;
    const char *second;
};

static mcp_status add_to_both(db_session *session, void *data, mcp_error *err)
{
    const struct transfer *self = data;
    db_value first = db_text(self->first);
    db_value second = db_text(self->second);
    mcp_status st = db_run(session, NULL, "UPDATE n SET n = n + 1 WHERE id = $1", &first, 1, err);

    if (st == MCP_OK)
        st = db_run(session, NULL, "UPDATE n SET n = n + 1 WHERE id = $1", &second, 1, err);
    return st;
}

struct client {
    db_group *group;
    pthread_t thread;
    int number;
    int failed;
};

enum { TRANSFERS = 25 };

static void *transfer_many(void *data)
{
    struct client *self = data;
    struct transfer there = { "a", "b" };
    struct transfer back = { "b", "a" };

    for (int i = 0; i < TRANSFERS; i++) {
        struct transfer *one = self->number % 2 ? &there : &back;
        if (db_group_run(self->group, one->first, add_to_both, one, NULL) != MCP_OK)
            self->failed++;
    }
    return NULL;
}

/* Two groups, as in two processes, whose functions lock the same rows in both orders. */
static void callers_do_not_see_that_others_were_in_the_way(void **state)
{
    engine *e = *state;
    const db_group_options options = { .threads = 3, .retry_ms = 60000 };
    struct client all[THREADS] = { { 0 } };
    db *other = e->is_memory ? e->db : engine_connect(e, NULL);
    db_group *groups[2] = { NULL, NULL };

    engine_run(e->db, "CREATE TABLE n (id TEXT PRIMARY KEY, n BIGINT)");
    engine_run(e->db, "INSERT INTO n VALUES ('a', 0), ('b', 0)");
    assert_int_equal(db_group_new(&groups[0], e->db, &options, &e->err), MCP_OK);
    assert_int_equal(db_group_new(&groups[1], other, &options, &e->err), MCP_OK);
    for (int i = 0; i < THREADS; i++) {
        all[i] = (struct client){ .group = groups[i / 2 % 2], .number = i };
        assert_int_equal(pthread_create(&all[i].thread, NULL, transfer_many, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].failed, 0);
    }
    db_group_free(groups[0]);
    db_group_free(groups[1]);
    assert_int_equal(engine_int(e->db, "SELECT n FROM n WHERE id = 'a'"), THREADS * TRANSFERS);
    assert_int_equal(engine_int(e->db, "SELECT n FROM n WHERE id = 'b'"), THREADS * TRANSFERS);
    if (other != e->db)
        db_close(other);
}

static void a_database_for_reading_has_no_group(void **state)
{
    engine *e = *state;
    const db_options options = { .read_only = true };
    db_group *group = NULL;
    db *reader = engine_connect(e, &options);

    assert_int_equal(db_group_new(&group, reader, NULL, &e->err), MCP_E_DENIED);
    assert_null(group);
    db_close(reader);
}

static mcp_status once(void *data)
{
    engine *e = data;
    struct change change = { .id = 1 };
    db_group *group = NULL;
    sem_t told;

    sem_init(&told, 0, 0);
    change.told = &told;
    mcp_status st = db_group_new(&group, e->db, NULL, NULL);
    if (st == MCP_OK)
        st = db_group_submit(group, "a", apply, &change, note, NULL);
    db_group_free(group);
    return st == MCP_OK ? change.status : st;
}

static void memory_may_run_out(void **state)
{
    engine *e = *state;

    engine_run(e->db, "CREATE TABLE t (id BIGINT PRIMARY KEY, at BIGINT)");
    oom_walk(once, e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TESTS(one_caller_receives_its_outcome),
        ENGINE_TESTS(what_gathers_shares_a_commit),
        ENGINE_TESTS(a_failure_is_its_callers_alone),
        ENGINE_TESTS(a_refusal_that_changed_nothing_repeats_nobody),
        ENGINE_TESTS(what_functions_share_is_stored_once),
        ENGINE_TESTS(what_functions_share_is_undone_with_them),
        ENGINE_TESTS(a_batch_is_bounded),
        ENGINE_TESTS(callers_that_wait_go_first),
        ENGINE_TESTS(a_queue_that_fills_gets_as_much_as_callers),
        ENGINE_TESTS(callers_do_not_wait_for_what_was_submitted),
        ENGINE_TESTS(callers_starve_nobody),
        ENGINE_TESTS(a_batch_takes_no_longer_than_its_time),
        ENGINE_TESTS(a_full_queue_refuses),
        ENGINE_TESTS(a_busy_one_is_repeated_alone),
        ENGINE_TESTS(a_busy_one_is_not_repeated_for_ever),
        ENGINE_TESTS(a_commit_that_one_prevents_is_made_by_the_others),
        ENGINE_TESTS(a_lost_connection_is_not_the_callers_trouble),
        ENGINE_TESTS(the_end_commits_what_was_submitted),
        ENGINE_TESTS(callers_do_not_see_that_others_were_in_the_way),
        ENGINE_TESTS(a_database_for_reading_has_no_group),
        { "memory_may_run_out (memory)", memory_may_run_out, engine_memory, engine_end, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, engine_stop_all);
}
