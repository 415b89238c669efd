/*
 * authorize.h - the principal of a request: bearer tokens, as an OAuth 2.1 resource server takes
 * them (RFC 6750, RFC 9728).
 */
#ifndef MCP_TRANSPORT_AUTHORIZE_H
#define MCP_TRANSPORT_AUTHORIZE_H

#include <stdbool.h>

#include "mcp/transport/http_int.h"

/**
 * Read the file of tokens, and name ourselves.
 *
 * @param out    yours, free it with mcp__authorize_free
 * @param http   with the real port
 * @param scopes that features require in addition to the options' own, between spaces; NULL: none
 * @return MCP_OK; MCP_E_IO, MCP_E_NOT_FOUND, MCP_E_DENIED (the file cannot be read); MCP_E_PARAMS
 *         (a line of it, named, or an option that cannot be); MCP_E_NOMEM
 */
mcp_status mcp__authorize_new(mcp__authorize **out, const mcp_http_options *http,
                              const char *scopes, mcp_error *err);

/** NULL is fine. */
void mcp__authorize_free(mcp__authorize *authorize);

/* ---- where httpd->authorize is not NULL ------------------------------------------------------ */

/** Answer a request for the metadata of RFC 9728. @return false: it was none */
bool mcp__authorize_metadata(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** Judge a request's token before its body is read, as far as is known. @return false: it was
 *  answered */
bool mcp__authorize_head(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** Judge it for good, now or when a verifier has had its say; then mcp__httpd_dispatch, or the
 *  answer that says what is missing. */
void mcp__authorize_request(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** The challenge to a client whose token lacks scopes, as the value of WWW-Authenticate (RFC 6750,
 *  3.1). @param scopes that this request requires in addition to those of every request */
void mcp__authorize_challenge(const mcp__httpd *httpd, mcp_buf *field, const char *scopes);

#endif
