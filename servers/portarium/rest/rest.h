/**
 * rest.h - the operations as REST routes.
 */
#ifndef PORTARIUM_REST_REST_H
#define PORTARIUM_REST_REST_H

#include "gateway/app.h"
#include "gateway/wait.h"
#include "mcp/http.h"

typedef struct portarium_rest portarium_rest;

/**
 * Make the table of routes: one for each operation, and those of rest/routes.h.
 *
 * @param out yours, free it with portarium_rest_free after the server
 */
mcp_status portarium_rest_new(portarium_rest **out, mcp_error *err);

/** The table, ended by an empty row. */
const mcp_route *portarium_rest_routes(const portarium_rest *self);

void portarium_rest_free(portarium_rest *self);

/** The library's mcp_problem_writer: errors that no operation wrote, as problem documents. */
mcp_status portarium_rest_problem(mcp_buf *body, const char **mime_type, const mcp_problem *problem,
                                  void *data);

/** The field Strict-Transport-Security: a year. */
#define PORTARIUM_HSTS "max-age=31536000; includeSubDomains"

/** Set the header fields that every answer has. @param correlation_id NULL: the request's own, or a
 *  new one */
void portarium_rest_headers(mcp_call *call, const portarium_app *app, const portarium_reply *reply,
                            const char *correlation_id);

/** Answer with a reply: status, headers, body or problem document. */
mcp_status portarium_rest_answer(mcp_call *call, const portarium_app *app,
                                 const portarium_reply *reply, const char *correlation_id);

/** Fill the members of a request that come from headers, and the actor.
 *  @return MCP_OK; MCP_E_DENIED: no actor; MCP_E_PARSE: the body is not a JSON object */
mcp_status portarium_rest_request(portarium_request *out, portarium_actor *actor, mcp_call *call,
                                  const portarium_app *app, mcp_error *err);

/**
 * For a route's handler: read the request, hold it against the rate limits, run the operation and
 * answer; with `wait` perhaps later.
 *
 * @param write NULL: portarium_rest_answer
 */
mcp_status portarium_rest_run(mcp_call *call, portarium_app *app,
                              const portarium_operation *operation, portarium_answer *write);

/** The library's mcp_metrics_writer; `data` is the app. */
void portarium_rest_metrics(mcp_buf *out, void *data);

/** Append the families that are read from the database; blocks. @param data the portarium_app */
mcp_status portarium_rest_sample(mcp_buf *out, void *data, mcp_error *err);

#endif
