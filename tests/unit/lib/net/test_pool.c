/*
 * test_pool.c - two lanes: what is short shares threads, what is long has its own, and all of it
 * comes back to the loop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "net/pool.h"

#define MANY 5000

typedef struct job {
    mcp__task task; /* first */
    sem_t *begun;   /* NULL: do not tell */
    sem_t *gate;    /* NULL: do not wait */
    int worked;
    int done;
} job;

static mcp__loop *loop;
static mcp__pool *pool;
static mcp__executor *executor;
static pthread_t loop_thread;
static int left; /* jobs until the loop stops */
static atomic_int at_once;
static atomic_int most_at_once;

static void open_bounded_pool(const mcp__pool_size *size)
{
    loop_thread = pthread_self();
    at_once = 0;
    most_at_once = 0;
    assert_int_equal(mcp__loop_new(&loop, NULL), MCP_OK);
    assert_int_equal(mcp__pool_new(&pool, loop, size, NULL), MCP_OK);
    executor = mcp__pool_executor(pool);
}

static void open_pool(int short_threads, int long_threads)
{
    open_bounded_pool(&(mcp__pool_size){ short_threads, long_threads, 2, INT_MAX });
}

static void close_pool(void)
{
    assert_int_equal(mcp__pool_busy(pool), 0);
    assert_true(mcp__pool_free(pool));
    mcp__loop_free(loop);
}

static bool work(mcp__task *task)
{
    job *self = (job *)task;
    int now = ++at_once;

    assert_false(pthread_equal(pthread_self(), loop_thread));
    for (int most = most_at_once;
         now > most && !atomic_compare_exchange_weak(&most_at_once, &most, now);)
        ;
    if (self->begun)
        sem_post(self->begun);
    if (self->gate)
        sem_wait(self->gate);
    self->worked++;
    at_once--;
    return true;
}

static void done(mcp__task *task)
{
    job *self = (job *)task;

    assert_true(pthread_equal(pthread_self(), loop_thread));
    assert_int_equal(self->worked, 1);
    self->done++;
    if (--left == 0)
        mcp__loop_stop(loop);
}

static void submit(job *self, mcp__lane lane)
{
    self->task.work = work;
    self->task.done = done;
    assert_int_equal(executor->submit(executor, &self->task, lane, NULL), MCP_OK);
}

static void every_task_comes_back_once(void **state)
{
    static job jobs[MANY];

    (void)state;
    memset(jobs, 0, sizeof jobs);
    open_pool(3, 0);
    left = MANY;
    for (int i = 0; i < MANY; i++)
        submit(&jobs[i], MCP__LANE_SHORT);
    mcp__loop_run(loop);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(jobs[i].done, 1);
    assert_in_range(most_at_once, 1, 3);
    close_pool();
}

static job followers[21];

/* On the loop, within its turn. */
static void done_and_submit(mcp__task *task)
{
    for (int i = 0; i < 21; i++)
        submit(&followers[i], MCP__LANE_SHORT);
    done(task);
}

static void what_comes_within_a_turn_is_run(void **state)
{
    job first = { .worked = 0 };

    (void)state;
    memset(followers, 0, sizeof followers);
    open_pool(3, 0);
    left = 22;
    submit(&first, MCP__LANE_SHORT);
    first.task.done = done_and_submit;
    mcp__loop_run(loop);
    for (int i = 0; i < 21; i++)
        assert_int_equal(followers[i].done, 1);
    close_pool();
}

/* The loop stops within the turn that submits: the tasks are not forgotten. */
static void what_comes_within_the_last_turn_is_run(void **state)
{
    job first = { .worked = 0 };
    sem_t begun;

    (void)state;
    memset(followers, 0, sizeof followers);
    sem_init(&begun, 0, 0);
    open_pool(1, 0);
    left = 1;
    for (int i = 0; i < 21; i++)
        followers[i].begun = &begun;
    submit(&first, MCP__LANE_SHORT);
    first.task.done = done_and_submit;
    mcp__loop_run(loop);
    for (int i = 0; i < 21; i++)
        sem_wait(&begun);
    left = 21;
    mcp__loop_run(loop);
    close_pool();
    sem_destroy(&begun);
}

