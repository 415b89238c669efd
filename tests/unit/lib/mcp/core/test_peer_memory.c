/*
 * test_peer_memory.c - the peer that other tests trust.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#undef skip /* cmocka's */

#include "mcp/core/peer_memory.h"

static void send(mcp__peer_memory *client, void (*function)(mcp__peer *, mcp_buf *),
                 const char *text)
{
    mcp_buf message;

    mcp_buf_init(&message, 100);
    assert_int_equal(mcp_buf_puts(&message, text), MCP_OK);
    function(&client->peer, &message);
    assert_null(message.data);
    assert_int_equal(message.length, 0);
}

static void messages_are_kept_as_lines(void **state)
{
    mcp__peer_memory client;

    (void)state;
    mcp__peer_memory_init(&client);
    send(&client, client.peer.answer, "1");
    send(&client, client.peer.notify, "22");
    client.peer.skip(&client.peer);
    assert_string_equal(client.text.data, "1\n22\n");
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.notifications, 1);
    assert_int_equal(client.skipped, 1);
    mcp__peer_memory_reset(&client);
    assert_int_equal(client.text.length, 0);
    assert_int_equal(client.answers + client.notifications + client.skipped, 0);
    mcp__peer_memory_clear(&client);
}

static void it_is_as_slow_as_the_test_says(void **state)
{
    mcp__peer_memory client;

    (void)state;
    mcp__peer_memory_init(&client);
    assert_false(client.peer.is_slow(&client.peer));
    client.is_slow = true;
    assert_true(client.peer.is_slow(&client.peer));
    mcp__peer_memory_clear(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_kept_as_lines),
        cmocka_unit_test(it_is_as_slow_as_the_test_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
