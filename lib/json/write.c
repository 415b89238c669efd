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
#include "json/json_int.h"

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

/* mcp_buf_reserve without a call where there is room, which there nearly always is: a document is
 * many small pieces. */
static inline char *reserve(mcp_json_writer *writer, size_t length)
{
    mcp_buf *buf = writer->buf;

    if (buf->status == MCP_OK && length < buf->capacity - buf->length)
        return buf->data + buf->length;
    char *room = mcp_buf_reserve(buf, length);
    if (!room)
        fail(writer, buf->status);
    return room;
}

/* Behind what was written into the room. */
static inline void commit(mcp_json_writer *writer, size_t length)
{
    mcp_buf *buf = writer->buf;

    buf->length += length;
    buf->data[buf->length] = '\0';
}

static inline void put(mcp_json_writer *writer, const char *bytes, size_t length)
{
    char *room = writer->status == MCP_OK && length > 0 ? reserve(writer, length) : NULL;

    if (!room)
        return;
    memcpy(room, bytes, length);
    commit(writer, length);
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

enum { PIECE = 1024, ESCAPE_MAX = 6 };

#define ONES UINT64_C(0x0101010101010101)
#define TOPS UINT64_C(0x8080808080808080)

/* The top bit of each byte that is zero; of those after the first such byte too, perhaps. */
static uint64_t zero_byte(uint64_t word)
{
    return (word - ONES) & ~word & TOPS;
}

/* Whether a byte is a quote, a backslash, a control character or beyond ASCII. */
static bool is_special(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\' || byte >= 0x80;
}

/* Of eight bytes: how many come before the first special one. */
static inline size_t plain_of_eight(const char *text)
{
    uint64_t word;

    memcpy(&word, text, sizeof word);
    /* The first byte must be the lowest: then no borrow reaches it. */
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        word = __builtin_bswap64(word);
    uint64_t control = (word - ONES * 0x20) & ~word;
    uint64_t quoted = zero_byte(word ^ ONES * '"') | zero_byte(word ^ ONES * '\\');
    uint64_t found = ((control | word) & TOPS) | quoted;

    return found ? (size_t)__builtin_ctzll(found) / 8 : sizeof word;
}

/* How many bytes at the front need no look: eight at a time first, the last eight with some that
 * were looked at. */
static size_t plain_run(const char *text, size_t length)
{
    size_t at = 0;

    while (at + sizeof(uint64_t) <= length) {
        size_t plain = plain_of_eight(text + at);
        at += plain;
        if (plain < sizeof(uint64_t))
            return at;
    }
    if (at > 0 && at < length &&
        plain_of_eight(text + length - sizeof(uint64_t)) == sizeof(uint64_t))
        return length;
    while (at < length && !is_special((unsigned char)text[at]))
        at++;
    return at;
}

/* @return how many bytes of `out`, which has ESCAPE_MAX, it takes */
static size_t escape(char *out, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    static const char short_forms[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                        ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\' };

    out[0] = '\\';
    out[1] = short_forms[byte];
    if (out[1])
        return 2;
    memcpy(out + 1, "u00", 3);
    out[4] = digits[byte >> 4];
    out[5] = digits[byte & 15];
    return ESCAPE_MAX;
}

/*
 * Writes ASCII up to `end` or to the first byte beyond it. JSON as the text of a string has a quote
 * every few bytes: so eight bytes are copied whatever is in them, and what comes next is written
 * over the useless ones.
 *
 * @param out has room for ESCAPE_MAX times the text and eight bytes more
 * @param at  moves to behind what is written
 * @return the end of what is written
 */
static char *write_ascii(char *out, const char **at, const char *end)
{
    const char *text = *at;

    while (text < end) {
        size_t plain = 0;
        if ((size_t)(end - text) >= sizeof(uint64_t)) {
            memcpy(out, text, sizeof(uint64_t));
            plain = plain_of_eight(text);
        } else if (!is_special((unsigned char)*text)) {
            *out = *text;
            plain = 1;
        }
        out += plain;
        text += plain;
        if (plain > 0)
            continue;
        if ((unsigned char)*text >= 0x80)
            break;
        out += escape(out, (unsigned char)*text++);
    }
    *at = text;
    return out;
}

/* What is beyond ASCII at the front goes out as it is. @return its bytes; 0: it is not UTF-8 */
static size_t put_beyond_ascii(mcp_json_writer *writer, const char *text, size_t length)
{
    size_t at = 0;

    while (at < length && (unsigned char)text[at] >= 0x80) {
        size_t size = mcp__utf8_next(text + at, length - at, NULL);
        if (size == 0) {
            fail(writer, MCP_E_PARAMS);
            return 0;
        }
        at += size;
    }
    put(writer, text, at);
    return at;
}

/* A piece of ASCII at the front. @return its bytes; where the buffer's end is near it is not
 * more than a byte */
static size_t put_ascii(mcp_json_writer *writer, const char *text, size_t length)
{
    mcp_buf *buf = writer->buf;
    size_t piece = length < PIECE ? length : PIECE;
    size_t room = piece * ESCAPE_MAX + sizeof(uint64_t);
    const char *at = text;

    if (buf->max_bytes - buf->length <= room) {
        char form[ESCAPE_MAX];
        bool is_plain = !is_special((unsigned char)*text);
        put(writer, is_plain ? text : form, is_plain ? 1 : escape(form, (unsigned char)*text));
        return 1;
    }
    char *out = reserve(writer, room);
    if (!out)
        return 0;
    commit(writer, (size_t)(write_ascii(out, &at, text + piece) - out));
    return (size_t)(at - text);
}

/* What of a string must be looked at, from its first special byte on. */
static void put_special(mcp_json_writer *writer, const char *text, size_t length)
{
    for (size_t at = 0; at < length && writer->status == MCP_OK;) {
        if ((unsigned char)text[at] >= 0x80)
            at += put_beyond_ascii(writer, text + at, length - at);
        else
            at += put_ascii(writer, text + at, length - at);
    }
}

static void put_string(mcp_json_writer *writer, const char *text, size_t length)
{
    size_t plain = plain_run(text, length);
    char *room = reserve(writer, plain + 2);

    if (!room)
        return;
    room[0] = '"';
    if (text && plain > 0)
        memcpy(room + 1, text, plain);
    room[1 + plain] = '"';
    if (plain == length) {
        commit(writer, plain + 2);
        return;
    }
    commit(writer, plain + 1);
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
    if (name)
        write_name(writer, name, strlen(name));
    else
        fail(writer, MCP_E_PARAMS);
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
    if (!text && length > 0)
        fail(writer, MCP_E_PARAMS);
    if (begin_value(writer))
        put_string(writer, text, length);
}

/* ---- strings in pieces ----------------------------------------------------------------------- */

void mcp__write_string_open(mcp_json_writer *writer)
{
    if (begin_value(writer))
        put(writer, "\"", 1);
}

void mcp__write_string_part(mcp_json_writer *writer, const char *text, size_t length)
{
    size_t plain = plain_run(text, length);

    put(writer, text, plain);
    put_special(writer, text + plain, length - plain);
}

void mcp__write_string_escaped(mcp_json_writer *writer, const char *bytes, size_t length)
{
    put(writer, bytes, length);
}

void mcp__write_string_close(mcp_json_writer *writer)
{
    put(writer, "\"", 1);
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
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + size % 10);
        size /= 10;
    } while (size > 0);
    if (is_negative)
        digits[--at] = '-';
    write_text(writer, digits + at, sizeof digits - at);
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
    if (!json || length == 0)
        fail(writer, MCP_E_PARAMS);
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

/* One function a kind of value: the name, then the value. */
#define MEMBER(kind, type)                                                                         \
    void mcp_write_member_##kind(mcp_json_writer *writer, const char *name, type value)            \
    {                                                                                              \
        mcp_write_name(writer, name);                                                              \
        mcp_write_##kind(writer, value);                                                           \
    }
MEMBER(string, const char *)
MEMBER(int, int64_t)
MEMBER(double, double)
MEMBER(bool, bool)
MEMBER(value, const mcp_json *)

/* The same for what needs no value. */
#define MEMBER_ALONE(kind)                                                                         \
    void mcp_write_member_##kind(mcp_json_writer *writer, const char *name)                        \
    {                                                                                              \
        mcp_write_name(writer, name);                                                              \
        mcp_write_##kind(writer);                                                                  \
    }
MEMBER_ALONE(null)
MEMBER_ALONE(object)
MEMBER_ALONE(array)
