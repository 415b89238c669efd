/*
 * test_topic.c - a ring keeps the newest, and knows what it has lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bus/topic.h"

static void append(struct bus_topic *topic, int64_t id, size_t bytes, struct bus_ring_limits limits)
{
    struct bus_entry entry = { .id = id, .bytes = bytes };

    assert_int_equal(mcp_event_comment(&entry.event, "x", NULL), MCP_OK);
    assert_int_equal(bus_topic_append(topic, &entry, limits), MCP_OK);
}

static void the_newest_are_kept(void **state)
{
    const struct bus_ring_limits limits = { .events = 40, .bytes = 1 << 20 };
    struct bus_topic *topic = bus_topic_new("a");

    (void)state;
    assert_true(topic->newest == INT64_MIN && topic->complete_after == INT64_MAX);
    for (int64_t id = 10; id < 110; id++)
        append(topic, id, 1, limits);
    assert_int_equal(topic->next - topic->first, 40);
    for (uint64_t place = topic->first; place < topic->next; place++)
        assert_int_equal(bus_topic_entry(topic, place)->id, 10 + (int64_t)place);
    assert_int_equal(topic->newest, 109);
    assert_int_equal(topic->dropped, 69);
    assert_int_equal(topic->complete_after, 69);
    assert_int_equal(topic->bytes, 40);
    bus_topic_free(topic);
}

static void the_first_says_how_far_back_it_goes(void **state)
{
    const struct bus_ring_limits limits = { .events = 40, .bytes = 1 << 20 };
    struct bus_topic *topic = bus_topic_new("a");

    (void)state;
    append(topic, 7, 1, limits);
    append(topic, 9, 1, limits);
    assert_int_equal(topic->complete_after, 7); /* 6 may have been before the topic was made */
    assert_true(topic->dropped == INT64_MIN);
    bus_topic_free(topic);
}

static void bytes_are_bounded_but_one_always_fits(void **state)
{
    const struct bus_ring_limits limits = { .events = 40, .bytes = 100 };
    struct bus_topic *topic = bus_topic_new("a");

    (void)state;
    for (int64_t id = 1; id <= 5; id++)
        append(topic, id, 30, limits);
    assert_int_equal(topic->bytes, 90);
    append(topic, 6, 5000, limits);
    assert_int_equal(topic->next - topic->first, 1);
    assert_int_equal(topic->bytes, 5000);
    assert_int_equal(topic->complete_after, 5);
    bus_topic_free(topic);
    bus_topic_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_are_kept),
        cmocka_unit_test(the_first_says_how_far_back_it_goes),
        cmocka_unit_test(bytes_are_bounded_but_one_always_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
