/*
 * test_reference.c - where references lead, and which lead nowhere (Core 8.2, 9); and what they do
 * with URIs, by the examples of RFC 3986, section 5.4.
 */
#include "fixture.h"

#include "schema/compile.h"

/* ---- references ------------------------------------------------------------------------------ */

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

/* ---- URIs ------------------------------------------------------------------------------------ */

static void resolves(const char *base, const char *reference, const char *should)
{
    mcp_arena *arena = mcp_arena_new(0);
    const char *is = mcp__uri_resolve(arena, base, reference);

    if (strcmp(is, should) != 0)
        fail_msg("%s against %s: %s instead of %s", reference, base, is, should);
    mcp_arena_free(arena);
}

static void normal_examples_of_the_rfc(void **state)
{
    static const char *const examples[][2] = {
        { "g:h", "g:h" },
        { "g", "http://a/b/c/g" },
        { "./g", "http://a/b/c/g" },
        { "g/", "http://a/b/c/g/" },
        { "/g", "http://a/g" },
        { "//g", "http://g" },
        { "?y", "http://a/b/c/d;p?y" },
        { "g?y", "http://a/b/c/g?y" },
        { "#s", "http://a/b/c/d;p?q#s" },
        { "g#s", "http://a/b/c/g#s" },
        { "g?y#s", "http://a/b/c/g?y#s" },
        { ";x", "http://a/b/c/;x" },
        { "g;x?y#s", "http://a/b/c/g;x?y#s" },
        { "", "http://a/b/c/d;p?q" },
        { ".", "http://a/b/c/" },
        { "./", "http://a/b/c/" },
        { "..", "http://a/b/" },
        { "../", "http://a/b/" },
        { "../g", "http://a/b/g" },
        { "../..", "http://a/" },
        { "../../", "http://a/" },
        { "../../g", "http://a/g" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        resolves("http://a/b/c/d;p?q", examples[i][0], examples[i][1]);
}

static void abnormal_examples_of_the_rfc(void **state)
{
    static const char *const examples[][2] = {
        { "../../../g", "http://a/g" },
        { "../../../../g", "http://a/g" },
        { "/./g", "http://a/g" },
        { "/../g", "http://a/g" },
        { "g.", "http://a/b/c/g." },
        { ".g", "http://a/b/c/.g" },
        { "g..", "http://a/b/c/g.." },
        { "..g", "http://a/b/c/..g" },
        { "./../g", "http://a/b/g" },
        { "./g/.", "http://a/b/c/g/" },
        { "g/./h", "http://a/b/c/g/h" },
        { "g/../h", "http://a/b/c/h" },
        { "g;x=1/./y", "http://a/b/c/g;x=1/y" },
        { "g;x=1/../y", "http://a/b/c/y" },
        { "g?y/./x", "http://a/b/c/g?y/./x" },
        { "g#s/../x", "http://a/b/c/g#s/../x" },
        { "http:g", "http:g" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        resolves("http://a/b/c/d;p?q", examples[i][0], examples[i][1]);
}

static void bases_without_scheme_or_hierarchy(void **state)
{
    (void)state;
    resolves("", "#/a", "#/a");
    resolves("", "int.json", "int.json");
    resolves("", "./int.json", "int.json");
    resolves("", "../../int.json", "int.json");
    resolves("/a/b.json", "c.json", "/a/c.json");
    resolves("http://a", "b", "http://a/b");
    resolves("urn:uuid:deadbeef", "#/$defs/a", "urn:uuid:deadbeef#/$defs/a");
    resolves("urn:example:a?+b=c", "#x", "urn:example:a?+b=c#x");
    resolves("file:///c:/folder/file.json", "other.json", "file:///c:/folder/other.json");
}

static void splits(const char *uri, const char *base, const char *fragment)
{
    char copy[100];

    memset(copy, 0, sizeof copy);
    memcpy(copy, uri, strlen(uri));
    const char *is = mcp__uri_split(copy);
    if (!fragment) {
        assert_null(is);
        return;
    }
    assert_string_equal(copy, base);
    assert_string_equal(is, fragment);
}

static void fragments_are_decoded(void **state)
{
    (void)state;
    splits("http://a/b", "http://a/b", "");
    splits("http://a/b#", "http://a/b", "");
    splits("http://a/b#/x%25y/%22", "http://a/b", "/x%y/\"");
    splits("#%c3%A9", "", "\xc3\xa9");
    splits("#%2", NULL, NULL);
    splits("#%zz", NULL, NULL);
    splits("#a%00b", NULL, NULL);
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
        cmocka_unit_test(normal_examples_of_the_rfc),
        cmocka_unit_test(abnormal_examples_of_the_rfc),
        cmocka_unit_test(bases_without_scheme_or_hierarchy),
        cmocka_unit_test(fragments_are_decoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
