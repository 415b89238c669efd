/*
 * test_waits.c - every wait ends once: woken, in time, or cancelled.
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

#include "jobs/waits.h"
#include "mcp/clock.h"
#include "oom.h"

enum { WAIT_S = 60, MANY = 10000, FAR_MS = 3600000 };

/* One who waits. */
struct guest {
    jobs_waits *waits;
    atomic_int times;
    jobs_outcome outcome;
    int64_t ended_ms;
    atomic_bool is_over;
    bool again; /* the first end waits once more */
};

static sem_t ended;

static void end(void *data, jobs_outcome outcome)
{
    struct guest *self = data;

    self->outcome = outcome;
    self->ended_ms = mcp_clock_mono_ms();
    if (atomic_fetch_add(&self->times, 1) == 0 && self->again &&
        jobs_wait(self->waits, "again", jobs_waits_mark(self->waits, "again"), 0, end, self,
                  NULL) != MCP_OK)
        self->outcome = JOBS_CANCELLED;
    sem_post(&ended);
}

static void await(int times)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    while (times-- > 0)
        assert_int_equal(sem_timedwait(&ended, &until), 0);
}

static jobs_waits *open_waits(const jobs_waits_options *options)
{
    jobs_waits *waits = NULL;

    sem_init(&ended, 0, 0);
    assert_int_equal(jobs_waits_new(&waits, options, NULL), MCP_OK);
    return waits;
}

static mcp_status wait_for(jobs_waits *waits, const char *key, int64_t ms, struct guest *guest)
{
    guest->waits = waits;
    return jobs_wait(waits, key, jobs_waits_mark(waits, key), mcp_clock_mono_ms() + ms, end, guest,
                     NULL);
}

static void a_wake_ends_the_waits_of_its_key(void **state)
{
    jobs_waits *waits = open_waits(NULL);
    struct guest guests[3] = { { 0 } };

    (void)state;
    assert_int_equal(wait_for(waits, "a", FAR_MS, &guests[0]), MCP_OK);
    assert_int_equal(wait_for(waits, "b", FAR_MS, &guests[1]), MCP_OK);
    assert_int_equal(wait_for(waits, "a", FAR_MS, &guests[2]), MCP_OK);
    assert_int_equal(jobs_waits_count(waits), 3);
    jobs_wake(waits, "nobody's");
    jobs_wake(waits, "a");
    await(2);
    assert_int_equal(guests[0].outcome, JOBS_WOKEN);
    assert_int_equal(guests[2].outcome, JOBS_WOKEN);
    assert_int_equal(guests[1].times, 0);
    assert_int_equal(jobs_waits_count(waits), 1);
    jobs_wake_all(waits);
    await(1);
    assert_int_equal(guests[1].outcome, JOBS_WOKEN);
    jobs_waits_free(waits);
    for (int i = 0; i < 3; i++)
        assert_int_equal(guests[i].times, 1);
    jobs_waits_free(NULL);
}

static void a_deadline_ends_a_wait(void **state)
{
    jobs_waits *waits = open_waits(NULL);
    struct guest far = { 0 };
    struct guest near = { 0 };
    struct guest past = { 0 };
    int64_t before_ms = mcp_clock_mono_ms();

    (void)state;
    assert_int_equal(wait_for(waits, "a", FAR_MS, &far), MCP_OK);
    assert_int_equal(wait_for(waits, "a", 60, &near), MCP_OK);
    assert_int_equal(wait_for(waits, "a", -5, &past), MCP_OK);
    await(2);
    assert_int_equal(near.outcome, JOBS_TIMED_OUT);
    assert_int_equal(past.outcome, JOBS_TIMED_OUT);
    assert_true(near.ended_ms >= before_ms + 60);
    assert_int_equal(far.times, 0);
    jobs_waits_free(waits);
    assert_int_equal(far.outcome, JOBS_CANCELLED);
    assert_int_equal(far.times, 1);
}

/* A change after the look and before the wait. */
static void no_wake_is_missed(void **state)
{
    jobs_waits *waits = open_waits(NULL);
    struct guest guest = { .waits = waits };
    uint64_t mark = jobs_waits_mark(waits, "a");

    (void)state;
    jobs_wake(waits, "a");
    assert_int_equal(jobs_wait(waits, "a", mark, INT64_MAX, end, &guest, NULL), MCP_OK);
    await(1);
    assert_int_equal(guest.outcome, JOBS_WOKEN);
    mark = jobs_waits_mark(waits, "a");
    jobs_wake_all(waits);
    assert_int_equal(jobs_wait(waits, "a", mark, INT64_MAX, end, &guest, NULL), MCP_OK);
    await(1);
    jobs_waits_free(waits);
    assert_int_equal(guest.times, 2);
}

static bool is_over(void *data)
{
    struct guest *self = data;

    return atomic_load(&self->is_over);
}

