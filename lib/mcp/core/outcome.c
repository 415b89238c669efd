/*
 * outcome.c - the statuses whose code or HTTP status depends on the era, or is not 200.
 *
 * What stands in no row has the code of mcp/error.h and is an ordinary answer to HTTP: a failed tool or a
 * missing resource is news for the client, not for the proxies between. `resource not found` lost its own
 * code with 2026-07-28.
 */
#include "mcp/core/outcome.h"

#include <stddef.h>

static const struct outcome {
    mcp_status status;
    struct {
        int code;
        int http;
    } session, stateless;
} outcomes[] = {
    /* status            session era       from 2026-07-28 */
    { MCP_E_PARSE,      { -32700, 400 }, { -32700, 400 } },
    { MCP_E_REQUEST,    { -32600, 400 }, { -32600, 400 } },
    { MCP_E_METHOD,     { -32601, 200 }, { -32601, 404 } },
    { MCP_E_RESOURCE,   { -32002, 200 }, { -32602, 200 } },
    { MCP_E_ENVELOPE,   { -32602, 400 }, { -32602, 400 } },
    { MCP_E_HEADERS,    { -32602, 400 }, { -32020, 400 } },
    { MCP_E_CAPABILITY, { -32602, 200 }, { -32021, 400 } },
    { MCP_E_REVISION,   { -32602, 200 }, { -32022, 400 } },
    { MCP_E_SCOPE,      { -32600, 403 }, { -32600, 403 } },
    { MCP_E_URL,        { -32042, 200 }, { -32603, 200 } },
};

static const struct outcome *find(mcp_status status)
{
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
        if (outcomes[i].status == status)
            return &outcomes[i];
    return NULL;
}

int mcp__outcome_code(mcp_status status, mcp_revision revision)
{
    const struct outcome *outcome = find(status);

    if (!outcome)
        return mcp_status_code(status);
    return revision > MCP_REVISION_NEWEST_SESSION ? outcome->stateless.code : outcome->session.code;
}

int mcp__outcome_http(mcp_status status, mcp_revision revision)
{
    const struct outcome *outcome = find(status);

    if (!outcome)
        return 200;
    return revision > MCP_REVISION_NEWEST_SESSION ? outcome->stateless.http : outcome->session.http;
}

bool mcp__outcome_is_hidden(mcp_status status)
{
    return status == MCP_E_INTERNAL || status == MCP_E_IO || status == MCP_E_NOMEM;
}
