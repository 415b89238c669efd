/*
 * rest_call.c - the functions that only a route's handler may call, and the kind of its calls.
 *
 * The body of an answer is the result object as it is, or the bytes of mcp_call_send, without an
 * envelope. Neither is copied on its way to the connection. The causes of internal errors go to the
 * log, as with tools.
 *
 * A body in pieces is written while it is sent: a worker writes a piece, the loop sends it.
 * While one piece leaves, a worker writes the next, so there are never more than two. Where the
 * reader is slow the second one waits for it, and no worker does. A reader that takes nothing at
 * all is given up by the connection, as with every answer: then the source ends.
 *
 * All is the loop's but what stands in the struct under "the worker's": that belongs to the worker
 * from write_next until `done`. When the client hangs up meanwhile the worker continues to the end
 * of its piece, and `done` frees.
 */
#include "mcp/transport/rest/rest.h"

#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/call/result.h"
#include "mcp/core/response.h"
#include "mcp/http.h"
#include "mcp/transport/http/stream.h"
#include "net/http.h"

/* ---- the request ----------------------------------------------------------------------------- */

const char *mcp_call_body(const mcp_call *call, size_t *length)
{
    const mcp__rest *rest = mcp__rest_of(call);
    size_t held = rest ? rest->body.length : 0;

    if (length)
        *length = held;
    return held > 0 ? rest->body.data : NULL;
}

const mcp_json *mcp_call_body_json(mcp_call *call, mcp_error *err)
{
    const mcp_json *value = NULL;
    size_t length = 0;
    const char *body = mcp_call_body(call, &length);

    if (!body) {
        (void)mcp_error_set(err, MCP_E_PARAMS, "the request has no body");
        return NULL;
    }
    return mcp_json_read(&value, call->arena, body, length, err) == MCP_OK ? value : NULL;
}

const mcp_route *mcp_call_route(const mcp_call *call)
{
    const mcp__rest *rest = mcp__rest_of(call);

    return rest ? rest->route : NULL;
}

const char *mcp_call_path(const mcp_call *call)
{
    const mcp__rest *rest = mcp__rest_of(call);

    return rest ? rest->path : NULL;
}

const char *mcp_call_header(const mcp_call *call, const char *name)
{
    const mcp__rest *rest = mcp__rest_of(call);
    size_t count = rest && name ? rest->field_count : 0;
    size_t at = count > 0 ? mcp__rest_field_find(rest->fields, count, name) : 0;

    return at < count ? rest->fields[at].value : NULL;
}

const char *mcp_call_last_event_id(const mcp_call *call)
{
    const char *id = mcp_call_header(call, "Last-Event-ID");

    return id && id[0] != '\0' ? id : NULL;
}

/* ---- the answer's head ----------------------------------------------------------------------- */

void mcp_call_status(mcp_call *call, int http_status)
{
    mcp__rest *rest = mcp__rest_of(call);

    if (rest && http_status >= 200 && http_status <= 599)
        rest->http_status = http_status;
}

