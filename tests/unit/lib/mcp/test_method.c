/*
 * test_method.c - the opening under every pair of revisions, and which methods exist when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conversation.h"
#include "mcp/method.h"
#include <cmocka.h>

static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25" };

static mcp_status silent(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

static const char tool[] = "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}";
static const mcp_file files[] = { { "tools/t.json", tool, sizeof tool - 1 }, { 0 } };
static const mcp_tool tools[] = { { "t", silent, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features features = { .files = files, .tools = tools };

static void open_as(conversation *c, const char *requested)
{
    char text[256];

    (void)snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
        "{\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
        requested);
    conversation_say(c, text);
}

static void each_revision_is_served(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        conversation c;
        char wanted[400];
        conversation_open(&c, NULL, &features);
        open_as(&c, revisions[i]);
        (void)snprintf(
            wanted, sizeof wanted,
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"%s\",\"capabilities\":"
            "{\"tools\":{\"listChanged\":false}},\"serverInfo\":{\"name\":\"test\",\"version\":\"1.0\"}}}",
            revisions[i]);
        conversation_expect(&c, wanted);
        conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", "");
        assert_true(c.session.is_initialized);
        conversation_close(&c);
    }
}

/* The negotiated version of a server that speaks [oldest, newest] with a client that asks for
   one. */
static void check_pair(int oldest, int newest, const char *requested, const char *wanted)
{
    mcp_server_options options = { .oldest = (mcp_revision)oldest, .newest = (mcp_revision)newest };
    mcp_arena *arena = mcp_arena_new(0);
    conversation c;

    conversation_open(&c, &options, NULL);
    open_as(&c, requested);
    const mcp_json *answer = conversation_answer(&c, arena);
    assert_string_equal(mcp_json_string(mcp_json_pointer(answer, "/result/protocolVersion"), NULL),
                        wanted);
    conversation_close(&c);
    mcp_arena_free(arena);
}

static void every_pair_of_revisions_agrees(void **state)
{
    (void)state;
    for (int oldest = 0; oldest < 4; oldest++)
        for (int newest = oldest; newest < 4; newest++) {
            for (int asked = 0; asked < 4; asked++)
                check_pair(oldest + 1, newest + 1, revisions[asked],
                           revisions[asked >= oldest && asked <= newest ? asked : newest]);
            check_pair(oldest + 1, newest + 1, "2026-07-28", revisions[newest]);
            check_pair(oldest + 1, newest + 1, "1.0", revisions[newest]);
        }
}

static void a_strict_server_names_what_it_speaks(void **state)
{
    mcp_server_options options = { .strict_version = true,
                                   .oldest = MCP_2025_03_26,
                                   .newest = MCP_2025_06_18 };
    conversation c;

    (void)state;
    conversation_open(&c, &options, NULL);
    open_as(&c, "2024-11-05");
    conversation_expect(
        &c, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32602,\"message\":\"Unsupported "
            "protocol version\",\"data\":{\"supported\":[\"2025-06-18\",\"2025-03-26\"],"
            "\"requested\":\"2024-11-05\"}}}");
    assert_int_equal(c.session.revision, MCP_REVISION_NONE);
    open_as(&c, "2025-03-26");
    assert_int_equal(c.session.revision, MCP_2025_03_26);
    conversation_close(&c);
}

static void the_server_tells_what_each_revision_knows_of_it(void **state)
{
    static const char *const infos[] = {
        "{\"name\":\"n\",\"version\":\"2\"}",
        "{\"name\":\"n\",\"version\":\"2\"}",
        "{\"name\":\"n\",\"version\":\"2\",\"title\":\"T\"}",
        ("{\"name\":\"n\",\"version\":\"2\",\"title\":\"T\",\"description\":\"D\","
         "\"websiteUrl\":\"https://w\",\"icons\":[{\"src\":\"data:,\"}]}"),
    };
    mcp_server_options options = { .name = "n",
                                   .version = "2",
                                   .title = "T",
                                   .description = "D",
                                   .website_url = "https://w",
                                   .icons = "[{\"src\":\"data:,\"}]",
                                   .instructions = "Ask." };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        conversation c;
        char wanted[400];
        conversation_open(&c, &options, NULL);
        open_as(&c, revisions[i]);
        (void)snprintf(
            wanted, sizeof wanted,
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"%s\",\"capabilities\":{},"
            "\"serverInfo\":%s,\"instructions\":\"Ask.\"}}",
            revisions[i], infos[i]);
        conversation_expect(&c, wanted);
        conversation_close(&c);
    }
}

