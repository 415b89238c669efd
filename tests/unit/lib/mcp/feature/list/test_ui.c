/*
 * test_ui.c - entries that name a page, and the same without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "feature_call.h"
#include "mcp/feature/list/ui.h"
#include <cmocka.h>

static void entries_lose_their_page_and_nothing_else(void **state)
{
    static const struct {
        const char *with, *without; /* NULL: it names none */
    } rows[] = {
        { "{\"name\":\"a\"}", NULL },
        { "{\"name\":\"a\",\"_meta\":{\"x\":1}}", NULL },
        { "{\"name\":\"a\",\"ui\":{}}", NULL },
        { "{\"name\":\"a\",\"_meta\":{\"ui\":{\"resourceUri\":\"ui://a\"}}}",
          "{\"name\":\"a\",\"_meta\":{}}" },
        { "{\"_meta\":{\"x\":1,\"ui/resourceUri\":\"ui://a\"},\"name\":\"a\"}",
          "{\"name\":\"a\",\"_meta\":{\"x\":1}}" },
    };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const mcp_json *entry = NULL;
        const mcp_json *written = NULL;
        mcp_json_writer writer;
        mcp_buf text;
        assert_int_equal(mcp_json_read(&entry, arena, rows[i].with, strlen(rows[i].with), NULL),
                         MCP_OK);
        assert_int_equal(mcp__ui_is_in(entry), rows[i].without != NULL);
        mcp_buf_init(&text, 4096);
        mcp_json_writer_init(&writer, &text);
        mcp__ui_write_without(&writer, entry);
        assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
        assert_int_equal(mcp_json_read(&written, arena, text.data, text.length, NULL), MCP_OK);
        assert_json(written, rows[i].without ? rows[i].without : rows[i].with, arena);
        mcp_buf_clear(&text);
    }
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        entries_lose_their_page_and_nothing_else) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
