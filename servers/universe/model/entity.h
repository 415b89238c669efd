/*
 * entity.h - from the members of an entity to its row, and from the row to JSON.
 *
 * Members that every body has lie in its row, optional numbers of its orbit in a block; everything
 * else, nested objects and unknown members with it, is kept as the text of JSON. The hierarchy
 * (children, parentId, a group's children and parentGroupId) is no content: it is kept by lists,
 * and skipped here.
 */
#ifndef UNIVERSE_ENTITY_H
#define UNIVERSE_ENTITY_H

#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/core.h"

/* One member of an entity that is being put together. */
typedef struct universe_part {
    const char *name; /* ended by NUL */
    size_t length;
    const mcp_json *value; /* NULL: left out */
} universe_part;

/* The optional numbers of a body. The first eight are members of the same names; the rest is a
 * rogue's path. */
enum universe_orbit_slot {
    UNIVERSE_O_AXIS,
    UNIVERSE_O_ECCENTRICITY,
    UNIVERSE_O_OFFSET,       /* x, y, z */
    UNIVERSE_O_ROTATION = 5, /* x, y, z */
    UNIVERSE_O_MEMBERS = 8,
    UNIVERSE_O_START = 8,     /* x, y, z */
    UNIVERSE_O_VELOCITY = 11, /* x, y, z */
    UNIVERSE_O_CURVATURE = 14,
    UNIVERSE_O_PATH_AXIS = 15,
    UNIVERSE_O_PATH_ECCENTRICITY = 16,
    UNIVERSE_O_PATH_OFFSET = 17,   /* x, y, z */
    UNIVERSE_O_PATH_ROTATION = 20, /* x, y, z */
    UNIVERSE_O_PATH_PERIOD = 23,
    UNIVERSE_O_SLOTS = 24
};

extern const char *const universe_orbit_names[UNIVERSE_O_MEMBERS];

/* Which slots a body has, and their values in the order of the slots. */
typedef struct universe_orbit {
    uint32_t mask;
    uint32_t unused;
    double values[UNIVERSE_O_SLOTS]; /* as many as bits are set */
} universe_orbit;

/* The block of a body; one without slots for a body that has none. */
const universe_orbit *universe_orbit_of(const universe_core *core, const universe_body *body);

/* The value of a slot, or `otherwise`. */
double universe_orbit_value(const universe_orbit *orbit, unsigned slot, double otherwise);

/*
 * Make the row PRESENT with these members, or give a PRESENT one these members instead of those it
 * has. They must have been checked against the shape. Lists are not touched, so whether it is a
 * rogue must not change while the body stands in the list of roots or rogues.
 *
 * @return MCP_OK; MCP_E_NOMEM, MCP_E_LIMIT (the entity is too large): the state may be half changed
 */
mcp_status universe_entity_store(universe_state *state, universe_map map, universe_handle handle,
                                 const universe_part *parts, size_t count, mcp_error *err);

/* A body as a binary snapshot has it. */
typedef struct universe_raw_body {
    universe_body
        row; /* the five numbers, `color` where it is no text, and the flags that are content */
    const char *name;
    size_t name_length;
    const char *color; /* where it is a text */
    size_t color_length;
    uint32_t mask;                      /* of the first eight slots */
    double numbers[UNIVERSE_O_MEMBERS]; /* as many as bits are set */
    const char *rest;
    size_t rest_length;
    const mcp_json *members; /* what `rest` says; NULL when it is empty */
} universe_raw_body;

#define UNIVERSE_CONTENT_FLAGS                                                                     \
    (UNIVERSE_COLOR_TEXT | UNIVERSE_COLOR_LOWER | 7u << UNIVERSE_TYPE_SHIFT |                      \
     UNIVERSE_ROGUE_SAID | UNIVERSE_ROGUE)

/* As universe_entity_store, for a body that is not PRESENT. */
mcp_status universe_body_store_raw(universe_state *state, universe_handle handle,
                                   const universe_raw_body *raw, mcp_error *err);

/* Free what the row holds and what it names; it is not PRESENT afterwards. In no list any more; see
 * universe_row_end. */
void universe_entity_clear(universe_state *state, universe_map map, universe_handle handle);

/* The entity as a JSON value. `buf` is the writer's. */
void universe_entity_write(const universe_core *core, universe_map map, universe_handle handle,
                           mcp_json_writer *writer);

/* The same without what is no content: id, children, parentId, parentGroupId. */
void universe_content_write(const universe_core *core, universe_map map, universe_handle handle,
                            mcp_json_writer *writer);

/* Set one number of a body. */
void universe_body_set_distance(universe_state *state, universe_handle body, double distance);

/* Whether a value nested in an entity can be kept: its depth, its names. NULL, or the words for why
 * not. */
const char *universe_value_refused(const mcp_json *value, unsigned depth);

/* A value as JSON, minus zero as 0. */
void universe_value_write(mcp_json_writer *writer, const mcp_json *value);

#endif
