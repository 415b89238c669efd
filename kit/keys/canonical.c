/*
 * canonical.c - RFC 8785, from a value that was read.
 *
 * Strings need nothing of ours: mcp_write_string_n escapes what RFC 8785, section 3.2.2.2, escapes,
 * in the same spelling. Numbers need the layout of ECMAScript (Number::toString) around the same
 * shortest digits. Members are sorted in an array on the stack, or on the heap when they are many.
 */
#include "keys/canonical.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"

/* So many members are sorted on the stack, at each of MCP_JSON_DEPTH_MAX levels. */
#define MEMBERS_ON_STACK 24

#define EXACT_MAX 0x1p53 /* a double holds every integer up to here */
#define FORM_MAX ((size_t)16 << 20)

struct member {
    const char *name;
    size_t length;
    const mcp_json *value;
};

/* ---- strings --------------------------------------------------------------------------------- */

/* Whether the character that begins here, three or four bytes of UTF-8, is none (Unicode 23.7). */
static bool is_noncharacter(const unsigned char *at)
{
    uint32_t code = at[0] < 0xf0 ? (at[0] & 15u) << 12 | (at[1] & 63u) << 6 | (at[2] & 63u)
                                 : (at[0] & 7u) << 18 | (at[1] & 63u) << 12 | (at[2] & 63u) << 6 |
                                       (at[3] & 63u);

    return (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Whether one of eight bytes is 0 to 31, a quotation mark, a backslash, or no ASCII. A byte that
 * becomes 0 by the exclusive or is below 1, so these are one question. A borrow from the byte
 * before may say so wrongly; it never hides one. */
static bool has_others(uint64_t eight)
{
    uint64_t quotes = eight ^ EACH_BYTE('"'), backslashes = eight ^ EACH_BYTE('\\');
    uint64_t below = (eight - EACH_BYTE(0x20)) | (quotes - EACH_BYTE(1)) |
                     (backslashes - EACH_BYTE(1));

    return ((eight | below) & EACH_BYTE(0x80)) != 0;
}

/* Whether the text is written as it is, as nearly all are: ASCII with nothing to escape. */
static bool is_plain(const char *text, size_t length)
{
    uint64_t eight = 0;

    for (; length >= sizeof eight; text += sizeof eight, length -= sizeof eight) {
        memcpy(&eight, text, sizeof eight);
        if (has_others(eight))
            return false;
    }
    eight = EACH_BYTE('a');
    memcpy(&eight, text, length);
    return !has_others(eight);
}

static mcp_status put_plain(mcp_buf *out, const char *text, size_t length)
{
    char *room = mcp_buf_reserve(out, length + 2);

    if (!room)
        return out->status;
    room[0] = '"';
    memcpy(room + 1, text, length);
    room[length + 1] = '"';
    mcp_buf_commit(out, length + 2);
    return MCP_OK;
}

static mcp_status put_string(mcp_buf *out, const char *text, size_t length, mcp_error *err)
{
    mcp_json_writer writer;

    if (is_plain(text, length))
        return put_plain(out, text, length);
    for (size_t i = 0; i < length; i++) {
        const unsigned char *at = (const unsigned char *)text + i;
        if (*at >= 0xef && is_noncharacter(at))
            return mcp_error_set(err, MCP_E_PARAMS, "a string has a noncharacter of Unicode");
    }
    mcp_json_writer_init(&writer, out);
    mcp_write_string_n(&writer, text, length);
    return mcp_json_writer_status(&writer);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The digits of a number and its size: 0.DIGITS times 10^point. */
struct decimal {
    char digits[24];
    int count;
    int point;
};

/* Take a text such as "120.5" or "1.2e-07" apart, without its sign and outer zeros. */
static void take_apart(struct decimal *out, const char *text)
{
    bool is_past_point = false;

    *out = (struct decimal){ .count = 0 };
    for (; *text && *text != 'e'; text++) {
        if (!isdigit((unsigned char)*text)) {
            is_past_point = is_past_point || *text != '-';
            continue;
        }
        bool is_leading_zero = out->count == 0 && *text == '0';
        if (!is_leading_zero && out->count < (int)sizeof out->digits)
            out->digits[out->count++] = *text;
        if (!is_past_point && !is_leading_zero)
            out->point++;
        if (is_past_point && is_leading_zero)
            out->point--;
    }
    if (*text == 'e')
        out->point += (int)strtol(text + 1, NULL, 10);
    while (out->count > 1 && out->digits[out->count - 1] == '0')
        out->count--;
}

/* The shortest digits that read back as this double. */
static mcp_status shortest(struct decimal *out, double number)
{
    char text[40];
    mcp_json_writer writer;
    mcp_buf digits;

    /* Here mcp_write_double writes all digits of the integer, also those that need not be. */
    if (fabs(number) >= EXACT_MAX && fabs(number) < 1e17) {
        for (int more = 14; more <= 16; more++) {
            snprintf(text, sizeof text, "%.*e", more, number);
            if (strtod(text, NULL) == number)
                break;
        }
        take_apart(out, text);
        return MCP_OK;
    }
    mcp_buf_init(&digits, sizeof text);
    mcp_json_writer_init(&writer, &digits);
    mcp_write_double(&writer, number);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        take_apart(out, digits.data);
    mcp_buf_clear(&digits);
    return st;
}

static mcp_status put_zeros(mcp_buf *out, int count)
{
    while (count-- > 0)
        mcp_buf_putc(out, '0');
    return out->status;
}

/* ECMA-262, Number::toString; `point` is its n, `count` its k. */
static mcp_status put_decimal(mcp_buf *out, const struct decimal *number)
{
    int point = number->point, count = number->count;

    if (point > 0 && point <= 21) {
        int whole = count < point ? count : point;
        mcp_buf_append(out, number->digits, (size_t)whole);
        put_zeros(out, point - whole);
        if (count > point) {
            mcp_buf_putc(out, '.');
            mcp_buf_append(out, number->digits + point, (size_t)(count - point));
        }
        return out->status;
    }
    if (point > -6 && point <= 0) {
        mcp_buf_puts(out, "0.");
        put_zeros(out, -point);
        return mcp_buf_append(out, number->digits, (size_t)count);
    }
    mcp_buf_putc(out, number->digits[0]);
    if (count > 1) {
        mcp_buf_putc(out, '.');
        mcp_buf_append(out, number->digits + 1, (size_t)count - 1);
    }
    return mcp_buf_printf(out, "e%c%d", point > 0 ? '+' : '-', abs(point - 1));
}

static mcp_status put_double(mcp_buf *out, double number)
{
    struct decimal decimal;

    if (number == 0)
        return mcp_buf_putc(out, '0');
    mcp_status st = shortest(&decimal, number);
    if (st != MCP_OK)
        return st;
    if (number < 0)
        mcp_buf_putc(out, '-');
    return put_decimal(out, &decimal);
}

/* An integer beyond 2^53: as its double, unless that has other digits. */
static mcp_status put_large(mcp_buf *out, double number, const char *digits, mcp_error *err)
{
    size_t before = out->length;
    mcp_status st = put_double(out, number);

    if (st == MCP_OK && strcmp(out->data + before, digits) != 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "%s is %s for readers with doubles; send it as a string", digits,
                             out->data + before);
    return st;
}

static mcp_status put_number(mcp_buf *out, const mcp_json *value, mcp_error *err)
{
    char digits[24] = "";
    int64_t integer = 0;
    uint64_t natural = 0;
    double number = 0;

    mcp_json_double(value, &number);
    if (mcp_json_int(value, &integer))
        snprintf(digits, sizeof digits, "%" PRId64, integer);
    else if (mcp_json_uint(value, &natural))
        snprintf(digits, sizeof digits, "%" PRIu64, natural);
    if (digits[0] == '\0')
        return put_double(out, number);
    if (fabs(number) < EXACT_MAX)
        return mcp_buf_puts(out, digits);
    return put_large(out, number, digits, err);
}

/* ---- objects --------------------------------------------------------------------------------- */

/*
 * The order of UTF-16 code units, of UTF-8. It differs from the order of bytes in one way:
 * characters beyond U+FFFF (first byte F0 or more) are surrogates, and come before U+E000 to U+FFFF
 * (EE, EF).
 */
static int compare_names(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    size_t common = a->length < b->length ? a->length : b->length;
    size_t i = 0;

    while (i < common && a->name[i] == b->name[i])
        i++;
    if (i == common)
        return (a->length > b->length) - (a->length < b->length);
    int x = (unsigned char)a->name[i], y = (unsigned char)b->name[i];
    x += x == 0xee || x == 0xef ? 0x10 : 0;
    y += y == 0xee || y == 0xef ? 0x10 : 0;
    return x - y;
}

static bool is_left_out(const char *const *except, const char *name, size_t length)
{
    for (; except && *except; except++)
        if (strlen(*except) == length && memcmp(*except, name, length) == 0)
            return true;
    return false;
}

static size_t list_members(struct member *members, const mcp_json *object,
                           const char *const *except)
{
    size_t count = 0;

    for (size_t i = 0; i < mcp_json_count(object); i++) {
        struct member *member = &members[count];
        member->name = mcp_json_name(object, i, &member->length);
        member->value = mcp_json_item(object, i);
        if (!is_left_out(except, member->name, member->length))
            count++;
    }
    return count;
}

/* Few members, mostly sorted already: by insertion. */
static void sort_few(struct member *members, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct member moving = members[i];
        size_t at = i;
        for (; at > 0 && compare_names(&members[at - 1], &moving) > 0; at--)
            members[at] = members[at - 1];
        members[at] = moving;
    }
}

static mcp_status put_members(mcp_buf *out, const struct member *members, size_t count,
                              mcp_error *err)
{
    mcp_status st = mcp_buf_putc(out, '{');

    for (size_t i = 0; i < count && st == MCP_OK; i++) {
        if (i > 0 && compare_names(&members[i - 1], &members[i]) == 0)
            return mcp_error_set(err, MCP_E_PARAMS, "duplicate member '%.100s'", members[i].name);
        if (i > 0)
            mcp_buf_putc(out, ',');
        st = put_string(out, members[i].name, members[i].length, err);
        if (st == MCP_OK)
            st = mcp_buf_putc(out, ':');
        if (st == MCP_OK)
            st = keys_canonical(out, members[i].value, err);
    }
    return st == MCP_OK ? mcp_buf_putc(out, '}') : st;
}

static mcp_status put_object(mcp_buf *out, const mcp_json *object, const char *const *except,
                             mcp_error *err)
{
    struct member few[MEMBERS_ON_STACK], *members = few;
    size_t count = mcp_json_count(object);

    if (count > MEMBERS_ON_STACK)
        members = mcp_alloc_zeroed(count, sizeof *members);
    if (!members)
        return MCP_E_NOMEM;
    count = list_members(members, object, except);
    if (members == few)
        sort_few(members, count);
    else
        qsort(members, count, sizeof *members, compare_names);
    mcp_status st = put_members(out, members, count, err);
    if (members != few)
        free(members);
    return st;
}

static mcp_status put_array(mcp_buf *out, const mcp_json *array, mcp_error *err)
{
    mcp_status st = mcp_buf_putc(out, '[');

    for (size_t i = 0; i < mcp_json_count(array) && st == MCP_OK; i++) {
        if (i > 0)
            mcp_buf_putc(out, ',');
        st = keys_canonical(out, mcp_json_item(array, i), err);
    }
    return st == MCP_OK ? mcp_buf_putc(out, ']') : st;
}

/* ---- values ---------------------------------------------------------------------------------- */

static mcp_status put_value(mcp_buf *out, const mcp_json *value, const char *const *except,
                            mcp_error *err)
{
    const char *text = NULL;
    size_t length = 0;
    bool flag = false;

    switch (mcp_json_type_of(value)) {
    case MCP_JSON_BOOL:
        mcp_json_bool(value, &flag);
        return mcp_buf_puts(out, flag ? "true" : "false");
    case MCP_JSON_INT:
    case MCP_JSON_UINT:
    case MCP_JSON_DOUBLE:
        return put_number(out, value, err);
    case MCP_JSON_STRING:
        text = mcp_json_string(value, &length);
        return put_string(out, text, length, err);
    case MCP_JSON_ARRAY:
        return put_array(out, value, err);
    case MCP_JSON_OBJECT:
        return put_object(out, value, except, err);
    case MCP_JSON_ABSENT:
    case MCP_JSON_NULL:
        break;
    }
    return mcp_buf_puts(out, "null");
}

mcp_status keys_canonical_without(mcp_buf *out, const mcp_json *object, const char *const *except,
                                  mcp_error *err)
{
    mcp_status st = put_value(out, object, except, err);

    /* The failures of the buffer have no words of their own yet. */
    if (st == MCP_E_NOMEM || st == MCP_E_LIMIT)
        return mcp_error_set(err, st, "canonical JSON: %s", mcp_status_words(st));
    return st;
}

mcp_status keys_canonical(mcp_buf *out, const mcp_json *value, mcp_error *err)
{
    return keys_canonical_without(out, value, NULL, err);
}

mcp_status keys_canonical_hash(char out[KEYS_HEX_SIZE], const mcp_json *value, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_buf form;

    mcp_buf_init(&form, FORM_MAX);
    mcp_status st = keys_canonical(&form, value, err);
    if (st == MCP_OK)
        st = mcp_sha256(digest, form.data, form.length, err);
    if (st == MCP_OK)
        keys_hex(out, digest);
    mcp_buf_clear(&form);
    return st;
}

/* ---- digests as text ------------------------------------------------------------------------- */

void keys_hex(char out[KEYS_HEX_SIZE], const uint8_t digest[MCP_SHA256_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < MCP_SHA256_SIZE; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[2 * MCP_SHA256_SIZE] = '\0';
}

/* 0 to 15, or -1. */
static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool keys_unhex(uint8_t digest[MCP_SHA256_SIZE], const char *text, size_t length)
{
    uint8_t bytes[MCP_SHA256_SIZE];

    if (!text || length != 2 * sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    memcpy(digest, bytes, sizeof bytes);
    return true;
}
