/*
 * test_scopes.c - the scopes that entries of resources.json ask for, and prompts: who may read, who
 * may have suggestions, and who may know.
 *
 * Ann's token has the scope "vault", Eve's has not. Where nobody is asked for a token, nothing is
 * kept from anybody.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"

/* clang-format off */
#define FILE_OF(path, text) { path, text, sizeof text - 1 }
/* clang-format on */

#define SCOPES(text) "\"_meta\":{\"causeway/scopes\":" text "}"

static const char resources_json[] =
    "{\"resources\":["
    "{\"uri\":\"open://1\",\"name\":\"open\"},"
    "{\"uri\":\"vault://1\",\"name\":\"gold\"," SCOPES(
        "\"vault\"") "}],"
                     "\"resourceTemplates\":["
                     "{\"uriTemplate\":\"vault://files/{name}\",\"name\":\"files\"," SCOPES(
                         "\"vault\"") "}]}";
static const char prompt_md[] =
    "---\nname: count\ndescription: D\nargument: what, required, W\nscopes: vault\n---\n{{what}}\n";

static mcp_status give(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_contents_text(call, NULL, NULL, "given", 5);
}

static mcp_status suggest(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_add_completion(call, "secret");
}

static const mcp_file files[] = { FILE_OF("resources.json", resources_json),
                                  FILE_OF("prompts/count.md", prompt_md),
                                  { 0 } };
static const mcp_resource resources[] = { { "open://1", give, MCP_READS, 0 },
                                          { "vault://1", give, MCP_READS, 0 },
                                          { "vault://files/{name}", give, MCP_READS, 0 },
                                          { 0 } };
static const mcp_prompt prompts[] = { { "count", NULL, MCP_READS, 0 }, { 0 } };
static const mcp_completion completions[] = { { "count", "what", suggest },
                                              { "vault://files/{name}", "name", suggest },
                                              { 0 } };
static const mcp_features features = {
    .files = files, .resources = resources, .prompts = prompts, .completions = completions
};

static const mcp_principal ann = { "ann", "read vault", 0 };
static const mcp_principal eve = { "eve", "read vaults", 0 };

static conversation c;

static void begin(bool hides, const mcp_principal *who)
{
    mcp_server_options options = { .name = "n", .version = "1", .hide_by_scope = hides };

    conversation_open(&c, &options, &features);
    conversation_initialize(&c, "2025-06-18");
    c.peer.peer.principal = who;
}

/* What comes must have the words, or, where they begin with "!", must not. */
static void expect(const char *method, const char *params, const char *words)
{
    char text[400];

    (void)snprintf(text, sizeof(text),
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}", method,
                   params);
    mcp__peer_memory_reset(&c.peer);
    conversation_say(&c, text);
    assert_int_equal(c.peer.answers, 1);
    bool is_wanted = words[0] != '!';
    if ((strstr(c.peer.text.data, is_wanted ? words : words + 1) != NULL) != is_wanted)
        fail_msg("%s %s: %s", method, params, c.peer.text.data);
}

#define GOLD "{\"uri\":\"vault://1\"}"
#define PLAN "{\"uri\":\"vault://files/plan\"}"
#define GIVEN "\"text\":\"given\""
#define COUNT "{\"name\":\"count\",\"arguments\":{\"what\":\"coins\"}}"
#define OF_FILES                                                                                   \
    "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"vault://files/{name}\"},"                       \
    "\"argument\":{\"name\":\"name\",\"value\":\"\"}}"
#define OF_COUNT                                                                                   \
    "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"count\"},"                                       \
    "\"argument\":{\"name\":\"what\",\"value\":\"\"}}"
#define TOO_LITTLE "\"code\":-32600,\"message\":\"insufficient scope: vault\""

static void expect_all_given(void)
{
    expect("resources/read", GOLD, GIVEN);
    expect("resources/read", PLAN, GIVEN);
    expect("prompts/get", COUNT, "coins");
    expect("completion/complete", OF_FILES, "\"values\":[\"secret\"]");
    expect("completion/complete", OF_COUNT, "\"values\":[\"secret\"]");
}

