/*
 * fuzz_message.c - lines of bytes into a server: whatever comes, each line is answered at most
 * once, what leaves is JSON on one line, and nothing stays open.
 *
 * The first byte says whether calls run at once or wait until the end, so that cancellation and ids
 * in use are met too.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_more.h"
#include "inline.h"
#include "mcp/core/dispatch.h"
#include "mcp/server_int.h"
#include "peer_memory.h"

#define MESSAGE_MAX_BYTES ((size_t)64 * 1024)

static mcp_status echo(mcp_call *call, void *data)
{
    mcp_progress progress = { .progress = 1, .message = mcp_arg_string(call, "text") };

    (void)data;
    (void)mcp_call_progress(call, &progress);
    mcp_write_member_value(mcp_call_result(call), "arguments", mcp_call_arguments(call));
    mcp_write_member_int(mcp_call_result(call), "n", mcp_arg_int(call, "n", 1));
    return MCP_OK;
}

static const char definition[] =
    "{\"name\":\"t/echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
    "\"default\":7},\"text\":{\"type\":\"string\",\"maxLength\":20}}}}";
static const mcp_file files[] = { { "tools/echo.json", definition, sizeof definition - 1 }, { 0 } };
static const mcp_tool tools[] = { { "t/echo", echo, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features features = { .files = files, .tools = tools };

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What was sent must be lines of JSON, each an object or an array. */
static void check_sent(const mcp__peer_memory *client)
{
    const char *at = client->text.data;
    size_t left = client->text.length;
    mcp_arena *arena = mcp_arena_new(0);

    while (left > 0) {
        const char *newline = memchr(at, '\n', left);
        const mcp_json *value = NULL;
        require(newline);
        size_t length = (size_t)(newline - at);
        require(mcp_json_read(&value, arena, at, length, NULL) == MCP_OK);
        require(mcp_json_is_object(value) || mcp_json_is_array(value));
        at += length + 1;
        left -= length + 1;
    }
    mcp_arena_free(arena);
}

static mcp_server *make_server(void)
{
    mcp_server_options options = { .name = "fuzz",
                                   .version = "1",
                                   .limits.message_max_bytes = MESSAGE_MAX_BYTES,
                                   .logging = true,
                                   .list_changed = true,
                                   .subscriptions = true };
    mcp_server *server = NULL;

    require(mcp_server_new(&server, &options, NULL) == MCP_OK);
    require(mcp_server_add(server, &features, NULL) == MCP_OK);
    require(mcp_server_add(server, &fixture_more, NULL) == MCP_OK);
    return server;
}

static void say_lines(mcp__session *session, mcp__peer_memory *client, const char *at, size_t left)
{
    size_t lines = 0;

    while (left > 0) {
        const char *newline = memchr(at, '\n', left);
        size_t length = newline ? (size_t)(newline - at) : left;
        mcp__dispatch_message(session, &client->peer, at, length);
        require(client->answers + client->skipped <= ++lines);
        (void)mcp__dispatch_tick(session, 0);
        at += newline ? length + 1 : length;
        left -= newline ? length + 1 : length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static mcp_server *server; /* made once */
    mcp__context setup;
    mcp__peer_memory client;
    mcp__session session;
    mcp__inline executor;

    if (size == 0)
        return 0;
    if (!server)
        server = make_server();
    mcp__inline_init(&executor);
    executor.is_held = data[0] & 1;
    mcp__peer_memory_init(&client);
    setup = mcp__server_context(server, &executor.executor);
    require(mcp__session_init(&session, &setup, NULL) == MCP_OK);
    session.listener = &client.peer;
    say_lines(&session, &client, (const char *)data + 1, size - 1);
    while (mcp__inline_step(&executor))
        ;
    /* Calls that listen, or wait for the client. */
    mcp__dispatch_stop(&session, MCP_STOP_CANCELLED);
    require(mcp__dispatch_is_idle(&session));
    check_sent(&client);
    mcp__session_clear(&session);
    mcp__peer_memory_clear(&client);
    return 0;
}