/* As many run at once as there are threads: each waits until all have begun. */
static void the_short_lane_has_all_its_threads(void **state)
{
    job jobs[4] = { { .worked = 0 } };
    sem_t begun;
    sem_t gate;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    open_pool(4, 0);
    left = 4;
    for (int i = 0; i < 4; i++) {
        jobs[i].begun = &begun;
        jobs[i].gate = &gate;
        submit(&jobs[i], MCP__LANE_SHORT);
    }
    for (int i = 0; i < 4; i++)
        sem_wait(&begun);
    assert_int_equal(mcp__pool_busy(pool), 4);
    for (int i = 0; i < 4; i++)
        sem_post(&gate);
    mcp__loop_run(loop);
    assert_int_equal(most_at_once, 4);
    close_pool();
    sem_destroy(&begun);
    sem_destroy(&gate);
}

static void long_tasks_do_not_hold_up_short_ones(void **state)
{
    job lengthy[2] = { { .worked = 0 } };
    job quick[20] = { { .worked = 0 } };
    sem_t begun;
    sem_t gate;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    open_pool(1, 2);
    for (int i = 0; i < 2; i++) {
        lengthy[i].begun = &begun;
        lengthy[i].gate = &gate;
        submit(&lengthy[i], MCP__LANE_LONG);
    }
    for (int i = 0; i < 2; i++)
        sem_wait(&begun);
    left = 20;
    for (int i = 0; i < 20; i++)
        submit(&quick[i], MCP__LANE_SHORT);
    mcp__loop_run(loop); /* the short ones end while the long ones wait */
    assert_int_equal(lengthy[0].done + lengthy[1].done, 0);
    left = 2;
    sem_post(&gate);
    sem_post(&gate);
    mcp__loop_run(loop);
    close_pool();
    sem_destroy(&begun);
    sem_destroy(&gate);
}

/* Wait until `count` of the jobs, which wait for the gate, have begun. */
static void await_begun(sem_t *begun, int count)
{
    for (int i = 0; i < count; i++)
        sem_wait(begun);
}

static void given_up_tasks_are_replaced_up_to_a_bound(void **state)
{
    job stuck[3] = { { .worked = 0 } };
    job more[20] = { { .worked = 0 } };
    sem_t begun;
    sem_t gate;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    open_pool(1, 0); /* and two to spare */
    for (int i = 0; i < 3; i++) {
        stuck[i].begun = &begun;
        stuck[i].gate = &gate;
        submit(&stuck[i], MCP__LANE_SHORT);
    }
    await_begun(&begun, 1);
    assert_int_equal(executor->give_up(executor, &stuck[1].task), MCP__UNBEGUN);
    assert_int_equal(mcp__pool_given_up(pool), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(executor->give_up(executor, &stuck[i].task), MCP__REPLACED);
        await_begun(&begun, 1); /* the next has a thread */
    }
    assert_int_equal(executor->give_up(executor, &stuck[2].task), MCP__BORNE);
    assert_int_equal(mcp__pool_given_up(pool), 3);
    assert_int_equal(most_at_once, 3);

    left = 23; /* they come back, and from then on there is one thread again */
    for (int i = 0; i < 3; i++)
        sem_post(&gate);
    for (int i = 0; i < 20; i++)
        submit(&more[i], MCP__LANE_SHORT);
    mcp__loop_run(loop);
    assert_int_equal(mcp__pool_given_up(pool), 0);
    assert_int_equal(mcp__pool_given_up_total(pool), 3);
    most_at_once = 0;
    left = 20;
    for (int i = 0; i < 20; i++) {
        more[i] = (job){ .worked = 0 };
        submit(&more[i], MCP__LANE_SHORT);
    }
    mcp__loop_run(loop);
    assert_int_equal(most_at_once, 1);
    close_pool();
    sem_destroy(&begun);
    sem_destroy(&gate);
}

