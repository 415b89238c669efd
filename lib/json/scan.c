/*
 * scan.c - the slow look at a text that was refused.
 *
 * simdjson says that a text is not JSON but not where. This scanner walks the text from the front
 * by the grammar of RFC 8259 and stops at the first byte that cannot stand there. It runs only for
 * refused texts, so it is written for clear answers. It must refuse exactly what reading refuses;
 * the fuzz target compares the two.
 *
 * It recurses once a level and at most MCP_JSON_DEPTH_MAX levels.
 */
#include "json/json_int.h"

#include <string.h>

#include "base/utf8.h"
#include "mcp/json.h"

typedef struct scanner {
    const char *text;
    size_t length;
    size_t at;
    unsigned depth;
    mcp__json_fault *fault;
    mcp_buf *wide; /* see mcp__json_widen; NULL: nobody asks */
    size_t copied; /* to `wide` */
} scanner;

static bool scan_value(scanner *in);

static bool fail_at(scanner *in, size_t offset, const char *reason)
{
    *in->fault = (mcp__json_fault){ MCP_E_PARSE, offset, reason, false };
    return false;
}

/* The grammar allows it, reading does not. */
static bool fail_value(scanner *in, size_t offset, const char *reason)
{
    *in->fault = (mcp__json_fault){ MCP_E_PARSE, offset, reason, true };
    return false;
}

/* The byte here is not what `reason` requires, or the text ends. */
static bool fail(scanner *in, const char *reason)
{
    return fail_at(in, in->at, in->at < in->length ? reason : "the JSON text ends too early");
}

/* The byte here, or NUL (which no rule asks for) at the end. */
static char peek(const scanner *in)
{
    return in->at < in->length ? in->text[in->at] : '\0';
}

static bool accept(scanner *in, char byte)
{
    if (in->at >= in->length || in->text[in->at] != byte)
        return false;
    in->at++;
    return true;
}

static void skip_space(scanner *in)
{
    while (in->at < in->length && memchr(" \t\r\n", in->text[in->at], 4))
        in->at++;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The four hexadecimal digits of a \u. */
static bool scan_hex(scanner *in, unsigned *unit)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++) {
        char byte = peek(in);
        if (byte >= '0' && byte <= '9')
            value = value * 16 + (unsigned)(byte - '0');
        else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
            value = value * 16 + (unsigned)((byte | 0x20) - 'a' + 10);
        else
            return fail(in, "four hexadecimal digits are expected behind \\u");
        in->at++;
    }
    *unit = value;
    return true;
}

/* What follows \u: one UTF-16 unit, or two that make a pair. */
static bool scan_unicode(scanner *in, size_t escape)
{
    unsigned unit = 0;

    if (!scan_hex(in, &unit))
        return false;
    if (unit >= 0xDC00 && unit <= 0xDFFF)
        return fail_value(in, escape, "the second half of a surrogate pair is alone");
    if (unit < 0xD800 || unit > 0xDBFF)
        return true;
    if (!accept(in, '\\') || !accept(in, 'u'))
        return fail_value(in, escape, "the first half of a surrogate pair is alone");
    if (!scan_hex(in, &unit))
        return false;
    if (unit < 0xDC00 || unit > 0xDFFF)
        return fail_value(in, escape, "the first half of a surrogate pair is alone");
    return true;
}

static bool scan_escape(scanner *in)
{
    size_t escape = in->at++;
    char byte = peek(in);

    if (byte == 'u') {
        in->at++;
        return scan_unicode(in, escape);
    }
    if (byte == '\0' || !strchr("\"\\/bfnrt", byte))
        return fail(in, "JSON has no such escape");
    in->at++;
    return true;
}

static bool scan_string(scanner *in)
{
    in->at++;
    while (in->at < in->length) {
        char byte = in->text[in->at];
        if (byte == '"') {
            in->at++;
            return true;
        }
        if (byte == '\\') {
            if (!scan_escape(in))
                return false;
            continue;
        }
        if ((unsigned char)byte < 0x20)
            return fail(in, "a control character in a string must be escaped");
        size_t size = mcp__utf8_next(in->text + in->at, in->length - in->at, NULL);
        if (size == 0)
            return fail(in, "a string is not UTF-8");
        in->at += size;
    }
    return fail(in, "a string does not end");
}

