/*
 * decimal.c - decimals as integers of 128 bits.
 */
#include "schema/decimal.h"

#include <stdlib.h>

/* 10^0 to 10^19, the powers that fit 64 bits. */
static const uint64_t powers[] = {
    1u,
    10u,
    100u,
    1000u,
    10000u,
    100000u,
    1000000u,
    10000000u,
    100000000u,
    1000000000u,
    10000000000u,
    100000000000u,
    1000000000000u,
    10000000000000u,
    100000000000000u,
    1000000000000000u,
    10000000000000000u,
    100000000000000000u,
    1000000000000000000u,
    10000000000000000000u,
};

enum { POWER_MAX = sizeof powers / sizeof powers[0] - 1 };

/* @param exponent at most 38: the result is below 2^127 */
static casparian_int128 power_of_ten(unsigned exponent)
{
    if (exponent <= POWER_MAX)
        return (casparian_int128)powers[exponent];
    return (casparian_int128)powers[POWER_MAX] * (casparian_int128)powers[exponent - POWER_MAX];
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t digits_at(const char *text, size_t length, size_t at)
{
    size_t begin = at;
    while (at < length && is_digit(text[at]))
        at++;
    return at - begin;
}

bool casparian_decimal_count(casparian_decimal_digits *out, const char *text, size_t length)
{
    size_t at = length > 0 && text[0] == '-';
    size_t zeros = 0, whole = digits_at(text, length, at), fraction = 0;
    if (whole == 0)
        return false;
    while (zeros < whole && text[at + zeros] == '0')
        zeros++;
    at += whole;
    if (at < length && text[at] == '.') {
        fraction = digits_at(text, length, at + 1);
        if (fraction == 0)
            return false;
        at += 1 + fraction;
    }
    *out = (casparian_decimal_digits){ .whole = whole - zeros, .fraction = fraction };
    return at == length;
}

/* Digits are summed up in 64 bits, and moved into the value by PART_DIGITS at a time, so that most
 * numbers need no product of 128 bits. */
typedef struct sum {
    casparian_int128 value;
    uint64_t part;
    unsigned count; /* digits of the part */
} sum;

enum { PART_DIGITS = 18 };

static void move_part(sum *self)
{
    self->value = self->value * power_of_ten(self->count) + (casparian_int128)self->part;
    self->part = 0;
    self->count = 0;
}

bool casparian_decimal_parse(casparian_int128 *out, const char *text, size_t length,
                             casparian_decimal_type type)
{
    casparian_decimal_digits digits;
    sum total = { .value = 0 };
    if (!casparian_decimal_count(&digits, text, length) || digits.fraction > type.scale ||
        digits.whole + type.scale > type.precision)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i]))
            continue;
        total.part = total.part * 10 + (uint64_t)(text[i] - '0');
        if (++total.count == PART_DIGITS)
            move_part(&total);
    }
    move_part(&total);
    total.value *= power_of_ten(type.scale - (unsigned)digits.fraction);
    *out = text[0] == '-' ? -total.value : total.value;
    return true;
}

bool casparian_decimal_rescale(casparian_int128 *out, casparian_int128 value, unsigned from_scale,
                               casparian_decimal_type type)
{
    casparian_int128 limit = power_of_ten(type.precision), made = value;
    if (from_scale > CASPARIAN_DECIMAL_PRECISION_MAX)
        return false;
    if (from_scale > type.scale) {
        casparian_int128 divisor = power_of_ten(from_scale - type.scale);
        if (value % divisor != 0)
            return false;
        made = value / divisor;
    } else if (__builtin_mul_overflow(value, power_of_ten(type.scale - from_scale), &made)) {
        return false;
    }
    if (made >= limit || made <= -limit)
        return false;
    *out = made;
    return true;
}

size_t casparian_decimal_write(char out[CASPARIAN_DECIMAL_TEXT_SIZE], casparian_int128 value,
                               unsigned scale)
{
    char digits[CASPARIAN_DECIMAL_TEXT_SIZE];
    size_t count = 0, at = 0;
    __extension__ unsigned __int128 rest = (unsigned __int128)value;
    if (value < 0) {
        out[at++] = '-';
        rest = -rest;
    }
    while (rest > 0 || count <= scale) { /* from the last digit, one before the point at least */
        digits[count++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    }
    while (count > 0) {
        if (count == scale)
            out[at++] = '.';
        out[at++] = digits[--count];
    }
    out[at] = '\0';
    return at;
}

double casparian_decimal_double(casparian_int128 value, unsigned scale)
{
    char text[CASPARIAN_DECIMAL_TEXT_SIZE];
    casparian_decimal_write(text, value, scale);
    return strtod(text, NULL);
}
