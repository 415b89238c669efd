/*
 * copy.h - a copy of a plugin that others can write.
 *
 * A plugin in development is in a folder of the one who writes it, who can change it while a job
 * runs, and a guest opens its files again: for each file of a native plugin, and whenever an
 * interpreter is started again. So it runs a copy, which has the hash of what was looked up. A
 * module is copied alone: what is next to it is no part of its hash, and cannot be imported.
 */
#ifndef CASPARIAN_PLUGINS_RUN_COPY_H
#define CASPARIAN_PLUGINS_RUN_COPY_H

#include "plugins/plugin.h"

/*
 * Copy a plugin into a new folder, and let it be there: its `dir` and `entrypoint` are changed.
 *
 * @param out    the folder, in the arena; casparian_scratch_remove ends it
 * @param parent the folder that it is made in; nobody else writes there
 * @return MCP_OK; MCP_E_EXISTS: the plugin was changed since it was looked up, or removed;
 *         MCP_E_STORAGE: the disk is full; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status casparian_copy_make(const char **out, casparian_plugin *plugin, mcp_arena *arena,
                               const char *parent, mcp_error *err);

#endif
