/*
 * test_log.c - levels, cutting, and the sink for standard error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mcp/log.h"

typedef struct lines {
    int count;
    mcp_log_level level;
    char last[2000];
} lines;

static void keep(mcp_log_level level, const char *message, void *data)
{
    lines *seen = data;

    seen->count++;
    seen->level = level;
    snprintf(seen->last, sizeof seen->last, "%s", message);
}

static void the_level_decides(void **state)
{
    lines seen = { 0 };
    mcp_log log = { keep, &seen, MCP_LOG_WARNING };

    (void)state;
    mcp_log_write(&log, MCP_LOG_ERROR, "%s", "one");
    assert_int_equal(seen.level, MCP_LOG_ERROR);
    mcp_log_write(&log, MCP_LOG_WARNING, "stage %d", 2);
    assert_string_equal(seen.last, "stage 2");
    mcp_log_write(&log, MCP_LOG_INFO, "%s", "not seen");
    mcp_log_write(&log, MCP_LOG_DEBUG, "%s", "not seen");
    mcp_log_write(&log, MCP_LOG_OFF, "%s", "not seen");
    assert_int_equal(seen.count, 2);
}

static void nothing_to_log_to_is_fine(void **state)
{
    mcp_log silent = { 0 };
    lines seen = { 0 };
    mcp_log off = { keep, &seen, MCP_LOG_OFF };

    (void)state;
    mcp_log_write(NULL, MCP_LOG_ERROR, "%s", "x");
    mcp_log_write(&silent, MCP_LOG_ERROR, "%s", "x");
    mcp_log_write(&off, MCP_LOG_ERROR, "%s", "x");
    assert_int_equal(seen.count, 0);
}

static void long_and_broken_lines(void **state)
{
    lines seen = { 0 };
    mcp_log log = { keep, &seen, MCP_LOG_DEBUG };
    char text[1500];

    (void)state;
    memset(text, 'x', sizeof text);
    text[1499] = '\0';
    mcp_log_write(&log, MCP_LOG_INFO, "%s", text);
    assert_int_equal(strlen(seen.last), 1000);
    memcpy(text + 998, "\xE2\x82\xAC", 3);
    mcp_log_write(&log, MCP_LOG_INFO, "%s", text);
    assert_int_equal(strlen(seen.last), 998);
    mcp_log_write(&log, MCP_LOG_INFO, "%s", "a\nb\xff");
    assert_string_equal(seen.last, "a b?");
}

static void standard_error_gets_one_line(void **state)
{
    char text[2000] = { 0 };
    int pipes[2];

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    int saved = dup(STDERR_FILENO);
    dup2(pipes[1], STDERR_FILENO);
    mcp_log_stderr(MCP_LOG_INFO, "ready", NULL);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(pipes[1]);
    ssize_t length = read(pipes[0], text, sizeof text - 1);
    close(pipes[0]);
    assert_int_equal(length, 24 + strlen(" level=info ready\n"));
    assert_string_equal(text + 24, " level=info ready\n");
    assert_int_equal(text[10], 'T');
    assert_int_equal(text[19], '.');
    assert_int_equal(text[23], 'Z');
}

static void levels_have_names(void **state)
{
    (void)state;
    assert_string_equal(mcp_log_level_name(MCP_LOG_OFF), "off");
    assert_string_equal(mcp_log_level_name(MCP_LOG_ERROR), "error");
    assert_string_equal(mcp_log_level_name(MCP_LOG_WARNING), "warning");
    assert_string_equal(mcp_log_level_name(MCP_LOG_INFO), "info");
    assert_string_equal(mcp_log_level_name(MCP_LOG_DEBUG), "debug");
    assert_string_equal(mcp_log_level_name((mcp_log_level)99), "off");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_decides),     cmocka_unit_test(nothing_to_log_to_is_fine),
        cmocka_unit_test(long_and_broken_lines), cmocka_unit_test(standard_error_gets_one_line),
        cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
