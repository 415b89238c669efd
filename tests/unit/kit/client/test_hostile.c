/*
 * test_hostile.c - servers that answer badly over Streamable HTTP, each written out by hand.
 *
 * The server speaks 2025-11-25 unless the test says otherwise. `{id}` in an answer becomes the id
 * of the request, `{rev}` the revision.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/client.h"
#include "http_peer.h"
#include "mcp/clock.h"
#include "oom.h"

enum { LONG_MS = 60000, SEEN_MAX = 64 };

static const char *const loopback[] = { "127.0.0.0/8" };

#define EVENTS "200 OK\r\nContent-Type: text/event-stream"
#define JSON "200 OK\r\nContent-Type: application/json"
#define RESULT "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"content\":[]}}"
#define EVENT(json) "data: " json "\n\n"

struct world {
    http_peer *peer;
    fetch *pool;
    client *client;
    mcp_arena *arena;
    mcp_error err;
    char url[64];
    const char *revision;     /* that initialize answers */
    const char *call_head;    /* of the answer to tools/call; NULL: none, the connection is reset */
    const char *call_body;    /* NULL: nothing more comes, for as long as the test lasts */
    const char *list_body;    /* of the answer to tools/list */
    const char *get_body;     /* of the answer to GET; NULL: 405 */
    atomic_int lost_sessions; /* this many calls are answered by 404 */
    atomic_int initialized;
    atomic_int changes;
    atomic_int pongs, refusals, cancelled;
    atomic_bool had_session, had_token, had_last_event, never_opens, has_no_session;
};

/* ---- the server ------------------------------------------------------------------------------ */

static void replace(char *text, size_t size, const char *mark, const char *by)
{
    for (char *at = strstr(text, mark); at; at = strstr(at, mark)) {
        char rest[8192];
        snprintf(rest, sizeof rest, "%s", at + strlen(mark));
        snprintf(at, size - (size_t)(at - text), "%s%s", by, rest);
        at += strlen(by);
    }
}

static bool reply_filled(struct world *world, int fd, const http_peer_request *request,
                         const char *head, const char *body)
{
    static const char *const digits = "0123456789";
    char text[8192];
    char id[24] = "null";
    const char *at = strstr(request->body, "\"id\":");

    if (at)
        snprintf(id, sizeof id, "%.*s", (int)strspn(at + 5, digits), at + 5);
    snprintf(text, sizeof text, "%s", body);
    replace(text, sizeof text, "{id}", id);
    replace(text, sizeof text, "{rev}", world->revision);
    return http_peer_reply(fd, head, text);
}

static bool answer_call(struct world *world, http_peer *self, int fd,
                        const http_peer_request *request)
{
    if (atomic_load(&world->lost_sessions) > 0) {
        atomic_fetch_sub(&world->lost_sessions, 1);
        return http_peer_reply(fd, "404 Not Found", "");
    }
    if (!world->call_head) {
        http_peer_reset(fd);
        return false;
    }
    if (world->call_body)
        return reply_filled(world, fd, request, world->call_head, world->call_body);
    http_peer_send(fd, "HTTP/1.1 ");
    http_peer_send(fd, world->call_head);
    http_peer_send(fd, "\r\n\r\n");
    http_peer_wait(self, LONG_MS);
    return false;
}

static void look_at(struct world *world, const http_peer_request *request)
{
    char field[300];

    if (strcmp(http_peer_field(request, "Mcp-Session-Id", field, sizeof field), "session-1") == 0)
        atomic_store(&world->had_session, true);
    if (strcmp(http_peer_field(request, "Authorization", field, sizeof field), "Bearer canary") ==
        0)
        atomic_store(&world->had_token, true);
    if (strcmp(http_peer_field(request, "Last-Event-ID", field, sizeof field), "5-1") == 0)
        atomic_store(&world->had_last_event, true);
    if (strstr(request->body, "\"id\":\"p1\",\"result\":{}"))
        atomic_fetch_add(&world->pongs, 1);
    if (strstr(request->body, "\"code\":-32601"))
        atomic_fetch_add(&world->refusals, 1);
    if (strstr(request->body, "notifications/cancelled"))
        atomic_fetch_add(&world->cancelled, 1);
}

