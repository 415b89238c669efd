/* touched.h - which entities an entry of the log changed: written into it, read back, gathered. */
#ifndef UNIVERSE_TOUCHED_H
#define UNIVERSE_TOUCHED_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "service/storage/record.h"

/**
 * The changes as the log keeps them, JSON: {"all":true} or {"roots":true,"groups":true,
 * "touched":[[map, "id", removed], ...]}, members left out where they say nothing.
 *
 * @param out NULL where nothing but time changed
 */
mcp_status universe_touched_write(const char **out, size_t *length, const universe_changes *changes,
                                  mcp_arena *arena, mcp_error *err);

/** Gathers changes of several entries. */
typedef struct universe_gatherer {
    mcp_arena *arena;
    universe_touch *touches;
    size_t count, capacity;
    int settled; /* how often room was made */
    bool everything, roots, root_groups;
} universe_gatherer;

/** Add what one change touched; strings are borrowed and must live as long as the arena. */
mcp_status universe_gather(universe_gatherer *to, const universe_changes *changes, mcp_error *err);

/** Add what universe_touched_write wrote; it is read in `scratch`, and only ids are kept. So many
 *  that a delta does not pay become `everything`. */
mcp_status universe_gather_text(universe_gatherer *to, const char *text, size_t length,
                                mcp_arena *scratch, mcp_error *err);

/** Each entity once, as it ended. */
void universe_gathered(universe_changes *out, universe_gatherer *from);

#endif
