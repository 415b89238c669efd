/**
 * routes.h - the routes that are no operations: health, the OpenAPI document, the stream of events,
 * the page.
 */
#ifndef PORTARIUM_REST_ROUTES_H
#define PORTARIUM_REST_ROUTES_H

#include "gateway/app.h"
#include "mcp/http.h"

/** Ended by an empty row. */
extern const mcp_route portarium_other_routes[];

/** GET /health and its other names: the process answers. */
mcp_handler portarium_rest_health;

/** GET /ready: 200 where the database answers, too; else 503. */
mcp_handler portarium_rest_ready;

/** GET /v1/openapi.json */
mcp_handler portarium_rest_openapi;

/** GET /v1/workspaces/{workspaceId}/events:stream */
mcp_handler portarium_rest_events;

/** Write the OpenAPI document: all operations, and the schemas of their bodies. */
void portarium_openapi_write(mcp_json_writer *out, const portarium_shapes *shapes);

#endif
