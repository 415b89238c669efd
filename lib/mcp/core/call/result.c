/*
 * result.c - the envelope around a result that is already written, and errors.
 *
 * A handler's result is embedded as the bytes it is, not read again. The cause of an internal
 * error, an I/O error or lack of memory goes to the log, and the client gets the constant words of
 * the status.
 *
 * Labels of durations come from tables of the program, never from clients: a method that does not
 * exist, and a tool that is not registered, count as "other". MCP__DURATIONS_MAX bounds what
 * features that come and go may add.
 */
#include "mcp/core/call/result.h"
#include "mcp/core/call/input_requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena_int.h"
#include "mcp/clock.h"
#include "mcp/core/response.h"
#include "mcp/core/version.h"

#define OTHER "other" /* a method or a tool that does not exist */

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
    const char *identity = call->answer.identity ? call->answer.identity : call->context->identity;

    if (!is_known("serverInfo", call->request.revision))
        identity = NULL;
    if (!identity && !notes)
        return;
    mcp_write_member_object(writer, "_meta");
    if (identity) {
        mcp_write_name(writer, "io.modelcontextprotocol/serverInfo");
        mcp_write_raw(writer, identity, strlen(identity));
    }
    mcp__call_write_notes(notes, writer);
    mcp_write_end(writer);
}

/* The members that every result has, where the revision knows them. */
static void write_common(const mcp_call *call, mcp_json_writer *writer)
{
    write_type(writer, call->answer.result_type ? call->answer.result_type : "complete",
               call->request.revision);
    if (call->answer.caching.is_stated && !call->answer.result_type &&
        is_known("ttlMs", call->request.revision)) {
        mcp_write_member_int(writer, "ttlMs", call->answer.caching.ttl_ms);
        mcp_write_member_string(writer, "cacheScope",
                                call->answer.caching.is_public ? "public" : "private");
    }
    write_meta(call, call->answer.notes, writer);
}

/* The members are there as text already: the common ones are written behind them. */
static mcp_status write_plain_result(mcp_call *call, mcp_json_writer *writer)
{
    mcp_json_writer *result = mcp_call_result(call);

    while (result->depth > 1 && result->status == MCP_OK)
        mcp_write_end(result);
    write_common(call, result);
    mcp_status st = mcp__draft_end(&call->answer.result);
    if (st == MCP_OK)
        mcp_write_raw(writer, call->answer.result.text.data, call->answer.result.text.length);
    return st;
}

/* ---- results that are begun early ------------------------------------------------------------ */

/* What render_result and `finish` write before the first block. */
static void begin_blocks(const mcp_call *call, mcp_json_writer *writer, mcp_buf *out)
{
    mcp__response_begin(writer, out, call->request.id, call->request.revision);
    mcp_write_member_object(writer, "result");
    mcp_write_member_array(writer, call->plan.kind->blocks);
}

void mcp__result_begin(mcp_call *call)
{
    mcp_json_writer writer;

    begin_blocks(call, &writer, &call->answer.content.text);
    call->answer.head_length = call->answer.content.text.length;
}

bool mcp__result_is_in_place(const mcp_call *call)
{
    return call->answer.head_length > call->answer.content.text.length;
}

const char *mcp__result_blocks(const mcp_call *call, size_t *length)
{
    *length = mcp__result_is_in_place(call)
                  ? 0
                  : call->answer.content.text.length - call->answer.head_length;
    return *length > 0 ? call->answer.content.text.data + call->answer.head_length : NULL;
}

/* Whether the message that was begun is the one that is sent. The writer's state is that of another
 * one that writes the same. */
static bool take_begun(mcp_call *call, mcp_json_writer *writer)
{
    mcp_buf none = call->answer.message;

    if (call->answer.head_length == 0 || call->answer.error_text || call->answer.result_type ||
        call->answer.result.holds != MCP__DRAFT_EMPTY)
        return false;
    begin_blocks(call, writer, &none);
    bool is_begun = mcp_json_writer_status(writer) == MCP_OK;
    mcp_buf_clear(&none);
    if (!is_begun)
        return false;
    call->answer.message = call->answer.content.text;
    call->answer.content.text = none;
    writer->buf = &call->answer.message;
    return true;
}