bool mcp__rest_is_own_field(const char *name)
{
    static const char *const names[] = { "Content-Type", "Content-Length", "Transfer-Encoding",
                                         "Connection", "Date" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

/* At its index, which is the next free one for a new name. */
static mcp_status put_field(mcp_call *call, size_t at, const char *name, const char *value)
{
    mcp__rest *rest = mcp__rest_of(call);
    mcp__rest_field field = { mcp_arena_strdup(call->arena, name),
                              mcp_arena_strdup(call->arena, value) };

    if (at == MCP__REST_FIELDS_MAX)
        return mcp_error_set(&call->err, MCP_E_LIMIT, "an answer may be given %d fields",
                             MCP__REST_FIELDS_MAX);
    if (!field.name || !field.value)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a header field");
    rest->answer_fields[at] = field;
    rest->answer_field_count += at == rest->answer_field_count;
    return MCP_OK;
}

mcp_status mcp_call_header_set(mcp_call *call, const char *name, const char *value)
{
    mcp__rest *rest = mcp__rest_of(call);

    if (!rest)
        return mcp_error_set(&call->err, MCP_E_UNSUPPORTED,
                             "only a route's handler can set header fields");
    if (!name || mcp__rest_is_own_field(name) || !mcp__http_field_is_fit(name, value ? value : ""))
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "this is no header field that an answer may be given");
    size_t at = mcp__rest_field_find(rest->answer_fields, rest->answer_field_count, name);
    if (value)
        return put_field(call, at, name, value);
    if (at < rest->answer_field_count)
        rest->answer_fields[at] = rest->answer_fields[--rest->answer_field_count];
    return MCP_OK;
}

/* ---- bodies in pieces ------------------------------------------------------------------------ */

struct mcp__body {
    mcp__task task; /* first */
    mcp__exchange_owner owner;
    mcp__httpd *httpd;
    mcp__http_exchange *exchange; /* NULL: the client is gone */
    bool is_working;              /* a worker has it */
    bool is_held;                 /* a piece waits for the reader */

    /* the worker's */
    mcp_body_source source;
    mcp_buf piece;
    bool is_last;
    mcp_status status;
    mcp_error err;
};

void mcp__body_free(mcp__body *body)
{
    if (!body)
        return;
    body->source.done(body->source.data);
    mcp_buf_clear(&body->piece);
    free(body);
}

static mcp__body *body_of(mcp__exchange_owner *owner)
{
    return (mcp__body *)((char *)owner - offsetof(mcp__body, owner));
}

static void on_hung_up(mcp__exchange_owner *owner)
{
    mcp__body *body = body_of(owner);

    body->httpd->counts.hung_up++;
    body->exchange = NULL;
    if (!body->is_working)
        mcp__body_free(body);
}

/* The next piece finds out whether the client is gone. */
static void on_half_closed(mcp__exchange_owner *owner)
{
    (void)owner;
}

/* It continues a call, so the bound on waiting calls is not for it. */
static void write_next(mcp__body *body)
{
    mcp__executor *executor = body->httpd->serve.executor;

    body->is_working = true;
    body->httpd->writing++;
    executor->adopt(executor, &body->task, MCP__LANE_SHORT);
    executor->again(executor, &body->task);
}

/* A piece is there: to the reader, unless it is slow. */
static void send(mcp__body *body)
{
    body->is_held = mcp__http_is_blocked(body->exchange);
    if (body->is_held)
        return;
    if (mcp__http_write_buf(body->exchange, &body->piece, NULL) != MCP_OK)
        return; /* the connection is closed, and says so: hung_up */
    if (!body->is_last) {
        write_next(body);
        return;
    }
    mcp__http_end(body->exchange);
    mcp__body_free(body);
}

static void on_drained(mcp__exchange_owner *owner)
{
    mcp__body *body = body_of(owner);

    if (body->is_held)
        send(body);
}

/* A status that has no words of its own. */
static mcp_status with_words(mcp_status st, mcp_error *err)
{
    return st == MCP_OK ? st : mcp_error_set(err, st, "%s", mcp_status_words(st));
}

static mcp_status write_piece(mcp_buf *piece, bool *is_last, const mcp_body_source *source,
                              mcp_error *err)
{
    mcp_status st = source->next(piece, is_last, source->data, err);

    return st == MCP_OK ? with_words(piece->status, err) : st;
}

static bool work(mcp__task *task)
{
    mcp__body *body = (mcp__body *)task;

    body->status = write_piece(&body->piece, &body->is_last, &body->source, &body->err);
    return true;
}

static void done(mcp__task *task)
{
    mcp__body *body = (mcp__body *)task;

    body->httpd->writing--;
    body->is_working = false;
    if (body->exchange && body->status == MCP_OK) {
        send(body);
        return;
    }
    if (body->exchange) { /* half a body and a closed connection tell the client */
        mcp_log_write(&body->httpd->serve.options->log, MCP_LOG_ERROR, "an answer broke off: %s",
                      body->err.message);
        mcp__http_drop(body->exchange);
    }
    mcp__body_free(body);
}

/* Its first piece does not end it. Takes the data of `source` where MCP_OK is returned. */
static mcp_status body_new(mcp__body **out, const mcp_body_source *source, size_t max_bytes,
                           mcp_error *err)
{
    mcp__body *body = mcp_alloc_zeroed(1, sizeof *body);

    if (!body)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a body in pieces");
    body->task.work = work;
    body->task.done = done;
    body->owner = (mcp__exchange_owner){ .hung_up = on_hung_up,
                                         .half_closed = on_half_closed,
                                         .drained = on_drained };
    body->source = *source;
    body->err = (mcp_error)MCP_ERROR_INIT;
    mcp_buf_init(&body->piece, max_bytes);
    *out = body;
    return MCP_OK;
}

void mcp__body_begin(mcp__body *body, mcp__httpd *httpd, mcp__http_exchange *exchange,
                     const mcp__http_head_out *head, mcp_buf *first, bool is_bare)
{
    body->httpd = httpd;
    body->exchange = exchange;
    bool is_begun = mcp__http_begin(exchange, head, NULL) == MCP_OK;
    if (is_begun && is_bare)
        mcp__http_end(exchange);
    if (!is_begun || is_bare) {
        mcp__body_free(body);
        return;
    }
    mcp__http_set_data(exchange, &body->owner);
    mcp_buf_clear(&body->piece);
    body->piece = *first;
    mcp_buf_init(first, first->max_bytes);
    send(body);
}

/* ---- the answer's body ----------------------------------------------------------------------- */

/* An earlier body is dropped. */
static mcp_status begin_body(mcp_call *call, const char *mime_type)
{
    mcp__rest *rest = mcp__rest_of(call);

    if (!rest)
        return mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "only a route's handler can send this");
    if (!mime_type || !mcp__http_field_is_fit("Content-Type", mime_type))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "a media type is one line");
    rest->mime_type = mcp_arena_strdup(call->arena, mime_type);
    rest->is_sent = true;
    mcp__body_free(rest->remainder);
    rest->remainder = NULL;
    mcp_buf_reset(&call->answer.message);
    return with_words(rest->mime_type ? MCP_OK : MCP_E_NOMEM, &call->err);
}

