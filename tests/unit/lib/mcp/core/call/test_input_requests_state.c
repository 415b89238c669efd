/*
 * test_input_requests_state.c - seals: what they bind, when they end, and that no changed byte
 * passes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "conversation.h"
#include "mcp/core/call/input_requests.h"
#include "mcp/http.h"
#include "oom.h"
#include <cmocka.h>

#define NOW ((int64_t)1000000)

static const char large[5000]; /* more than the first pieces of memory hold */

static const mcp_json *json(mcp_arena *arena, const char *text)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, text, strlen(text), NULL), MCP_OK);
    return value;
}

static mcp_call *call_of(conversation *c, const char *method, const char *name,
                         const char *arguments)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_call *call = NULL;

    assert_int_equal(mcp__call_new(&call, arena, &c->session.context, NULL), MCP_OK);
    call->session = &c->session;
    call->request.method = method;
    call->request.name = name;
    call->request.arguments = json(arena, arguments);
    return call;
}

static mcp_status open_text(conversation *c, const char *name, const char *arguments,
                            const char *text, size_t text_length, int64_t now_ms)
{
    mcp_call *call = call_of(c, "tools/call", name, arguments);
    const char *payload = NULL;
    size_t length = 0;
    mcp_status st = mcp__request_state_open(&payload, &length, call, text, text_length, now_ms);

    if (st == MCP_OK) {
        assert_int_equal(length, 4);
        assert_memory_equal(payload, "\0\xff{}", 4);
    } else {
        assert_string_equal(call->err.message, "invalid requestState");
    }
    mcp__call_free(call);
    return st;
}

static void a_seal_binds_its_call(void **state)
{
    static const char arguments[] = "{\"a\":[1,{\"x\":1,\"y\":2}],\"b\":\"t\"}";
    conversation c;
    const char *text = NULL;

    (void)state;
    conversation_open(&c, NULL, NULL);
    mcp_call *call = call_of(&c, "tools/call", "t", arguments);
    assert_int_equal(mcp__request_state_seal(&text, call, "\0\xff{}", 4, NOW), MCP_OK);
    size_t length = strlen(text);
    assert_int_equal(open_text(&c, "t", arguments, text, length, NOW), MCP_OK);
    /* members in another order are the same arguments, items are not */
    assert_int_equal(
        open_text(&c, "t", "{\"b\":\"t\",\"a\":[1,{\"y\":2,\"x\":1}]}", text, length, NOW), MCP_OK);
    assert_int_equal(
        open_text(&c, "t", "{\"b\":\"t\",\"a\":[{\"y\":2,\"x\":1},1]}", text, length, NOW),
        MCP_E_PARAMS);
    assert_int_equal(open_text(&c, "u", arguments, text, length, NOW), MCP_E_PARAMS);
    assert_int_equal(open_text(&c, "t", "{}", text, length, NOW), MCP_E_PARAMS);
    /* ten minutes */
    assert_int_equal(open_text(&c, "t", arguments, text, length, NOW + 600000), MCP_OK);
    assert_int_equal(open_text(&c, "t", arguments, text, length, NOW + 600001), MCP_E_PARAMS);
    mcp__call_free(call);
    conversation_close(&c);
}

static void a_seal_binds_its_caller(void **state)
{
    mcp_principal ada = { .name = "ada" };
    mcp_principal eve = { .name = "eve" };
    const mcp_principal *callers[] = { &ada, &eve, NULL };
    conversation c;
    const char *text = NULL;
    const char *payload = NULL;
    size_t length = 0;

    (void)state;
    conversation_open(&c, NULL, NULL);
    mcp_call *call = call_of(&c, "tools/call", "t", "{}");
    call->principal = &ada;
    assert_int_equal(mcp__request_state_seal(&text, call, "\0\xff{}", 4, NOW), MCP_OK);
    for (int i = 0; i < 3; i++) {
        call->principal = callers[i];
        assert_int_equal(mcp__request_state_open(&payload, &length, call, text, strlen(text), NOW),
                         i == 0 ? MCP_OK : MCP_E_PARAMS);
    }
    mcp__call_free(call);
    conversation_close(&c);
}

static void no_changed_byte_passes(void **state)
{
    conversation c;
    const char *text = NULL;
    char changed[512];

    (void)state;
    conversation_open(&c, NULL, NULL);
    mcp_call *call = call_of(&c, "tools/call", "t", "{}");
    assert_int_equal(mcp__request_state_seal(&text, call, "\0\xff{}", 4, NOW), MCP_OK);
    size_t length = strlen(text);
    assert_true(length < sizeof changed);
    for (size_t i = 0; i < length; i++) {
        memcpy(changed, text, length);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        assert_int_equal(open_text(&c, "t", "{}", changed, length, NOW), MCP_E_PARAMS);
        assert_int_equal(open_text(&c, "t", "{}", text, i, NOW), MCP_E_PARAMS);
    }
    mcp__call_free(call);
    conversation_close(&c);
}

static void only_the_same_secret_opens(void **state)
{
    static const char secret[] = "thirty-two bytes are the shortest";
    mcp_server_options shared = { .state_secret = secret };
    mcp_server_options brief = { .name = "n", .version = "1", .state_secret = "short" };
    conversation a, b, other;
    mcp_server *server = NULL;
    const char *text = NULL;

    (void)state;
    conversation_open(&a, &shared, NULL);
    conversation_open(&b, &shared, NULL);
    conversation_open(&other, NULL, NULL);
    mcp_call *call = call_of(&a, "tools/call", "t", "{}");
    assert_int_equal(mcp__request_state_seal(&text, call, "\0\xff{}", 4, NOW), MCP_OK);
    assert_int_equal(open_text(&b, "t", "{}", text, strlen(text), NOW), MCP_OK);
    assert_int_equal(open_text(&other, "t", "{}", text, strlen(text), NOW), MCP_E_PARAMS);
    mcp__call_free(call);
    conversation_close(&a);
    conversation_close(&b);
    conversation_close(&other);
    assert_int_equal(mcp_server_new(&server, &brief, NULL), MCP_E_PARAMS);
}

static mcp_status seal_and_open_once(void *data)
{
    conversation *c = data;
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *arguments = NULL;
    const char *text = NULL;
    const char *payload = NULL;
    mcp_call *call = NULL;
    size_t length = 0;

    if (!arena)
        return MCP_E_NOMEM;
    mcp_status st = mcp_json_read(&arguments, arena, "{\"a\":[1,{\"b\":2}]}", 17, NULL);
    if (st == MCP_OK)
        st = mcp__call_new(&call, arena, &c->session.context, NULL);
    if (st != MCP_OK) {
        mcp_arena_free(arena);
        return st;
    }
    call->session = &c->session;
    call->request.method = "tools/call";
    call->request.name = "t";
    call->request.arguments = arguments;
    st = mcp__request_state_seal(&text, call, large, sizeof large, NOW);
    if (st == MCP_OK)
        st = mcp__request_state_open(&payload, &length, call, text, strlen(text), NOW);
    mcp__call_free(call);
    return st;
}

/* Never is a client told that its state is wrong when we had no memory to look at it. */
static void memory_may_run_out_anywhere(void **state)
{
    conversation c;

    (void)state;
    conversation_open(&c, NULL, NULL);
    oom_walk(seal_and_open_once, &c);
    conversation_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seal_binds_its_call),       cmocka_unit_test(a_seal_binds_its_caller),
        cmocka_unit_test(no_changed_byte_passes),      cmocka_unit_test(only_the_same_secret_opens),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
