/**
 * version.h - the protocol revisions, in order.
 */
#ifndef MCP_VERSION_H
#define MCP_VERSION_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A revision of the protocol. Later is greater, so that "since" and "until" are comparisons.
 *
 * Up to 2025-11-25 a client opens a session by `initialize`, and what was agreed holds until its end.
 * From 2026-07-28 there is no session: each request says by itself which revision it speaks and what
 * its client can do. One server serves both, request by request.
 */
typedef enum mcp_revision {
    MCP_REVISION_NONE, /* none named: the default of whoever asks */
    MCP_2024_11_05,
    MCP_2025_03_26,
    MCP_2025_06_18,
    MCP_2025_11_25,
    MCP_2026_07_28
} mcp_revision;

/** The newest revision that this library serves. */
#define MCP_REVISION_NEWEST MCP_2026_07_28

/** The newest revision that `initialize` can agree on. */
#define MCP_REVISION_NEWEST_SESSION MCP_2025_11_25

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
