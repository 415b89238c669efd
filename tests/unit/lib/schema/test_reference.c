/*
 * test_reference.c - where references lead, and which lead nowhere. Expectations: Core 8.2, 9.
 */
#include "fixture.h"

static void references_that_lead_nowhere(void **state)
{
    (void)state;
    rejects("{\"$ref\":\"#/$defs/a\"}", "/$ref: #/$defs/a leads nowhere");
    rejects("{\"$ref\":\"#a\"}", "#a leads nowhere");
    rejects("{\"$ref\":\"http://example.com/x\"}", "leads nowhere (nothing is fetched)");
    rejects("{\"$ref\":\"#/$defs\",\"$defs\":[]}", "must be an object of schemas");
    rejects("{\"$dynamicRef\":\"#a\",\"$defs\":{\"a\":{}}}", "/$dynamicRef: #a leads nowhere");
    rejects("{\"items\":{\"$ref\":\"#%00\"}}", "/items/$ref: #%00 is no URI reference");
    rejects("{\"$ref\":\"#/x~2\",\"x~2\":{}}", "leads nowhere");
    rejects("{\"$ref\":\"#/const\",\"const\":7}", "/const: a schema is an object or a boolean");
    rejects("{\"$ref\":\"a\\u0000b\"}", "must be a URI reference");
    rejects("{\"properties\":{\"a\":{\"$ref\":\"https://json-schema.org/draft/2020-12/nope\"}}}",
            "/properties/a/$ref");
}

static void pointers_lead_through_anything(void **state)
{
    (void)state;
    misfits("{\"$ref\":\"#/x/0/y%25/a~1b\",\"x\":[{\"y%\":{\"a/b\":{\"type\":\"null\"}}}]}", "1");
    misfits(
        "{\"$defs\":{\"\":{\"$defs\":{\"\":{\"type\":\"number\"}}}},\"$ref\":\"#/$defs//$defs/\"}",
        "\"a\"");
    misfits("{\"$ref\":\"#/a/b\",\"a\":{\"b\":{\"$ref\":\"#/a/c\"},\"c\":{\"minimum\":3}}}", "2");
    misfits("{\"$ref\":\"#/definitions/a\",\"definitions\":{\"a\":{\"type\":\"null\"}}}", "1");
    /* what an unknown keyword holds has the base of the schema around it */
    misfits("{\"$id\":\"http://x/a/\",\"$ref\":\"#/$defs/b/extra\",\"$defs\":{"
            "\"b\":{\"$id\":\"b/\",\"extra\":{\"$ref\":\"c\"}},"
            "\"c\":{\"$id\":\"b/c\",\"type\":\"null\"}}}",
            "1");
}

static void windows_and_unix_files(void **state)
{
    (void)state;
    misfits("{\"$id\":\"file:///folder/file.json\",\"$defs\":{\"foo\":{\"type\":\"number\"}},"
            "\"$ref\":\"#/$defs/foo\"}",
            "\"a\"");
    misfits("{\"$id\":\"file:///c:/folder/file.json\",\"$defs\":{\"foo\":{\"type\":\"number\"}},"
            "\"$ref\":\"file.json#/$defs/foo\"}",
            "\"a\"");
}

/*
 * ---- documents
 * --------------------------------------------------------------------------------
 */

typedef struct shelf {
    mcp_arena *arena;
    mcp_schema_document documents[4];
    mcp_schema_options options;
} shelf;

static void put(shelf *all, const char *uri, const char *text)
{
    size_t at = all->options.document_count++;

    if (!all->arena)
        all->arena = mcp_arena_new(0);
    all->documents[at] = (mcp_schema_document){ uri, read_json(all->arena, text) };
    all->options.documents = all->documents;
}

static void documents_are_found_by_uri_and_by_id(void **state)
{
    shelf all = { 0 };

    (void)state;
    put(&all, "http://x/one.json",
        "{\"$id\":\"http://y/two.json\",\"$defs\":{\"a\":{\"$id\":\"three.json\","
        "\"$anchor\":\"here\",\"type\":\"null\"}}}");
    static const char *const ways[] = {
        "http://x/one.json#/$defs/a", "http://y/two.json#/$defs/a", "http://y/three.json",
        "http://y/three.json#here",   "http://y/three.json#",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char schema[100];
        snprintf(schema, sizeof schema, "{\"$ref\":\"%s\"}", ways[i]);
        assert_int_equal(verdict(schema, "1", &all.options), MCP_E_SCHEMA);
        assert_int_equal(verdict(schema, "null", &all.options), MCP_OK);
    }
    mcp_arena_free(all.arena);
}

