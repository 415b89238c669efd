/*
 * content.c - the blocks of an answer: text, image, audio, links, embedded resources, contents, suggestions.
 *
 * A block is rendered the moment the handler writes it, in the form that the call's revision knows.
 * Type tags are the one thing an older client cannot pass over (its union of types fails), so a
 * type that came later becomes text: audio before 2025-03-26, links before 2025-06-18.
 *
 * call->content holds the finished blocks, comma-separated; before a long text that is the first of them, the
 * beginning of the message as well (mcp__reply_begin). The first failure sticks in
 * content_status: an answer with a block missing is no answer.
 */
#include <assert.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "mcp/call.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/call/reply.h"
#include "mcp/core/fields.h"
#include "json/write.h"

#define WORTH_IN_PLACE                                                                             \
    ((size_t)64 << 10) /* bytes of a text that are not to be copied into the message */

static void block_begin(mcp_call *call, mcp_json_writer *writer, const char *type)
{
    assert(!call->is_text_open && "a text in pieces must be ended first");
    if (call->content.length > call->head_length)
        (void)mcp_buf_putc(&call->content, ',');
    mcp_json_writer_init(writer, &call->content);
    if (call->is_prompt) {
        mcp_write_object(writer);
        mcp_write_member_string(writer, "role", "user");
        mcp_write_name(writer, "content");
    }
    mcp_write_object(writer);
    if (type)
        mcp_write_member_string(writer, "type", type);
}

/* What has failed so far, in this block or before it. */
static mcp_status block_status(mcp_call *call, const mcp_json_writer *writer)
{
    if (call->content_status == MCP_OK)
        call->content_status = mcp_json_writer_status(writer);
    mcp_status st = call->content_status;
    if (st == MCP_OK)
        return MCP_OK;
    return mcp_error_set(&call->err, st, "a block of the answer cannot be written: %s",
                         mcp_status_words(st));
}

static mcp_status block_end(mcp_call *call, mcp_json_writer *writer)
{
    mcp_write_end(writer);
    if (call->is_prompt)
        mcp_write_end(writer);
    return block_status(call, writer);
}

static void write_member_text(mcp_json_writer *writer, const char *name, const char *text, size_t n)
{
    mcp_write_name(writer, name);
    mcp_write_string_n(writer, text, n);
}

/* `bytes` as a base64 string: encoded into a buffer of its own, because the writer takes whole
   values. */
static void write_member_bytes(mcp_call *call, mcp_json_writer *writer, const char *name,
                               const void *bytes, size_t length)
{
    size_t encoded = mcp__base64_length(length);
    mcp_buf text;

    mcp_buf_init(&text, call->options->reply_max_bytes);
    char *room = encoded > 0 || length == 0 ? mcp_buf_reserve(&text, encoded + 2) : NULL;
    mcp_write_name(writer, name);
    if (room) {
        room[0] = '"';
        mcp__base64_encode(room + 1, bytes, length);
        room[encoded + 1] = '"';
        mcp_write_raw(writer, room, encoded + 2);
    } else {
        mcp_write_null(writer);
        if (call->content_status == MCP_OK)
            call->content_status = text.status == MCP_OK ? MCP_E_LIMIT : text.status;
    }
    mcp_buf_clear(&text);
}

static mcp_status write_text(mcp_call *call, const char *text, size_t length)
{
    mcp_json_writer writer;

    block_begin(call, &writer, "text");
    write_member_text(&writer, "text", text, length);
    return block_end(call, &writer);
}

static mcp_status write_binary(mcp_call *call, const char *type, const void *bytes, size_t length,
                               const char *mime_type)
{
    mcp_json_writer writer;

    block_begin(call, &writer, type);
    write_member_bytes(call, &writer, "data", bytes, length);
    mcp_write_member_string(&writer, "mimeType", mime_type);
    return block_end(call, &writer);
}

static mcp_status no_memory(mcp_call *call)
{
    if (call->content_status == MCP_OK)
        call->content_status = MCP_E_NOMEM;
    return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a block of the answer");
}

/* The text as UTF-8: itself, or a copy without what is none. NULL: no memory, which is noted. */
static const char *as_utf8(mcp_call *call, const char *text, size_t *length)
{
    if (mcp__utf8_valid(text, *length, NULL))
        return text;
    char *tidy = mcp_arena_strndup(call->arena, text, *length);
    if (!tidy) {
        (void)no_memory(call);
        return NULL;
    }
    mcp__utf8_tidy(tidy, *length, *length);
    *length = strlen(tidy);
    return tidy;
}

mcp_status mcp_call_text(mcp_call *call, const char *text)
{
    size_t length = strlen(text);
    const char *utf8 = as_utf8(call, text, &length);

    return utf8 ? write_text(call, utf8, length) : MCP_E_NOMEM;
}

mcp_status mcp_call_text_begin(mcp_call *call, size_t expected_bytes)
{
    const mcp_buf *content = &call->content;

    if (expected_bytes < content->max_bytes - content->length)
        (void)mcp_buf_reserve(&call->content, expected_bytes);
    if (expected_bytes >= WORTH_IN_PLACE && content->length == 0 && call->is_tool)
        mcp__reply_begin(call);
    block_begin(call, &call->text_writer, "text");
    mcp_write_name(&call->text_writer, "text");
    mcp__write_string_open(&call->text_writer);
    call->is_text_open = true;
    return block_status(call, &call->text_writer);
}

