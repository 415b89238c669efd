/*
 * test_message_incoming.c - texts that become messages, here or on a worker, what each may cost,
 * and those that cannot be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inline.h"
#include "mcp/core/message/message.h"
#include "mcp/core/response.h"
#include "oom.h"

static const mcp_server_options options = { .limits.message_max_bytes = (size_t)1 << 20,
                                            .limits.arena_max_bytes = (size_t)4 << 20 };

static void read_text(mcp__incoming *out, const char *text)
{
    mcp__incoming_read(out, &options, NULL, text, strlen(text));
}

/* "[1,1,...]" of `count` items. */
static char *ones(size_t count)
{
    char *text = malloc(count * 2 + 2);

    for (size_t i = 0; i < count; i++)
        memcpy(text + i * 2, i == 0 ? "[1" : ",1", 2);
    memcpy(text + count * 2, "]", 2);
    return text;
}

static void one_message(void **state)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}";
    mcp__incoming incoming;

    (void)state;
    read_text(&incoming, text);
    assert_int_equal(incoming.status, MCP_OK);
    assert_string_equal(mcp_json_get_string(incoming.whole.value, "method"), "x");
    assert_int_equal(incoming.count, 0);
    assert_int_equal(incoming.whole.length, sizeof(text) - 1);
    assert_int_equal(incoming.whole.steps.left, 1000000 + 2 * (sizeof(text) - 1));
    assert_int_equal(incoming.whole.steps.on_loop, 5000);
    mcp__incoming_clear(&incoming);
}

static void what_is_no_json_says_why(void **state)
{
    mcp__incoming incoming;

    (void)state;
    read_text(&incoming, "{\"a\":");
    assert_int_equal(incoming.status, MCP_E_PARSE);
    assert_int_equal(incoming.err.offset, 5);
    mcp__incoming_clear(&incoming);
}

/* A value that outgrows its memory is refused like any text that cannot be read. */
static void memory_of_a_message_is_bounded(void **state)
{
    mcp__incoming incoming;
    char *fits = ones(200000);
    char *grows = ones(300000); /* 16 bytes each */

    (void)state;
    read_text(&incoming, fits);
    assert_int_equal(incoming.status, MCP_OK);
    mcp__incoming_clear(&incoming);
    read_text(&incoming, grows);
    assert_int_equal(incoming.status, MCP_E_PARSE);
    mcp__incoming_clear(&incoming);
    free(fits);
    free(grows);
}

/* The elements share what one message has, but each keeps what its own bytes bring. */
static void a_batch_divides_the_steps(void **state)
{
    mcp__incoming incoming;

    (void)state;
    read_text(&incoming, "[{\"a\":1},{\"bb\":[2,3]},4,5]");
    assert_int_equal(incoming.status, MCP_OK);
    assert_int_equal(incoming.count, 4);
    assert_int_equal(incoming.elements[0].steps.left, 250000 + 2 * 7);
    assert_int_equal(incoming.elements[1].steps.left, 250000 + 2 * 12);
    assert_int_equal(incoming.elements[1].steps.on_loop, 1250);
    assert_int_equal(mcp_json_count(mcp_json_get(incoming.elements[1].value, "bb")), 2);
    mcp_arena_free(incoming.elements[1].arena); /* taken: the others are still there */
    incoming.elements[1].arena = NULL;
    assert_non_null(mcp_json_get(incoming.elements[0].value, "a"));
    mcp__incoming_clear(&incoming);
}

static void batches_have_a_hundred_elements_at_most(void **state)
{
    static const struct {
        size_t count, elements;
    } rows[] = { { 99, 99 }, { 100, 100 }, { 101, 0 } };
    mcp__incoming incoming;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char *text = ones(rows[i].count);
        read_text(&incoming, text);
        assert_int_equal(incoming.status, MCP_OK);
        assert_int_equal(incoming.count, rows[i].elements);
        mcp__incoming_clear(&incoming);
        free(text);
    }
    read_text(&incoming, "[]");
    assert_int_equal(incoming.count, 0);
    mcp__incoming_clear(&incoming);
}

struct noted {
    mcp__reading reading; /* first */
    mcp_status status;
    size_t count;
};

static void note(mcp__reading *reading)
{
    struct noted *noted = (struct noted *)reading;

    noted->status = reading->incoming.status;
    noted->count = mcp_json_count(reading->incoming.whole.value);
    mcp__incoming_clear(&reading->incoming);
}

static mcp_status fill(struct noted *noted, const char *text, size_t length)
{
    noted->reading.options = &options;
    mcp_buf_init(&noted->reading.text, length);
    return mcp_buf_append(&noted->reading.text, text, length);
}

static void a_worker_reads_a_copy(void **state)
{
    struct noted noted = { .reading.done = note };
    mcp__inline executor;
    char text[] = "{\"a\":1,\"b\":2}";

    (void)state;
    mcp__inline_init(&executor);
    executor.is_held = true;
    assert_int_equal(fill(&noted, text, strlen(text)), MCP_OK);
    assert_int_equal(mcp__reading_start(&noted.reading, &executor.executor, NULL), MCP_OK);
    memset(text, '!', sizeof(text));
    assert_int_equal(noted.count, 0);
    assert_true(mcp__inline_step(&executor));
    assert_int_equal(noted.status, MCP_OK);
    assert_int_equal(noted.count, 2);
}

