/*
 * reply.c - the envelope around a result that is already written, and errors.
 *
 * A handler's result is embedded as the bytes it is, not read again. What the client must not learn
 * (the cause of an internal error, an I/O error, lack of memory) goes to the log, and the client
 * gets the status's constant words.
 *
 * When the id of a request could not be read, JSON-RPC wants null; the schemas of MCP know no null,
 * and from 2025-11-25 they let the id be left out.
 */
#include "mcp/core/call/reply.h"

#include <string.h>

#include "base/arena_int.h"
#include "mcp/core/fields.h"
#include "mcp/core/outcome.h"
#include "mcp/core/session/session.h"

static void write_head(mcp_json_writer *writer, mcp_buf *out, const mcp_json *id,
                       mcp_revision revision)
{
    mcp_json_writer_init(writer, out);
    mcp_write_object(writer);
    mcp_write_member_string(writer, "jsonrpc", "2.0");
    if (id || revision < MCP_2025_11_25)
        mcp_write_member_value(writer, "id", id);
}

static void write_error(mcp_json_writer *writer, mcp_revision revision, mcp_status status,
                        const char *message, const mcp_buf *data)
{
    mcp_write_member_object(writer, "error");
    mcp_write_member_int(writer, "code", mcp__outcome_code(status, revision));
    mcp_write_member_string(writer, "message", message);
    if (data && data->length > 0) {
        mcp_write_name(writer, "data");
        mcp_write_raw(writer, data->data, data->length);
    }
    mcp_write_end(writer);
    mcp_write_end(writer);
}

mcp_status mcp__reply_error(mcp_buf *out, const mcp_json *id, mcp_revision revision,
                            mcp_status status, const char *message)
{
    mcp_json_writer writer;

    write_head(&writer, out, id, revision);
    write_error(&writer, revision, status, message, NULL);
    return mcp_json_writer_status(&writer);
}

static void end_all(mcp_json_writer *writer)
{
    while (writer->depth > 0 && writer->status == MCP_OK)
        mcp_write_end(writer);
}

static bool is_known(const char *member, mcp_revision revision)
{
    return mcp__field_is_known("Result", member, revision);
}

static void write_type(mcp_json_writer *writer, const char *type, mcp_revision revision)
{
    if (is_known("resultType", revision))
        mcp_write_member_string(writer, "resultType", type);
}

static void write_meta(const mcp_call *call, const mcp__note *notes, mcp_json_writer *writer)
{
    const char *identity = call->session ? call->session->setup.identity : NULL;

    if (!is_known("serverInfo", call->revision))
        identity = NULL;
    if (!identity && !notes)
        return;
    mcp_write_member_object(writer, "_meta");
    if (identity) {
        mcp_write_name(writer, "io.modelcontextprotocol/serverInfo");
        mcp_write_raw(writer, identity, strlen(identity));
    }
    for (; notes; notes = notes->next) {
        mcp_write_name(writer, notes->name);
        mcp_write_raw(writer, notes->json, strlen(notes->json));
    }
    mcp_write_end(writer);
}

/* What a result has beside its own members, where the revision knows it. */
static void write_common(const mcp_call *call, mcp_json_writer *writer)
{
    write_type(writer, call->result_type ? call->result_type : "complete", call->revision);
    if (call->caching.is_told && !call->result_type && is_known("ttlMs", call->revision)) {
        mcp_write_member_int(writer, "ttlMs", call->caching.ttl_ms);
        mcp_write_member_string(writer, "cacheScope",
                                call->caching.is_public ? "public" : "private");
    }
    write_meta(call, call->notes, writer);
}

/* The members are there as text already: the rest is written behind them. */
static mcp_status write_plain_result(mcp_call *call, mcp_json_writer *writer)
{
    mcp_json_writer *result = mcp_call_result(call);

    while (result->depth > 1 && result->status == MCP_OK)
        mcp_write_end(result);
    write_common(call, result);
    end_all(result);
    mcp_status st = mcp_json_writer_status(result);
    if (st == MCP_OK)
        mcp_write_raw(writer, call->result.data, call->result.length);
    return st;
}