mcp_status mcp_call_text_add(mcp_call *call, const char *text, size_t length)
{
    const char *utf8 = as_utf8(call, text, &length);

    assert(call->is_text_open && "a piece of a text that was not begun");
    if (utf8)
        mcp__write_string_part(&call->text_writer, utf8, length);
    return block_status(call, &call->text_writer);
}

mcp_status mcp_call_text_add_escaped(mcp_call *call, const char *bytes, size_t length)
{
    assert(call->is_text_open && "a piece of a text that was not begun");
    mcp__write_string_escaped(&call->text_writer, bytes, length);
    return block_status(call, &call->text_writer);
}

mcp_status mcp_call_text_end(mcp_call *call)
{
    assert(call->is_text_open && "the end of a text that was not begun");
    call->is_text_open = false;
    mcp__write_string_close(&call->text_writer);
    return block_end(call, &call->text_writer);
}

mcp_status mcp_call_image(mcp_call *call, const void *bytes, size_t length, const char *mime_type)
{
    return write_binary(call, "image", bytes, length, mime_type);
}

mcp_status mcp_call_audio(mcp_call *call, const void *bytes, size_t length, const char *mime_type)
{
    if (call->revision >= MCP_2025_03_26)
        return write_binary(call, "audio", bytes, length, mime_type);
    const char *text = mcp_arena_printf(call->arena, "[audio, %zu bytes, %s]", length, mime_type);
    return text ? mcp_call_text(call, text) : no_memory(call);
}

mcp_status mcp_call_link(mcp_call *call, const char *uri, const char *name, const char *mime_type)
{
    mcp_json_writer writer;

    if (call->revision < MCP_2025_06_18) {
        const char *text = mcp_arena_printf(call->arena, "%s: %s", name, uri);
        return text ? mcp_call_text(call, text) : no_memory(call);
    }
    block_begin(call, &writer, "resource_link");
    mcp_write_member_string(&writer, "uri", uri);
    mcp_write_member_string(&writer, "name", name);
    if (mime_type)
        mcp_write_member_string(&writer, "mimeType", mime_type);
    return block_end(call, &writer);
}

static void write_resource_head(mcp_json_writer *writer, const char *uri, const char *mime_type)
{
    mcp_write_member_string(writer, "uri", uri);
    if (mime_type)
        mcp_write_member_string(writer, "mimeType", mime_type);
}

mcp_status mcp_call_embed(mcp_call *call, const char *uri, const char *mime_type, const char *text)
{
    mcp_json_writer writer;

    block_begin(call, &writer, "resource");
    mcp_write_member_object(&writer, "resource");
    write_resource_head(&writer, uri, mime_type);
    mcp_write_member_string(&writer, "text", text);
    mcp_write_end(&writer);
    return block_end(call, &writer);
}

mcp_status mcp_call_contents_meta(mcp_call *call, const char *json)
{
    const mcp_json *meta = NULL;
    mcp_status st = json ? mcp_json_read(&meta, call->arena, json, strlen(json), &call->err)
                         : MCP_OK;

    if (st == MCP_OK && json && !mcp_json_is_object(meta))
        st = mcp_error_set(&call->err, MCP_E_INTERNAL, "the _meta of contents is no JSON object");
    if (st == MCP_OK)
        call->contents_meta = meta;
    return st;
}

static void write_contents_meta(const mcp_call *call, mcp_json_writer *writer)
{
    if (call->contents_meta && mcp__field_is_known("ResourceContents", "_meta", call->revision))
        mcp_write_member_value(writer, "_meta", call->contents_meta);
}

mcp_status mcp_call_contents_text(mcp_call *call, const char *uri, const char *mime_type,
                                  const char *text, size_t length)
{
    mcp_json_writer writer;

    block_begin(call, &writer, NULL);
    write_resource_head(&writer, uri ? uri : call->name, mime_type ? mime_type : call->mime_type);
    write_member_text(&writer, "text", text, length);
    write_contents_meta(call, &writer);
    return block_end(call, &writer);
}

mcp_status mcp_call_contents_blob(mcp_call *call, const char *uri, const char *mime_type,
                                  const void *bytes, size_t length)
{
    mcp_json_writer writer;

    block_begin(call, &writer, NULL);
    write_resource_head(&writer, uri ? uri : call->name, mime_type ? mime_type : call->mime_type);
    write_member_bytes(call, &writer, "blob", bytes, length);
    write_contents_meta(call, &writer);
    return block_end(call, &writer);
}

const char *mcp_call_typed(const mcp_call *call)
{
    return call->typed ? call->typed : "";
}

mcp_status mcp_call_suggest(mcp_call *call, const char *text)
{
    mcp_json_writer writer;

    if (++call->suggested > MCP__SUGGESTIONS_MAX)
        return MCP_OK;
    if (call->content.length > 0)
        (void)mcp_buf_putc(&call->content, ',');
    mcp_json_writer_init(&writer, &call->content);
    mcp_write_string(&writer, text);
    if (call->content_status == MCP_OK)
        call->content_status = mcp_json_writer_status(&writer);
    return call->content_status == MCP_OK
               ? MCP_OK
               : mcp_error_set(&call->err, call->content_status, "a suggestion cannot be written");
}
