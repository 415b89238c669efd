/*
 * test_error.c - statuses and the one line that goes with them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "mcp/error.h"

static void sets_and_hands_the_status_back(void **state)
{
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(mcp_error_set(&err, MCP_E_PARAMS, "stage %d has no block", 3), MCP_E_PARAMS);
    assert_int_equal(err.status, MCP_E_PARAMS);
    assert_int_equal(err.offset, -1);
    assert_string_equal(err.message, "stage 3 has no block");
    assert_int_equal(mcp_error_at(&err, MCP_E_PARSE, 17, "%s", "':' is missing"), MCP_E_PARSE);
    assert_int_equal(err.offset, 17);
    assert_int_equal(mcp_error_set(NULL, MCP_E_BUSY, "%d", 1), MCP_E_BUSY);
    assert_int_equal(mcp_error_at(NULL, MCP_E_BUSY, 1, "%d", 1), MCP_E_BUSY);
    assert_int_equal(mcp_error_errno(NULL, EACCES, "%d", 1), MCP_E_DENIED);
}

static void the_old_message_may_be_an_argument(void **state)
{
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    mcp_error_set(&err, MCP_E_IO, "cannot read");
    mcp_error_set(&err, MCP_E_IO, "%s of the case: %s", "hydros.json", err.message);
    assert_string_equal(err.message, "hydros.json of the case: cannot read");
}

static void errno_becomes_status_and_words(void **state)
{
    static const struct {
        int errno_value;
        mcp_status status;
    } rows[] = {
        { ENOENT, MCP_E_NOT_FOUND }, { ENOTDIR, MCP_E_NOT_FOUND }, { EACCES, MCP_E_DENIED },
        { EPERM, MCP_E_DENIED },     { ENOMEM, MCP_E_NOMEM },      { EIO, MCP_E_IO },
        { ENOSPC, MCP_E_IO },        { 999999, MCP_E_IO },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char wanted[200] = "opening x: ";
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(mcp_error_errno(&err, rows[i].errno_value, "opening %s", "x"),
                         rows[i].status);
        assert_int_equal(err.status, rows[i].status);
        assert_int_equal(err.offset, -1);
        strncat(wanted, strerror(rows[i].errno_value), 100);
        assert_string_equal(err.message, wanted);
    }
}

static void long_messages_are_cut_between_characters(void **state)
{
    (void)state;
    for (size_t lead = 230; lead < 245; lead++) {
        char text[300];
        mcp_error err = MCP_ERROR_INIT;
        memset(text, 'x', lead);
        memcpy(text + lead, "\xE2\x82\xAC\xF0\x9F\x98\x80", 8); /* a euro sign and a face */
        mcp_error_set(&err, MCP_E_IO, "%s", text);
        size_t length = strlen(err.message);
        size_t kept = lead + 7 <= 239 ? lead + 7 : lead + 3 <= 239 ? lead + 3 : lead;
        assert_int_equal(length, kept <= 239 ? kept : 239);
        assert_true(mcp__utf8_valid(err.message, length, NULL));
        assert_memory_equal(err.message, text, length);
    }
}

static void what_is_quoted_stays_one_line_of_utf8(void **state)
{
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    mcp_error_set(&err, MCP_E_NOT_FOUND, "no tool \"%s\"", "a\nb\tc\x1b[0m\x7f\xff\xc3)");
    assert_string_equal(err.message, "no tool \"a b c [0m ?\?)\"");
}

static void statuses_have_names_words_and_codes(void **state)
{
    (void)state;
    assert_string_equal(mcp_status_name(MCP_OK), "OK");
    assert_string_equal(mcp_status_name(MCP_E_NOMEM), "E_NOMEM");
    assert_string_equal(mcp_status_words(MCP_E_NOMEM), "out of memory");
    assert_int_equal(mcp_status_code(MCP_OK), 0);
    /* JSON-RPC 2.0, section 5.1. */
    assert_int_equal(mcp_status_code(MCP_E_PARSE), -32700);
    assert_int_equal(mcp_status_code(MCP_E_REQUEST), -32600);
    assert_int_equal(mcp_status_code(MCP_E_METHOD), -32601);
    assert_int_equal(mcp_status_code(MCP_E_PARAMS), -32602);
    assert_int_equal(mcp_status_code(MCP_E_INTERNAL), -32603);
    /* What is no status is answered too: it may come from a handler. */
    assert_non_null(mcp_status_name((mcp_status)4711));
    assert_non_null(mcp_status_words((mcp_status)4711));
    assert_int_equal(mcp_status_code((mcp_status)4711), -32603);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_and_hands_the_status_back),
        cmocka_unit_test(the_old_message_may_be_an_argument),
        cmocka_unit_test(errno_becomes_status_and_words),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(what_is_quoted_stays_one_line_of_utf8),
        cmocka_unit_test(statuses_have_names_words_and_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
