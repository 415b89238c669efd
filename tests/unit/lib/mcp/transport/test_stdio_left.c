/*
 * test_stdio_left.c - a handler that outlives the server that it was called by.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcp/mcp.h"

#define WAIT_MS 120000 /* for anything; only a failure takes so long */

static sem_t may_end, has_ended;

/* Uses its call as a handler may, long after the call was answered with an error. */
static mcp_status outlive(mcp_call *call, void *data)
{
    mcp_progress progress = { .progress = 1 };

    (void)data;
    (void)sem_wait(&may_end);
    if (mcp_call_stop(call) == MCP_STOP_NONE)
        _exit(3);
    (void)mcp_call_progress(call, &progress);
    (void)mcp_call_log(call, MCP_LEVEL_ERROR, NULL, "late");
    (void)mcp_server_resource_updated(mcp_call_server(call), "test://late", NULL);
    mcp_status st = mcp_call_text(call, "late");
    (void)sem_post(&has_ended);
    return st;
}

static const char definition[] = "{\"name\":\"outlive\",\"inputSchema\":{\"type\":\"object\"}}";
static const mcp_file files[] = { { "tools/outlive.json", definition, sizeof definition - 1 },
                                  { 0 } };
static const mcp_tool tools[] = { { "outlive", outlive, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features features = { .files = files, .tools = tools };

/* What lay on the stack is not there any more. */
static void overwrite_stack(void)
{
    volatile char room[32768];

    for (size_t i = 0; i < sizeof room; i++)
        room[i] = 0x5a;
}

static int serve(void)
{
    mcp_server_options options = { .name = "s", .version = "1", .limits.grace_ms = 50 };
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    options.logging = options.subscriptions = true;
    if (mcp_server_new(&server, &options, NULL) != MCP_OK ||
        mcp_server_add(server, &features, NULL) != MCP_OK ||
        mcp_server_stdio(server, NULL) != MCP_OK)
        return 1;
    if (mcp_server_stdio(server, &err) != MCP_E_BUSY || !strstr(err.message, "still runs"))
        return 2;
    mcp_server_free(server);
    overwrite_stack();
    (void)sem_post(&may_end);
    (void)sem_wait(&has_ended);
    return 0;
}

/* server.h: mcp_server_free keeps the memory that such calls may still use. */
static void what_a_handler_uses_outlives_the_server(void **state)
{
    static const char call[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"outlive\","
        "\"_meta\":{\"progressToken\":1}}}\n";
    char answer[1000] = "";
    int in[2];
    int out[2];
    int status = 0;

    (void)state;
    assert_int_equal(sem_init(&may_end, 0, 0), 0);
    assert_int_equal(sem_init(&has_ended, 0, 0), 0);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        (void)close(in[1]);
        (void)alarm(WAIT_MS / 1000);
        _exit(serve());
    }
    (void)close(in[0]);
    (void)close(out[1]);
    assert_int_equal(write(in[1], call, sizeof call - 1), sizeof call - 1);
    (void)close(in[1]);
    assert_true(read(out[0], answer, sizeof answer - 1) > 0);
    assert_non_null(strstr(answer, "\"error\""));
    (void)close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_handler_uses_outlives_the_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
