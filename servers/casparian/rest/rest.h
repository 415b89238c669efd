/**
 * rest.h - the page for approvals: its files, and the routes that it asks.
 *
 * The page and its assets are public; every other route requires the key of the process as a
 * bearer token, which the library checks, as it does Host and Origin. The handlers' data is the
 * app.
 */
#ifndef CASPARIAN_REST_REST_H
#define CASPARIAN_REST_REST_H

#include "mcp/route.h"

/** GET /, /assets/{name}, /api/approvals[/{id}], /api/jobs[/{id}]; POST
 *  /api/approvals/{id}/decision. Ended by an empty row. */
extern const mcp_route casparian_page_routes[];

#endif
