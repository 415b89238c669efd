/*
 * call.c - a call's life, and what a handler may ask it.
 *
 * A call lives in its own arena together with its message, so one free ends its JSON, its strings
 * and itself; only the buffers, whose size is not known beforehand, are outside.
 *
 * The accessors of arguments look in three places: what the client sent, the `default` of the input
 * schema, and the caller's fallback.
 *
 * A call is open from the moment it was accepted until it is answered, timed out or cancelled. Only
 * open calls can be found, so the id is free again at once, even while a worker still has the call.
 * The table allocates nothing: all links are in the call. At most calls_max_running +
 * calls_max_queued calls are open, so 256 buckets keep the chains short.
 */
#include "mcp/call.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/utf8.h"
#include "mcp/clock.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/call/input_requests.h"
#include "mcp/core/call/suspend.h"

const mcp__call_kind mcp__plain_kind = { .finish = NULL };

mcp_status mcp__call_new(mcp_call **out, mcp_arena *arena, const mcp__context *context,
                         mcp_error *err)
{
    mcp_call *call = mcp_arena_alloc(arena, sizeof *call);
    size_t max_bytes = context->options->limits.reply_max_bytes;

    if (!call)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a call");
    call->arena = arena;
    call->began_ns = mcp_clock_mono_ns();
    call->context = context;
    call->err = (mcp_error)MCP_ERROR_INIT;
    call->request.arguments = context->no_arguments;
    call->request.steps = mcp__steps_for(0, 1);
    call->plan.kind = &mcp__plain_kind;
    mcp_buf_init(&call->answer.result.text, max_bytes);
    mcp_buf_init(&call->answer.content.text, max_bytes);
    mcp_buf_init(&call->answer.error_data.text, max_bytes);
    mcp_buf_init(&call->answer.message, max_bytes);
    mcp__progress_init(&call->progress);
    atomic_init(&call->has_posted, false);
    atomic_init(&call->state, MCP__CALL_QUEUED);
    atomic_init(&call->stop, MCP_STOP_NONE);
    *out = call;
    return MCP_OK;
}

static void draft_clear(mcp__draft *draft)
{
    mcp_buf_clear(&draft->text);
    draft->holds = MCP__DRAFT_EMPTY;
    draft->status = MCP_OK;
}

static void clear_buffers(mcp_call *call)
{
    draft_clear(&call->answer.result);
    draft_clear(&call->answer.content);
    draft_clear(&call->answer.error_data);
    mcp_buf_clear(&call->answer.message);
}

void mcp__call_free(mcp_call *call)
{
    if (!call)
        return;
    if (call->features)
        call->context->drop(call->features);
    if (call->plan.kind->release)
        call->plan.kind->release(call);
    clear_buffers(call);
    mcp__progress_clear(&call->progress);
    if (call->input.responses)
        mcp__input_requests_clear(&call->input);
    mcp_arena_free(call->arena);
}

void mcp__call_reset(mcp_call *call)
{
    clear_buffers(call);
    call->err = (mcp_error)MCP_ERROR_INIT;
    call->status = MCP_OK;
    call->answer.head_length = 0;
    call->answer.error_text = NULL;
    call->answer.error = MCP_OK;
    call->answer.placeholders = NULL;
    call->answer.contents_meta = NULL;
    call->answer.handed_on = NULL;
    call->answer.scopes_needed = NULL;
    call->input.requests = NULL;
    call->input.elicitations = NULL;
    call->input.status = MCP_OK;
    call->input.state = call->input.next_state;
    call->input.next_state = NULL;
}

/* ---- what was asked -------------------------------------------------------------------------- */

const mcp_json *mcp_call_arguments(const mcp_call *call)
{
    return call->request.arguments ? call->request.arguments : call->context->no_arguments;
}

/* The schema of a property may be a `$ref` into the same document, one step. */
static const mcp_json *property_default(const mcp_call *call, const char *name)
{
    const mcp_json *property = mcp_json_get(mcp_json_get(call->plan.schema, "properties"), name);
    const mcp_json *found = mcp_json_get(property, "default");
    const char *reference = found ? NULL : mcp_json_get_string(property, "$ref");

    if (reference && reference[0] == '#')
        found = mcp_json_get(mcp_json_pointer(call->plan.schema, reference + 1), "default");
    return mcp_json_is_null(found) ? NULL : found;
}

const mcp_json *mcp_arg_json(const mcp_call *call, const char *name)
{
    const mcp_json *value = mcp_json_get(call->request.arguments, name);

    return value && !mcp_json_is_null(value) ? value : property_default(call, name);
}

