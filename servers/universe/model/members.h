/*
 * members.h - the members of bodies, groups and everything else as tables: what is required, of
 * what kind, in what range. Checking an entity, describing it by a JSON Schema and listing it all
 * read these tables.
 */
#ifndef UNIVERSE_MEMBERS_H
#define UNIVERSE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/model.h"

typedef enum universe_kind {
    UNIVERSE_K_ID,      /* string of 1 to UNIVERSE_ID_MAX bytes without NUL */
    UNIVERSE_K_ID_NULL, /* the same, or null */
    UNIVERSE_K_TEXT,    /* string of up to UNIVERSE_TEXT_MAX bytes */
    UNIVERSE_K_NUMBER,
    UNIVERSE_K_BOOL,
    UNIVERSE_K_SEED,    /* string or number */
    UNIVERSE_K_WORD,    /* one of `words` */
    UNIVERSE_K_INDEX,   /* integer from `min` to `max` */
    UNIVERSE_K_IDS,     /* array of ids */
    UNIVERSE_K_PAIR,    /* array of two numbers */
    UNIVERSE_K_OBJECT,  /* an object of `shape` */
    UNIVERSE_K_PART,    /* an object with any of the members of `shape`: a patch */
    UNIVERSE_K_MAP,     /* an object id -> object of `shape`; the keys equal the ids within */
    UNIVERSE_K_CHILDREN /* array of {id, type} */
} universe_kind;

#define UNIVERSE_M_REQUIRED 1u
#define UNIVERSE_M_RANGE 2u     /* min and max are part of I8: held in strict mode */
#define UNIVERSE_M_BELOW_MAX 4u /* the range ends before `max` */

typedef struct universe_shape universe_shape;

typedef struct universe_member {
    const char *name;
    universe_kind kind;
    unsigned flags;
    double min, max;
    const char *const *words; /* NULL-ended */
    const universe_shape *shape;
} universe_member;

struct universe_shape {
    const char *name; /* "Star" */
    const universe_member *members;
    size_t count;
    const char *inner,
        *outer;   /* two members of which the first must be the smaller; NULL: none such */
    bool is_open; /* unknown members are kept (I9) */
};

extern const universe_shape universe_star_shape;
extern const universe_shape
    universe_new_star_shape; /* payload of addStar: phase, id and children optional */
extern const universe_shape universe_ring_shape;
extern const universe_shape universe_group_shape;
extern const universe_shape universe_new_group_shape;
extern const universe_shape universe_group_child_shape;
extern const universe_shape universe_belt_shape;
extern const universe_shape universe_field_shape;
extern const universe_shape universe_disk_shape;
extern const universe_shape universe_nebula_shape;

/* The shape of a map's entities. */
const universe_shape *universe_shape_of(universe_map map);

/* The member of that name; NULL when the shape has none. */
const universe_member *universe_member_find(const universe_shape *shape, const char *name,
                                            size_t length);

/*
 * The value of a member of a whole entity as it is kept. In strict universes null stands for no
 * value: a member that is null is absent (*out NULL), and so is one within a nested object. What
 * the shape does not know is kept as it came.
 *
 * @return false: there was no memory in the arena
 */
bool universe_member_value(const mcp_json **out, const universe_shape *shape,
                           const universe_rules *rules, const char *name, size_t length,
                           const mcp_json *value, mcp_arena *arena);

/* What is wrong with a value: words, and a JSON Pointer to the place. Both are the arena's. */
typedef struct universe_fault {
    const char *reason; /* NULL: nothing is wrong */
    const char *path;
} universe_fault;

/*
 * Hold a JSON object against a shape.
 *
 * @param at      the pointer to `value` within the command ("/payload"), put before paths
 * @param is_part required members may be missing, and null stands for any optional member
 * @return whether it fits; else *fault says what is wrong first (with reason NULL when memory was
 *         out)
 */
bool universe_shape_check(universe_fault *fault, const universe_shape *shape, const mcp_json *value,
                          const char *at, bool is_part, const universe_rules *rules,
                          mcp_arena *arena);

/* The JSON Schema of a shape's value. `is_part` as above. Other shapes are named as #/$defs/NAME
 * when `refs`. */
void universe_shape_schema(mcp_json_writer *writer, const universe_shape *shape, bool is_part,
                           bool refs);

/* The members alone, as members of an object `properties` that is open. */
void universe_members_schema(mcp_json_writer *writer, const universe_shape *shape, bool refs);

#endif
