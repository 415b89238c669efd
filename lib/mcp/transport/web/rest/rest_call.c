/*
 * rest_call.c - what a route's handler may do beside what all handlers may, and how its answer is written.
 *
 * The body of an answer is the result object as it is, or the bytes of mcp_call_send; there is no envelope
 * around it. Neither is copied on its way to the connection. Causes that clients must not learn go to the
 * log, as with tools.
 */
#include <string.h>
#include <strings.h>

#include "mcp/core/call/call_int.h"
#include "mcp/core/call/reply.h"
#include "mcp/core/outcome.h"
#include "mcp/http.h"
#include "mcp/transport/web/rest/body.h"
#include "mcp/transport/web/rest/problem.h"
#include "mcp/transport/web/rest/rest.h"
#include "net/http.h"

/* ---- the request ------------------------------------------------------------------------------ */

const char *mcp_call_body(const mcp_call *call, size_t *length)
{
    *length = call->rest ? call->rest->body.length : 0;
    return *length > 0 ? call->rest->body.data : NULL;
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

const char *mcp_call_path(const mcp_call *call)
{
    return call->rest ? call->rest->path : NULL;
}

const char *mcp_call_header(const mcp_call *call, const char *name)
{
    const mcp__rest *rest = call->rest;

    for (size_t i = 0; rest && i < rest->field_count; i++)
        if (strcasecmp(rest->fields[i].name, name) == 0)
            return rest->fields[i].value;
    return NULL;
}

const char *mcp_call_last_event_id(const mcp_call *call)
{
    const char *id = mcp_call_header(call, "Last-Event-ID");

    return id && id[0] != '\0' ? id : NULL;
}

/* ---- the answer's head ------------------------------------------------------------------------ */

void mcp_call_status(mcp_call *call, int http_status)
{
    if (call->rest && http_status >= 200 && http_status <= 599)
        call->rest->http_status = http_status;
}

/* What frames the answer, and its type, are said elsewhere. */
static bool is_ours(const char *name)
{
    static const char *const names[] = { "Content-Type", "Content-Length", "Transfer-Encoding",
                                         "Connection", "Date" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

static mcp__rest_field *find_field(mcp__rest *rest, const char *name)
{
    for (size_t i = 0; i < rest->answer_field_count; i++)
        if (strcasecmp(rest->answer_fields[i].name, name) == 0)
            return &rest->answer_fields[i];
    return NULL;
}

static mcp_status add_field(mcp_call *call, mcp__rest_field *field, const char *name,
                            const char *value)
{
    mcp__rest *rest = call->rest;
    mcp__rest_field fresh = { mcp_arena_strdup(call->arena, name),
                              mcp_arena_strdup(call->arena, value) };

    if (!field && rest->answer_field_count == MCP__REST_FIELDS_MAX)
        return mcp_error_set(&call->err, MCP_E_LIMIT, "an answer may be given %d fields",
                             MCP__REST_FIELDS_MAX);
    if (!fresh.name || !fresh.value)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a header field");
    if (!field)
        field = &rest->answer_fields[rest->answer_field_count++];
    *field = fresh;
    return MCP_OK;
}

mcp_status mcp_call_header_set(mcp_call *call, const char *name, const char *value)
{
    mcp__rest *rest = call->rest;

    if (!rest)
        return mcp_error_set(&call->err, MCP_E_UNSUPPORTED,
                             "only a route's handler can set header fields");
    if (is_ours(name) || !mcp__http_field_is_fit(name, value ? value : ""))
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "this is no header field that an answer may be given");
    mcp__rest_field *field = find_field(rest, name);
    if (value)
        return add_field(call, field, name, value);
    if (field)
        *field = rest->answer_fields[--rest->answer_field_count];
    return MCP_OK;
}

/* ---- the answer's body ------------------------------------------------------------------------ */

/* What was written before is dropped. */
static mcp_status begin_body(mcp_call *call, const char *mime_type)
{
    if (!call->rest)
        return mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "only a route's handler can send this");
    if (!mcp__http_field_is_fit("Content-Type", mime_type))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "a media type is one line");
    call->rest->mime_type = mcp_arena_strdup(call->arena, mime_type);
    call->rest->is_sent = true;
    mcp__body_abandon(call->rest->rest_of_body);
    call->rest->rest_of_body = NULL;
    mcp_buf_reset(&call->reply);
    return call->rest->mime_type
               ? MCP_OK
               : mcp_error_set(&call->err, MCP_E_NOMEM, "%s", mcp_status_words(MCP_E_NOMEM));
}

