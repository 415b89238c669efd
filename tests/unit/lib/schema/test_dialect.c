/*
 * test_dialect.c - `$schema` and `$vocabulary`. Expectations: Core 8.1.
 */
#include "fixture.h"

#define DRAFT "https://json-schema.org/draft/2020-12/"

static mcp_arena *arena;
static mcp_schema_document meta;
static mcp_schema_options options;

/* Schemas whose `$schema` is "http://x/meta" have these words in their meta-schema. */
static void with_meta(const char *text)
{
    mcp_arena_free(arena);
    arena = mcp_arena_new(0);
    meta = (mcp_schema_document){ "http://x/meta", read_json(arena, text) };
    options = (mcp_schema_options)MCP_SCHEMA_OPTIONS_INIT;
    options.documents = &meta;
    options.document_count = 1;
}

static int clean(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    arena = NULL;
    return 0;
}

static void known_and_unknown_dialects(void **state)
{
    (void)state;
    misfits("{\"$schema\":\"" DRAFT "schema\",\"type\":\"null\"}", "1");
    misfits("{\"$schema\":\"" DRAFT "schema#\",\"type\":\"null\"}", "1");
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
    with_meta("{\"$schema\":\"" DRAFT "schema\",\"$vocabulary\":{\"" DRAFT
              "vocab/core\":true,\"" DRAFT "vocab/applicator\":true}}");
    const char
        *schema = "{\"$schema\":\"http://x/meta\",\"minimum\":9,\"properties\":{\"a\":false},"
                  "\"unevaluatedProperties\":false}";
    assert_int_equal(verdict(schema, "1", &options), MCP_OK);
    assert_int_equal(verdict(schema, "{\"b\":1}", &options), MCP_OK);
    assert_int_equal(verdict(schema, "{\"a\":1}", &options), MCP_E_SCHEMA);
}

/* An embedded resource may speak another dialect; what has none follows what is around it. */
static void dialects_belong_to_resources(void **state)
{
    (void)state;
    with_meta("{\"$vocabulary\":{\"" DRAFT "vocab/core\":true}}");
    assert_int_equal(
        verdict(
            "{\"allOf\":[{\"$id\":\"http://x/a\",\"$schema\":\"http://x/meta\",\"type\":\"null\"},"
            "{\"type\":\"integer\"}]}",
            "1", &options),
        MCP_OK);
    assert_int_equal(
        verdict(
            "{\"allOf\":[{\"$id\":\"http://x/a\",\"$schema\":\"http://x/meta\",\"type\":\"null\"},"
            "{\"type\":\"integer\"}]}",
            "null", &options),
        MCP_E_SCHEMA);
}

static void unknown_vocabularies(void **state)
{
    (void)state;
    with_meta("{\"$vocabulary\":{\"" DRAFT "vocab/core\":true,\"http://x/vocab\":false}}");
    assert_int_equal(verdict("{\"$schema\":\"http://x/meta\"}", "1", &options), MCP_OK);
    with_meta("{\"$vocabulary\":{\"" DRAFT "vocab/core\":true,\"http://x/vocab\":true}}");
    rejects_with("{\"$schema\":\"http://x/meta\"}", MCP_E_SCHEMA,
                 "http://x/meta needs the unknown vocabulary http://x/vocab", &options);
    with_meta("{\"$vocabulary\":{\"" DRAFT "vocab/validation\":true}}");
    rejects_with("{\"$schema\":\"http://x/meta\"}", MCP_E_SCHEMA, "not a dialect of", &options);
}

static void a_meta_schema_without_vocabulary(void **state)
{
    (void)state;
    with_meta("{\"$schema\":\"" DRAFT "schema\"}");
    assert_int_equal(verdict("{\"$schema\":\"http://x/meta\",\"type\":\"null\"}", "1", &options),
                     MCP_E_SCHEMA);
    with_meta("{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}");
    rejects_with("{\"$schema\":\"http://x/meta\"}", MCP_E_SCHEMA, "not known", &options);
}

static void the_format_assertion_vocabulary(void **state)
{
    (void)state;
    with_meta("{\"$vocabulary\":{\"" DRAFT "vocab/core\":true,\"" DRAFT
              "vocab/format-assertion\":false}}");
    assert_int_equal(
        verdict("{\"$schema\":\"http://x/meta\",\"format\":\"uuid\"}", "\"x\"", &options),
        MCP_E_SCHEMA);
    with_meta("{\"$vocabulary\":{\"" DRAFT "vocab/core\":true,\"" DRAFT
              "vocab/format-annotation\":true}}");
    assert_int_equal(
        verdict("{\"$schema\":\"http://x/meta\",\"format\":\"uuid\"}", "\"x\"", &options), MCP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_and_unknown_dialects),
        cmocka_unit_test(a_vocabulary_left_out_does_nothing),
        cmocka_unit_test(dialects_belong_to_resources),
        cmocka_unit_test(unknown_vocabularies),
        cmocka_unit_test(a_meta_schema_without_vocabulary),
        cmocka_unit_test(the_format_assertion_vocabulary),
    };

    return cmocka_run_group_tests(tests, NULL, clean);
}
