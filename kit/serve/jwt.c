/*
 * jwt.c - kit/auth as the verifier of a server, where the build has kit/auth.
 *
 * A server that ends within its grace time may leave a verification behind that still waits for the
 * issuer's keys. Its memory is then not freed: the process ends.
 */
#include "serve/jwt.h"

#ifdef SERVE_HAS_AUTH

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "mcp/alloc.h"

struct serve_jwt {
    auth *keys;
    atomic_int verifying;
};

/* An mcp_token_verifier. */
static mcp_status verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                         mcp_error *err)
{
    serve_jwt *self = data;

    atomic_fetch_add(&self->verifying, 1);
    mcp_status st = auth_verify(out, token, arena, self->keys, err);
    atomic_fetch_sub(&self->verifying, 1);
    return st;
}

mcp_status serve_jwt_open(serve_jwt **out, mcp_http_auth *http, const char *keys,
                          const auth_options *given, mcp_error *err)
{
    auth_options options = *given;
    serve_jwt *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    options.issuer = http->servers[0];
    options.resource = http->resource;
    if (strstr(keys, "://"))
        options.jwks_url = keys;
    else
        options.jwks_file = keys;
    mcp_status st = auth_open(&self->keys, &options, err);
    if (st != MCP_OK) {
        free(self);
        return st;
    }
    http->verify = verify;
    http->verify_data = self;
    *out = self;
    return MCP_OK;
}

void serve_jwt_refresh(serve_jwt *self)
{
    if (self)
        auth_refresh(self->keys);
}

void serve_jwt_close(serve_jwt *self)
{
    if (!self || atomic_load(&self->verifying) > 0)
        return;
    auth_close(self->keys);
    free(self);
}

#else

mcp_status serve_jwt_open(serve_jwt **out, mcp_http_auth *http, const char *keys,
                          const auth_options *options, mcp_error *err)
{
    (void)out;
    (void)http;
    (void)keys;
    (void)options;
    return mcp_error_set(err, MCP_E_UNSUPPORTED,
                         "this program was built without JWTs: --oauth-jwks is not served");
}

void serve_jwt_refresh(serve_jwt *self)
{
    (void)self;
}

void serve_jwt_close(serve_jwt *self)
{
    (void)self;
}

#endif
