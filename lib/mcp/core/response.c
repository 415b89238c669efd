/*
 * response.c - the code and the HTTP status of each status, and errors that are answered in any
 * case.
 *
 * A status without a row has the code of mcp/error.h and is an ordinary answer to HTTP: a failed
 * tool or a missing resource concerns the client, not the proxies between. `resource not found`
 * lost its own code with 2026-07-28.
 *
 * When the id of a request could not be read, JSON-RPC wants null; the schemas of MCP know no null,
 * and from 2025-11-25 they let the id be left out.
 */
#include "mcp/core/response.h"

#include <stddef.h>

static const struct row {
    mcp_status status;
    struct {
        int code;
        int http;
    } session, stateless;
} rows[] = {
    /* status            session era       from 2026-07-28 */
    { MCP_E_PARSE, { -32700, 400 }, { -32700, 400 } },
    { MCP_E_REQUEST, { -32600, 400 }, { -32600, 400 } },
    { MCP_E_METHOD, { -32601, 200 }, { -32601, 404 } },
    { MCP_E_RESOURCE, { -32002, 200 }, { -32602, 200 } },
    { MCP_E_ENVELOPE, { -32602, 400 }, { -32602, 400 } },
    { MCP_E_HEADERS, { -32602, 400 }, { -32020, 400 } },
    { MCP_E_CAPABILITY, { -32602, 200 }, { -32021, 400 } },
    { MCP_E_REVISION, { -32602, 200 }, { -32022, 400 } },
    { MCP_E_SCOPE, { -32600, 403 }, { -32600, 403 } },
    { MCP_E_URL_ELICITATION, { -32042, 200 }, { -32603, 200 } },
};

static const struct row *find(mcp_status status)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].status == status)
            return &rows[i];
    return NULL;
}

int mcp__response_code(mcp_status status, mcp_revision revision)
{
    const struct row *row = find(status);

    if (!row)
        return mcp_status_code(status);
    return revision > MCP_REVISION_NEWEST_SESSION ? row->stateless.code : row->session.code;
}

int mcp__response_http(mcp_status status, mcp_revision revision)
{
    const struct row *row = find(status);

    if (!row)
        return 200;
    return revision > MCP_REVISION_NEWEST_SESSION ? row->stateless.http : row->session.http;
}

bool mcp__response_is_hidden(mcp_status status)
{
    return status == MCP_E_INTERNAL || status == MCP_E_IO || status == MCP_E_NOMEM;
}

void mcp__response_begin(mcp_json_writer *writer, mcp_buf *out, const mcp_json *id,
                         mcp_revision revision)
{
    mcp_json_writer_init(writer, out);
    mcp_write_object(writer);
    mcp_write_member_string(writer, "jsonrpc", "2.0");
    if (id || revision < MCP_2025_11_25)
        mcp_write_member_value(writer, "id", id);
}

mcp_status mcp__response_write_error(mcp_buf *out, const mcp_json *id, mcp_revision revision,
                                     mcp_status status, const char *message, const mcp_buf *data)
{
    mcp_json_writer writer;

    mcp__response_begin(&writer, out, id, revision);
    mcp_write_member_object(&writer, "error");
    mcp_write_member_int(&writer, "code", mcp__response_code(status, revision));
    mcp_write_member_string(&writer, "message", message);
    if (data && data->length > 0) {
        mcp_write_name(&writer, "data");
        mcp_write_raw(&writer, data->data, data->length);
    }
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

void mcp__response_error(const mcp__context *context, mcp__peer *peer, const mcp_json *id,
                         mcp_revision revision, mcp_status status, const char *message)
{
    mcp_buf *out = context->spare;
    mcp_buf large;

    peer->http_status = mcp__response_http(status, revision);
    peer->fault = status;
    peer->scopes_needed = NULL;
    mcp_buf_init(&large, context->options->limits.reply_max_bytes);
    mcp_buf_reset(out);
    mcp_status st = mcp__response_write_error(out, id, revision, status, message, NULL);
    if (st != MCP_OK) { /* a long id or message */
        out = &large;
        st = mcp__response_write_error(out, id, revision, status, message, NULL);
    }
    if (st == MCP_OK)
        peer->answer(peer, out);
    mcp_buf_clear(&large);
    if (st != MCP_OK) {
        mcp_log_write(&context->options->log, MCP_LOG_ERROR, "no memory to answer a request");
        if (peer->abort)
            peer->abort(peer);
        else
            peer->no_reply(peer);
    }
    mcp_buf_reset(context->spare);
    (void)mcp_buf_reserve(context->spare, MCP__RESPONSE_SPARE);
    context->spare->status = MCP_OK;
}

void mcp__notification_begin(mcp_json_writer *writer, mcp_buf *out, size_t max_bytes,
                             const char *method)
{
    mcp_buf_init(out, max_bytes);
    mcp_json_writer_init(writer, out);
    mcp_write_object(writer);
    mcp_write_member_string(writer, "jsonrpc", "2.0");
    mcp_write_member_string(writer, "method", method);
}

void mcp__notification_send(mcp__peer *peer, mcp_json_writer *writer, mcp_buf *message)
{
    mcp_write_end(writer);
    if (mcp_json_writer_status(writer) == MCP_OK)
        peer->notify(peer, message);
    mcp_buf_clear(message);
}
