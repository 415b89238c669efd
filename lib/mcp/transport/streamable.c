/*
 * streamable.c - which request is served how: methods, media types, sessions, eras.
 *
 * The head is judged before the body is read: method, Content-Type, Accept. Then the message is
 * read, and its era decides (the claim in _meta, or for what cannot carry one the version header):
 *
 *     to 2025-11-25   the session that Mcp-Session-Id names gets the message; initialize opens one
 *     from 2026-07-28 there is no session; one entry that all clients share gets it
 *
 * Which errors are a status of HTTP is said in core/response.c; those that arise here, before
 * there is a call, are answered here. -32000 and -32001 are the codes that clients of the session
 * era know for them.
 *
 * An id in Mcp-Session-Id is a name, not a right: it is looked up together with its principal, and
 * what is not found is 404, whatever the reason: a client then opens another session.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mcp/clock.h"
#include "mcp/core/dispatch.h"
#include "mcp/core/envelope.h"
#include "mcp/core/headers.h"
#include "mcp/core/message/message.h"
#include "mcp/transport/http/peer.h"

#define BAD_REQUEST (-32000)
#define NO_SESSION (-32001)

/* One request, as far as it was looked at. */
struct request {
    mcp__exchange_headers headers; /* for the dispatch */
    mcp__httpd *httpd;
    mcp__http_exchange *exchange;
    mcp__incoming *incoming; /* NULL: no message */
    mcp__message message;    /* sorted, unless it is a batch */
    mcp__accepted accepted;
    bool is_batch;
    bool is_request; /* or has one in it */
};

static struct request request_of(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    return (struct request){ .headers = mcp__exchange_headers_of(exchange),
                             .httpd = httpd,
                             .exchange = exchange,
                             .message.kind = MCP__INVALID };
}

/* -32000 is no code of 2026-07-28. */
static int bad_request(const struct request *request)
{
    bool is_stateless = request->httpd->serve.options->oldest > MCP_REVISION_NEWEST_SESSION ||
                        mcp__envelope_is_stateless(&request->headers.face);

    return is_stateless ? mcp_status_code(MCP_E_REQUEST) : BAD_REQUEST;
}

static void refuse(const struct request *request, int status, int code, const char *message)
{
    const mcp_json *id = request->message.kind == MCP__RESPONSE ? NULL : request->message.id;

    mcp__httpd_refuse(request->httpd, request->exchange, status, code, id, message);
}

static bool is_method(const struct request *request, const char *method)
{
    return mcp__httpd_is_method(request->exchange, method);
}

/* ---- the head -------------------------------------------------------------------------------- */

static mcp__accepted accepted_of(const mcp__http_exchange *exchange)
{
    mcp__accepted accepted = { .json = false };
    const char *name = NULL, *value = NULL;
    bool has_any = false;

    for (size_t i = 0; mcp__http_field_at(exchange, i, &name, &value); i++) {
        if (strcasecmp(name, "accept") != 0)
            continue;
        has_any = true;
        mcp__field_accept(&accepted, value);
    }
    return has_any ? accepted : (mcp__accepted){ .json = true, .events = true };
}

void mcp__streamable_head(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    const struct request request = request_of(httpd, exchange);
    bool has_sessions = httpd->serve.options->oldest <= MCP_REVISION_NEWEST_SESSION &&
                        httpd->http.sessions == MCP_SESSIONS_REQUIRED;
    bool is_get = is_method(&request, "GET"), is_post = is_method(&request, "POST");
    mcp__accepted accepted = accepted_of(exchange);

    if (!is_post && (!has_sessions || (!is_get && !is_method(&request, "DELETE"))))
        mcp__httpd_answer_with(httpd, exchange, 405, "Allow",
                               has_sessions ? "POST, GET, DELETE" : "POST", NULL);
    else if (is_post &&
             !mcp__field_is_type(mcp__http_field(exchange, "Content-Type"), "application/json"))
        refuse(&request, 415, bad_request(&request), "the Content-Type must be application/json");
    else if (is_post && !accepted.json && !accepted.events)
        refuse(&request, 406, bad_request(&request),
               "the client must accept application/json and text/event-stream");
    else if (is_get && !accepted.events)
        refuse(&request, 406, bad_request(&request), "the client must accept text/event-stream");
}

/* ---- sessions -------------------------------------------------------------------------------- */

static mcp__session_entry *find_session(const struct request *request)
{
    const char *id = mcp__http_field(request->exchange, "Mcp-Session-Id");
    const char *principal = mcp__httpd_caller_name(request->httpd);

    if (!id || mcp__http_field_count(request->exchange, "Mcp-Session-Id") != 1)
        return NULL;
    return mcp__session_table_find(&request->httpd->sessions, id, principal);
}

