/*
 * header_fields.h - header fields: the media types and the origin of a request, and the fields of
 * an answer.
 */
#ifndef MCP_TRANSPORT_HTTP_HEADER_FIELDS_H
#define MCP_TRANSPORT_HTTP_HEADER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/transport/http_int.h"

/** The media types that a client accepts. */
typedef struct mcp__accepted {
    bool json;
    bool events;
} mcp__accepted;

/**
 * Read one value of an Accept field (RFC 9110, 12.5.1) and add what it allows. Ranges with
 * wildcards count, those with q=0 do not.
 */
void mcp__field_accept(mcp__accepted *accepted, const char *value);

/** Whether a Content-Type is that media type, whatever its parameters. NULL: it is absent. */
bool mcp__field_is_type(const char *value, const char *type);

/** Whether a Content-Type is JSON: application/json, or a type with the suffix +json. NULL: it is
 *  absent. */
bool mcp__field_is_json(const char *value);

/** The header fields of an exchange, as the core reads them. */
typedef struct mcp__exchange_headers {
    mcp__headers face; /* first */
    const mcp__http_exchange *exchange;
} mcp__exchange_headers;

mcp__exchange_headers mcp__exchange_headers_of(const mcp__http_exchange *exchange);

/** Whether a Host field names this machine or one of `hosts` (a name, or a name with its port; ends
 *  with NULL; may be NULL). */
bool mcp__host_is_known(const char *host, const char *const *hosts);

/**
 * Check the lists of the options: an entry that no request can match is a mistake, and an origin
 * such as "null" stands for any page.
 *
 * @return MCP_OK; MCP_E_PARAMS: the message has the entry
 */
mcp_status mcp__origin_check_lists(const char *const *hosts, const char *const *origins,
                                   mcp_error *err);

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

/** Check Host, Origin and Sec-Fetch-Site, and answer the preflight request of a page that may call
 *  (CORS). @return false: the exchange was answered */
bool mcp__origin_check_pass(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** The Origin where pages from there may read answers; NULL otherwise. Lives as long as the
 *  options. */
const char *mcp__origin_check_origin(const mcp__httpd *httpd, const mcp__http_exchange *exchange);

/** Header fields that a route's handler may set. */
#define MCP__REST_FIELDS_MAX 16

#define MCP__HEAD_FIELDS (10 + MCP__REST_FIELDS_MAX)

/** Fields of an answer; the texts are borrowed. */
typedef struct mcp__head {
    mcp__http_field_out fields[MCP__HEAD_FIELDS];
    size_t count;
} mcp__head;

/** Add a field; not where `value` is NULL. */
void mcp__head_add(mcp__head *head, const char *name, const char *value);

/** Add the fields of a stream of events. */
void mcp__head_events(mcp__head *head);

/** The fields that a page may read: of answers of MCP, and of routes. */
#define MCP__EXPOSED "Mcp-Session-Id, WWW-Authenticate"
#define MCP__EXPOSED_OF_ROUTES                                                                     \
    "ETag, Location, Next-Cursor, Retry-After, WWW-Authenticate, X-Correlation-Id"

/** Let a page of that origin read the answer; NULL: no page may. */
void mcp__head_share(mcp__head *head, const char *origin, const char *exposed);

mcp__http_head_out mcp__head_out(const mcp__head *head, int status);

/** Answer whole. The exchange is over. @param body taken; NULL or empty: none */
void mcp__head_reply(const mcp__head *head, mcp__http_exchange *exchange, int status,
                     mcp_buf *body);

#endif
