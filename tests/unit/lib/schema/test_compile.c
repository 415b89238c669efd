/*
 * test_compile.c - compiling: limits, memory and what a failure leaves behind; `$schema` and
 * `$vocabulary` (Core 8.1); identifiers and anchors (Core 8.2); the embedded meta-schemas, which
 * judge schemas as the draft does.
 */
#include "fixture.h"

#include "oom.h"
#include "schema/compile.h"

/* ---- compiling ------------------------------------------------------------------------------- */

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

/* ---- dialects -------------------------------------------------------------------------------- */

static mcp_arena *meta_arena;
static mcp_schema_document meta;
static mcp_schema_options meta_options;

/* Schemas whose `$schema` is "http://x/meta" have these words in their meta-schema. */
static void with_meta(const char *text)
{
    mcp_arena_free(meta_arena);
    meta_arena = mcp_arena_new(0);
    meta = (mcp_schema_document){ "http://x/meta", read_json(meta_arena, text) };
    meta_options = (mcp_schema_options)MCP_SCHEMA_OPTIONS_INIT;
    meta_options.documents = &meta;
    meta_options.document_count = 1;
}

static int clean(void **state)
{
    (void)state;
    mcp_arena_free(meta_arena);
    meta_arena = NULL;
    return 0;
}

static void known_and_unknown_dialects(void **state)
{
    (void)state;
    misfits("{\"$schema\":\"" MCP__DRAFT "schema\",\"type\":\"null\"}", "1");
    misfits("{\"$schema\":\"" MCP__DRAFT "schema#\",\"type\":\"null\"}", "1");
    rejects("{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
            "the dialect http://json-schema.org/draft-07/schema is not known");
    rejects("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"definitions\":{\"a\":{}},"
            "\"properties\":{\"id\":{\"items\":[{}]},\"dependencies\":{}}}",
            "2020-12 is; definitions is $defs; an array under items is prefixItems");
    rejects("{\"$schema\":\"http://json-schema.org/draft-04/schema\",\"id\":\"http://x\","
            "\"dependencies\":{\"additionalItems\":[\"b\"]}}",
            "2020-12 is; id is $id; dependencies is dependentRequired or dependentSchemas");
    rejects("{\"$schema\":\"http://x/meta\"}", "not known");
    rejects("{\"$defs\":{\"a\":{\"$id\":\"http://x/a\",\"$schema\":\"http://x/meta\"}}}",
            "not known");
}

static void a_vocabulary_left_out_does_nothing(void **state)
{
    (void)state;
    with_meta("{\"$schema\":\"" MCP__DRAFT "schema\",\"$vocabulary\":{\"" MCP__DRAFT
              "vocab/core\":true,\"" MCP__DRAFT "vocab/applicator\":true}}");
    const char
        *schema = "{\"$schema\":\"http://x/meta\",\"minimum\":9,\"properties\":{\"a\":false},"
                  "\"unevaluatedProperties\":false}";
    assert_int_equal(verdict(schema, "1", &meta_options), MCP_OK);
    assert_int_equal(verdict(schema, "{\"b\":1}", &meta_options), MCP_OK);
    assert_int_equal(verdict(schema, "{\"a\":1}", &meta_options), MCP_E_SCHEMA);
}

/* An embedded resource may speak another dialect; what has none follows what is around it. */
static void dialects_belong_to_resources(void **state)
{
    (void)state;
    with_meta("{\"$vocabulary\":{\"" MCP__DRAFT "vocab/core\":true}}");
    assert_int_equal(
        verdict(
            "{\"allOf\":[{\"$id\":\"http://x/a\",\"$schema\":\"http://x/meta\",\"type\":\"null\"},"
            "{\"type\":\"integer\"}]}",
            "1", &meta_options),
        MCP_OK);
    assert_int_equal(
        verdict(
            "{\"allOf\":[{\"$id\":\"http://x/a\",\"$schema\":\"http://x/meta\",\"type\":\"null\"},"
            "{\"type\":\"integer\"}]}",
            "null", &meta_options),
        MCP_E_SCHEMA);
}

