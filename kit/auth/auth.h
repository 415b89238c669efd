/**
 * auth.h - bearer tokens that are JSON Web Tokens (RFC 7519), checked with the issuer's keys.
 *
 * The library asks one function whether a token is good; this module is such a function:
 *
 *     auth_options options = AUTH_OPTIONS_INIT;
 *     options.issuer = "https://as.example";
 *     options.resource = "https://host/mcp";
 *     options.jwks_url = "https://as.example/jwks.json";
 *     mcp_status st = auth_open(&verifier, &options, err);
 *
 *     mcp_http_auth http_auth = { .verify = auth_verify, .verify_data = verifier, ... };
 *
 * A token is good when one of the issuer's keys signed it by the algorithm that the key is for (RS256,
 * RS384, RS512, PS256, PS384, PS512, ES256 or ES384; "none" and HS* never), when `iss` is the issuer and
 * `aud` holds our resource, when `exp` is given and not over, and `nbf` not to come. `sub` is the
 * principal; `scope`, else `scp`, are its scopes. No address in a token is ever looked at. The library
 * keeps the verdict for a minute, so a token costs its check once a minute and not once a request.
 *
 * The keys are read from a file, again within a second of its change, or fetched from one address: at
 * start, every ten minutes of use, and when a token names a key that is not there; never more than one
 * fetch at a time, nor more than one a minute. When that fails, the last keys serve for an hour more.
 */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/http.h"
#include "mcp/log.h"

/** The longest token that is looked at. */
#define AUTH_TOKEN_MAX 8192

typedef struct auth auth;

typedef struct auth_options {
    const char *issuer;    /* what `iss` must be, byte for byte */
    const char *resource;  /* our own URI, which must be among `aud` */
    const char *jwks_file; /* the issuer's JSON Web Key Set (RFC 7517): a file, or ... */
    const char *jwks_url;  /* ... an https address; http only to this very machine */
    const char *ca_file;   /* PEM certificates to trust for that address; NULL: the system's */
    const char *rsa_alg;   /* what RSA keys are for whose JWK does not say; NULL: "RS256" */
    int leeway_s;          /* for clocks that differ; 0: 30, -1: none, at most 300 */
    mcp_log log;           /* keys that are not used, fetches that fail; zero: nothing is logged */
} auth_options;

#define AUTH_OPTIONS_INIT                                                                          \
    {                                                                                              \
        0                                                                                          \
    }

/**
 * Begin to know an issuer. Reads the keys; an address that does not answer is logged and asked again
 * when the first token comes, so that servers may start in any order.
 *
 * @param out     yours, free it with auth_close
 * @param options copied
 * @return MCP_OK; MCP_E_PARAMS (an option that cannot be, or a file of keys without one to use);
 *         MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO, MCP_E_PARSE, MCP_E_LIMIT (the file); MCP_E_NOMEM
 */
mcp_status auth_open(auth **out, const auth_options *options, mcp_error *err);

/** Nobody may be inside auth_verify any more. NULL is fine. */
void auth_close(auth *self);

/**
 * The library's mcp_token_verifier; `data` is the auth. Any thread, several at once; may fetch the keys,
 * for 5 s at most.
 *
 * @param out expires_ms is when the token expires, the leeway included
 * @return MCP_OK; MCP_E_DENIED (not good; the message may be told to whoever sent it); MCP_E_IO (there
 *         are no keys to check it with); MCP_E_BUSY (they are being fetched); MCP_E_NOMEM
 */
mcp_status auth_verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                       mcp_error *err);

#endif