mcp_status mcp_call_send(mcp_call *call, const char *mime_type, const void *bytes, size_t length)
{
    mcp_status st = begin_body(call, mime_type);

    if (st == MCP_OK)
        st = with_words(mcp_buf_append(&call->answer.message, bytes, length), &call->err);
    return st;
}

/* The bytes of one buffer into another that is dropped first, without a copy. */
static void hand_over(mcp_buf *to, mcp_buf *from)
{
    mcp_buf_clear(to);
    *to = *from;
    *from = (mcp_buf){ .max_bytes = to->max_bytes };
}

mcp_status mcp_call_send_buf(mcp_call *call, const char *mime_type, mcp_buf *body)
{
    mcp_status st = begin_body(call, mime_type);

    if (!body)
        return st == MCP_OK ? mcp_error_set(&call->err, MCP_E_PARAMS, "there is no body to send")
                            : st;
    if (st == MCP_OK)
        st = with_words(body->status, &call->err);
    if (st == MCP_OK)
        hand_over(&call->answer.message, body);
    else
        mcp_buf_clear(body);
    return st;
}

/* The first piece is written here: what fails in it is answered as any error, and a body of one
 * piece is sent whole. */
mcp_status mcp_call_send_from(mcp_call *call, const char *mime_type, const mcp_body_source *source)
{
    bool is_last = false;

    if (!source || !source->next || !source->done)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "a source of a body lacks a function");
    mcp_status st = begin_body(call, mime_type);

    if (st == MCP_OK)
        st = write_piece(&call->answer.message, &is_last, source, &call->err);
    if (st == MCP_OK && !is_last)
        st = body_new(&mcp__rest_of(call)->remainder, source, call->answer.message.max_bytes,
                      &call->err);
    if (st != MCP_OK || is_last)
        source->done(source->data);
    return st;
}