static void a_wait_that_nobody_needs_is_cancelled(void **state)
{
    jobs_waits *waits = open_waits(&(jobs_waits_options){ .is_over = is_over });
    struct guest stays = { 0 };
    struct guest leaves = { 0 };
    struct guest hangs_up = { 0 };

    (void)state;
    assert_int_equal(wait_for(waits, "a", FAR_MS, &stays), MCP_OK);
    assert_int_equal(wait_for(waits, "a", FAR_MS, &leaves), MCP_OK);
    assert_int_equal(wait_for(waits, "a", FAR_MS, &hangs_up), MCP_OK);
    jobs_wait_cancel(waits, "a", &leaves);
    jobs_wait_cancel(waits, "b", &stays);
    await(1);
    assert_int_equal(leaves.outcome, JOBS_CANCELLED);
    jobs_wait_cancel(waits, "a", &leaves);
    atomic_store(&hangs_up.is_over, true);
    await(1);
    assert_int_equal(hangs_up.outcome, JOBS_CANCELLED);
    assert_int_equal(stays.times, 0);
    assert_int_equal(jobs_waits_count(waits), 1);
    jobs_wake(waits, "a");
    await(1);
    assert_int_equal(stays.outcome, JOBS_WOKEN);
    jobs_waits_free(waits);
    assert_int_equal(leaves.times, 1);
    assert_int_equal(hangs_up.times, 1);
}

static void an_end_may_wait_again(void **state)
{
    jobs_waits *waits = open_waits(NULL);
    struct guest guest = { .again = true };

    (void)state;
    assert_int_equal(wait_for(waits, "a", FAR_MS, &guest), MCP_OK);
    jobs_wake(waits, "a");
    await(2);
    assert_int_equal(guest.outcome, JOBS_TIMED_OUT);
    guest = (struct guest){ .again = true };
    assert_int_equal(wait_for(waits, "a", FAR_MS, &guest), MCP_OK);
    jobs_waits_free(waits); /* and then it may not */
    assert_int_equal(guest.times, 1);
    assert_int_equal(guest.outcome, JOBS_CANCELLED);
}

static void their_number_is_limited(void **state)
{
    jobs_waits *waits = open_waits(&(jobs_waits_options){ .max = 2 });
    struct guest guests[3] = { { 0 } };

    (void)state;
    assert_int_equal(wait_for(waits, "a", FAR_MS, &guests[0]), MCP_OK);
    assert_int_equal(wait_for(waits, "a", FAR_MS, &guests[1]), MCP_OK);
    assert_int_equal(wait_for(waits, "a", FAR_MS, &guests[2]), MCP_E_LIMIT);
    jobs_waits_free(waits);
    assert_int_equal(guests[2].times, 0);
}

/* Deadlines in an order that exercises the heap; two threads wake while they pass. */
static void *wake_some(void *data)
{
    char key[20];

    for (int i = 0; i < MANY; i += 3) {
        snprintf(key, sizeof key, "key%d", i % 500);
        jobs_wake(data, key);
    }
    return NULL;
}

static void thousands_end_once_each_and_in_time(void **state)
{
    jobs_waits *waits = open_waits(&(jobs_waits_options){ .is_over = is_over });
    struct guest *guests = calloc(MANY, sizeof *guests);
    int64_t *deadlines = calloc(MANY, sizeof *deadlines);
    pthread_t threads[2];
    char key[20];
    uint32_t random = 1;

    (void)state;
    assert_non_null(guests);
    assert_non_null(deadlines);
    for (int i = 0; i < MANY; i++) {
        random = random * 1664525 + 1013904223;
        snprintf(key, sizeof key, "key%d", i % 500);
        guests[i].waits = waits;
        deadlines[i] = mcp_clock_mono_ms() + random / 65536 % 500;
        assert_int_equal(
            jobs_wait(waits, key, jobs_waits_mark(waits, key), deadlines[i], end, &guests[i], NULL),
            MCP_OK);
        if (i == MANY / 2)
            for (int t = 0; t < 2; t++)
                assert_int_equal(pthread_create(&threads[t], NULL, wake_some, waits), 0);
    }
    await(MANY);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(jobs_waits_count(waits), 0);
    jobs_waits_free(waits);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(guests[i].times, 1);
        if (guests[i].outcome == JOBS_TIMED_OUT)
            assert_true(guests[i].ended_ms >= deadlines[i]);
    }
    free(guests);
    free(deadlines);
}

static mcp_status once(void *data)
{
    jobs_waits *waits = NULL;
    struct guest guest = { 0 };

    (void)data;
    mcp_status st = jobs_waits_new(&waits, NULL, NULL);
    if (st == MCP_OK)
        st = wait_for(waits, "a", FAR_MS, &guest);
    jobs_waits_free(waits);
    return st;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    oom_walk(once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wake_ends_the_waits_of_its_key),
        cmocka_unit_test(a_deadline_ends_a_wait),
        cmocka_unit_test(no_wake_is_missed),
        cmocka_unit_test(a_wait_that_nobody_needs_is_cancelled),
        cmocka_unit_test(an_end_may_wait_again),
        cmocka_unit_test(their_number_is_limited),
        cmocka_unit_test(thousands_end_once_each_and_in_time),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
