/*
 * token_file.h - tokens that an operator has handed out, known here by their hashes alone.
 */
#ifndef MCP_TRANSPORT_TOKEN_FILE_H
#define MCP_TRANSPORT_TOKEN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/hash.h"
#include "mcp/http.h"

/** Not changed after reading. */
typedef struct mcp__token {
    uint8_t hash[MCP_SHA256_SIZE];
    mcp_principal principal;
} mcp__token;

typedef struct mcp__token_file {
    mcp__token *tokens; /* the arena's */
    size_t count;
} mcp__token_file;

/** How many lines a file may have, and how many bytes. */
#define MCP__TOKENS_MAX ((size_t)10000)
#define MCP__TOKEN_FILE_MAX ((size_t)4 * 1024 * 1024)

/** Read a file. @return MCP_OK; MCP_E_PARAMS: the message names file and line; or why it cannot be
 *  read */
mcp_status mcp__token_file_read(mcp__token_file *out, mcp_arena *arena, const char *path,
                                mcp_error *err);

/** Read its text. @param name stands for it in messages */
mcp_status mcp__token_file_parse(mcp__token_file *out, mcp_arena *arena, const char *text,
                                 size_t length, const char *name, mcp_error *err);

/** Add a token that is known in clear, as `principal`. @return MCP_OK; MCP_E_PARAMS: there are too
 *  many; MCP_E_NOMEM */
mcp_status mcp__token_file_add(mcp__token_file *file, mcp_arena *arena, const char *token,
                               const mcp_principal *principal, mcp_error *err);

/** The principal of a token's hash, NULL when it is unknown. Looks at every one, whichever it
 *  is. */
const mcp_principal *mcp__token_file_find(const mcp__token_file *file,
                                          const uint8_t hash[MCP_SHA256_SIZE]);

#endif
