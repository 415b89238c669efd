/*
 * gate.c - against pages on foreign names that resolve to this machine, and pages of others at all.
 *
 * A browser tells by Host where a page believes it is talking to, and by Origin where the page is from.
 * Programs that are no browsers send the first rightly and the second not at all. A Unix-domain socket is
 * guarded by its file mode, no browser gets there.
 */
#include "mcp/transport/web/gate.h"

#include <string.h>
#include <strings.h>

#include "mcp/transport/web/field.h"
#include "mcp/transport/web/head.h"

#define REQUEST_DENIED (-32000)

const char *mcp__gate_origin(const mcp__web *web, const mcp__http_exchange *exchange)
{
    const char *const *origins = web->http.origins;
    const char *origin = origins ? mcp__http_field(exchange, "Origin") : NULL;

    for (; origin && *origins; origins++)
        if (strcmp(origin, *origins) == 0)
            return *origins;
    return NULL;
}

static bool is_known_origin(const mcp__web *web, const mcp__http_exchange *exchange)
{
    const char *origin = mcp__http_field(exchange, "Origin");

    if (!origin)
        return true;
    if (mcp__http_field_count(exchange, "Origin") != 1)
        return false;
    return mcp__field_origin_is_known(origin, web->http.hosts) || mcp__gate_origin(web, exchange);
}

bool mcp__gate_pass(mcp__web *web, mcp__http_exchange *exchange)
{
    const char *host = mcp__http_field(exchange, "Host");
    const char *fault = NULL;

    if (mcp__http_is_unix(exchange))
        return true;
    if (!host || !mcp__field_host_is_known(host, web->http.hosts))
        fault = "this Host is not served";
    else if (!is_known_origin(web, exchange))
        fault = "this Origin may not call";
    if (!fault)
        return true;
    web->counts.refused++;
    mcp__web_refuse(web, exchange, 403, REQUEST_DENIED, NULL, fault);
    return false;
}

/* The headers that MCP has, and what the browser names of our own family. */
static void allow_headers(mcp__head *head, mcp_buf *list, const char *asked)
{
    (void)mcp_buf_puts(list, "Content-Type, Authorization, Mcp-Session-Id, MCP-Protocol-Version, "
                             "Mcp-Method, Mcp-Name, Last-Event-ID, If-Match, If-None-Match");
    for (const char *at = asked; at && *at;) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ", \t");
        if (strncasecmp(at, "mcp-param-", 10) == 0) {
            (void)mcp_buf_puts(list, ", ");
            (void)mcp_buf_append(list, at, length);
        }
        at += length;
    }
    mcp__head_add(head, "Access-Control-Allow-Headers", list->data);
}

bool mcp__gate_preflight(mcp__web *web, mcp__http_exchange *exchange)
{
    const char *origin = mcp__gate_origin(web, exchange);
    mcp__head head = { .count = 0 };
    mcp_buf list;

    if (!origin || strcmp(mcp__http_method(exchange), "OPTIONS") != 0)
        return false;
    mcp_buf_init(&list, (size_t)32 * 1024);
    mcp__head_share(&head, origin);
    mcp__head_add(&head, "Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS");
    allow_headers(&head, &list, mcp__http_field(exchange, "Access-Control-Request-Headers"));
    mcp__head_add(&head, "Access-Control-Max-Age", "600");
    mcp__http_head_out out = mcp__head_out(&head, 204);
    (void)mcp__http_reply(exchange, &out, NULL, 0, NULL);
    mcp_buf_clear(&list);
    return true;
}
