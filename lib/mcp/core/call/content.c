/*
 * content.c - the blocks of an answer: text, image, audio, links, embedded resources, contents.
 *
 * A block is rendered the moment the handler writes it, in the form that the call's revision knows.
 * Type tags are the one thing an older client cannot pass over (its union of types fails), so a
 * type that came later becomes text: audio before 2025-03-26, links before 2025-06-18.
 *
 * call->answer.content holds the finished blocks, comma-separated; before a long text that is the
 * first of them, the beginning of the message as well (mcp__result_begin). The first failure sticks
 * in its `status`: an answer with a block missing is no answer.
 */
#include <assert.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "mcp/call.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/call/result.h"
#include "mcp/core/version.h"
#include "json/json_int.h"

#define WORTH_IN_PLACE                                                                             \
    ((size_t)64 << 10) /* bytes of a text that are not to be copied into the message */

static void block_begin(mcp_call *call, mcp_json_writer *writer, const char *type)
{
    mcp__draft *content = &call->answer.content;

    assert(content->holds != MCP__DRAFT_STRING && "a text in pieces must be ended first");
    content->holds = MCP__DRAFT_BLOCKS;
    if (content->text.length > call->answer.head_length)
        (void)mcp_buf_putc(&content->text, ',');
    mcp_json_writer_init(writer, &content->text);
    if (call->plan.kind->role) {
        mcp_write_object(writer);
        mcp_write_member_string(writer, "role", call->plan.kind->role);
        mcp_write_name(writer, "content");
    }
    mcp_write_object(writer);
    if (type)
        mcp_write_member_string(writer, "type", type);
}

/* What has failed so far, in this block or before it. */
static mcp_status block_status(mcp_call *call, const mcp_json_writer *writer)
{
    if (call->answer.content.status == MCP_OK)
        call->answer.content.status = mcp_json_writer_status(writer);
    mcp_status st = call->answer.content.status;
    if (st == MCP_OK)
        return MCP_OK;
    return mcp_error_set(&call->err, st, "a block of the answer cannot be written: %s",
                         mcp_status_words(st));
}

static mcp_status block_end(mcp_call *call, mcp_json_writer *writer)
{
    mcp_write_end(writer);
    if (call->plan.kind->role)
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

    mcp_buf_init(&text, call->context->options->limits.reply_max_bytes);
    char *room = encoded > 0 || length == 0 ? mcp_buf_reserve(&text, encoded + 2) : NULL;
    mcp_write_name(writer, name);
    if (room) {
        room[0] = '"';
        mcp__base64_encode(room + 1, bytes, length);
        room[encoded + 1] = '"';
        mcp_write_raw(writer, room, encoded + 2);
    } else if (writer->status == MCP_OK) {
        writer->status = text.status == MCP_OK ? MCP_E_LIMIT : text.status;
    }
    mcp_buf_clear(&text);
}

/* The answer fails: a block finds no memory, lacks what it must have, or does not belong to this
 * kind of call. */
static mcp_status refuse_block(mcp_call *call, mcp_status status, const char *why)
{
    if (call->answer.content.status == MCP_OK)
        call->answer.content.status = status;
    return mcp_error_set(&call->err, status, "%s", why);
}

static mcp_status no_memory(mcp_call *call)
{
    return refuse_block(call, MCP_E_NOMEM, "no memory for a block of the answer");
}

static mcp_status missing(mcp_call *call, const char *what)
{
    return refuse_block(call, MCP_E_PARAMS,
                        mcp_arena_printf(call->arena, "a block of the answer has no %s", what));
}

/* The text as UTF-8: itself, or a copy with other bytes replaced. NULL: no memory, which is
 * noted. */
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
    size_t length = text ? strlen(text) : 0;
    const char *utf8 = text ? as_utf8(call, text, &length) : NULL;
    mcp_json_writer writer;

    if (!text)
        return missing(call, "text");
    if (!utf8)
        return MCP_E_NOMEM;
    block_begin(call, &writer, "text");
    write_member_text(&writer, "text", utf8, length);
    return block_end(call, &writer);
}

mcp_status mcp_call_text_begin(mcp_call *call, size_t expected_bytes)
{
    mcp__draft *content = &call->answer.content;

    if (expected_bytes < content->text.max_bytes - content->text.length)
        (void)mcp_buf_reserve(&content->text, expected_bytes);
    if (expected_bytes >= WORTH_IN_PLACE && content->text.length == 0 && call->plan.kind->blocks)
        mcp__result_begin(call);
    block_begin(call, &content->writer, "text");
    mcp_write_name(&content->writer, "text");
    mcp__write_string_open(&content->writer);
    content->holds = MCP__DRAFT_STRING;
    return block_status(call, &content->writer);
}

mcp_status mcp_call_text_add(mcp_call *call, const char *text, size_t length)
{
    mcp__draft *content = &call->answer.content;
    length = text ? length : 0;
    const char *utf8 = as_utf8(call, text ? text : "", &length);

    assert(content->holds == MCP__DRAFT_STRING && "a piece of a text that was not begun");
    if (utf8)
        mcp__write_string_part(&content->writer, utf8, length);
    return block_status(call, &content->writer);
}

