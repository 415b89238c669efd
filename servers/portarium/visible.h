/**
 * visible.h - which of the tools a client sees, and what is kept of a call of a hidden one.
 */
#ifndef PORTARIUM_VISIBLE_H
#define PORTARIUM_VISIBLE_H

#include "gateway/app.h"
#include "mcp/server.h"

/** The library's mcp_visibility; `data` is the app. A tool is visible that the configuration
 *  allows, and the tool exposure policies of the caller's workspace. */
bool portarium_tool_is_visible(const mcp_call *call, mcp_feature feature, const char *name,
                               void *data);

/** The library's mcp_hidden_call: evidence of the category PolicyViolation, where a policy hides
 *  the tool. It is written later; what cannot be written is logged. */
void portarium_hidden_tool_called(const mcp_call *call, const char *name, mcp_hiding reason,
                                  void *data);

/** Read a list of tools between commas. @param out NULL: the text is NULL, all tools
 *  @return MCP_OK; MCP_E_PARAMS: there is no such tool; MCP_E_NOMEM */
mcp_status portarium_allowed_tools_read(const char *const **out, const char *text, mcp_arena *arena,
                                        mcp_error *err);

#endif
