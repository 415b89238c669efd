/**
 * version.h - the protocol revisions, in order.
 */
#ifndef MCP_VERSION_H
#define MCP_VERSION_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A revision of the protocol. Later is greater, so that "since" and "until" are comparisons. */
typedef enum mcp_revision {
    MCP_REVISION_NONE, /* none named: the default of whoever asks */
    MCP_2024_11_05,
    MCP_2025_03_26,
    MCP_2025_06_18,
    MCP_2025_11_25
} mcp_revision;

/** The newest revision that this library serves. */
#define MCP_REVISION_NEWEST MCP_2025_11_25

/** "2025-06-18"; "" for MCP_REVISION_NONE. */
const char *mcp_revision_name(mcp_revision revision);

/** The revision of that name; MCP_REVISION_NONE for NULL or an unknown one. */
mcp_revision mcp_revision_find(const char *name);

/** The library's own version, "0.1.0". */
const char *mcp_version(void);

#ifdef __cplusplus
}
#endif

#endif