/* ---- numbers and words ----------------------------------------------------------------------- */

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool scan_digits(scanner *in)
{
    if (!is_digit(peek(in)))
        return fail(in, "a digit is expected");
    while (is_digit(peek(in)))
        in->at++;
    return true;
}

/* Copy what was scanned, with a fraction behind the integer in which it ends. */
static void widen(scanner *in)
{
    mcp_buf_append(in->wide, in->text + in->copied, in->at - in->copied);
    mcp_buf_puts(in->wide, ".0");
    in->copied = in->at;
}

static bool scan_number(scanner *in)
{
    size_t start = in->at;
    bool is_integer = true;

    accept(in, '-');
    if (accept(in, '0')) {
        if (is_digit(peek(in)))
            return fail(in, "a number must not begin with 0");
    } else if (!scan_digits(in)) {
        return false;
    }
    if (accept(in, '.')) {
        is_integer = false;
        if (!scan_digits(in))
            return false;
    }
    if (accept(in, 'e') || accept(in, 'E')) {
        is_integer = false;
        if (!accept(in, '+'))
            accept(in, '-');
        if (!scan_digits(in))
            return false;
    }
    if (!mcp__json_number_fits(in->text + start, in->at - start))
        return fail_value(in, start, "a number is beyond the range of a double");
    if (in->wide && is_integer && !mcp__json_integer_fits(in->text + start, in->at - start))
        widen(in);
    return true;
}

static bool scan_word(scanner *in, const char *word)
{
    for (; *word; word++) {
        if (!accept(in, *word))
            return fail(in, "a value is expected: true, false, null, a number, a string, [ or {");
    }
    return true;
}

/* ---- containers ------------------------------------------------------------------------------ */

static bool scan_name(scanner *in)
{
    skip_space(in);
    if (peek(in) != '"')
        return fail(in, "a member name in double quotes is expected");
    if (!scan_string(in))
        return false;
    skip_space(in);
    return accept(in, ':') || fail(in, "':' is expected behind a member name");
}

static bool scan_container(scanner *in)
{
    bool is_array = peek(in) == '[';
    char end = is_array ? ']' : '}';

    if (in->depth == MCP_JSON_DEPTH_MAX) {
        *in->fault = (mcp__json_fault){ MCP_E_LIMIT, in->at, "the JSON is nested too deep", true };
        return false;
    }
    in->at++;
    in->depth++;
    skip_space(in);
    if (!accept(in, end)) {
        do {
            if ((!is_array && !scan_name(in)) || !scan_value(in))
                return false;
        } while (accept(in, ','));
        if (!accept(in, end))
            return fail(in, is_array ? "',' or ']' is expected" : "',' or '}' is expected");
    }
    in->depth--;
    return true;
}

static bool scan_bare(scanner *in)
{
    switch (peek(in)) {
    case '[':
    case '{':
        return scan_container(in);
    case '"':
        return scan_string(in);
    case 'f':
        return scan_word(in, "false");
    case 'n':
        return scan_word(in, "null");
    default:
        return peek(in) == '-' || is_digit(peek(in)) ? scan_number(in) : scan_word(in, "true");
    }
}

/* A value and the space around it. */
static bool scan_value(scanner *in)
{
    skip_space(in);
    if (!scan_bare(in))
        return false;
    skip_space(in);
    return true;
}

static bool scan(scanner *in)
{
    if (in->length >= 3 && memcmp(in->text, "\xEF\xBB\xBF", 3) == 0)
        return fail_at(in, 0, "JSON must not begin with a byte order mark");
    if (!scan_value(in))
        return false;
    return in->at == in->length || fail(in, "text follows behind the JSON value");
}

bool mcp__json_scan(const char *text, size_t length, mcp__json_fault *fault)
{
    scanner in = { .text = text, .length = length, .fault = fault };

    return scan(&in);
}

bool mcp__json_widen(mcp_buf *out, const char *text, size_t length)
{
    mcp__json_fault ignored;
    scanner in = { .text = text, .length = length, .fault = &ignored, .wide = out };

    if (!scan(&in))
        return false;
    mcp_buf_append(out, text + in.copied, length - in.copied);
    return true;
}
