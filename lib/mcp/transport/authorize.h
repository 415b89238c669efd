/*
 * authorize.h - the principal of a request: bearer tokens, as an OAuth 2.1 resource server takes
 * them (RFC 6750, RFC 9728).
 */
#ifndef MCP_TRANSPORT_AUTHORIZE_H
#define MCP_TRANSPORT_AUTHORIZE_H

#include <stdbool.h>

#include "mcp/arena.h"
#include "mcp/hash.h"
#include "mcp/transport/http_int.h"

/**
 * Read the file of tokens, and name ourselves.
 *
 * @param out    yours, free it with mcp__authorize_free
 * @param http   with the real port
 * @param scopes that features require in addition to the options' own, between spaces; NULL: none
 * @return MCP_OK; MCP_E_IO, MCP_E_NOT_FOUND, MCP_E_DENIED (the file cannot be read); MCP_E_PARAMS
 *         (a line of it, named, or an option that cannot be); MCP_E_NOMEM
 */
mcp_status mcp__authorize_new(mcp__authorize **out, const mcp_http_options *http,
                              const char *scopes, mcp_error *err);

/** Reload the file of tokens, and forget what the verifier has said. After an error the earlier
 *  tokens remain. @return as mcp__authorize_new */
mcp_status mcp__authorize_reload(mcp__authorize *authorize, mcp_error *err);

/** NULL is fine. */
void mcp__authorize_free(mcp__authorize *authorize);

/* ---- where httpd->authorize is not NULL ------------------------------------------------------ */

/** Answer a request for the metadata of RFC 9728. @return false: it was none */
bool mcp__authorize_metadata(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** Judge a request's token before its body is read, as far as is known. @return false: it was
 *  answered */
bool mcp__authorize_head(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** Judge it for good, now or when a verifier has had its say; then mcp__httpd_dispatch, or the
 *  answer that says what is missing. */
void mcp__authorize_request(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** The challenge to a client whose token lacks scopes, as the value of WWW-Authenticate (RFC 6750,
 *  3.1). @param scopes that this request requires in addition to those of every request */
void mcp__authorize_challenge(const mcp__httpd *httpd, mcp_buf *field, const char *scopes);

/* ---- tokens that an operator has handed out, known here by their hashes alone ---------------- */

/** Not changed after reading. */
typedef struct mcp__token {
    uint8_t hash[MCP_SHA256_SIZE];
    mcp_principal principal;
} mcp__token;

typedef struct mcp__token_file {
    mcp__token *tokens; /* the arena's */
    size_t count;
} mcp__token_file;

/** How many lines a file may have. */
#define MCP__TOKENS_MAX ((size_t)10000)

/** Read a file of 4 MiB at most. @return MCP_OK; MCP_E_PARAMS: the message names file and line; or
 *  why it cannot be read */
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
