/**
 * lexical.h - the texts that are values of a type, exactly and without blanks around them.
 *
 * Dates and times are in schema/format.h, and in schema/layout.h those of the common patterns.
 * Every function is pure; any thread. On false, `out` is undefined.
 *
 * Source: casparian's data model, 3.4, L1 to L5.
 */
#ifndef CASPARIAN_SCHEMA_LEXICAL_H
#define CASPARIAN_SCHEMA_LEXICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/decimal.h"

/** Longest text that is read as a float64. */
#define CASPARIAN_NUMBER_TEXT_MAX 1024

/** -?(0|[1-9][0-9]*) that fits 64 bits. */
bool casparian_lexical_int64(int64_t *out, const char *text, size_t length);

/** A number of JSON within the range of a double, or nan, inf, -inf in any case. */
bool casparian_lexical_float64(double *out, const char *text, size_t length);

/** In any case: true false yes no t f y n 1 0. */
bool casparian_lexical_boolean(bool *out, const char *text, size_t length);

/** As casparian_decimal_parse, faster for up to 18 digits. */
bool casparian_lexical_decimal(casparian_int128 *out, const char *text, size_t length,
                               casparian_decimal_type type);

/** ISO 8601: P[nD]T[nH][nM][n(.n)S], 'T' and its parts or the days may be missing, not both; '-'
 *  may stand in front; the fraction has at most 6 digits. @param out microseconds */
bool casparian_lexical_duration(int64_t *out, const char *text, size_t length);

#endif
