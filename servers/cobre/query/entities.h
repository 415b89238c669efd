/**
 * entities.h - the entities of a study by id and name, from the dictionary of its output directory.
 *
 * Source: the output page, sections 4 and 10.
 */
#ifndef COBRE_QUERY_ENTITIES_H
#define COBRE_QUERY_ENTITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#define QUERY_ENTITIES "training/dictionaries/entities.csv"

/** The codes of entity types in the dictionary. */
enum query_entity_code {
    QUERY_HYDRO = 0,
    QUERY_THERMAL = 1,
    QUERY_BUS = 2,
    QUERY_LINE = 3,
    QUERY_PUMPING_STATION = 4,
    QUERY_CONTRACT = 5,
    QUERY_NON_CONTROLLABLE = 7
};

typedef struct query_entity {
    int64_t code, id;
    const char *name;
} query_entity;

typedef struct query_entities {
    const query_entity *items;
    size_t count;
} query_entities;

/**
 * Read the dictionary of an output directory.
 *
 * @param out the arena's
 * @return MCP_OK; MCP_E_NOT_FOUND (no such file); MCP_E_PARSE (not that table); MCP_E_DENIED,
 *         MCP_E_IO, MCP_E_LIMIT, MCP_E_NOMEM
 */
mcp_status query_entities_read(query_entities *out, int out_fd, mcp_arena *arena, mcp_error *err);

/**
 * The same of the dictionary's text, which is changed: the names stay in it, without their quotes.
 *
 * @param text ends in NUL after `length` bytes
 * @return MCP_OK, MCP_E_PARSE, MCP_E_NOMEM
 */
mcp_status query_entities_parse(query_entities *out, char *text, size_t length, mcp_arena *arena,
                                mcp_error *err);

/** Whether a text is a decimal integer; `*id` is its value, INT64_MIN when it is out of range. */
bool query_entity_id(int64_t *id, const char *text);

/**
 * Find the entities of one type that a text names: by id when it is a decimal integer, else all of
 * exactly that name.
 *
 * @param ids room for `entities->count` ids; NULL: they are only counted
 * @return how many there are
 */
size_t query_entities_find(int64_t *ids, const query_entities *entities, int64_t code,
                           const char *text);

#endif
