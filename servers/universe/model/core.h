/*
 * core.h - how a state lies in memory; shared by the files of the model and by the reducers.
 *
 * Everything is reached by 32-bit handles into persistent arrays (array.h); handle 0 is nobody. A
 * universe_core is all of it: a state has one that changes, a view one that does not. Reading takes
 * the core, writing the state.
 *
 * Writing does not report failure piece by piece: when memory is out, `failed` sticks, edits go to
 * a scratch row, and the function that began the change restores the state as it was. Loops over
 * lists stop when `failed` is set.
 *
 * Pointers to rows stay readable while somebody holds the core as it was before the change, as
 * every reducer does; but after an edit of the same row they show its old content.
 *
 * A row that is not PRESENT stands for an id that others refer to and that no entity has: lenient
 * universes have such, and imports have them until the entity arrives.
 */
#ifndef UNIVERSE_CORE_H
#define UNIVERSE_CORE_H

#include <stdatomic.h>

#include "model/heap.h"
#include "model/model.h"
#include "model/pages/array.h"
#include "model/pages/index.h"

typedef uint32_t universe_handle;

/* An id: the bytes of a canonical UUID, or in the first four a string's handle. */
typedef struct universe_key {
    uint8_t bytes[16];
} universe_key;

enum universe_row_flags {
    UNIVERSE_PRESENT = 1u << 0,
    UNIVERSE_UUID = 1u << 1,        /* the key is a UUID's bytes */
    UNIVERSE_COLOR_TEXT = 1u << 2,  /* `color` is a string's handle */
    UNIVERSE_COLOR_LOWER = 1u << 3, /* its letters are a to f */
    UNIVERSE_TYPE_SHIFT = 4,        /* three bits of universe_body_type */
    UNIVERSE_ROGUE_SAID = 1u << 7,  /* isRoguePlanet is there */
    UNIVERSE_ROGUE = 1u << 8,       /* and true */
    UNIVERSE_DRIFTS = 1u << 9,      /* a rogue with a path of its own */
    UNIVERSE_PLACED = 1u << 10,     /* a group with a position of its own */
    UNIVERSE_FREE = 1u << 11        /* the row stands for nothing */
};

/* What the rows of all tables begin with. */
typedef struct universe_row {
    universe_key key;
    uint32_t flags;
    universe_handle chain; /* next in the bucket of the index; next free row */
} universe_row;

typedef struct universe_body {
    universe_row row;
    double mass, radius, distance, speed, phase;
    uint32_t color;
    universe_handle name;                /* string */
    universe_handle parent, first, last; /* bodies */
    universe_handle next, prev;          /* siblings; roots and rogues have lists as well */
    universe_handle member;              /* link: the group that holds this system */
    universe_handle named_by;            /* first link that refers to this body */
    universe_handle names;               /* first link of the references that it makes */
    universe_handle orbit;               /* block of optional numbers, see entity.h */
    universe_handle rest;                /* text: all other members, as JSON without braces */
} universe_body;

/* A group, belt, field, disk or nebula. */
typedef struct universe_thing {
    universe_row row;
    universe_handle rest; /* text: all members but id, and a group's children and parentGroupId */
    universe_handle names;
    universe_handle parent;      /* groups: the group above */
    universe_handle first, last; /* groups: links of children */
    universe_handle member;      /* groups: its own link, in its parent's list or among the roots */
} universe_thing;

typedef enum universe_link_kind {
    UNIVERSE_L_FREE,
    UNIVERSE_L_SYSTEM,    /* group `from` holds body `to` */
    UNIVERSE_L_GROUP,     /* group `from` (0: no group) holds group `to` */
    UNIVERSE_L_PRIMARY,   /* body `from` is a marker, `to` its primary */
    UNIVERSE_L_SECONDARY, /* and its secondary */
    UNIVERSE_L_HOST,      /* body `from` is a Trojan of marker `to` */
    UNIVERSE_L_BELT,      /* belt, field, disk `from` belongs to body `to` */
    UNIVERSE_L_FIELD,
    UNIVERSE_L_DISK
} universe_link_kind;

/* In a list of its group's children, or of those that name a body. */
typedef struct universe_link {
    uint32_t kind;
    universe_handle from, to;
    universe_handle next, prev;
    universe_handle also; /* the next reference that `from` makes; next free link */
} universe_link;

typedef struct universe_table {
    universe_array rows;
    universe_index by_id;
    uint32_t used;        /* handles below this have been given */
    universe_handle free; /* first free row */
    uint32_t count;       /* rows that are PRESENT */
} universe_table;

typedef struct universe_list {
    universe_handle first, last;
    uint32_t count;
} universe_list;