static void unknown_vocabularies(void **state)
{
    (void)state;
    with_meta("{\"$vocabulary\":{\"" MCP__DRAFT "vocab/core\":true,\"http://x/vocab\":false}}");
    assert_int_equal(verdict("{\"$schema\":\"http://x/meta\"}", "1", &meta_options), MCP_OK);
    with_meta("{\"$vocabulary\":{\"" MCP__DRAFT "vocab/core\":true,\"http://x/vocab\":true}}");
    rejects_with("{\"$schema\":\"http://x/meta\"}", MCP_E_SCHEMA,
                 "http://x/meta needs the unknown vocabulary http://x/vocab", &meta_options);
    with_meta("{\"$vocabulary\":{\"" MCP__DRAFT "vocab/validation\":true}}");
    rejects_with("{\"$schema\":\"http://x/meta\"}", MCP_E_SCHEMA, "not a dialect of",
                 &meta_options);
}

static void a_meta_schema_without_vocabulary(void **state)
{
    (void)state;
    with_meta("{\"$schema\":\"" MCP__DRAFT "schema\"}");
    assert_int_equal(
        verdict("{\"$schema\":\"http://x/meta\",\"type\":\"null\"}", "1", &meta_options),
        MCP_E_SCHEMA);
    with_meta("{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}");
    rejects_with("{\"$schema\":\"http://x/meta\"}", MCP_E_SCHEMA, "not known", &meta_options);
}

static void the_format_assertion_vocabulary(void **state)
{
    (void)state;
    with_meta("{\"$vocabulary\":{\"" MCP__DRAFT "vocab/core\":true,\"" MCP__DRAFT
              "vocab/format-assertion\":false}}");
    assert_int_equal(
        verdict("{\"$schema\":\"http://x/meta\",\"format\":\"uuid\"}", "\"x\"", &meta_options),
        MCP_E_SCHEMA);
    with_meta("{\"$vocabulary\":{\"" MCP__DRAFT "vocab/core\":true,\"" MCP__DRAFT
              "vocab/format-annotation\":true}}");
    assert_int_equal(
        verdict("{\"$schema\":\"http://x/meta\",\"format\":\"uuid\"}", "\"x\"", &meta_options),
        MCP_OK);
}

/* ---- identifiers ----------------------------------------------------------------------------- */

static void identifiers_that_are_none(void **state)
{
    (void)state;
    rejects("{\"$id\":\"#foo\"}",
            "/$id: must not have a fragment: a name within the schema is $anchor");
    rejects("{\"$id\":\"http://x/y#foo\"}", "must not have a fragment");
    rejects("{\"$id\":\"http://x/y#%zz\"}", "must not have a fragment");
    rejects("{\"$id\":\"a\\u0000b\"}", "/$id: must be a string");
    rejects("{\"$anchor\":\"\"}", "/$anchor: \"\" is no name for an anchor");
    rejects("{\"$anchor\":\"a b\"}", "is no name for an anchor");
    rejects("{\"$dynamicAnchor\":\"a#\"}", "/$dynamicAnchor");
}

static void an_empty_fragment_is_fine(void **state)
{
    (void)state;
    fits("{\"$id\":\"http://x/y#\",\"properties\":{\"a\":{\"$ref\":\"http://x/y\"}}}", "{\"a\":1}");
}

static void nothing_is_called_twice(void **state)
{
    (void)state;
    rejects("{\"$defs\":{\"a\":{\"$id\":\"http://x/y\"},\"b\":{\"$id\":\"http://x/y\"}}}",
            "/$defs/b/$id: http://x/y is used twice");
    rejects("{\"$defs\":{\"a\":{\"$anchor\":\"z\"},\"b\":{\"$anchor\":\"z\"}}}",
            "/$defs/b/$anchor: \"z\" is used twice");
    rejects("{\"$defs\":{\"a\":{\"$anchor\":\"z\"},\"b\":{\"$dynamicAnchor\":\"z\"}}}",
            "/$defs/b/$dynamicAnchor: \"z\" is used twice");
    /* but in a resource of its own it may */
    fits("{\"$defs\":{\"a\":{\"$anchor\":\"z\"},\"b\":{\"$id\":\"http://x/y\",\"$anchor\":\"z\"}}}",
         "1");
}

static void one_subschema_may_have_both_anchors(void **state)
{
    (void)state;
    misfits(
        "{\"$ref\":\"#a\",\"$defs\":{\"x\":{\"$anchor\":\"a\",\"$dynamicAnchor\":\"b\",\"type\":\"null\"}}}",
        "1");
    misfits(
        "{\"$ref\":\"#a\",\"$defs\":{\"x\":{\"$anchor\":\"a\",\"$dynamicAnchor\":\"a\",\"type\":\"null\"}}}",
        "1");
}

