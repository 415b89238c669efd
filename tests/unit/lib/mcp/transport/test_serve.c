/*
 * test_serve.c - the end of what serves, while other threads still use the server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "mcp/http.h"
#include "net/pool.h"

static mcp_server *server;
static int ends;

bool __real_mcp__pool_free(mcp__pool *pool);
bool __wrap_mcp__pool_free(mcp__pool *pool);

/* Linked in place of the real one (tests/CMakeLists.txt): another thread notifies when the workers
 * are gone, and the sessions are not yet. */
bool __wrap_mcp__pool_free(mcp__pool *pool)
{
    bool is_freed = __real_mcp__pool_free(pool);

    ends++;
    assert_true(is_freed);
    assert_int_equal(mcp_server_resource_updated(server, "more://late", NULL), MCP_OK);
    assert_int_equal(mcp_server_elicitation_complete(server, "late", NULL), MCP_OK);
    assert_int_equal(mcp_server_visibility_changed(server, MCP_FEATURE_TOOL, NULL), MCP_OK);
    return is_freed;
}

static void stop_server(int port, void *data)
{
    (void)port;
    (void)data;
    mcp_server_stop(server);
}

/* Any thread may notify at any time (server.h). */
static void a_notification_may_come_at_the_end(void **state)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)state;
    options.name = options.version = "1";
    options.list_changed = options.subscriptions = true;
    http.ready = stop_server;
    assert_int_equal(mcp_server_new(&server, &options, NULL), MCP_OK);
    for (int round = 1; round <= 2; round++) {
        assert_int_equal(mcp_server_http(server, &http, NULL), MCP_OK);
        assert_int_equal(ends, round);
    }
    mcp_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_notification_may_come_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
