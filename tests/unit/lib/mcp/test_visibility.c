/*
 * test_visibility.c - news of what is hidden from somebody does not reach him, however he asks for
 * it; and the server is notified when he calls it.
 *
 * Ann has the scope "vault", Eve has not; `visible` hides what begins with "ann://" from everybody
 * but Ann.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "conversation.h"

#define CLAIM                                                                                      \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define UPDATED(uri)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"" uri \
    "\"}}\n"
#define UPDATED_FOR_L(uri)                                                                         \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"_meta\":{"  \
    "\"io.modelcontextprotocol/subscriptionId\":\"l\"},\"uri\":\"" uri "\"}}\n"
#define CHANGED(list) "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" list "/list_changed\"}\n"

/* clang-format off */
#define FILE_OF(path, text) { path, text, sizeof text - 1 }
#define SCOPED "\"_meta\":{\"causeway/scopes\":\"vault\"}"

static const char base_json[] =
    "{\"resources\":["
    "{\"uri\":\"open://1\",\"name\":\"open\"},"
    "{\"uri\":\"vault://1\",\"name\":\"vault\"," SCOPED "},"
    "{\"uri\":\"ann://1\",\"name\":\"ann\"}],"
    "\"resourceTemplates\":["
    "{\"uriTemplate\":\"vault://files/{name}\",\"name\":\"files\"," SCOPED "},"
    "{\"uriTemplate\":\"vault://files/public-{name}\",\"name\":\"public\"}]}";
static const char tool_json[] =
    "{\"name\":\"secret\",\"description\":\"S\",\"inputSchema\":{\"type\":\"object\"}," SCOPED "}";
static const char plain_json[] =
    "{\"name\":\"plain\",\"description\":\"P\",\"inputSchema\":{\"type\":\"object\"}}";
static const char prompt_md[] = "---\nname: ann\ndescription: For Ann\n---\nHello\n";
/* clang-format on */

static mcp_status give(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_text(call, "given");
}

static mcp_status give_resource(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_contents_text(call, mcp_call_name(call), NULL, "given", 5);
}

static const mcp_file base_files[] = { FILE_OF("resources.json", base_json), { 0 } };
static const mcp_resource base_resources[] = {
    { "open://1", give_resource, MCP_READS, 0 },
    { "vault://1", give_resource, MCP_READS, 0 },
    { "ann://1", give_resource, MCP_READS, 0 },
    { "vault://files/{name}", give_resource, MCP_READS, 0 },
    { "vault://files/public-{name}", give_resource, MCP_READS, 0 },
    { 0 },
};
static const mcp_tool no_tools[] = { { 0 } };
static const mcp_prompt no_prompts[] = { { 0 } };
static const mcp_features base = {
    .files = base_files, .tools = no_tools, .resources = base_resources, .prompts = no_prompts
};

