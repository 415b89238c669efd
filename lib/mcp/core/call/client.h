/*
 * client.h - what client and server say about themselves: capabilities, levels of log messages,
 * identity; and on whose behalf a call runs.
 *
 * Also of this module: mcp_call_client_can, mcp_call_client_name, mcp_call_client_version,
 * mcp_call_require, mcp_call_principal, mcp_call_scopes, mcp_call_has_scopes,
 * mcp_call_require_scopes, mcp_level_name and mcp_level_find of mcp/call.h.
 */
#ifndef MCP_CORE_CALL_CLIENT_H
#define MCP_CORE_CALL_CLIENT_H

#include "mcp/core/call/call_int.h"

/** Bits of mcp_client_can from a ClientCapabilities object; NULL: none. */
unsigned mcp__client_read(const mcp_json *declared);

/** Write the members of the ClientCapabilities object that has these bits. */
void mcp__client_write(mcp_json_writer *writer, unsigned bits);

/**
 * Read an Implementation object as texts for a log.
 *
 * @param info not kept; NULL, or no object: it says nothing
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status mcp__client_names_read(mcp__client_names *out, mcp_arena *arena, const mcp_json *info);

/** The same texts in another arena. @return MCP_OK; MCP_E_NOMEM */
mcp_status mcp__client_names_copy(mcp__client_names *out, mcp_arena *arena,
                                  const mcp__client_names *names);

/** Write the server's Implementation object as that revision knows it; its icons only where asked
 *  for. */
void mcp__client_write_identity(mcp_json_writer *writer, const mcp_server_options *options,
                                mcp_revision revision, bool with_icons);

/** A copy in `arena`; NULL for NULL, and when memory is out, which `*is_lost` then tells. */
const mcp_principal *mcp__principal_copy(mcp_arena *arena, const mcp_principal *principal,
                                         bool *is_lost);

/** Whether a list of scopes has that one, of `length` bytes. */
bool mcp__scopes_have(const char *list, const char *word, size_t length);

/** Append those of a list of scopes that `out` does not have yet. */
void mcp__scopes_add(mcp_buf *out, const char *scopes);

/** Whether a list of scopes has every one of another list; lists are separated by spaces. */
bool mcp__scopes_cover(const char *scopes, const char *wanted);

#endif
