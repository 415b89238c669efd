/*
 * test_compile.c - compiling as a whole: limits, memory, and what a failure leaves behind.
 */
#include "fixture.h"

#include "oom.h"

static void booleans_are_schemas(void **state)
{
    (void)state;
    fits("true", "1");
    fits("{}", "[1,null]");
    misfits("false", "1");
}

static void subschemas_are_counted(void **state)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;

    (void)state;
    options.subschemas_max = 4;
    assert_int_equal(verdict("{\"allOf\":[{},{}]}", "1", &options), MCP_OK);
    assert_int_equal(verdict("{\"allOf\":[{},{},{}]}", "1", &options), MCP_OK);
    rejects_with("{\"allOf\":[{},{},{},{}]}", MCP_E_LIMIT, "too many subschemas", &options);
}

/* The draft's own meta-schemas count as well when they are referred to. */
static void referenced_documents_are_counted(void **state)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;

    (void)state;
    options.subschemas_max = 20;
    rejects_with("{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}", MCP_E_LIMIT,
                 "too many subschemas", &options);
}

/* 60 levels of `not`, each of which turns the answer: an even number of them changes nothing. */
static void deepest_schema(void **state)
{
    char text[1000] = "";
    size_t length = 0;

    (void)state;
    for (int i = 0; i < 60; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "{\"not\":");
    length += (size_t)snprintf(text + length, sizeof text - length, "{\"type\":\"null\"}");
    memset(text + length, '}', 60);
    fits(text, "null");
    misfits(text, "1");
}

static void out_params_change_only_on_success(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_schema *schema = (mcp_schema *)arena;

    (void)state;
    assert_int_equal(mcp_schema_compile(&schema, read_json(arena, "{\"type\":1}"), NULL, NULL),
                     MCP_E_SCHEMA);
    assert_ptr_equal(schema, arena);
    mcp_schema_free(NULL);
    mcp_arena_free(arena);
}

static void no_schema_at_all(void **state)
{
    mcp_schema *schema = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(mcp_schema_compile(&schema, NULL, NULL, &err), MCP_E_SCHEMA);
    assert_null(schema);
}

static mcp_status compile_once(void *json)
{
    mcp_schema *schema = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp_schema_compile(&schema, json, NULL, &err);

    assert_int_equal(st, err.status);
    assert_int_equal(st == MCP_OK, schema != NULL);
    mcp_schema_free(schema);
    return st;
}

static void memory_runs_out_at_every_point(void **state)
{
    static const char text[] =
        "{\"$id\":\"http://x/y\",\"$anchor\":\"a\",\"properties\":{\"a\":{\"pattern\":\"^a+$\"},"
        "\"b\":{\"enum\":[1,\"x\"]}},\"patternProperties\":{\"^x\":{\"$ref\":\"#a\"}},"
        "\"items\":{\"$dynamicRef\":\"#b\"},\"$defs\":{\"b\":{\"$dynamicAnchor\":\"b\","
        "\"anyOf\":[true,{\"required\":[\"a\"]}]}}}";
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    oom_walk(compile_once, (void *)(uintptr_t)read_json(arena, text));
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(booleans_are_schemas),
        cmocka_unit_test(subschemas_are_counted),
        cmocka_unit_test(referenced_documents_are_counted),
        cmocka_unit_test(deepest_schema),
        cmocka_unit_test(out_params_change_only_on_success),
        cmocka_unit_test(no_schema_at_all),
        cmocka_unit_test(memory_runs_out_at_every_point),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
