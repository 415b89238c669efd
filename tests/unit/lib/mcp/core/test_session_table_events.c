/*
 * test_session_table_events.c - what is kept of streams has no gaps, and every bound holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "mcp/core/session_table.h"

static mcp__event_store store;
static mcp__event_ring ring, other;

static int begin(void **state)
{
    (void)state;
    store = (mcp__event_store){ .max_bytes = (size_t)8 * 1024 * 1024 };
    TAILQ_INIT(&store.events);
    mcp__event_ring_init(&ring, &store);
    mcp__event_ring_init(&other, &store);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mcp__event_ring_clear(&ring);
    mcp__event_ring_clear(&other);
    return store.bytes == 0 && TAILQ_EMPTY(&store.events) ? 0 : -1;
}

static void put(mcp__event_ring *to, uint32_t stream, uint64_t number)
{
    mcp__event_ring_put(to, stream, number, "event", 5);
}

static void a_stream_is_read_from_any_place(void **state)
{
    (void)state;
    put(&ring, 1, 1);
    put(&ring, 2, 1);
    put(&ring, 1, 2);
    const mcp__event *event = mcp__event_ring_next(&ring, 1, 0);
    assert_int_equal(event->number, 1);
    assert_memory_equal(event->text, "event", 5);
    assert_int_equal(mcp__event_ring_next(&ring, 1, 1)->number, 2);
    assert_null(mcp__event_ring_next(&ring, 1, 2));
    assert_null(mcp__event_ring_next(&other, 1, 0));
    assert_true(mcp__event_ring_covers(&ring, 1, 0));
    assert_true(mcp__event_ring_covers(&ring, 1, 2));
    assert_false(mcp__event_ring_covers(&ring, 1, 3));
    assert_false(mcp__event_ring_covers(&ring, 3, 0));
}

static void the_oldest_goes_at_the_bound(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= MCP__EVENTS_MAX; i++)
        put(&ring, 1, i);
    assert_true(mcp__event_ring_covers(&ring, 1, 0));
    put(&ring, 1, MCP__EVENTS_MAX + 1);
    assert_int_equal(ring.count, MCP__EVENTS_MAX);
    assert_false(mcp__event_ring_covers(&ring, 1, 0));
    assert_true(mcp__event_ring_covers(&ring, 1, 1));
}

static void bytes_are_bounded_too(void **state)
{
    size_t half = MCP__EVENTS_MAX_BYTES / 2;
    char *text = calloc(1, MCP__EVENTS_MAX_BYTES + 1);

    (void)state;
    assert_non_null(text);
    mcp__event_ring_put(&ring, 1, 1, text, half);
    mcp__event_ring_put(&ring, 1, 2, text, half);
    assert_int_equal(ring.count, 1);
    mcp__event_ring_put(&ring, 1, 3, text, MCP__EVENTS_MAX_BYTES + 1);
    assert_int_equal(ring.count, 0);
    put(&ring, 1, 4);
    assert_false(mcp__event_ring_covers(&ring, 1, 2));
    assert_true(mcp__event_ring_covers(&ring, 1, 3));
    free(text);
}

static void the_store_drops_the_oldest_of_all(void **state)
{
    (void)state;
    put(&ring, 1, 1);
    put(&other, 1, 1);
    put(&ring, 1, 2);
    store.max_bytes = store.bytes;
    put(&other, 1, 2);
    assert_int_equal(ring.count, 1);
    assert_int_equal(other.count, 2);
    assert_int_equal(TAILQ_FIRST(&ring.events)->number, 2);
}

static void without_memory_nothing_older_is_kept(void **state)
{
    (void)state;
    put(&ring, 1, 1);
    mcp__alloc_fail_after(0);
    put(&ring, 1, 2);
    mcp__alloc_fail_after(-1);
    assert_int_equal(ring.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stream_is_read_from_any_place, begin, end),
        cmocka_unit_test_setup_teardown(the_oldest_goes_at_the_bound, begin, end),
        cmocka_unit_test_setup_teardown(bytes_are_bounded_too, begin, end),
        cmocka_unit_test_setup_teardown(the_store_drops_the_oldest_of_all, begin, end),
        cmocka_unit_test_setup_teardown(without_memory_nothing_older_is_kept, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
