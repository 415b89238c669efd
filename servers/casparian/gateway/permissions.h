/**
 * permissions.h - which tools a client may call: [mcp.tools], disabled_tools, and the profile.
 */
#ifndef CASPARIAN_GATEWAY_PERMISSIONS_H
#define CASPARIAN_GATEWAY_PERMISSIONS_H

#include "gateway/request.h"

typedef enum casparian_permission {
    CASPARIAN_ALLOW,
    CASPARIAN_ASK, /* each call is put to the human, through the client */
    CASPARIAN_DENY /* not listed, and refused */
} casparian_permission;

/** Check the settings: their tools exist and their values are valid.
 *  @return MCP_OK; MCP_E_PARAMS */
mcp_status casparian_permissions_check(const casparian_config *config, const casparian_tool *tools,
                                       mcp_error *err);

/** What the settings say of a tool. */
casparian_permission casparian_permission_of(const casparian_config *config,
                                             const casparian_tool *tool);

/**
 * Whether a tool may be called with this value: [mcp.tools.NAME] may have lists of `plugins` and of
 * `sinks` ("parquet", "csv", "duckdb").
 *
 * @param list "plugins" or "sinks"
 */
bool casparian_permission_has(const casparian_config *config, const casparian_tool *tool,
                              const char *list, const char *value);

#endif
