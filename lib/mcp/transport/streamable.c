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
#include "mcp/transport/streamable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mcp/clock.h"
#include "mcp/core/dispatch.h"
#include "mcp/core/headers.h"
#include "mcp/core/message/message.h"
#include "mcp/transport/http/peer.h"

#define BAD_REQUEST (-32000)
#define NO_SESSION (-32001)
#define CLAIM "io.modelcontextprotocol/protocolVersion"

/* One request, as far as it was looked at. */
struct request {
    mcp__httpd *httpd;
    mcp__http_exchange *exchange;
    mcp__incoming *incoming; /* NULL: no message */
    const mcp_json *value;
    mcp__message message; /* sorted, unless it is a batch */
    mcp__accepted accepted;
    bool is_batch;
    bool is_request; /* or has one in it */
};

/* The headers, for the dispatch. */
struct fields {
    mcp__headers headers; /* first */
    const mcp__http_exchange *exchange;
};

static const char *read_field(const mcp__headers *self, const char *name, size_t *count)
{
    const mcp__http_exchange *exchange = ((const struct fields *)self)->exchange;

    *count = mcp__http_field_count(exchange, name);
    return mcp__http_field(exchange, name);
}

static struct fields fields_of(const mcp__http_exchange *exchange)
{
    return (struct fields){ .headers.field = read_field, .exchange = exchange };
}