static bool answer(void *data, http_peer *self, int fd, const http_peer_request *request)
{
    struct world *world = data;

    look_at(world, request);
    if (strncmp(request->head, "GET", 3) == 0)
        return world->get_body && http_peer_reply(fd, EVENTS, world->get_body);
    if (strncmp(request->head, "DELETE", 6) == 0)
        return http_peer_reply(fd, "405 No", "");
    if (strstr(request->body, "server/discover"))
        return http_peer_reply(fd, "400 Bad Request", "what?");
    if (strstr(request->body, "\"initialize\"")) {
        if (atomic_load(&world->never_opens))
            http_peer_wait(self, LONG_MS);
        atomic_fetch_add(&world->initialized, 1);
        return reply_filled(
            world, fd, request,
            atomic_load(&world->has_no_session) ? JSON : JSON "\r\nmcp-session-id: session-1",
            "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"protocolVersion\":"
            "\"{rev}\",\"capabilities\":{\"tools\":{\"listChanged\":true}},"
            "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}");
    }
    if (strstr(request->body, "tools/list"))
        return reply_filled(world, fd, request, JSON, world->list_body);
    if (strstr(request->body, "tools/call"))
        return answer_call(world, self, fd, request);
    return http_peer_reply(fd, "202 Accepted", "");
}

/* ---- each test has its own ------------------------------------------------------------------- */

static void make_client(struct world *world, size_t message_max, int64_t open_ms,
                        void (*on_list_changed)(void *data))
{
    const client_options options = { .label = "peer",
                                     .pool = world->pool,
                                     .url = world->url,
                                     .bearer = "canary",
                                     .message_max_bytes = message_max,
                                     .open_ms = open_ms,
                                     .on_list_changed = on_list_changed,
                                     .data = world };

    client_free(world->client);
    world->client = NULL;
    assert_int_equal(client_new(&world->client, &options, NULL), MCP_OK);
}

static int set_up(void **state)
{
    static struct world world;
    const fetch_options options = { .egress = loopback, .egress_count = 1 };

    memset(&world, 0, sizeof world);
    world.revision = "2025-11-25";
    world.peer = http_peer_start(answer, &world);
    world.arena = mcp_arena_new(0);
    assert_int_equal(fetch_open(&world.pool, &options, NULL), MCP_OK);
    snprintf(world.url, sizeof world.url, "http://127.0.0.1:%d/mcp?key=canary",
             http_peer_port(world.peer));
    make_client(&world, 0, 0, NULL);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    client_free(world->client);
    fetch_close(world->pool);
    http_peer_end(world->peer);
    mcp_arena_free(world->arena);
    return 0;
}

static mcp_status call_for(struct world *world, client_result *result, int64_t timeout_ms)
{
    const client_call call = { .name = "t", .timeout_ms = timeout_ms };

    mcp_status st = client_call_tool(result, world->client, world->arena, &call, &world->err);
    if (st != MCP_OK)
        assert_null(strstr(world->err.message, "canary"));
    return st;
}

static mcp_status call(struct world *world, client_result *result)
{
    return call_for(world, result, LONG_MS);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void an_answer_among_other_messages(void **state)
{
    struct world *world = *state;
    client_result result;

    world->call_head = EVENTS;
    world->call_body = ": comment\r\nid: 5-0\r\ndata: \r\n\r\n" EVENT("not json") EVENT("{}") EVENT(
        "[]") EVENT("{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{\"content\":\"another's\"}}")
        EVENT("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}") "event: other\n" EVENT(
            "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"content\":\"wrong type\"}}")
            EVENT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}")
                EVENT("{\"jsonrpc\":\"2.0\",\"id\":\"p1\",\"method\":\"ping\"}") EVENT(
                    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\"}") "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":{id},\ndata: "
                                                                                            "\"result\":{\"content\":\"first\"}}\n\n" EVENT(
                                                                                                "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"content\":\"second\"}}");
    assert_int_equal(call(world, &result), MCP_OK);
    assert_string_equal(mcp_json_get_string(result.result, "content"), "first");
    assert_int_equal(atomic_load(&world->pongs), 1);
    assert_int_equal(atomic_load(&world->refusals), 1);
    assert_true(atomic_load(&world->had_session));
    assert_true(atomic_load(&world->had_token));
}

