/**
 * zone.h - time zones: from the system's database, or a fixed offset.
 *
 * The database is the TZif files (RFC 9636) below $TZDIR or /usr/share/zoneinfo. What a file says
 * of times after its last transition, its footer's rule, holds for ever.
 */
#ifndef CASPARIAN_SCHEMA_ZONE_H
#define CASPARIAN_SCHEMA_ZONE_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

/** Longest name of a zone, and its NUL. */
#define CASPARIAN_ZONE_NAME_SIZE 64

/** A zone: immutable, so any number of threads may use it. */
typedef struct casparian_zone casparian_zone;

/** The name that a zone is stored by: "UTC" for each spelling of it ("utc", "Z", "GMT", "Etc/UTC",
 *  "Etc/GMT", "+00:00"), otherwise the name itself. Pure. */
const char *casparian_zone_normal(const char *name);

/**
 * Load a zone: "UTC", "+05:30" or "-03:00", or a name of the database such as "Europe/Berlin".
 *
 * @param out in the arena
 * @return MCP_OK; MCP_E_NOT_FOUND: there is no such zone; MCP_E_PARSE: its file is damaged;
 *         MCP_E_IO; MCP_E_LIMIT: the file is larger than 256 KiB; MCP_E_NOMEM
 */
mcp_status casparian_zone_load(const casparian_zone **out, mcp_arena *arena, const char *name,
                               mcp_error *err);

/** Read a zone from the bytes of a TZif file. @param name for messages. As casparian_zone_load. */
mcp_status casparian_zone_read(const casparian_zone **out, mcp_arena *arena, const char *name,
                               const uint8_t *bytes, size_t length, mcp_error *err);

/** Seconds east of UTC at an instant. @param utc_s seconds since 1970, within 2^45 */
int32_t casparian_zone_offset(const casparian_zone *zone, int64_t utc_s);

/**
 * The instant of a wall clock time.
 *
 * A time that the clocks skip is taken by the offset before the skip, so it comes out as much
 * later; a time that the clocks show twice is the earlier of the two.
 *
 * @param wall_s seconds from 1970-01-01T00:00:00 of the wall clock, within 2^45
 */
int64_t casparian_zone_instant(const casparian_zone *zone, int64_t wall_s);

#endif
