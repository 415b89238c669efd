/*
 * dialect.h - the two differences between the SQL of the engines.
 */
#ifndef DB_DIALECT_H
#define DB_DIALECT_H

#include "mcp/buf.h"

/* Append `sql` without its row locks ("FOR UPDATE OF t SKIP LOCKED", "FOR KEY SHARE", ...), which
 * SQLite does not have. Strings, quoted names and comments stay as they are. */
mcp_status db_dialect_without_locks(mcp_buf *out, const char *sql);

/* Append `sql` with the type BLOB written as BYTEA, as PostgreSQL calls it. */
mcp_status db_dialect_with_bytea(mcp_buf *out, const char *sql);

#endif
