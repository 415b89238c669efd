/*
 * token.c - taking a compact JSON Web Token apart, without trusting it.
 *
 * The signature library must later read the same values as this file. So base64url has one
 * spelling, duplicate members are refused (RFC 7515 section 4 permits that), and so is `crit`,
 * because no extension is supported (section 4.1.11). `jku`, `jwk`, `x5u` and `x5c` would let the
 * token bring its own key; they are ignored.
 */
#include "auth/token.h"

#include <string.h>
#include <strings.h>

#include "auth/base64url.h"
#include "auth/member.h"

/* The header, decoded. */
#define HEADER_MAX 2048

static mcp_status malformed(mcp_error *err, mcp_status cause, const char *what)
{
    if (cause == MCP_E_NOMEM)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read a token");
    return mcp_error_set(err, MCP_E_DENIED, "%s", what);
}

/* One part of a token as an object. */
static mcp_status read_object(const mcp_json **out, const char *text, size_t length,
                              const char *otherwise, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *value = NULL;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    mcp_status st = auth_base64url_decode(&bytes, &size, text, length, arena, NULL);

    if (st == MCP_OK)
        st = mcp_json_read(&value, arena, (const char *)bytes, size, NULL);
    if (st != MCP_OK)
        return malformed(err, st, otherwise);
    if (!mcp_json_is_object(value) || mcp_json_duplicate(value))
        return malformed(err, MCP_E_PARSE, otherwise);
    *out = value;
    return MCP_OK;
}

const char *auth_token_type(const char *text)
{
    static const char *const types[] = { "at+jwt", "jwt" };
    static const char prefix[] = "application/";

    if (strncasecmp(text, prefix, sizeof prefix - 1) == 0)
        text += sizeof prefix - 1;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcasecmp(text, types[i]) == 0)
            return types[i];
    return NULL;
}

/* Tokens for another purpose have another `typ` (RFC 8725 section 3.11); many issuers omit it. */
static bool read_type(auth_token *token, const mcp_json *header)
{
    const mcp_json *typ = mcp_json_get(header, "typ");
    const char *text = auth_text(typ);

    token->type = text ? auth_token_type(text) : NULL;
    return !typ || token->type;
}

static mcp_status read_header(auth_token *token, const mcp_json *header, mcp_error *err)
{
    const char *alg = auth_text(mcp_json_get(header, "alg"));
    const mcp_json *kid = mcp_json_get(header, "kid");

    if (mcp_json_get(header, "crit"))
        return mcp_error_set(err, MCP_E_DENIED, "the token asks for an extension");
    if (!read_type(token, header))
        return mcp_error_set(err, MCP_E_DENIED, "the token is not an access token");
    token->algorithm = alg ? auth_algorithm_find(alg) : NULL;
    if (!token->algorithm)
        return mcp_error_set(err, MCP_E_DENIED, "the token's algorithm is not accepted");
    token->kid = auth_text(kid);
    if (kid && (!token->kid || strlen(token->kid) > AUTH_KID_MAX))
        return mcp_error_set(err, MCP_E_DENIED, "the token's key has no good name");
    return MCP_OK;
}

mcp_status auth_token_read(auth_token *out, const char *text, size_t length, mcp_arena *arena,
                           mcp_error *err)
{
    auth_token token = { .text = text, .length = length };
    const char *first = memchr(text, '.', length);
    const char *second = first ? memchr(first + 1, '.', (size_t)(text + length - first - 1)) : NULL;
    const mcp_json *header = NULL;
    const uint8_t *signature = NULL;
    const uint8_t *claims = NULL;
    size_t claims_bytes = 0;

    if (!second)
        return mcp_error_set(err, MCP_E_DENIED, "the token is not a JSON Web Token");
    if ((size_t)(first - text) > (HEADER_MAX + 2) / 3 * 4)
        return mcp_error_set(err, MCP_E_DENIED, "the token's header is too long");
    token.claims = first + 1;
    token.claims_length = (size_t)(second - token.claims);
    mcp_status st = auth_base64url_decode(&signature, &token.signature_length, second + 1,
                                          (size_t)(text + length - second - 1), arena, NULL);
    if (st != MCP_OK)
        return malformed(err, st, "the token's signature is not base64url");
    /* cjose reports claims in another alphabet as a lack of memory. */
    st = auth_base64url_decode(&claims, &claims_bytes, token.claims, token.claims_length, arena,
                               NULL);
    if (st != MCP_OK)
        return malformed(err, st, "the token's claims are malformed");
    st = read_object(&header, text, (size_t)(first - text), "the token's header is malformed",
                     arena, err);
    if (st == MCP_OK)
        st = read_header(&token, header, err);
    if (st == MCP_OK)
        *out = token;
    return st;
}

mcp_status auth_token_claims(const mcp_json **out, const auth_token *token, mcp_arena *arena,
                             mcp_error *err)
{
    return read_object(out, token->claims, token->claims_length, "the token's claims are malformed",
                       arena, err);
}