/* ---- results --------------------------------------------------------------------------------- */

static mcp_status write_result(mcp_call *call, mcp_json_writer *writer, bool is_begun)
{
    const mcp__call_kind *kind = call->plan.kind;
    mcp_status st = MCP_OK;

    if (!kind->finish && !call->answer.error_text)
        return write_plain_result(call, writer);
    if (!is_begun)
        mcp_write_object(writer);
    if (call->answer.error_text)
        kind->fail(writer, call->answer.error_text, call->answer.error_text_length);
    else
        st = kind->finish(call, writer);
    if (st == MCP_OK) {
        write_common(call, writer);
        mcp_write_end(writer);
    }
    return st;
}

static mcp_status render_result(mcp_call *call)
{
    /* Both the text and the structured form of a tool's result are in the message: reserve room for
     * both. */
    size_t expected = call->answer.result.text.length * 5 / 2 + call->answer.content.text.length +
                      256;
    mcp_json_writer writer;

    bool is_begun = take_begun(call, &writer);
    if (!is_begun && expected < call->answer.message.max_bytes && !call->answer.error_text)
        (void)mcp_buf_reserve(&call->answer.message, expected);
    if (!is_begun) {
        mcp__response_begin(&writer, &call->answer.message, call->request.id,
                            call->request.revision);
        mcp_write_name(&writer, "result");
    }
    mcp_status st = write_result(call, &writer, is_begun);
    if (st != MCP_OK)
        return st;
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

void mcp__result_log(const mcp_call *call, const mcp_error *err)
{
    mcp_call_log_line(call, MCP_LOG_ERROR, "%s: %s: %s", mcp_call_name(call),
                      mcp_status_name(err->status), err->message);
}

static void render_error(mcp_call *call, mcp_status status)
{
    bool is_hidden = mcp__response_is_hidden(status);
    const char *message = call->err.message;

    call->answer.error = status;
    if (is_hidden) {
        call->err.status = status;
        mcp__result_log(call, &call->err);
    }
    if (is_hidden || message[0] == '\0')
        message = mcp_status_words(status);
    (void)mcp__draft_end(&call->answer.error_data);
    mcp_buf_reset(&call->answer.message);
    if (mcp__response_write_error(&call->answer.message, call->request.id, call->request.revision,
                                  status, message,
                                  is_hidden ? NULL : &call->answer.error_data.text) != MCP_OK)
        mcp_buf_clear(&call->answer.message);
}

/* The result was there but cannot be sent: say why, and how a smaller one can be had. */
static mcp_status unsendable(mcp_call *call, mcp_status st)
{
    const mcp__draft *result = &call->answer.result;

    mcp_buf_clear(&call->answer.error_data.text);
    call->answer.error_data.holds = MCP__DRAFT_EMPTY;
    if (st == MCP_E_LIMIT && call->err.status == st)
        return st; /* the writer of the result has said what was too large */
    if (result->holds != MCP__DRAFT_EMPTY && result->text.status == MCP_OK &&
        result->writer.status == MCP_E_LIMIT)
        return mcp_error_set(&call->err, st,
                             "the answer has more than %d levels of arrays and objects",
                             MCP_JSON_DEPTH_MAX);
    if (st == MCP_E_LIMIT)
        return mcp_error_set(&call->err, st, "the answer is larger than %zu bytes: ask for less",
                             call->context->options->limits.reply_max_bytes);
    if (st == MCP_E_PARAMS)
        return mcp_error_set(&call->err, MCP_E_INTERNAL,
                             "the answer holds a number or a text that JSON cannot");
    return mcp_error_set(&call->err, st, "the answer cannot be written");
}

/* A capability that the client lacks has no code within a session, and input that it refused has
 * none anywhere: the model is notified by a tool error, and may do without the tool. */
static bool is_for_model(const mcp_call *call)
{
    if (!call->plan.kind->fail)
        return false;
    if (call->status == MCP_E_CAPABILITY)
        return !mcp__call_is_stateless(call);
    return call->status == MCP_E_UNSUPPORTED && call->input.is_refused;
}

/* The status that the handler meant. */
static void settle_status(mcp_call *call)
{
    if (call->status == MCP_E_INPUT_REQUIRED && !call->input.requests)
        call->status = call->input.status != MCP_OK
                           ? call->input.status
                           : mcp_error_set(&call->err, MCP_E_INTERNAL,
                                           "the handler waits for input that it did not request");
    if (is_for_model(call)) {
        (void)mcp_call_tool_error(call, "%s", call->err.message);
        call->status = call->answer.error_text ? MCP_OK : MCP_E_NOMEM;
    }
}

/* Other calls have the memory: that is no fault of the server's, and passes. */
static void settle_memory(mcp_call *call)
{
    if (call->status != MCP_E_NOMEM || mcp__arena_failure(call->arena) != MCP_E_BUSY)
        return;
    call->status = mcp_error_set(&call->err, MCP_E_BUSY,
                                 "the server's memory for calls is in use: "
                                 "try again when others have ended");
    if (call->plan.kind->fail &&
        mcp_call_tool_error_text(call, call->err.message, strlen(call->err.message)) == MCP_OK)
        call->status = MCP_OK;
}

static const mcp__call_kind input_required_kind = { .finish = mcp__input_requests_write };

/* Without a session the requests for input are the result; within one, and of a task, the loop
 * sends them when the worker is done. @return true: there is nothing to render */
static bool is_left_waiting(mcp_call *call)
{
    if (call->status != MCP_E_INPUT_REQUIRED)
        return false;
    if (!mcp__call_is_stateless(call) || call->task.entry)
        return true;
    call->status = MCP_OK;
    call->answer.content.status = MCP_OK;
    call->answer.error_text = NULL;
    call->answer.result_type = "input_required";
    call->plan.kind = &input_required_kind;
    return false;
}

void mcp__result_render(mcp_call *call)
{
    if (call->status == MCP_E_INPUT_REQUIRED && call->task.begins == MCP__TASK_BY_HANDLER)
        return;
    settle_status(call);
    settle_memory(call);
    if (is_left_waiting(call))
        return;
    mcp__draft *content = &call->answer.content;
    mcp_status st = call->status;

    if (st == MCP_OK && call->answer.error_text && !call->plan.kind->fail) {
        st = mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "%s", call->answer.error_text);
    } else if (st == MCP_OK) {
        if (!call->answer.error_text && content->status == MCP_OK &&
            content->holds == MCP__DRAFT_STRING)
            content->status = mcp_error_set(&call->err, MCP_E_INTERNAL,
                                            "a text of the answer was not ended");
        st = call->answer.error_text ? MCP_OK : content->status;
        if (st == MCP_OK)
            st = render_result(call);
        if (st == MCP_OK)
            return;
        if (st != MCP_E_INTERNAL) /* a `finish` that found a fault has said which */
            st = unsendable(call, st);
    }
    render_error(call, st);
}

