/*
 * entries.h - what one commit adds to a universe's log.
 */
#ifndef UNIVERSE_SERVICE_ENTRIES_H
#define UNIVERSE_SERVICE_ENTRIES_H

#include "service/storage/store.h"

/**
 * Append entries to the log, joining ticks.
 *
 * @param entries become what was written, of which there may be fewer
 */
mcp_status universe_entries_write(universe_entry *entries, size_t *count, db_session *session,
                                  const char *id, mcp_arena *arena, mcp_error *err);

/** How many bytes of log they are, about. */
int64_t universe_entries_bytes(const universe_entry *entries, size_t count);

#endif