/* A seat that was left is taken again: many rounds need no more of them. */
static void spare_threads_come_and_go(void **state)
{
    sem_t begun;
    sem_t gate;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    open_pool(1, 0);
    for (int round = 0; round < 50; round++) {
        job stuck[2] = { { .worked = 0 } };
        for (int i = 0; i < 2; i++) {
            stuck[i].begun = &begun;
            stuck[i].gate = &gate;
            submit(&stuck[i], MCP__LANE_SHORT);
            await_begun(&begun, 1);
            assert_int_equal(executor->give_up(executor, &stuck[i].task), MCP__REPLACED);
        }
        left = 2;
        sem_post(&gate);
        sem_post(&gate);
        mcp__loop_run(loop);
        assert_int_equal(mcp__pool_given_up(pool), 0);
    }
    close_pool();
    sem_destroy(&begun);
    sem_destroy(&gate);
}

/* Threads that got the next task before their lane was told that it may have fewer are in excess:
 * no other is started as long as they are. */
static void no_thread_is_started_beyond_the_bound(void **state)
{
    job stuck[2] = { { .worked = 0 } };
    job more[5] = { { .worked = 0 } };
    sem_t begun;
    sem_t gates[2];

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&gates[0], 0, 0);
    sem_init(&gates[1], 0, 0);
    open_pool(1, 0); /* and two to spare */
    for (int i = 0; i < 7; i++) {
        job *one = i < 2 ? &stuck[i] : &more[i - 2];
        *one = (job){ .begun = &begun, .gate = &gates[i >= 2] };
        submit(one, MCP__LANE_SHORT);
        if (i < 3)
            await_begun(&begun, 1);
        if (i < 2)
            assert_int_equal(executor->give_up(executor, &one->task), MCP__REPLACED);
    }
    left = 2;
    sem_post(&gates[0]);
    sem_post(&gates[0]);
    await_begun(&begun, 2); /* both threads have taken another task */
    mcp__loop_run(loop);
    assert_int_equal(mcp__pool_given_up(pool), 0);
    for (int i = 0; i < 3; i++)
        (void)executor->give_up(executor, &more[i].task);
    left = 5;
    for (int i = 0; i < 5; i++)
        sem_post(&gates[1]);
    mcp__loop_run(loop);
    assert_in_range(most_at_once, 1, 3);
    close_pool();
    sem_destroy(&begun);
    sem_destroy(&gates[0]);
    sem_destroy(&gates[1]);
}

/* All are asleep when the work comes, and each waits until all have begun: who is woken wakes the
 * next. */
static void submit_gated(mcp__task *task)
{
    for (int i = 0; i < 4; i++)
        submit(&followers[i], MCP__LANE_SHORT);
    done(task);
}

static void threads_that_are_woken_wake_others(void **state)
{
    sem_t begun;
    sem_t gate;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    open_pool(4, 0);
    for (int round = 0; round < 20; round++) {
        job first = { .worked = 0 };
        memset(followers, 0, sizeof followers);
        for (int i = 0; i < 4; i++) {
            followers[i].begun = &begun;
            followers[i].gate = &gate;
        }
        left = 1;
        submit(&first, MCP__LANE_SHORT);
        first.task.done = submit_gated;
        mcp__loop_run(loop);
        await_begun(&begun, 4);
        left = 4;
        for (int i = 0; i < 4; i++)
            sem_post(&gate);
        mcp__loop_run(loop);
    }
    close_pool();
    sem_destroy(&begun);
    sem_destroy(&gate);
}

/* ---- tasks that are left --------------------------------------------------------------------- */

/* It is left once, and tells so before; `gate` holds it back in between. */
static bool leave(mcp__task *task)
{
    job *self = (job *)task;

    if (self->worked++ > 0)
        return true;
    if (self->begun)
        sem_post(self->begun);
    if (self->gate)
        sem_wait(self->gate);
    return !mcp__work_leave(task);
}

static void resume(job *self)
{
    if (mcp__work_resume(&self->task))
        executor->again(executor, &self->task);
}

static void left_done(mcp__task *task)
{
    job *self = (job *)task;

    assert_true(pthread_equal(pthread_self(), loop_thread));
    self->done++;
    if (--left == 0)
        mcp__loop_stop(loop);
}

static void submit_leaving(job *self, mcp__lane lane)
{
    self->task.work = leave;
    self->task.done = left_done;
    assert_int_equal(executor->submit(executor, &self->task, lane, NULL), MCP_OK);
}