void mcp__call_render(mcp_call *call)
{
    if (call->plan.kind->render)
        call->plan.kind->render(call);
    else
        mcp__result_render(call);
}

/* ---- how long requests take ------------------------------------------------------------------ */

/* clang-format off */
const struct mcp__duration_bound mcp__duration_bounds[MCP__DURATION_BOUNDS] = {
    { 100000, "0.0001" },     { 500000, "0.0005" },   { 1000000, "0.001" },
    { 5000000, "0.005" },     { 10000000, "0.01" },   { 20000000, "0.02" },
    { 50000000, "0.05" },     { 100000000, "0.1" },   { 200000000, "0.2" },
    { 500000000, "0.5" },     { 1000000000, "1.0" },  { 2000000000, "2.0" },
    { 5000000000, "5.0" },    { 10000000000, "10.0" }, { 30000000000, "30.0" },
    { 60000000000, "60.0" },  { 120000000000, "120.0" }, { 300000000000, "300.0" },
};
/* clang-format on */

void mcp__histogram_add(mcp__histogram *histogram, int64_t ns)
{
    size_t bucket = 0;

    while (bucket < MCP__DURATION_BOUNDS && ns > mcp__duration_bounds[bucket].ns)
        bucket++;
    histogram->counts[bucket]++;
    histogram->sum_ns += ns > 0 ? (uint64_t)ns : 0;
}