static void an_answer_in_a_batch(void **state)
{
    struct world *world = *state;
    client_result result;

    world->revision = "2025-03-26";
    world->call_head = JSON;
    world->call_body = "[3,{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}," RESULT "]";
    assert_int_equal(call(world, &result), MCP_OK);
    assert_non_null(result.result);
}

static void a_stream_that_breaks_is_resumed(void **state)
{
    struct world *world = *state;
    client_result result;

    world->call_head = EVENTS;
    world->call_body = "id: 5-1\nretry: 10\ndata: \n\n";
    /* The first call of a new connection has the number after those of the handshake. */
    world->get_body = "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":\"late\"}}\n\n";
    assert_int_equal(call(world, &result), MCP_OK);
    assert_string_equal(mcp_json_get_string(result.result, "content"), "late");
    assert_true(atomic_load(&world->had_last_event));
}

static void errors_are_answers(void **state)
{
    static const struct {
        const char *body;
        bool may_have_run;
    } rows[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{\"code\":-32602,\"message\":\"no\"}}",
          false },
        { "{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{\"code\":-32603,\"message\":\"no\"}}",
          true },
    };
    struct world *world = *state;
    client_result result;

    world->call_head = JSON;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        world->call_body = rows[i].body;
        assert_int_equal(call(world, &result), MCP_OK);
        assert_null(result.result);
        assert_string_equal(mcp_json_get_string(result.error, "message"), "no");
        assert_int_equal(result.may_have_run, rows[i].may_have_run);
    }
}

static void statuses_without_a_response(void **state)
{
    static const struct {
        const char *head;
        mcp_status st;
        bool may_have_run;
    } rows[] = {
        { "401 Unauthorized", MCP_E_DENIED, false },
        { "403 Forbidden", MCP_E_DENIED, false },
        { "429 Later", MCP_E_BUSY, false },
        { "503 Later", MCP_E_BUSY, true },
        { "500 Broken", MCP_E_IO, true },
        { "302 Found\r\nLocation: /x", MCP_E_IO, true },
        { "400 Bad", MCP_E_IO, false },
        { "202 Accepted", MCP_E_SCHEMA, true },
        { JSON, MCP_E_SCHEMA, true },
        { EVENTS, MCP_E_SCHEMA, true },
    };
    static const char *const bodies[] = {
        "",
        "garbage",
        "{\"jsonrpc\":\"2.0\",\"id\":{id}}",
        "{\"jsonrpc\":\"1.0\",\"id\":{id},\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{},\"error\":{\"code\":1,\"message\":\"\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":{id}.0,\"result\":{}}",
    };
    struct world *world = *state;
    client_result result;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t j = 0; j < sizeof bodies / sizeof bodies[0]; j++) {
            world->call_head = rows[i].head;
            world->call_body = bodies[j];
            assert_int_equal(call(world, &result), rows[i].st);
            assert_int_equal(result.may_have_run, rows[i].may_have_run);
        }
    }
}

/* ---- connections ----------------------------------------------------------------------------- */

static void a_lost_session_begins_again(void **state)
{
    struct world *world = *state;
    client_result result;

    world->call_head = JSON;
    world->call_body = RESULT;
    assert_int_equal(call(world, &result), MCP_OK);
    atomic_store(&world->lost_sessions, 1);
    assert_int_equal(call(world, &result), MCP_OK);
    assert_int_equal(atomic_load(&world->initialized), 2);
    /* A server that forgets every session is tried once more, not for ever. */
    atomic_store(&world->lost_sessions, 1000);
    assert_int_equal(call(world, &result), MCP_E_IO);
    assert_false(result.may_have_run);
    assert_int_equal(atomic_load(&world->initialized), 3);
}

static void a_broken_connection_leaves_the_effect_unknown(void **state)
{
    struct world *world = *state;
    client_result result;

    assert_int_equal(call(world, &result), MCP_E_IO);
    assert_true(result.may_have_run);
}

