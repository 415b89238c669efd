/*
 * value.h - how a JSON value lies in memory. Only lib/json looks inside; what
 * lib/schema needs of it is mcp__json_find.
 *
 * A value is 16 bytes. Items of an array lie side by side, members of an object too, so the i-th
 * is found at once. An object of more than MCP__JSON_INDEXED members has a hash index right behind
 * them: mcp__json_slots(count) numbers, each a member's number plus one or 0, by mcp__map_hash
 * with linear probing. It is built while reading, because values never change afterwards.
 */
#ifndef MCP_JSON_VALUE_H
#define MCP_JSON_VALUE_H

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

/*
 * How many slots the index of an object of `count` members has: a power of two, at most half full.
 */
size_t mcp__json_slots(size_t count);

/* Room for `count` members and, where due, their index; NULL when the arena gives none. */
mcp__json_member *mcp__json_members_new(mcp_arena *arena, size_t count);

/* Fill the index of complete members; nothing to do for few. */
void mcp__json_members_index(mcp__json_member *members, size_t count);

/* The number of the last member of that name; `count` of the object when there is none. */
size_t mcp__json_find(const mcp_json *object, const char *name, size_t length);

#ifdef __cplusplus
}
#endif

#endif
