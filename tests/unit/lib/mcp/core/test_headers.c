/*
 * test_headers.c - headers against bodies; the values stand in the transport chapter of 2026-07-28,
 * encoded ones were made with the base64 of coreutils.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mcp/core/envelope.h"
#include "mcp/core/headers.h"
#include <cmocka.h>

struct fake {
    mcp__headers face; /* first */
    const char *value;
    size_t count;
};

static const char *field(const mcp__headers *self, const char *name, size_t *count)
{
    const struct fake *fake = (const struct fake *)self;

    (void)name;
    *count = fake->count;
    return fake->count ? fake->value : NULL;
}

static struct fake fake_of(const char *value, size_t count)
{
    return (struct fake){ .face.field = field, .value = value, .count = count };
}

static void the_era_stands_in_the_version(void **state)
{
    static const struct {
        const char *value;
        bool is_stateless;
    } rows[] = { { NULL, false },        { "2025-11-25", false }, { "2026-07-27", false },
                 { "2026-07-28", true }, { "2030-01-01", true },  { "v999.0.0", true } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fake fake = fake_of(rows[i].value, rows[i].value ? 1 : 0);
        assert_int_equal(mcp__envelope_is_stateless(&fake.face), rows[i].is_stateless);
    }
}

static void plain_fields_are_equal_or_not(void **state)
{
    struct fake same = fake_of("tools/list", 1);
    struct fake other = fake_of("TOOLS/LIST", 1);
    struct fake twice = fake_of("tools/list", 2);
    struct fake none = fake_of(NULL, 0);
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(mcp__headers_check(&same.face, "Mcp-Method", "tools/list", true, &err),
                     MCP_OK);
    assert_int_equal(mcp__headers_check(&other.face, "Mcp-Method", "tools/list", false, &err),
                     MCP_E_HEADERS);
    assert_int_equal(mcp__headers_check(&twice.face, "Mcp-Method", "tools/list", false, &err),
                     MCP_E_HEADERS);
    assert_int_equal(mcp__headers_check(&none.face, "Mcp-Method", "tools/list", false, &err),
                     MCP_OK);
    assert_int_equal(mcp__headers_check(&none.face, "Mcp-Method", "tools/list", true, &err),
                     MCP_E_HEADERS);
    assert_non_null(strstr(err.message, "Mcp-Method"));
}

static mcp_status check_parameter(const char *value, const char *wanted)
{
    struct fake fake = fake_of(value, value ? 1 : 0);
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *argument = NULL;

    assert_int_equal(mcp_json_read(&argument, arena, wanted, strlen(wanted), NULL), MCP_OK);
    mcp_status st = mcp__headers_check_parameter(&fake.face, "Region", argument, arena, NULL);
    mcp_arena_free(arena);
    return st;
}

static void values_are_decoded_and_compared(void **state)
{
    static const struct {
        const char *value;
        const char *wanted;
        mcp_status status;
    } rows[] = {
        { "eu", "\"eu\"", MCP_OK },
        { "=?base64?Y2Fmw6k=?=", "\"caf\\u00e9\"", MCP_OK },
        { "=?base64?SGVsbG8=?=", "\"Hello\"", MCP_OK },
        { "=?base64?"
          "?=",
          "\"\"", MCP_OK },
        { "=?base64?SGVsbG8?=", "\"Hello\"", MCP_E_HEADERS },
        { "=?base64?SGVs!!!bG8=?=", "\"Hello\"", MCP_E_HEADERS },
        { "=?base64?SGVsbG9=?=", "\"Hello\"", MCP_E_HEADERS }, /* bits left over */
        { "=?base64?/w==?=", "\"?\"", MCP_E_HEADERS },         /* no UTF-8 */
        { "=?base64?SGVsbG8=", "\"=?base64?SGVsbG8=\"", MCP_OK },
        { "SGVsbG8=?=", "\"SGVsbG8=?=\"", MCP_OK },
        { "=?BASE64?SGVsbG8=?=", "\"Hello\"", MCP_E_HEADERS },
        { "caf\xc3\xa9", "\"caf\\u00e9\"", MCP_E_HEADERS },
        { "42", "42", MCP_OK },
        { "42.0", "42", MCP_OK },
        { "43", "42", MCP_E_HEADERS },
        { "", "0", MCP_E_HEADERS },
        { "0x2a", "42", MCP_E_HEADERS },
        { "true", "true", MCP_OK },
        { "false", "false", MCP_OK },
        { "True", "true", MCP_E_HEADERS },
        { NULL, "\"eu\"", MCP_E_HEADERS },
        { NULL, "null", MCP_OK },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (check_parameter(rows[i].value, rows[i].wanted) != rows[i].status)
            fail_msg("'%s' against %s", rows[i].value ? rows[i].value : "", rows[i].wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_era_stands_in_the_version),
        cmocka_unit_test(plain_fields_are_equal_or_not),
        cmocka_unit_test(values_are_decoded_and_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