struct universe_core {
    universe_table tables[UNIVERSE_MAPS];
    universe_array links;
    uint32_t links_used;
    universe_handle links_free;
    universe_heap heap;
    universe_index strings;
    universe_list roots, rogues; /* bodies without parent */
    universe_list root_groups;   /* links */
    double time;
    int64_t bytes; /* of the JSON, estimated */
    uint32_t body_types[UNIVERSE_BODY_TYPES];
    uint64_t hash_key[2];
};

struct universe_state {
    universe_core core;
    bool failed; /* memory was out; see above */
    _Alignas(16) unsigned char scratch[UNIVERSE_LEAF_MAX];
};

struct universe_view {
    universe_core core;
    atomic_uint holders;
};

/* ---- cores ----------------------------------------------------------------------------------- */

/* A core of an empty universe; `from` gives the key of the hash. */
void universe_core_init(universe_core *core, const uint64_t hash_key[2]);

/* A copy of `core` that was made just now shares its pages, and one less does. Only `core` itself
 * may be edited then. */
void universe_core_hold(universe_core *core);
void universe_core_drop(universe_core *core);

/* Make the state what `core` (held by the caller, and still after) is; forgets a failure. */
void universe_state_return(universe_state *state, const universe_core *core);

/* ---- rows ------------------------------------------------------------------------------------ */

const universe_body *universe_body_at(const universe_core *core, universe_handle body);
const universe_thing *universe_thing_at(const universe_core *core, universe_map map,
                                        universe_handle thing);
const universe_link *universe_link_at(const universe_core *core, universe_handle link);

/* The head of any row. */
const universe_row *universe_row_at(const universe_core *core, universe_map map,
                                    universe_handle handle);

/* Whether the row stands for no id. */
bool universe_row_is_free(const universe_core *core, universe_map map, universe_handle handle);

/* Never NULL: a scratch row when memory is out. */
universe_body *universe_body_edit(universe_state *state, universe_handle body);
universe_thing *universe_thing_edit(universe_state *state, universe_map map, universe_handle thing);
universe_link *universe_link_edit(universe_state *state, universe_handle link);

/* ---- lists ----------------------------------------------------------------------------------- */

/* Put a body at the end of its parent's children, or (parent 0) of the roots, or of the rogues if
 * it is one. */
void universe_body_append(universe_state *state, universe_handle body, universe_handle parent);

/* Take it out of the list that it is in; its parent is 0 afterwards. */
void universe_body_unlink(universe_state *state, universe_handle body);

/*
 * Make a body or a group a child of `group` (0: a group among the roots), before the link `before`
 * or (0) at the end; it must not be one already.
 */
void universe_member_add(universe_state *state, universe_link_kind kind, universe_handle group,
                         universe_handle to, universe_handle before);

/* End a link of that kind. */
void universe_member_remove(universe_state *state, universe_handle link);

/* Note that `from` names the body of that id, making a row for it where there is none. */
void universe_refer(universe_state *state, universe_link_kind kind, universe_handle from,
                    const char *id, size_t length);

/* Forget all that an entity names, from the head of its `names` list; that head is the caller's to
 * clear. */
void universe_unrefer(universe_state *state, universe_handle names);

/* The next body in pre-order within the subtree of `top`, 0 at its end. */
universe_handle universe_body_after(const universe_core *core, universe_handle body,
                                    universe_handle top);

/* ---- tables: id -> row ----------------------------------------------------------------------- */

/* The row of an id, PRESENT or not; 0 when there is none. */
universe_handle universe_row_find(const universe_core *core, universe_map map, const char *id,
                                  size_t length);

/* The entity of an id; 0 when there is none. */
universe_handle universe_find(const universe_core *core, universe_map map, const char *id,
                              size_t length);

/* The row of an id, made where there is none (then it is not PRESENT); 0 when `failed`. */
universe_handle universe_row_make(universe_state *state, universe_map map, const char *id,
                                  size_t length);

/* Room in the index for so many entities that are about to come; for a map that has none. */
void universe_rows_expect(universe_state *state, universe_map map, uint32_t count);

/*
 * The row of a UUID's bytes will be asked for soon: fetch what leads to it. Called twice for the
 * same id, with some work in between: first the head of its bucket is fetched, then (`is_near`) the
 * row that stands there.
 */
void universe_row_prefetch(const universe_core *core, universe_map map, const uint8_t uuid[16],
                           bool is_near);

/* End a row that is not PRESENT and that nobody refers to. */
void universe_row_end(universe_state *state, universe_map map, universe_handle handle);

/* The id, with a NUL behind it; returns its length. */
size_t universe_row_id(const universe_core *core, universe_map map, universe_handle handle,
                       char id[UNIVERSE_ID_MAX + 1]);

#endif