/* -32000 is no code of 2026-07-28. */
static int bad_request(const mcp__httpd *httpd, const mcp__http_exchange *exchange)
{
    struct fields fields = fields_of(exchange);
    bool is_stateless = httpd->serve.options->oldest > MCP_REVISION_NEWEST_SESSION ||
                        mcp__headers_are_stateless(&fields.headers);

    return is_stateless ? mcp_status_code(MCP_E_REQUEST) : BAD_REQUEST;
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

static bool serves_sessions(const mcp__httpd *httpd)
{
    return httpd->serve.options->oldest <= MCP_REVISION_NEWEST_SESSION &&
           httpd->http.sessions == MCP_SESSIONS_REQUIRED;
}

static void refuse_method(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    const char *allowed = serves_sessions(httpd) ? "POST, GET, DELETE" : "POST";

    mcp__httpd_answer_with(httpd, exchange, 405, "Allow", allowed, NULL);
}

static void check_post(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    const char *type = mcp__http_field(exchange, "Content-Type");
    mcp__accepted accepted = accepted_of(exchange);

    if (!type || !mcp__field_is_type(type, "application/json"))
        mcp__httpd_refuse(httpd, exchange, 415, bad_request(httpd, exchange), NULL,
                          "the Content-Type must be application/json");
    else if (!accepted.json && !accepted.events)
        mcp__httpd_refuse(httpd, exchange, 406, bad_request(httpd, exchange), NULL,
                          "the client must accept application/json and text/event-stream");
}

void mcp__streamable_head(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    if (mcp__httpd_is_method(exchange, "POST"))
        check_post(httpd, exchange);
    else if (!serves_sessions(httpd) ||
             (!mcp__httpd_is_method(exchange, "GET") && !mcp__httpd_is_method(exchange, "DELETE")))
        refuse_method(httpd, exchange);
    else if (mcp__httpd_is_method(exchange, "GET") && !accepted_of(exchange).events)
        mcp__httpd_refuse(httpd, exchange, 406, bad_request(httpd, exchange), NULL,
                          "the client must accept text/event-stream");
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
    bool is_response = request->message.kind == MCP__RESPONSE;
    const mcp_json *id = is_response ? NULL : request->message.id;

    if (mcp__http_field_count(request->exchange, "Mcp-Session-Id") > 0)
        mcp__httpd_refuse(request->httpd, request->exchange, 404, NO_SESSION, id,
                          "Session not found");
    else if (is_response)
        mcp__httpd_refuse(request->httpd, request->exchange, 400, mcp_status_code(MCP_E_REQUEST),
                          NULL, "a response needs a session");
    else if (bad_request(request->httpd, request->exchange) != BAD_REQUEST)
        mcp__httpd_refuse(request->httpd, request->exchange, 400, mcp_status_code(MCP_E_REQUEST),
                          id, "batches are not part of this revision");
    else
        mcp__httpd_refuse(request->httpd, request->exchange, 400, BAD_REQUEST, id,
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

static void refuse_full(const struct request *request, const mcp_error *err)
{
    mcp_buf body;

    mcp_log_write(&request->httpd->serve.options->log, MCP_LOG_WARNING,
                  "a client is turned away: %s", err->message);
    mcp_buf_init(&body, 512);
    (void)mcp_buf_printf(&body,
                         "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,"
                         "\"message\":\"%s\"}}",
                         mcp_status_code(err->status), mcp_status_words(err->status));
    mcp__httpd_answer_with(request->httpd, request->exchange, 503, "Retry-After", "10", &body);
    mcp_buf_clear(&body);
}

static mcp__session_entry *open_session(const struct request *request)
{
    mcp__httpd *httpd = request->httpd;
    const char *principal = mcp__httpd_caller_name(httpd);
    mcp__session_entry *entry = find_session(request);
    mcp_error err = MCP_ERROR_INIT;

    if (entry) {
        mcp__httpd_refuse(httpd, request->exchange, 400, mcp_status_code(MCP_E_REQUEST),
                          request->message.id, "the session is already initialized");
        return NULL;
    }
    if (mcp__session_table_add(&entry, &httpd->sessions, principal, mcp_clock_mono_ms(), &err) ==
        MCP_OK)
        return entry;
    refuse_full(request, &err);
    return NULL;
}

static mcp__session_entry *borrow_entry(const struct request *request)
{
    mcp__session_entry *entry = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp__session_table_once(&entry, &request->httpd->sessions, &err) == MCP_OK)
        return entry;
    refuse_full(request, &err);
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

static void begin_listening(const struct request *request, mcp__session_entry *entry)
{
    if (mcp__httpd_peer_find(request->httpd, entry, 0))
        mcp__httpd_refuse(request->httpd, request->exchange, 409, BAD_REQUEST, NULL,
                          "the session has a stream already");
    else
        open_stream(request, entry, NULL);
}

static bool can_resume(const mcp__session_entry *entry, const mcp__httpd_peer *peer,
                       uint32_t stream, uint64_t number)
{
    if (mcp__event_ring_covers(&entry->events, stream, number))
        return true;
    return peer ? number == peer->number : stream == 0 && number == entry->listen_number;
}

static void resume(const struct request *request, mcp__session_entry *entry, const char *last)
{
    uint32_t stream = 0;
    uint64_t number = 0;
    bool is_known = read_event_id(last, &stream, &number);
    mcp__httpd_peer *peer = is_known ? mcp__httpd_peer_find(request->httpd, entry, stream) : NULL;

    if (!is_known || !can_resume(entry, peer, stream, number)) {
        mcp__httpd_refuse(request->httpd, request->exchange, 400, BAD_REQUEST, NULL,
                          "the events after this Last-Event-ID are not kept");
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
        mcp__httpd_refuse(request->httpd, request->exchange, 503, mcp_status_code(MCP_E_NOMEM),
                          NULL, mcp_status_words(MCP_E_NOMEM));
    else if (last)
        resume(request, entry, last);
    else
        begin_listening(request, entry);
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
    mcp_buf_clear(&body);
}

/* ---- POST ------------------------------------------------------------------------------------ */

/* One that is empty or too long is answered too. */
static void look_at_batch(struct request *request)
{
    const mcp__incoming *incoming = request->incoming;

    request->is_batch = true;
    request->is_request = incoming->count == 0;
    for (size_t i = 0; i < incoming->count && !request->is_request; i++) {
        mcp__message_kind kind = incoming->elements[i].message.kind;
        request->is_request = kind == MCP__REQUEST || kind == MCP__INVALID;
    }
}

/* Returns false when the exchange was answered. */
static bool look_at(struct request *request)
{
    mcp_error err = request->incoming->err;
    mcp_status st = request->incoming->status;

    if (st == MCP_OK && mcp_json_is_array(request->value)) {
        look_at_batch(request);
        return true;
    }
    if (st == MCP_OK) {
        request->message = request->incoming->whole.message;
        err = request->incoming->whole.fault;
        st = err.status;
    }
    if (request->incoming->status != MCP_OK)
        request->message.id = request->incoming->whole.message.id;
    request->is_request = request->message.kind == MCP__REQUEST;
    if (st == MCP_OK || (request->value && request->message.method))
        return true; /* a method with faults: the dispatch knows what to say of it */
    mcp__httpd_refuse(request->httpd, request->exchange,
                      st == MCP_E_NOMEM || st == MCP_E_BUSY ? 503 : 400, mcp_status_code(st),
                      request->message.id, err.message);
    return false;
}

static bool is_initialize(const struct request *request)
{
    return request->message.method && strcmp(request->message.method, "initialize") == 0;
}

/* A response has neither a claim nor a method: it belongs to a session, if to anything. */
static bool is_stateless(const struct request *request)
{
    struct fields fields = fields_of(request->exchange);

    if (request->is_batch || request->message.kind == MCP__RESPONSE)
        return false;
    if (mcp_json_get(request->message.meta, CLAIM))
        return true;
    return !is_initialize(request) && mcp__headers_are_stateless(&fields.headers);
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
    mcp__httpd_refuse(request->httpd, request->exchange, 400,
                      bad_request(request->httpd, request->exchange), request->message.id,
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
        mcp__session_entry *entry = borrow_entry(request);
        *is_once = true;
        if (entry && !is_initialize(request))
            entry->session.revision = revision;
        return entry;
    }
    return is_initialize(request) && request->is_request ? open_session(request)
                                                         : need_session(request);
}

static void refuse_busy(const struct request *request)
{
    mcp__httpd_refuse(request->httpd, request->exchange, 200, mcp_status_code(MCP_E_BUSY),
                      request->message.id, mcp_status_words(MCP_E_BUSY));
}

/* Hands the message over. */
static void hand_over(struct request *request, mcp__session_entry *entry, bool is_once)
{
    mcp__httpd *httpd = request->httpd;
    struct fields fields = fields_of(request->exchange);
    mcp__httpd_peer *peer = mcp__httpd_peer_new(httpd, request->exchange, entry, is_once);

    if (!peer)
        return;
    peer->accepted = request->accepted;
    peer->is_request = request->is_request;
    peer->is_initialize = is_initialize(request) && request->is_request;
    peer->peer.headers = &fields.headers;
    httpd->counts.messages++;
    mcp__session_table_work(&httpd->sessions, entry);
    mcp__dispatch_incoming(&entry->session, &peer->peer, request->incoming);
}

/* What only a stream can answer. Returns false when the exchange was answered. */
static bool check_accepted(const struct request *request)
{
    const char *method = request->message.method;

    if (request->accepted.events || !method || strcmp(method, "subscriptions/listen") != 0)
        return true;
    mcp__httpd_refuse(request->httpd, request->exchange, 406, mcp_status_code(MCP_E_REQUEST),
                      request->message.id, "the client must accept text/event-stream");
    return false;
}

static void serve_post(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp__incoming *incoming)
{
    struct request request = { .httpd = httpd,
                               .exchange = exchange,
                               .message.kind = MCP__INVALID,
                               .incoming = incoming,
                               .value = incoming->status == MCP_OK ? incoming->whole.value : NULL,
                               .accepted = accepted_of(exchange) };
    bool is_once = false;

    if (!look_at(&request) || !check_accepted(&request))
        return;
    mcp__session_entry *entry = entry_for(&request, &is_once);
    if (entry && mcp__dispatch_is_full(&entry->session))
        refuse_busy(&request);
    else if (entry)
        hand_over(&request, entry, is_once);
}

void mcp__streamable_request(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    struct request request = { .httpd = httpd, .exchange = exchange, .message.kind = MCP__INVALID };

    if (mcp__httpd_is_method(exchange, "GET"))
        serve_get(&request);
    else if (mcp__httpd_is_method(exchange, "DELETE"))
        serve_delete(&request);
    else
        mcp__httpd_read_body(httpd, exchange, serve_post);
}
