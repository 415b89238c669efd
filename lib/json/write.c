/*
 * write.c - JSON as a stream into a buffer.
 *
 * Every piece goes through begin_value() or write_name(), which put the comma and check that the
 * piece may stand there. Two 64-bit masks remember for each open level whether it is an object and
 * whether it has items. After a failure nothing is written any more, so what the buffer holds then
 * is a broken beginning that must not be sent.
 *
 * Strings are escaped as little as JSON demands; runs of plain bytes are copied at once.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "json/number.h"
#include "json/value.h"

void mcp_json_writer_init(mcp_json_writer *writer, mcp_buf *buf)
{
    *writer = (mcp_json_writer){ .buf = buf, .status = buf->status };
}

mcp_status mcp_json_writer_status(const mcp_json_writer *writer)
{
    return writer->status;
}

static void fail(mcp_json_writer *writer, mcp_status status)
{
    if (writer->status == MCP_OK)
        writer->status = status;
}

static void put(mcp_json_writer *writer, const char *bytes, size_t length)
{
    if (writer->status == MCP_OK)
        fail(writer, mcp_buf_append(writer->buf, bytes, length));
}

/* ---- places ---------------------------------------------------------------------------------- */

static uint64_t level_bit(const mcp_json_writer *writer)
{
    return UINT64_C(1) << (writer->depth - 1);
}

static bool in_object(const mcp_json_writer *writer)
{
    return writer->depth > 0 && (writer->is_object & level_bit(writer));
}

static void put_comma(mcp_json_writer *writer)
{
    if (writer->has_items & level_bit(writer))
        put(writer, ",", 1);
    writer->has_items |= level_bit(writer);
}

/* Take the place of the next value; false when nothing is to be written. */
static bool begin_value(mcp_json_writer *writer)
{
    if (writer->status != MCP_OK)
        return false;
    assert(!writer->done && "a second root value");
    assert((!in_object(writer) || writer->name_written) && "a member needs its name first");
    if (writer->depth == 0)
        writer->done = true;
    else if (!in_object(writer))
        put_comma(writer);
    writer->name_written = false;
    return writer->status == MCP_OK;
}

static void open_level(mcp_json_writer *writer, bool is_object)
{
    if (!begin_value(writer))
        return;
    if (writer->depth == MCP_JSON_DEPTH_MAX) {
        fail(writer, MCP_E_LIMIT);
        return;
    }
    writer->done = false;
    writer->depth++;
    writer->has_items &= ~level_bit(writer);
    if (is_object)
        writer->is_object |= level_bit(writer);
    else
        writer->is_object &= ~level_bit(writer);
    put(writer, is_object ? "{" : "[", 1);
}

void mcp_write_object(mcp_json_writer *writer)
{
    open_level(writer, true);
}

void mcp_write_array(mcp_json_writer *writer)
{
    open_level(writer, false);
}

void mcp_write_end(mcp_json_writer *writer)
{
    if (writer->status != MCP_OK)
        return;
    assert(writer->depth > 0 && "nothing is open");
    assert(!writer->name_written && "a member needs its value");
    put(writer, in_object(writer) ? "}" : "]", 1);
    writer->depth--;
    writer->done = writer->depth == 0;
}

/* ---- strings --------------------------------------------------------------------------------- */

#define ONES UINT64_C(0x0101010101010101)
#define TOPS UINT64_C(0x8080808080808080)

/* Not zero when a byte of the word is zero; exact as to whether, not as to which. */
static uint64_t zero_byte(uint64_t word)
{
    return (word - ONES) & ~word & TOPS;
}

/* Whether a byte is a quote, a backslash, a control character or beyond ASCII. */
static bool is_special(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\' || byte >= 0x80;
}

/* How many bytes at the front need no look: eight at a time first. */
static size_t plain_run(const char *text, size_t length)
{
    size_t at = 0;
    uint64_t word;

    for (; at + sizeof(word) <= length; at += sizeof(word)) {
        memcpy(&word, text + at, sizeof(word));
        uint64_t control = (word - ONES * 0x20) & ~word;
        uint64_t quoted = zero_byte(word ^ ONES * '"') | zero_byte(word ^ ONES * '\\');
        if (((control | word) & TOPS) | quoted)
            break;
    }
    while (at < length && !is_special((unsigned char)text[at]))
        at++;
    return at;
}

