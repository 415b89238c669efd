/**
 * decimal.h - numbers with a fixed count of digits behind the point, exact to 38 digits.
 *
 * A decimal(P, Q) is an integer of at most P digits, which stands for itself divided by 10^Q.
 * Nothing is rounded: what does not fit is refused. Every function is pure; any thread.
 */
#ifndef CASPARIAN_SCHEMA_DECIMAL_H
#define CASPARIAN_SCHEMA_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CASPARIAN_DECIMAL_PRECISION_MAX 38

/** Room for the text of any decimal: sign, 38 digits, a zero before the point, the point, NUL. */
#define CASPARIAN_DECIMAL_TEXT_SIZE 48

/** The unscaled value: 128 bits, two's complement. */
__extension__ typedef __int128 casparian_int128;

/** P and Q: 1 <= precision <= 38, scale <= precision. */
typedef struct casparian_decimal_type {
    uint8_t precision, scale;
} casparian_decimal_type;

/** How a text of the form -?[0-9]+(\.[0-9]+)? is written. */
typedef struct casparian_decimal_digits {
    size_t whole;    /* digits before the point, without leading zeros */
    size_t fraction; /* digits behind it, as written */
} casparian_decimal_digits;

/** Count the digits of a text. @return false: it has another form */
bool casparian_decimal_count(casparian_decimal_digits *out, const char *text, size_t length);

/**
 * Read a text of that form, without whitespace, sign '+' or exponent.
 *
 * @return false: it has another form, more than `scale` digits behind the point, or more than
 *         `precision` digits once the fraction is filled up to `scale`
 */
bool casparian_decimal_parse(casparian_int128 *out, const char *text, size_t length,
                             casparian_decimal_type type);

/** Bring a value from a scale to another type. @return false: it would lose digits, or is too long
 */
bool casparian_decimal_rescale(casparian_int128 *out, casparian_int128 value, unsigned from_scale,
                               casparian_decimal_type type);

/** Write it with exactly `scale` digits behind the point, and a NUL. @return the length */
size_t casparian_decimal_write(char out[CASPARIAN_DECIMAL_TEXT_SIZE], casparian_int128 value,
                               unsigned scale);

/** The nearest double. */
double casparian_decimal_double(casparian_int128 value, unsigned scale);

#endif