/* The only thread does other work meanwhile. */
static void a_task_that_was_left_has_no_thread(void **state)
{
    job waiting = { .worked = 0 };
    job others[20] = { { .worked = 0 } };

    (void)state;
    open_pool(1, 0);
    submit_leaving(&waiting, MCP__LANE_SHORT);
    left = 20;
    for (int i = 0; i < 20; i++)
        submit(&others[i], MCP__LANE_SHORT);
    mcp__loop_run(loop);
    assert_int_equal(mcp__pool_busy(pool), 1);
    assert_int_equal(executor->give_up(executor, &waiting.task), MCP__UNBEGUN);
    assert_int_equal(waiting.done, 0);
    left = 1;
    resume(&waiting);
    mcp__loop_run(loop);
    assert_int_equal(waiting.worked, 2);
    assert_int_equal(waiting.done, 1);
    close_pool();
}

static void a_task_may_be_resumed_before_it_is_left(void **state)
{
    job one = { .worked = 0 };
    sem_t begun;
    sem_t gate;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    open_pool(1, 0);
    one.begun = &begun;
    one.gate = &gate;
    submit_leaving(&one, MCP__LANE_SHORT);
    sem_wait(&begun);
    resume(&one);
    sem_post(&gate);
    left = 1;
    mcp__loop_run(loop);
    assert_int_equal(one.worked, 1);
    assert_int_equal(one.done, 1);
    close_pool();
    sem_destroy(&begun);
    sem_destroy(&gate);
}

/* The only thread so far is in use and stays so: another is started for what was resumed. */
static void a_resumed_task_does_not_wait_behind_a_blocked_one(void **state)
{
    static const mcp__lane lanes[] = { MCP__LANE_SHORT, MCP__LANE_LONG };
    sem_t begun;
    sem_t gate;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    for (int i = 0; i < 2; i++) {
        job first = { .worked = 0 };
        job waiting = { .worked = 0, .begun = &begun };
        job stuck = { .begun = &begun, .gate = &gate };
        open_pool(2, 2);
        submit(&first, lanes[i]);
        left = 1;
        mcp__loop_run(loop);
        submit_leaving(&waiting, lanes[i]);
        await_begun(&begun, 1);
        submit(&stuck, lanes[i]);
        await_begun(&begun, 1);
        left = 1;
        resume(&waiting);
        mcp__loop_run(loop);
        assert_int_equal(waiting.done, 1);
        assert_int_equal(stuck.done, 0);
        left = 1;
        sem_post(&gate);
        mcp__loop_run(loop);
        close_pool();
    }
    sem_destroy(&begun);
    sem_destroy(&gate);
}

static job leaving[MANY];

/* Some are resumed before they are left, some when they long are. */
static void *resume_all(void *data)
{
    for (int i = 0; i < MANY; i++) {
        sem_wait(data);
        resume(&leaving[i]);
    }
    return NULL;
}

static void every_task_that_is_left_comes_back_once(void **state)
{
    pthread_t thread;
    sem_t begun;

    (void)state;
    memset(leaving, 0, sizeof leaving);
    sem_init(&begun, 0, 0);
    open_pool(1, 0); /* so that they begin in order */
    left = MANY;
    assert_int_equal(pthread_create(&thread, NULL, resume_all, &begun), 0);
    for (int i = 0; i < MANY; i++) {
        leaving[i].begun = &begun;
        submit_leaving(&leaving[i], MCP__LANE_SHORT);
    }
    mcp__loop_run(loop);
    pthread_join(thread, NULL);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(leaving[i].done, 1);
    close_pool();
    sem_destroy(&begun);
}

/* Begun on the loop, left and ended there: no thread is ever started. */
static void a_task_of_the_loops_own_may_be_left(void **state)
{
    job one = { .task = { .work = leave, .done = left_done } };

    (void)state;
    open_pool(1, 0);
    left = 1;
    executor->adopt(executor, &one.task, MCP__LANE_SHORT);
    assert_int_equal(mcp__pool_busy(pool), 1);
    assert_true(mcp__work_leave(&one.task));
    assert_true(mcp__work_resume(&one.task));
    executor->end(executor, &one.task);
    assert_int_equal(one.done, 1);
    close_pool();
}

