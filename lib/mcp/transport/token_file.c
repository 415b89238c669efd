/*
 * token_file.c - one line a token: SHA-256 in hexadecimal, principal, scopes.
 *
 * A reader of the file learns no token. A client that guesses tokens learns nothing from the time
 * that it takes: all hashes are compared, in full.
 */
#include "mcp/transport/token_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define BLANKS " \t\r"
#define CHUNK ((size_t)16 * 1024)

static bool read_hash(uint8_t out[MCP_SHA256_SIZE], const char *text, size_t length)
{
    static const char digits[] = "0123456789abcdef";

    if (length != MCP_SHA256_SIZE * 2)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char *digit = strchr(digits, tolower((unsigned char)text[i]));
        if (!digit)
            return false;
        out[i / 2] = (uint8_t)(out[i / 2] << 4 | (digit - digits));
    }
    return true;
}

/* The words that are left, one space apart. */
static char *join_words(mcp_arena *arena, const char *at)
{
    char *out = mcp_arena_alloc(arena, strlen(at) + 1);
    size_t used = 0;

    for (at += strspn(at, BLANKS); out && *at; at += strspn(at, BLANKS)) {
        size_t length = strcspn(at, BLANKS);
        if (used > 0)
            out[used++] = ' ';
        memcpy(out + used, at, length);
        used += length;
        at += length;
    }
    if (out)
        out[used] = '\0';
    return out;
}

static mcp_status read_line(mcp__token *token, mcp_arena *arena, const char *line, mcp_error *err)
{
    size_t length = strcspn(line, BLANKS);

    if (!read_hash(token->hash, line, length))
        return mcp_error_set(err, MCP_E_PARAMS, "a line begins with 64 hexadecimal digits");
    line += length;
    line += strspn(line, BLANKS);
    length = strcspn(line, BLANKS);
    if (length == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "expected: <hash> <principal>");
    token->principal.name = mcp_arena_strndup(arena, line, length);
    token->principal.scopes = join_words(arena, line + length);
    if (!token->principal.name || !token->principal.scopes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tokens");
    return MCP_OK;
}

static bool is_entry(const char *line)
{
    line += strspn(line, BLANKS);
    return *line != '\0' && *line != '#';
}

mcp_status mcp__token_file_parse(mcp__token_file *out, mcp_arena *arena, const char *text,
                                 size_t length, const char *name, mcp_error *err)
{
    char *copy = mcp_arena_strndup(arena, text, length);
    mcp__token_file file = { mcp_arena_array(arena, MCP__TOKENS_MAX, sizeof(mcp__token)), 0 };
    size_t number = 1;

    if (!copy || !file.tokens)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tokens");
    if (memchr(text, '\0', length) || !mcp__utf8_valid(text, length, NULL))
        return mcp_error_set(err, MCP_E_PARAMS, "%s is no text", name);
    for (char *line = copy; line; number++) {
        char *end = strchr(line, '\n');
        mcp_error why = MCP_ERROR_INIT;
        if (end)
            *end = '\0';
        if (is_entry(line) && file.count == MCP__TOKENS_MAX)
            return mcp_error_set(err, MCP_E_PARAMS, "%s has more than %zu tokens", name,
                                 MCP__TOKENS_MAX);
        if (is_entry(line) && read_line(&file.tokens[file.count++], arena,
                                        line + strspn(line, BLANKS), &why) != MCP_OK)
            return mcp_error_set(err, why.status, "%s, line %zu: %s", name, number, why.message);
        line = end ? end + 1 : NULL;
    }
    *out = file;
    return MCP_OK;
}

mcp_status mcp__token_file_read(mcp__token_file *out, mcp_arena *arena, const char *path,
                                mcp_error *err)
{
    FILE *in = fopen(path, "re");
    mcp_status st = MCP_OK;
    size_t got = 0;
    mcp_buf text;

    if (!in)
        return mcp_error_errno(err, errno, "%s cannot be opened", path);
    mcp_buf_init(&text, MCP__TOKEN_FILE_MAX + CHUNK);
    do {
        char *room = mcp_buf_reserve(&text, CHUNK);
        got = room ? fread(room, 1, CHUNK, in) : 0;
        mcp_buf_commit(&text, got);
    } while (got > 0);
    if (ferror(in))
        st = mcp_error_errno(err, errno, "%s cannot be read", path);
    else if (text.status != MCP_OK)
        st = mcp_error_set(err, MCP_E_PARAMS, "%s is larger than %zu bytes", path,
                           MCP__TOKEN_FILE_MAX);
    else
        st = mcp__token_file_parse(out, arena, text.data ? text.data : "", text.length, path, err);
    mcp_buf_clear(&text);
    (void)fclose(in);
    return st;
}

mcp_status mcp__token_file_add(mcp__token_file *file, mcp_arena *arena, const char *token,
                               const mcp_principal *principal, mcp_error *err)
{
    if (!file->tokens)
        file->tokens = mcp_arena_array(arena, MCP__TOKENS_MAX, sizeof(mcp__token));
    if (!file->tokens)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tokens");
    if (file->count == MCP__TOKENS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "there are more than %zu tokens", MCP__TOKENS_MAX);
    mcp_status st = mcp_sha256(file->tokens[file->count].hash, token, strlen(token), err);
    if (st == MCP_OK)
        file->tokens[file->count++].principal = *principal;
    return st;
}

const mcp_principal *mcp__token_file_find(const mcp__token_file *file,
                                          const uint8_t hash[MCP_SHA256_SIZE])
{
    const mcp_principal *found = NULL;

    for (size_t i = 0; i < file->count; i++)
        if (mcp_hash_equal(file->tokens[i].hash, hash, MCP_SHA256_SIZE))
            found = &file->tokens[i].principal;
    return found;
}
