/**
 * version.h - the protocol revisions and the library's version.
 */
#ifndef MCP_VERSION_H
#define MCP_VERSION_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A revision of the protocol. A later revision compares greater.
 *
 * Up to 2025-11-25 a client opens a session with `initialize`, and the negotiated revision and
 * capabilities hold until the session ends. From 2026-07-28 there are no sessions: each request
 * names its revision and its client's capabilities. One server serves both, request by request.
 */
typedef enum mcp_revision {
    MCP_REVISION_NONE, /* not given; each option states its default */
    MCP_2024_11_05,
    MCP_2025_03_26,
    MCP_2025_06_18,
    MCP_2025_11_25,
    MCP_2026_07_28
} mcp_revision;

/** The newest revision that this library serves. */
#define MCP_REVISION_NEWEST MCP_2026_07_28

/** The newest revision that `initialize` can negotiate. */
#define MCP_REVISION_NEWEST_SESSION MCP_2025_11_25

/** The name of a revision ("2025-06-18"); "" for MCP_REVISION_NONE. */
const char *mcp_revision_name(mcp_revision revision);

/** Find a revision by its name. @return MCP_REVISION_NONE for NULL or an unknown name */
mcp_revision mcp_revision_find(const char *name);

/** The version of these headers; that of the library that was loaded may be a later one. */
#define MCP_VERSION_MAJOR 0
/** The second number of the version of these headers. */
#define MCP_VERSION_MINOR 1
/** The third number of the version of these headers. */
#define MCP_VERSION_PATCH 0

/** The same as a number to compare: 0x010203 is 1.2.3. */
#define MCP_VERSION_NUM (MCP_VERSION_MAJOR << 16 | MCP_VERSION_MINOR << 8 | MCP_VERSION_PATCH)

/** The version of the library that was loaded, such as "0.1.0". */
const char *mcp_version(void);

#ifdef __cplusplus
}
#endif

#endif
