/*
 * test_definition.c - definitions of outputs: golden hashes, spellings, and all that is wrong with
 * one. The hashes are those of the data page, made by sha256sum of the bytes that it prints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schema/definition.h"

static mcp_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static const mcp_json *json_of(const char *text)
{
    const mcp_json *json = NULL;
    mcp_error err = MCP_ERROR_INIT;
    if (mcp_json_read(&json, arena, text, strlen(text), &err) != MCP_OK)
        fail_msg("%s: %s", text, err.message);
    return json;
}

static casparian_definition read(const char *text)
{
    casparian_definition out;
    mcp_error err = MCP_ERROR_INIT;
    if (casparian_definition_read(&out, arena, json_of(text), NULL, NULL, &err) != MCP_OK)
        fail_msg("%s: %s", text, err.message);
    return out;
}

#define TRADES                                                                                     \
    "{\"columns\":[{\"name\":\"order_id\",\"nullable\":false,\"type\":\"string\"},"                \
    "{\"name\":\"price\",\"nullable\":false,\"type\":{\"kind\":\"decimal\",\"precision\":18,"      \
    "\"scale\":8}}],\"mode\":\"strict\",\"output_name\":\"trades\"}"
#define DAYS                                                                                        \
    "{\"columns\":[{\"format\":\"%Y-%m-%d\",\"name\":\"d\",\"nullable\":true,\"type\":\"date\"},"   \
    "{\"name\":\"t\",\"nullable\":false,\"type\":{\"kind\":\"timestamp_tz\",\"timezone\":\"UTC\"}}" \
    "],\"mode\":\"allow_extra\",\"output_name\":\"x\"}"

static void the_canonical_form_has_the_golden_hashes(void **state)
{
    static const struct {
        const char *text, *hash;
    } golden[] = {
        { TRADES, "9a4483981f9b00302684ce6be0a9499a5b98c41585740d1fc6e1e9230e0ae989" },
        { DAYS, "211da1719466e03e44398e9ebf3233fc1fd2fd6075d6da768af2cbde63a67d2b" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        casparian_definition made = read(golden[i].text);
        mcp_buf text;
        mcp_buf_init(&text, 1 << 16);
        assert_int_equal(casparian_definition_canonical(&text, &made), MCP_OK);
        assert_int_equal(text.length, strlen(golden[i].text));
        assert_memory_equal(text.data, golden[i].text, text.length);
        assert_string_equal(made.hash, golden[i].hash);
        mcp_buf_clear(&text);
    }
}

static void other_spellings_have_the_same_hash(void **state)
{
    static const char *const same[] = {
        "{\"output_name\":\"trades\",\"columns\":[{\"type\":\"utf8\",\"nullable\":false,"
        "\"name\":\"order_id\"},{\"name\":\"price\",\"type\":\"DECIMAL(18, 8)\",\"nullable\":"
        "false}]}",
        "{\"output_name\":\"trades\",\"mode\":\"strict\",\"columns\":[{\"name\":\"order_id\","
        "\"type\":{\"kind\":\"string\"},\"nullable\":false,\"format\":null},{\"name\":\"price\","
        "\"type\":{\"scale\":8,\"precision\":18,\"kind\":\"decimal\"},\"nullable\":false}]}",
    };
    static const char *const zones[] = { "UTC", "utc", "Z", "GMT", "Etc/UTC", "Etc/GMT", "+00:00" };
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        assert_string_equal(read(same[i]).hash, read(TRADES).hash);
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"output_name\":\"x\",\"mode\":\"allow_extra\",\"columns\":[{\"name\":\"d\","
                 "\"type\":\"date\",\"format\":\"%%Y-%%m-%%d\"},{\"name\":\"t\",\"nullable\":false,"
                 "\"type\":{\"kind\":\"timestamp_tz\",\"tz\":\"%s\"}}]}",
                 zones[i]);
        assert_string_equal(read(text).hash, read(DAYS).hash);
    }
}

static void every_difference_changes_the_hash(void **state)
{
    static const char *const others[] = {
        "[{\"name\":\"a\",\"type\":\"int64\"},{\"name\":\"b\",\"type\":\"date\"}]",
        "[{\"name\":\"b\",\"type\":\"date\"},{\"name\":\"a\",\"type\":\"int64\"}]",
        "[{\"name\":\"a\",\"type\":\"int64\",\"nullable\":false},{\"name\":\"b\",\"type\":\"date\"}]",
        "[{\"name\":\"a\",\"type\":\"float64\"},{\"name\":\"b\",\"type\":\"date\"}]",
        "[{\"name\":\"A\",\"type\":\"int64\"},{\"name\":\"b\",\"type\":\"date\"}]",
        "[{\"name\":\"a\",\"type\":\"int64\"},{\"name\":\"b\",\"type\":\"date\",\"format\":"
        "\"%d.%m.%Y\"}]",
        "[{\"name\":\"a\",\"type\":\"decimal(5,2)\"},{\"name\":\"b\",\"type\":\"date\"}]",
        "[{\"name\":\"a\",\"type\":\"decimal(5,3)\"},{\"name\":\"b\",\"type\":\"date\"}]",
    };
    enum { COUNT = sizeof others / sizeof others[0] };
    char hashes[COUNT][CASPARIAN_HASH_SIZE];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"output_name\":\"x\",\"columns\":%s}", others[i]);
        memcpy(hashes[i], read(text).hash, sizeof hashes[i]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(hashes[i], hashes[k]);
    }
}

static void the_protocol_has_hashes_of_its_own(void **state)
{
    char hash[CASPARIAN_HASH_SIZE];
    (void)state;
    casparian_definition first = read(
        "{\"output_name\":\"e\",\"columns\":[{\"name\":\"value\",\"type\":\"int64\",\"nullable\":"
        "false},{\"name\":\"message\",\"type\":\"string\",\"nullable\":false}]}");
    casparian_definition second = read(
        "{\"output_name\":\"e\",\"columns\":[{\"name\":\"ts\",\"type\":{\"kind\":\"timestamp_tz\","
        "\"timezone\":\"UTC\"},\"nullable\":false,\"format\":\"%Y-%m-%dT%H:%M:%S%z\"},"
        "{\"name\":\"px\",\"type\":\"decimal(18,8)\"}]}");
    assert_int_equal(casparian_definition_protocol_hash(hash, &first, NULL), MCP_OK);
    assert_string_equal(hash, "75cece4d63ee64f4cc23eb28562ad3c8d0bc36442d58e3af63fbd03c904df8e4");
    assert_int_equal(casparian_definition_protocol_hash(hash, &second, NULL), MCP_OK);
    assert_string_equal(hash, "ac6dbb37130a86b091fc48478042bf1b9df9879e96e25ea914fb9ab9ec22d75a");
}

static void parts_have_the_golden_hash(void **state)
{
    static const char *const artifact[] = { "src", "lock", "{}", "{}" };
    static const char *const file[] = {
        "1", "1700000000", "1234", "artifact",
        "f7c642c033f30cb44bb9a30d71e8fae4216e7b676ebdd975fbf7b54417ebffa1"
    };
    char hash[CASPARIAN_HASH_SIZE];
    (void)state;
    assert_int_equal(casparian_hash_parts(hash, artifact, 4, NULL), MCP_OK);
    assert_string_equal(hash, "153b7e716f103781137561af5c7d92e8f1119eccc5f7fafd5f7d4d60c224908e");
    assert_int_equal(casparian_hash_parts(hash, file, 5, NULL), MCP_OK);
    assert_string_equal(hash, "5ad79c22f22221b292853797b0c498eaf0dc6133a4a34bfef5ee8262aa0d72d5");
}

/* ---- what is wrong --------------------------------------------------------------------------- */