/* ---- results that are begun early -------------------------------------------------------------- */

/* What render_result and the finisher of tools write before the first block. */
void mcp__reply_begin(mcp_call *call)
{
    mcp_json_writer *writer = &call->head_writer;

    write_head(writer, &call->content, call->id, call->revision);
    mcp_write_member_object(writer, "result");
    mcp_write_member_array(writer, "content");
    call->head_length = call->content.length;
}

const char *mcp__reply_blocks(const mcp_call *call, size_t *length)
{
    *length = call->content.length - call->head_length;
    return *length > 0 ? call->content.data + call->head_length : NULL;
}

/* Whether the message that was begun is the one that is sent. */
static bool take_begun(mcp_call *call, mcp_json_writer *writer)
{
    mcp_buf none = call->reply;

    if (call->head_length == 0 || !call->finish || call->is_refused || call->result_begun ||
        call->result_type)
        return false;
    mcp_buf_clear(&none);
    call->reply = call->content;
    call->content = none;
    call->is_in_place = true;
    *writer = call->head_writer;
    writer->buf = &call->reply;
    return true;
}

/* ---- results ----------------------------------------------------------------------------------- */

static mcp_status write_finished_result(mcp_call *call, mcp_json_writer *writer)
{
    mcp_status st;

    if (!call->is_in_place)
        mcp_write_object(writer);
    st = call->finish(call, writer);
    if (st == MCP_OK) {
        write_common(call, writer);
        mcp_write_end(writer);
    }
    return st;
}

static void begin_result(mcp_call *call, mcp_json_writer *writer)
{
    /* Both the text and the structured form of a tool's result are in the reply: spare it from
     * growing step by step. */
    size_t expected = call->result.length * 5 / 2 + call->content.length + 256;

    if (expected < call->reply.max_bytes && !call->is_refused)
        (void)mcp_buf_reserve(&call->reply, expected);
    write_head(writer, &call->reply, call->id, call->revision);
    mcp_write_name(writer, "result");
}

