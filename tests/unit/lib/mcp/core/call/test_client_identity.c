/*
 * test_client_identity.c - who the server is, as each revision's Implementation has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/buf.h"
#include "mcp/core/call/client.h"

static bool with_icons;

static void expect(const mcp_server_options *options, mcp_revision revision, const char *wanted)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 1000);
    mcp_json_writer_init(&writer, &text);
    mcp__client_write_identity(&writer, options, revision, with_icons);
    mcp_buf_putc(&text, '\0');
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_string_equal(text.data, wanted);
    mcp_buf_clear(&text);
}

/* SCHEMA 2024-11-05 and 2025-03-26: name, version; 2025-06-18: and title; 2025-11-25: and the
 * rest. */
static void each_revision_has_its_members(void **state)
{
    const mcp_server_options options = { .name = "n",
                                         .version = "2",
                                         .title = "T",
                                         .description = "D",
                                         .website_url = "https://w.example" };

    (void)state;
    expect(&options, MCP_2024_11_05, "{\"name\":\"n\",\"version\":\"2\"}");
    expect(&options, MCP_2025_03_26, "{\"name\":\"n\",\"version\":\"2\"}");
    expect(&options, MCP_2025_06_18, "{\"name\":\"n\",\"version\":\"2\",\"title\":\"T\"}");
    expect(&options, MCP_2025_11_25,
           "{\"name\":\"n\",\"version\":\"2\",\"title\":\"T\",\"description\":\"D\","
           "\"websiteUrl\":\"https://w.example\"}");
    expect(&options, MCP_2026_07_28,
           "{\"name\":\"n\",\"version\":\"2\",\"title\":\"T\",\"description\":\"D\","
           "\"websiteUrl\":\"https://w.example\"}");
}

static void what_was_not_given_is_not_told(void **state)
{
    const mcp_server_options options = { .name = "n", .version = "2" };

    (void)state;
    expect(&options, MCP_2026_07_28, "{\"name\":\"n\",\"version\":\"2\"}");
}

static void icons_are_written_where_asked_for(void **state)
{
    const mcp_server_options options = { .name = "n",
                                         .version = "2",
                                         .icons = "[{\"src\":\"data:,\"}]" };

    (void)state;
    expect(&options, MCP_2025_11_25, "{\"name\":\"n\",\"version\":\"2\"}");
    with_icons = true;
    expect(&options, MCP_2025_06_18, "{\"name\":\"n\",\"version\":\"2\"}");
    expect(&options, MCP_2025_11_25,
           "{\"name\":\"n\",\"version\":\"2\",\"icons\":[{\"src\":\"data:,\"}]}");
    expect(&options, MCP_2026_07_28,
           "{\"name\":\"n\",\"version\":\"2\",\"icons\":[{\"src\":\"data:,\"}]}");
    with_icons = false;
}

static void texts_are_escaped(void **state)
{
    const mcp_server_options options = { .name = "a\"b", .version = "\n" };

    (void)state;
    expect(&options, MCP_2025_06_18, "{\"name\":\"a\\\"b\",\"version\":\"\\n\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_revision_has_its_members),
        cmocka_unit_test(what_was_not_given_is_not_told),
        cmocka_unit_test(icons_are_written_where_asked_for),
        cmocka_unit_test(texts_are_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
