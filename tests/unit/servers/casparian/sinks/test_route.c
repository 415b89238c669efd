/*
 * test_route.c - the sink that outputs are routed to, and its mode.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sinks/route.h"

static const char *find(const casparian_route *routes, size_t count, const char *output)
{
    const casparian_route *found = NULL;

    assert_int_equal(casparian_route_find(&found, routes, count, output, NULL), MCP_OK);
    return found->uri;
}

static void an_output_has_the_route_of_its_name_else_the_common_one(void **state)
{
    static const casparian_route routes[] = { { "orders", "a", NULL }, { "*", "b", NULL } };
    static const casparian_route output[] = { { "orders", "a", NULL }, { "output", "c", NULL } };

    (void)state;
    assert_string_equal(find(routes, 2, "orders"), "a");
    assert_string_equal(find(routes, 2, "trades"), "b");
    assert_string_equal(find(routes, 2, "*"), "b");
    assert_string_equal(find(output, 2, "trades"), "c");
    assert_string_equal(find(output, 2, "*"), "c");
    /* The only one is for all. */
    assert_string_equal(find(routes, 1, "trades"), "a");
}

static void what_has_no_sink_is_named(void **state)
{
    static const casparian_route routes[] = { { "orders", "a", NULL }, { "trades", "b", NULL } };
    const casparian_route *found = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(casparian_route_find(&found, routes, 2, "quotes", &err), MCP_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "'quotes'"));
    assert_null(found);
}

static void a_mode_is_one_that_the_sink_has(void **state)
{
    static const struct {
        casparian_route route;
        const char *normal; /* NULL: it is refused */
    } rows[] = {
        { { "x", "duckdb://x.db", "replace" }, "duckdb:///here/x.db?mode=replace" },
        { { "x", "duckdb://x.db?table=t", "error" }, "duckdb:///here/x.db?table=t&mode=error" },
        { { "x", "duckdb://x.db?mode=error", "error" }, "duckdb:///here/x.db?mode=error" },
        { { "x", "duckdb://x.db?mode=error", "replace" }, NULL },
        { { "x", "parquet://out", "append" }, "parquet:///here/out" },
        { { "x", "parquet://out", "replace" }, NULL },
        { { "x", "csv://out", "error" }, NULL },
        { { "x", "ftp://out", NULL }, NULL },
    };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        casparian_sink_uri uri = { .text = NULL };
        mcp_status st = casparian_route_sink(&uri, arena, &rows[i].route, "/here", NULL);
        assert_int_equal(st, rows[i].normal ? MCP_OK : MCP_E_PARAMS);
        if (rows[i].normal)
            assert_string_equal(uri.text, rows[i].normal);
    }
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_has_the_route_of_its_name_else_the_common_one),
        cmocka_unit_test(what_has_no_sink_is_named),
        cmocka_unit_test(a_mode_is_one_that_the_sink_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
