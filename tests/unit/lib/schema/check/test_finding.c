/*
 * test_finding.c - where, what and why, in words and in pieces.
 */
#include "../fixture.h"

/* One row a sentence: the message says place and rule, and each keyword is called by its name. */
static void every_keyword_has_its_sentence(void **state)
{
    static const struct {
        const char *schema;
        const char *value;
        const char *keyword;
        const char *message;
    } rows[] = {
        { "{\"type\":\"integer\"}", "\"x\"", "type", "\"x\" is not of type integer" },
        { "{\"type\":[\"array\",\"null\"]}", "{}", "type",
          "the object is not of type array or null" },
        { "{\"const\":1}", "2.5", "const", "2.5 is not 1" },
        { "{\"enum\":[1,null,\"a\",[]]}", "true", "enum",
          "true is not one of 1, null, \"a\", the array" },
        { "{\"maximum\":10000}", "20000", "maximum", "20000 is above the maximum 10000" },
        { "{\"exclusiveMaximum\":1.5}", "1.5", "exclusiveMaximum", "1.5 is not below 1.5" },
        { "{\"minimum\":0}", "-1", "minimum", "-1 is below the minimum 0" },
        { "{\"exclusiveMinimum\":0}", "0", "exclusiveMinimum", "0 is not above 0" },
        { "{\"multipleOf\":0.01}", "0.125", "multipleOf", "0.125 is not a multiple of 0.01" },
        { "{\"maxLength\":2}", "\"abc\"", "maxLength", "\"abc\" has 3 characters, more than 2" },
        { "{\"minLength\":2}", "\"a\"", "minLength", "\"a\" has 1 characters, fewer than 2" },
        { "{\"pattern\":\"^b\"}", "\"a\"", "pattern", "\"a\" does not match the pattern \"^b\"" },
        { "{\"maxProperties\":0}", "{\"a\":1}", "maxProperties",
          "the object has 1 members, more than 0" },
        { "{\"minProperties\":1}", "{}", "minProperties",
          "the object has 0 members, fewer than 1" },
        { "{\"required\":[\"a\",\"b\"]}", "{\"a\":1}", "required", "the member \"b\" is missing" },
        { "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "dependentRequired",
          "the member \"b\" is missing, which \"a\" needs" },
        { "{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}", "propertyNames",
          "the member \"ab\" is not allowed, its name does not fit" },
        { "{\"additionalProperties\":false}", "{\"ab\":1}", "additionalProperties",
          "the member \"ab\" is not allowed" },
        { "{\"unevaluatedProperties\":false}", "{\"ab\":1}", "unevaluatedProperties",
          "the member \"ab\" is not allowed" },
        { "{\"maxItems\":1}", "[1,2]", "maxItems", "the array has 2 items, more than 1" },
        { "{\"minItems\":1}", "[]", "minItems", "the array has 0 items, fewer than 1" },
        { "{\"uniqueItems\":true}", "[3,1,3]", "uniqueItems", "the items 0 and 2 are equal" },
        { "{\"contains\":{\"const\":1}}", "[2]", "contains",
          "no item is of the kind that the array must contain" },
        { "{\"contains\":{\"const\":1},\"minContains\":2}", "[1]", "minContains",
          "1 items are of the kind of which there must be at least 2" },
        { "{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,1]", "maxContains",
          "2 items are of the kind of which there may be at most 1" },
        { "false", "1", "false", "no value is allowed here" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char schema[300];
        char value[100];
        char message[240];
        snprintf(schema, sizeof schema, "{\"properties\":{\"in/put\":%s}}", rows[i].schema);
        snprintf(value, sizeof value, "{\"in/put\":%s}", rows[i].value);
        snprintf(message, sizeof message, "/in~1put: %s", rows[i].message);
        finds(schema, value,
              (expected){
                  .keyword = rows[i].keyword, .instance_path = "/in~1put", .message = message });
        snprintf(message, sizeof message, "at the root: %s", rows[i].message);
        finds(rows[i].schema, rows[i].value,
              (expected){ .keyword = rows[i].keyword, .instance_path = "", .message = message });
    }
}

static void formats_are_named(void **state)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_schema_finding finding;

    (void)state;
    options.assert_formats = true;
    mcp_schema *schema = compile(arena, "{\"format\":\"date\"}", &options);
    assert_int_equal(mcp_schema_check(schema, read_json(arena, "\"soon\""), arena, &finding, NULL),
                     MCP_E_SCHEMA);
    assert_string_equal(finding.message, "at the root: \"soon\" is not a valid date");
    mcp_schema_free(schema);
    mcp_arena_free(arena);
}

