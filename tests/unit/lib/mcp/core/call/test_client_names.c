/*
 * test_client_names.c - what a client says about its program, as handlers read it in both eras.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"
#include "mcp/core/call/client.h"

#define META "io.modelcontextprotocol/"

static void expect(const char *info, const char *name, const char *version)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *value = NULL;
    mcp__client_names names;

    assert_int_equal(mcp_json_read(&value, arena, info, strlen(info), NULL), MCP_OK);
    assert_int_equal(mcp__client_names_read(&names, arena, value), MCP_OK);
    if (name)
        assert_string_equal(names.name, name);
    else
        assert_null(names.name);
    if (version)
        assert_string_equal(names.version, version);
    else
        assert_null(names.version);
    mcp_arena_free(arena);
}

static void texts_are_one_harmless_line(void **state)
{
    (void)state;
    expect("{\"name\":\"claude-code\",\"version\":\"2.1.0\"}", "claude-code", "2.1.0");
    expect("{\"name\":\"caf\xC3\xA9\",\"version\":\"\"}", "caf\xC3\xA9", NULL);
    expect("{\"name\":7,\"version\":null}", NULL, NULL);
    expect("{}", NULL, NULL);
    expect("[]", NULL, NULL);
    expect("{\"name\":\"a\\n\\u001b[2Jb\\u0000\\u007f\"}", "a??[2Jb??", NULL);
    expect("{\"name\":\"a\\u0085\\u202eb\\u2066\\u2028\\u061c\\ufeff\"}", "a??b????", NULL);
}

static void long_texts_end_with_a_whole_character(void **state)
{
    char info[400] = "{\"name\":\"", wanted[128];

    (void)state;
    memset(wanted, 'x', sizeof wanted);
    wanted[126] = '\0'; /* the character of two bytes after it would pass 127 */
    (void)snprintf(info, sizeof info, "{\"name\":\"%s\xC3\xA9yz\"}", wanted);
    expect(info, wanted, NULL);
}

static void no_memory_is_said(void **state)
{
    mcp_arena *arena = mcp_arena_new(0), *small = mcp_arena_new(16);
    const char *info = "{\"name\":\"a name that 16 bytes do not hold\"}";
    const mcp_json *value = NULL;
    mcp__client_names names, copy;

    (void)state;
    assert_int_equal(mcp_json_read(&value, arena, info, strlen(info), NULL), MCP_OK);
    assert_int_equal(mcp__client_names_read(&names, small, value), MCP_E_NOMEM);
    assert_int_equal(mcp__client_names_read(&names, arena, value), MCP_OK);
    assert_int_equal(mcp__client_names_copy(&copy, small, &names), MCP_E_NOMEM);
    assert_int_equal(mcp__client_names_copy(&copy, arena, &names), MCP_OK);
    assert_string_equal(copy.name, "a name that 16 bytes do not hold");
    assert_null(copy.version);
    mcp_arena_free(small);
    mcp_arena_free(arena);
}

/* ---- handlers -------------------------------------------------------------------------------- */

static const char who_json[] =
    "{\"name\":\"who\",\"description\":\"W\",\"inputSchema\":{\"type\":\"object\"}}";
static const mcp_file files[] = { { "tools/who.json", who_json, sizeof who_json - 1 }, { 0 } };

static mcp_status who(mcp_call *call, void *data)
{
    const char *name = mcp_call_client_name(call), *version = mcp_call_client_version(call);

    (void)data;
    return mcp_call_text(call, mcp_arena_printf(mcp_call_arena(call), "%s/%s", name ? name : "-",
                                                version ? version : "-"));
}

static const mcp_tool tools[] = { { "who", who, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features features = { .files = files, .tools = tools };

static void call_who(conversation *c, const char *meta, const char *wanted)
{
    mcp_arena *arena = mcp_arena_new(0);
    char text[600];

    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                   "{\"name\":\"who\",\"_meta\":{%s}}}",
                   meta);
    conversation_say(c, text);
    const mcp_json *got = mcp_json_pointer(conversation_answer(c, arena), "/result/content/0/text");
    assert_non_null(mcp_json_string(got, NULL));
    assert_string_equal(mcp_json_string(got, NULL), wanted);
    mcp_arena_free(arena);
}

static void a_session_is_its_newest_initialize(void **state)
{
    static const char again[] =
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"other\"}}}";
    conversation c;

    (void)state;
    conversation_open(&c, NULL, &features);
    call_who(&c, "", "-/-"); /* no initialize yet */
    conversation_initialize(&c, "2025-06-18");
    call_who(&c, "", "c/1");
    conversation_say(&c, again);
    mcp__peer_memory_reset(&c.peer);
    call_who(&c, "", "other/-");
    conversation_close(&c);
}

static void a_request_of_no_session_speaks_for_itself(void **state)
{
#define CLAIM "\"" META "protocolVersion\":\"2026-07-28\",\"" META "clientCapabilities\":{}"
    conversation c;

    (void)state;
    conversation_open(&c, NULL, &features);
    conversation_initialize(&c, "2025-11-25");
    call_who(&c, CLAIM ",\"" META "clientInfo\":{\"name\":\"agent\",\"version\":\"3\"}", "agent/3");
    call_who(&c, CLAIM, "-/-");
    call_who(&c, "", "c/1");
    conversation_close(&c);
#undef CLAIM
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_one_harmless_line),
        cmocka_unit_test(long_texts_end_with_a_whole_character),
        cmocka_unit_test(no_memory_is_said),
        cmocka_unit_test(a_session_is_its_newest_initialize),
        cmocka_unit_test(a_request_of_no_session_speaks_for_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