void mcp__durations_init(mcp__durations *durations)
{
    mcp__map_init(&durations->map, NULL);
    durations->first = durations->last = NULL;
    durations->end = &durations->first;
}

void mcp__durations_clear(mcp__durations *durations)
{
    while (durations->first) {
        mcp__duration *duration = durations->first;
        durations->first = duration->next;
        free(duration);
    }
    mcp__map_clear(&durations->map);
}

/* Method, name and error type, each with its NUL. */
struct key {
    char text[MCP__DURATION_NAMES_MAX];
    size_t length, name_at, error_at;
};

/* @return false: the names are too long */
static bool make_key(struct key *key, const mcp_ended *ended)
{
    const char *words[] = { ended->method, ended->name ? ended->name : "",
                            ended->error_type ? ended->error_type : "" };
    size_t at[3];

    key->length = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]) + 1;
        if (length > sizeof key->text - key->length)
            return false;
        at[i] = key->length;
        memcpy(key->text + at[i], words[i], length);
        key->length += length;
    }
    key->name_at = at[1];
    key->error_at = at[2];
    return true;
}

/* The names are one block behind the struct. @return NULL: no memory */
static mcp__duration *add_series(mcp__durations *durations, const struct key *key, bool is_route)
{
    mcp__duration *duration = mcp_alloc_zeroed(1, sizeof *duration + key->length);

    if (!duration)
        return NULL;
    char *text = memcpy(duration + 1, key->text, key->length);
    duration->method = text;
    duration->name = text + key->name_at;
    duration->error_type = text + key->error_at;
    duration->is_route = is_route;
    if (mcp__map_put(&durations->map, text, key->length, duration) != MCP_OK) {
        free(duration);
        return NULL;
    }
    *durations->end = duration;
    durations->end = &duration->next;
    return duration;
}

static bool is_of(const mcp__duration *duration, const mcp_ended *ended)
{
    return duration && strcmp(duration->method, ended->method) == 0 &&
           strcmp(duration->name, ended->name ? ended->name : "") == 0 &&
           strcmp(duration->error_type, ended->error_type ? ended->error_type : "") == 0;
}

/* @return NULL: no memory */
static mcp__duration *find_series(mcp__durations *durations, const mcp_ended *ended)
{
    const mcp_ended other = { .method = OTHER };
    bool is_other = false;
    struct key key;

    if (!make_key(&key, ended))
        is_other = make_key(&key, &other);
    mcp__duration *duration = mcp__map_get(&durations->map, key.text, key.length);
    if (!duration && durations->map.count >= MCP__DURATIONS_MAX - 1 && !is_other) {
        is_other = make_key(&key, &other);
        duration = mcp__map_get(&durations->map, key.text, key.length);
    }
    return duration ? duration : add_series(durations, &key, ended->is_route && !is_other);
}

void mcp__durations_add(mcp__durations *durations, const mcp_ended *ended)
{
    if (!is_of(durations->last, ended))
        durations->last = find_series(durations, ended);
    if (durations->last) /* figures are not worth an error for want of memory */
        mcp__histogram_add(&durations->last->times, ended->duration_ns);
}

/* ---- the end of a call ----------------------------------------------------------------------- */

#define ERROR_TYPE_SIZE 16

void mcp__result_ended(mcp_call *call, const char *error_type)
{
    const mcp_server_options *options = call->context->options;
    mcp__durations *durations = call->context->durations;
    bool is_tool = call->plan.method && strcmp(call->plan.method, "tools/call") == 0;
    mcp_ended ended = { .method = call->plan.method ? call->plan.method : OTHER,
                        .is_route = call->plan.kind->http_status != NULL,
                        .is_task = call->task.entry != NULL,
                        .error_type = error_type,
                        .session_id = call->context->session_id,
                        .transport = call->request.transport };

    if (call->began_ns == 0)
        return;
    if (ended.is_route || (is_tool && call->plan.flags != 0))
        ended.name = call->request.name;
    ended.duration_ns = mcp_clock_mono_ns() - call->began_ns;
    call->began_ns = 0;
    if (durations)
        mcp__durations_add(durations, &ended);
    if (options->ended)
        options->ended(call, &ended, options->ended_data);
}