static void a_deadline_cancels(void **state)
{
    struct world *world = *state;
    client_result result;

    world->call_head = EVENTS;
    assert_int_equal(call_for(world, &result, 1000), MCP_E_TIMEOUT);
    if (result.may_have_run)
        assert_int_equal(atomic_load(&world->cancelled), 1);
}

static void a_handshake_has_a_deadline(void **state)
{
    struct world *world = *state;
    client_result result;

    atomic_store(&world->never_opens, true);
    make_client(world, 0, 300, NULL);
    assert_int_equal(call(world, &result), MCP_E_TIMEOUT);
    assert_false(result.may_have_run);
    assert_int_equal(atomic_load(&world->cancelled), 0); /* initialize must not be */
}

static void a_revision_must_be_known(void **state)
{
    static const char *const bad[] = { "2023-01-01", "", "2026-07-28", "2025-11-25x", "3" };
    struct world *world = *state;
    client_result result;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        world->revision = bad[i];
        assert_int_equal(call(world, &result), MCP_E_REVISION);
        assert_false(result.may_have_run);
    }
}

static void messages_are_bounded(void **state)
{
    static char body[4000];
    struct world *world = *state;
    client_result result;

    make_client(world, 2000, 0, NULL);
    memset(body, 'x', sizeof body - 1);
    world->call_body = body;
    world->call_head = JSON;
    assert_int_equal(call(world, &result), MCP_E_LIMIT);
    assert_true(result.may_have_run);
    world->call_head = EVENTS;
    assert_int_equal(call(world, &result), MCP_E_LIMIT);
    memcpy(body, "data: ", 6);
    for (size_t i = 500; i < sizeof body - 1; i += 500)
        memcpy(body + i, "\ndata: ", 7);
    assert_int_equal(call(world, &result), MCP_E_LIMIT);
}

static void bad_calls_are_not_sent(void **state)
{
    struct world *world = *state;
    const mcp_json *list = NULL;
    const mcp_json *token = NULL;
    client_result result;

    mcp_json_read(&list, world->arena, "[]", 2, NULL);
    mcp_json_read(&token, world->arena, "{\"progressToken\":1}", 19, NULL);
    const client_call calls[] = { { .name = NULL },
                                  { .name = "" },
                                  { .name = "t", .arguments = list },
                                  { .name = "t", .meta = list },
                                  { .name = "t", .meta = token } };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        assert_int_equal(client_call_tool(&result, world->client, world->arena, &calls[i], NULL),
                         MCP_E_PARAMS);
    assert_int_equal(http_peer_requests(world->peer), 0);
    client *none = NULL;
    const client_options options[] = {
        { .url = NULL },
        { .url = "ftp://x/", .pool = world->pool },
        { .url = "http://x/", .pool = world->pool, .bearer = "a\nb" }
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        assert_int_equal(client_new(&none, &options[i], NULL), MCP_E_PARAMS);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static mcp_status list(struct world *world, client_tools *tools)
{
    const client_wait wait = { .timeout_ms = LONG_MS };

    return client_list_tools(tools, world->client, world->arena, &wait, &world->err);
}

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\",\"x\":[1,2.50]}}"
#define TOOLS(tools) "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"tools\":" tools "}}"

static void a_list_is_given_as_it_was_sent(void **state)
{
    struct world *world = *state;
    client_tools tools = { .count = 0 };
    mcp_json_writer writer;
    mcp_buf text;

    world->list_body = TOOLS("[" TOOL("b") "," TOOL("a") "]");
    assert_int_equal(list(world, &tools), MCP_OK);
    assert_int_equal(tools.count, 2);
    mcp_buf_init(&text, 1000);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, tools.items[0]);
    assert_string_equal(mcp_json_get_string(tools.items[1], "name"), "a");
    assert_non_null(strstr(text.data, "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\","));
    mcp_buf_clear(&text);
}

/* One of them would otherwise take all tools of a server away. */
static void entries_that_are_no_tools_are_left_out(void **state)
{
    struct world *world = *state;
    client_tools tools = { .count = 0 };

    world->list_body = TOOLS("[1," TOOL("a") ",{\"name\":\"b\"},"
                                             "{\"name\":\"\",\"inputSchema\":{}},"
                                             "{\"name\":\"a\\u0000b\",\"inputSchema\":{}},"
                                             "{\"name\":7,\"inputSchema\":{}},"
                                             "{\"name\":\"c\",\"inputSchema\":[]}," TOOL("d") "]");
    assert_int_equal(list(world, &tools), MCP_OK);
    assert_int_equal(tools.count, 2);
    assert_int_equal(tools.left_out, 6);
    assert_string_equal(mcp_json_get_string(tools.items[0], "name"), "a");
    assert_string_equal(mcp_json_get_string(tools.items[1], "name"), "d");
}

static void bad_lists_are_refused(void **state)
{
    static const char *const bad[] = {
        TOOLS("{}"),
        "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{}}",
    };
    struct world *world = *state;
    client_tools tools = { .count = 0 };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        world->list_body = bad[i];
        assert_int_equal(list(world, &tools), MCP_E_SCHEMA);
    }
    world->list_body = "{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{\"code\":-1,\"message\":\"\"}}";
    assert_int_equal(list(world, &tools), MCP_E_INTERNAL);
    assert_null(tools.items);
}

