/*
 * test_response.c - codes and HTTP statuses by era, as the specification's table of errors has
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mcp/core/response.h"
#include <cmocka.h>

static void codes_follow_the_era(void **state)
{
    static const struct {
        mcp_status status;
        int session, stateless;
    } rows[] = {
        { MCP_E_PARSE, -32700, -32700 },      { MCP_E_REQUEST, -32600, -32600 },
        { MCP_E_METHOD, -32601, -32601 },     { MCP_E_PARAMS, -32602, -32602 },
        { MCP_E_INTERNAL, -32603, -32603 },   { MCP_E_RESOURCE, -32002, -32602 },
        { MCP_E_ENVELOPE, -32602, -32602 },   { MCP_E_HEADERS, -32602, -32020 },
        { MCP_E_CAPABILITY, -32602, -32021 }, { MCP_E_REVISION, -32602, -32022 },
        { MCP_E_NOMEM, -32603, -32603 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(mcp__response_code(rows[i].status, MCP_2024_11_05), rows[i].session);
        assert_int_equal(mcp__response_code(rows[i].status, MCP_2025_11_25), rows[i].session);
        assert_int_equal(mcp__response_code(rows[i].status, MCP_2026_07_28), rows[i].stateless);
    }
}

static void http_follows_the_era(void **state)
{
    static const struct {
        mcp_status status;
        int session, stateless;
    } rows[] = {
        { MCP_OK, 200, 200 },           { MCP_E_PARSE, 400, 400 },    { MCP_E_REQUEST, 400, 400 },
        { MCP_E_METHOD, 200, 404 },     { MCP_E_PARAMS, 200, 200 },   { MCP_E_INTERNAL, 200, 200 },
        { MCP_E_RESOURCE, 200, 200 },   { MCP_E_ENVELOPE, 400, 400 }, { MCP_E_HEADERS, 400, 400 },
        { MCP_E_CAPABILITY, 200, 400 }, { MCP_E_REVISION, 200, 400 }, { MCP_E_BUSY, 200, 200 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(mcp__response_http(rows[i].status, MCP_2025_11_25), rows[i].session);
        assert_int_equal(mcp__response_http(rows[i].status, MCP_2026_07_28), rows[i].stateless);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_follow_the_era),
        cmocka_unit_test(http_follows_the_era),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
