/**
 * idempotency.h - answers to requests with an Idempotency-Key, which a repetition gets again.
 */
#ifndef PORTARIUM_STORE_IDEMPOTENCY_H
#define PORTARIUM_STORE_IDEMPOTENCY_H

#include "store/tx.h"

/** A stored answer. In the transaction's arena. */
typedef struct portarium_stored_answer {
    int status;
    const char *text; /* as portarium_reply has it; NULL: none */
    const char *location;
} portarium_stored_answer;

/**
 * Find the answer to a key.
 *
 * @param found false: the key is new
 * @return MCP_OK; MCP_E_EXISTS: the key was used with another request; statuses of db.h
 */
mcp_status portarium_idempotency_find(portarium_stored_answer *out, bool *found, portarium_tx *tx,
                                      const char *command, const char *key, const char *fingerprint,
                                      mcp_error *err);

/** Store the answer to a key. */
mcp_status portarium_idempotency_add(portarium_tx *tx, const char *command, const char *key,
                                     const char *fingerprint, const portarium_stored_answer *answer,
                                     mcp_error *err);

/** Delete answers that are older than the settings say. */
mcp_status portarium_idempotency_expire(portarium_tx *tx, mcp_error *err);

#endif
