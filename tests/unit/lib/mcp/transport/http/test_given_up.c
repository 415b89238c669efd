/*
 * test_given_up.c - what /metrics tells of handlers that do not stop on request, and
 * that others are served meanwhile, up to a bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "web_rig.h"

#define PATIENCE 2000 /* looks, 5 ms apart */

static sem_t gate;
static atomic_int behind_gate;

/* Never looks whether it should stop. */
static mcp_status stubborn(mcp_call *call, void *data)
{
    (void)data;
    behind_gate++;
    while (sem_wait(&gate) != 0)
        ;
    behind_gate--;
    return mcp_call_text(call, "late");
}

static mcp_status brief(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_text(call, "in time");
}

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"
static const mcp_file files[] = {
    { "tools/stubborn.json", TOOL("stubborn"), sizeof TOOL("stubborn") - 1 },
    { "tools/once.json", TOOL("once"), sizeof TOOL("once") - 1 },
    { "tools/brief.json", TOOL("brief"), sizeof TOOL("brief") - 1 },
    { 0 },
};
static const mcp_tool tools[] = {
    { "stubborn", stubborn, MCP_READS, 500, 0 }, /* a busy machine must have begun it by then */
    { "once", stubborn, MCP_READS | MCP_LONG, 500, 1 },
    { "brief", brief, MCP_READS, 300, 0 },
    { 0 },
};
static const mcp_features features = { .files = files, .tools = tools };

static web_rig *rig;
static web_answer answer;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char logged[4096];

static void keep_line(mcp_log_level level, const char *message, void *data)
{
    (void)level;
    (void)data;
    pthread_mutex_lock(&log_lock);
    (void)strncat(logged, message, sizeof logged - strlen(logged) - 1);
    pthread_mutex_unlock(&log_lock);
}

static bool was_logged(const char *words)
{
    pthread_mutex_lock(&log_lock);
    bool was = strstr(logged, words) != NULL;
    pthread_mutex_unlock(&log_lock);
    return was;
}

/* One thread, and one more at most in place of those that do not come back. */
static int begin(void **state)
{
    mcp_server_options server = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)state;
    sem_init(&gate, 0, 0);
    logged[0] = '\0';
    server.limits.short_threads = 1;
    server.limits.replacement_threads = 1;
    server.limits.stuck_handler_ms = 20;
    server.log = (mcp_log){ .sink = keep_line, .level = MCP_LOG_WARNING };
    http.sessions = MCP_SESSIONS_OFF;
    http.metrics = true;
    rig = web_start_with(&server, &http, &features);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        sem_post(&gate);
    mcp_status st = web_end(rig);
    sem_destroy(&gate);
    return st == MCP_OK ? 0 : -1;
}

/* What the tool is answered by has these words. */
static void expect(const char *tool, const char *words)
{
    char call[200];

    (void)snprintf(
        call, sizeof call,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\"}}",
        tool);
    web_ask(&answer, web_port(rig), "POST", "/mcp", NULL, call);
    if (!strstr(answer.body, words))
        fail_msg("%s: %d, %s", tool, answer.status, answer.body);
}

/* The metric gets there; how long that takes is not looked at. */
static void await_metric(const char *line)
{
    for (int i = 0; i < PATIENCE; i++) {
        web_ask(&answer, web_port(rig), "GET", "/metrics", NULL, NULL);
        if (strstr(answer.body, line))
            return;
        usleep(5000);
    }
    fail_msg("no %s in %s", line, answer.body);
}

static void await_behind_gate(int count)
{
    for (int i = 0; i < PATIENCE && behind_gate != count; i++)
        usleep(5000);
    assert_int_equal(behind_gate, count);
}

static void one_that_does_not_stop_is_replaced(void **state)
{
    (void)state;
    expect("stubborn", "stubborn ran longer than its time limit of 500 ms");
    await_metric("\nmcp_handlers_stuck 1\n");
    assert_non_null(strstr(answer.body, "\nmcp_handlers_given_up_total 1\n"));
    assert_true(was_logged("stubborn was asked to stop 20 ms ago and still runs: another thread"));
    expect("brief", "in time");
    assert_int_equal(behind_gate, 1);
    sem_post(&gate);
    await_metric("\nmcp_handlers_stuck 0\n");
    assert_non_null(strstr(answer.body, "\nmcp_handlers_given_up_total 1\n"));
    expect("brief", "in time");
}

static void no_more_are_replaced_than_may_be(void **state)
{
    (void)state;
    expect("stubborn", "ran longer");
    await_metric("\nmcp_handlers_stuck 1\n");
    expect("stubborn", "ran longer");
    await_metric("\nmcp_handlers_stuck 2\n");
    assert_true(was_logged("no further thread may take its place"));
    expect("stubborn", "ran longer"); /* it waits for a thread: there are two, not three */
    expect("brief", "ran longer");
    assert_int_equal(behind_gate, 2);
    sem_post(&gate);
    await_metric("\nmcp_handlers_stuck 1\n");
    expect("brief", "in time");
    assert_non_null(strstr(answer.body, "in time"));
    sem_post(&gate);
    await_behind_gate(0);
    expect("brief", "in time");
}

/* A long tool that may run once is not busy for ever. */
static void a_long_tool_can_be_called_again(void **state)
{
    (void)state;
    expect("once", "ran longer");
    await_metric("\nmcp_handlers_stuck 1\n");
    expect("once", "ran longer");
    await_metric("\nmcp_handlers_stuck 2\n");
    assert_int_equal(behind_gate, 2);
    expect("once", "once is running already");
    sem_post(&gate);
    sem_post(&gate);
    await_metric("\nmcp_handlers_stuck 0\n");
    expect("once", "ran longer");
    await_behind_gate(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_that_does_not_stop_is_replaced, begin, end),
        cmocka_unit_test_setup_teardown(no_more_are_replaced_than_may_be, begin, end),
        cmocka_unit_test_setup_teardown(a_long_tool_can_be_called_again, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
