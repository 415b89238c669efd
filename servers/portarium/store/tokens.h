/**
 * tokens.h - API tokens: 256 random bits, stored as their SHA-256 alone.
 */
#ifndef PORTARIUM_STORE_TOKENS_H
#define PORTARIUM_STORE_TOKENS_H

#include "store/tx.h"

/** Length of a token in text, with its NUL: "ptm_" and 64 hexadecimal digits. */
#define PORTARIUM_TOKEN_SIZE 69

/** What a token allows. */
typedef struct portarium_token {
    const char *id;
    const char *workspace;
    const char *subject;
    portarium_roles roles;
    const char *tier, *agent_id, *machine_id, *owner; /* NULL: none */
    int64_t expires_ms;                               /* 0: never */
    int64_t created_ms, revoked_ms;                   /* revoked_ms 0: it is not */
    bool is_inactive; /* the subject is a user who is not active; not known of lists */
} portarium_token;

/** Make a token and store it. @param secret filled with the token itself, which nobody can read
 *  again */
mcp_status portarium_token_create(char secret[PORTARIUM_TOKEN_SIZE], portarium_tx *tx,
                                  const portarium_token *token, mcp_error *err);

/** "admin operator": the names of roles. In the arena. @return NULL: no memory */
const char *portarium_roles_text(mcp_arena *arena, portarium_roles roles);

/** The hash of a token in text, as the table has it. @return false: it is no token of ours */
bool portarium_token_hash(char out[65], const char *secret);

/**
 * Read a token by its hash and check that it is neither expired nor revoked, and that its subject,
 * where there is such a user, is active.
 *
 * @return MCP_OK; MCP_E_DENIED; statuses of db.h
 */
mcp_status portarium_token_read(portarium_token *out, portarium_tx *tx, const char *hash,
                                mcp_error *err);

/**
 * Require a token that portarium_token_read would return, without waiting for it (db_defer).
 *
 * @return MCP_OK; MCP_E_DENIED, perhaps by a later call or the commit: read it to learn why
 */
mcp_status portarium_token_require(portarium_tx *tx, const char *hash, mcp_error *err);

/**
 * Check a caller who has no token of ours, as by a JWT: where there is such a user, it is active.
 *
 * @return MCP_OK; MCP_E_DENIED; statuses of db.h
 */
mcp_status portarium_subject_check(portarium_tx *tx, const char *subject, mcp_error *err);

/** A user was changed, so what was read of tokens and subjects may not hold. */
void portarium_tokens_forget(const portarium_tx *tx);

/** Revoke the tokens of a subject. @return MCP_OK, also when there are none; statuses of db.h */
mcp_status portarium_tokens_revoke(portarium_tx *tx, const char *subject, mcp_error *err);

/** Revoke a token by its id. @return MCP_OK, also when it was revoked before; MCP_E_NOT_FOUND */
mcp_status portarium_token_revoke(portarium_tx *tx, const char *id, mcp_error *err);

/** The tokens of the workspace, the newest first. @param count filled with how many, at most 200 */
mcp_status portarium_token_list(portarium_token **out, size_t *count, portarium_tx *tx,
                                mcp_error *err);

#endif
