/*
 * test_rate.c - token buckets, on a clock that the test moves.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guard/rate.h"
#include "oom.h"

static int64_t take(guard_rate *rate, const char *key, int64_t now_ms)
{
    return guard_rate_take(rate, key, strlen(key), now_ms);
}

static void a_burst_then_the_rate(void **state)
{
    guard_rate *rate = NULL;

    (void)state;
    assert_int_equal(guard_rate_new(&rate, (guard_rate_limit){ 4, 3 }, 10, NULL), MCP_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(rate, "a", 1000), 0);
    assert_int_equal(take(rate, "a", 1000), 250);
    assert_int_equal(take(rate, "b", 1000), 0); /* a bucket of its own */
    assert_int_equal(take(rate, "a", 1100), 150);
    assert_int_equal(take(rate, "a", 1250), 0);
    assert_int_equal(take(rate, "a", 1250), 250);
    assert_int_equal(take(rate, "a", 500), 250); /* a clock that goes back gives nothing */
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(rate, "a", 9000), 0); /* no more than the burst */
    assert_int_equal(take(rate, "a", 9000), 250);
    guard_rate_free(rate);
}

static void what_is_promised_is_there(void **state)
{
    guard_rate *rate = NULL;
    int64_t now_ms = 0;

    (void)state;
    assert_int_equal(guard_rate_new(&rate, (guard_rate_limit){ 0.3, 1 }, 10, NULL), MCP_OK);
    assert_int_equal(take(rate, "a", now_ms), 0);
    for (int i = 0; i < 100; i++) {
        int64_t wait_ms = take(rate, "a", now_ms);
        assert_true(wait_ms >= 3332 && wait_ms <= 3334);
        assert_int_not_equal(take(rate, "a", now_ms + wait_ms - 2), 0);
        now_ms += wait_ms;
        assert_int_equal(take(rate, "a", now_ms), 0);
    }
    guard_rate_free(rate);
}

static void the_key_used_least_recently_is_forgotten(void **state)
{
    guard_rate *rate = NULL;

    (void)state;
    assert_int_equal(guard_rate_new(&rate, (guard_rate_limit){ 0.001, 1 }, 3, NULL), MCP_OK);
    assert_int_equal(take(rate, "a", 0), 0);
    assert_int_equal(take(rate, "b", 0), 0);
    assert_int_equal(take(rate, "c", 0), 0);
    assert_int_not_equal(take(rate, "a", 0), 0); /* now "b" is the oldest */
    assert_int_equal(take(rate, "d", 0), 0);
    assert_int_not_equal(take(rate, "a", 0), 0);
    assert_int_not_equal(take(rate, "c", 0), 0);
    assert_int_not_equal(take(rate, "d", 0), 0);
    assert_int_equal(take(rate, "b", 0), 0);
    assert_int_equal(take(rate, "a", 0), 0); /* went for "b" */
    guard_rate_free(rate);
}

static void many_keys_have_their_buckets(void **state)
{
    guard_rate *rate = NULL;

    (void)state;
    assert_int_equal(guard_rate_new(&rate, (guard_rate_limit){ 0.001, 2 }, 1000, NULL), MCP_OK);
    for (int round = 0; round < 3; round++)
        for (uint32_t key = 0; key < 1000; key++)
            assert_int_equal(guard_rate_take(rate, &key, sizeof key, 0) == 0, round < 2);
    for (uint32_t key = 5000; key < 9000; key++)
        assert_int_equal(guard_rate_take(rate, &key, sizeof key, 0), 0);
    guard_rate_free(rate);
}

static void a_limit_changes(void **state)
{
    guard_rate *rate = NULL;

    (void)state;
    assert_int_equal(guard_rate_new(&rate, (guard_rate_limit){ 0, 0 }, 1, NULL), MCP_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(take(rate, "a", 0), 0);
    assert_int_equal(guard_rate_change(rate, (guard_rate_limit){ 1, 2 }, NULL), MCP_OK);
    assert_int_equal(take(rate, "a", 0), 0);
    assert_int_equal(take(rate, "a", 0), 0);
    assert_int_equal(take(rate, "a", 0), 1000);
    assert_int_equal(guard_rate_change(rate, (guard_rate_limit){ 1, 0.5 }, NULL), MCP_E_PARAMS);
    guard_rate_free(rate);
    assert_int_equal(guard_rate_new(&rate, (guard_rate_limit){ -1, 1 }, 1, NULL), MCP_E_PARAMS);
    assert_int_equal(guard_rate_new(&rate, (guard_rate_limit){ INFINITY, 1 }, 1, NULL),
                     MCP_E_PARAMS);
    assert_int_equal(guard_rate_new(&rate, (guard_rate_limit){ 1, 1 }, 0, NULL), MCP_E_PARAMS);
    guard_rate_free(NULL);
}

struct crowd {
    guard_rate *rate;
    atomic_int taken;
};

static void *take_many(void *data)
{
    struct crowd *crowd = data;

    for (int i = 0; i < 1000; i++)
        if (take(crowd->rate, "shared", 0) == 0)
            crowd->taken++;
    return NULL;
}

static void threads_share_a_bucket(void **state)
{
    struct crowd crowd = { .taken = 0 };
    pthread_t threads[4];

    (void)state;
    assert_int_equal(guard_rate_new(&crowd.rate, (guard_rate_limit){ 1, 500 }, 4, NULL), MCP_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_many, &crowd), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.taken, 500);
    guard_rate_free(crowd.rate);
}

static mcp_status make_once(void *data)
{
    guard_rate *rate = NULL;
    mcp_status st = guard_rate_new(&rate, (guard_rate_limit){ 1, 1 }, 100, NULL);

    (void)data;
    if (st == MCP_OK)
        take(rate, "a", 0);
    guard_rate_free(rate);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    oom_walk(make_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_then_the_rate),
        cmocka_unit_test(what_is_promised_is_there),
        cmocka_unit_test(the_key_used_least_recently_is_forgotten),
        cmocka_unit_test(many_keys_have_their_buckets),
        cmocka_unit_test(a_limit_changes),
        cmocka_unit_test(threads_share_a_bucket),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
