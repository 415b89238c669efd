/**
 * page.h - a page for people that is part of a server's program.
 *
 * The build bundles its sources by kit/page/build.mjs and embeds the result, by causeway_page
 * (cmake/page.cmake): index.html, and below assets/ what it is made of, each file also as NAME.gz
 * and its ETag as NAME.etag. A server has two routes for it, which need no token where one is
 * typed into the page:
 *
 *     static const page cockpit = { .files = portarium_page_files };
 *
 *     mcp_status cockpit_index(mcp_call *call, void *data)    GET /
 *     {
 *         return page_send(call, &cockpit);
 *     }
 *
 *     mcp_status cockpit_asset(mcp_call *call, void *data)    GET /assets/{name}
 *     {
 *         return page_send_asset(call, &cockpit, mcp_arg_string(call, "name"));
 *     }
 *
 * A browser keeps the files and asks for each by its ETag (304), so a new program is seen at once.
 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "mcp/call.h"
#include "mcp/error.h"
#include "mcp/files.h"

/** The Content-Security-Policy of a page that asks its own server alone and runs no inline
 *  script. */
#define PAGE_POLICY                                                                                \
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "            \
    "object-src 'none'"

/** A page. */
typedef struct page {
    const mcp_file *files; /* what the build made */
    const char *policy;    /* Content-Security-Policy; NULL: PAGE_POLICY */
} page;

/**
 * Answer a route with the page itself, compressed for clients that take gzip.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: the program was built without it; MCP_E_NOMEM
 */
mcp_status page_send(mcp_call *call, const page *self);

/**
 * Answer a route with a file of assets/.
 *
 * @param name without the folder; NULL is none
 * @return MCP_OK; MCP_E_NOT_FOUND: the page has none of that name; MCP_E_NOMEM
 */
mcp_status page_send_asset(mcp_call *call, const page *self, const char *name);

#endif