static void without_a_worker_nothing_is_held(void **state)
{
    struct noted noted = { .reading.done = note };
    mcp__inline executor;

    (void)state;
    mcp__inline_init(&executor);
    executor.is_full = true;
    assert_int_equal(fill(&noted, "[1]", 3), MCP_OK);
    assert_int_equal(mcp__reading_start(&noted.reading, &executor.executor, NULL), MCP_E_BUSY);
    assert_null(noted.reading.text.data);
}

static mcp_status read_batch_once(void *data)
{
    mcp__incoming incoming;
    mcp_status st;

    (void)data;
    read_text(&incoming, "[{\"a\":[1,2,3]},{\"b\":\"text\"}]");
    st = incoming.status;
    for (size_t i = 0; i < incoming.count; i++)
        if (!incoming.elements[i].value)
            st = MCP_E_NOMEM; /* that one alone is answered with an error */
    mcp__incoming_clear(&incoming);
    return st;
}

static mcp_status read_copy_once(void *data)
{
    struct noted noted = { .reading.done = note };
    mcp__inline executor;

    (void)data;
    mcp__inline_init(&executor);
    mcp_status st = fill(&noted, "{\"a\":1}", 7);
    if (st == MCP_OK)
        st = mcp__reading_start(&noted.reading, &executor.executor, NULL);
    return st == MCP_OK ? noted.status : st;
}

static void memory_runs_out_at_every_point(void **state)
{
    (void)state;
    oom_walk(read_batch_once, NULL);
    oom_walk(read_copy_once, NULL);
}

static void the_id_is_the_member_of_the_message(void **state)
{
    static const struct {
        const char *text;
        const char *id; /* NULL: none is found */
    } rows[] = {
        { "{\"id\":1}", "1" },
        { " {\"a\":{\"id\":2},\"b\":[\"id\",{\"id\":3}],\"id\" : -4 }", "-4" },
        { "{\"id\":\"x\\\"y\",\"z\":1e400}", "\"x\\\"y\"" },
        { "{\"a\":\"id\",\"b\":5}", NULL },
        { "{\"id\":{\"id\":6}}", NULL },
        { "{\"\\u0069d\":7}", NULL },
        { "[{\"id\":8}]", NULL },
        { "{\"id\":9", NULL },
        { "{\"id\":\"", NULL },
        { "\"id\"", NULL },
        { "", NULL },
        { "{", NULL },
        { "{\"id\":1,\"id\":2}", "1" },
    };
    char text[100];
    mcp__message_scan scan;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = strlen(rows[i].text);
        memcpy(text, rows[i].text, length);
        mcp__message_scan_text(&scan, text, length);
        if (!rows[i].id) {
            assert_null(scan.id);
            continue;
        }
        assert_non_null(scan.id);
        assert_int_equal(scan.id_length, strlen(rows[i].id));
        assert_memory_equal(scan.id, rows[i].id, scan.id_length);
    }
}

static void halves_of_pairs_are_replaced_where_people_write(void **state)
{
    static const struct {
        const char *text;
        const char *after; /* NULL: unchanged */
    } rows[] = {
        { "{\"params\":{\"arguments\":{\"a\":[\"\\ud83d\"]}}}",
          "{\"params\":{\"arguments\":{\"a\":[\"\\uFFFD\"]}}}" },
        { "{\"params\":{\"argument\":{\"value\":\"\\uDE00x\"}}}",
          "{\"params\":{\"argument\":{\"value\":\"\\uFFFDx\"}}}" },
        { "{\"params\":{\"inputResponses\":{\"k\":{\"c\":\"\\ud83d\\u0041\"}}}}",
          "{\"params\":{\"inputResponses\":{\"k\":{\"c\":\"\\uFFFD\\u0041\"}}}}" },
        { "{\"result\":{\"content\":{\"a\":\"\\ud83d\"}}}",
          "{\"result\":{\"content\":{\"a\":\"\\uFFFD\"}}}" },
        { "{\"params\":{\"arguments\":{\"a\":\"\\ud83d\\ude00 \\\\ud83d\"}}}", NULL },
        { "{\"params\":{\"name\":\"\\ud83d\"}}", NULL },
        { "{\"params\":{\"_meta\":{\"arguments\":\"\\ud83d\"}}}", NULL },
        { "{\"arguments\":{\"a\":\"\\ud83d\"}}", NULL },
        { "{\"method\":\"\\ud83d\",\"id\":\"\\ud83d\"}", NULL },
        { "{\"params\":{\"arguments\":{\"a\":\"\\ud8", NULL },
        { "{\"params\":{\"arguments\":{\"a\":\"\\", NULL },
    };
    char text[100];
    mcp__message_scan scan;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *after = rows[i].after ? rows[i].after : rows[i].text;
        size_t length = strlen(rows[i].text);
        memcpy(text, rows[i].text, length);
        mcp__message_scan_text(&scan, text, length);
        assert_int_equal(scan.repaired, rows[i].after ? 1 : 0);
        assert_memory_equal(text, after, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_message),
        cmocka_unit_test(what_is_no_json_says_why),
        cmocka_unit_test(memory_of_a_message_is_bounded),
        cmocka_unit_test(a_batch_divides_the_steps),
        cmocka_unit_test(batches_have_a_hundred_elements_at_most),
        cmocka_unit_test(a_worker_reads_a_copy),
        cmocka_unit_test(without_a_worker_nothing_is_held),
        cmocka_unit_test(memory_runs_out_at_every_point),
        cmocka_unit_test(the_id_is_the_member_of_the_message),
        cmocka_unit_test(halves_of_pairs_are_replaced_where_people_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