static void who_has_them_is_served(void **state)
{
    (void)state;
    for (int hides = 0; hides <= 1; hides++) {
        begin(hides, &ann);
        expect_all_given();
        expect("resources/list", "{}", "vault://1");
        expect("resources/templates/list", "{}", "vault://files/{name}");
        conversation_close(&c);
        begin(hides, NULL);
        expect_all_given();
        conversation_close(&c);
    }
}

static void a_client_without_scopes_is_notified_which(void **state)
{
    (void)state;
    begin(false, &eve);
    expect("resources/read", "{\"uri\":\"open://1\"}", GIVEN);
    expect("resources/read", GOLD, TOO_LITTLE);
    expect("resources/read", PLAN, TOO_LITTLE);
    expect("prompts/get", COUNT, TOO_LITTLE);
    expect("completion/complete", OF_FILES, TOO_LITTLE);
    expect("completion/complete", OF_COUNT, TOO_LITTLE);
    expect("resources/list", "{}", "vault://1");
    expect("resources/templates/list", "{}", "vault://files/{name}");
    conversation_close(&c);
}

static void hidden_entries_do_not_exist(void **state)
{
    (void)state;
    begin(true, &eve);
    expect("resources/list", "{}", "open://1");
    expect("resources/list", "{}", "!vault");
    expect("resources/templates/list", "{}", "!vault");
    expect("prompts/list", "{}", "!count");
    expect("resources/read", GOLD, "\"code\":-32002");
    expect("resources/read", "{\"uri\":\"vault://2\"}", "\"code\":-32002");
    expect("resources/read", PLAN, "\"code\":-32002");
    expect("prompts/get", COUNT, "\"code\":-32602");
    expect("completion/complete", OF_FILES,
           "there is no resource vault://files/{name} to complete");
    expect("completion/complete", OF_COUNT, "there is no prompt count to complete");
    expect("completion/complete", OF_COUNT, "!secret");
    conversation_close(&c);
}

static mcp_status add(const char *json, mcp_error *err)
{
    const mcp_file own_files[] = { { "resources.json", json, strlen(json) }, { 0 } };
    const mcp_resource own[] = { { "x://1", give, MCP_READS, 0 }, { 0 } };
    const mcp_features set = { .files = own_files, .resources = own };
    mcp_server_options options = { .name = "n", .version = "1" };
    mcp_server *server = NULL;

    assert_int_equal(mcp_server_new(&server, &options, NULL), MCP_OK);
    mcp_status st = mcp_server_add(server, &set, err);
    mcp_server_free(server);
    return st;
}

#define ENTRY(scopes)                                                                              \
    "{\"resources\":[{\"uri\":\"x://1\",\"name\":\"x\"," SCOPES(                                   \
        scopes) "}],\"resourceTemplates\":[]}"

/* RFC 6749, 3.3: words of printable ASCII without quote and backslash, between single blanks. */
static void what_is_no_scope_is_refused_at_the_start(void **state)
{
    static const char *const wrong[] = { ENTRY("[\"vault\"]"), ENTRY("\"\""),
                                         ENTRY("\" vault\""),  ENTRY("\"a  b\""),
                                         ENTRY("\"a\\\"b\""),  ENTRY("7") };
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(add(ENTRY("\"vault read:all\""), &err), MCP_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        err = (mcp_error)MCP_ERROR_INIT;
        assert_int_equal(add(wrong[i], &err), MCP_E_PARAMS);
        if (!strstr(err.message, "x://1") || !strstr(err.message, "causeway/scopes"))
            fail_msg("%s", err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_them_is_served),
        cmocka_unit_test(a_client_without_scopes_is_notified_which),
        cmocka_unit_test(hidden_entries_do_not_exist),
        cmocka_unit_test(what_is_no_scope_is_refused_at_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
