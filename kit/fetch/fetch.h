/**
 * fetch.h - HTTP and HTTPS requests with a deadline, a bound and an egress list.
 *
 * A `fetch` is a pool of kept connections and the rules that its requests obey. Requests block, so
 * they are for workers; any number of threads may use one `fetch` at once.
 *
 *     fetch_result result;
 *     fetch_request request = { .url = url, .body = text, .body_length = length };
 *     mcp_status st = fetch_run(&result, pool, &request, &err);
 *     if (st == MCP_OK && result.status == 200)
 *         use(result.body.data, result.body.length);
 *     else if (st != MCP_OK && result.may_have_arrived)
 *         effect_is_unknown();
 *     fetch_result_clear(&result);
 *
 * What requests do: HTTP/1.1; TLS 1.2 or newer with the certificate and the name checked; a
 * redirect is an answer like any other and is not followed. What they do not: read proxies,
 * .netrc, cookies or anything else from the environment; decode a compressed body; speak another
 * protocol. Messages name the host, never the rest of a URL, a header or a body.
 *
 * libcurl is opened at the first use.
 */
#ifndef FETCH_FETCH_H
#define FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"

#define FETCH_TIMEOUT_MS 30000
#define FETCH_CONNECT_MS 10000
#define FETCH_BODY_MAX (1 << 20)
#define FETCH_HEAD_MAX (64 << 10) /* of an answer */
#define FETCH_HEADERS_MAX 100     /* of a request */

typedef struct fetch fetch;

typedef struct fetch_options {
    const char *const *egress; /* where requests may go (fetch/egress.h); copied */
    size_t egress_count;
    bool any_address;       /* there is no egress list: for URLs that only the operator sets */
    bool environment_proxy; /* with any_address: https by the proxy that https_proxy names */
    const char *ca_file;    /* PEM certificates to trust; NULL: the system's; copied */
    size_t kept_max;        /* idle connections; 0: 8 */
} fetch_options;

/**
 * Make a pool. It opens no connection.
 *
 * @param out yours, end it with fetch_close
 * @return MCP_OK; MCP_E_PARAMS (an entry of the list; a list and any_address; a proxy and a list);
 *         MCP_E_LIMIT; MCP_E_UNSUPPORTED (there is no libcurl); MCP_E_NOMEM
 */
mcp_status fetch_open(fetch **out, const fetch_options *options, mcp_error *err);

/** Close the idle connections. No request may be running. NULL is allowed. */
void fetch_close(fetch *self);

typedef struct fetch_header {
    const char *name;
    const char *value;
} fetch_header;

/** What came back. Ended by fetch_result_clear, whatever fetch_run returned. */
typedef struct fetch_result {
    bool may_have_arrived;  /* bytes of the request may have left this machine */
    int status;             /* 0: no answer */
    int64_t retry_after_ms; /* of the Retry-After header; -1: none */
    mcp_buf head;           /* see fetch_result_header */
    mcp_buf body;           /* empty where `on_body` takes it */
} fetch_result;

/**
 * A piece of the answer's body. Runs on the requesting thread.
 *
 * @param so_far status and headers are there
 * @return MCP_OK; anything else ends the request, and fetch_run returns it with `err`
 */
typedef mcp_status fetch_on_body(void *data, const fetch_result *so_far, const char *bytes,
                                 size_t length, mcp_error *err);

/** One request. Zero is the default of every field; all pointers are borrowed for the call. */
typedef struct fetch_request {
    const char *method; /* NULL: GET, or POST where there is a body */
    const char *url;
    const fetch_header *headers; /* not Host, nor one that frames the message */
    size_t header_count;
    const void *body;
    size_t body_length;
    int64_t timeout_ms;    /* of all of it; 0: FETCH_TIMEOUT_MS */
    int64_t connect_ms;    /* until the connection stands; 0: FETCH_CONNECT_MS */
    size_t body_max_bytes; /* of the answer; 0: FETCH_BODY_MAX */
    bool may_repeat; /* arriving more than once does no harm, so a request on a kept connection
                              that turns out to be closed is sent once more */
    bool (*should_stop)(void *data); /* asked about every 50 ms; may be NULL */
    fetch_on_body *on_body;          /* NULL: into result.body. The bound holds for both */
    void *data;                      /* for both */
} fetch_request;

/**
 * Send a request and wait for its answer. Any status is an answer.
 *
 * @param out set in any case: `may_have_arrived` tells whether a request that failed may have had
 *            an effect. Where it is false, the request certainly did not leave.
 * @return MCP_OK
 *         MCP_E_PARAMS: the URL, the method or a header cannot be (CR, LF, user information, ...)
 *         MCP_E_DENIED: the egress list does not have the host, or the address connected to
 *         MCP_E_IO: not resolved, not connected, an untrusted certificate, a broken connection
 *         MCP_E_TIMEOUT, MCP_E_STOPPED (by should_stop)
 *         MCP_E_LIMIT: the answer is longer than its bound
 *         MCP_E_UNSUPPORTED: libcurl is too old; MCP_E_NOMEM; what `on_body` returned
 */
mcp_status fetch_run(fetch_result *out, fetch *self, const fetch_request *request, mcp_error *err);

/** The first header of that name, in any case; NULL: none. Borrowed from the result. */
const char *fetch_result_header(const fetch_result *result, const char *name);

/** Free what a result holds. */
void fetch_result_clear(fetch_result *result);

#endif
