/*
 * fuzz_jwt.c - the first byte says what the rest is.
 *
 *     't'  a token, a newline, a set of keys: as auth_verify looks at them
 *     'c'  claims, as if their signature were good
 *     'b'  base64url
 *
 * Beyond surviving: only an accepted algorithm and only the key's own gets as far as a signature, a
 * principal that is let in has a name, scopes of plain letters and time left, and bytes have one
 * spelling.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/base64url.h"
#include "auth/claims.h"
#include "auth/keys.h"
#include "auth/token.h"
#include "mcp/json.h"

/* 2026-01-17T08:00:00Z */
#define NOW_MS INT64_C(1768636800000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
    if (!claim)
        abort();
}

static void check_claims(const mcp_json *claims, mcp_arena *arena)
{
    static const auth_rules rules = { "joe", "https://host/mcp", 30000, NULL };
    mcp_principal principal = { NULL, NULL, 0 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = auth_claims_check(&principal, claims, &rules, NOW_MS, arena, &err);

    must(st == MCP_OK || (st == MCP_E_DENIED && !principal.name && err.message[0]));
    if (st != MCP_OK)
        return;
    must(principal.name[0] != '\0' && principal.expires_ms > NOW_MS);
    must(principal.scopes[0] != ' ' && !strstr(principal.scopes, "  "));
    for (const char *c = principal.scopes; *c; c++)
        must(*c >= ' ' && *c <= '~' && *c != '"' && *c != '\\');
}

static void check_token(const char *text, size_t length, const auth_keys *keys, mcp_arena *arena)
{
    auth_token token;
    const auth_key *key = NULL;
    const mcp_json *claims = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = auth_token_read(&token, text, length, arena, &err);

    must(st == MCP_OK || st == MCP_E_DENIED);
    if (st != MCP_OK)
        return;
    must(token.algorithm == auth_algorithm_find(token.algorithm->name));
    st = auth_keys_find(&key, keys, &token, &err);
    must(st == MCP_OK || st == MCP_E_NOT_FOUND || st == MCP_E_DENIED);
    if (st == MCP_OK)
        st = auth_key_check(key, &token, &err);
    must(st == MCP_OK || st == MCP_E_NOT_FOUND || st == MCP_E_DENIED);
    if (auth_token_claims(&claims, &token, arena, &err) == MCP_OK)
        check_claims(claims, arena);
}

static void run_token(const char *text, size_t length, mcp_arena *arena)
{
    const char *newline = memchr(text, '\n', length);
    size_t token_length = newline ? (size_t)(newline - text) : length;
    const char *rest = newline ? newline + 1 : text + length;
    auth_keys *keys = NULL;

    if (auth_keys_read(&keys, rest, (size_t)(text + length - rest), 1, auth_algorithm_find("RS256"),
                       NULL, NULL) != MCP_OK)
        must(auth_keys_read(&keys, "{\"keys\":[]}", 11, 1, auth_algorithm_find("RS256"), NULL,
                            NULL) == MCP_OK);
    must(auth_keys_count(keys) <= AUTH_KEYS_MAX);
    if (token_length <= AUTH_TOKEN_MAX)
        check_token(text, token_length, keys, arena);
    auth_keys_release(keys);
}

static void run_claims(const char *text, size_t length, mcp_arena *arena)
{
    const mcp_json *claims = NULL;

    if (mcp_json_read(&claims, arena, text, length, NULL) == MCP_OK)
        check_claims(claims, arena);
}

/* What decodes is what its bytes are spelled as, letter by letter. */
static void run_base64url(const char *text, size_t length, mcp_arena *arena)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const uint8_t *bytes = NULL;
    size_t count = 0;

    if (auth_base64url_decode(&bytes, &count, text, length, arena, NULL) != MCP_OK)
        return;
    must(length == (count * 8 + 5) / 6);
    for (size_t i = 0; i < length; i++) {
        size_t bit = i * 6;
        unsigned two = (unsigned)bytes[bit / 8] << 8;
        two |= bit / 8 + 1 < count ? bytes[bit / 8 + 1] : 0u;
        must(text[i] == letters[two >> (10 - bit % 8) & 63]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_arena *arena = mcp_arena_new(64 << 20);
    const char *text = size > 0 ? (const char *)data + 1 : "";

    must(arena != NULL);
    if (size > 0 && data[0] == 't')
        run_token(text, size - 1, arena);
    if (size > 0 && data[0] == 'c')
        run_claims(text, size - 1, arena);
    if (size > 0 && data[0] == 'b')
        run_base64url(text, size - 1, arena);
    mcp_arena_free(arena);
    return 0;
}