typedef struct reports {
    char text[4096];
} reports;

static void note(void *data, const char *place, const char *message)
{
    reports *self = data;
    size_t used = strlen(self->text);
    snprintf(self->text + used, sizeof self->text - used, "%s|%s\n", place, message);
}

static void all_errors_are_reported_with_their_places(void **state)
{
    static const struct {
        const char *json;
        const char *said[4]; /* place and the beginning of the message */
    } bad[] = {
        { "[]", { "|a schema is an object" } },
        { "{}", { "/output_name|output_name is missing", "/columns|a schema has a list" } },
        { "{\"output_name\":\"Trades\",\"mode\":\"lax\",\"columns\":[]}",
          { "/output_name|'Trades'", "/mode|'lax' is none of strict", "/columns|a schema has" } },
        { "{\"output_name\":\"x\",\"columns\":[{\"name\":\"a\",\"type\":\"int64\"},{\"name\":\"A\","
          "\"type\":\"list\"},{\"name\":\"_cf_job_id\",\"type\":\"string\"},7]}",
          { "/columns/1/type|unsupported type 'list'", "/columns/2/name|'_cf_job_id': names",
            "/columns/3|a column is an object", "/columns/1/name|duplicate column 'A'" } },
        { "{\"output_name\":\"x\",\"columns\":[{\"name\":\"\",\"type\":\"decimal\"},{\"name\":"
          "\"_raw_row\",\"type\":\"string\",\"nullable\":1}]}",
          { "/columns/0/name|a column's name has", "/columns/0/type|a decimal requires",
            "/columns/1/name|'_raw_row' is a column", "/columns/1/nullable|nullable is" } },
        { "{\"output_name\":\"x\",\"columns\":[{\"name\":\"a\",\"type\":\"decimal(39,2)\"},{\"name\":"
          "\"b\",\"type\":\"decimal(5,6)\"},{\"name\":\"c\",\"type\":{\"kind\":\"int64\",\"scale\":2}},"
          "{\"name\":\"d\",\"type\":{\"kind\":\"timestamp_tz\",\"timezone\":\"Mars/Olympus\"}}]}",
          { "/columns/0/type|decimal(39,2)", "/columns/1/type|decimal(5,6)",
            "/columns/2/type|int64 has no precision", "/columns/3/type|there is no time zone" } },
        { "{\"output_name\":\"x\",\"columns\":[{\"name\":\"a\",\"type\":\"int64\",\"format\":\"%Y\"},"
          "{\"name\":\"b\",\"type\":\"date\",\"format\":\"%Y-%m\"},{\"name\":\"c\",\"type\":\"null\"},"
          "{\"name\":\"d\",\"type\":{\"kind\":\"string\",\"length\":3}}]}",
          { "/columns/0/format|int64 has no format", "/columns/1/format|'%Y-%m'",
            "/columns/2/type|unsupported type 'null'", "/columns/3/type|a type has no member" } },
        { "{\"output_name\":\"x\",\"columns\":[{\"name\":\"a\\u0000b\",\"type\":\"int64\"},"
          "{\"name\":\"t\",\"type\":\"timestamp_tz(../../etc/passwd)\"}]}",
          { "/columns/0/name|name is no text", "/columns/1/type|there is no time zone" } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        casparian_definition out;
        reports said = { "" };
        assert_int_equal(
            casparian_definition_read(&out, arena, json_of(bad[i].json), note, &said, NULL),
            MCP_E_SCHEMA);
        size_t lines = 0;
        for (const char *at = said.text; *at; at++)
            lines += *at == '\n';
        for (size_t k = 0; k < 4 && bad[i].said[k]; k++, lines--) {
            if (!strstr(said.text, bad[i].said[k]))
                fail_msg("%s\nsays not \"%s\" but:\n%s", bad[i].json, bad[i].said[k], said.text);
        }
        if (lines != 0)
            fail_msg("%s\nsays more:\n%s", bad[i].json, said.text);
    }
}

static void a_map_has_its_outputs_under_their_names(void **state)
{
    casparian_schemas all;
    reports said = { "" };
    (void)state;
    assert_int_equal(casparian_schemas_read(&all, arena,
                                            json_of("{\"trades\":" TRADES ",\"x\":" DAYS "}"), note,
                                            &said, NULL),
                     MCP_OK);
    assert_int_equal(all.count, 2);
    assert_string_equal(casparian_schemas_find(&all, "x")->hash, read(DAYS).hash);
    assert_null(casparian_schemas_find(&all, "y"));
    assert_int_equal(casparian_schemas_read(&all, arena,
                                            json_of("{\"trades\":" DAYS ",\"y\":{\"columns\":[]}}"),
                                            note, &said, NULL),
                     MCP_E_SCHEMA);
    assert_non_null(strstr(said.text, "/trades/output_name|'x' is under the key 'trades'"));
    assert_non_null(strstr(said.text, "/y/output_name|output_name is missing"));
    assert_non_null(strstr(said.text, "/y/columns|a schema has a list"));
}

static void two_thousand_columns_are_taken(void **state)
{
    enum { SIZE = 100 << 10 };
    char *text = mcp_arena_alloc(arena, SIZE);
    (void)state;
    for (int count = CASPARIAN_COLUMNS_MAX; count <= CASPARIAN_COLUMNS_MAX + 1; count++) {
        casparian_definition out;
        size_t used = (size_t)snprintf(text, SIZE, "{\"output_name\":\"x\",\"columns\":[");
        for (int i = 0; i < count; i++)
            used += (size_t)snprintf(text + used, SIZE - used,
                                     "%s{\"name\":\"c%d\",\"type\":\"int64\"}", i ? "," : "", i);
        snprintf(text + used, SIZE - used, "]}");
        assert_int_equal(casparian_definition_read(&out, arena, json_of(text), NULL, NULL, NULL),
                         count == CASPARIAN_COLUMNS_MAX ? MCP_OK : MCP_E_SCHEMA);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_canonical_form_has_the_golden_hashes),
        cmocka_unit_test(other_spellings_have_the_same_hash),
        cmocka_unit_test(every_difference_changes_the_hash),
        cmocka_unit_test(the_protocol_has_hashes_of_its_own),
        cmocka_unit_test(parts_have_the_golden_hash),
        cmocka_unit_test(all_errors_are_reported_with_their_places),
        cmocka_unit_test(a_map_has_its_outputs_under_their_names),
        cmocka_unit_test(two_thousand_columns_are_taken),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
