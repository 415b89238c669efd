/*
 * jwt.c - kit/auth behind the flags, where the build has it.
 *
 * A server that leaves may leave a verification behind that still waits for the issuer's keys; what it
 * uses is then not freed, for the process ends.
 */
#include "listen/jwt.h"

#ifdef LISTEN_HAS_AUTH

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"

struct listen_jwt {
    auth *keys;
    atomic_int verifying;
};

mcp_status listen_jwt_open(listen_jwt **out, const char *issuer, const char *audience,
                           const char *keys, mcp_error *err)
{
    auth_options options = AUTH_OPTIONS_INIT;
    listen_jwt *self = calloc(1, sizeof(*self));

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    atomic_init(&self->verifying, 0);
    options.issuer = issuer;
    options.resource = audience;
    if (strstr(keys, "://"))
        options.jwks_url = keys;
    else
        options.jwks_file = keys;
    options.log = (mcp_log){ mcp_log_stderr, NULL, MCP_LOG_WARNING };
    mcp_status st = auth_open(&self->keys, &options, err);
    if (st != MCP_OK) {
        free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void listen_jwt_close(listen_jwt *self)
{
    if (!self || atomic_load(&self->verifying) > 0)
        return;
    auth_close(self->keys);
    free(self);
}

mcp_status listen_jwt_verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                             mcp_error *err)
{
    listen_jwt *self = data;

    atomic_fetch_add(&self->verifying, 1);
    mcp_status st = auth_verify(out, token, arena, self->keys, err);
    atomic_fetch_sub(&self->verifying, 1);
    return st;
}

#else

mcp_status listen_jwt_open(listen_jwt **out, const char *issuer, const char *audience,
                           const char *keys, mcp_error *err)
{
    (void)out;
    (void)issuer;
    (void)audience;
    (void)keys;
    return mcp_error_set(err, MCP_E_UNSUPPORTED,
                         "this program was built without JWTs: --oauth-jwks is not served");
}

void listen_jwt_close(listen_jwt *self)
{
    (void)self;
}

mcp_status listen_jwt_verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                             mcp_error *err)
{
    (void)out;
    (void)token;
    (void)arena;
    (void)data;
    return mcp_error_set(err, MCP_E_UNSUPPORTED, "this program was built without JWTs");
}

#endif
