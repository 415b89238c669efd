/*
 * value.c - values of JSON.
 *
 * A nested value is checked as strictly as the others, and kept as text. UTF-8 is not checked here:
 * casparian repairs what is not.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parsers/input/scan.h"
#include "parsers/jsonl_native/value.h"

enum { NUMBER_BYTES_MAX = 400, EXACT_DIGITS = 15, EXACT_POWER = 22 };

static bool fail(struct casparian_json *json, const char *reason)
{
    if (!json->reason)
        json->reason = reason;
    return false;
}

void casparian_json_skip_space(struct casparian_json *json)
{
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\r'))
        json->at++;
}

bool casparian_json_take(struct casparian_json *json, char byte)
{
    if (json->at == json->end || *json->at != byte)
        return false;
    json->at++;
    return true;
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* The four digits at `at`, or -1. */
static int32_t hex_unit(const char *at, const char *end)
{
    int32_t unit = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static size_t put_utf8(char *out, int32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* The character of \uXXXX, whose digits are at `at`. Half of a pair alone is U+FFFD. */
static bool read_unicode(struct casparian_json *json, const char **at, int32_t *code)
{
    int32_t unit = hex_unit(*at, json->end);

    if (unit < 0)
        return fail(json, "\\u is not followed by four hexadecimal digits");
    *at += 4;
    *code = unit;
    if (unit < 0xD800 || unit > 0xDFFF)
        return true;
    *code = 0xFFFD;
    bool has_more = json->end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u';
    int32_t low = unit < 0xDC00 && has_more ? hex_unit(*at + 2, json->end) : -1;
    if (low >= 0xDC00 && low <= 0xDFFF) {
        *code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        *at += 6;
    }
    return true;
}

/* The escape behind the backslash before `*at`. */
static bool read_escape(struct casparian_json *json, const char **at, char *out, size_t *used)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    char name = *at < json->end ? *(*at)++ : '\0';
    const char *found = name ? strchr(names, name) : NULL;
    int32_t code = 0;

    if (found) {
        out[(*used)++] = bytes[found - names];
        return true;
    }
    if (name != 'u')
        return fail(json, "a string has an unknown escape");
    if (!read_unicode(json, at, &code))
        return false;
    *used += put_utf8(out + *used, code);
    return true;
}

static bool has_control(const char *at, const char *end)
{
    unsigned char least = 0xFF;

    for (; at < end; at++)
        least = (unsigned char)*at < least ? (unsigned char)*at : least;
    return least < 0x20;
}

bool casparian_json_string(struct casparian_json *json, const char **bytes, size_t *length)
{
    if (!casparian_json_take(json, '"'))
        return fail(json, "a string was expected");
    const char *begin = json->at;
    const char *at = casparian_find_either(begin, json->end, '"', '\\');
    bool is_plain = at < json->end && *at == '"';
    size_t used = 0;
    for (; !is_plain; at = casparian_find_either(begin, json->end, '"', '\\')) {
        memcpy(json->scratch + used, begin, (size_t)(at - begin));
        used += (size_t)(at - begin);
        if (has_control(begin, at))
            return fail(json, "a string has a control character");
        if (at == json->end)
            return fail(json, "a string is not closed");
        if (*at == '"')
            break;
        begin = at + 1;
        if (!read_escape(json, &begin, json->scratch, &used))
            return false;
    }
    if (is_plain && has_control(begin, at))
        return fail(json, "a string has a control character");
    *bytes = is_plain ? begin : json->scratch;
    *length = is_plain ? (size_t)(at - begin) : used;
    json->at = at + 1;
    return true;
}

static size_t count_digits(const struct casparian_json *json, const char *at)
{
    const char *begin = at;

    while (at < json->end && *at >= '0' && *at <= '9')
        at++;
    return (size_t)(at - begin);
}

/* The nearest double. Up to 15 digits and a power of ten up to 22 are exact doubles, so that one
 * operation on them rounds right. */
static double to_double(const char *bytes, size_t length)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    char text[NUMBER_BYTES_MAX + 1];
    int64_t digits = 0;
    size_t count = 0, places = 0, i = bytes[0] == '-';
    bool is_fraction = false;

    for (; i < length && count <= EXACT_DIGITS && bytes[i] != 'e' && bytes[i] != 'E'; i++) {
        if (bytes[i] == '.') {
            is_fraction = true;
            continue;
        }
        digits = digits * 10 + (bytes[i] - '0');
        count++;
        places += is_fraction;
    }
    if (i == length && count <= EXACT_DIGITS && places <= EXACT_POWER) {
        double value = (double)digits / powers[places];
        return bytes[0] == '-' ? -value : value;
    }
    memcpy(text, bytes, length);
    text[length] = '\0';
    return strtod(text, NULL);
}

