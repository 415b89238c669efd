/**
 * plugin_ref.h - plugins and files that a person names in the shell.
 */
#ifndef CASPARIAN_SHELL_PLUGIN_REF_H
#define CASPARIAN_SHELL_PLUGIN_REF_H

#include "gateway/app.h"

/**
 * Read what names a plugin: "NAME", "NAME@VERSION", or the path of a file or folder (it has a '/'
 * or ends in ".py").
 *
 * @param ref  as the tools take it; in the arena
 * @param path absolute, without links; NULL: it is no path
 */
mcp_status casparian_shell_plugin_ref(const mcp_json **ref, const char **path, const char *text,
                                      mcp_arena *arena, mcp_error *err);

/** The plugin of such words. Where the registry knows more of a failure, app->failure has it. */
mcp_status casparian_shell_plugin(casparian_plugin *out, casparian_app *app, const char *text,
                                  mcp_error *err);

/** Set app->failure where there is a problem with the plugin. @return st */
mcp_status casparian_shell_plugin_failed(casparian_app *app,
                                         const casparian_plugin_problem *problem, mcp_status st,
                                         const mcp_error *err);

/** Read schemas of a JSON file: an object of them by output, or one schema. @return as
 *  casparian_shell_read_json and casparian_schemas_read */
mcp_status casparian_shell_read_schemas(casparian_schemas *out, const char *path, mcp_arena *arena,
                                        mcp_error *err);

/** Read a JSON file. @return MCP_OK; MCP_E_NOT_FOUND, MCP_E_IO; MCP_E_LIMIT; MCP_E_PARSE */
mcp_status casparian_shell_read_json(const mcp_json **out, const char *path, size_t max_bytes,
                                     mcp_arena *arena, mcp_error *err);

#endif
