/*
 * claims.h - checking the claims of a token (RFC 7519 section 4, RFC 9068).
 */
#ifndef AUTH_CLAIMS_H
#define AUTH_CLAIMS_H

#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/http.h"
#include "mcp/json.h"

typedef struct auth_rules {
    const char *issuer;
    const char *resource;
    int64_t leeway_ms;
    const char *party; /* NULL: any */
} auth_rules;

/*
 * Check the claims, and read their principal.
 *
 * @param out    its texts in `arena`; expires_ms is the moment at which the claims expire
 * @param claims an object, of a token whose signature is good
 * @param now_ms wall clock
 * @return MCP_OK; MCP_E_DENIED (the message has no value of the options or the token); MCP_E_NOMEM
 */
mcp_status auth_claims_check(mcp_principal *out, const mcp_json *claims, const auth_rules *rules,
                             int64_t now_ms, mcp_arena *arena, mcp_error *err);

#endif
