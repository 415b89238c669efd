/*
 * version.h - in which revisions a member of a type may be sent.
 */
#ifndef MCP_CORE_VERSION_H
#define MCP_CORE_VERSION_H

#include <stdbool.h>

#include "mcp/version.h"

/** True when `revision` knows the member of that type ("Tool", "Resource", "CallToolResult"); a
 * member that stands in no row has always been known. */
bool mcp__field_is_known(const char *type, const char *member, mcp_revision revision);

#endif
