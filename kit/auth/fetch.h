/*
 * fetch.h - getting the keys from the configured address.
 */
#ifndef AUTH_FETCH_H
#define AUTH_FETCH_H

#include "mcp/buf.h"
#include "mcp/error.h"

#define AUTH_FETCH_TIMEOUT_MS 5000

/* MCP_OK; MCP_E_PARAMS: not https, nor http to this machine; or it has a user name. */
mcp_status auth_fetch_check(const char *url, mcp_error *err);

/*
 * Get `url`, which auth_fetch_check has accepted; redirects are not followed. Blocks for
 * AUTH_FETCH_TIMEOUT_MS at most. Any thread.
 *
 * @param body    appended to, within its bound
 * @param ca_file PEM certificates to trust; NULL: the system's
 * @return MCP_OK; MCP_E_LIMIT (longer than `body` may be); MCP_E_TIMEOUT; MCP_E_IO (not reached, an
 *         untrusted certificate, or an answer other than 200); MCP_E_UNSUPPORTED (no libcurl);
 *         MCP_E_NOMEM
 */
mcp_status auth_fetch(mcp_buf *body, const char *url, const char *ca_file, mcp_error *err);

#endif