const char *mcp_arg_string(const mcp_call *call, const char *name)
{
    size_t length = 0;
    const char *text = mcp_json_string(mcp_arg_json(call, name), &length);

    return text && !memchr(text, '\0', length) ? text : NULL;
}

int64_t mcp_arg_int(const mcp_call *call, const char *name, int64_t fallback)
{
    const mcp_json *value = mcp_arg_json(call, name);
    int64_t number = fallback;
    double real;

    if (mcp_json_int(value, &number))
        return number;
    /* JSON Schema calls 2.0 an integer, so one may come. */
    if (mcp_json_double(value, &real) && real >= (double)INT64_MIN && real < -(double)INT64_MIN &&
        trunc(real) == real)
        return (int64_t)real;
    return fallback;
}

double mcp_arg_double(const mcp_call *call, const char *name, double fallback)
{
    double number = fallback;

    return mcp_json_double(mcp_arg_json(call, name), &number) ? number : fallback;
}

bool mcp_arg_bool(const mcp_call *call, const char *name, bool fallback)
{
    bool flag = fallback;

    return mcp_json_bool(mcp_arg_json(call, name), &flag) ? flag : fallback;
}

const char *mcp_call_name(const mcp_call *call)
{
    return call->request.name ? call->request.name : call->request.method;
}

const mcp_json *mcp_call_id(const mcp_call *call)
{
    return call->request.id;
}

const mcp_json *mcp_call_meta(const mcp_call *call)
{
    return call->request.meta;
}

mcp_revision mcp_call_revision(const mcp_call *call)
{
    return call->request.revision;
}

/* ---- the call's own things ------------------------------------------------------------------- */

mcp_server *mcp_call_server(const mcp_call *call)
{
    return call->context->server;
}

mcp_arena *mcp_call_arena(mcp_call *call)
{
    return call->arena;
}

mcp_error *mcp_call_error(mcp_call *call)
{
    return &call->err;
}

mcp_stop mcp_call_stop(const mcp_call *call)
{
    return (mcp_stop)atomic_load_explicit(&call->stop, memory_order_relaxed);
}

void mcp__call_set_stop(mcp_call *call, mcp_stop why)
{
    int now = atomic_load_explicit(&call->stop, memory_order_relaxed);
    bool may = now == MCP_STOP_NONE || (why == MCP_STOP_CANCELLED &&
                                        (now == MCP_STOP_SHUTDOWN || now == MCP_STOP_CLIENT_GONE));

    /* Only the loop writes, so nothing can have come in between. */
    if (may)
        atomic_store_explicit(&call->stop, why, memory_order_relaxed);
}

void mcp__call_post(mcp_call *call, mcp__node *node)
{
    atomic_store_explicit(&call->has_posted, true, memory_order_relaxed);
    call->context->executor->post(call->context->executor, node);
}

/* ---- answering ------------------------------------------------------------------------------- */

/* The writer of a draft, which begins on the first use. */
static mcp_json_writer *draft_begin(mcp__draft *draft, bool is_object)
{
    if (draft->holds != MCP__DRAFT_EMPTY)
        return &draft->writer;
    draft->holds = is_object ? MCP__DRAFT_OBJECT : MCP__DRAFT_VALUE;
    mcp_json_writer_init(&draft->writer, &draft->text);
    if (is_object)
        mcp_write_object(&draft->writer);
    return &draft->writer;
}

mcp_status mcp__draft_end(mcp__draft *draft)
{
    while (draft->writer.depth > 0 && draft->writer.status == MCP_OK)
        mcp_write_end(&draft->writer);
    return mcp_json_writer_status(&draft->writer);
}

mcp_json_writer *mcp_call_result(mcp_call *call)
{
    return draft_begin(&call->answer.result, true);
}

mcp_json_writer *mcp_call_value(mcp_call *call)
{
    return draft_begin(&call->answer.result, false);
}

mcp_json_writer *mcp_call_error_data(mcp_call *call)
{
    return draft_begin(&call->answer.error_data, true);
}

void mcp_call_cache(mcp_call *call, int64_t ttl_ms, bool is_public)
{
    call->answer.caching.ttl_ms = ttl_ms > 0 ? ttl_ms : 0;
    call->answer.caching.is_public = is_public;
}

mcp_status mcp__call_note(mcp_call *call, const char *name, const char *json)
{
    mcp__note *fresh = mcp_arena_alloc(call->arena, sizeof *fresh);

    if (!fresh)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a note");
    *fresh = (mcp__note){ .name = name, .json = json, .next = call->answer.notes };
    call->answer.notes = fresh;
    return MCP_OK;
}

void mcp__call_write_notes(const mcp__note *notes, mcp_json_writer *writer)
{
    for (; notes; notes = notes->next) {
        mcp_write_name(writer, notes->name);
        mcp_write_raw(writer, notes->json, strlen(notes->json));
    }
}