static const char *number(char room[ERROR_TYPE_SIZE], int value)
{
    (void)snprintf(room, ERROR_TYPE_SIZE, "%d", value);
    return room;
}

/* @param fault as of mcp__call_kind.http_status */
static const char *error_type(char room[ERROR_TYPE_SIZE], const mcp_call *call, mcp_status fault)
{
    const mcp__call_kind *kind = call->plan.kind;
    int http = kind->http_status ? kind->http_status(call, fault) : 0;

    if (kind->http_status)
        return http >= 400 ? number(room, http) : NULL;
    if (fault == MCP_E_TIMEOUT)
        return "timeout";
    if (fault == MCP_OK && call->answer.error_text && call->answer.error == MCP_OK)
        return "tool_error";
    mcp_status st = fault == MCP_OK ? call->answer.error : fault;
    return st == MCP_OK ? NULL : number(room, mcp__response_code(st, call->request.revision));
}

/* ---- on the loop ----------------------------------------------------------------------------- */

void mcp__result_send(mcp_call *call)
{
    char room[ERROR_TYPE_SIZE];
    mcp__peer *peer = call->peer;

    if (call->answer.message.length == 0 && !call->plan.kind->may_be_empty) {
        mcp__result_send_fault(call, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
        return;
    }
    peer->http_status = mcp__response_http(call->status, call->request.revision);
    peer->fault = MCP_OK;
    peer->scopes_needed = call->status == MCP_E_SCOPE ? call->answer.scopes_needed : NULL;
    mcp__result_ended(call, error_type(room, call, MCP_OK));
    peer->answer(peer, &call->answer.message);
}

void mcp__result_send_fault(mcp_call *call, mcp_status status, const char *message)
{
    char room[ERROR_TYPE_SIZE];

    mcp__result_ended(call, error_type(room, call, status));
    mcp__response_error(call->context, call->peer, call->request.id, call->request.revision, status,
                        message);
}

static mcp_status write_timeout(mcp_buf *out, const mcp_call *call)
{
    mcp_json_writer writer;
    mcp_error words = MCP_ERROR_INIT;

    (void)mcp_error_set(&words, MCP_E_TIMEOUT, "%s ran longer than its time limit of %d ms",
                        mcp_call_name(call), call->plan.timeout_ms);
    if (!call->plan.kind->fail)
        return mcp__response_write_error(out, call->request.id, call->request.revision,
                                         MCP_E_TIMEOUT, words.message, NULL);
    mcp__response_begin(&writer, out, call->request.id, call->request.revision);
    mcp_write_member_object(&writer, "result");
    call->plan.kind->fail(&writer, words.message, strlen(words.message));
    write_type(&writer, "complete", call->request.revision);
    write_meta(call, NULL, &writer);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

void mcp__result_count_mismatch(const mcp_call *call)
{
    if (call->context->mismatches)
        (void)atomic_fetch_add_explicit(call->context->mismatches, 1, memory_order_relaxed);
}

void mcp__result_send_timeout(mcp_call *call)
{
    char room[ERROR_TYPE_SIZE];
    mcp__peer *peer = call->peer;
    mcp_buf message;

    mcp_buf_init(&message, call->context->options->limits.reply_max_bytes);
    mcp__result_ended(call, error_type(room, call, MCP_E_TIMEOUT));
    peer->http_status = 200;
    peer->fault = MCP_E_TIMEOUT;
    if (write_timeout(&message, call) == MCP_OK)
        peer->answer(peer, &message);
    else
        mcp__result_send_fault(call, MCP_E_TIMEOUT, mcp_status_words(MCP_E_TIMEOUT));
    mcp_buf_clear(&message);
}
