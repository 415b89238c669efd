/*
 * number.h - exact questions about JSON numbers: divisibility, being whole; and hashes of values.
 *
 * Divisibility is decided on decimals, since 0.3 is a multiple of 0.1 for the author of the
 * schema.
 */
#ifndef MCP_SCHEMA_NUMBER_H
#define MCP_SCHEMA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/json.h"

/* digits * 10^exponent, without trailing zeros in `digits`; the sign is left out. */
typedef struct mcp__decimal {
    uint64_t digits;
    int exponent;
} mcp__decimal;

/* Whether the value is a number without a fraction: 2, and 2.0 as well. */
bool mcp__number_is_whole(const mcp_json *value);

/* Whether the value is a whole number from 0 to 2^64-1; then *out is set. */
bool mcp__number_is_count(const mcp_json *value, uint64_t *out);

/* The shortest decimal that reads back as this number. */
mcp__decimal mcp__number_decimal(const mcp_json *value);

/* Whether `a` is an integer times `b`; `b` must not be 0. */
bool mcp__decimal_divides(mcp__decimal b, mcp__decimal a);

/* How many bytes of text one step of a check is good for. */
enum { MCP__BYTES_A_STEP = 64 };

/* A hash that is equal for values that mcp_json_equal calls equal. *steps_left shrinks by what
 * the look at all of it costs; when that is 0 afterwards it was given up, and the hash means
 * nothing. */
uint64_t mcp__value_hash(const mcp_json *value, uint64_t *steps_left);

#endif
