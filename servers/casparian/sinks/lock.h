/*
 * lock.h - who commits in a folder: one process at a time.
 *
 * The locks are advisory and of flock(2), so they end with the process. A commit to several folders
 * takes theirs in the order of device and inode, whatever the paths and the order in which the job
 * names them, and the lock of the database last: two jobs cannot wait for each other.
 */
#ifndef CASPARIAN_SINKS_LOCK_H
#define CASPARIAN_SINKS_LOCK_H

#include <limits.h>
#include <stddef.h>

#include "mcp/error.h"

#define SINK_LOCK_WAIT_MS 20000

/* A folder that is open. */
typedef struct sink_dir {
    const char *path; /* for messages */
    int fd;
} sink_dir;

typedef struct sink_lock {
    int dir_fd;               /* the sink's folder; borrowed */
    int manifests_fd;         /* the folder of the manifests; -1: none */
    int chain_fd;             /* "_casparian/.lock", which orders the manifests */
    int database_fd;          /* "<database>.lock"; -1: none */
    char about[NAME_MAX + 1]; /* "<database>.lock.json", which says who has it */
} sink_lock;

/* All closed, so that sink_locks_release is fine. */
/* clang-format off */
#define SINK_LOCK_INIT { -1, -1, -1, -1, "" }
/* clang-format on */

/* Take the locks of some folders, each another one; their `_casparian` is made where it is missing.
 *
 * locks: one a folder, initialized. count: at most CASPARIAN_SINK_PLACES_MAX. database: the name of
 * a file in the first folder, or NULL.
 *
 * MCP_OK; MCP_E_BUSY (after SINK_LOCK_WAIT_MS for all of them; the message names who has it),
 * MCP_E_IO, MCP_E_DENIED: none is held. */
mcp_status sink_locks_take(sink_lock *locks, const sink_dir *dirs, size_t count,
                           const char *database, mcp_error *err);

void sink_locks_release(sink_lock *locks, size_t count);

#endif
