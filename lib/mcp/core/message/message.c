/*
 * message.c - what a text is to JSON-RPC 2.0: request, notification, response, or an error.
 *
 * Strict where a second reader (a proxy, a log) could understand something else than we do: members
 * that occur twice in the envelope, in params or in _meta are refused, and so is an id that is no
 * string and no integer. Lenient where it costs nothing: members we do not know are passed over.
 *
 * An id is kept as the value it was, so that 1 and "1" stay different and come back as they were.
 */
#include "mcp/core/message/message.h"

#include <math.h>
#include <string.h>

mcp_status mcp__message_read(const mcp_json **out, mcp_arena *arena, const char *text,
                             size_t length, mcp_error *err)
{
    mcp_error reason = MCP_ERROR_INIT;
    mcp_status st = mcp_json_read(out, arena, text, length, &reason);

    if (st == MCP_OK || st == MCP_E_NOMEM || st == MCP_E_PARSE) {
        if (err && st != MCP_OK)
            *err = reason;
        return st;
    }
    if (st == MCP_E_BUSY)
        return mcp_error_set(err, st, "%s", mcp_status_words(st));
    /* Nested too deep, or larger in memory than a message may be: no JSON to us. */
    return mcp_error_set(err, MCP_E_PARSE, "%s", reason.message);
}

const mcp_json *mcp__message_copy(mcp_arena *arena, const mcp_json *value, size_t max_bytes,
                                  size_t *length)
{
    const mcp_json *copy = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, max_bytes);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, value);
    if (arena && mcp_json_writer_status(&writer) == MCP_OK)
        (void)mcp_json_read(&copy, arena, text.data, text.length, NULL);
    if (length)
        *length = text.length;
    mcp_buf_clear(&text);
    return copy;
}

static mcp_status refuse_duplicate(const mcp_json *object, const char *where, mcp_error *err)
{
    if (!mcp_json_duplicate(object))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_REQUEST, "a member occurs twice in %s", where);
}

bool mcp__message_is_id(const mcp_json *value)
{
    mcp_json_type type = mcp_json_type_of(value);
    size_t length = 0;

    if (mcp_json_string(value, &length))
        return length <= MCP__ID_MAX;
    return type == MCP_JSON_INT || type == MCP_JSON_UINT;
}

/* An integer that was read as a double cannot come back as it was. */
static bool is_beyond_64_bits(const mcp_json *value)
{
    double number = 0;

    return mcp_json_type_of(value) == MCP_JSON_DOUBLE && mcp_json_double(value, &number) &&
           fabs(number) >= 0x1p63;
}

/* Why a value is no id. */
static mcp_status refuse_id(const mcp_json *value, mcp_status status, const char *name,
                            mcp_error *err)
{
    if (mcp_json_is_string(value))
        return mcp_error_set(err, status, "%s may have %zu bytes at most", name, MCP__ID_MAX);
    if (is_beyond_64_bits(value))
        return mcp_error_set(err, MCP_E_PARSE, "%s is beyond 64 bits", name);
    return mcp_error_set(err, status, "%s must be a string or an integer", name);
}

static mcp_status sort_params(mcp__message *out, const mcp_json *value, mcp_error *err)
{
    const mcp_json *params = mcp_json_get(value, "params");
    const mcp_json *meta = NULL;

    if (params && !mcp_json_is_object(params))
        return mcp_error_set(err, MCP_E_REQUEST, "params must be an object");
    mcp_status st = params ? refuse_duplicate(params, "params", err) : MCP_OK;
    if (st != MCP_OK)
        return st;
    meta = mcp_json_get(params, "_meta");
    if (meta && !mcp_json_is_object(meta))
        return mcp_error_set(err, MCP_E_ENVELOPE, "params._meta must be an object");
    st = meta ? refuse_duplicate(meta, "params._meta", err) : MCP_OK;
    if (st != MCP_OK)
        return st;
    out->params = params;
    out->meta = meta;
    return MCP_OK;
}

static mcp_status sort_token(const mcp__message *message, mcp_error *err)
{
    const mcp_json *token = mcp_json_get(message->meta, "progressToken");

    if (!token || mcp__message_is_id(token))
        return MCP_OK;
    return refuse_id(token, MCP_E_ENVELOPE, "_meta.progressToken", err);
}

static mcp_status sort_call(mcp__message *out, const mcp_json *value, mcp_error *err)
{
    const mcp_json *method = mcp_json_get(value, "method");
    size_t length = 0;
    const char *name = mcp_json_string(method, &length);

    if (!name || strlen(name) != length)
        return mcp_error_set(err, MCP_E_REQUEST, "method must be a string");
    out->method = name;
    mcp_status st = sort_params(out, value, err);
    if (st == MCP_OK)
        st = sort_token(out, err);
    if (st == MCP_OK)
        out->kind = mcp_json_get(value, "id") ? MCP__REQUEST : MCP__NOTIFICATION;
    return st;
}

static mcp_status sort_envelope(mcp__message *out, const mcp_json *value, mcp_error *err)
{
    const mcp_json *id = mcp_json_get(value, "id");
    size_t length = 0;
    const char *version = mcp_json_string(mcp_json_get(value, "jsonrpc"), &length);

    if (!mcp_json_is_object(value))
        return mcp_error_set(err, MCP_E_REQUEST, "a message must be an object");
    mcp_status st = refuse_duplicate(value, "the message", err);
    if (st != MCP_OK)
        return st;
    if (mcp__message_is_id(id))
        out->id = id;
    if (!version || length != 3 || memcmp(version, "2.0", 3) != 0)
        return mcp_error_set(err, MCP_E_REQUEST, "jsonrpc must be \"2.0\"");
    if (!mcp_json_get(value, "method") &&
        (mcp_json_get(value, "result") || mcp_json_get(value, "error"))) {
        out->kind = MCP__RESPONSE;
        return MCP_OK;
    }
    if (id && !out->id)
        return refuse_id(id, MCP_E_REQUEST, "id", err);
    if (!mcp_json_get(value, "method"))
        return mcp_error_set(err, MCP_E_REQUEST, "a message needs a method");
    return sort_call(out, value, err);
}

mcp_status mcp__message_sort(mcp__message *out, const mcp_json *value, mcp_error *err)
{
    *out = (mcp__message){ .kind = MCP__INVALID };
    return sort_envelope(out, value, err);
}