static void refuse_session(const struct request *request)
{
    int code = mcp_status_code(MCP_E_REQUEST);

    if (mcp__http_field_count(request->exchange, "Mcp-Session-Id") > 0)
        refuse(request, 404, NO_SESSION, "Session not found");
    else if (request->message.kind == MCP__RESPONSE)
        refuse(request, 400, code, "a response needs a session");
    else if (bad_request(request) != BAD_REQUEST)
        refuse(request, 400, code, "batches are not part of this revision");
    else
        refuse(request, 400, BAD_REQUEST,
               "Bad request: no valid session: Mcp-Session-Id header is required");
}

/* NULL: the exchange was answered. */
static mcp__session_entry *need_session(const struct request *request)
{
    mcp__session_entry *entry = find_session(request);

    if (entry)
        mcp__session_table_touch(&request->httpd->sessions, entry, mcp_clock_mono_ms());
    else
        refuse_session(request);
    return entry;
}

/* A new session, or an entry for this request alone. NULL: the exchange was answered. */
static mcp__session_entry *new_entry(const struct request *request, bool is_once)
{
    mcp__httpd *httpd = request->httpd;
    mcp__session_entry *entry = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf body;

    mcp_status st = is_once ? mcp__session_table_once(&entry, &httpd->sessions, &err)
                            : mcp__session_table_add(&entry, &httpd->sessions,
                                                     mcp__httpd_caller_name(httpd),
                                                     mcp_clock_mono_ms(), &err);
    if (st == MCP_OK)
        return entry;
    mcp_log_write(&httpd->serve.options->log, MCP_LOG_WARNING, "a client is turned away: %s",
                  err.message);
    mcp_buf_init(&body, 512);
    (void)mcp_buf_printf(&body,
                         "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,"
                         "\"message\":\"%s\"}}",
                         mcp_status_code(st), mcp_status_words(st));
    mcp__httpd_answer_with(httpd, request->exchange, 503, "Retry-After", "10", &body);
    return NULL;
}

/* ---- GET and DELETE -------------------------------------------------------------------------- */

/* "<stream>-<number>", as peer.c writes it. */
static bool read_event_id(const char *text, uint32_t *stream, uint64_t *number)
{
    char *end = NULL;
    unsigned long long first, second;

    if (strspn(text, "0123456789-") != strlen(text) || strlen(text) > 30 || text[0] == '-')
        return false;
    first = strtoull(text, &end, 10);
    if (*end != '-' || end[1] < '0' || end[1] > '9' || first > UINT32_MAX)
        return false;
    second = strtoull(end + 1, &end, 10);
    if (*end != '\0' || second >= UINT64_MAX - 1)
        return false;
    *stream = (uint32_t)first;
    *number = (uint64_t)second;
    return true;
}

static void open_stream(const struct request *request, mcp__session_entry *entry,
                        const uint64_t *after)
{
    mcp__httpd_peer *peer = mcp__httpd_peer_new(request->httpd, request->exchange, entry, false);

    if (!peer)
        return;
    peer->accepted.events = true;
    mcp__httpd_peer_listen(peer, after);
}

static void resume(const struct request *request, mcp__session_entry *entry, const char *last)
{
    uint32_t stream = 0;
    uint64_t number = 0;
    bool is_known = read_event_id(last, &stream, &number);
    mcp__httpd_peer *peer = is_known ? mcp__httpd_peer_find(entry, stream) : NULL;
    bool is_kept = is_known && mcp__event_ring_covers(&entry->events, stream, number);
    bool is_last = peer ? number == peer->number : stream == 0 && number == entry->listen_number;

    if (!is_known || (!is_kept && !is_last)) {
        refuse(request, 400, BAD_REQUEST, "the events after this Last-Event-ID are not kept");
        return;
    }
    if (peer)
        mcp__httpd_peer_attach(peer, request->exchange, number);
    else if (stream > 0)
        mcp__httpd_peer_replay(request->httpd, request->exchange, entry, stream, number);
    else
        open_stream(request, entry, &number);
}

static void serve_get(const struct request *request)
{
    const char *last = mcp__http_field(request->exchange, "Last-Event-ID");
    mcp__session_entry *entry = need_session(request);

    if (!entry)
        return;
    if (mcp__session_set_listener(&entry->session, request->httpd->caller, NULL) != MCP_OK)
        refuse(request, 503, mcp_status_code(MCP_E_NOMEM), mcp_status_words(MCP_E_NOMEM));
    else if (last)
        resume(request, entry, last);
    else if (mcp__httpd_peer_find(entry, 0))
        refuse(request, 409, BAD_REQUEST, "the session has a stream already");
    else
        open_stream(request, entry, NULL);
}

static void serve_delete(const struct request *request)
{
    mcp__session_entry *entry = need_session(request);
    mcp_buf body;

    if (!entry)
        return;
    mcp__session_table_end(&request->httpd->sessions, entry);
    mcp_buf_init(&body, 64);
    (void)mcp_buf_puts(&body, "{\"ok\":true}");
    mcp__httpd_answer(request->httpd, request->exchange, 200, &body);
}

/* ---- POST ------------------------------------------------------------------------------------ */

