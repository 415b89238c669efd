/*
 * call.c - a call's life, and what a handler may ask it.
 *
 * A call lives in its own arena together with its message, so one free ends its JSON, its strings
 * and itself; only the buffers, whose size nobody knows beforehand, stand outside.
 *
 * The accessors of arguments look in three places: what the client sent, the `default` of the input
 * schema, and the caller's fallback.
 */
#include "mcp/call.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/incoming.h"
#include "mcp/core/session/client.h"
#include "mcp/core/session/session.h"

mcp_status mcp__call_new(mcp_call **out, mcp_arena *arena, const mcp_server_options *options,
                         const mcp_json *no_arguments, mcp_error *err)
{
    mcp_call *call = mcp_arena_alloc(arena, sizeof(*call));

    if (!call)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a call");
    call->arena = arena;
    call->options = options;
    call->no_arguments = no_arguments;
    call->arguments = no_arguments;
    call->err = (mcp_error)MCP_ERROR_INIT;
    call->steps_left = MCP__STEPS_BASE;
    call->steps_on_loop = MCP__STEPS_ON_LOOP;
    mcp_buf_init(&call->result, options->reply_max_bytes);
    mcp_buf_init(&call->content, options->reply_max_bytes);
    mcp_buf_init(&call->error_data, options->reply_max_bytes);
    mcp_buf_init(&call->reply, options->reply_max_bytes);
    mcp__progress_init(&call->progress, NULL);
    atomic_init(&call->has_posted, false);
    atomic_init(&call->stop, MCP_GO_ON);
    *out = call;
    return MCP_OK;
}

void mcp__call_free(mcp_call *call)
{
    if (!call)
        return;
    if (call->set)
        call->session->setup.drop(call->set);
    mcp_buf_clear(&call->result);
    mcp_buf_clear(&call->content);
    mcp_buf_clear(&call->error_data);
    mcp_buf_clear(&call->reply);
    mcp__progress_clear(&call->progress);
    if (call->rest)
        call->rest->release(call->rest);
    mcp__asking_clear(&call->asking);
    mcp_arena_free(call->arena);
}

void mcp__call_reset(mcp_call *call)
{
    mcp_buf_clear(&call->result);
    mcp_buf_clear(&call->content);
    mcp_buf_clear(&call->error_data);
    mcp_buf_clear(&call->reply);
    call->err = (mcp_error)MCP_ERROR_INIT;
    call->status = MCP_OK;
    call->result_begun = false;
    call->is_value = false;
    call->error_data_begun = false;
    call->content_status = MCP_OK;
    call->is_text_open = false;
    call->head_length = 0;
    call->is_in_place = false;
    call->is_refused = false;
    call->places = NULL;
    call->suggested = 0;
    call->contents_meta = NULL;
    call->scopes_needed = NULL;
    call->asking.questions = NULL;
    call->asking.errands = NULL;
    call->asking.status = MCP_OK;
    call->asking.kept = call->asking.keep;
    call->asking.keep = NULL;
}

/* ---- what was asked --------------------------------------------------------------------------- */

const mcp_json *mcp_call_arguments(const mcp_call *call)
{
    return call->arguments ? call->arguments : call->no_arguments;
}

/* Where a property's schema really stands: behind a `$ref` into the same document, one step. */
static const mcp_json *property_default(const mcp_call *call, const char *name)
{
    const mcp_json *property = mcp_json_get(call->properties, name);
    const mcp_json *found = mcp_json_get(property, "default");
    const char *reference = found ? NULL : mcp_json_get_string(property, "$ref");

    if (reference && reference[0] == '#')
        found = mcp_json_get(mcp_json_pointer(call->schema, reference + 1), "default");
    return mcp_json_is_null(found) ? NULL : found;
}

const mcp_json *mcp_arg_json(const mcp_call *call, const char *name)
{
    const mcp_json *value = mcp_json_get(call->arguments, name);

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
    return call->name ? call->name : call->method;
}

const mcp_json *mcp_call_meta(const mcp_call *call)
{
    return call->meta;
}

mcp_revision mcp_call_revision(const mcp_call *call)
{
    return call->revision;
}

