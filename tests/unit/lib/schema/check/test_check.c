/*
 * test_check.c - the walk: limits of work, depth and memory, and one schema for many threads.
 */
#include "../fixture.h"

#include <pthread.h>

#include "oom.h"

static mcp_status check_with(const char *schema, const char *value, uint64_t steps, char *message)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_error err = MCP_ERROR_INIT;

    options.steps_max = steps;
    mcp_schema *compiled = compile(arena, schema, &options);
    mcp_status st = mcp_schema_check(compiled, read_json(arena, value), arena, NULL, &err);
    memcpy(message, err.message, sizeof err.message);
    mcp_schema_free(compiled);
    mcp_arena_free(arena);
    return st;
}

static void schemas_without_end(void **state)
{
    static const char *const endless[] = {
        "{\"$ref\":\"#\"}",
        "{\"allOf\":[{\"$ref\":\"#\"}]}",
        "{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}",
        "{\"not\":{\"$ref\":\"#\"}}",
        "{\"if\":{\"$ref\":\"#\"},\"then\":true}",
        "{\"$dynamicAnchor\":\"a\",\"oneOf\":[{\"$dynamicRef\":\"#a\"}]}",
        "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
        "{\"$defs\":{\"a\":{\"unevaluatedProperties\":{\"$ref\":\"#\"},\"$ref\":\"#\"}},\"$ref\":\"#/$defs/a\"}",
    };
    char message[240];

    (void)state;
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        assert_int_equal(check_with(endless[i], "{\"a\":1}", 0, message), MCP_E_LIMIT);
    assert_string_equal(message, "the schema leads back to itself without end");
}

/*
 * A recursive schema that goes deeper with the value is no such schema, to any depth JSON may
 * have.
 */
static void recursion_with_the_value(void **state)
{
    static const char schema[] =
        "{\"$ref\":\"#/$defs/tree\",\"$defs\":{\"tree\":{\"anyOf\":[{\"type\":\"null\"},"
        "{\"allOf\":[{\"$ref\":\"#/$defs/node\"}]}]},\"node\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/tree\"}}}}";
    char value[200] = "";

    (void)state;
    memset(value, '[', 63);
    memcpy(value + 63, "null", 4);
    memset(value + 67, ']', 63);
    fits(schema, value);
    memcpy(value + 63, "true", 4);
    misfits(schema, value);
}