static const mcp_file secret_files[] = { FILE_OF("tools/secret.json", tool_json), { 0 } };
static const mcp_tool secret_tools[] = { { "secret", give, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features secret = { .files = secret_files, .tools = secret_tools };

static const mcp_file mixed_files[] = { FILE_OF("tools/plain.json", plain_json),
                                        FILE_OF("prompts/ann.md", prompt_md),
                                        { 0 } };
static const mcp_tool plain_tools[] = { { "plain", give, MCP_READS, 0, 0 }, { 0 } };
static const mcp_prompt ann_prompts[] = { { "ann", NULL, 0, 0 }, { 0 } };
static const mcp_features mixed = { .files = mixed_files,
                                    .tools = plain_tools,
                                    .prompts = ann_prompts };

static const mcp_principal ann = { "ann", "vault", 0 };
static const mcp_principal eve = { "eve", "", 0 };

static bool is_visible(const mcp_call *call, mcp_feature feature, const char *name, void *data)
{
    const char *who = mcp_call_principal(call);

    (void)data;
    if (feature == MCP_FEATURE_PROMPT ? strcmp(name, "ann") != 0 : strncmp(name, "ann://", 6) != 0)
        return true;
    return who && strcmp(who, "ann") == 0;
}

static const mcp_server_options options = { .name = "n",
                                            .version = "1",
                                            .subscriptions = true,
                                            .list_changed = true,
                                            .hide_by_scope = true,
                                            .visible = is_visible };
static conversation c;

static int begin(void **state)
{
    (void)state;
    conversation_open(&c, &options, &base);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mcp__dispatch_stop(&c.session, MCP_STOP_SHUTDOWN); /* ends what listens */
    conversation_close(&c);
    return 0;
}

static void be(const mcp_principal *who)
{
    c.peer.peer.principal = who;
    assert_int_equal(mcp__session_set_listener(&c.session, who, NULL), MCP_OK);
}

static void subscribe(const char *uri)
{
    char text[300];

    (void)snprintf(text, sizeof(text),
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{"
                   "\"uri\":\"%s\"}}",
                   uri);
    conversation_ask(&c, text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
}

static const char *const uris[] = {
    "open://1", "vault://1", "ann://1", "vault://files/plan", "vault://files/public-plan",
    "none://1"
};

static void subscribe_to_all(void)
{
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++)
        subscribe(uris[i]);
}

/* What each of them brings, one after the other; the hidden ones between visible ones bring
 * nothing. */
static void expect_of_all(const char *const expected[])
{
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
        assert_int_equal(mcp_server_resource_updated(c.server, uris[i], NULL), MCP_OK);
        conversation_expect(&c, expected[i]);
    }
}

static void a_session_hears_of_what_it_may_know_of(void **state)
{
    static const char *const of_ann[] = { UPDATED("open://1"),
                                          UPDATED("vault://1"),
                                          UPDATED("ann://1"),
                                          UPDATED("vault://files/plan"),
                                          UPDATED("vault://files/public-plan"),
                                          UPDATED("none://1") };
    static const char *const of_eve[] = {
        UPDATED("open://1"), "", "", "", UPDATED("vault://files/public-plan"), UPDATED("none://1")
    };

    (void)state;
    be(&eve);
    conversation_initialize(&c, "2025-11-25");
    subscribe_to_all(); /* a hidden one is answered as an unknown one */
    expect_of_all(of_eve);
    be(&ann); /* the stream is opened again, by a better token */
    expect_of_all(of_ann);
    be(NULL); /* where nobody shows tokens, no scope is missing */
    assert_int_equal(mcp_server_resource_updated(c.server, "vault://1", NULL), MCP_OK);
    conversation_expect(&c, UPDATED("vault://1"));
    assert_int_equal(mcp_server_resource_updated(c.server, "ann://1", NULL), MCP_OK);
    conversation_expect(&c, "");
}

#define LISTEN                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"subscriptions/listen\",\"params\":{" CLAIM     \
    ",\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true,"                   \
    "\"resourceSubscriptions\":[\"open://1\",\"vault://1\",\"ann://1\",\"vault://files/plan\","    \
    "\"vault://files/public-plan\",\"none://1\",\"open://1\"]}}}"

static void a_listening_call_likewise(void **state)
{
    static const char *const of_eve[] = {
        UPDATED_FOR_L("open://1"), "", "", "", UPDATED_FOR_L("vault://files/public-plan"),
        UPDATED_FOR_L("none://1")
    };

    (void)state;
    be(&eve);
    conversation_say(&c, LISTEN);
    assert_non_null(strstr(c.peer.text.data, "notifications/subscriptions/acknowledged"));
    assert_non_null(strstr(c.peer.text.data, "vault://1")); /* as one that there is not */
    mcp__peer_memory_reset(&c.peer);
    expect_of_all(of_eve);
    assert_int_equal(mcp_server_add_features(c.server, &secret, NULL), MCP_OK);
    conversation_expect(&c, "");
    assert_int_equal(mcp_server_add_features(c.server, &mixed, NULL), MCP_OK);
    conversation_expect(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\","
                            "\"params\":{\"_meta\":{"
                            "\"io.modelcontextprotocol/subscriptionId\":\"l\"}}}");
}

/* A hidden feature cannot tell whom its end concerns, so everybody is notified, of that list. */
static void a_changed_view_is_notified(void **state)
{
    static const mcp_server_options fixed = { .name = "n", .version = "1" };
    mcp_server *other = NULL;
    (void)state;
    be(&eve);
    conversation_initialize(&c, "2025-06-18");
    for (int round = 0; round < 2; round++) {
        assert_int_equal(mcp_server_visibility_changed(c.server, MCP_FEATURE_TOOL, NULL), MCP_OK);
        conversation_expect(&c, CHANGED("tools"));
        assert_int_equal(mcp_server_visibility_changed(c.server, MCP_FEATURE_PROMPT, NULL), MCP_OK);
        conversation_expect(&c, CHANGED("prompts"));
    }
    assert_int_equal(mcp_server_visibility_changed(c.server, (mcp_feature)3, NULL), MCP_E_PARAMS);
    assert_int_equal(mcp_server_visibility_changed(c.server, (mcp_feature)-1, NULL), MCP_E_PARAMS);
    conversation_expect(&c, "");
    assert_int_equal(mcp_server_new(&other, &fixed, NULL), MCP_OK);
    assert_int_equal(mcp_server_visibility_changed(other, MCP_FEATURE_TOOL, NULL),
                     MCP_E_UNSUPPORTED);
    mcp_server_free(other);
}

/* Also when it goes: then it is in no set any more. */
static void lists_change_for_who_sees_them_change(void **state)
{
    (void)state;
    conversation_initialize(&c, "2025-06-18");
    for (int round = 0; round < 2; round++) {
        be(&eve);
        assert_int_equal(mcp_server_add_features(c.server, &secret, NULL), MCP_OK);
        assert_int_equal(mcp_server_remove_features(c.server, &secret, NULL), MCP_OK);
        conversation_expect(&c, "");
        assert_int_equal(mcp_server_add_features(c.server, &mixed, NULL), MCP_OK);
        conversation_expect(&c, CHANGED("tools"));
        assert_int_equal(mcp_server_remove_features(c.server, &mixed, NULL), MCP_OK);
        conversation_expect(&c, CHANGED("tools"));
        be(&ann);
        assert_int_equal(mcp_server_add_features(c.server, &secret, NULL), MCP_OK);
        conversation_expect(&c, CHANGED("tools"));
        assert_int_equal(mcp_server_remove_features(c.server, &secret, NULL), MCP_OK);
        conversation_expect(&c, CHANGED("tools"));
        assert_int_equal(mcp_server_add_features(c.server, &mixed, NULL), MCP_OK);
        conversation_expect(&c, CHANGED("tools") CHANGED("prompts"));
        assert_int_equal(mcp_server_remove_features(c.server, &mixed, NULL), MCP_OK);
        conversation_expect(&c, CHANGED("tools") CHANGED("prompts"));
    }
}

/* ---- calls of hidden tools ------------------------------------------------------------------- */

static char told[200]; /* a line for each call that was reported */

static void note_call(const mcp_call *call, const char *name, mcp_hiding reason, void *data)
{
    const char *who = mcp_call_principal(call);
    const char *of = mcp_json_get_string(mcp_call_arguments(call), "of");

    assert_ptr_equal(data, told);
    (void)snprintf(told + strlen(told), sizeof told - strlen(told), "%s by %s, %s, of %s\n", name,
                   who ? who : "-", reason == MCP_HIDDEN_BY_SCOPE ? "scope" : "server",
                   of ? of : "-");
}

static bool hides_plain(const mcp_call *call, mcp_feature feature, const char *name, void *data)
{
    (void)feature;
    assert_ptr_equal(data, told);
    return strcmp(name, "plain") != 0 || strcmp(mcp_call_principal(call), "ann") == 0;
}

#define CALL(name, arguments)                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name         \
    "\"" arguments "}}"

/* The bytes of the answer. */
static const char *answer_to(const char *line)
{
    mcp__peer_memory_reset(&c.peer);
    conversation_say(&c, line);
    return c.peer.text.data;
}

static void the_server_is_notified_of_calls_of_hidden_tools(void **state)
{
    static const mcp_server_options telling = {
        .hide_by_scope = true, .visible = hides_plain, .hidden_called = note_call, .data = told
    };
    char unknown[300];

    (void)state;
    conversation_open(&c, &telling, NULL);
    assert_int_equal(mcp_server_add(c.server, &secret, NULL), MCP_OK);
    assert_int_equal(mcp_server_add(c.server, &mixed, NULL), MCP_OK);
    be(&eve);
    conversation_initialize(&c, "2025-11-25");
    told[0] = '\0';
    (void)snprintf(unknown, sizeof unknown, "%s", answer_to(CALL("hidden", "")));
    assert_string_equal(told, "");
    assert_non_null(strstr(unknown, "hidden"));
    memcpy(strstr(unknown, "hidden"), "secret", 6);
    assert_string_equal(answer_to(CALL("secret", "")), unknown);
    assert_string_equal(told, "secret by eve, scope, of -\n");
    (void)answer_to(CALL("plain", ",\"arguments\":{\"of\":\"w-1\"}"));
    assert_string_equal(told, "secret by eve, scope, of -\nplain by eve, server, of w-1\n");

    told[0] = '\0';
    (void)answer_to(CALL("plain", ",\"arguments\":7")); /* no call of anything */
    (void)answer_to("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    be(&ann);
    assert_non_null(strstr(answer_to(CALL("secret", "")), "given"));
    assert_string_equal(told, "");
    mcp__peer_memory_reset(&c.peer);
    conversation_close(&c);
}

/* ---- without memory -------------------------------------------------------------------------- */

/* When it cannot be found out whether one may hear, nothing is sent. */
static void want_of_memory_tells_nobody(void **state)
{
    long at = 0;

    (void)state;
    be(&eve);
    conversation_initialize(&c, "2025-11-25");
    subscribe("vault://1");
    for (bool is_sent = false; !is_sent; at++) {
        assert_true(at < 100);
        mcp__alloc_fail_after(at);
        is_sent = mcp_server_resource_updated(c.server, "vault://1", NULL) == MCP_OK;
        mcp__alloc_fail_after(-1);
    }
    for (long more = at; more < at + 20; more++) {
        mcp__alloc_fail_after(more);
        (void)mcp_server_resource_updated(c.server, "vault://1", NULL);
        mcp__alloc_fail_after(-1);
    }
    conversation_expect(&c, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_hears_of_what_it_may_know_of, begin, end),
        cmocka_unit_test_setup_teardown(a_listening_call_likewise, begin, end),
        cmocka_unit_test_setup_teardown(a_changed_view_is_notified, begin, end),
        cmocka_unit_test_setup_teardown(lists_change_for_who_sees_them_change, begin, end),
        cmocka_unit_test(the_server_is_notified_of_calls_of_hidden_tools),
        cmocka_unit_test_setup_teardown(want_of_memory_tells_nobody, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