static void identifiers_in_unknown_keywords_are_none(void **state)
{
    (void)state;
    fits("{\"x\":{\"$id\":\"http://x/y\"},\"const\":{\"$id\":\"http://x/y\"}}",
         "{\"$id\":\"http://x/y\"}");
    rejects("{\"x\":{\"$anchor\":\"a\"},\"$ref\":\"#a\"}", "leads nowhere");
}

/* ---- meta-schemas ---------------------------------------------------------------------------- */

#define META "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}"

static void every_one_is_json_and_says_who_it_is(void **state)
{
    static const char *const names[] = { "schema",
                                         "meta/core",
                                         "meta/applicator",
                                         "meta/unevaluated",
                                         "meta/validation",
                                         "meta/meta-data",
                                         "meta/content",
                                         "meta/format-annotation",
                                         "meta/format-assertion" };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        char uri[100];
        snprintf(uri, sizeof uri, "https://json-schema.org/draft/2020-12/%s", names[i]);
        const mcp_json *schema = read_json(arena, mcp__meta_schema(uri));
        assert_string_equal(mcp_json_get_string(schema, "$id"), uri);
        assert_string_equal(mcp_json_get_string(schema, "$schema"), MCP__DRAFT_2020_12);
        assert_string_equal(mcp_json_get_string(schema, "$dynamicAnchor"), "meta");
        assert_true(mcp_json_is_object(mcp_json_get(schema, "$vocabulary")));
        mcp_arena_free(arena);
    }
    assert_null(mcp__meta_schema("https://json-schema.org/draft/2020-12/meta/nope"));
}

static void schemas_are_judged_at_any_depth(void **state)
{
    (void)state;
    fits(META,
         "{\"type\":[\"null\",\"object\"],\"properties\":{\"a\":{\"items\":{\"minimum\":1}}}}");
    fits(META, "true");
    misfits(META, "{\"properties\":{\"a\":{\"items\":{\"minimum\":\"1\"}}}}");
    misfits(META, "{\"allOf\":[{\"not\":{\"$defs\":{\"x\":{\"required\":[1]}}}}]}");
    misfits(META, "{\"minLength\":-1}");
    misfits(META, "{\"required\":[\"a\",\"a\"]}");
    misfits(META, "{\"$anchor\":\"1\"}");
    misfits(META, "{\"allOf\":[]}");
    misfits(META, "7");
    misfits(META, "{\"unevaluatedProperties\":{\"type\":\"x\"}}");
    misfits(META, "{\"contentSchema\":{\"type\":\"x\"}}");
    misfits(META, "{\"deprecated\":1}");
    misfits(META, "{\"dependencies\":{\"a\":{\"type\":\"x\"}}}");
}

static void a_meta_schema_judges_itself(void **state)
{
    (void)state;
    fits(META, mcp__meta_schema(MCP__DRAFT_2020_12));
    fits(META, mcp__meta_schema("https://json-schema.org/draft/2020-12/meta/validation"));
}

static void findings_lie_in_the_schema_that_is_judged(void **state)
{
    (void)state;
    finds(META, "{\"properties\":{\"a\":{\"minimum\":\"1\"}}}",
          (expected){ .keyword = "type",
                      .instance_path = "/properties/a/minimum",
                      .schema_path = "/properties/minimum/type",
                      .message = "/properties/a/minimum: \"1\" is not of type number" });
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
        cmocka_unit_test(known_and_unknown_dialects),
        cmocka_unit_test(a_vocabulary_left_out_does_nothing),
        cmocka_unit_test(dialects_belong_to_resources),
        cmocka_unit_test(unknown_vocabularies),
        cmocka_unit_test(a_meta_schema_without_vocabulary),
        cmocka_unit_test(the_format_assertion_vocabulary),
        cmocka_unit_test(identifiers_that_are_none),
        cmocka_unit_test(an_empty_fragment_is_fine),
        cmocka_unit_test(nothing_is_called_twice),
        cmocka_unit_test(one_subschema_may_have_both_anchors),
        cmocka_unit_test(identifiers_in_unknown_keywords_are_none),
        cmocka_unit_test(every_one_is_json_and_says_who_it_is),
        cmocka_unit_test(schemas_are_judged_at_any_depth),
        cmocka_unit_test(a_meta_schema_judges_itself),
        cmocka_unit_test(findings_lie_in_the_schema_that_is_judged),
    };

    return cmocka_run_group_tests(tests, NULL, clean);
}
