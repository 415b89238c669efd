/* snapshot.h - a universe's whole state into the database and back. */
#ifndef UNIVERSE_SERVICE_SNAPSHOT_H
#define UNIVERSE_SERVICE_SNAPSHOT_H

#include "service/storage/store.h"

/**
 * Write a state's parts, each in a transaction of its own; nobody sees them until a row names them
 * (universe_store_add_snapshot with what comes out).
 *
 * @param out its strings in `arena`; version, pinned and created_ms are the caller's to fill
 */
mcp_status universe_snapshot_write(universe_snapshot *out, db *into, const universe_view *view,
                                   mcp_arena *arena, mcp_error *err);

/** Remove the parts of a snapshot that came to nothing; what is named by a row stays. NULL is
 *  fine. */
void universe_snapshot_discard(db *from, const char *snapshot_id);

/**
 * Bring a state to a version: from where it is, or from the newest whole snapshot if that is
 * needed.
 *
 * @param state  NULL in it, or a state at `from`; a new one may take its place. On an error it is
 *               of no more use
 * @param from   its version; -1: there is none yet
 * @param to     at or below the version of the universe in this transaction
 * @param jumped set where a snapshot took the place of what was there; may be NULL
 */
mcp_status universe_bring_up(universe_state **state, int64_t from, int64_t to, bool *jumped,
                             db_session *session, const char *id, const mcp_log *log,
                             mcp_error *err);

/** A failure to read what is stored is no fault of who asked for it: MCP_E_INTERNAL, where it looks
 *  like one. */
mcp_status universe_as_stored(mcp_status status, const char *id, mcp_error *err);

#endif
