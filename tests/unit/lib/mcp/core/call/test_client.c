/*
 * test_client.c - what a client declares, read and written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "feature_call.h"
#include "mcp/core/call/client.h"
#include <cmocka.h>

static unsigned read_text(const char *text, mcp_arena *arena)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, text, strlen(text), NULL), MCP_OK);
    return mcp__client_read(value);
}

static void what_is_declared_is_read(void **state)
{
    static const struct {
        const char *text;
        unsigned bits;
    } rows[] = {
        { "{}", 0 },
        { "[]", 0 },
        { "{\"roots\":{\"listChanged\":true}}", MCP_CLIENT_ROOTS },
        { "{\"sampling\":{}}", MCP_CLIENT_SAMPLING },
        { "{\"sampling\":{\"tools\":{}}}", MCP_CLIENT_SAMPLING | MCP_CLIENT_SAMPLING_TOOLS },
        { "{\"sampling\":true}", 0 },
        { "{\"elicitation\":{}}", MCP_CLIENT_ELICITATION },
        { "{\"elicitation\":{\"form\":{}}}", MCP_CLIENT_ELICITATION },
        { "{\"elicitation\":{\"url\":{}}}", MCP_CLIENT_ELICITATION_URL },
        { "{\"elicitation\":{\"form\":{},\"url\":{}}}",
          MCP_CLIENT_ELICITATION | MCP_CLIENT_ELICITATION_URL },
        { "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}", MCP_CLIENT_TASKS },
        { "{\"extensions\":{\"io.modelcontextprotocol/ui\":{\"mimeTypes\":[\"text/html\"]}}}",
          MCP_CLIENT_UI },
        { "{\"experimental\":{\"x\":{}},\"Sampling\":{}}", 0 },
    };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(read_text(rows[i].text, arena), rows[i].bits);
    assert_int_equal(mcp__client_read(NULL), 0);
    mcp_arena_free(arena);
}

static void what_is_missing_is_written(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *value = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    (void)state;
    mcp_buf_init(&text, 4096);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp__client_write(&writer, MCP_CLIENT_ROOTS | MCP_CLIENT_SAMPLING | MCP_CLIENT_SAMPLING_TOOLS |
                                   MCP_CLIENT_ELICITATION | MCP_CLIENT_TASKS | MCP_CLIENT_UI);
    mcp_write_end(&writer);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_int_equal(mcp_json_read(&value, arena, text.data, text.length, NULL), MCP_OK);
    assert_json(value,
                "{\"roots\":{},\"sampling\":{\"tools\":{}},\"elicitation\":{},\"extensions\":"
                "{\"io.modelcontextprotocol/tasks\":{},\"io.modelcontextprotocol/ui\":{}}}",
                arena);
    mcp_buf_clear(&text);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_declared_is_read),
        cmocka_unit_test(what_is_missing_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
