/**
 * resource.h - binding resources to functions.
 *
 * "resources.json" among the server's embedded files has the members `resources` and
 * `resourceTemplates`, whose entries are exactly what resources/list and resources/templates/list
 * send. A row binds a URI or a URI template (RFC 6570) to the function that reads it; a template's
 * variables arrive percent-decoded as arguments. Look-up order: exact URI, then templates in the
 * order of the table.
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
    mcp_handler *read; /* answers by mcp_call_contents_text or _blob; MCP_E_RESOURCE: not there */
    unsigned flags;    /* MCP_READS */
    int timeout_ms;    /* 0: the server's default */
} mcp_resource;

#ifdef __cplusplus
}
#endif

#endif