/* `text` is the arena's. Bytes that are not UTF-8, of a file name perhaps, are replaced: the text
 * must arrive. */
static mcp_status set_error_text(mcp_call *call, char *text, size_t length)
{
    if (!text)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a tool error");
    if (!mcp__utf8_valid(text, length, NULL)) {
        mcp__utf8_tidy(text, length, length);
        length = strlen(text);
    }
    call->answer.error_text = text;
    call->answer.error_text_length = length;
    return MCP_OK;
}

mcp_status mcp_call_tool_error_text(mcp_call *call, const char *text, size_t length)
{
    length = text ? length : 0;
    return set_error_text(call, mcp_arena_strndup(call->arena, text, length), length);
}

mcp_status mcp_call_tool_error(mcp_call *call, const char *format, ...)
{
    va_list measured;
    va_list written;

    va_start(measured, format);
    va_copy(written, measured);
    int length = vsnprintf(NULL, 0, format, measured);
    va_end(measured);
    char *text = length < 0 ? NULL : mcp_arena_alloc(call->arena, (size_t)length + 1);
    if (text)
        (void)vsnprintf(text, (size_t)length + 1, format, written);
    va_end(written);
    return set_error_text(call, text, text ? (size_t)length : 0);
}

mcp_status mcp_call_set_placeholder(mcp_call *call, const char *place, const char *text)
{
    mcp__placeholder *fresh = mcp_arena_alloc(call->arena, sizeof *fresh);
    char *name = mcp_arena_strdup(call->arena, place);
    char *copy = mcp_arena_strdup(call->arena, text ? text : "");
    mcp__placeholder **end = &call->answer.placeholders;

    if (!place)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "a placeholder has no name");
    if (!fresh || !name || !copy)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a placeholder");
    *fresh = (mcp__placeholder){ .name = name, .text = copy };
    while (*end)
        end = &(*end)->next;
    *end = fresh;
    return MCP_OK;
}

/* ---- the table of open calls ----------------------------------------------------------------- */

void mcp__call_table_init(mcp__call_table *table)
{
    *table = (mcp__call_table){ .due_ms = INT64_MAX };
    TAILQ_INIT(&table->open);
    TAILQ_INIT(&table->queue);
}

static size_t bucket_of(const mcp_json *id)
{
    size_t length = 0;
    const char *text = mcp_json_string(id, &length);
    uint64_t number = 0;
    int64_t integer = 0;

    if (text)
        return mcp__map_hash(text, length) % MCP__CALL_BUCKETS;
    if (mcp_json_int(id, &integer))
        number = (uint64_t)integer;
    else
        (void)mcp_json_uint(id, &number);
    return mcp__map_hash((const char *)&number, sizeof number) % MCP__CALL_BUCKETS;
}

mcp_call *mcp__call_table_find_of(const mcp__call_table *table, const mcp_json *id,
                                  const mcp__peer *peer)
{
    mcp_call *call = peer ? LIST_FIRST(&peer->calls) : LIST_FIRST(&table->buckets[bucket_of(id)]);

    while (call && !mcp_json_equal(call->request.id, id))
        call = peer ? LIST_NEXT(call, loop.of_peer) : LIST_NEXT(call, loop.chain);
    return call;
}

void mcp__call_table_add(mcp__call_table *table, mcp_call *call)
{
    LIST_INSERT_HEAD(&table->buckets[bucket_of(call->request.id)], call, loop.chain);
    LIST_INSERT_HEAD(&call->notification_peer->calls, call, loop.of_peer);
    TAILQ_INSERT_TAIL(&table->open, call, loop.open);
}

void mcp__call_table_remove(mcp__call_table *table, mcp_call *call)
{
    LIST_REMOVE(call, loop.chain);
    LIST_REMOVE(call, loop.of_peer);
    TAILQ_REMOVE(&table->open, call, loop.open);
}

void mcp__call_table_wait(mcp__call_table *table, mcp_call *call)
{
    TAILQ_INSERT_TAIL(&table->queue, call, loop.waiting);
    table->waiting++;
}

mcp_call *mcp__call_table_next(mcp__call_table *table)
{
    mcp_call *call = TAILQ_FIRST(&table->queue);

    if (call)
        mcp__call_table_unwait(table, call);
    return call;
}

void mcp__call_table_unwait(mcp__call_table *table, mcp_call *call)
{
    TAILQ_REMOVE(&table->queue, call, loop.waiting);
    table->waiting--;
}

void mcp__call_table_due(mcp__call_table *table, int64_t when_ms)
{
    if (when_ms < table->due_ms)
        table->due_ms = when_ms;
}
