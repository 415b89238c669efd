/*
 * scratch.h - the folder of a guest: made, measured and removed by the host. Nothing in it is
 * trusted: links are not followed.
 */
#ifndef CASPARIAN_PLUGINS_RUN_SCRATCH_H
#define CASPARIAN_PLUGINS_RUN_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mcp/arena.h"
#include "mcp/error.h"

/*
 * Make a folder of mode 0700 with a name of its own.
 *
 * @param out   its path, in the arena
 * @param owner who gets it; 0: the caller
 * @return MCP_OK; MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO: the parent; MCP_E_NOMEM
 */
mcp_status casparian_scratch_make(const char **out, mcp_arena *arena, const char *parent,
                                  uid_t owner, mcp_error *err);

/* The bytes on disk of all files below a folder; of at most 10,000 entries and 16 levels, and
 * UINT64_MAX for more. */
uint64_t casparian_scratch_bytes(const char *path);

/* Remove what is in the folder, and with `all` the folder too. No process uses it any more. */
void casparian_scratch_remove(const char *path, bool all);

#endif
