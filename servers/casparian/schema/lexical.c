/*
 * lexical.c - readers of integers, numbers, booleans, decimals, durations, and of dates and times
 * in patterns of a fixed length. Each reads its text once and takes no memory.
 */
#include "schema/lexical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    for (; at < length; at++) {
        if (!is_digit(text[at]))
            return false;
        value = value * 10 + (uint64_t)(text[at] - '0');
    }
    if (value > (uint64_t)INT64_MAX + is_negative)
        return false;
    *out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
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
    for (size_t i = 0; length <= strlen("false") && i < sizeof words / sizeof words[0]; i++) {
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

bool casparian_lexical_decimal(casparian_int128 *out, const char *text, size_t length,
                               casparian_decimal_type type)
{
    static const uint64_t powers[] = {
        1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u,
    };
    size_t at = length > 0 && text[0] == '-', begin = at;
    uint64_t value = 0;
    if (length > PART_DIGITS_MAX || type.precision > PART_DIGITS_MAX ||
        type.scale >= sizeof powers / sizeof powers[0])
        return casparian_decimal_parse(out, text, length, type);
    for (; at < length && is_digit(text[at]); at++)
        value = value * 10 + (uint64_t)(text[at] - '0');
    /* Zeros in front do not count, so their number is left to the other reader. */
    if (at == begin || (text[begin] == '0' && at - begin > 1) ||
        at - begin + type.scale > type.precision)
        return casparian_decimal_parse(out, text, length, type);
    size_t fraction = 0;
    if (at < length && text[at] == '.') {
        for (at++; at < length && is_digit(text[at]); at++, fraction++)
            value = value * 10 + (uint64_t)(text[at] - '0');
        if (fraction == 0)
            return false;
    }
    if (at < length || fraction > type.scale)
        return false;
    value *= powers[type.scale - fraction];
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

/* ---- layouts --------------------------------------------------------------------------------- */

static bool add_part(casparian_layout *self, char directive, char literal)
{
    if (self->count == CASPARIAN_LAYOUT_PARTS_MAX)
        return false;
    self->parts[self->count].directive = directive;
    self->parts[self->count].literal = literal;
    self->count++;
    self->length += directive == 'Y' ? 4 : directive ? 2 : 1;
    return true;
}

/* The parts of a pattern; %F and %T are patterns of their own. */
static bool add_parts(casparian_layout *self, const char *pattern)
{
    bool is_known = true;
    for (const char *at = pattern; is_known && *at; at++) {
        if (*at != '%')
            is_known = add_part(self, '\0', *at);
        else if (*++at == 'F')
            is_known = add_parts(self, "%Y-%m-%d");
        else if (*at == 'T')
            is_known = add_parts(self, "%H:%M:%S");
        else
            is_known = *at && strchr("YmdyHMS", *at) && add_part(self, *at, '\0');
    }
    return is_known;
}

casparian_layout casparian_layout_of(const char *pattern)
{
    casparian_layout made = { .length = 0 };
    if (!add_parts(&made, pattern))
        made.length = 0;
    return made;
}

static bool read_two(int *out, const char *text)
{
    if (!is_digit(text[0]) || !is_digit(text[1]))
        return false;
    *out = (text[0] - '0') * 10 + text[1] - '0';
    return true;
}

static bool read_part(casparian_moment *out, char directive, const char *text)
{
    int high = 0, value = 0;
    if (!read_two(&value, text))
        return false;
    switch (directive) {
    case 'Y':
        high = value;
        if (!read_two(&value, text + 2))
            return false;
        out->date.year = high * 100 + value;
        return true;
    case 'y':
        out->date.year = value >= 69 ? 1900 + value : 2000 + value;
        return true;
    case 'm':
        out->date.month = value;
        return true;
    case 'd':
        out->date.day = value;
        return true;
    case 'H':
        out->hour = value;
        return value < 24;
    case 'M':
        out->minute = value;
        return value < 60;
    default:
        out->second = value;
        return value < 60;
    }
}

bool casparian_layout_match(casparian_moment *out, const casparian_layout *layout, const char *text,
                            size_t length)
{
    casparian_moment made = { .date = { .year = 1970, .month = 1, .day = 1 } };
    if (length != layout->length || length == 0)
        return false;
    for (size_t i = 0; i < layout->count; i++) {
        char directive = layout->parts[i].directive;
        if (directive == '\0') {
            if (*text++ != layout->parts[i].literal)
                return false;
            continue;
        }
        if (!read_part(&made, directive, text))
            return false;
        text += directive == 'Y' ? 4 : 2;
    }
    *out = made;
    return casparian_date_is_valid(&made.date);
}

bool casparian_read_moment(casparian_moment *out, const casparian_layout *layout,
                           const casparian_format *format, const char *text, size_t length)
{
    return casparian_layout_match(out, layout, text, length) ||
           casparian_format_match(out, format, text, length);
}