/* Returns false when the exchange was answered. */
static bool look_at(struct request *request)
{
    const mcp__incoming *incoming = request->incoming;
    const mcp_error *err = &incoming->err;
    mcp_status st = incoming->status;

    if (st == MCP_OK && mcp_json_is_array(incoming->whole.value)) {
        request->is_batch = true;
        request->is_request = incoming->count == 0; /* empty or too long: it is answered too */
        for (size_t i = 0; i < incoming->count && !request->is_request; i++) {
            mcp__message_kind kind = incoming->elements[i].message.kind;
            request->is_request = kind == MCP__REQUEST || kind == MCP__INVALID;
        }
        return true;
    }
    if (st == MCP_OK) {
        request->message = incoming->whole.message;
        err = &incoming->whole.fault;
        st = err->status;
    } else {
        request->message.id = incoming->whole.message.id;
    }
    request->is_request = request->message.kind == MCP__REQUEST;
    if (st == MCP_OK || request->message.method)
        return true; /* a method with faults: the dispatch knows what to say of it */
    refuse(request, st == MCP_E_NOMEM || st == MCP_E_BUSY ? 503 : 400, mcp_status_code(st),
           err->message);
    return false;
}

static bool is_initialize(const struct request *request)
{
    return request->message.method && strcmp(request->message.method, "initialize") == 0;
}

/* A response has neither a claim nor a method: it belongs to a session, if to anything. */
static bool is_stateless(const struct request *request)
{
    if (request->is_batch || request->message.kind == MCP__RESPONSE)
        return false;
    return !mcp__envelope_is_of_session(request->message.method, request->message.meta,
                                        &request->headers.face);
}

/* The version header of the session era must name a revision that we serve. Returns false when the
 * exchange was answered. */
static bool check_version(const struct request *request, mcp_revision *revision)
{
    const mcp_server_options *options = request->httpd->serve.options;
    const char *name = mcp__http_field(request->exchange, "MCP-Protocol-Version");

    *revision = options->default_revision;
    if (!name || is_initialize(request))
        return true;
    *revision = mcp_revision_find(name);
    if (*revision >= options->oldest && *revision <= options->newest &&
        *revision != MCP_REVISION_NONE)
        return true;
    refuse(request, 400, bad_request(request),
           "Unsupported protocol version in MCP-Protocol-Version");
    return false;
}

static mcp__session_entry *entry_for(const struct request *request, bool *is_once)
{
    mcp_revision revision = MCP_REVISION_NONE;

    *is_once = false;
    if (is_stateless(request))
        return request->httpd->sessions.shared;
    if (!check_version(request, &revision))
        return NULL;
    if (request->httpd->http.sessions == MCP_SESSIONS_OFF) {
        mcp__session_entry *entry = new_entry(request, true);
        *is_once = true;
        if (entry && !is_initialize(request))
            entry->session.revision = revision;
        return entry;
    }
    if (!is_initialize(request) || !request->is_request)
        return need_session(request);
    if (!find_session(request))
        return new_entry(request, false);
    refuse(request, 400, mcp_status_code(MCP_E_REQUEST), "the session is already initialized");
    return NULL;
}

/* Hands the message over. */
static void hand_over(struct request *request, mcp__session_entry *entry, bool is_once)
{
    mcp__httpd *httpd = request->httpd;
    mcp__httpd_peer *peer = mcp__httpd_peer_new(httpd, request->exchange, entry, is_once);

    if (!peer)
        return;
    peer->accepted = request->accepted;
    peer->is_request = request->is_request;
    peer->is_initialize = is_initialize(request) && request->is_request;
    peer->peer.headers = &request->headers.face;
    httpd->counts.messages++;
    mcp__session_table_work(&httpd->sessions, entry);
    mcp__dispatch_incoming(&entry->session, &peer->peer, request->incoming);
}

static void serve_post(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp__incoming *incoming)
{
    struct request request = request_of(httpd, exchange);
    bool is_once = false;

    request.incoming = incoming;
    request.accepted = accepted_of(exchange);
    if (!look_at(&request))
        return;
    const char *method = request.message.method;
    if (!request.accepted.events && method && strcmp(method, "subscriptions/listen") == 0) {
        refuse(&request, 406, mcp_status_code(MCP_E_REQUEST),
               "the client must accept text/event-stream");
        return;
    }
    mcp__session_entry *entry = entry_for(&request, &is_once);
    if (entry && mcp__dispatch_is_full(&entry->session))
        refuse(&request, 200, mcp_status_code(MCP_E_BUSY), mcp_status_words(MCP_E_BUSY));
    else if (entry)
        hand_over(&request, entry, is_once);
}

void mcp__streamable_request(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    const struct request request = request_of(httpd, exchange);

    if (is_method(&request, "GET"))
        serve_get(&request);
    else if (is_method(&request, "DELETE"))
        serve_delete(&request);
    else
        mcp__httpd_read_body(httpd, exchange, serve_post);
}
