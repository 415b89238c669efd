/**
 * format.h - dates and times in the patterns of strptime, and in the forms that need no pattern.
 *
 * Directives: %Y %m %d %H %I %M %S %f %p %y %j %b %B %a %A %z %Z %T %F %D %%, and of the fraction
 * of a second %.f %.3f %.6f (a point and digits, or nothing) and %3f %6f (so many digits). Other
 * characters stand for themselves; a space is one or more blanks (space, tab).
 *
 * Numbers have as many digits as directive and value allow, at least one; the first reading that
 * fits the whole text counts, with as many digits as possible from left to right. %Y has four
 * digits, %y two (69 to 99 are 1969 to 1999). %f has 1 to 9 digits and is cut to microseconds.
 * Names of months and weekdays are English, in any case; a weekday is not compared with the date.
 * %z is +HHMM, +HH:MM or Z; %Z is UTC, GMT or Z, as other abbreviations are no offsets. The second
 * 60 is 59.999999. A day that is not in its month does not fit.
 */
#ifndef CASPARIAN_SCHEMA_FORMAT_H
#define CASPARIAN_SCHEMA_FORMAT_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "schema/civil.h"

/** Longest pattern, and longest text that may fit one. */
#define CASPARIAN_FORMAT_MAX 128

/** What a text says. */
typedef enum casparian_temporal {
    CASPARIAN_TEMPORAL_DATE,
    CASPARIAN_TEMPORAL_TIMESTAMP,    /* without a zone */
    CASPARIAN_TEMPORAL_TIMESTAMP_TZ, /* an instant; without %z its zone is known otherwise */
    CASPARIAN_TEMPORAL_TIME,
} casparian_temporal;

/** A compiled pattern: immutable, so any number of threads may use it. */
typedef struct casparian_format casparian_format;

/**
 * Compile a pattern.
 *
 * @param out in the arena
 * @return MCP_OK; MCP_E_PARAMS: a directive is unknown or repeated, says what the kind does not
 *         have, or something that the kind needs is missing, such as the year (err says which);
 *         MCP_E_LIMIT: the pattern is too long; MCP_E_NOMEM
 */
mcp_status casparian_format_compile(const casparian_format **out, mcp_arena *arena,
                                    const char *pattern, casparian_temporal kind, mcp_error *err);

/** Read a text by a pattern. @return false: it does not fit; `out` is undefined then */
bool casparian_format_match(casparian_moment *out, const casparian_format *format, const char *text,
                            size_t length);

/** Read an offset at the begin of a text: Z, +HHMM or +HH:MM. @return its length; 0: it is none */
size_t casparian_read_offset(int32_t *out, const char *text, size_t length);

/**
 * Read a text without a pattern: a date YYYY-MM-DD; a timestamp YYYY-MM-DD, 'T' or one space, and
 * HH:MM:SS with an optional fraction of 1 to 9 digits; a timestamp with zone the same followed by Z
 * or +HH:MM; a time HH:MM:SS with an optional fraction.
 *
 * @return false: it has another form, or there is no such date or time
 */
bool casparian_temporal_match(casparian_moment *out, casparian_temporal kind, const char *text,
                              size_t length);

#endif
