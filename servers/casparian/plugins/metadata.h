/**
 * metadata.h - what a Python module declares, read without executing it, and the interpreter that
 * runs it.
 */
#ifndef CASPARIAN_PLUGINS_METADATA_H
#define CASPARIAN_PLUGINS_METADATA_H

#include "mcp/arena.h"
#include "mcp/json.h"

/**
 * Find the interpreter: the absolute path that Python itself gives, behind shims and links of PATH.
 * Starts it once.
 *
 * @param out       in the arena
 * @param preferred a path or a name of PATH; NULL: "python3"
 * @return MCP_OK; MCP_E_NOT_FOUND: there is none, or it does not run; MCP_E_NOMEM; MCP_E_IO
 */
mcp_status casparian_python_find(const char **out, mcp_arena *arena, const char *preferred,
                                 mcp_error *err);

/**
 * Read the declarations of a module: guest/metadata.py parses its text and takes the literals.
 *
 * @param out an object in the arena: name, version, topics, default_output, outputs; each absent
 *            where the module does not declare it; `incomplete`: true where a declaration is no
 *            literal; `warnings`; `has_parse`
 * @param source the text of the module
 * @return MCP_OK; MCP_E_PARSE: it is no Python, err has the line; MCP_E_LIMIT: it is longer than
 *         4 MiB; MCP_E_TIMEOUT; MCP_E_NOMEM; MCP_E_IO
 */
mcp_status casparian_python_metadata(const mcp_json **out, mcp_arena *arena, const char *python,
                                     const char *source, size_t length, mcp_error *err);

#endif
