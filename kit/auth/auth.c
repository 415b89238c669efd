/*
 * auth.c - the verifier: from a token to a verdict.
 *
 * A token is checked in this order: length, header, the key it names (the keys are renewed where
 * that one is unknown), signature, claims; then the server's function sees them. Before the
 * signature is checked, only the names of its key and algorithm are used, and its type.
 *
 * Threads share the options, which never change; source.c has a lock of its own. The caller, the
 * library's authorize.c, caches verdicts.
 */
#include "auth/auth.h"

#include <stdlib.h>
#include <string.h>

#include "auth/auth_int.h"
#include "auth/claims.h"
#include "auth/keys.h"
#include "auth/source.h"
#include "auth/token.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"

enum { LEEWAY_S = 30, LEEWAY_MAX_S = 300 };

struct auth {
    mcp_arena *arena; /* of the texts that the options name */
    auth_rules rules;
    const char *type; /* that tokens must have, as auth_token_type spells it; NULL: any */
    auth_claims_reader *read_claims;
    void *data; /* of read_claims */
    auth_source *source;
};

static mcp_status check_options(const auth_options *options, mcp_error *err)
{
    const auth_algorithm *rsa = auth_algorithm_find(options->rsa_alg ? options->rsa_alg : "RS256");

    if (!options->issuer || !*options->issuer)
        return mcp_error_set(err, MCP_E_PARAMS, "the issuer of tokens must be named");
    if (!options->resource || !*options->resource)
        return mcp_error_set(err, MCP_E_PARAMS, "the resource that tokens are for must be named");
    if (!options->jwks_file == !options->jwks_url)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the keys are in a file or at an address: name one");
    if (!rsa || rsa->curve)
        return mcp_error_set(err, MCP_E_PARAMS, "%s is not an algorithm of RSA keys",
                             options->rsa_alg);
    if (options->token_type && !auth_token_type(options->token_type))
        return mcp_error_set(err, MCP_E_PARAMS, "%s is not a type of access tokens",
                             options->token_type);
    if (options->authorized_party && !*options->authorized_party)
        return mcp_error_set(err, MCP_E_PARAMS, "the authorized party has no name");
    if (options->leeway_s < -1 || options->leeway_s > LEEWAY_MAX_S)
        return mcp_error_set(err, MCP_E_PARAMS, "the leeway must be -1 to %d seconds",
                             LEEWAY_MAX_S);
    return MCP_OK;
}

/* A copy of an option's text; NULL stays NULL. Clears *all when memory is out. */
static const char *copied(mcp_arena *arena, const char *text, bool *all)
{
    const char *copy = mcp_arena_strdup(arena, text);

    if (text && !copy)
        *all = false;
    return copy;
}

