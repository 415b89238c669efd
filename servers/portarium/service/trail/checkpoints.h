/**
 * checkpoints.h - the Merkle tree over the evidence of a workspace, and its signed checkpoints.
 *
 * Full tiles of the tree are stored when a checkpoint is made; the rest is made of the entries
 * behind them.
 */
#ifndef PORTARIUM_SERVICE_TRAIL_CHECKPOINTS_H
#define PORTARIUM_SERVICE_TRAIL_CHECKPOINTS_H

#include "evidence/note.h"
#include "evidence/tree.h"
#include "store/tx.h"

/** A checkpoint is due after so many entries, or so long after the last. */
enum { PORTARIUM_CHECKPOINT_ENTRIES = 1000, PORTARIUM_CHECKPOINT_MS = 60000 };

/** The name of the key that signs. */
#define PORTARIUM_SIGNER "portarium"

/** A checkpoint that was made. Texts in the arena. */
typedef struct portarium_made_checkpoint {
    const char *note;
    size_t length;
    uint64_t size;
    const char *origin;
} portarium_made_checkpoint;

/**
 * Make a checkpoint of all entries, and store it. One of the same size is taken as it is.
 *
 * @param tx   one that writes
 * @param tree NULL, or filled with the tree, yours, which must not outlive the transaction
 * @return MCP_OK; MCP_E_UNSUPPORTED: there is no key; statuses of db.h
 */
mcp_status portarium_checkpoint_make(portarium_made_checkpoint *out, portarium_tree **tree,
                                     portarium_tx *tx, mcp_error *err);

/**
 * The tree of all entries. It must not outlive the transaction.
 *
 * @param out yours, free it with portarium_tree_free
 * @param tx  one that writes
 * @return MCP_OK; MCP_E_INTERNAL: entries or tiles are missing; statuses of db.h
 */
mcp_status portarium_checkpoint_tree(portarium_tree **out, portarium_tx *tx, mcp_error *err);

#endif
