/*
 * test_response.c - codes of statuses, errors that are answered in any case, and batches:
 * gathering answers, and an array that outgrows a message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "mcp/core/response.h"
#include "peer_memory.h"

static void codes_follow_the_era(void **state)
{
    static const struct {
        mcp_status status;
        int session, stateless;
    } rows[] = {
        { MCP_E_PARSE, -32700, -32700 },      { MCP_E_REQUEST, -32600, -32600 },
        { MCP_E_METHOD, -32601, -32601 },     { MCP_E_PARAMS, -32602, -32602 },
        { MCP_E_INTERNAL, -32603, -32603 },   { MCP_E_RESOURCE, -32002, -32602 },
        { MCP_E_ENVELOPE, -32602, -32602 },   { MCP_E_HEADERS, -32602, -32020 },
        { MCP_E_CAPABILITY, -32602, -32021 }, { MCP_E_REVISION, -32602, -32022 },
        { MCP_E_NOMEM, -32603, -32603 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(mcp__response_code(rows[i].status, MCP_2024_11_05), rows[i].session);
        assert_int_equal(mcp__response_code(rows[i].status, MCP_2025_11_25), rows[i].session);
        assert_int_equal(mcp__response_code(rows[i].status, MCP_2026_07_28), rows[i].stateless);
    }
}

static void http_follows_the_era(void **state)
{
    static const struct {
        mcp_status status;
        int session, stateless;
    } rows[] = {
        { MCP_OK, 200, 200 },           { MCP_E_PARSE, 400, 400 },    { MCP_E_REQUEST, 400, 400 },
        { MCP_E_METHOD, 200, 404 },     { MCP_E_PARAMS, 200, 200 },   { MCP_E_INTERNAL, 200, 200 },
        { MCP_E_RESOURCE, 200, 200 },   { MCP_E_ENVELOPE, 400, 400 }, { MCP_E_HEADERS, 400, 400 },
        { MCP_E_CAPABILITY, 200, 400 }, { MCP_E_REVISION, 200, 400 }, { MCP_E_BUSY, 200, 200 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(mcp__response_http(rows[i].status, MCP_2025_11_25), rows[i].session);
        assert_int_equal(mcp__response_http(rows[i].status, MCP_2026_07_28), rows[i].stateless);
    }
}

static mcp__peer_memory client;
static mcp__peer *batch;

static void begin(size_t count, size_t max_bytes)
{
    mcp__peer_memory_init(&client);
    batch = mcp__batch_new(&client.peer, count, max_bytes);
    assert_non_null(batch);
}

static void send(void (*function)(mcp__peer *, mcp_buf *), const char *text)
{
    mcp_buf message;

    mcp_buf_init(&message, 1000);
    assert_int_equal(mcp_buf_puts(&message, text), MCP_OK);
    function(batch, &message);
    assert_null(message.data);
}

static void expect(const char *text)
{
    assert_string_equal(client.text.data ? client.text.data : "", text);
    mcp__peer_memory_clear(&client);
}

static void answers_leave_together(void **state)
{
    (void)state;
    begin(3, 1000);
    send(batch->answer, "1");
    batch->no_reply(batch);
    assert_int_equal(client.answers, 0);
    send(batch->answer, "2");
    expect("[1,2]\n");
}

static void without_answers_nothing_leaves(void **state)
{
    (void)state;
    begin(2, 1000);
    batch->no_reply(batch);
    assert_int_equal(client.skipped, 0);
    batch->no_reply(batch);
    assert_int_equal(client.skipped, 1);
    expect("");
}

static void notifications_pass_at_once(void **state)
{
    (void)state;
    begin(1, 1000);
    send(batch->notify, "{}");
    assert_false(batch->is_slow(batch));
    client.is_slow = true;
    assert_true(batch->is_slow(batch));
    send(batch->answer, "1");
    expect("{}\n[1]\n");
}

static void what_does_not_fit_goes_into_a_further_array(void **state)
{
    (void)state;
    begin(3, 10);
    send(batch->answer, "12345");
    send(batch->answer, "1234567890");
    send(batch->answer, "1");
    expect("[12345]\n[1234567890]\n[1]\n");
}

static int lost;

static void count_lost(mcp__peer *peer)
{
    (void)peer;
    lost++;
}

/* The others are still sent, and the client that waits for the one learns that it will not come. */
static void a_lost_answer_is_reported_after_the_others(void **state)
{
    (void)state;
    begin(3, 1000);
    client.peer.abort = count_lost;
    lost = 0;
    send(batch->answer, "1");
    batch->abort(batch);
    assert_int_equal(lost, 0);
    send(batch->answer, "2");
    assert_int_equal(lost, 1);
    assert_int_equal(client.answers, 0);
    assert_int_equal(client.skipped, 0);
    expect("[1,2]\n");
}

static void who_cannot_be_told_is_left_without_answer(void **state)
{
    (void)state;
    begin(1, 1000);
    batch->abort(batch);
    assert_int_equal(client.skipped, 1);
    expect("");
}

static void without_memory_the_rest_of_a_batch_goes(void **state)
{
    (void)state;
    begin(2, 1000);
    client.peer.abort = count_lost;
    lost = 0;
    (void)mcp_buf_reserve(&client.text, 100);
    mcp__alloc_fail_after(1); /* the message itself */
    send(batch->answer, "1");
    mcp__alloc_fail_after(-1);
    send(batch->answer, "2");
    assert_int_equal(lost, 1);
    expect("[2]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_follow_the_era),
        cmocka_unit_test(http_follows_the_era),
        cmocka_unit_test(answers_leave_together),
        cmocka_unit_test(without_answers_nothing_leaves),
        cmocka_unit_test(notifications_pass_at_once),
        cmocka_unit_test(what_does_not_fit_goes_into_a_further_array),
        cmocka_unit_test(a_lost_answer_is_reported_after_the_others),
        cmocka_unit_test(who_cannot_be_told_is_left_without_answer),
        cmocka_unit_test(without_memory_the_rest_of_a_batch_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