/* Each level tries both ways, so without a budget this would take 2^30 checks. */
static void exponential_alternatives(void **state)
{
    char schema[4000];
    char message[240];
    size_t length = (size_t)snprintf(schema, sizeof schema, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");

    (void)state;
    for (int i = 0; i < 30; i++)
        length += (size_t)snprintf(
            schema + length, sizeof schema - length,
            "\"%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]},", i, i + 1,
            i + 1);
    snprintf(schema + length, sizeof schema - length, "\"30\":false}}");
    assert_int_equal(check_with(schema, "1", 0, message), MCP_E_LIMIT);
    assert_non_null(strstr(message, "takes too much work, at /$defs/"));
    assert_non_null(strstr(message, " of its schema: send a smaller or simpler value"));
}

static void patterns_share_the_budget(void **state)
{
    char message[240];

    (void)state;
    assert_int_equal(check_with("{\"pattern\":\"(a+)+$\"}",
                                "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"", 0, message),
                     MCP_E_LIMIT);
    assert_string_equal(message,
                        "checking the value takes too much work, at /pattern of its schema: "
                        "send a smaller or simpler value");
    assert_int_equal(check_with("{\"not\":{\"patternProperties\":{\"(a+)+$\":true}}}",
                                "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\":1}", 0, message),
                     MCP_E_LIMIT);
}

/* Each of these expands to all the code that an expression may have. */
static void expressions_in_values_share_the_budget(void **state)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;
    const size_t count = 20000;
    char *text = malloc(count * 24 + 2);
    size_t length = 0;

    (void)state;
    for (size_t i = 0; i < count; i++)
        length += (size_t)sprintf(text + length, "%c\"((a{99}){99}){3}\"", i == 0 ? '[' : ',');
    memcpy(text + length, "]", 2);
    options.assert_formats = true;
    assert_int_equal(verdict("{\"items\":{\"format\":\"regex\"}}", text, &options), MCP_E_LIMIT);
    free(text);
}

/* Whatever keyword is the one that runs out of steps, the answer is never "fits". */
static void running_out_is_never_an_answer(void **state)
{
    static const char schema[] =
        "{\"not\":{\"required\":[\"z\"]},\"if\":{\"properties\":{\"a\":{\"const\":2}}},\"else\":{\"properties\":{\"b\":{\"contains\":{\"const\":1}}}},"
        "\"anyOf\":[false,{\"propertyNames\":{\"pattern\":\"^[ab]$\"}}],\"oneOf\":[{\"type\":\"null\"},{\"enum\":[1,"
        "{\"a\":1,\"b\":[1,2,2]}]}],\"dependentSchemas\":{\"a\":{\"maxProperties\":2}},\"dependentRequired\":{\"a\":"
        "[\"b\"]},\"patternProperties\":{\"b\":{\"items\":{\"type\":\"integer\"},\"contains\":{\"const\":2},"
        "\"maxContains\":2,\"unevaluatedItems\":false}},\"unevaluatedProperties\":true}";
    static const char value[] = "{\"a\":1,\"b\":[1,2,2]}";
    mcp_status st = MCP_E_LIMIT;
    char message[240];

    (void)state;
    for (uint64_t steps = 1; st != MCP_OK && steps < 1000; steps++) {
        st = check_with(schema, value, steps, message);
        if (st != MCP_OK)
            assert_int_equal(st, MCP_E_LIMIT);
    }
    assert_int_equal(st, MCP_OK);
}

/* What one check took the next has not: three numbers at two steps each, and the array. */
static void checks_share_a_budget(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_schema *schema = compile(arena, "{\"items\":{\"type\":\"number\"}}", NULL);
    const mcp_json *value = read_json(arena, "[1,2,3]");
    uint64_t left = 16;

    (void)state;
    assert_int_equal(mcp_schema_check_within(schema, value, &left, arena, NULL, NULL), MCP_OK);
    assert_int_equal(left, 8);
    assert_int_equal(mcp_schema_check_within(schema, value, &left, arena, NULL, NULL), MCP_OK);
    assert_int_equal(left, 0);
    assert_int_equal(mcp_schema_check_within(schema, value, &left, arena, NULL, NULL), MCP_E_LIMIT);
    left = 7;
    assert_int_equal(mcp_schema_check_within(schema, value, &left, arena, NULL, NULL), MCP_E_LIMIT);
    assert_int_equal(left, 0);
    mcp_schema_free(schema);
    mcp_arena_free(arena);
}

static void a_small_arena_is_a_limit(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_arena *scratch = mcp_arena_new(200);
    mcp_error err = MCP_ERROR_INIT;
    mcp_schema *schema = compile(arena, "{\"type\":\"null\"}", NULL);

    (void)state;
    assert_int_equal(mcp_schema_check(schema, read_json(arena, "1"), scratch, NULL, &err),
                     MCP_E_LIMIT);
    assert_int_equal(err.status, MCP_E_LIMIT);
    mcp_schema_free(schema);
    mcp_arena_free(scratch);
    mcp_arena_free(arena);
}

typedef struct pair {
    const mcp_schema *schema;
    const mcp_json *value;
} pair;

static mcp_status check_once(void *data)
{
    const pair *both = data;
    mcp_schema_finding finding;
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *scratch = mcp_arena_new(0);

    if (!scratch)
        return MCP_E_NOMEM;
    mcp_status st = mcp_schema_check(both->schema, both->value, scratch, &finding, &err);
    assert_int_equal(st, err.status);
    mcp_arena_free(scratch);
    return st == MCP_E_SCHEMA ? MCP_OK : st; /* the value does not fit, so this is the goal */
}

static void memory_runs_out_at_every_point(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_schema *schema = compile(
        arena,
        "{\"anyOf\":[{\"items\":{\"type\":\"null\"}},{\"uniqueItems\":true}],"
        "\"unevaluatedItems\":false}",
        NULL);
    pair both = { schema, read_json(arena, "[1,1]") };

    (void)state;
    oom_walk(check_once, &both);
    mcp_schema_free(schema);
    mcp_arena_free(arena);
}

static void *check_often(void *data)
{
    for (int i = 0; i < 200; i++)
        assert_int_equal(check_once(data), MCP_OK);
    return NULL;
}

static void threads_share_a_schema(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_schema *schema = compile(arena, "{\"items\":{\"pattern\":\"^a+$\"},\"uniqueItems\":true}",
                                 NULL);
    pair both = { schema, read_json(arena, "[\"aaaa\",\"aaaaa\",\"b\"]") };
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, check_often, &both), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    mcp_schema_free(schema);
    mcp_arena_free(arena);
}

/* Alternatives that are tried and dropped must not eat the scratch arena. */
static void scratch_does_not_grow_with_the_value(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_arena *scratch = mcp_arena_new(0);
    mcp_schema *schema = compile(
        arena,
        "{\"items\":{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"null\"}}},"
        "{\"properties\":{\"a\":{\"type\":\"integer\"}}}],"
        "\"unevaluatedProperties\":false}}",
        NULL);
    char *text = malloc(100000);
    size_t length = 1;

    (void)state;
    text[0] = '[';
    for (int i = 0; i < 5000; i++) {
        memcpy(text + length, "{\"a\":1},", 8);
        length += 8;
    }
    text[length - 1] = ']';
    text[length] = '\0';
    assert_int_equal(mcp_schema_check(schema, read_json(arena, text), scratch, NULL, NULL), MCP_OK);
    assert_true(mcp_arena_used(scratch) < 20000);
    free(text);
    mcp_schema_free(schema);
    mcp_arena_free(scratch);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_without_end),
        cmocka_unit_test(recursion_with_the_value),
        cmocka_unit_test(exponential_alternatives),
        cmocka_unit_test(patterns_share_the_budget),
        cmocka_unit_test(expressions_in_values_share_the_budget),
        cmocka_unit_test(running_out_is_never_an_answer),
        cmocka_unit_test(checks_share_a_budget),
        cmocka_unit_test(a_small_arena_is_a_limit),
        cmocka_unit_test(memory_runs_out_at_every_point),
        cmocka_unit_test(threads_share_a_schema),
        cmocka_unit_test(scratch_does_not_grow_with_the_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
