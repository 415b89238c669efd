/*
 * token.h - a JSON Web Token in its compact form: header "." claims "." signature.
 */
#ifndef AUTH_TOKEN_H
#define AUTH_TOKEN_H

#include <stddef.h>

#include "auth/algorithm.h"
#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

/* The longest name of a key. */
#define AUTH_KID_MAX 255

/* Untrusted until its signature is checked. */
typedef struct auth_token {
    const char *text; /* all of it, borrowed */
    size_t length;
    const auth_algorithm *algorithm;
    const char *kid;    /* name of the key; NULL: none */
    const char *type;   /* as auth_token_type spells it; NULL: it says none */
    const char *claims; /* still base64url, within `text` */
    size_t claims_length;
    size_t signature_length; /* in bytes */
} auth_token;

/* "at+jwt" or "jwt": the type that a text names, with or without "application/", in any case of its
 * letters; NULL: it is not one of an access token. */
const char *auth_token_type(const char *text);

/*
 * Read all but the claims.
 *
 * @return MCP_OK; MCP_E_DENIED (malformed, or an algorithm that is not accepted); MCP_E_NOMEM
 */
mcp_status auth_token_read(auth_token *out, const char *text, size_t length, mcp_arena *arena,
                           mcp_error *err);

/* The claims: an object without duplicate members. MCP_E_DENIED when they are not; MCP_E_NOMEM. */
mcp_status auth_token_claims(const mcp_json **out, const auth_token *token, mcp_arena *arena,
                             mcp_error *err);

#endif
