/**
 * probe.h - looks at a database without making or changing it, and at libpq.
 */
#ifndef DB_PROBE_H
#define DB_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/error.h"
#include "mcp/files.h"

/**
 * Whether a program could open the database of a URL.
 *
 * @param words what was found, on MCP_OK: one line, without a password
 * @param files the program's migrations, in the folder "sql"
 * @return MCP_OK: it is there, or it is a file that can be made; the statuses of db_open and of
 *         db_migrations_check
 */
mcp_status db_probe(char *words, size_t size, const char *url, const mcp_file *files,
                    mcp_error *err);

/** Whether there may be a database: not for "memory", nor for sqlite:PATH without that file. */
bool db_is_there(const char *url);

/**
 * The version of libpq, which is opened for it.
 *
 * @param out  lives as long as the process
 * @param code an address in the library
 * @return MCP_OK; MCP_E_UNSUPPORTED: it cannot be loaded
 */
mcp_status db_libpq_version(const char **out, const void **code, mcp_error *err);

#endif
