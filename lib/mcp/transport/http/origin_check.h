/*
 * origin_check.h - which hosts a server answers to, and pages of which origins may call it.
 */
#ifndef MCP_TRANSPORT_HTTP_ORIGIN_CHECK_H
#define MCP_TRANSPORT_HTTP_ORIGIN_CHECK_H

#include <stdbool.h>

#include "mcp/transport/http/header_fields.h"
#include "mcp/transport/http/http_int.h"

/** Whether a Host field names this machine or one of `hosts` (a name, or a name with its port; ends
 *  with NULL; may be NULL). */
bool mcp__host_is_known(const char *host, const char *const *hosts);

/**
 * Whether an Origin field is the origin of the server itself: http or https of
 *  - the authority that the request's Host field names,
 *  - this machine, where `own_port` is the port of a loopback address that is listened on (0:
 *    none),
 *  - a name of `hosts`, at the port that stands with it, or else at the default port of http or
 *    https.
 *
 * @param host the request's Host field, which is known
 */
bool mcp__origin_is_own(const char *origin, const char *host, int own_port,
                        const char *const *hosts);

/** Check Host, Origin and Sec-Fetch-Site. @return false: the exchange was answered by 403 */
bool mcp__origin_check_pass(mcp__web *web, mcp__http_exchange *exchange);

/** Answer the preflight request of a page that may call (CORS). @return false: it is no such
 *  request */
bool mcp__origin_check_preflight(mcp__web *web, mcp__http_exchange *exchange);

/** The Origin where pages from there may read answers; NULL otherwise. Lives as long as the
 *  options. */
const char *mcp__origin_check_origin(const mcp__web *web, const mcp__http_exchange *exchange);

/** Let a page of that origin read the answer; NULL: no page may. */
void mcp__head_share(mcp__head *head, const char *origin);

/** The same with the fields that answers of routes may have. */
void mcp__head_share_route(mcp__head *head, const char *origin);

#endif
