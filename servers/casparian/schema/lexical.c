/*
 * lexical.c - readers of integers, numbers, booleans, decimals and durations. Each reads its text
 * once and takes no memory.
 */
#include "schema/lexical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "schema/civil.h"
#include "schema/digits.h"

enum { INT64_DIGITS_MAX = 19, PART_DIGITS_MAX = 18, MICRO_DIGITS = 6, EXACT_EXPONENT_MAX = 22 };

/* Powers of ten that a double holds exactly. */
static const double exact_powers[EXACT_EXPONENT_MAX + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* ---- integers, booleans ---------------------------------------------------------------------- */

bool casparian_lexical_int64(int64_t *out, const char *text, size_t length)
{
    bool is_negative = length > 0 && text[0] == '-';
    size_t at = is_negative, digits = length - at;
    uint64_t value = 0;
    if (digits == 0 || digits > INT64_DIGITS_MAX || (text[at] == '0' && digits > 1))
        return false;
    if (!casparian_digits(&value, text + at, digits))
        return false;
    if (value > (uint64_t)INT64_MAX + is_negative)
        return false;
    *out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* Of most texts the first byte says that they are none. */
static bool begins_boolean(char byte)
{
    switch (byte) {
    case 't':
    case 'T':
    case 'f':
    case 'F':
    case 'y':
    case 'Y':
    case 'n':
    case 'N':
    case '1':
    case '0':
        return true;
    default:
        return false;
    }
}

bool casparian_lexical_boolean(bool *out, const char *text, size_t length)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {
        { "true", true }, { "false", false }, { "1", true },  { "0", false }, { "yes", true },
        { "no", false },  { "t", true },      { "f", false }, { "y", true },  { "n", false },
    };
    if (length == 0 || length > strlen("false") || !begins_boolean(text[0]))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (is_word(text, length, words[i].word)) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A number of JSON in its parts. */
struct number {
    uint64_t digits; /* the first PART_DIGITS_MAX of all digits */
    size_t count;    /* of digits, without zeros in front */
    long exponent;   /* of ten, of the last digit */
    bool is_negative;
};

static void add_digit(struct number *self, char byte)
{
    if (self->count > 0 || byte != '0')
        self->count++;
    if (self->count <= PART_DIGITS_MAX)
        self->digits = self->digits * 10 + (uint64_t)(byte - '0');
}

/* The exponent behind 'e'. @return the end; NULL: it is none */
static const char *read_exponent(struct number *self, const char *at, const char *end)
{
    long exponent = 0;
    bool is_negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end || !is_digit(*at))
        return NULL;
    for (; at < end && is_digit(*at); at++)
        exponent = exponent < CASPARIAN_NUMBER_TEXT_MAX * 10 ? exponent * 10 + *at - '0' : exponent;
    self->exponent += is_negative ? -exponent : exponent;
    return at;
}

/* @return false: it is no number of JSON */
static bool read_number(struct number *self, const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    self->is_negative = at < end && *at == '-';
    at += self->is_negative;
    if (at == end || !is_digit(*at) || (*at == '0' && at + 1 < end && is_digit(at[1])))
        return false;
    for (; at < end && is_digit(*at); at++)
        add_digit(self, *at);
    if (at < end && *at == '.') {
        const char *begin = ++at;
        for (; at < end && is_digit(*at); at++, self->exponent--)
            add_digit(self, *at);
        if (at == begin)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E'))
        at = read_exponent(self, at + 1, end);
    return at == end;
}

static bool is_named_number(double *out, const char *text, size_t length)
{
    if (is_word(text, length, "nan"))
        *out = (double)NAN;
    else if (is_word(text, length, "inf"))
        *out = (double)INFINITY;
    else if (is_word(text, length, "-inf"))
        *out = -(double)INFINITY;
    else
        return false;
    return true;
}

/* Up to 2^53 and 10^22 both are exact, so one division or product rounds once, as strtod does. */
bool casparian_lexical_float64(double *out, const char *text, size_t length)
{
    char copy[CASPARIAN_NUMBER_TEXT_MAX + 1];
    struct number number = { .digits = 0 };
    if (length > CASPARIAN_NUMBER_TEXT_MAX)
        return false;
    if (!read_number(&number, text, length))
        return is_named_number(out, text, length);
    if (number.count <= PART_DIGITS_MAX && number.digits <= (UINT64_C(1) << 53) &&
        labs(number.exponent) <= EXACT_EXPONENT_MAX) {
        double value = (double)number.digits;
        value = number.exponent < 0 ? value / exact_powers[-number.exponent]
                                    : value * exact_powers[number.exponent];
        *out = number.is_negative ? -value : value;
        return true;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = strtod(copy, NULL);
    return isfinite(*out);
}

/* Where the point is, which most texts have before as many digits as the scale says; `length`:
 * there is none. */
static size_t point_of(const char *text, size_t length, unsigned scale)
{
    if (length > scale && text[length - scale - 1] == '.')
        return length - scale - 1;
    const char *found = length > 0 ? memchr(text, '.', length) : NULL;
    return found ? (size_t)(found - text) : length;
}

bool casparian_lexical_decimal(casparian_int128 *out, const char *text, size_t length,
                               casparian_decimal_type type)
{
    static const uint64_t powers[] = {
        1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u,
    };
    size_t begin = length > 0 && text[0] == '-';
    uint64_t value = 0, part = 0;
    if (length > PART_DIGITS_MAX || type.precision > PART_DIGITS_MAX ||
        type.scale >= sizeof powers / sizeof powers[0])
        return casparian_decimal_parse(out, text, length, type);
    size_t point = point_of(text, length, type.scale);
    /* Zeros in front do not count, so their number is left to the other reader. */
    if (point == begin || (text[begin] == '0' && point - begin > 1) ||
        point - begin + type.scale > type.precision)
        return casparian_decimal_parse(out, text, length, type);
    if (!casparian_digits(&value, text + begin, point - begin))
        return false;
    value *= powers[type.scale];
    if (point < length) {
        size_t fraction = length - point - 1;
        if (fraction == 0 || fraction > type.scale ||
            !casparian_digits(&part, text + point + 1, fraction))
            return false;
        value += part * powers[type.scale - fraction];
    }
    *out = begin ? -(casparian_int128)value : (casparian_int128)value;
    return true;
}

/* ---- durations ------------------------------------------------------------------------------- */

/* Digits and their unit, added to a total. @return the end; NULL: no digits, or too many */
static const char *read_amount(int64_t *amount, const char *at, const char *end)
{
    const char *begin = at;
    *amount = 0;
    for (; at < end && is_digit(*at); at++) {
        if (at - begin == PART_DIGITS_MAX)
            return NULL;
        *amount = *amount * 10 + (*at - '0');
    }
    return at == begin ? NULL : at;
}

static bool add_scaled(int64_t *total, int64_t amount, int64_t unit)
{
    int64_t product;
    return !__builtin_mul_overflow(amount, unit, &product) &&
           !__builtin_add_overflow(*total, product, total);
}

/* Digits behind the point as microseconds. */
static const char *read_micros(int64_t *micros, const char *at, const char *end)
{
    size_t digits = 0;
    *micros = 0;
    for (; at < end && is_digit(*at); at++, digits++)
        *micros = *micros * 10 + (*at - '0');
    if (digits == 0 || digits > MICRO_DIGITS)
        return NULL;
    for (; digits < MICRO_DIGITS; digits++)
        *micros *= 10;
    return at;
}

/* [nH][nM][n(.n)S], at least one of them. */
static bool read_clock(int64_t *total, const char *at, const char *end)
{
    static const char units[] = "HMS";
    static const int64_t sizes[] = { 3600 * CASPARIAN_MICROS_PER_SECOND,
                                     60 * CASPARIAN_MICROS_PER_SECOND,
                                     CASPARIAN_MICROS_PER_SECOND };
    int next = 0;
    if (at == end)
        return false;
    while (at < end) {
        int64_t amount = 0, micros = 0;
        at = read_amount(&amount, at, end);
        bool has_fraction = at && at < end && *at == '.';
        if (has_fraction)
            at = read_micros(&micros, at + 1, end);
        if (!at || at == end)
            return false;
        const char *unit = strchr(units + next, *at);
        if (!unit || *unit == '\0' || (has_fraction && *unit != 'S'))
            return false;
        if (!add_scaled(total, amount, sizes[unit - units]) || !add_scaled(total, micros, 1))
            return false;
        next = (int)(unit - units) + 1;
        at++;
    }
    return true;
}

bool casparian_lexical_duration(int64_t *out, const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    int64_t total = 0, days = 0;
    bool is_negative = at < end && *at == '-';
    at += is_negative;
    if (end - at < 3 || *at++ != 'P')
        return false;
    if (*at != 'T') {
        at = read_amount(&days, at, end);
        if (!at || at == end || *at++ != 'D' || !add_scaled(&total, days, CASPARIAN_MICROS_PER_DAY))
            return false;
    }
    if (at < end && (*at != 'T' || !read_clock(&total, at + 1, end)))
        return false;
    *out = is_negative ? -total : total;
    return true;
}