mcp_status mcp_call_send(mcp_call *call, const char *mime_type, const void *bytes, size_t length)
{
    mcp_status st = begin_body(call, mime_type);

    if (st != MCP_OK)
        return st;
    st = mcp_buf_append(&call->reply, bytes, length);
    return st == MCP_OK ? st : mcp_error_set(&call->err, st, "%s", mcp_status_words(st));
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

    if (st == MCP_OK && body->status != MCP_OK)
        st = mcp_error_set(&call->err, body->status, "%s", mcp_status_words(body->status));
    if (st == MCP_OK)
        hand_over(&call->reply, body);
    else
        mcp_buf_clear(body);
    return st;
}

/* The first piece is written here: what fails in it is answered as any error, and a body of one piece is sent whole. */
mcp_status mcp_call_send_from(mcp_call *call, const char *mime_type, const mcp_body_source *source)
{
    mcp_status st = begin_body(call, mime_type);
    bool is_last = false;

    if (st == MCP_OK)
        st = source->next(&call->reply, &is_last, source->data, &call->err);
    if (st == MCP_OK && call->reply.status != MCP_OK)
        st = mcp_error_set(&call->err, call->reply.status, "%s",
                           mcp_status_words(call->reply.status));
    if (st == MCP_OK && !is_last)
        st = mcp__body_new(&call->rest->rest_of_body, source, call->reply.max_bytes, &call->err);
    if (st != MCP_OK || is_last)
        source->done(source->data);
    return st;
}

/* ---- on the worker, after the handler --------------------------------------------------------- */

static void render_error(mcp_call *call, mcp_status status, const char *message)
{
    mcp__rest *rest = call->rest;
    mcp_buf body;

    if (mcp__outcome_is_hidden(status))
        mcp__reply_log(call, &call->err);
    if (mcp__outcome_is_hidden(status) || !message || message[0] == '\0')
        message = mcp_status_words(status);
    if (rest->http_status < 400)
        rest->http_status = mcp__problem_http(status);
    mcp_problem problem = { rest->http_status, status, message, rest->path };
    rest->mime_type = mcp__problem_write(&body, rest->http, &problem);
    hand_over(&call->reply, &body);
}

static mcp_status render_result(mcp_call *call)
{
    mcp_json_writer *writer = &call->result_writer;
    mcp__rest *rest = call->rest;

    if (!call->result_begun) {
        rest->http_status = rest->http_status ? rest->http_status : 204;
        return MCP_OK;
    }
    while (writer->depth > 0 && writer->status == MCP_OK)
        mcp_write_end(writer);
    mcp_status st = mcp_json_writer_status(writer);
    rest->mime_type = "application/json";
    if (st == MCP_OK)
        hand_over(&call->reply, &call->result);
    return st;
}

static mcp_status render_body(mcp_call *call)
{
    if (call->rest->stream)
        return MCP_OK;
    return call->rest->is_sent ? call->reply.status : render_result(call);
}

void mcp__rest_render(mcp_call *call)
{
    mcp_status st = call->status;

    if (st == MCP_OK && call->is_refused) {
        render_error(call, MCP_E_PARAMS, call->refusal);
        return;
    }
    if (st == MCP_OK)
        st = render_body(call);
    if (st != MCP_OK)
        render_error(call, st, call->status != MCP_OK ? call->err.message : NULL);
}
