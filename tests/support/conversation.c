/*
 * conversation.c - saying something to a server and holding its answers against what is expected.
 */
#include "conversation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void conversation_open(conversation *c, const mcp_server_options *options,
                       const mcp_features *features)
{
    mcp_server_options filled = MCP_SERVER_OPTIONS_INIT;
    mcp_error err = MCP_ERROR_INIT;
    mcp__context setup;

    if (options)
        filled = *options;
    filled.name = filled.name ? filled.name : "test";
    filled.version = filled.version ? filled.version : "1.0";
    memset(c, 0, sizeof *c);
    if (mcp_server_new(&c->server, &filled, &err) != MCP_OK ||
        (features && mcp_server_add(c->server, features, &err) != MCP_OK))
        fail_msg("the server cannot be made: %s", err.message);
    mcp__inline_init(&c->executor);
    mcp__peer_memory_init(&c->peer);
    setup = mcp__server_context(c->server, &c->executor.executor);
    assert_int_equal(mcp__task_table_new(&c->tasks, &setup, &err), MCP_OK);
    setup.tasks = c->tasks;
    assert_int_equal(mcp__session_init(&c->session, &setup, &err), MCP_OK);
    c->session.listener = &c->peer.peer;
}

void conversation_close(conversation *c)
{
    while (mcp__inline_step(&c->executor))
        ;
    mcp__dispatch_tasks_stop(c->tasks, MCP_STOP_CANCELLED);
    mcp__session_clear(&c->session);
    mcp__task_table_free(c->tasks);
    mcp__peer_memory_clear(&c->peer);
    mcp_server_free(c->server);
}

void conversation_say(conversation *c, const char *text)
{
    mcp__dispatch_message(&c->session, &c->peer.peer, text, strlen(text));
}

/* The next line of `text`, moved behind it; NULL at the end. */
static const mcp_json *next_line(mcp_arena *arena, const char **text)
{
    const char *end = strchr(*text, '\n');
    size_t length = end ? (size_t)(end - *text) : strlen(*text);
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (length == 0)
        return NULL;
    if (mcp_json_read(&value, arena, *text, length, &err) != MCP_OK)
        fail_msg("not JSON (%s): %.*s", err.message, (int)length, *text);
    *text += end ? length + 1 : length;
    return value;
}

void conversation_expect(conversation *c, const char *lines)
{
    const char *got = c->peer.text.data ? c->peer.text.data : "";
    const char *at = got;
    const char *wanted_at = lines;
    mcp_arena *arena = mcp_arena_new(0);

    for (;;) {
        const mcp_json *wanted = next_line(arena, &wanted_at);
        const mcp_json *found = next_line(arena, &at);
        if (!wanted && !found)
            break;
        if (!wanted || !found || !mcp_json_equal(wanted, found))
            fail_msg("expected:\n%s\ngot:\n%s", lines, got);
    }
    mcp_arena_free(arena);
    mcp__peer_memory_reset(&c->peer);
}

void conversation_ask(conversation *c, const char *text, const char *lines)
{
    conversation_say(c, text);
    conversation_expect(c, lines);
}

void conversation_initialize(conversation *c, const char *revision)
{
    char text[256];

    (void)snprintf(text, sizeof(text),
                   "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
                   "{\"protocolVersion\":\"%s\",\"capabilities\":{},"
                   "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
                   revision);
    conversation_say(c, text);
    assert_int_equal(c->peer.answers, 1);
    assert_string_equal(mcp_revision_name(c->session.revision), revision);
    mcp__peer_memory_reset(&c->peer);
}

const mcp_json *conversation_answer(conversation *c, mcp_arena *arena)
{
    const char *at = c->peer.text.data ? c->peer.text.data : "";
    const mcp_json *value = next_line(arena, &at);

    assert_non_null(value);
    assert_int_equal(*at, '\0');
    mcp__peer_memory_reset(&c->peer);
    return value;
}
