/*
 * author.h - what the commands of people who write and install plugins share.
 */
#ifndef CASPARIAN_SHELL_AUTHOR_AUTHOR_H
#define CASPARIAN_SHELL_AUTHOR_AUTHOR_H

#include "gateway/app.h"
#include "plugins/bundle.h"

/* A bundle with what the registry says of it, and whether it could run once it is installed. */
typedef struct casparian_inspected {
    casparian_bundle bundle;
    casparian_plugin plugin;
} casparian_inspected;

/*
 * Read a folder with casparian.toml as if it were installed.
 *
 * @param path as a person gave it, or absolute
 * @return MCP_OK, also where it may not run; MCP_E_NOT_FOUND; MCP_E_PARAMS: it is no folder;
 *         MCP_E_STOPPED: its manifest, a declaration or a schema is wrong; other statuses of
 *         casparian_bundle_read and casparian_registry_resolve
 */
mcp_status casparian_author_inspect(casparian_inspected *out, casparian_app *app, const char *path,
                                    mcp_error *err);

/* Write a whole file, instead of one that is there. MCP_OK; statuses of mcp_error_errno. */
mcp_status casparian_author_write(const char *path, const void *bytes, size_t length, unsigned mode,
                                  mcp_error *err);

/* Make the folders that are missing above a file, below a folder that is there. */
mcp_status casparian_author_folders(mcp_arena *arena, const char *path, mcp_error *err);

/* Copy the files of a bundle into an empty folder. */
mcp_status casparian_author_copy(mcp_arena *arena, const casparian_bundle *bundle, const char *to,
                                 mcp_error *err);

/* Remove a folder with all that is in it; links are not followed. Nothing there is fine. */
mcp_status casparian_author_remove(const char *path, mcp_error *err);

#endif
