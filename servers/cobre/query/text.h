/**
 * text.h - values of a table as JSON and as CSV.
 *
 * Source: seed SS3.2; the output page, section 10.
 */
#ifndef COBRE_QUERY_TEXT_H
#define COBRE_QUERY_TEXT_H

#include "columns/columns.h"
#include "mcp/buf.h"
#include "mcp/json.h"

/** Write the value of a row: a number, a text, a boolean; null where there is none, for NaN and for
 *  infinity. Dates are ISO 8601. */
void query_json_value(mcp_json_writer *writer, const columns_column *column, size_t row);

/** Append the value of a row as a CSV field (RFC 4180); nothing where it is null. */
void query_csv_value(mcp_buf *text, const columns_column *column, size_t row);

/** Append a text as a CSV field, quoted where it must be. */
void query_csv_text(mcp_buf *text, const char *field);

#endif
