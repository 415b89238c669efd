/**
 * auth.h - bearer tokens that are JSON Web Tokens (RFC 7519), checked with the issuer's keys.
 *
 * The library verifies tokens by one function, mcp_token_verifier; this module has one:
 *
 *     auth_options options = AUTH_OPTIONS_INIT;
 *     options.issuer = "https://as.example";
 *     options.resource = "https://host/mcp";
 *     options.jwks_url = "https://as.example/jwks.json";
 *     mcp_status st = auth_open(&verifier, &options, err);
 *
 *     mcp_http_auth http_auth = { .verify = auth_verify, .verify_data = verifier, ... };
 *
 * A token is good when one of the issuer's keys signed it by the algorithm that the key is for
 * (RS256, RS384, RS512, PS256, PS384, PS512, ES256 or ES384; "none" and HS* never), when `iss` is
 * the issuer and `aud` contains our resource, when `exp` is present and not past, and `nbf` not in
 * the future. `sub` is the principal; `scope`, else `scp`, are its scopes; a function of the
 * server's may make another principal of the claims, or refuse them. Addresses in a token are
 * ignored. The library caches the verdict for a minute, so a token is checked once a minute and not
 * with each request.
 *
 * The keys are read from a file, again within a second of its change, or fetched from one address:
 * at start, every ten minutes of use, and when a token names an unknown key; at most one fetch at a
 * time and one a minute. When a fetch fails, the last keys are used for another hour.
 */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/http.h"
#include "mcp/json.h"
#include "mcp/log.h"

/** The longest token that is checked. */
#define AUTH_TOKEN_MAX 8192

typedef struct auth auth;

/**
 * Makes a principal of the claims of a token that is good. Any thread, several at once; may block.
 *
 * @param out    has what the claims alone say; its texts may be replaced by others, of `arena`, and
 *               its end by an earlier one
 * @param claims an object, of `arena`
 * @return MCP_OK; MCP_E_DENIED (the message is sent to the client); any other status: the token
 *         could not be verified
 */
typedef mcp_status auth_claims_reader(mcp_principal *out, const mcp_json *claims, mcp_arena *arena,
                                      void *data, mcp_error *err);

typedef struct auth_options {
    const char *issuer;    /* what `iss` must be, byte for byte */
    const char *resource;  /* the server's own URI, which `aud` must contain */
    const char *jwks_file; /* the issuer's JSON Web Key Set (RFC 7517): a file, or ... */
    const char *jwks_url;  /* ... an https address; http only to this machine */
    const char *ca_file;   /* PEM certificates to trust for that address; NULL: the system's */
    const char *rsa_alg;   /* algorithm of RSA keys without `alg`; NULL: "RS256" */
    int leeway_s;          /* for clocks that differ; 0: 30, -1: none, at most 300 */
    const char *authorized_party; /* what `azp` must be, byte for byte; NULL: anything */
    const char *token_type; /* what `typ` must be: "at+jwt" or "JWT"; NULL: one of them, or none */
    auth_claims_reader *read_claims; /* NULL: the principal is what the claims alone say */
    void *data;                      /* passed to it */
    mcp_log log;                     /* unused keys, failed fetches; zero: nothing is logged */
} auth_options;

#define AUTH_OPTIONS_INIT                                                                          \
    {                                                                                              \
        0                                                                                          \
    }

/**
 * Create the verifier of an issuer and read its keys. A fetch that fails is logged and repeated
 * with the first token, so servers may start in any order.
 *
 * @param out     yours, free it with auth_close
 * @param options copied
 * @return MCP_OK; MCP_E_PARAMS (an option that cannot be, or a file of keys without one to use);
 *         MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO, MCP_E_PARSE, MCP_E_LIMIT (the file); MCP_E_NOMEM
 */
mcp_status auth_open(auth **out, const auth_options *options, mcp_error *err);

/** Renew the keys with the next token, however fresh they are. Any thread; does not block. */
void auth_refresh(auth *self);

/** No thread may be inside auth_verify. NULL is fine. */
void auth_close(auth *self);

/**
 * The library's mcp_token_verifier; `data` is the auth. Any thread, several at once; may fetch the
 * keys, for 5 s at most.
 *
 * @param out expires_ms is when the token expires, the leeway included
 * @return MCP_OK; MCP_E_DENIED (not good; the message may be sent to the client); MCP_E_IO (there
 *         are no keys to check it with); MCP_E_BUSY (they are being fetched); MCP_E_NOMEM
 */
mcp_status auth_verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                       mcp_error *err);

#endif
