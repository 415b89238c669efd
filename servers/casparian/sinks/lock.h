/*
 * lock.h - who commits in a folder: one process at a time.
 *
 * The locks are advisory and of flock(2), so they end with the process.
 */
#ifndef CASPARIAN_SINKS_LOCK_H
#define CASPARIAN_SINKS_LOCK_H

#include <limits.h>

#include "mcp/error.h"

#define SINK_LOCK_WAIT_MS 20000

typedef struct sink_lock {
    int dir_fd;               /* the sink's folder; borrowed */
    int manifests_fd;         /* the folder of the manifests; -1: none */
    int chain_fd;             /* "_casparian/.lock", which orders the manifests */
    int database_fd;          /* "<database>.lock"; -1: none */
    char about[NAME_MAX + 1]; /* "<database>.lock.json", which says who has it */
} sink_lock;

/* All closed, so that sink_lock_release is fine. */
/* clang-format off */
#define SINK_LOCK_INIT { -1, -1, -1, -1, "" }
/* clang-format on */

/* Take the locks of a folder, whose `_casparian` is made if it is missing. `database` is the name
 * of a file in it, or NULL. MCP_E_BUSY (after SINK_LOCK_WAIT_MS; the message names who has it),
 * MCP_E_IO, MCP_E_DENIED. */
mcp_status sink_lock_take(sink_lock *self, int dir_fd, const char *database, mcp_error *err);

void sink_lock_release(sink_lock *self);

#endif
