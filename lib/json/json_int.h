/*
 * json_int.h - what the files of lib/json share: how a JSON value lies in memory, numbers as text,
 * faults, and strings that are written in pieces.
 *
 * A value is 16 bytes. Items of an array lie side by side, members of an object too, so the i-th
 * is found at once. An object of more than MCP__JSON_INDEXED members has a hash index right behind
 * them, of numbers, at least half of them free: each a member's number plus one or 0, found by
 * mcp__map_hash with linear probing. It is built while reading, because values never change
 * afterwards.
 */
#ifndef MCP_JSON_INT_H
#define MCP_JSON_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Up to this many members a look-up compares one by one. */
#define MCP__JSON_INDEXED 16

typedef struct mcp__json_member mcp__json_member;

struct mcp_json {
    uint32_t type;  /* mcp_json_type */
    uint32_t count; /* bytes of a string, items of an array, members of an object */
    union {
        bool boolean;
        int64_t integer;
        uint64_t natural;
        double number;
        const char *string; /* a NUL follows */
        const struct mcp_json *items;
        const mcp__json_member *members;
    } is;
};

struct mcp__json_member {
    const char *name; /* a NUL follows */
    size_t length;
    struct mcp_json value;
};

/* Room for `count` members and, where due, their index; NULL when the arena gives none. */
mcp__json_member *mcp__json_members_new(mcp_arena *arena, size_t count);

/* Fill the index of complete members; nothing to do for few. */
void mcp__json_members_index(mcp__json_member *members, size_t count);

/* The number of the last member of that name; `count` of the object when there is none. */
size_t mcp__json_find(const mcp_json *object, const char *name, size_t length);

/* ---- numbers (value.c) ---- */

/* An exact whole number whose size 64 bits hold, of either sign. */
__extension__ typedef __int128 mcp__json_whole;

/* Whether the value is such a number, 2 as well as 2.0; sets *out. */
bool mcp__json_is_whole(const mcp_json *value, mcp__json_whole *out);

/* Negative, 0 or positive as a is below, equal to or above b; by value, never by rounding. Both
 * must be numbers. */
int mcp__json_compare(const mcp_json *a, const mcp_json *b);

/* ---- numbers as text (read.cpp) ---- */

/* Room for mcp__json_format_double; no NUL is written. */
#define MCP__JSON_DOUBLE_SIZE 32

/* Write the shortest JSON number that reads back as this finite double and say how long it is.
 * Without an exponent from 1e-5 up to 1e17, with one beyond; so an integral double that looks
 * like an integer always fits int64_t. Minus zero is "-0.0", so that it stays a double. */
size_t mcp__json_format_double(char out[MCP__JSON_DOUBLE_SIZE], double number);

/* Whether a finite double can represent the JSON number. */
bool mcp__json_number_fits(const char *text, size_t length);

/* Whether an integer, without fraction and exponent, fits 64 bits. */
bool mcp__json_integer_fits(const char *text, size_t length);

/* ---- where a text stops being JSON (scan.c) ---- */

typedef struct mcp__json_fault {
    mcp_status status; /* MCP_E_PARSE or MCP_E_LIMIT */
    size_t offset; /* the first byte that no JSON text could have there; the length at its end */
    const char *reason; /* constant */
    bool is_of_value;   /* the structure is right: a number, an escape or the depth is not */
} mcp__json_fault;

/* True when the text is JSON that mcp_json_read takes; else *fault says what is wrong first. */
bool mcp__json_scan(const char *text, size_t length, mcp__json_fault *fault);

/* True for such a text; then it is appended to `out` with ".0" behind each integer beyond 64 bits,
 * so that it becomes a double. Whether there was room, out->status says. */
bool mcp__json_widen(mcp_buf *out, const char *text, size_t length);

/* ---- strings in pieces (write.c): between open and close nothing else is written ---- */

/* Begin a string. */
void mcp__write_string_open(mcp_json_writer *writer);

/* A piece of its text: whole characters of UTF-8, escaped here. */
void mcp__write_string_part(mcp_json_writer *writer, const char *text, size_t length);

/* A piece that is escaped already, copied unchanged. */
void mcp__write_string_escaped(mcp_json_writer *writer, const char *bytes, size_t length);

/* End the string. */
void mcp__write_string_close(mcp_json_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
