/*
 * rest_call.c - what a route's handler may do beside what all handlers may, and how its answer is written.
 *
 * The body of an answer is the result object as it is, or the bytes of mcp_call_send; there is no envelope
 * around it. Causes that clients must not learn go to the log, as with tools.
 */
#include <string.h>

#include "mcp/core/call_int.h"
#include "mcp/core/reply.h"
#include "mcp/http.h"
#include "mcp/transport/web/rest.h"

/* ---- for handlers ----------------------------------------------------------------------------- */

void mcp_call_status(mcp_call *call, int http_status)
{
    if (call->rest && http_status >= 200 && http_status <= 599)
        call->rest->http_status = http_status;
}

const char *mcp_call_body(const mcp_call *call, size_t *length)
{
    *length = call->rest ? call->rest->body_length : 0;
    return call->rest ? call->rest->body : NULL;
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

mcp_status mcp_call_send(mcp_call *call, const char *mime_type, const void *bytes, size_t length)
{
    if (!call->rest)
        return mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "only a route's handler can send this");
    call->rest->mime_type = mcp_arena_strdup(call->arena, mime_type);
    call->rest->is_sent = true;
    mcp_buf_reset(&call->reply);
    mcp_status st = call->rest->mime_type ? mcp_buf_append(&call->reply, bytes, length) : MCP_E_NOMEM;
    return st == MCP_OK ? st : mcp_error_set(&call->err, st, "%s", mcp_status_words(st));
}

/* ---- the answer ------------------------------------------------------------------------------- */

int mcp__rest_status(mcp_status status)
{
    static const struct {
        mcp_status status;
        int http;
    } rows[] = {
        { MCP_E_PARSE, 400 },     { MCP_E_REQUEST, 400 },   { MCP_E_PARAMS, 400 },
        { MCP_E_SCHEMA, 400 },    { MCP_E_DENIED, 403 },    { MCP_E_NOT_FOUND, 404 },
        { MCP_E_RESOURCE, 404 },  { MCP_E_METHOD, 404 },    { MCP_E_LIMIT, 413 },
        { MCP_E_UNSUPPORTED, 501 }, { MCP_E_BUSY, 503 },    { MCP_E_STOPPED, 503 },
        { MCP_E_NOMEM, 503 },     { MCP_E_TIMEOUT, 504 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].status == status)
            return rows[i].http;
    return status == MCP_OK ? 200 : 500;
}

mcp_status mcp__rest_write_error(mcp_buf *out, mcp_status status, const char *message)
{
    mcp_json_writer writer;

    mcp_json_writer_init(&writer, out);
    mcp_write_object(&writer);
    mcp_write_member_object(&writer, "error");
    mcp_write_member_string(&writer, "status", mcp_status_name(status));
    mcp_write_member_string(&writer, "message", message);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

static bool is_hidden(mcp_status status)
{
    return status == MCP_E_INTERNAL || status == MCP_E_IO || status == MCP_E_NOMEM;
}

static void render_error(mcp_call *call, mcp_status status, const char *message)
{
    mcp__rest *rest = call->rest;

    if (is_hidden(status))
        mcp__reply_log(call, &call->err);
    if (is_hidden(status) || !message || message[0] == '\0')
        message = mcp_status_words(status);
    if (rest->http_status < 400)
        rest->http_status = mcp__rest_status(status);
    rest->mime_type = "application/json";
    mcp_buf_reset(&call->reply);
    if (mcp__rest_write_error(&call->reply, status, message) != MCP_OK)
        mcp_buf_clear(&call->reply);
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
    return st == MCP_OK ? mcp_buf_append(&call->reply, call->result.data, call->result.length) : st;
}

void mcp__rest_render(mcp_call *call)
{
    mcp_status st = call->status;

    if (st == MCP_OK && call->is_refused) {
        render_error(call, MCP_E_PARAMS, call->refusal);
        return;
    }
    if (st == MCP_OK)
        st = call->rest->is_sent ? call->reply.status : render_result(call);
    if (st != MCP_OK)
        render_error(call, st, call->status != MCP_OK ? call->err.message : NULL);
}
