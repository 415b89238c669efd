/**
 * quote.h - texts and names within the SQL of DuckDB.
 */
#ifndef COLUMNS_QUOTE_H
#define COLUMNS_QUOTE_H

#include "mcp/buf.h"

/** Append `text` in quotes, with those in it doubled. @param quote \' of a text, " of a name */
void columns_quote(mcp_buf *out, const char *text, char quote);

#endif
