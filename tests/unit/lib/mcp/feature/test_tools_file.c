/*
 * test_tools_file.c - the members of a tool's file that are sent as they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/server.h"

static mcp_status nothing(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_text(call, "");
}

static void check_load(const char *text, size_t length, const mcp_tool *row, const char *words)
{
    const mcp_file files[] = { { "tools/x.json", text, length }, { 0 } };
    mcp_server_options options = { .name = "n", .version = "1" };
    mcp_features features = { .files = files, .tools = row };
    mcp_error err = MCP_ERROR_INIT;
    mcp_server *server = NULL;

    assert_int_equal(mcp_server_new(&server, &options, NULL), MCP_OK);
    assert_int_equal(mcp_server_add(server, &features, &err), MCP_E_PARAMS);
    if (!strstr(err.message, words))
        fail_msg("expected \"%s\" in \"%s\"", words, err.message);
    mcp_server_free(server);
}

/* tools/list sends these members as they are, and clients refuse a list with an entry that is not
 * as the protocol defines it. */
static void members_of_a_file_have_the_types_of_the_protocol(void **state)
{
    static const char *const wrong[][2] = {
        { "\"title\":5", "tools/x.json: 'title' is of type integer, not string" },
        { "\"description\":{}", "'description' is of type object, not string" },
        { "\"annotations\":[]", "'annotations' is of type array, not object" },
        { "\"annotations\":{\"readOnlyHint\":\"yes\"}",
          "annotations: 'readOnlyHint' is of type string, not boolean" },
        { "\"annotations\":{\"title\":1}", "annotations: 'title' is of type integer" },
        { "\"icons\":{}", "'icons' is of type object, not array" },
        { "\"execution\":1", "'execution' is of type integer, not object" },
        { "\"_meta\":[]", "'_meta' is of type array, not object" },
        { "\"title\":\"a\",\"title\":\"b\"", "duplicate member 'title'" },
    };
    static const mcp_tool row[] = { { "x", nothing, MCP_READS, 0, 0 }, { 0 } };
    static const mcp_tool empty_row[] = { { "", nothing, MCP_READS, 0, 0 }, { 0 } };
    static const char empty_json[] = "{\"name\":\"\",\"inputSchema\":{\"type\":\"object\"}}";

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[200];
        int length = snprintf(text, sizeof text,
                              "{\"name\":\"x\",%s,\"inputSchema\":{\"type\":\"object\"}}",
                              wrong[i][0]);
        check_load(text, (size_t)length, row, wrong[i][1]);
    }
    check_load(empty_json, sizeof empty_json - 1, empty_row, "'name' is empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_a_file_have_the_types_of_the_protocol),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
