/*
 * exposure.h - who may know of a feature, and who may use it.
 */
#ifndef MCP_FEATURE_EXPOSURE_H
#define MCP_FEATURE_EXPOSURE_H

#include "mcp/core/call/call_int.h"
#include "mcp/server.h"

/** The member of a feature's _meta that names its scopes. */
#define MCP__SCOPES_KEY "causeway/scopes"

/**
 * The scopes that a feature's entry asks for.
 *
 * @param out   borrowed from `entry`; NULL: none
 * @param entry an object with or without _meta
 * @return MCP_OK; MCP_E_PARAMS: they are not a text of words (RFC 6749, 3.3) between single spaces
 */
mcp_status mcp__exposure_scopes(const char **out, const mcp_json *entry, mcp_error *err);

/** Whether the text is one or more scopes. */
bool mcp__exposure_are_scopes(const char *text);

/** Whether lists may differ between clients. */
bool mcp__exposure_varies(const mcp_server_options *options);

/** Whether the feature is visible to the client. `scopes` may be NULL. */
bool mcp__exposure_shows(const mcp_call *call, mcp_feature feature, const char *name,
                         const char *scopes);

#endif
