/*
 * write.h - a string that is written in pieces; everything else of writing is public, in mcp/json.h.
 *
 * Between open and close nothing but pieces is written. What fails sticks in the writer, as always.
 */
#ifndef MCP_JSON_WRITE_H
#define MCP_JSON_WRITE_H

#include <stddef.h>

#include "mcp/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Begin a string. */
void mcp__write_string_open(mcp_json_writer *writer);

/* A piece of its text: whole characters of UTF-8, escaped here. */
void mcp__write_string_part(mcp_json_writer *writer, const char *text, size_t length);

/* A piece that is escaped already, copied as it stands. */
void mcp__write_string_escaped(mcp_json_writer *writer, const char *bytes, size_t length);

/* End the string. */
void mcp__write_string_close(mcp_json_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
