/*
 * jwt.h - the verifier that --oauth-jwks asks for; private to the module.
 */
#ifndef LISTEN_JWT_H
#define LISTEN_JWT_H

#include "mcp/http.h"

typedef struct listen_jwt listen_jwt;

/**
 * @param out  yours, end it with listen_jwt_close
 * @param keys a file, or where it holds "://" an address
 * @return as auth_open; MCP_E_UNSUPPORTED where this build has no kit/auth
 */
mcp_status listen_jwt_open(listen_jwt **out, const char *issuer, const char *audience,
                           const char *keys, mcp_error *err);

/** When nothing is served any more. A verification that did not end keeps what it uses. NULL is fine. */
void listen_jwt_close(listen_jwt *self);

/** An mcp_token_verifier; `data` is the listen_jwt. */
mcp_status listen_jwt_verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                             mcp_error *err);

#endif
