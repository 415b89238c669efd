/**
 * auth.h - authorization: bearer tokens, principals and scopes (RFC 6750, RFC 9728).
 */
#ifndef MCP_AUTH_H
#define MCP_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/call.h"
#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The identity that a token authenticates. */
typedef struct mcp_principal {
    const char *name;   /* owner of the sessions and tasks that are opened with the token */
    const char *scopes; /* separated by spaces; "" for none */
    /** Wall clock. The token is verified again then, and what was opened with it and has no end
     *  ends: a WebSocket by 1008, a stream of events in order. 0: verified again within a minute,
     *  and nothing ends. */
    int64_t expires_ms;
} mcp_principal;

/**
 * Verifies a bearer token. Runs on a worker, several at once; may block.
 *
 * @param out filled when MCP_OK is returned; its strings belong to `arena`
 * @return MCP_OK; MCP_E_DENIED: the token is invalid, err->message is sent to the client; any other
 *         status: the token could not be verified, the client gets 503
 */
typedef mcp_status mcp_token_verifier(mcp_principal *out, const char *token, mcp_arena *arena,
                                      void *data, mcp_error *err);

/** The name of the client's principal; NULL on a server that requires no token. */
const char *mcp_call_principal(const mcp_call *call);

/** The scopes of the client's token, separated by spaces; NULL on a server that requires no
 *  token. */
const char *mcp_call_scopes(const mcp_call *call);

/** Whether the client's token has all these scopes, separated by spaces. True on a server that
 *  requires no token. */
bool mcp_call_has_scopes(const mcp_call *call, const char *scopes);

/**
 * Require scopes that depend on the request. Scopes that a tool, resource or prompt always requires
 * are listed in its file (tool.h).
 *
 * @return MCP_OK; MCP_E_SCOPE: return it; the client is notified of the scopes that it needs (HTTP
 *         403 with the challenge of RFC 6750 while nothing else was sent, otherwise an error)
 */
mcp_status mcp_call_require_scopes(mcp_call *call, const char *scopes);

/** Authorization as an OAuth 2.1 resource server (RFC 6750, RFC 9728). */
typedef struct mcp_http_auth {
    /** A file of tokens with lines "SHA-256 in hexadecimal, principal, scopes...", separated by
     *  blanks; "#" begins a comment line. NULL: none. */
    const char *tokens_file;
    /** Tokens in clear text, as in an environment variable, ending with NULL; stored as hashes.
     *  Their principal is "token", with the scopes of `scope`. NULL: none. */
    const char *const *tokens;
    /** The scopes of a token without any: of a line of the file that has none, and of the tokens in
     *  clear text, besides `scope`. Separated by spaces; NULL: none. */
    const char *default_scopes;
    mcp_token_verifier *verify; /* called for tokens that neither of the two has; NULL: none */
    void *verify_data;          /* passed to `verify` */
    const char *scope;          /* required by every request, separated by spaces; NULL: none */
    const char *resource;       /* our URI, the tokens' audience; NULL: "http://HOST:PORT/mcp" */
    const char *const *servers; /* authorization servers, ending with NULL; NULL: no metadata */
} mcp_http_auth;

#ifdef __cplusplus
}
#endif

#endif
