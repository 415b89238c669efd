/**
 * resource.h - the table that binds resources to functions.
 *
 * The embedded file "resources.json" has the members `resources` and `resourceTemplates`. Their
 * entries are sent unchanged by resources/list and resources/templates/list. A row of the table
 * binds a URI or a URI template (RFC 6570) to the function that reads it. The variables of a
 * template are passed, percent-decoded, as arguments. Lookup order: exact URI, then templates in
 * the order of the table.
 *
 * Raw slashes: as RFC 6570 expands it, `{x}` does not match '/', which is sent as %2F. Clients
 * often forget to encode it, so a URI that no template matches is tried once more: the first `{x}`
 * of a template then also matches raw slashes, when text follows it. A handler that opens files
 * must not rely on a variable being one path segment. A template with the flag MCP_ENCODED_SLASHES
 * is not tried again. `{+x}` matches slashes in any case.
 */
#ifndef MCP_RESOURCE_H
#define MCP_RESOURCE_H

#include "mcp/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One resource or template. A table of them ends with a row whose uri is NULL. */
typedef struct mcp_resource {
    const char *uri;   /* the `uri` or the `uriTemplate` of its entry */
    mcp_handler *read; /* writes mcp_call_contents_text or _blob; MCP_E_RESOURCE: not found */
    unsigned flags;    /* MCP_READS; MCP_ENCODED_SLASHES, MCP_UNLISTED */
    int timeout_ms;    /* 0: the server's default */
} mcp_resource;

#ifdef __cplusplus
}
#endif

#endif