static void an_endless_list_is_cut(void **state)
{
    struct world *world = *state;
    client_tools tools = { .count = 0 };

    world->list_body = "{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{\"tools\":[],"
                       "\"nextCursor\":\"again\"}}";
    assert_int_equal(list(world, &tools), MCP_E_LIMIT);
    assert_true(http_peer_requests(world->peer) < CLIENT_PAGES_MAX + 10);
}

static void count_change(void *data)
{
    struct world *world = data;

    atomic_fetch_add(&world->changes, 1);
}

static void changes_of_the_list_are_reported(void **state)
{
    struct world *world = *state;
    client_result result;

    world->call_head = JSON;
    world->call_body = RESULT;
    world->get_body = EVENT(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    make_client(world, 0, 0, count_change);
    assert_int_equal(call(world, &result), MCP_OK);
    for (int64_t until_ms = mcp_clock_mono_ms() + LONG_MS; atomic_load(&world->changes) == 0;)
        assert_true(mcp_clock_mono_ms() < until_ms);
    client_free(world->client); /* while the stream is read, or before the next */
    world->client = NULL;
}

static mcp_status open_call_close(void *data)
{
    struct world *world = data;
    mcp_arena *arena = mcp_arena_new(0);
    const client_options options = { .pool = world->pool, .url = world->url, .bearer = "canary" };
    const client_call call = { .name = "t", .timeout_ms = LONG_MS };
    client_result result;
    client *one = NULL;

    mcp_status st = arena ? client_new(&one, &options, NULL) : MCP_E_NOMEM;
    if (st == MCP_OK)
        st = client_call_tool(&result, one, arena, &call, NULL);
    client_free(one);
    mcp_arena_free(arena);
    return st;
}

static void memory_may_run_out(void **state)
{
    struct world *world = *state;

    atomic_store(&world->has_no_session, true); /* its end allocates, too, and cannot fail */
    world->call_head = EVENTS;
    world->call_body = EVENT(RESULT);
    oom_walk(open_call_close, world);
}

int main(void)
{
#define WITH_PEER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_PEER(an_answer_among_other_messages),
        WITH_PEER(an_answer_in_a_batch),
        WITH_PEER(a_stream_that_breaks_is_resumed),
        WITH_PEER(errors_are_answers),
        WITH_PEER(statuses_without_a_response),
        WITH_PEER(a_lost_session_begins_again),
        WITH_PEER(a_broken_connection_leaves_the_effect_unknown),
        WITH_PEER(a_deadline_cancels),
        WITH_PEER(a_handshake_has_a_deadline),
        WITH_PEER(a_revision_must_be_known),
        WITH_PEER(messages_are_bounded),
        WITH_PEER(bad_calls_are_not_sent),
        WITH_PEER(a_list_is_given_as_it_was_sent),
        WITH_PEER(entries_that_are_no_tools_are_left_out),
        WITH_PEER(bad_lists_are_refused),
        WITH_PEER(an_endless_list_is_cut),
        WITH_PEER(changes_of_the_list_are_reported),
        WITH_PEER(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
