/**
 * probe.h - whether a database could be opened, without making or changing it.
 */
#ifndef DB_PROBE_H
#define DB_PROBE_H

#include <stddef.h>

#include "mcp/error.h"

/**
 * Look at the database of a URL.
 *
 * @param words what was found, on MCP_OK
 * @return MCP_OK: it is there, or it is a file that can be made; the statuses of db_open
 */
mcp_status db_probe(char *words, size_t size, const char *url, mcp_error *err);

#endif