mcp_status mcp_call_text_add_escaped(mcp_call *call, const char *bytes, size_t length)
{
    mcp__draft *content = &call->answer.content;

    assert(content->holds == MCP__DRAFT_STRING && "a piece of a text that was not begun");
    mcp__write_string_escaped(&content->writer, bytes, bytes ? length : 0);
    return block_status(call, &content->writer);
}

mcp_status mcp_call_text_end(mcp_call *call)
{
    mcp__draft *content = &call->answer.content;

    assert(content->holds == MCP__DRAFT_STRING && "the end of a text that was not begun");
    content->holds = MCP__DRAFT_BLOCKS;
    mcp__write_string_close(&content->writer);
    return block_end(call, &content->writer);
}

static mcp_status write_binary(mcp_call *call, const char *type, bool is_known, const void *bytes,
                               size_t length, const char *mime_type)
{
    mcp_json_writer writer;

    if (!mime_type || (!bytes && length > 0))
        return missing(call, mime_type ? "bytes" : "media type");
    if (!is_known) {
        const char *text = mcp_arena_printf(call->arena, "[%s, %zu bytes, %s]", type, length,
                                            mime_type);
        return text ? mcp_call_text(call, text) : no_memory(call);
    }
    block_begin(call, &writer, type);
    write_member_bytes(call, &writer, "data", bytes, length);
    mcp_write_member_string(&writer, "mimeType", mime_type);
    return block_end(call, &writer);
}

mcp_status mcp_call_image(mcp_call *call, const void *bytes, size_t length, const char *mime_type)
{
    return write_binary(call, "image", true, bytes, length, mime_type);
}

mcp_status mcp_call_audio(mcp_call *call, const void *bytes, size_t length, const char *mime_type)
{
    bool is_known = call->request.revision >= MCP_2025_03_26;

    return write_binary(call, "audio", is_known, bytes, length, mime_type);
}

mcp_status mcp_call_link(mcp_call *call, const char *uri, const char *name, const char *mime_type)
{
    mcp_json_writer writer;

    if (!uri || !name)
        return missing(call, uri ? "name" : "URI");
    if (call->request.revision < MCP_2025_06_18) {
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

    if (!uri || !text)
        return missing(call, uri ? "text" : "URI");
    block_begin(call, &writer, "resource");
    mcp_write_member_object(&writer, "resource");
    write_resource_head(&writer, uri, mime_type);
    mcp_write_member_string(&writer, "text", text);
    mcp_write_end(&writer);
    return block_end(call, &writer);
}

/* Whether clients of the revision have a type of blocks; those that come later are unknown. */
static bool is_known_type(const char *type, mcp_revision revision)
{
    static const struct {
        const char *type;
        mcp_revision since;
    } types[] = { { "text", MCP_2024_11_05 },
                  { "image", MCP_2024_11_05 },
                  { "resource", MCP_2024_11_05 },
                  { "audio", MCP_2025_03_26 },
                  { "resource_link", MCP_2025_06_18 } };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].type, type) == 0)
            return revision >= types[i].since;
    }
    return false;
}

mcp_status mcp__call_block(mcp_call *call, const mcp_json *block)
{
    const char *type = mcp_json_get_string(block, "type");
    mcp_json_writer writer;

    if (!type)
        return missing(call, "type");
    if (!is_known_type(type, call->request.revision)) {
        const char *text = mcp_arena_printf(call->arena, "[%s]", type);
        return text ? mcp_call_text(call, text) : no_memory(call);
    }
    block_begin(call, &writer, NULL);
    for (size_t i = 0; i < mcp_json_count(block); i++) {
        mcp_write_name(&writer, mcp_json_name(block, i, NULL));
        mcp_write_value(&writer, mcp_json_item(block, i));
    }
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
        call->answer.contents_meta = meta;
    return st;
}

/* An entry of `contents`: the text, or else the bytes. */
static mcp_status write_contents(mcp_call *call, const char *uri, const char *mime_type,
                                 const void *data, size_t length, bool is_text)
{
    mcp_json_writer writer;

    if (call->plan.kind->blocks || call->plan.kind->role)
        return refuse_block(call, MCP_E_INTERNAL,
                            "mcp_call_contents_*: the call is not resources/read");
    if (!data && length > 0)
        return missing(call, "data");
    block_begin(call, &writer, NULL);
    write_resource_head(&writer, uri ? uri : call->request.name,
                        mime_type ? mime_type : call->answer.mime_type);
    if (is_text)
        write_member_text(&writer, "text", data, length);
    else
        write_member_bytes(call, &writer, "blob", data, length);
    if (call->answer.contents_meta &&
        mcp__field_is_known("ResourceContents", "_meta", call->request.revision))
        mcp_write_member_value(&writer, "_meta", call->answer.contents_meta);
    return block_end(call, &writer);
}

mcp_status mcp_call_contents_text(mcp_call *call, const char *uri, const char *mime_type,
                                  const char *text, size_t length)
{
    return write_contents(call, uri, mime_type, text, length, true);
}

mcp_status mcp_call_contents_blob(mcp_call *call, const char *uri, const char *mime_type,
                                  const void *bytes, size_t length)
{
    return write_contents(call, uri, mime_type, bytes, length, false);
}
