/*
 * test_buf.c - bytes that grow up to a bound and no further.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/buf.h"
#include "oom.h"

static void appends_and_ends_in_nul(void **state)
{
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 1000);
    assert_null(buf.data);
    assert_int_equal(mcp_buf_puts(&buf, "stage "), MCP_OK);
    assert_int_equal(mcp_buf_printf(&buf, "%d of %d", 1, 4), MCP_OK);
    assert_int_equal(mcp_buf_putc(&buf, '.'), MCP_OK);
    assert_int_equal(mcp_buf_append(&buf, "\0x", 2), MCP_OK);
    assert_int_equal(mcp_buf_append(&buf, NULL, 0), MCP_OK);
    assert_int_equal(buf.length, 15);
    assert_memory_equal(buf.data, "stage 1 of 4.\0x", 16);
    mcp_buf_clear(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.length, 0);
    assert_int_equal(buf.max_bytes, 1000);
}

static void fills_exactly_to_the_bound(void **state)
{
    static const size_t bounds[] = { 1, 2, 127, 128, 129, 255, 256, 1000 };

    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        mcp_buf buf;
        mcp_buf_init(&buf, bounds[i]);
        for (size_t k = 0; k < bounds[i]; k++)
            assert_int_equal(mcp_buf_putc(&buf, 'x'), MCP_OK);
        assert_int_equal(buf.length, bounds[i]);
        assert_true(buf.capacity <= bounds[i] + 1);
        assert_int_equal(mcp_buf_putc(&buf, 'x'), MCP_E_LIMIT);
        assert_int_equal(buf.length, bounds[i]);
        assert_int_equal(buf.data[buf.length], '\0');
        mcp_buf_clear(&buf);
    }
}

static void the_first_failure_sticks(void **state)
{
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 10);
    assert_int_equal(mcp_buf_puts(&buf, "12345678"), MCP_OK);
    assert_int_equal(mcp_buf_puts(&buf, "123"), MCP_E_LIMIT);
    assert_int_equal(mcp_buf_puts(&buf, "1"), MCP_E_LIMIT);
    assert_int_equal(mcp_buf_printf(&buf, "%d", 1), MCP_E_LIMIT);
    assert_null(mcp_buf_reserve(&buf, 0));
    assert_string_equal(buf.data, "12345678");
    mcp_buf_reset(&buf);
    assert_int_equal(buf.status, MCP_OK);
    assert_string_equal(buf.data, "");
    assert_int_equal(mcp_buf_puts(&buf, "1234567890"), MCP_OK);
    assert_string_equal(buf.data, "1234567890");
    mcp_buf_clear(&buf);
}

static void absurd_lengths_are_refused(void **state)
{
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, SIZE_MAX);
    assert_int_equal(mcp_buf_puts(&buf, "x"), MCP_OK);
    assert_null(mcp_buf_reserve(&buf, SIZE_MAX));
    assert_int_equal(buf.status, MCP_E_LIMIT);
    mcp_buf_reset(&buf);
    assert_null(mcp_buf_reserve(&buf, SIZE_MAX - 1));
    assert_int_equal(buf.status, MCP_E_LIMIT);
    mcp_buf_clear(&buf);
}

static void reserves_and_commits(void **state)
{
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 100000);
    for (int i = 0; i < 100; i++) {
        char *room = mcp_buf_reserve(&buf, 1000);
        assert_non_null(room);
        memset(room, 'a' + i % 26, 1000);
        mcp_buf_commit(&buf, 500);
    }
    assert_int_equal(buf.length, 50000);
    for (int i = 0; i < 50000; i++)
        assert_int_equal(buf.data[i], 'a' + i / 500 % 26);
    mcp_buf_clear(&buf);
}

static void gives_its_bytes_away(void **state)
{
    mcp_buf buf;
    size_t length = 99;

    (void)state;
    mcp_buf_init(&buf, 100);
    assert_null(mcp_buf_take(&buf, &length));
    assert_int_equal(length, 0);
    mcp_buf_puts(&buf, "mine");
    char *bytes = mcp_buf_take(&buf, &length);
    assert_string_equal(bytes, "mine");
    assert_int_equal(length, 4);
    assert_null(buf.data);
    assert_int_equal(mcp_buf_puts(&buf, "next"), MCP_OK);
    assert_string_equal(buf.data, "next");
    mcp_buf_reset(&buf);
    assert_null(mcp_buf_take(&buf, NULL)); /* and what it held is freed */
    assert_null(buf.data);
    free(bytes);
}

static mcp_status fill(void *data)
{
    mcp_buf buf;

    (void)data;
    mcp_buf_init(&buf, 100000);
    for (int i = 0; i < 3000; i++)
        mcp_buf_printf(&buf, "%d ", i);
    mcp_status st = buf.status;
    mcp_buf_clear(&buf);
    return st;
}

static void survives_running_out_of_memory(void **state)
{
    (void)state;
    oom_walk(fill, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_and_ends_in_nul),
        cmocka_unit_test(fills_exactly_to_the_bound),
        cmocka_unit_test(the_first_failure_sticks),
        cmocka_unit_test(absurd_lengths_are_refused),
        cmocka_unit_test(reserves_and_commits),
        cmocka_unit_test(gives_its_bytes_away),
        cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
