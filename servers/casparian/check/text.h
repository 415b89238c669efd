/**
 * text.h - the text of a value: one form in CSV files, samples, messages and answers of queries.
 *
 *     int64, boolean, decimal   -12, true, 12.5000 (always with the digits of its scale)
 *     float64                   the shortest text that reads back as the same number; nan, inf, -inf
 *     date, timestamp, time     2024-01-31, 2024-01-31T08:00:00[.123456], 08:00:00[.123456]
 *     timestamp_tz              2024-01-31T09:00:00+01:00 in the column's zone, Z in UTC
 *     duration                  PT90S, -PT0.5S
 *     string, binary            itself, base64 with padding
 *
 * Source: casparian's data model, 1.3.
 */
#ifndef CASPARIAN_CHECK_TEXT_H
#define CASPARIAN_CHECK_TEXT_H

#include "check/batch.h"
#include "mcp/json.h"
#include "schema/zone.h"

/** Room for the text of every value that is not a string or binary, with its NUL. */
#define CASPARIAN_TEXT_SIZE 96

/**
 * Append the text of a value; nothing for one that is null.
 *
 * @param zone of a TIMESTAMP_TZ; NULL: UTC
 * @return out->status
 */
mcp_status casparian_text_append(mcp_buf *out, const casparian_cell *cell,
                                 const casparian_zone *zone);

/**
 * Write a value as JSON: integers, finite numbers and booleans as such (an integer beyond 2^53 as
 * its text), null, and everything else as its text.
 */
void casparian_text_json(mcp_json_writer *out, const casparian_cell *cell,
                         const casparian_zone *zone);

#endif
