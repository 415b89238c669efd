/*
 * page.h - the page that draws universes live, as part of the program.
 */
#ifndef UNIVERSE_PAGE_H
#define UNIVERSE_PAGE_H

#include "mcp/call.h"
#include "mcp/files.h"

/** What the build made of web/: index.html, assets/..., each also as NAME.gz and its ETag as
 *  NAME.etag. */
extern const mcp_file universe_page_files[];

/** GET / and GET /ui: the page itself. Needs no token, as it is where one is typed. */
mcp_handler universe_page;

/** GET /assets/{name}: what the page is made of. */
mcp_handler universe_page_asset;

#endif
