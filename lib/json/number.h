/*
 * number.h - the text of doubles, by the C++ library's shortest conversion.
 */
#ifndef MCP_JSON_NUMBER_H
#define MCP_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for mcp__json_format_double; no NUL is written. */
#define MCP__JSON_DOUBLE_SIZE 32

/*
 * Write the shortest JSON number that reads back as this finite double and say how long it is.
 * Without an exponent from 1e-5 up to 1e17, with one beyond; so an integral double that looks like
 * an integer always fits int64_t. Minus zero is "-0.0", so that it stays a double.
 */
size_t mcp__json_format_double(char out[MCP__JSON_DOUBLE_SIZE], double number);

/* Whether the text of a JSON number is one that a finite double stands for. */
bool mcp__json_number_fits(const char *text, size_t length);

/* Whether an integer, without fraction and exponent, fits 64 bits. */
bool mcp__json_integer_fits(const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
