/**
 * route.h - REST routes of the program, served next to MCP (http.h).
 */
#ifndef MCP_ROUTE_H
#define MCP_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/buf.h"
#include "mcp/call.h"
#include "mcp/error.h"
#include "mcp/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One REST route. Its handler is like a tool's: it runs on a worker and may block (unless the route
 * is MCP_NONBLOCKING and the body is small). It reads the path's variables and the query's members
 * by mcp_arg_string (percent-decoded; a variable takes precedence over a member of the same name)
 * and the body by mcp_call_body. It answers by mcp_call_result, whose object is the body, or by
 * mcp_call_send. Content blocks (mcp_call_text and its like) are not sent: a handler that writes
 * nothing else is answered with 500, and the log says why. A final slash of the path is ignored. A
 * table of routes ends with an empty row; a row that could never answer (method and path of an
 * earlier row, a variable that is not a whole segment) is refused when the server begins to serve.
 *
 * A body has to be JSON (Content-Type application/json, or a type with the suffix +json), unless
 * the route is MCP_RAW_BODY. Any other is answered by 415, so that no web page can make a browser
 * send one without a preflight request.
 *
 * The HTTP status is 200, or 204 without a body, unless mcp_call_status sets another. A handler
 * that returns an error status, or calls mcp_call_tool_error, is answered with
 * {"error":{"status":"E_PARAMS","message":...}} and the matching HTTP status: 400, 403, 404, 409,
 * 413, 500, 501, 503, 504 or 507. Paths and methods outside the table are answered with 404 and 405
 * in the same form. The option `problem` replaces that form. The answer to HEAD has no body.
 */
typedef struct mcp_route {
    const char *method; /* "GET", "POST", "PUT", "PATCH" or "DELETE"; GET answers HEAD too */
    const char *path;   /* "/universes/{id}/commands": a variable is one segment */
    mcp_handler *run;   /* answers a request */
    unsigned flags;     /* enum mcp_flags: MCP_READS or MCP_WRITES, with others */
    int timeout_ms;     /* 0: the server's default */
} mcp_route;

/** For a route's handler: set the HTTP status of the answer, 200 to 599. An answer of 204 or 304
 *  has no body, whatever is written. */
void mcp_call_status(mcp_call *call, int http_status);

/** For a route's handler: the body of the request, not followed by a NUL; NULL when there is
 *  none. */
const char *mcp_call_body(const mcp_call *call, size_t *length);

/** For a route's handler: the body parsed as JSON; NULL when it is empty or not JSON (see err). */
const mcp_json *mcp_call_body_json(mcp_call *call, mcp_error *err);

/** For a route's handler: answer with a body of any type. Earlier output is dropped. */
mcp_status mcp_call_send(mcp_call *call, const char *mime_type, const void *bytes, size_t length);

/**
 * As mcp_call_send without a copy, for large bodies: the bytes are handed to the connection, and
 * are sent as fast as the client reads. reply_max_bytes does not apply to them.
 *
 * @param body its bytes are taken: it is empty afterwards, whatever is returned
 */
mcp_status mcp_call_send_buf(mcp_call *call, const char *mime_type, mcp_buf *body);

/** The source of a body sent in pieces. Its functions are called by one thread at a time. */
typedef struct mcp_body_source {
    /**
     * Append the next piece, and set `is_last` for the last one. Runs on a worker, the first time
     * within the handler. It may block, but not for long: it occupies the worker meanwhile.
     *
     * @param piece empty, limited to the size of an answer; a few hundred KiB are a good size
     * @return MCP_OK; any other status ends the answer: with an error at the first piece, cut short
     *         and logged at a later one
     */
    mcp_status (*next)(mcp_buf *piece, bool *is_last, void *data, mcp_error *err);
    /** `data` is not used any more. Called exactly once, on any thread; must not block. */
    void (*done)(void *data);
    void *data; /* passed to both; not in the call's arena, which it outlives */
} mcp_body_source;

/**
 * For a route's handler: answer with a body that is never in memory as a whole. The next piece is
 * requested while the previous one is being sent, so at most two are in memory, however slow the
 * client is. A client that reads nothing for half a minute is disconnected. A body of one piece is
 * sent as by mcp_call_send_buf, a longer one without Content-Length (chunked; with HTTP/1.0 until
 * the connection closes). Earlier output is dropped.
 *
 * @param source copied; its `data` is taken, whatever is returned
 * @return MCP_OK; the status of `next`; MCP_E_PARAMS (a line end in the media type);
 *         MCP_E_UNSUPPORTED (not a route's handler); MCP_E_NOMEM
 */
mcp_status mcp_call_send_from(mcp_call *call, const char *mime_type, const mcp_body_source *source);

/** For a route's handler: the row of the table that answers the request, so that one function can
 *  serve many routes; NULL in other handlers. */
const mcp_route *mcp_call_route(const mcp_call *call);

/** For a route's handler: the path of the request, not decoded; NULL in other handlers. */
const char *mcp_call_path(const mcp_call *call);

/**
 * For a route's handler: a header field of the request, such as "If-Match"; the name is compared
 * without case. The values of a repeated field are joined as a list, "a, b" (RFC 9110, section
 * 5.3).
 *
 * @return the value without surrounding white space, "" when empty; NULL when the field is absent
 */
const char *mcp_call_header(const mcp_call *call, const char *name);

/**
 * For a route's handler: set a header field of the answer: ETag, Location, Allow, Cache-Control,
 * Retry-After and so on. It is sent with errors, too. Setting a name again replaces its value.
 *
 * @param value copied; NULL removes the field
 * @return MCP_OK; MCP_E_PARAMS: an invalid name or value (a line end, for example), or a field that
 *         the server sets itself: Content-Type, Content-Length, Transfer-Encoding, Connection,
 *         Date; MCP_E_LIMIT: more than 16 fields; MCP_E_NOMEM; MCP_E_UNSUPPORTED: not a route's
 *         handler
 */
mcp_status mcp_call_header_set(mcp_call *call, const char *name, const char *value);

/** An error answer that no handler wrote. */
typedef struct mcp_problem {
    int http_status;     /* 404 */
    mcp_status status;   /* MCP_E_NOT_FOUND */
    const char *message; /* one line for the client; never NULL */
    const char *path;    /* of the request, not decoded; NULL when it could not be read */
} mcp_problem;

/**
 * Writes the body of an error answer in the program's own form. Runs on the loop and on workers:
 * must not block.
 *
 * @param body      empty; limited to 4 KiB and six times the size of the strings in `problem`
 * @param mime_type "application/json"; may be set to another, which is borrowed
 * @param data      the options' routes_data
 */
typedef mcp_status mcp_problem_writer(mcp_buf *body, const char **mime_type,
                                      const mcp_problem *problem, void *data);

/** For a problem writer: a header field of the request, as mcp_call_header; of a repeated field it
 *  may be the first value. NULL also where the request could not be read. */
const char *mcp_problem_header(const mcp_problem *problem, const char *name);

/**
 * For a problem writer: set a header field of the answer, unless it has one of that name already.
 *
 * @param value copied; NULL: none
 * @return as mcp_call_header_set; MCP_E_UNSUPPORTED: the request could not be read
 */
mcp_status mcp_problem_header_set(const mcp_problem *problem, const char *name, const char *value);

#ifdef __cplusplus
}
#endif

#endif
