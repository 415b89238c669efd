/*
 * entries.h - entries of a universe's log, joined as they are stored and split as they are served.
 *
 * A commit makes one entry for each version. In the log, ticks that follow one another share one
 * entry: an array of the ticks, each with its dt, and instead of events the time after each.
 * Streams and history serve versions, so what is read from the log is split again: then an entry of
 * kind TICKS holds one tick, with its `dt`.
 */
#ifndef UNIVERSE_SERVICE_ENTRIES_H
#define UNIVERSE_SERVICE_ENTRIES_H

#include "service/storage/store.h"

/**
 * Append split entries to the log, joining ticks.
 *
 * @param bytes grows by what they take in the log, about
 */
mcp_status universe_entries_write(const universe_entry *entries, size_t count, int64_t *bytes,
                                  db_session *session, const char *id, mcp_arena *arena,
                                  mcp_error *err);

/** Split an entry of the log. The new entries and their texts are the arena's. */
mcp_status universe_entries_split(universe_entry **out, size_t *count, const universe_entry *stored,
                                  mcp_arena *arena, mcp_error *err);

/** The entry of a state that comes from elsewhere; without what it touched. */
universe_entry universe_entries_replacement(const char *label, int64_t version, double time,
                                            int64_t now_ms);

/** Copy entries and what they point to into the arena; NULL: no memory. */
universe_entry *universe_entries_copy(const universe_entry *entries, size_t count,
                                      mcp_arena *arena);

#endif