static void paths_lead_to_value_and_keyword(void **state)
{
    finds("{\"properties\":{\"rows\":{\"items\":{\"$ref\":\"#/$defs/row\"}}},"
          "\"$defs\":{\"row\":{\"patternProperties\":{\"^x/\":{\"minimum\":1}}}}}",
          "{\"rows\":[{},{\"x/~\":0}]}",
          (expected){ .keyword = "minimum",
                      .instance_path = "/rows/1/x~1~0",
                      .schema_path = "/$defs/row/patternProperties/^x~1/minimum",
                      .message = "/rows/1/x~1~0: 0 is below the minimum 1" });
    finds("{\"prefixItems\":[true,{\"allOf\":[true,{\"type\":\"null\"}]}]}", "[1,2]",
          (expected){ .instance_path = "/1", .schema_path = "/prefixItems/1/allOf/1/type" });
    finds("{\"items\":{\"$ref\":\"#/more/0\"},\"more\":[{\"type\":\"null\"}]}", "[2]",
          (expected){ .instance_path = "/0", .schema_path = "/more/0/type" });
    finds("{\"properties\":{\"a\":false}}", "{\"a\":1}",
          (expected){ .keyword = "false", .instance_path = "/a", .schema_path = "/properties/a" });
    (void)state;
}

static void the_pieces_of_a_finding(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *json = read_json(
        arena, "{\"properties\":{\"n\":{\"maximum\":3}},\"required\":[\"m\"]}");
    const mcp_json *value = read_json(arena, "{\"n\":1}");
    const mcp_json *other = read_json(arena, "{\"n\":4,\"m\":0}");
    mcp_schema_finding finding;
    mcp_schema *schema = NULL;

    (void)state;
    assert_int_equal(mcp_schema_compile(&schema, json, NULL, NULL), MCP_OK);
    assert_int_equal(mcp_schema_check(schema, value, arena, &finding, NULL), MCP_E_SCHEMA);
    assert_string_equal(finding.property, "m");
    assert_ptr_equal(finding.actual, value);
    assert_ptr_equal(finding.expected, mcp_json_get(json, "required"));
    assert_int_equal(mcp_schema_check(schema, other, arena, &finding, NULL), MCP_E_SCHEMA);
    assert_null(finding.property);
    assert_ptr_equal(finding.actual, mcp_json_get(other, "n"));
    assert_ptr_equal(finding.expected, mcp_json_pointer(json, "/properties/n/maximum"));
    assert_int_equal(mcp_schema_check(schema, value, arena, NULL, NULL), MCP_E_SCHEMA);
    mcp_schema_free(schema);
    mcp_arena_free(arena);
}

static void long_values_are_cut(void **state)
{
    (void)state;
    finds("{\"maxLength\":3}", "\"0123456789012345678901234567890123456789x\"",
          (expected){
              .message = "at the root: \"0123456789012345678901234567890123456789\"... has 41 "
                         "characters, more than 3" });
    /* never in the middle of a character */
    finds(
        "{\"maxLength\":3}", "\"012345678901234567890123456789012345678\\u00e9\\u00e9\"",
        (expected){ .message = "at the root: \"012345678901234567890123456789012345678\"... has 41 "
                               "characters, more than 3" });
    finds("{\"enum\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14]}", "0",
          (expected){
              .message = "at the root: 0 is not one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and "
                         "2 more" });
    finds("{\"additionalProperties\":false}", "{\"a\\n\\u0000b\":1}",
          (expected){ .message = "at the root: the member \"a\\n\\u0000b\" is not allowed" });
}

/* However long the place is, the finding has all of it, and the message its end and the rule. */
static void long_places_are_cut_in_the_message_only(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_schema *schema = compile(arena, "{\"additionalProperties\":{\"type\":\"null\"}}", NULL);
    mcp_schema_finding finding;
    size_t length = 200000;
    char *text = malloc(length + 10);

    (void)state;
    memset(text, 'a', length);
    memcpy(text, "{\"", 2);
    memcpy(text + length - 6, "zz\":1}", 7);
    assert_int_equal(mcp_schema_check(schema, read_json(arena, text), arena, &finding, NULL),
                     MCP_E_SCHEMA);
    assert_int_equal(strlen(finding.instance_path), length - 5);
    assert_memory_equal(finding.message, "...aaa", 6);
    assert_non_null(strstr(finding.message, "azz: 1 is not of type null"));
    free(text);
    mcp_schema_free(schema);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_keyword_has_its_sentence),
        cmocka_unit_test(formats_are_named),
        cmocka_unit_test(paths_lead_to_value_and_keyword),
        cmocka_unit_test(the_pieces_of_a_finding),
        cmocka_unit_test(long_values_are_cut),
        cmocka_unit_test(long_places_are_cut_in_the_message_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