static void read_integer(const char *bytes, size_t length, struct casparian_json_value *value)
{
    bool is_negative = bytes[0] == '-', overflows = false;
    int64_t integer = 0;

    for (size_t i = is_negative; i < length && !overflows; i++) {
        int digit = is_negative ? -(bytes[i] - '0') : bytes[i] - '0';
        overflows = __builtin_mul_overflow(integer, 10, &integer) ||
                    __builtin_add_overflow(integer, digit, &integer);
    }
    value->kind = overflows ? CASPARIAN_JSON_LONG : CASPARIAN_JSON_INTEGER;
    value->integer = integer;
}

static bool read_number(struct casparian_json *json, struct casparian_json_value *value)
{
    const char *begin = json->at, *at = begin + (*begin == '-');
    size_t whole = count_digits(json, at);
    bool is_integer = true;

    if (whole == 0 || (whole > 1 && *at == '0'))
        return fail(json, whole == 0 ? "a value was expected" : "a number begins with 0");
    at += whole;
    if (at < json->end && *at == '.') {
        size_t places = count_digits(json, ++at);
        if (places == 0)
            return fail(json, "a number has no digit after its point");
        at += places;
        is_integer = false;
    }
    if (at < json->end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < json->end && (*at == '+' || *at == '-');
        size_t power = count_digits(json, at);
        if (power == 0)
            return fail(json, "a number has no digit in its exponent");
        at += power;
        is_integer = false;
    }
    json->at = at;
    value->bytes = begin;
    value->length = (size_t)(at - begin);
    if (value->length > NUMBER_BYTES_MAX)
        return fail(json, "a number has more than 400 characters");
    if (is_integer) {
        read_integer(begin, value->length, value);
    } else {
        value->number = to_double(begin, value->length);
        value->kind = isfinite(value->number) ? CASPARIAN_JSON_NUMBER : CASPARIAN_JSON_LONG;
    }
    return true;
}

static bool read_word(struct casparian_json *json, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0)
        return fail(json, "a value was expected");
    json->at += length;
    return true;
}

static bool read_simple(struct casparian_json *json, struct casparian_json_value *value)
{
    switch (json->at < json->end ? *json->at : '\0') {
    case '"':
        value->kind = CASPARIAN_JSON_STRING;
        return casparian_json_string(json, &value->bytes, &value->length);
    case 't':
    case 'f':
        value->kind = CASPARIAN_JSON_BOOLEAN;
        value->boolean = *json->at == 't';
        return read_word(json, value->boolean ? "true" : "false");
    case 'n':
        value->kind = CASPARIAN_JSON_NULL;
        return read_word(json, "null");
    default:
        return json->at < json->end && (*json->at == '-' || hex_digit(*json->at) >= 0)
                   ? read_number(json, value)
                   : fail(json, "a value was expected");
    }
}

static bool skip_value(struct casparian_json *json, int depth);

/* `"name" :` */
static bool skip_name(struct casparian_json *json)
{
    const char *bytes = NULL;
    size_t length = 0;

    casparian_json_skip_space(json);
    if (!casparian_json_string(json, &bytes, &length))
        return false;
    casparian_json_skip_space(json);
    return casparian_json_take(json, ':') || fail(json, "a colon was expected");
}

/* An array or object that begins at `at`. */
static bool skip_nested(struct casparian_json *json, int depth)
{
    bool is_object = *json->at++ == '{';
    char closer = is_object ? '}' : ']';

    if (depth > CASPARIAN_JSON_DEPTH_MAX)
        return fail(json, "values are nested deeper than 64");
    casparian_json_skip_space(json);
    if (casparian_json_take(json, closer))
        return true;
    do {
        if (is_object && !skip_name(json))
            return false;
        if (!skip_value(json, depth))
            return false;
        casparian_json_skip_space(json);
    } while (casparian_json_take(json, ','));
    return casparian_json_take(json, closer) || fail(json, "a comma or bracket was expected");
}

static bool skip_value(struct casparian_json *json, int depth)
{
    struct casparian_json_value value;

    casparian_json_skip_space(json);
    if (json->at < json->end && (*json->at == '{' || *json->at == '['))
        return skip_nested(json, depth + 1);
    return read_simple(json, &value);
}

/* Copy a text without the white space outside of its strings; returns its length. */
static size_t compact(char *out, const char *at, const char *end)
{
    size_t used = 0;

    for (bool is_string = false; at < end; at++) {
        bool is_space = *at == ' ' || *at == '\t' || *at == '\r';
        if (is_space && !is_string)
            continue;
        out[used++] = *at;
        if (*at == '"')
            is_string = !is_string;
        else if (*at == '\\')
            out[used++] = *++at;
    }
    return used;
}

bool casparian_json_value(struct casparian_json *json, struct casparian_json_value *value)
{
    const char *begin = json->at;

    if (begin == json->end || (*begin != '{' && *begin != '['))
        return read_simple(json, value);
    if (!skip_nested(json, 1))
        return false;
    value->kind = CASPARIAN_JSON_NESTED;
    value->bytes = json->scratch;
    value->length = compact(json->scratch, begin, json->at);
    return true;
}
