/**
 * declared.h - what a plugin declares: topics, outputs and their schemas.
 */
#ifndef CASPARIAN_PLUGINS_DECLARED_H
#define CASPARIAN_PLUGINS_DECLARED_H

#include "plugins/bundle.h"

/**
 * Fill topics, outputs, default_output, schemas and import_warnings of a plugin, and what a module
 * without a manifest says of itself: id and version.
 *
 * @param metadata of a Python module (plugins/metadata.h); NULL: of a native plugin
 * @return MCP_OK; MCP_E_PARSE: a declaration is wrong, err says which; MCP_E_NOMEM
 */
mcp_status casparian_declared_read(casparian_plugin *plugin, mcp_arena *arena,
                                   const casparian_bundle *bundle, const mcp_json *metadata,
                                   mcp_error *err);

#endif
