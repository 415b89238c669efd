/*
 * test_memory.c - a whole start without memory: the line, the flags, the server with its features,
 * one message, the end. Each allocation is refused in turn, those of C++ too, and each ends as an
 * error and not as a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "oom.h"
#include "scratch.h"
#include "serve/serve.h"

static const char echo_json[] =
    "{\"name\":\"echo\",\"description\":\"says it again\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"n\":{\"type\":\"number\",\"minimum\":0.5},"
    "\"word\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}}}}";
static const mcp_file files[] = { { "tools/echo.json", echo_json, sizeof echo_json - 1 }, { 0 } };

static mcp_status echo(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_text(call, "hello");
}

static const mcp_tool tools[] = { { .name = "echo", .run = echo, .flags = MCP_READS }, { 0 } };

static const serve_server server = {
    .options = { .name = "test", .version = "1" },
    .features = { .files = files, .tools = tools },
};

static int serve(const cli_line *line, void *data)
{
    return serve_run(&server, line, data);
}

static const cli_option options[] = { SERVE_OPTIONS("stdio", "3000", "warning"),
                                      SERVE_OPTION_ALLOWED_DIRS,
                                      { 0 } };
static const cli_command commands[] = {
    { .name = "", .summary = "serves", .options = options, .run = serve },
    { 0 },
};
static const cli_program program = {
    .name = "test", .version = "1", .summary = "serves", .commands = commands
};

static char said[4096];

/* Descriptor 0 and 1 are the server's while it serves. */
static void redirect(int earlier[2], const char *input)
{
    int in = open(input, O_RDONLY | O_CLOEXEC), out = open("/dev/null", O_WRONLY | O_CLOEXEC);

    assert_true(in >= 0 && out >= 0);
    fflush(stdout);
    for (int fd = 0; fd < 2; fd++)
        earlier[fd] = dup(fd);
    assert_true(dup2(in, 0) == 0 && dup2(out, 1) == 1);
    close(in);
    close(out);
}

static void restore(const int earlier[2])
{
    for (int fd = 0; fd < 2; fd++) {
        dup2(earlier[fd], fd);
        close(earlier[fd]);
    }
}

static mcp_status start_and_stop(void *data)
{
    char *argv[] = { (char *)"test", (char *)"--allowed-dirs", (char *)"/",
                     (char *)"--tool-names=safe" };
    static char room[sizeof said];
    int earlier[2];
    FILE *err = fmemopen(room, sizeof room, "w");

    assert_non_null(err);
    redirect(earlier, data);
    int exit_status = cli_main(&program, 4, argv, err, err, NULL);
    restore(earlier);
    fclose(err);
    memcpy(said, room, sizeof said);
    if (exit_status == SERVE_EXIT_DONE)
        return MCP_OK;
    return strstr(said, "memory") ? MCP_E_NOMEM : MCP_E_INTERNAL;
}

static void a_start_without_memory_is_an_error(void **state)
{
    (void)state;
    assert_true(oom_has_new);
    oom_walk(start_and_stop, (void *)"/dev/null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_without_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