/* ---- the call's own things ------------------------------------------------------------------- */

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
    bool may = now == MCP_GO_ON || (why == MCP_STOP_CANCELLED &&
                                    (now == MCP_STOP_SHUTDOWN || now == MCP_STOP_CLIENT_GONE));

    /* Only the loop writes, so nothing can have come in between. */
    if (may)
        atomic_store_explicit(&call->stop, why, memory_order_relaxed);
}

void mcp__call_post(mcp_call *call, mcp__node *node)
{
    atomic_store_explicit(&call->has_posted, true, memory_order_relaxed);
    call->executor->post(call->executor, node);
}

/* ---- the client ------------------------------------------------------------------------------- */

bool mcp_call_client_can(const mcp_call *call, unsigned capabilities)
{
    return (call->client_can & capabilities) == capabilities;
}

mcp_status mcp_call_require(mcp_call *call, unsigned capabilities)
{
    unsigned missing = capabilities & ~call->client_can;
    mcp_json_writer *data;

    if (!missing)
        return MCP_OK;
    mcp_buf_reset(&call->error_data); /* of an earlier question that could not be asked either */
    call->error_data_begun = false;
    data = mcp__call_error_data(call);
    mcp_write_member_object(data, "requiredCapabilities");
    mcp__client_write(data, missing);
    mcp_write_end(data);
    return mcp_error_set(&call->err, MCP_E_CAPABILITY,
                         "%s needs a capability that the client did not declare",
                         mcp_call_name(call));
}

/* ---- answering -------------------------------------------------------------------------------- */

mcp_json_writer *mcp_call_result(mcp_call *call)
{
    if (!call->result_begun) {
        call->result_begun = true;
        mcp_json_writer_init(&call->result_writer, &call->result);
        mcp_write_object(&call->result_writer);
    }
    return &call->result_writer;
}

mcp_json_writer *mcp_call_value(mcp_call *call)
{
    if (!call->result_begun) {
        call->result_begun = true;
        call->is_value = true;
        mcp_json_writer_init(&call->result_writer, &call->result);
    }
    return &call->result_writer;
}

void mcp_call_cache(mcp_call *call, int64_t ttl_ms, bool is_public)
{
    call->caching.ttl_ms = ttl_ms > 0 ? ttl_ms : 0;
    call->caching.is_public = is_public;
}

mcp_status mcp__call_note(mcp_call *call, const char *name, const char *json)
{
    mcp__note *fresh = mcp_arena_alloc(call->arena, sizeof(*fresh));

    if (!fresh)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a note");
    *fresh = (mcp__note){ .name = name, .json = json, .next = call->notes };
    call->notes = fresh;
    return MCP_OK;
}

mcp_json_writer *mcp__call_error_data(mcp_call *call)
{
    if (!call->error_data_begun) {
        call->error_data_begun = true;
        mcp_json_writer_init(&call->error_data_writer, &call->error_data);
        mcp_write_object(&call->error_data_writer);
    }
    return &call->error_data_writer;
}

/* Takes `text`, which is the arena's; a refusal must reach its client even if a file name in it is
   no UTF-8. */
static mcp_status refuse_with(mcp_call *call, char *text, size_t length)
{
    if (!text)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a refusal");
    if (!mcp__utf8_valid(text, length, NULL)) {
        mcp__utf8_tidy(text, length, length);
        length = strlen(text);
    }
    call->is_refused = true;
    call->refusal = text;
    call->refusal_length = length;
    return MCP_OK;
}

mcp_status mcp_call_refuse_text(mcp_call *call, const char *text, size_t length)
{
    return refuse_with(call, mcp_arena_strndup(call->arena, text, length), length);
}

mcp_status mcp_call_refuse(mcp_call *call, const char *format, ...)
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
    return refuse_with(call, text, text ? (size_t)length : 0);
}

mcp_status mcp_call_place(mcp_call *call, const char *place, const char *text)
{
    mcp__place *fresh = mcp_arena_alloc(call->arena, sizeof(*fresh));
    char *name = mcp_arena_strdup(call->arena, place);
    char *copy = mcp_arena_strdup(call->arena, text ? text : "");
    mcp__place **end = &call->places;

    if (!fresh || !name || !copy)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a place of a prompt");
    *fresh = (mcp__place){ .name = name, .text = copy };
    while (*end)
        end = &(*end)->next;
    *end = fresh;
    return MCP_OK;
}
