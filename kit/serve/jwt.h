/*
 * jwt.h - the verifier for --oauth-jwks; private to the module.
 */
#ifndef SERVE_JWT_H
#define SERVE_JWT_H

#include "auth/auth.h"
#include "mcp/auth.h"

typedef struct serve_jwt serve_jwt;

/**
 * Open the keys and let `http` verify tokens with them.
 *
 * @param out     yours, end it with serve_jwt_close
 * @param http    its `servers` and `resource` are the issuer and the audience; `verify` is set
 * @param keys    a file, or an address where it has "://"
 * @param options what else is asked of a token
 * @return as auth_open; MCP_E_UNSUPPORTED where this build has no kit/auth
 */
mcp_status serve_jwt_open(serve_jwt **out, mcp_http_auth *http, const char *keys,
                          const auth_options *options, mcp_error *err);

/** Renew the keys with the next token. NULL is fine. */
void serve_jwt_refresh(serve_jwt *self);

/** After the last request. A verification that still runs keeps the keys. NULL is fine. */
void serve_jwt_close(serve_jwt *self);

#endif
