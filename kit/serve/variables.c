/*
 * variables.c - tokens read from variables of the environment.
 */
#include "serve/variables.h"

#include <stdlib.h>
#include <string.h>

#define APART ", \t\r\n"

/* Characters of a bearer token (RFC 6750, 2.1). */
#define TOKEN_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/"

/* The next token of a variable's text; NULL: no more. */
static const char *next_token(const char **at, size_t *length)
{
    const char *token = *at + strspn(*at, APART);
    *length = strcspn(token, APART);
    *at = token + *length;
    return *length > 0 ? token : NULL;
}

bool serve_variables_given(const char *const *names)
{
    bool given = false;
    for (const char *const *name = names; name && *name && !given; name++) {
        const char *text = getenv(*name);
        size_t length = 0;
        given = text && next_token(&text, &length);
    }
    return given;
}

static mcp_status check(const char *name, const char *token, size_t length, mcp_error *err)
{
    size_t used = strspn(token, TOKEN_CHARACTERS);
    used += strspn(token + used, "=");
    if (used < length)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "%s has a token with characters that no token has (RFC 6750, 2.1)",
                             name);
    if (length < SERVE_TOKEN_MIN)
        return mcp_error_set(
            err, MCP_E_PARAMS,
            "%s has a token of %zu characters; one that cannot be guessed has %d or "
            "more (openssl rand -hex 32)",
            name, length, SERVE_TOKEN_MIN);
    return MCP_OK;
}

/* Checks all tokens, and copies them where `out` is not NULL. */
static mcp_status read_all(const char **out, const char *const *names, mcp_arena *arena,
                           mcp_error *err)
{
    size_t count = 0;
    for (const char *const *name = names; name && *name; name++) {
        const char *text = getenv(*name), *token = NULL;
        size_t length = 0;
        for (token = text ? next_token(&text, &length) : NULL; token;
             token = next_token(&text, &length)) {
            mcp_status st = check(*name, token, length, err);
            if (st == MCP_OK && count == SERVE_TOKENS_MAX)
                st = mcp_error_set(err, MCP_E_PARAMS, "%s: there are more than %d tokens", *name,
                                   SERVE_TOKENS_MAX);
            if (st == MCP_OK && out)
                out[count] = mcp_arena_strndup(arena, token, length);
            if (st == MCP_OK && out && !out[count])
                st = mcp_error_set(err, MCP_E_NOMEM, "out of memory");
            if (st != MCP_OK)
                return st;
            count++;
        }
    }
    return MCP_OK;
}

mcp_status serve_variables_check(const char *const *names, mcp_error *err)
{
    return read_all(NULL, names, NULL, err);
}

mcp_status serve_variables_read(const char *const **out, const char *const *names, mcp_arena *arena,
                                mcp_error *err)
{
    const char **tokens = mcp_arena_array(arena, SERVE_TOKENS_MAX + 1, sizeof *tokens);
    if (!tokens)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    memset(tokens, 0, (SERVE_TOKENS_MAX + 1) * sizeof *tokens);
    mcp_status st = read_all(tokens, names, arena, err);
    if (st == MCP_OK)
        *out = tokens[0] ? tokens : NULL;
    return st;
}
