/*
 * dialect.h - the three differences between the SQL of the engines.
 */
#ifndef DB_DIALECT_H
#define DB_DIALECT_H

#include "mcp/buf.h"

/* Append `sql` without its row locks ("FOR UPDATE OF t SKIP LOCKED", "FOR KEY SHARE", ...), which
 * SQLite does not have, and with its parameters "$1" written as "?1", which SQLite numbers by that
 * number; a "?" becomes "?0", which it refuses. Strings, quoted names and comments stay as they
 * are. */
mcp_status db_dialect_of_sqlite(mcp_buf *out, const char *sql);

/* Append `sql` with the type BLOB written as BYTEA, as PostgreSQL calls it. */
mcp_status db_dialect_of_postgres(mcp_buf *out, const char *sql);

#endif