static void documents_refer_to_each_other(void **state)
{
    shelf all = { 0 };

    (void)state;
    put(&all, "http://x/tree", "{\"properties\":{\"left\":{\"$ref\":\"leaf\"}}}");
    put(&all, "http://x/leaf",
        "{\"anyOf\":[{\"type\":\"integer\"},{\"$ref\":\"tree\","
        "\"type\":\"object\"}]}");
    const char *schema = "{\"$ref\":\"http://x/tree\"}";
    assert_int_equal(verdict(schema, "{\"left\":{\"left\":{\"left\":1}}}", &all.options), MCP_OK);
    assert_int_equal(verdict(schema, "{\"left\":{\"left\":{\"left\":\"1\"}}}", &all.options),
                     MCP_E_SCHEMA);
    mcp_arena_free(all.arena);
}

static void faults_of_a_document_name_it(void **state)
{
    shelf all = { 0 };

    (void)state;
    put(&all, "http://x/bad", "{\"$defs\":{\"a\":{\"type\":\"nil\"}}}");
    rejects_with("{\"$ref\":\"http://x/bad\"}", MCP_E_SCHEMA, "http://x/bad#/$defs/a/type",
                 &all.options);
    fits("true", "1"); /* nobody asks for it */
    mcp_arena_free(all.arena);
}

static void base_uri_of_a_schema_without_id(void **state)
{
    shelf all = { 0 };

    (void)state;
    put(&all, "http://x/y/z", "{\"type\":\"null\"}");
    rejects_with("{\"$ref\":\"z\"}", MCP_E_SCHEMA, "leads nowhere", &all.options);
    all.options.base_uri = "http://x/y/main";
    assert_int_equal(verdict("{\"$ref\":\"z\"}", "1", &all.options), MCP_E_SCHEMA);
    assert_int_equal(
        verdict("{\"$ref\":\"main#/$defs/a\",\"$defs\":{\"a\":false}}", "1", &all.options),
        MCP_E_SCHEMA);
    mcp_arena_free(all.arena);
}

/* A shelf may hold other drafts, as long as nobody asks for them. */
static void documents_of_other_drafts_do_not_disturb(void **state)
{
    shelf all = { 0 };

    (void)state;
    put(&all, "http://x/old",
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":[{}]}");
    put(&all, "http://x/new", "{\"$id\":\"http://y/new\",\"type\":\"null\"}");
    assert_int_equal(verdict("{\"$ref\":\"http://y/new\"}", "1", &all.options), MCP_E_SCHEMA);
    rejects_with("{\"$ref\":\"http://x/old\"}", MCP_E_SCHEMA, "draft-07/schema is not known",
                 &all.options);
    mcp_arena_free(all.arena);
}

static void the_same_value_under_two_uris(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *shared = read_json(arena, "{\"$defs\":{\"a\":{\"type\":\"null\"}}}");
    mcp_schema_document documents[] = { { "http://x/1", shared }, { "http://x/2", shared } };
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;

    (void)state;
    options.documents = documents;
    options.document_count = 2;
    const char
        *schema = "{\"allOf\":[{\"$ref\":\"http://x/1\"},{\"$ref\":\"http://x/2#/$defs/a\"}]}";
    assert_int_equal(verdict(schema, "null", &options), MCP_OK);
    assert_int_equal(verdict(schema, "1", &options), MCP_E_SCHEMA);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_that_lead_nowhere),
        cmocka_unit_test(pointers_lead_through_anything),
        cmocka_unit_test(windows_and_unix_files),
        cmocka_unit_test(documents_are_found_by_uri_and_by_id),
        cmocka_unit_test(documents_refer_to_each_other),
        cmocka_unit_test(faults_of_a_document_name_it),
        cmocka_unit_test(base_uri_of_a_schema_without_id),
        cmocka_unit_test(documents_of_other_drafts_do_not_disturb),
        cmocka_unit_test(the_same_value_under_two_uris),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
