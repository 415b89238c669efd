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
#include "mcp/transport/authorize.h"
#include "mcp/transport/http/body_reader.h"
#include "mcp/transport/http/peer.h"

#define BAD_REQUEST (-32000)
#define NO_SESSION (-32001)
#define CLAIM "io.modelcontextprotocol/protocolVersion"

/* One request, as far as it was looked at. */
struct visit {
    mcp__web *web;
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
static int bad_request(const mcp__web *web, const mcp__http_exchange *exchange)
{
    struct fields fields = fields_of(exchange);
    bool is_stateless = web->serve.options->oldest > MCP_REVISION_NEWEST_SESSION ||
                        mcp__headers_are_stateless(&fields.headers);

    return is_stateless ? mcp_status_code(MCP_E_REQUEST) : BAD_REQUEST;
}

static bool is_method(const mcp__http_exchange *exchange, const char *method)
{
    return strcmp(mcp__http_method(exchange), method) == 0;
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

static bool serves_sessions(const mcp__web *web)
{
    return web->serve.options->oldest <= MCP_REVISION_NEWEST_SESSION &&
           web->http.sessions == MCP_SESSIONS_REQUIRED;
}

static void refuse_method(mcp__web *web, mcp__http_exchange *exchange)
{
    const char *allowed = serves_sessions(web) ? "POST, GET, DELETE" : "POST";

    mcp__web_answer_with(web, exchange, 405, "Allow", allowed, NULL);
}

static void check_post(mcp__web *web, mcp__http_exchange *exchange)
{
    const char *type = mcp__http_field(exchange, "Content-Type");
    mcp__accepted accepted = accepted_of(exchange);

    if (!type || !mcp__field_is_type(type, "application/json"))
        mcp__web_refuse(web, exchange, 415, bad_request(web, exchange), NULL,
                        "the Content-Type must be application/json");
    else if (!accepted.json && !accepted.events)
        mcp__web_refuse(web, exchange, 406, bad_request(web, exchange), NULL,
                        "the client must accept application/json and text/event-stream");
}

void mcp__streamable_head(mcp__web *web, mcp__http_exchange *exchange)
{
    if (is_method(exchange, "POST"))
        check_post(web, exchange);
    else if (!serves_sessions(web) ||
             (!is_method(exchange, "GET") && !is_method(exchange, "DELETE")))
        refuse_method(web, exchange);
    else if (is_method(exchange, "GET") && !accepted_of(exchange).events)
        mcp__web_refuse(web, exchange, 406, bad_request(web, exchange), NULL,
                        "the client must accept text/event-stream");
}

/* ---- sessions -------------------------------------------------------------------------------- */

static mcp__session_entry *find_session(const struct visit *visit)
{
    const char *id = mcp__http_field(visit->exchange, "Mcp-Session-Id");
    const char *principal = mcp__authorize_name(visit->web);

    if (!id || mcp__http_field_count(visit->exchange, "Mcp-Session-Id") != 1)
        return NULL;
    return mcp__session_table_find(&visit->web->sessions, id, principal);
}

static void refuse_session(const struct visit *visit)
{
    bool is_response = visit->message.kind == MCP__RESPONSE;
    const mcp_json *id = is_response ? NULL : visit->message.id;

    if (mcp__http_field_count(visit->exchange, "Mcp-Session-Id") > 0)
        mcp__web_refuse(visit->web, visit->exchange, 404, NO_SESSION, id, "Session not found");
    else if (is_response)
        mcp__web_refuse(visit->web, visit->exchange, 400, mcp_status_code(MCP_E_REQUEST), NULL,
                        "a response needs a session");
    else if (bad_request(visit->web, visit->exchange) != BAD_REQUEST)
        mcp__web_refuse(visit->web, visit->exchange, 400, mcp_status_code(MCP_E_REQUEST), id,
                        "batches are not part of this revision");
    else
        mcp__web_refuse(visit->web, visit->exchange, 400, BAD_REQUEST, id,
                        "Bad request: no valid session: Mcp-Session-Id header is required");
}

/* NULL: the exchange was answered. */
static mcp__session_entry *need_session(const struct visit *visit)
{
    mcp__session_entry *entry = find_session(visit);

    if (entry)
        mcp__session_table_touch(&visit->web->sessions, entry, mcp_clock_mono_ms());
    else
        refuse_session(visit);
    return entry;
}

static void refuse_full(const struct visit *visit, const mcp_error *err)
{
    mcp_buf body;

    mcp_log_write(&visit->web->serve.options->log, MCP_LOG_WARNING, "a client is turned away: %s",
                  err->message);
    mcp_buf_init(&body, 512);
    (void)mcp_buf_printf(&body,
                         "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,"
                         "\"message\":\"%s\"}}",
                         mcp_status_code(err->status), mcp_status_words(err->status));
    mcp__web_answer_with(visit->web, visit->exchange, 503, "Retry-After", "10", &body);
    mcp_buf_clear(&body);
}

static mcp__session_entry *open_session(const struct visit *visit)
{
    mcp__web *web = visit->web;
    const char *principal = mcp__authorize_name(web);
    mcp__session_entry *entry = find_session(visit);
    mcp_error err = MCP_ERROR_INIT;

    if (entry) {
        mcp__web_refuse(web, visit->exchange, 400, mcp_status_code(MCP_E_REQUEST),
                        visit->message.id, "the session is already initialized");
        return NULL;
    }
    if (mcp__session_table_add(&entry, &web->sessions, principal, mcp_clock_mono_ms(), &err) ==
        MCP_OK)
        return entry;
    refuse_full(visit, &err);
    return NULL;
}

static mcp__session_entry *borrow_entry(const struct visit *visit)
{
    mcp__session_entry *entry = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp__session_table_once(&entry, &visit->web->sessions, &err) == MCP_OK)
        return entry;
    refuse_full(visit, &err);
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

static void open_stream(const struct visit *visit, mcp__session_entry *entry, const uint64_t *after)
{
    mcp__accepted accepted = { .events = true };
    mcp__web_peer *peer = mcp__web_peer_new(visit->web, visit->exchange, entry, false, &accepted);

    if (peer)
        mcp__web_peer_listen(peer, after);
}

static void begin_listening(const struct visit *visit, mcp__session_entry *entry)
{
    if (mcp__web_peer_find(visit->web, entry, 0))
        mcp__web_refuse(visit->web, visit->exchange, 409, BAD_REQUEST, NULL,
                        "the session has a stream already");
    else
        open_stream(visit, entry, NULL);
}

static bool can_resume(const mcp__session_entry *entry, const mcp__web_peer *peer, uint32_t stream,
                       uint64_t number)
{
    if (mcp__event_ring_covers(&entry->events, stream, number))
        return true;
    return peer ? number == peer->number : stream == 0 && number == entry->listen_number;
}

static void resume(const struct visit *visit, mcp__session_entry *entry, const char *last)
{
    uint32_t stream = 0;
    uint64_t number = 0;
    bool is_known = read_event_id(last, &stream, &number);
    mcp__web_peer *peer = is_known ? mcp__web_peer_find(visit->web, entry, stream) : NULL;

    if (!is_known || !can_resume(entry, peer, stream, number)) {
        mcp__web_refuse(visit->web, visit->exchange, 400, BAD_REQUEST, NULL,
                        "the events after this Last-Event-ID are not kept");
        return;
    }
    if (peer)
        mcp__web_peer_attach(peer, visit->exchange, number);
    else if (stream > 0)
        mcp__web_peer_replay(visit->web, visit->exchange, entry, stream, number);
    else
        open_stream(visit, entry, &number);
}

static void serve_get(const struct visit *visit)
{
    const char *last = mcp__http_field(visit->exchange, "Last-Event-ID");
    mcp__session_entry *entry = need_session(visit);

    if (!entry)
        return;
    if (mcp__session_set_listener(&entry->session, visit->web->caller, NULL) != MCP_OK)
        mcp__web_refuse(visit->web, visit->exchange, 503, mcp_status_code(MCP_E_NOMEM), NULL,
                        mcp_status_words(MCP_E_NOMEM));
    else if (last)
        resume(visit, entry, last);
    else
        begin_listening(visit, entry);
}

static void serve_delete(const struct visit *visit)
{
    mcp__session_entry *entry = need_session(visit);
    mcp_buf body;

    if (!entry)
        return;
    mcp__session_table_end(&visit->web->sessions, entry);
    mcp_buf_init(&body, 64);
    (void)mcp_buf_puts(&body, "{\"ok\":true}");
    mcp__web_answer(visit->web, visit->exchange, 200, &body);
    mcp_buf_clear(&body);
}

/* ---- POST ------------------------------------------------------------------------------------ */

/* One that is empty or too long is answered too. */
static void look_at_batch(struct visit *visit)
{
    const mcp__incoming *incoming = visit->incoming;

    visit->is_batch = true;
    visit->is_request = incoming->count == 0;
    for (size_t i = 0; i < incoming->count && !visit->is_request; i++) {
        mcp__message_kind kind = incoming->elements[i].message.kind;
        visit->is_request = kind == MCP__REQUEST || kind == MCP__INVALID;
    }
}

/* Returns false when the exchange was answered. */
static bool look_at(struct visit *visit)
{
    mcp_error err = visit->incoming->err;
    mcp_status st = visit->incoming->status;

    if (st == MCP_OK && mcp_json_is_array(visit->value)) {
        look_at_batch(visit);
        return true;
    }
    if (st == MCP_OK) {
        visit->message = visit->incoming->whole.message;
        err = visit->incoming->whole.fault;
        st = err.status;
    }
    if (visit->incoming->status != MCP_OK)
        visit->message.id = visit->incoming->whole.message.id;
    visit->is_request = visit->message.kind == MCP__REQUEST;
    if (st == MCP_OK || (visit->value && visit->message.method))
        return true; /* a method with faults: the dispatch knows what to say of it */
    mcp__web_refuse(visit->web, visit->exchange, st == MCP_E_NOMEM || st == MCP_E_BUSY ? 503 : 400,
                    mcp_status_code(st), visit->message.id, err.message);
    return false;
}

static bool is_initialize(const struct visit *visit)
{
    return visit->message.method && strcmp(visit->message.method, "initialize") == 0;
}

/* A response has neither a claim nor a method: it belongs to a session, if to anything. */
static bool is_stateless(const struct visit *visit)
{
    struct fields fields = fields_of(visit->exchange);

    if (visit->is_batch || visit->message.kind == MCP__RESPONSE)
        return false;
    if (mcp_json_get(visit->message.meta, CLAIM))
        return true;
    return !is_initialize(visit) && mcp__headers_are_stateless(&fields.headers);
}

/* The version header of the session era must name a revision that we serve. Returns false when the
 * exchange was answered. */
static bool check_version(const struct visit *visit, mcp_revision *revision)
{
    const mcp_server_options *options = visit->web->serve.options;
    const char *name = mcp__http_field(visit->exchange, "MCP-Protocol-Version");

    *revision = options->default_revision;
    if (!name || is_initialize(visit))
        return true;
    *revision = mcp_revision_find(name);
    if (*revision >= options->oldest && *revision <= options->newest &&
        *revision != MCP_REVISION_NONE)
        return true;
    mcp__web_refuse(visit->web, visit->exchange, 400, bad_request(visit->web, visit->exchange),
                    visit->message.id, "Unsupported protocol version in MCP-Protocol-Version");
    return false;
}

static mcp__session_entry *entry_for(const struct visit *visit, bool *is_once)
{
    mcp_revision revision = MCP_REVISION_NONE;

    *is_once = false;
    if (is_stateless(visit))
        return visit->web->shared;
    if (!check_version(visit, &revision))
        return NULL;
    if (visit->web->http.sessions == MCP_SESSIONS_OFF) {
        mcp__session_entry *entry = borrow_entry(visit);
        *is_once = true;
        if (entry && !is_initialize(visit))
            entry->session.revision = revision;
        return entry;
    }
    return is_initialize(visit) && visit->is_request ? open_session(visit) : need_session(visit);
}

static void refuse_busy(const struct visit *visit)
{
    mcp__web_refuse(visit->web, visit->exchange, 200, mcp_status_code(MCP_E_BUSY),
                    visit->message.id, mcp_status_words(MCP_E_BUSY));
}

/* Hands the message over. */
static void hand_over(struct visit *visit, mcp__session_entry *entry, bool is_once)
{
    mcp__web *web = visit->web;
    struct fields fields = fields_of(visit->exchange);
    mcp__web_peer *peer = mcp__web_peer_new(web, visit->exchange, entry, is_once, &visit->accepted);

    if (!peer)
        return;
    if (visit->is_request)
        mcp__web_peer_expect(peer, &visit->message);
    peer->peer.headers = &fields.headers;
    web->counts.messages++;
    mcp__session_table_work(&web->sessions, entry);
    mcp__dispatch_incoming(&entry->session, &peer->peer, visit->incoming);
}

/* What only a stream can answer. Returns false when the exchange was answered. */
static bool check_accepted(const struct visit *visit)
{
    const char *method = visit->message.method;

    if (visit->accepted.events || !method || strcmp(method, "subscriptions/listen") != 0)
        return true;
    mcp__web_refuse(visit->web, visit->exchange, 406, mcp_status_code(MCP_E_REQUEST),
                    visit->message.id, "the client must accept text/event-stream");
    return false;
}

static void serve_post(mcp__web *web, mcp__http_exchange *exchange, mcp__incoming *incoming)
{
    struct visit visit = { .web = web,
                           .exchange = exchange,
                           .message.kind = MCP__INVALID,
                           .incoming = incoming,
                           .value = incoming->status == MCP_OK ? incoming->whole.value : NULL,
                           .accepted = accepted_of(exchange) };
    bool is_once = false;

    if (!look_at(&visit) || !check_accepted(&visit))
        return;
    mcp__session_entry *entry = entry_for(&visit, &is_once);
    if (entry && mcp__dispatch_is_full(&entry->session))
        refuse_busy(&visit);
    else if (entry)
        hand_over(&visit, entry, is_once);
}

void mcp__streamable_request(mcp__web *web, mcp__http_exchange *exchange)
{
    struct visit visit = { .web = web, .exchange = exchange, .message.kind = MCP__INVALID };

    if (is_method(exchange, "GET"))
        serve_get(&visit);
    else if (is_method(exchange, "DELETE"))
        serve_delete(&visit);
    else
        mcp__body_read(web, exchange, serve_post);
}
