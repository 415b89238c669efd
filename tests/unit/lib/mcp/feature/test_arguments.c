/*
 * test_arguments.c - marks in an input schema, and headers against arguments; the rules are
 * those of the transport chapter of 2026-07-28.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "mcp/feature/arguments.h"
#include <cmocka.h>

struct fake {
    mcp__headers face;         /* first */
    const char *const *fields; /* names and values by turns, ending with NULL */
};

static const char *field(const mcp__headers *self, const char *name, size_t *count)
{
    const char *const *fields = ((const struct fake *)self)->fields;

    for (*count = 1; *fields; fields += 2)
        if (strcasecmp(fields[0], name) == 0)
            return fields[1];
    *count = 0;
    return NULL;
}

static const mcp_json *read_json(mcp_arena *arena, const char *text)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, text, strlen(text), NULL), MCP_OK);
    return value;
}

static mcp_status read_marks(const char *schema, mcp_error *err)
{
    const mcp__param_header *mirrors = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = mcp__param_headers_read(&mirrors, arena, read_json(arena, schema), err);

    mcp_arena_free(arena);
    return st;
}

static void a_schema_without_marks_has_no_mirrors(void **state)
{
    static const char *const schemas[] = {
        "{}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":true}}",
        "{\"properties\":{\"x-mcp-header\":{\"type\":\"string\"}}}",
        "{\"$defs\":{\"x-mcp-header\":{\"type\":\"string\"}}}",
        "{\"default\":{\"x-mcp-header\":\"A\"},\"enum\":[{\"x-mcp-header\":\"B\"}]}",
        "{\"properties\":\"none\",\"items\":7}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        const mcp__param_header *mirrors = NULL;
        mcp_arena *arena = mcp_arena_new(0);
        assert_int_equal(
            mcp__param_headers_read(&mirrors, arena, read_json(arena, schemas[i]), NULL), MCP_OK);
        assert_null(mirrors);
        mcp_arena_free(arena);
    }
}

static void marks_that_clients_drop_are_refused(void **state)
{
    static const struct {
        const char *schema;
        const char *word;
    } rows[] = {
        { "{\"x-mcp-header\":\"A\"}", "properties" },
        { "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"\"}}}", "/a" },
        { "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"a b\"}}}", "/a" },
        { "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"a\\u0000\"}}}", "/a" },
        { "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"\\u00e9\"}}}", "/a" },
        { "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":1}}}", "/a" },
        { "{\"properties\":{\"a\":{\"type\":\"number\",\"x-mcp-header\":\"A\"}}}", "/a" },
        { "{\"properties\":{\"a\":{\"type\":[\"string\"],\"x-mcp-header\":\"A\"}}}", "/a" },
        { "{\"properties\":{\"a\":{\"x-mcp-header\":\"A\"}}}", "/a" },
        { "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},"
          "\"b\":{\"type\":\"string\",\"x-mcp-header\":\"a\"}}}",
          "twice" },
        { "{\"properties\":{\"a\":{\"items\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}}",
          "properties" },
        { "{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}]}",
          "properties" },
        { "{\"$defs\":{\"d\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}", "properties" },
        { "{\"if\":{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}}",
          "properties" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(read_marks(rows[i].schema, &err), MCP_E_PARAMS);
        assert_non_null(strstr(err.message, rows[i].word));
    }
}

static void deep_schemas_are_looked_at_once(void **state)
{
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 2048);
    for (int i = 0; i < 60; i++)
        (void)mcp_buf_printf(&out, "{\"items\":");
    (void)mcp_buf_printf(&out, "{}");
    for (int i = 0; i < 60; i++)
        (void)mcp_buf_putc(&out, '}');
    assert_int_equal(mcp_buf_putc(&out, '\0'), MCP_OK);
    assert_int_equal(read_marks(out.data, NULL), MCP_OK);
    mcp_buf_clear(&out);
}

static const char schema[] =
    "{\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
    "\"count\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"},"
    "\"deep\":{\"properties\":{\"a/b~c\":{\"type\":\"boolean\",\"x-mcp-header\":\"Deep\"}}}}}";

static mcp_status check(const char *arguments, const char *const *fields)
{
    const mcp__param_header *mirrors = NULL;
    struct fake fake = { { .field = field }, fields };
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st;

    assert_int_equal(mcp__param_headers_read(&mirrors, arena, read_json(arena, schema), NULL),
                     MCP_OK);
    st = mcp__param_headers_check(mirrors, &fake.face, read_json(arena, arguments), arena, NULL);
    mcp_arena_free(arena);
    return st;
}

#define FIELDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NOTHING ((const char *const[]){ NULL })

static void an_argument_wants_its_header(void **state)
{
    (void)state;
    assert_int_equal(check("{}", NOTHING), MCP_OK);
    assert_int_equal(check("{\"region\":null}", NOTHING), MCP_OK);
    assert_int_equal(check("{\"region\":\"eu\"}", NOTHING), MCP_E_HEADERS);
    assert_int_equal(check("{\"region\":\"eu\"}", FIELDS("mcp-param-region", "eu")), MCP_OK);
    assert_int_equal(check("{\"region\":\"eu\"}", FIELDS("Mcp-Param-Region", "us")), MCP_E_HEADERS);
    assert_int_equal(check("{\"region\":\"eu\"}", FIELDS("Mcp-Param-Region", "=?base64?ZXU=?=")),
                     MCP_OK);
    assert_int_equal(check("{\"region\":\"eu\"}", FIELDS("Mcp-Param-Region", "=?base64?ZXU?=")),
                     MCP_E_HEADERS);
    assert_int_equal(check("{\"count\":42}", FIELDS("Mcp-Param-Count", "42.0")), MCP_OK);
    assert_int_equal(check("{\"count\":42}", FIELDS("Mcp-Param-Count", "43")), MCP_E_HEADERS);
}

static void an_argument_is_found_where_it_stands(void **state)
{
    (void)state;
    assert_int_equal(check("{\"deep\":{\"a/b~c\":true}}", NOTHING), MCP_E_HEADERS);
    assert_int_equal(check("{\"deep\":{\"a/b~c\":true}}", FIELDS("Mcp-Param-Deep", "true")),
                     MCP_OK);
    assert_int_equal(check("{\"deep\":\"a\"}", NOTHING), MCP_OK);
    assert_int_equal(check("{\"deep\":{\"a/b~c\":true},\"region\":\"eu\"}",
                           FIELDS("Mcp-Param-Deep", "true", "Mcp-Param-Region", "us")),
                     MCP_E_HEADERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_without_marks_has_no_mirrors),
        cmocka_unit_test(marks_that_clients_drop_are_refused),
        cmocka_unit_test(deep_schemas_are_looked_at_once),
        cmocka_unit_test(an_argument_wants_its_header),
        cmocka_unit_test(an_argument_is_found_where_it_stands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