static void an_opening_must_be_well_formed(void **state)
{
    static const char *const wrong[] = {
        "{\"capabilities\":{}}",
        "{\"protocolVersion\":20250618,\"capabilities\":{}}",
        "{\"protocolVersion\":\"2025-06-18\\u0000\",\"capabilities\":{}}",
        "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":[]}",
        "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":\"me\"}",
    };
    mcp_arena *arena = mcp_arena_new(0);
    conversation c;
    char text[256];

    (void)state;
    conversation_open(&c, NULL, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int64_t code = 0;
        (void)snprintf(text, sizeof(text),
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":%s}",
                       wrong[i]);
        conversation_say(&c, text);
        assert_true(
            mcp_json_int(mcp_json_pointer(conversation_answer(&c, arena), "/error/code"), &code));
        assert_int_equal(code, -32602);
    }
    conversation_ask(
        &c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"initialize needs params\"}}");
    assert_int_equal(c.session.revision, MCP_REVISION_NONE);
    conversation_close(&c);
    mcp_arena_free(arena);
}

static void a_second_opening_begins_again(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    conversation c;

    (void)state;
    conversation_open(&c, NULL, NULL);
    conversation_initialize(&c, "2025-11-25");
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    assert_true(c.session.is_initialized);
    assert_string_equal(c.session.client_names.name, "c");
    conversation_initialize(&c, "2024-11-05");
    assert_false(c.session.is_initialized);
    conversation_ask(&c, "[]",
                     "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":"
                     "\"batches are not part of this revision\"}}");
    conversation_close(&c);
    mcp_arena_free(arena);
}

static void requests_before_the_opening_are_served(void **state)
{
    mcp_server_options narrow = { .oldest = MCP_2025_06_18 };
    mcp_server_options early = { .default_revision = MCP_2024_11_05 };
    conversation c;

    (void)state;
    conversation_open(&c, NULL, &features);
    assert_int_equal(mcp__session_revision(&c.session), MCP_2025_03_26);
    conversation_ask(
        &c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]}}");
    conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    conversation_close(&c);
    conversation_open(&c, &narrow, NULL);
    assert_int_equal(mcp__session_revision(&c.session), MCP_2025_06_18);
    conversation_close(&c);
    conversation_open(&c, &early, NULL);
    assert_int_equal(mcp__session_revision(&c.session), MCP_2024_11_05);
    conversation_close(&c);
}

static void methods_that_are_not_ours_do_not_exist(void **state)
{
    static const char *const names[] = {
        "nope",
        "",
        "Ping",
        "tools/List",
        "server/discover",
        "notifications/initialized",
        "notifications/cancelled",
        "logging/setLevel",
        "resources/subscribe",
        "completion/complete",
        "resources/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "tasks/get",
    };
    conversation c;
    char text[256];
    char wanted[256];

    (void)state;
    conversation_open(&c, NULL, &features);
    conversation_initialize(&c, "2025-11-25");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"}",
                       names[i]);
        (void)snprintf(wanted, sizeof wanted,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
                       "\"message\":\"Unknown method: %s\"}}",
                       names[i]);
        conversation_ask(&c, text, wanted);
    }
    conversation_close(&c);
}

static void existence_comes_before_parameters(void **state)
{
    conversation c;

    (void)state;
    conversation_open(&c, NULL, NULL);
    conversation_ask(
        &c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Unknown method: tools/call\"}}");
    conversation_close(&c);
}

static void a_claim_chooses_the_era_of_its_request_alone(void **state)
{
    conversation c;

    (void)state;
    conversation_open(&c, NULL, NULL);
    conversation_ask(&c,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{"
                     "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                     "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":"
                     "\"Unknown method: ping\"}}");
    conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    conversation_close(&c);
}

static void notifications_are_never_answered(void **state)
{
    static const char *const quiet[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"nope\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":{}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":1,\"message\":\"m\"}}",
    };
    conversation c;

    (void)state;
    conversation_open(&c, NULL, &features);
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++)
        conversation_ask(&c, quiet[i], "");
    conversation_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_revision_is_served),
        cmocka_unit_test(every_pair_of_revisions_agrees),
        cmocka_unit_test(a_strict_server_names_what_it_speaks),
        cmocka_unit_test(the_server_tells_what_each_revision_knows_of_it),
        cmocka_unit_test(an_opening_must_be_well_formed),
        cmocka_unit_test(a_second_opening_begins_again),
        cmocka_unit_test(requests_before_the_opening_are_served),
        cmocka_unit_test(methods_that_are_not_ours_do_not_exist),
        cmocka_unit_test(existence_comes_before_parameters),
        cmocka_unit_test(a_claim_chooses_the_era_of_its_request_alone),
        cmocka_unit_test(notifications_are_never_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
