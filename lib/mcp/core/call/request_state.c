/*
 * request_state.c - sealing and opening requestState.
 *
 *     "v1." base64url( expiry, 8 bytes | SHA-256 of what is called, 32 bytes | payload ) "." base64url( HMAC )
 *
 * The client holds the text and may do to it what it likes, so it is signed, and bound to the call
 * that it belongs to: caller, method, name and arguments, the latter in an order of our own, since
 * a client may write them in another one when it calls again. It is not secret: nothing goes in
 * that the client did not say or may not know. It can be used again within its life; what may
 * happen only once must be guarded elsewhere.
 */
#include "mcp/core/call/request_state.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena_int.h"
#include "base/base64.h"
#include "mcp/hash.h"

#define PREFIX "v1."
#define PREFIX_LENGTH (sizeof PREFIX - 1)
#define HEAD_SIZE ((size_t)8 + MCP_SHA256_SIZE)
#define TEXT_MAX ((size_t)256 * 1024)

/* ---- what is called -------------------------------------------------------------------------- */

struct member {
    const char *name;
    size_t length;
    const mcp_json *value;
};

static int by_name(const void *a, const void *b)
{
    const struct member *left = a;
    const struct member *right = b;
    size_t shorter = left->length < right->length ? left->length : right->length;
    int order = memcmp(left->name, right->name, shorter);

    return order != 0 ? order : (left->length > right->length) - (left->length < right->length);
}

static void write_sorted(mcp_json_writer *writer, const mcp_json *value, mcp_arena *arena);

static void write_sorted_object(mcp_json_writer *writer, const mcp_json *object, mcp_arena *arena)
{
    size_t count = mcp_json_count(object);
    struct member *members = mcp_arena_array(arena, count + 1, sizeof *members);

    if (!members) {
        writer->status = MCP_E_NOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        members[i].name = mcp_json_name(object, i, &members[i].length);
        members[i].value = mcp_json_item(object, i);
    }
    qsort(members, count, sizeof *members, by_name);
    /* As pairs, because a writer has no way to write a name that holds NUL. */
    mcp_write_array(writer);
    for (size_t i = 0; i < count; i++) {
        mcp_write_string_n(writer, members[i].name, members[i].length);
        write_sorted(writer, members[i].value, arena);
    }
    mcp_write_bool(writer, true); /* an object, and no array of the same things */
    mcp_write_end(writer);
}

static void write_sorted(mcp_json_writer *writer, const mcp_json *value, mcp_arena *arena)
{
    if (mcp_json_is_object(value)) {
        write_sorted_object(writer, value, arena);
    } else if (mcp_json_is_array(value)) {
        mcp_write_array(writer);
        for (size_t i = 0; i < mcp_json_count(value); i++)
            write_sorted(writer, mcp_json_item(value, i), arena);
        mcp_write_bool(writer, false);
        mcp_write_end(writer);
    } else {
        mcp_write_value(writer, value);
    }
}

static mcp_status digest(uint8_t out[MCP_SHA256_SIZE], mcp_call *call)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, call->context->options->limits.arena_max_bytes);
    mcp_json_writer_init(&writer, &text);
    mcp_write_array(&writer);
    mcp_write_string(&writer, call->principal ? call->principal->name : NULL);
    mcp_write_string(&writer, call->request.method);
    mcp_write_string(&writer, mcp_call_name(call));
    write_sorted(&writer, mcp_call_arguments(call), call->arena);
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_sha256(out, text.data, text.length, &call->err);
    else
        st = mcp_error_set(&call->err, st, "what is called cannot be written");
    mcp_buf_clear(&text);
    return st;
}

/* ---- sealing --------------------------------------------------------------------------------- */

static mcp_status sign(uint8_t out[MCP_SHA256_SIZE], mcp_call *call, const char *text,
                       size_t length)
{
    return mcp_hmac_sha256(out, call->context->state_key, MCP__STATE_KEY_SIZE, text, length,
                           &call->err);
}

static mcp_status no_memory(mcp_call *call)
{
    return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for the state of a call");
}

mcp_status mcp__request_state_seal(const char **out, mcp_call *call, const char *payload,
                                   size_t length, int64_t now_ms)
{
    uint8_t signature[MCP_SHA256_SIZE];
    uint64_t expiry = htobe64((uint64_t)(now_ms + MCP__STATE_LIFE_MS));
    uint8_t *bytes = mcp_arena_alloc(call->arena, HEAD_SIZE + length);
    mcp_status st;

    if (!bytes)
        return no_memory(call);
    memcpy(bytes, &expiry, sizeof expiry);
    st = digest(bytes + 8, call);
    if (st != MCP_OK)
        return st;
    memcpy(bytes + HEAD_SIZE, payload, length);
    const char *body = mcp__base64url_encode(call->arena, bytes, HEAD_SIZE + length);
    if (!body)
        return no_memory(call);
    st = sign(signature, call, body, strlen(body));
    if (st != MCP_OK)
        return st;
    const char *tail = mcp__base64url_encode(call->arena, signature, sizeof signature);
    const char *text = tail ? mcp_arena_printf(call->arena, PREFIX "%s.%s", body, tail) : NULL;
    if (!text)
        return no_memory(call);
    if (strlen(text) > TEXT_MAX)
        return mcp_error_set(&call->err, MCP_E_LIMIT,
                             "the state of a call is too large to be kept");
    *out = text;
    return MCP_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool is_signed(mcp_call *call, const char *body, size_t body_length, const char *tail,
                      size_t tail_length)
{
    uint8_t wanted[MCP_SHA256_SIZE];
    size_t length = 0;
    const char *got = mcp__base64url_decode(call->arena, tail, tail_length, &length);

    return got && length == sizeof wanted && sign(wanted, call, body, body_length) == MCP_OK &&
           mcp_hash_equal(got, wanted, sizeof wanted);
}

static bool is_ours(mcp_call *call, const uint8_t *bytes, size_t length, int64_t now_ms)
{
    uint8_t wanted[MCP_SHA256_SIZE];
    uint64_t expiry = 0;

    if (length < HEAD_SIZE)
        return false;
    memcpy(&expiry, bytes, sizeof expiry);
    return (int64_t)be64toh(expiry) >= now_ms && digest(wanted, call) == MCP_OK &&
           mcp_hash_equal(bytes + 8, wanted, sizeof wanted);
}

mcp_status mcp__request_state_open(const char **out, size_t *length, mcp_call *call,
                                   const char *text, size_t text_length, int64_t now_ms)
{
    const char *body = text + PREFIX_LENGTH;
    size_t decoded_length = 0;
    const char *decoded = NULL;
    const char *dot = NULL;

    if (text_length > PREFIX_LENGTH && text_length <= TEXT_MAX &&
        memcmp(text, PREFIX, PREFIX_LENGTH) == 0)
        dot = memchr(body, '.', text_length - PREFIX_LENGTH);
    if (dot && is_signed(call, body, (size_t)(dot - body), dot + 1,
                         text_length - (size_t)(dot + 1 - text)))
        decoded = mcp__base64url_decode(call->arena, body, (size_t)(dot - body), &decoded_length);
    if (!decoded || !is_ours(call, (const uint8_t *)decoded, decoded_length, now_ms)) {
        if (call->err.status == MCP_E_NOMEM || mcp__arena_failure(call->arena) == MCP_E_NOMEM)
            return no_memory(call); /* the client's text may be good */
        return mcp_error_set(&call->err, MCP_E_PARAMS, "invalid requestState");
    }
    *out = decoded + HEAD_SIZE;
    *length = decoded_length - HEAD_SIZE;
    return MCP_OK;
}
