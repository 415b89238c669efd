/**
 * portable.h - JSON that all its readers read alike (I-JSON, RFC 7493): only that has a canonical
 * form, so nothing else can be evidence. Any thread.
 */
#ifndef PORTARIUM_LANGUAGE_PORTABLE_H
#define PORTARIUM_LANGUAGE_PORTABLE_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

/**
 * Look for numbers that a double does not hold, and texts and names that have a noncharacter.
 *
 * @return MCP_OK: there are none; MCP_E_PARAMS: `err` says what is wrong with the first;
 *         MCP_E_NOMEM
 */
mcp_status portarium_portable_check(const mcp_json *value, mcp_error *err);

/**
 * The same value with such numbers as texts of their digits, and U+FFFD for each noncharacter.
 *
 * @param out `value` itself where nothing is changed; else the arena's
 * @return MCP_OK; MCP_E_LIMIT: longer than 8 MiB; MCP_E_NOMEM
 */
mcp_status portarium_portable(const mcp_json **out, const mcp_json *value, mcp_arena *arena,
                              mcp_error *err);

#endif