static mcp_status render_result(mcp_call *call)
{
    mcp_json_writer writer;

    if (!take_begun(call, &writer))
        begin_result(call, &writer);
    mcp_status st = call->finish ? write_finished_result(call, &writer)
                                 : write_plain_result(call, &writer);
    if (st != MCP_OK)
        return st;
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

void mcp__reply_log(const mcp_call *call, const mcp_error *err)
{
    mcp_log_write(&call->options->log, MCP_LOG_ERROR, "%s: %s: %s", mcp_call_name(call),
                  mcp_status_name(err->status), err->message);
}

static void render_error(mcp_call *call, mcp_status status)
{
    const char *message = call->err.message;
    mcp_json_writer writer;

    if (mcp__outcome_is_hidden(status)) {
        call->err.status = status;
        mcp__reply_log(call, &call->err);
    }
    if (mcp__outcome_is_hidden(status) || message[0] == '\0')
        message = mcp_status_words(status);
    end_all(&call->error_data_writer);
    mcp_buf_reset(&call->reply);
    write_head(&writer, &call->reply, call->id, call->revision);
    write_error(&writer, call->revision, status, message,
                mcp__outcome_is_hidden(status) ? NULL : &call->error_data);
    if (mcp_json_writer_status(&writer) != MCP_OK)
        mcp_buf_clear(&call->reply);
}

/* The result was there but cannot be sent: say why in words that help the one who asked. */
static mcp_status unsendable(mcp_call *call, mcp_status st)
{
    mcp_buf_clear(&call->error_data);
    call->error_data_begun = false;
    if (st == MCP_E_LIMIT && call->err.status == st)
        return st; /* whoever wrote it has said what was too large */
    if (st == MCP_E_LIMIT)
        return mcp_error_set(&call->err, st, "the answer is larger than %zu bytes: ask for less",
                             call->options->reply_max_bytes);
    if (st == MCP_E_PARAMS)
        return mcp_error_set(&call->err, MCP_E_INTERNAL,
                             "the answer holds a number or a text that JSON cannot");
    return mcp_error_set(&call->err, st, "the answer cannot be written");
}

/* What a client lacks has no code within a session, and what it refused to answer nowhere: the model is
 * told, which may do without the tool. */
static bool is_for_model(const mcp_call *call)
{
    if (!call->is_tool)
        return false;
    if (call->status == MCP_E_CAPABILITY)
        return call->revision <= MCP_REVISION_NEWEST_SESSION;
    return call->status == MCP_E_UNSUPPORTED && call->asking.is_refused;
}

/* The status that the handler meant. */
static void settle_status(mcp_call *call)
{
    if (call->status == MCP_E_ASKED && !call->asking.questions)
        call->status = call->asking.status != MCP_OK
                           ? call->asking.status
                           : mcp_error_set(&call->err, MCP_E_INTERNAL,
                                           "the handler waits for an answer but asked nothing");
    if (is_for_model(call)) {
        (void)mcp_call_refuse(call, "%s", call->err.message);
        call->status = call->is_refused ? MCP_OK : MCP_E_NOMEM;
    }
}

/* Others have the memory: that is no fault of the server's, and passes. */
static void tell_starved(mcp_call *call)
{
    if (call->status != MCP_E_NOMEM || mcp__arena_failure(call->arena) != MCP_E_BUSY)
        return;
    call->status = mcp_error_set(
        &call->err, MCP_E_BUSY,
        "the server's memory for calls is in use: try again when others have "
        "ended");
    if (call->is_tool &&
        mcp_call_refuse_text(call, call->err.message, strlen(call->err.message)) == MCP_OK)
        call->status = MCP_OK;
}

/* Without a session the questions are the result; within one, and of a task, the loop sees to them when the
 * worker is done. */
static bool is_left_asking(mcp_call *call)
{
    if (call->status != MCP_E_ASKED)
        return false;
    if (call->revision <= MCP_REVISION_NEWEST_SESSION || call->as_task)
        return true;
    call->status = MCP_OK;
    call->content_status = MCP_OK;
    call->is_refused = false;
    call->result_type = "input_required";
    call->finish = mcp__asking_write;
    return false;
}

static mcp_status content_status(mcp_call *call)
{
    if (call->content_status == MCP_OK && call->is_text_open)
        return mcp_error_set(&call->err, MCP_E_INTERNAL, "a text of the answer was not ended");
    return call->content_status;
}

void mcp__reply_render(mcp_call *call)
{
    if (call->status == MCP_E_ASKED && call->wants_task)
        return;
    settle_status(call);
    tell_starved(call);
    if (is_left_asking(call))
        return;
    mcp_status st = call->status;

    if (st == MCP_OK && call->is_refused && !call->is_tool) {
        st = mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "%s", call->refusal);
    } else if (st == MCP_OK) {
        st = call->is_refused ? MCP_OK : content_status(call);
        if (st == MCP_OK)
            st = render_result(call);
        if (st == MCP_OK)
            return;
        if (st != MCP_E_INTERNAL) /* a finisher that found a fault has said which */
            st = unsendable(call, st);
    }
    render_error(call, st);
}

mcp_status mcp__reply_timeout(mcp_buf *out, const mcp_call *call)
{
    mcp_json_writer writer;
    mcp_error words = MCP_ERROR_INIT;

    (void)mcp_error_set(&words, MCP_E_TIMEOUT, "%s ran longer than its time limit of %d ms",
                        mcp_call_name(call), call->timeout_ms);
    if (!call->is_tool)
        return mcp__reply_error(out, call->id, call->revision, MCP_E_TIMEOUT, words.message);
    write_head(&writer, out, call->id, call->revision);
    mcp_write_member_object(&writer, "result");
    mcp_write_member_array(&writer, "content");
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "type", "text");
    mcp_write_member_string(&writer, "text", words.message);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp_write_member_bool(&writer, "isError", true);
    write_type(&writer, "complete", call->revision);
    write_meta(call, NULL, &writer);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}
