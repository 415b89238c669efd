/*
 * rest.h - what the REST handlers share: reading a request's parts, and answering in our own form.
 *
 * Every error is {"error": words, "universeId": id where there is one}.
 */
#ifndef UNIVERSE_REST_H
#define UNIVERSE_REST_H

#include "gateway/replies.h"

/** Answer with these words. @return MCP_OK, so that it can end a handler */
mcp_status universe_rest_error(mcp_call *call, int http_status, const char *id, const char *format,
                               ...) MCP_PRINTF(4, 5);

/** Answer what the service said: 404, 403, 503 and so on; 500 without words that are nobody's
 *  business. */
mcp_status universe_rest_failed(mcp_call *call, const char *id, mcp_status status,
                                const mcp_error *cause);

/** Whether the body could not be read, which is answered then: it is no JSON, or there was no
 *  memory for it. An empty one is what the route's own rule is about. @param body what
 *  mcp_call_body_json gave */
bool universe_rest_no_json(mcp_call *call, const mcp_json *body, const mcp_error *err);

/** Send the body as JSON with this status; the body is taken. */
mcp_status universe_rest_send(mcp_call *call, int http_status, mcp_buf *body);

/**
 * The same; where there is a gap, the state of the view is written there while the body is sent, so
 * that it is never in memory as a whole. The view is held until the client has it, or is given up.
 *
 * @param fields UNIVERSE_FIELD_* of that state; 0: all
 */
mcp_status universe_rest_send_state(mcp_call *call, int http_status, mcp_buf *body,
                                    const universe_gap *gap, universe_view *view, unsigned fields);

/** The ETag of a version. */
mcp_status universe_rest_etag(mcp_call *call, int64_t version);

/** The path of a universe, its id percent-encoded; cut where it does not fit. */
void universe_rest_location(char *out, size_t size, const char *id);

/** Whether the conditions of a GET leave nothing to send of this version: 412 by If-Match, 304 by
 *  If-None-Match; that has been answered. */
bool universe_rest_precluded(mcp_call *call, int64_t version);

/** A whole number of the query. @return false: it is none, and that has been answered */
bool universe_rest_int(mcp_call *call, const char *name, int64_t fallback, int64_t min, int64_t max,
                       int64_t *out);

/**
 * Read a state's JSON into a view, yours.
 *
 * @param repairs JSON array of what ?repair=true repaired, the arena's; NULL: it was not requested
 * @return false: it is none, and that has been answered
 */
bool universe_rest_state(mcp_call *call, const universe_app *app, const mcp_json *state,
                         const char *id, universe_view **out, const char **repairs);

/** Answer a change: 200, 422, 409 or 412; the moment's view is freed. */
mcp_status universe_rest_result(mcp_call *call, const universe_app *app, const char *id,
                                universe_result *result, int64_t expected, int conflict_status);

/** Bytes that a reply may have. */
enum { UNIVERSE_REST_MAX = 2147483647 };

/* The handlers, by file. */
mcp_handler universe_rest_list, universe_rest_create, universe_rest_get, universe_rest_put,
    universe_rest_delete, universe_rest_health, universe_rest_ready; /* records.c */
mcp_handler universe_rest_get_state, universe_rest_summary, universe_rest_positions,
    universe_rest_history, universe_rest_events; /* reading.c */
mcp_handler universe_rest_command, universe_rest_batch, universe_rest_restore,
    universe_rest_generate, universe_rest_get_clock, universe_rest_set_clock; /* changing.c */

/** The form of errors that no handler wrote. */
mcp_status universe_rest_problem(mcp_buf *body, const char **mime_type, const mcp_problem *problem,
                                 void *data);

/** The families of /metrics; an mcp_metrics_writer of a universe_app (records.c). */
void universe_rest_metrics(mcp_buf *out, void *data);

#endif
