/*
 * test_infer.c - schemas that are inferred: the join of types, null columns, and that rows which a
 * schema was inferred from have no violation under it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "check/infer.h"
#include "rows.h"

static mcp_arena *arena;

static const mcp_json *json_of(const char *text)
{
    const mcp_json *json = NULL;
    char *copy = mcp_arena_strdup(arena, text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    assert_int_equal(mcp_json_read(&json, arena, copy, strlen(copy), NULL), MCP_OK);
    return json;
}

static void infer_from(casparian_definition *out, const char *rows, casparian_batch *batch)
{
    casparian_infer *infer = NULL;
    mcp_error err = MCP_ERROR_INIT;
    *batch = batch_of(json_of(rows), arena);
    assert_int_equal(casparian_infer_new(&infer, &err), MCP_OK);
    assert_int_equal(casparian_infer_add(infer, batch, &err), MCP_OK);
    assert_int_equal(casparian_infer_rows(infer), batch->rows);
    if (casparian_infer_definition(out, infer, "o", arena, &err) != MCP_OK)
        fail_msg("%s: %s", rows, err.message);
    casparian_infer_free(infer);
}

static void assert_no_violations(const casparian_definition *definition,
                                 const casparian_batch *batch)
{
    casparian_redaction redaction;
    casparian_check *check = NULL;
    casparian_checked checked;
    mcp_error err = MCP_ERROR_INIT;
    casparian_redaction_read(&redaction, &casparian_redaction_defaults, NULL, NULL);
    const casparian_check_options options = {
        .output = "o", .definition = definition, .redaction = &redaction, .is_inferred = true
    };
    assert_int_equal(casparian_check_new(&check, &options, &err), MCP_OK);
    assert_int_equal(casparian_check_begin(check, "f", &err), MCP_OK);
    assert_int_equal(casparian_check_batch(check, &checked, batch, arena, &err), MCP_OK);
    assert_int_equal(checked.invalid.rows, 0);
    casparian_check_free(check);
}

static void types_are_joined(void **state)
{
    static const struct {
        const char *rows, *column;
    } cases[] = {
        { "[{'x':null},{'x':true}]", "{'name':'x','nullable':true,'type':'boolean'}" },
        { "[{'x':null},{'x':null}]", "{'name':'x','nullable':true,'type':'string'}" },
        { "[{'x':1},{'x':-20}]", "{'name':'x','nullable':false,'type':'int64'}" },
        { "[{'x':1234},{'x':{'decimal':'0.25'}}]",
          "{'name':'x','nullable':false,'type':{'kind':'decimal','precision':6,'scale':2}}" },
        { "[{'x':1},{'x':2.5}]", "{'name':'x','nullable':false,'type':'float64'}" },
        { "[{'x':{'date':1}},{'x':{'timestamp':5}}]",
          "{'name':'x','nullable':false,'type':'timestamp'}" },
        { "[{'x':'12'},{'x':'13'}]", "{'name':'x','nullable':false,'type':'string'}" },
        { "[{'x':12},{'x':'13'},{'x':{'date':1}}]",
          "{'name':'x','nullable':false,'type':'string'}" },
        { "[{'x':true},{'x':1}]", "{'name':'x','nullable':false,'type':'string'}" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        casparian_definition definition;
        casparian_batch batch;
        const mcp_json *canonical = NULL;
        mcp_buf text;
        arena = mcp_arena_new(0);
        infer_from(&definition, cases[i].rows, &batch);
        mcp_buf_init(&text, 1 << 16);
        assert_int_equal(casparian_definition_canonical(&text, &definition), MCP_OK);
        assert_int_equal(mcp_json_read(&canonical, arena, text.data, text.length, NULL), MCP_OK);
        if (!mcp_json_equal(mcp_json_pointer(canonical, "/columns/0"), json_of(cases[i].column)))
            fail_msg("%s: %s", cases[i].rows, text.data);
        assert_no_violations(&definition, &batch);
        mcp_buf_clear(&text);
        mcp_arena_free(arena);
    }
}

static void what_the_parser_says_is_no_column(void **state)
{
    casparian_definition definition;
    casparian_batch batch;
    (void)state;
    arena = mcp_arena_new(0);
    infer_from(&definition, "[{'b':1,'_cf_row_error':null,'a':2},{'b':3,'a':null}]", &batch);
    assert_int_equal(definition.count, 2);
    assert_string_equal(definition.columns[0].name, "b");
    assert_false(definition.columns[0].is_nullable);
    assert_true(definition.columns[1].is_nullable);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_joined),
        cmocka_unit_test(what_the_parser_says_is_no_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
