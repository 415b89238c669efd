/*
 * test_envelope.c - the ladder as it is climbed over HTTP: claims, headers, their order, HTTP's
 * status.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "conversation.h"
#include "fixture.h"
#include "fixture_more.h"
#include <cmocka.h>

#define CLAIM(version)                                                                             \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version                            \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define REQUEST(method, params)                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" params "}}"

struct fake {
    mcp__headers face; /* first */
    const char *version, *method, *name;
};

static const char *field(const mcp__headers *self, const char *wanted, size_t *count)
{
    const struct fake *fake = (const struct fake *)self;
    const char *value = strcmp(wanted, "MCP-Protocol-Version") == 0 ? fake->version
                        : strcmp(wanted, "Mcp-Method") == 0         ? fake->method
                        : strcmp(wanted, "Mcp-Name") == 0           ? fake->name
                                                                    : NULL;

    *count = value ? 1 : 0;
    return value;
}

/* Send as HTTP would; the answer's code (0: a result) and HTTP's status must be these. */
static void exchange(conversation *c, const struct fake *headers, const char *text, int code,
                     int http)
{
    mcp_arena *arena = mcp_arena_new(0);
    int64_t got = 0;

    c->peer.peer.headers = &headers->face;
    conversation_say(c, text);
    const mcp_json *answer = conversation_answer(c, arena);
    (void)mcp_json_int(mcp_json_pointer(answer, "/error/code"), &got);
    if (got != code || c->peer.peer.http_status != http)
        fail_msg("%d and HTTP %d for %s", (int)got, c->peer.peer.http_status, text);
    mcp_arena_free(arena);
}

static void the_ladder_is_climbed_in_order(void **state)
{
    static const struct {
        const char *version, *method, *name, *text;
        int code, http;
    } rows[] = {
        /* a claim, and headers that agree */
        { "2026-07-28", "tools/list", NULL, REQUEST("tools/list", CLAIM("2026-07-28")), 0, 200 },
        { "2026-07-28", "tools/call", "fix/refuse",
          REQUEST("tools/call", "\"name\":\"fix/refuse\"," CLAIM("2026-07-28")), 0, 200 },
        { "2026-07-28", "resources/read", "fix://nowhere",
          REQUEST("resources/read", "\"uri\":\"fix://nowhere\"," CLAIM("2026-07-28")), -32602,
          200 },
        { "2026-07-28", "tools/call", "fix/none",
          REQUEST("tools/call", "\"name\":\"fix/none\"," CLAIM("2026-07-28")), -32602, 200 },
        /* headers that are missing or say something else */
        { NULL, "tools/list", NULL, REQUEST("tools/list", CLAIM("2026-07-28")), -32020, 400 },
        { "2026-07-29", "tools/list", NULL, REQUEST("tools/list", CLAIM("2026-07-28")), -32020,
          400 },
        { "2026-07-28", NULL, NULL, REQUEST("tools/list", CLAIM("2026-07-28")), -32020, 400 },
        { "2026-07-28", "TOOLS/LIST", NULL, REQUEST("tools/list", CLAIM("2026-07-28")), -32020,
          400 },
        { "2026-07-28", "tools/call", NULL,
          REQUEST("tools/call", "\"name\":\"fix/refuse\"," CLAIM("2026-07-28")), -32020, 400 },
        { "2026-07-28", "tools/call", "fix/echo",
          REQUEST("tools/call", "\"name\":\"fix/refuse\"," CLAIM("2026-07-28")), -32020, 400 },
        /* a revision that is not served */
        { "v999.0.0", "tools/list", NULL, REQUEST("tools/list", CLAIM("v999.0.0")), -32022, 400 },
        { "v999.0.0", NULL, NULL, REQUEST("tools/list", CLAIM("v999.0.0")), -32022, 400 },
        { "v999.0.0", "ping", NULL, REQUEST("tools/list", CLAIM("v999.0.0")), -32020, 400 },
        /* no claim, or half of one, under such a header */
        { "2026-07-28", "tools/list", NULL, REQUEST("tools/list", ""), -32602, 400 },
        { "2026-07-28", "tools/list", NULL, REQUEST("tools/list", "\"_meta\":1"), -32602, 400 },
        { "2026-07-28", "tools/list", NULL,
          REQUEST("tools/list",
                  "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}"),
          -32602, 400 },
        /* methods that are not there */
        { "2026-07-28", "ping", NULL, REQUEST("ping", CLAIM("2026-07-28")), -32601, 404 },
        { "2026-07-28", "no/such", NULL, REQUEST("no/such", CLAIM("2026-07-28")), -32601, 404 },
        { "2026-07-28", "initialize", NULL, REQUEST("initialize", CLAIM("2026-07-28")), -32601,
          404 },
        /* what a client lacks */
        { "2026-07-28", "tools/call", "more/sampling",
          REQUEST("tools/call", "\"name\":\"more/sampling\"," CLAIM("2026-07-28")), -32021, 400 },
        /* the older era, told by the header or by nothing */
        { NULL, NULL, NULL, REQUEST("no/such", ""), -32601, 200 },
        { "2025-11-25", NULL, NULL, REQUEST("tools/list", ""), 0, 200 },
        { "2026-07-28", NULL, NULL, REQUEST("initialize", "\"protocolVersion\":\"2025-11-25\""), 0,
          200 },
        { "2026-07-28", NULL, NULL, "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}", -32600,
          400 },
        { NULL, NULL, NULL, "nonsense", -32700, 400 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fake fake = { { .field = field }, rows[i].version, rows[i].method, rows[i].name };
        conversation c;
        conversation_open(&c, NULL, &fixture_features);
        assert_int_equal(mcp_server_add(c.server, &fixture_more, NULL), MCP_OK);
        exchange(&c, &fake, rows[i].text, rows[i].code, rows[i].http);
        conversation_close(&c);
    }
}

/* Two clients of a shared session may use one id at once, and cannot cancel each other. */
static void shared_sessions_keep_clients_apart(void **state)
{
    static const char call[] = REQUEST(
        "tools/call", "\"name\":\"fix/echo\",\"arguments\":{\"text\":\"a\"}," CLAIM("2026-07-28"));
    static const char cancel[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}";
    mcp__peer_memory other;
    conversation c;

    (void)state;
    conversation_open(&c, NULL, &fixture_features);
    mcp__peer_memory_init(&other);
    c.session.context.is_shared = true;
    c.executor.is_held = true;
    conversation_say(&c, call);
    mcp__dispatch_message(&c.session, &other.peer, call, strlen(call));
    assert_int_equal(other.answers, 0);
    mcp__dispatch_message(&c.session, &other.peer, call, strlen(call));
    assert_int_equal(other.answers, 1); /* its own id is taken */
    mcp__dispatch_message(&c.session, &other.peer, cancel, strlen(cancel));
    while (mcp__inline_step(&c.executor))
        ;
    assert_int_equal(other.answers, 1);
    assert_int_equal(c.peer.answers, 1);
    mcp__peer_memory_clear(&other);
    conversation_close(&c);
}

static void responses_need_a_session(void **state)
{
    conversation c;

    (void)state;
    conversation_open(&c, NULL, &fixture_features);
    c.session.context.is_shared = true;
    conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
                     "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":"
                     "\"a response needs a session\"}}");
    assert_int_equal(c.peer.peer.http_status, 400);
    conversation_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ladder_is_climbed_in_order),
        cmocka_unit_test(shared_sessions_keep_clients_apart),
        cmocka_unit_test(responses_need_a_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