static void put_escape(mcp_json_writer *writer, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    static const char short_forms[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                        ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\' };

    if (short_forms[byte]) {
        put(writer, (const char[]){ '\\', short_forms[byte] }, 2);
        return;
    }
    put(writer, (const char[]){ '\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15] }, 6);
}

/* What of a string must be looked at byte by byte, from its first special one on. */
static void put_special(mcp_json_writer *writer, const char *text, size_t length)
{
    size_t at = 0;
    size_t copied = 0;

    while (writer->status == MCP_OK) {
        at += plain_run(text + at, length - at);
        if (at == length)
            break;
        unsigned char byte = (unsigned char)text[at];
        if (byte < 0x80) {
            put(writer, text + copied, at - copied);
            put_escape(writer, byte);
            copied = ++at;
            continue;
        }
        size_t size = mcp__utf8_next(text + at, length - at, NULL);
        if (size == 0)
            fail(writer, MCP_E_PARAMS);
        at += size;
    }
    put(writer, text + copied, length - copied);
}

static void put_string(mcp_json_writer *writer, const char *text, size_t length)
{
    size_t plain = plain_run(text, length);
    char *room = mcp_buf_reserve(writer->buf, plain + 2);

    if (!room) {
        fail(writer, writer->buf->status);
        return;
    }
    room[0] = '"';
    if (plain > 0)
        memcpy(room + 1, text, plain);
    room[1 + plain] = '"';
    if (plain == length) {
        mcp_buf_commit(writer->buf, plain + 2);
        return;
    }
    mcp_buf_commit(writer->buf, plain + 1);
    put_special(writer, text + plain, length - plain);
    put(writer, "\"", 1);
}

static void write_name(mcp_json_writer *writer, const char *name, size_t length)
{
    if (writer->status != MCP_OK)
        return;
    assert(in_object(writer) && !writer->name_written && "no name is due here");
    put_comma(writer);
    if (writer->status == MCP_OK)
        put_string(writer, name, length);
    put(writer, ":", 1);
    writer->name_written = true;
}

void mcp_write_name(mcp_json_writer *writer, const char *name)
{
    write_name(writer, name, strlen(name));
}

void mcp_write_string(mcp_json_writer *writer, const char *text)
{
    if (text)
        mcp_write_string_n(writer, text, strlen(text));
    else
        mcp_write_null(writer);
}

void mcp_write_string_n(mcp_json_writer *writer, const char *text, size_t length)
{
    if (begin_value(writer))
        put_string(writer, text, length);
}

/* ---- scalars --------------------------------------------------------------------------------- */

/* One value whose text is ready. */
static void write_text(mcp_json_writer *writer, const char *text, size_t length)
{
    if (begin_value(writer))
        put(writer, text, length);
}

static void write_integer(mcp_json_writer *writer, uint64_t size, bool is_negative)
{
    char digits[24];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + size % 10);
        size /= 10;
    } while (size > 0);
    if (is_negative)
        digits[--at] = '-';
    write_text(writer, digits + at, sizeof(digits) - at);
}

void mcp_write_int(mcp_json_writer *writer, int64_t number)
{
    write_integer(writer, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, number < 0);
}

void mcp_write_uint(mcp_json_writer *writer, uint64_t number)
{
    write_integer(writer, number, false);
}

void mcp_write_double(mcp_json_writer *writer, double number)
{
    char text[MCP__JSON_DOUBLE_SIZE];

    if (!isfinite(number)) {
        fail(writer, MCP_E_PARAMS);
        return;
    }
    write_text(writer, text, mcp__json_format_double(text, number));
}

void mcp_write_double_or_null(mcp_json_writer *writer, double number)
{
    if (isfinite(number))
        mcp_write_double(writer, number);
    else
        mcp_write_null(writer);
}

void mcp_write_bool(mcp_json_writer *writer, bool flag)
{
    write_text(writer, flag ? "true" : "false", flag ? 4 : 5);
}

void mcp_write_null(mcp_json_writer *writer)
{
    write_text(writer, "null", 4);
}

void mcp_write_raw(mcp_json_writer *writer, const char *json, size_t length)
{
    assert(length > 0 && "no text is no value");
    write_text(writer, json, length);
}

/* ---- values that were read ------------------------------------------------------------------- */

static void write_items(mcp_json_writer *writer, const mcp_json *array)
{
    mcp_write_array(writer);
    for (size_t i = 0; i < array->count && writer->status == MCP_OK; i++)
        mcp_write_value(writer, &array->is.items[i]);
    mcp_write_end(writer);
}

static void write_members(mcp_json_writer *writer, const mcp_json *object)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < object->count && writer->status == MCP_OK; i++) {
        const mcp__json_member *member = &object->is.members[i];
        write_name(writer, member->name, member->length);
        mcp_write_value(writer, &member->value);
    }
    mcp_write_end(writer);
}

void mcp_write_value(mcp_json_writer *writer, const mcp_json *value)
{
    switch (mcp_json_type_of(value)) {
    case MCP_JSON_ABSENT:
    case MCP_JSON_NULL:
        mcp_write_null(writer);
        break;
    case MCP_JSON_BOOL:
        mcp_write_bool(writer, value->is.boolean);
        break;
    case MCP_JSON_INT:
        mcp_write_int(writer, value->is.integer);
        break;
    case MCP_JSON_UINT:
        mcp_write_uint(writer, value->is.natural);
        break;
    case MCP_JSON_DOUBLE:
        mcp_write_double(writer, value->is.number);
        break;
    case MCP_JSON_STRING:
        mcp_write_string_n(writer, value->is.string, value->count);
        break;
    case MCP_JSON_ARRAY:
        write_items(writer, value);
        break;
    case MCP_JSON_OBJECT:
        write_members(writer, value);
        break;
    }
}

/* ---- members --------------------------------------------------------------------------------- */

void mcp_write_member_string(mcp_json_writer *writer, const char *name, const char *text)
{
    mcp_write_name(writer, name);
    mcp_write_string(writer, text);
}

void mcp_write_member_int(mcp_json_writer *writer, const char *name, int64_t number)
{
    mcp_write_name(writer, name);
    mcp_write_int(writer, number);
}

void mcp_write_member_double(mcp_json_writer *writer, const char *name, double number)
{
    mcp_write_name(writer, name);
    mcp_write_double(writer, number);
}

void mcp_write_member_bool(mcp_json_writer *writer, const char *name, bool flag)
{
    mcp_write_name(writer, name);
    mcp_write_bool(writer, flag);
}

void mcp_write_member_null(mcp_json_writer *writer, const char *name)
{
    mcp_write_name(writer, name);
    mcp_write_null(writer);
}

void mcp_write_member_value(mcp_json_writer *writer, const char *name, const mcp_json *value)
{
    mcp_write_name(writer, name);
    mcp_write_value(writer, value);
}

void mcp_write_member_object(mcp_json_writer *writer, const char *name)
{
    mcp_write_name(writer, name);
    mcp_write_object(writer);
}

void mcp_write_member_array(mcp_json_writer *writer, const char *name)
{
    mcp_write_name(writer, name);
    mcp_write_array(writer);
}
