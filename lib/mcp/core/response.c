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
 *
 * JSON-RPC wants the answers of a batch in one array, in any order, and nothing at all when it held
 * only notifications. Each message of the batch ends here exactly once, so a count is all the state
 * there is. Notifications of its calls do not pass here: they go to the peer behind at once.
 */
#include "mcp/core/response.h"

#include <stdlib.h>

#include "base/alloc.h"

struct codes {
    int json_rpc;
    int http;
};

static const struct row {
    mcp_status status;
    struct codes session, stateless;
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

static struct codes find(mcp_status status, mcp_revision revision)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].status == status)
            return revision > MCP_REVISION_NEWEST_SESSION ? rows[i].stateless : rows[i].session;
    return (struct codes){ mcp_status_code(status), 200 };
}

int mcp__response_code(mcp_status status, mcp_revision revision)
{
    return find(status, revision).json_rpc;
}

int mcp__response_http(mcp_status status, mcp_revision revision)
{
    return find(status, revision).http;
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

/* There is no memory for an answer. */
static void abort_answer(mcp__peer *peer)
{
    if (peer->abort)
        peer->abort(peer);
    else
        peer->no_reply(peer);
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
    if (st == MCP_OK) {
        peer->answer(peer, out);
    } else {
        mcp_log_write(&context->options->log, MCP_LOG_ERROR, "no memory to answer a request");
        abort_answer(peer);
    }
    mcp_buf_clear(&large);
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
    while (writer->depth > 0 && writer->status == MCP_OK)
        mcp_write_end(writer);
    if (writer->status == MCP_OK)
        peer->notify(peer, message);
    mcp_buf_clear(message);
}

/* ---- batches --------------------------------------------------------------------------------- */

typedef struct gathering {
    mcp__peer peer; /* first */
    mcp__peer *behind;
    size_t pending;
    size_t max_bytes;
    mcp_buf array;
    bool is_short; /* there was no memory for one of the answers */
} gathering;

/* The last array is the answer. One that had to go before goes like a notification: it ends
 * nothing. */
static void send_array(gathering *batch, bool is_last)
{
    mcp__peer *behind = batch->behind;

    if (batch->array.length == 0)
        return;
    batch->array.max_bytes = batch->max_bytes + 1;
    (void)mcp_buf_putc(&batch->array, ']');
    if (batch->array.status == MCP_OK && is_last)
        behind->answer(behind, &batch->array);
    else if (batch->array.status == MCP_OK)
        behind->notify(behind, &batch->array);
    else
        batch->is_short = true;
    mcp_buf_clear(&batch->array);
    batch->array.max_bytes = batch->max_bytes;
}

/* Where an answer is lacking, the others still go, and then the client learns that it will not
 * come. */
static void end_one(gathering *batch)
{
    if (--batch->pending > 0)
        return;
    bool is_empty = batch->array.length == 0;
    mcp__peer *behind = batch->behind;
    send_array(batch, !batch->is_short);
    bool is_short = batch->is_short;
    free(batch);
    if (is_short)
        abort_answer(behind);
    else if (is_empty)
        behind->no_reply(behind);
}

static void answer(mcp__peer *peer, mcp_buf *message)
{
    gathering *batch = (gathering *)peer;

    if (batch->array.length > 0 && message->length + 2 > batch->max_bytes - batch->array.length)
        send_array(batch, false);
    size_t before = batch->array.length;
    (void)mcp_buf_putc(&batch->array, before == 0 ? '[' : ',');
    if (mcp_buf_append(&batch->array, message->data, message->length) != MCP_OK) {
        batch->array.length = before;
        batch->array.status = MCP_OK;
        batch->is_short = true;
    }
    mcp_buf_clear(message);
    end_one(batch);
}

static void notify(mcp__peer *peer, mcp_buf *message)
{
    mcp__peer *behind = ((gathering *)peer)->behind;

    behind->notify(behind, message);
}

static bool is_slow(const mcp__peer *peer)
{
    const mcp__peer *behind = ((const gathering *)peer)->behind;

    return behind->is_slow(behind);
}

static void no_reply(mcp__peer *peer)
{
    end_one((gathering *)peer);
}

static void abort_request(mcp__peer *peer)
{
    ((gathering *)peer)->is_short = true;
    no_reply(peer);
}

mcp__peer *mcp__batch_new(mcp__peer *behind, size_t count, size_t max_bytes)
{
    gathering *batch = mcp_alloc_zeroed(1, sizeof *batch);

    if (!batch)
        return NULL;
    batch->peer = (mcp__peer){ .answer = answer,
                               .notify = notify,
                               .is_slow = is_slow,
                               .no_reply = no_reply,
                               .abort = abort_request };
    batch->behind = behind;
    batch->pending = count;
    batch->max_bytes = max_bytes + 2;
    mcp_buf_init(&batch->array, batch->max_bytes);
    return &batch->peer;
}
