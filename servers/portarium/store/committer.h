/**
 * committer.h - runs transactions: commands in groups that share a commit, reads in snapshots.
 *
 * Commands of many callers share one commit (kit/db's group commit); those of one workspace run in
 * the order of their submission. After a commit the committer hands over what the command wants to
 * happen next.
 */
#ifndef PORTARIUM_STORE_COMMITTER_H
#define PORTARIUM_STORE_COMMITTER_H

#include "db/db.h"
#include "store/tx.h"

typedef struct portarium_committer portarium_committer;

/** Work in a transaction. It may run several times, so it resets what it fills.
 *  @return MCP_OK: keep what it did; another status: undo it */
typedef mcp_status portarium_work(portarium_tx *tx, void *data, mcp_error *err);

/** After a commit: what the transaction wants. Must not block. On the thread of the caller of
 *  portarium_commit, or on the committing thread. */
typedef void portarium_on_commit(const char *workspace, const portarium_after *after, void *data);

/** With a database that is open for reading only, every command fails with MCP_E_DENIED.
 *  @param on_commit may be NULL */
mcp_status portarium_committer_new(portarium_committer **out, db *database,
                                   const portarium_settings *settings,
                                   portarium_on_commit *on_commit, void *data, mcp_error *err);

/** Wait for what was submitted, and end. NULL is fine. */
void portarium_committer_free(portarium_committer *self);

/**
 * Run a command and wait for its commit.
 *
 * @param as workspace, actor, arena, correlation_id and trace of the transaction
 * @return the status of `work`, or of the commit: MCP_OK is durable
 */
mcp_status portarium_commit(portarium_committer *self, const portarium_tx *as, portarium_work *work,
                            void *data, mcp_error *err);

/** Receives the end of a submitted command, exactly once, on the committing thread or the
 *  submitter's. Must not block. */
typedef void portarium_on_end(mcp_status status, const mcp_error *err, void *data);

/** Run a command without waiting. `as` is copied; what it points to lives until `on_end`. */
void portarium_commit_submit(portarium_committer *self, const portarium_tx *as,
                             portarium_work *work, portarium_on_end *on_end, void *data);

/** Run work that reads, in a snapshot of its own. */
mcp_status portarium_view(portarium_committer *self, const portarium_tx *as, portarium_work *work,
                          void *data, mcp_error *err);

#endif
