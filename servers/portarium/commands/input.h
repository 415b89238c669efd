/**
 * input.h - what comes with the line: files of JSON, NAME=VALUE, secrets of standard input.
 */
#ifndef PORTARIUM_COMMANDS_INPUT_H
#define PORTARIUM_COMMANDS_INPUT_H

#include "commands/link.h"

/**
 * Read an object from a file. @param path "-": standard input
 *
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_PARAMS (no JSON, or no object); MCP_E_LIMIT; MCP_E_IO
 */
mcp_status portarium_input_file(const mcp_json **out, mcp_arena *arena, const char *path,
                                mcp_error *err);

/**
 * Split "NAME=VALUE". A value that is JSON is that value ("3", "true", "[1]", "\"3\""), any other
 * is a text. Pure.
 *
 * @return MCP_OK; MCP_E_PARAMS: there is no name; MCP_E_NOMEM
 */
mcp_status portarium_input_pair(const char **name, const mcp_json **value, mcp_arena *arena,
                                const char *text, mcp_error *err);

/** The object of --input FILE, with the members of each --set. NULL: the line has neither. */
mcp_status portarium_input_object(const mcp_json **out, portarium_link *self, mcp_error *err);

/** The longest secret that is read, in bytes. */
#define PORTARIUM_INPUT_SECRET_MAX 16384

/**
 * Read a secret: a line of standard input, so it is in no history of a shell and in no list of
 * processes. A terminal asks for it, and does not show it.
 *
 * @param out PORTARIUM_INPUT_SECRET_MAX + 2 bytes, which the caller overwrites
 * @return MCP_OK; MCP_E_PARAMS: the line is empty
 */
mcp_status portarium_input_secret(char *out, const cli_line *line, mcp_error *err);

#endif