static mcp_status open_parts(auth *self, const auth_options *options, int64_t (*mono_ms)(void),
                             mcp_error *err)
{
    bool all = true;
    int leeway_s = options->leeway_s == 0  ? LEEWAY_S
                   : options->leeway_s < 0 ? 0
                                           : options->leeway_s;

    self->arena = mcp_arena_new(1 << 16);
    if (!self->arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a verifier");
    self->rules = (auth_rules){
        .issuer = copied(self->arena, options->issuer, &all),
        .resource = copied(self->arena, options->resource, &all),
        .leeway_ms = leeway_s * INT64_C(1000),
        .party = copied(self->arena, options->authorized_party, &all),
    };
    self->type = options->token_type ? auth_token_type(options->token_type) : NULL;
    self->read_claims = options->read_claims;
    self->data = options->data;
    auth_source_options source = {
        .file = copied(self->arena, options->jwks_file, &all),
        .url = copied(self->arena, options->jwks_url, &all),
        .ca_file = copied(self->arena, options->ca_file, &all),
        .rsa_alg = auth_algorithm_find(options->rsa_alg ? options->rsa_alg : "RS256"),
        .log = options->log,
        .mono_ms = mono_ms,
    };
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a verifier's options");
    return auth_source_open(&self->source, &source, err);
}

mcp_status auth_open_with_clock(auth **out, const auth_options *options, int64_t (*mono_ms)(void),
                                mcp_error *err)
{
    mcp_status st = check_options(options, err);

    if (st != MCP_OK)
        return st;
    auth *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a verifier");
    st = open_parts(self, options, mono_ms, err);
    if (st == MCP_OK)
        *out = self;
    else
        auth_close(self);
    return st;
}

mcp_status auth_open(auth **out, const auth_options *options, mcp_error *err)
{
    return auth_open_with_clock(out, options, mcp_clock_mono_ms, err);
}

void auth_refresh(auth *self)
{
    auth_source_expire(self->source);
}

void auth_close(auth *self)
{
    if (!self)
        return;
    auth_source_close(self->source);
    mcp_arena_free(self->arena);
    free(self);
}

/* Find the token's key. Where the set lacks it, the keys are renewed, and *keys is the renewed
 * set. */
static mcp_status find_key(const auth_key **key, auth_keys **keys, auth *self,
                           const auth_token *token, mcp_error *err)
{
    auth_keys *newer = NULL;
    mcp_status st = auth_keys_find(key, *keys, token, err);

    if (st != MCP_E_NOT_FOUND)
        return st;
    st = auth_source_take(&newer, self->source, auth_keys_generation(*keys), err);
    if (st != MCP_OK)
        return st;
    auth_keys_release(*keys);
    *keys = newer;
    st = auth_keys_find(key, *keys, token, err);
    return st == MCP_E_NOT_FOUND
               ? mcp_error_set(err, MCP_E_DENIED, "the token is signed with an unknown key")
               : st;
}

/* The principal that the server makes of good claims; it cannot outlive the token. */
static mcp_status read_claims(mcp_principal *out, const auth *self, const mcp_json *claims,
                              mcp_arena *arena, mcp_error *err)
{
    mcp_principal principal = *out;
    int64_t end_ms = out->expires_ms;
    mcp_status st = self->read_claims(&principal, claims, arena, self->data, err);

    if (st != MCP_OK)
        return st;
    if (!principal.name || !*principal.name || !principal.scopes)
        return mcp_error_set(err, MCP_E_INTERNAL, "no principal was made of a token's claims");
    if (principal.expires_ms == 0 || principal.expires_ms > end_ms)
        principal.expires_ms = end_ms;
    *out = principal;
    return MCP_OK;
}

static mcp_status read_principal(mcp_principal *out, const auth *self, const auth_token *token,
                                 mcp_arena *arena, mcp_error *err)
{
    const mcp_json *claims = NULL;
    mcp_principal principal;
    mcp_status st = auth_token_claims(&claims, token, arena, err);

    if (st == MCP_OK)
        st = auth_claims_check(&principal, claims, &self->rules, mcp_clock_wall_ms(), arena, err);
    if (st == MCP_OK && self->read_claims)
        st = read_claims(&principal, self, claims, arena, err);
    if (st == MCP_OK)
        *out = principal;
    return st;
}

mcp_status auth_verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                       mcp_error *err)
{
    auth *self = data;
    auth_keys *keys = NULL;
    const auth_key *key = NULL;
    auth_token parts;
    size_t length = strnlen(token, AUTH_TOKEN_MAX + 1);

    if (length > AUTH_TOKEN_MAX)
        return mcp_error_set(err, MCP_E_DENIED, "the token is longer than %d bytes",
                             AUTH_TOKEN_MAX);
    mcp_status st = auth_token_read(&parts, token, length, arena, err);
    if (st != MCP_OK)
        return st;
    if (self->type && (!parts.type || strcmp(parts.type, self->type) != 0))
        return mcp_error_set(err, MCP_E_DENIED, "the token is of another type");
    st = auth_source_take(&keys, self->source, 0, err);
    if (st == MCP_OK)
        st = find_key(&key, &keys, self, &parts, err);
    if (st == MCP_OK)
        st = auth_key_check(key, &parts, err);
    if (st == MCP_OK)
        st = read_principal(out, self, &parts, arena, err);
    auth_keys_release(keys);
    return st;
}
