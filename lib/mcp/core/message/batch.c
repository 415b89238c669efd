/*
 * batch.c - answers of one batch on their way into one array.
 *
 * JSON-RPC wants the answers of a batch in one array, in any order, and nothing at all when it held
 * only notifications. Each message of the batch ends here exactly once, so a count is all the state
 * there is. Notifications of its calls do not pass here: they go to the peer behind at once.
 */
#include "mcp/core/message/batch.h"

#include <stdlib.h>

#include "base/alloc.h"

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
    if (is_short && behind->abort)
        behind->abort(behind);
    else if (is_short || is_empty)
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
    end_one((gathering *)peer);
}

mcp_status mcp__batch_new(mcp__peer **out, mcp__peer *behind, size_t count, size_t max_bytes,
                          mcp_error *err)
{
    gathering *batch = mcp_alloc_zeroed(1, sizeof *batch);

    if (!batch)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a batch");
    *batch = (gathering){
        .peer = { .answer = answer,
                  .notify = notify,
                  .is_slow = is_slow,
                  .no_reply = no_reply,
                  .abort = abort_request },
        .behind = behind,
        .pending = count,
        .max_bytes = max_bytes + 2,
    };
    mcp_buf_init(&batch->array, batch->max_bytes);
    *out = &batch->peer;
    return MCP_OK;
}