/* Begun there, left, and worked on by a thread that is started for it. */
static void a_task_of_the_loops_own_may_be_resumed_on_a_worker(void **state)
{
    job one = { .worked = 1, .task = { .work = leave, .done = left_done } };

    (void)state;
    open_pool(1, 0);
    executor->adopt(executor, &one.task, MCP__LANE_SHORT);
    assert_true(mcp__work_leave(&one.task));
    left = 1;
    resume(&one);
    mcp__loop_run(loop);
    assert_int_equal(one.worked, 2);
    assert_int_equal(one.done, 1);
    close_pool();
}

static void threads_start_when_work_comes(void **state)
{
    (void)state;
    open_pool(8, 8);
    close_pool(); /* nothing was started: nothing to join, and no time passes */
}

/* Long tasks and those that are left and resumed do not count against the bound of the short
 * lane. */
static void short_tasks_wait_up_to_a_bound(void **state)
{
    job jobs[5] = { { .worked = 0 } };
    job lengthy = { .worked = 0 };
    sem_t gate;

    (void)state;
    open_bounded_pool(&(mcp__pool_size){ 2, 1, 0, 2 });
    sem_init(&gate, 0, 0);
    left = 5;
    lengthy.gate = &gate;
    submit(&lengthy, MCP__LANE_LONG);
    for (int i = 0; i < 4; i++) {
        jobs[i].gate = &gate;
        submit(&jobs[i], MCP__LANE_SHORT);
    }
    jobs[4].task.work = work;
    jobs[4].task.done = done;
    assert_int_equal(executor->submit(executor, &jobs[4].task, MCP__LANE_SHORT, NULL), MCP_E_BUSY);
    for (int i = 0; i < 5; i++)
        sem_post(&gate);
    mcp__loop_run(loop);
    left = 1;
    submit(&jobs[4], MCP__LANE_SHORT);
    mcp__loop_run(loop);
    sem_destroy(&gate);
    close_pool();
}

static void a_lane_without_threads_takes_nothing(void **state)
{
    job one = { .task = { .work = work, .done = done } };

    (void)state;
    open_pool(1, 0);
    assert_int_equal(executor->submit(executor, &one.task, MCP__LANE_LONG, NULL), MCP_E_BUSY);
    close_pool();
}

/* The pool is left to a task that does not end. Kept in statics, so that it is reachable to the
   end. */
static void a_task_that_does_not_end_keeps_its_pool(void **state)
{
    static job stuck;
    static sem_t begun;
    static sem_t gate;

    (void)state;
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    open_pool(1, 1);
    stuck = (job){ .begun = &begun, .gate = &gate };
    submit(&stuck, MCP__LANE_LONG);
    sem_wait(&begun);
    assert_int_equal(mcp__pool_busy(pool), 1);
    assert_false(mcp__pool_free(pool));
    left = 1;
    sem_post(&gate);
    mcp__loop_run(loop);
    assert_int_equal(stuck.done, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_comes_back_once),
        cmocka_unit_test(what_comes_within_a_turn_is_run),
        cmocka_unit_test(what_comes_within_the_last_turn_is_run),
        cmocka_unit_test(the_short_lane_has_all_its_threads),
        cmocka_unit_test(long_tasks_do_not_hold_up_short_ones),
        cmocka_unit_test(given_up_tasks_are_replaced_up_to_a_bound),
        cmocka_unit_test(spare_threads_come_and_go),
        cmocka_unit_test(no_thread_is_started_beyond_the_bound),
        cmocka_unit_test(threads_that_are_woken_wake_others),
        cmocka_unit_test(a_task_that_was_left_has_no_thread),
        cmocka_unit_test(a_task_may_be_resumed_before_it_is_left),
        cmocka_unit_test(a_resumed_task_does_not_wait_behind_a_blocked_one),
        cmocka_unit_test(every_task_that_is_left_comes_back_once),
        cmocka_unit_test(a_task_of_the_loops_own_may_be_left),
        cmocka_unit_test(a_task_of_the_loops_own_may_be_resumed_on_a_worker),
        cmocka_unit_test(threads_start_when_work_comes),
        cmocka_unit_test(short_tasks_wait_up_to_a_bound),
        cmocka_unit_test(a_lane_without_threads_takes_nothing),
        cmocka_unit_test(a_task_that_does_not_end_keeps_its_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