mcp_status mcp_call_stream(mcp_stream **out, mcp_call *call, const mcp_stream_options *options,
                           mcp_error *err)
{
    static const mcp_stream_options standard = MCP_STREAM_OPTIONS_INIT;
    mcp__rest *rest = mcp__rest_of(call);

    if (!rest)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "only a route's handler can answer with a stream");
    if (rest->stream)
        return mcp_error_set(err, MCP_E_PARAMS, "the answer is a stream already");
    mcp_status st = mcp__stream_new(out, options ? options : &standard,
                                    call->principal ? call->principal->expires_ms : 0, err);
    if (st == MCP_OK)
        rest->stream = *out;
    return st;
}

/* ---- on the worker, after the handler -------------------------------------------------------- */

static void render_error(mcp_call *call, mcp_status status, const char *message)
{
    mcp__rest *rest = mcp__rest_of(call);
    mcp_buf body;

    if (mcp__response_is_hidden(status))
        mcp__result_log(call, &call->err);
    if (mcp__response_is_hidden(status) || !message || message[0] == '\0')
        message = mcp_status_words(status);
    if (rest->http_status < 400)
        rest->http_status = mcp__problem_http(status);
    const mcp__problem problem = { .shown = { rest->http_status, status, message, rest->path },
                                   .rest = rest,
                                   .call = call };
    rest->mime_type = mcp__problem_write(&body, rest->http, &problem);
    hand_over(&call->answer.message, &body);
}

/* Blocks, or one that failed. */
static bool has_content(const mcp_call *call)
{
    return call->answer.content.holds != MCP__DRAFT_EMPTY || call->answer.content.status != MCP_OK;
}

static mcp_status render_body(mcp_call *call)
{
    mcp__rest *rest = mcp__rest_of(call);

    if (rest->stream)
        return MCP_OK;
    if (rest->is_sent)
        return call->answer.message.status;
    if (call->answer.result.holds == MCP__DRAFT_EMPTY && has_content(call))
        return mcp_error_set(&call->err, MCP_E_INTERNAL,
                             "the handler of a route answered with content blocks, which a route "
                             "does not send: use mcp_call_result or mcp_call_send");
    if (call->answer.result.holds == MCP__DRAFT_EMPTY) {
        rest->http_status = rest->http_status ? rest->http_status : 204;
        return MCP_OK;
    }
    mcp_status st = mcp__draft_end(&call->answer.result);
    rest->mime_type = "application/json";
    if (st == MCP_OK)
        hand_over(&call->answer.message, &call->answer.result.text);
    return st;
}

static void render(mcp_call *call)
{
    mcp_status st = call->status;

    if (st == MCP_OK && call->answer.error_text) {
        render_error(call, MCP_E_PARAMS, call->answer.error_text);
        return;
    }
    if (st == MCP_OK)
        st = render_body(call);
    if (st != MCP_OK)
        render_error(call, st, call->status != MCP_OK ? call->err.message : NULL);
}

/* ---- the kind -------------------------------------------------------------------------------- */

static size_t size_of_input(const mcp_call *call)
{
    return mcp__rest_of(call)->body.length;
}

static void release(mcp_call *call)
{
    mcp__rest *rest = mcp__rest_of(call);

    mcp_buf_clear(&rest->body);
    if (rest->stream)
        mcp__stream_abandon(rest->stream);
    mcp__body_free(rest->remainder);
}

/* A worker may have what is answered in place of. */
static int http_status(const mcp_call *call, mcp_status fault)
{
    int set = fault == MCP_OK ? mcp__rest_of(call)->http_status : mcp__problem_http(fault);

    return set ? set : 200;
}

const mcp__call_kind mcp__rest_kind = {
    .render = render,
    .http_status = http_status,
    .size_of_input = size_of_input,
    .release = release,
    .may_be_empty = true,
};

mcp__rest *mcp__rest_of(const mcp_call *call)
{
    return call->plan.kind == &mcp__rest_kind ? call->plan.feature : NULL;
}
