/*
 * test_log.c - lines of the log: text or JSON, on standard error and in a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "scratch.h"
#include "serve/log.h"

enum { PART_MAIN, PART_DATABASE };

static const char *const parts[] = { "main", "database", NULL };
static scratch folder;
static char text[4096];

static void read_log(void)
{
    FILE *file = fopen(scratch_path(&folder, "log"), "r");

    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
}

static void open_log(serve_log *log, const char *level, const char *const *names)
{
    mcp_error err = MCP_ERROR_INIT;

    if (serve_log_open(log, level, scratch_path(&folder, "log"), names, &err) != MCP_OK)
        fail_msg("%s", err.message);
}

static int set_up(void **state)
{
    (void)state;
    scratch_open(&folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_close(&folder);
    return 0;
}

static void without_parts_lines_are_text(void **state)
{
    serve_log log;

    (void)state;
    open_log(&log, "warning", NULL);
    const mcp_log to = serve_log_of(&log, 0);
    mcp_log_write(&to, MCP_LOG_WARNING, "so %d", 1);
    mcp_log_write(&to, MCP_LOG_INFO, "below the level");
    serve_log_close(&log);
    read_log();
    assert_non_null(strstr(text, "Z level=warning so 1\n"));
    assert_null(strstr(text, "below the level"));
}

static void add(mcp_json_writer *json, const void *data)
{
    mcp_write_member_string(json, "id", data);
}

static void with_parts_lines_are_json(void **state)
{
    serve_log log;

    (void)state;
    open_log(&log, "debug", parts);
    const mcp_log to = serve_log_of(&log, PART_DATABASE);
    mcp_log_write(&to, MCP_LOG_ERROR, "a \"b\"");
    serve_log_line(&log, PART_MAIN, MCP_LOG_DEBUG, "command", add, "u-1");
    serve_log_close(&log);
    read_log();
    assert_non_null(strstr(
        text, "\"level\":\"error\",\"component\":\"database\",\"message\":\"a \\\"b\\\"\"}\n"));
    assert_non_null(strstr(text,
                           "\"level\":\"debug\",\"component\":\"main\",\"message\":\"command\","
                           "\"id\":\"u-1\"}\n"));
}

static void a_line_above_the_level_is_not_written(void **state)
{
    serve_log log;

    (void)state;
    open_log(&log, "fatal", parts);
    serve_log_line(&log, PART_MAIN, MCP_LOG_WARNING, "command", add, "u-1");
    serve_log_close(&log);
    read_log();
    assert_string_equal(text, "");
}

static void a_file_that_cannot_be_opened_is_an_error(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    serve_log log;

    (void)state;
    assert_int_equal(serve_log_open(&log, "info", "/nonexistent/log", NULL, &err), MCP_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/log cannot be opened for the log"));
    serve_log_close(&log);
    serve_log_close(NULL);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(without_parts_lines_are_text),
        EACH(with_parts_lines_are_json),
        EACH(a_line_above_the_level_is_not_written),
        EACH(a_file_that_cannot_be_opened_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
