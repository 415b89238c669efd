/*
 * route_table.h - finding the REST route of a request, and its arguments.
 */
#ifndef MCP_TRANSPORT_HTTP_REST_ROUTE_TABLE_H
#define MCP_TRANSPORT_HTTP_REST_ROUTE_TABLE_H

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/core/call/execute.h"
#include "mcp/http.h"
#include "mcp/transport/http_int.h"

/** Segments of a path, and members of a query, that are looked at; more are refused. */
#define MCP__ROUTE_PARTS 64

/** Check a table: every row has a known method, a path that begins with "/", and a handler. */
mcp_status mcp__route_check(const mcp_route *routes, mcp_error *err);

/** Room for the budgets of its rows, zeroed; the caller's, to free. */
mcp_status mcp__route_inline_budgets(mcp__inline_budget **out, const mcp_route *routes,
                                     mcp_error *err);

/** How many of its rows are MCP_LONG. */
int mcp__route_long_count(const mcp_route *routes);

/**
 * The row of a request; HEAD finds those of GET.
 *
 * @param path    not decoded
 * @param allowed where the path is known and the method is not: the methods that it has, as the
 *                field Allow; a buffer that is empty, or NULL
 * @return NULL: none; then `allowed` is empty where the path is unknown too
 */
const mcp_route *mcp__route_find(const mcp_route *routes, const char *method, const char *path,
                                 size_t length, mcp_buf *allowed);

/**
 * The variables of the path and the members of the query as an object of strings, the former first.
 *
 * @param query NULL: none
 * @return MCP_OK; MCP_E_PARAMS: bad percent-encoding, text that is not UTF-8 or has a NUL, too
 *         many; MCP_E_NOMEM
 */
mcp_status mcp__route_arguments(const mcp_json **out, mcp_arena *arena, const mcp_route *route,
                                const char *path, size_t length, const char *query, mcp_error *err);

/** Bytes of the field Allow. */
#define MCP__ROUTE_ALLOWED_MAX ((size_t)1024)

/** The route of a request; NULL: none. @param allowed then gets the methods that its path has */
const mcp_route *mcp__route_of(const mcp__httpd *httpd, const mcp__http_exchange *exchange,
                               mcp_buf *allowed);

/** Whether a request of no path of MCP's requires no token: its route is MCP_PUBLIC, or its path is
 *  one of an authorization server and not served (404). */
bool mcp__route_is_open(const mcp__httpd *httpd, const mcp__http_exchange *exchange);

#endif
