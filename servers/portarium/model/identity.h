/**
 * identity.h - ids, traces, times, shortened texts, and the cursors of pages. Any thread.
 */
#ifndef PORTARIUM_IDENTITY_H
#define PORTARIUM_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/clock.h"
#include "mcp/error.h"
#include "mcp/json.h"

/** Room for a UUID with its NUL. */
#define PORTARIUM_UUID_SIZE 37
/** Maximum bytes of an id, of a sort key, and of a cursor's text. */
#define PORTARIUM_ID_MAX 200
#define PORTARIUM_KEY_MAX 1000
#define PORTARIUM_CURSOR_MAX 1620

/** Write a random UUID, version 4 (RFC 9562). @return MCP_OK; MCP_E_IO */
mcp_status portarium_uuid(char out[PORTARIUM_UUID_SIZE], mcp_error *err);

/** The same of version 7: the time in milliseconds, then 74 random bits. So keys that are made one
 *  after the other are near each other in an index. */
mcp_status portarium_uuid_by_time(char out[PORTARIUM_UUID_SIZE], mcp_error *err);

/** A new id: `prefix`, then a UUID, which is one by time if there is a prefix; in the arena.
 *  @return MCP_OK; MCP_E_IO; MCP_E_NOMEM */
mcp_status portarium_id_new(const char **out, const char *prefix, mcp_arena *arena, mcp_error *err);

/** True for the text of an id: 1 to PORTARIUM_ID_MAX bytes of UTF-8 without control characters. */
bool portarium_id_is_valid(const char *id);

/** The bytes of a text of UTF-8 without what is left at its end of a character that was cut. */
size_t portarium_text_whole(const char *text, size_t length);

/** The beginning of a text, at most `max_bytes`, with whole characters; in the arena. NULL: no
 *  memory. */
const char *portarium_text_begin(mcp_arena *arena, const char *text, size_t max_bytes);

/** The trace that work is part of (W3C Trace Context), as others get it from here. Valid, borrowed
 *  texts; zero: none. */
typedef struct portarium_trace {
    const char *parent; /* "traceparent" */
    const char *state;  /* "tracestate"; NULL: none */
} portarium_trace;

/** Write the members "traceparent" and "tracestate", those that there are. */
void portarium_trace_write(mcp_json_writer *json, const portarium_trace *trace);

/** Read them back; borrowed from the object. NULL: none. */
portarium_trace portarium_trace_read(const mcp_json *object);

/** Write milliseconds since 1970 as "2026-01-02T03:04:05.000Z". */
void portarium_time_write(char out[MCP_CLOCK_UTC_SIZE], int64_t wall_ms);

/**
 * Read a time of RFC 3339, with any offset; digits behind the milliseconds are dropped.
 *
 * @return false, with *out untouched, when it is none: also for a leap second and for years before
 *         1970
 */
bool portarium_time_read(int64_t *out, const char *text);

/** Write a member that is a time as portarium_time_write does; any other value, and a text that is
 *  no time, as it is. */
void portarium_time_copy(mcp_json_writer *json, const char *name, const mcp_json *value);

/** A place in a sorted list: after the item of this sort key and id. */
typedef struct portarium_cursor {
    const char *key; /* NULL: a bare id was given */
    const char *id;
    uint64_t list; /* a hash of what the list is of, by which another list refuses the cursor */
} portarium_cursor;

/** The opaque text of a place (base64url); in the arena. @return MCP_OK; MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status portarium_cursor_write(const char **out, const portarium_cursor *cursor,
                                  mcp_arena *arena, mcp_error *err);

/**
 * Read a cursor. A text that portarium_cursor_write did not make is taken as a bare id.
 *
 * @param out its texts are the arena's
 * @return MCP_OK; MCP_E_PARAMS (empty, too long or with control characters); MCP_E_NOMEM
 */
mcp_status portarium_cursor_read(portarium_cursor *out, const char *text, mcp_arena *arena,
                                 mcp_error *err);

#endif
