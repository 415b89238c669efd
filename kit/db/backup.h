/**
 * backup.h - a copy of a database, made while others use it.
 */
#ifndef DB_BACKUP_H
#define DB_BACKUP_H

#include <stdint.h>

#include "mcp/error.h"

/**
 * Write the present content of a SQLite database into a new file: one snapshot, which readers and
 * writers of the database do not disturb. The schema is not changed. The file has mode 0600 and is
 * on the disk when the function returns; on failure it is removed.
 *
 * @param bytes its size
 * @param url   "sqlite:PATH"
 * @return MCP_OK; MCP_E_EXISTS: `path` is there; MCP_E_NOT_FOUND: the database is not;
 *         MCP_E_UNSUPPORTED: another kind of database, the message names its own means;
 *         MCP_E_IO, MCP_E_BUSY, MCP_E_STORAGE, MCP_E_DENIED
 */
mcp_status db_backup(int64_t *bytes, const char *url, const char *path, mcp_error *err);

#endif
