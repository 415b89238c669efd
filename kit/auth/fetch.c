/*
 * fetch.c - one bounded GET of the keys' address.
 *
 * The operator sets the address, so there is no egress list. http is for tests and for a proxy on
 * this machine.
 */
#include "auth/fetch.h"

#include "fetch/fetch.h"
#include "fetch/url.h"

mcp_status auth_fetch_check(const char *url, mcp_error *err)
{
    fetch_url parts;

    if (fetch_url_read(&parts, url, NULL) != MCP_OK || !fetch_url_is_trustworthy(&parts))
        return mcp_error_set(err, MCP_E_PARAMS, "the keys' address must be an https one");
    return MCP_OK;
}

static mcp_status take_bytes(void *data, const fetch_result *so_far, const char *bytes,
                             size_t length, mcp_error *err)
{
    mcp_buf *body = data;

    (void)so_far;
    if (mcp_buf_append(body, bytes, length) == MCP_OK)
        return MCP_OK;
    return mcp_error_set(err, body->status, "the keys' address answers more than %zu bytes",
                         body->max_bytes);
}

static mcp_status get(fetch_result *result, fetch *pool, mcp_buf *body, const char *url,
                      mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    fetch_request request = {
        .url = url,
        .timeout_ms = AUTH_FETCH_TIMEOUT_MS,
        .connect_ms = AUTH_FETCH_TIMEOUT_MS,
        .body_max_bytes = body->max_bytes + 1, /* so that the bound of `body` is the one met */
        .may_repeat = true,
        .on_body = take_bytes,
        .data = body,
    };

    mcp_status st = fetch_run(result, pool, &request, &cause);
    if (st == MCP_E_TIMEOUT)
        return mcp_error_set(err, st, "the keys' address does not answer within %d ms",
                             AUTH_FETCH_TIMEOUT_MS);
    if (body->status != MCP_OK || st == MCP_E_LIMIT)
        return mcp_error_set(err, st, "%s", cause.message);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "the keys' address fails: %s", cause.message);
    if (result->status != 200)
        return mcp_error_set(err, MCP_E_IO, "the keys' address answers with status %d",
                             result->status);
    return MCP_OK;
}

mcp_status auth_fetch(mcp_buf *body, const char *url, const char *ca_file, mcp_error *err)
{
    fetch *pool = NULL;
    fetch_result result;
    const fetch_options options = {
        .any_address = true, .environment_proxy = true, .ca_file = ca_file, .kept_max = 1
    };

    mcp_status st = fetch_open(&pool, &options, err);
    if (st != MCP_OK)
        return st;
    st = get(&result, pool, body, url, err);
    fetch_result_clear(&result);
    fetch_close(pool);
    return st;
}
