/*
 * model.h - the state of one universe: what it holds, how it is frozen, written, loaded and asked.
 *
 * A universe_state has one writer at a time. universe_state_freeze makes a universe_view of it in
 * constant time: the pages of the state are counted, and the writer copies a page that a view still
 * holds before it changes it. A view never changes; any number of threads may read it while the
 * writer continues.
 *
 * Ownership as everywhere: `X **out` is yours, `const X *` is not kept, what an arena pays for is
 * the arena's. All JSON is UTF-8 and valid; numbers are written in the shortest form that reads
 * back to the same double, and minus zero is written as 0.
 */
#ifndef UNIVERSE_MODEL_H
#define UNIVERSE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

#define UNIVERSE_ID_MAX 256            /* bytes of an entity's id */
#define UNIVERSE_TEXT_MAX 1024         /* bytes of a name or another string of an entity */
#define UNIVERSE_UNKNOWN_MAX 4096      /* bytes of all unknown members of one entity, as JSON */
#define UNIVERSE_ENTITY_MAX (4u << 20) /* bytes of one entity's JSON */
#define UNIVERSE_ENTITIES_MAX 4000000u /* entities a map */
#define UNIVERSE_PIECE_MAX (64u << 10) /* a sink never gets more at once */
#define UNIVERSE_TIME_MAX 1e15         /* |time| */

typedef struct universe_state universe_state; /* one writer at a time */
typedef struct universe_view universe_view;   /* frozen and counted; any thread */

/* The maps of a state, in the order in which they are written. */
typedef enum universe_map {
    UNIVERSE_STARS,
    UNIVERSE_GROUPS,
    UNIVERSE_BELTS,
    UNIVERSE_FIELDS,
    UNIVERSE_DISKS,
    UNIVERSE_NEBULAE,
    UNIVERSE_MAPS
} universe_map;

/* "stars", "groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae" */
extern const char *const universe_map_names[UNIVERSE_MAPS];

typedef enum universe_body_type {
    UNIVERSE_UNTYPED,
    UNIVERSE_STAR,
    UNIVERSE_PLANET,
    UNIVERSE_MOON,
    UNIVERSE_ASTEROID,
    UNIVERSE_COMET,
    UNIVERSE_LAGRANGE_POINT,
    UNIVERSE_BLACK_HOLE,
    UNIVERSE_BODY_TYPES
} universe_body_type;

/* "untyped", "star", "planet", "moon", "asteroid", "comet", "lagrangePoint", "blackHole" */
extern const char *const universe_body_type_names[UNIVERSE_BODY_TYPES];

/* How a universe judges what it is sent. All zeros: strict, dt 1.0 where none is given, rewinding
 * allowed. */
typedef struct universe_rules {
    bool lenient;            /* dangling references and ranges are accepted; imports are repaired */
    bool repair;             /* imports are repaired; for dangling references see universe_repair */
    bool keep_nested_null;   /* as older logs were written; see universe_member_value */
    bool refuse_negative_dt; /* `tick` may not rewind */
    double default_dt;       /* of a `tick` without one; 0 stands for 1.0 */
} universe_rules;

/* Takes a piece of at most UNIVERSE_PIECE_MAX bytes; anything but MCP_OK ends the writing with that
 * status. */
typedef mcp_status universe_sink(const char *bytes, size_t length, void *data, mcp_error *err);

/* ---- states and views ------------------------------------------------------------------------ */

/* An empty universe at time 0. @return MCP_OK, MCP_E_NOMEM, MCP_E_IO (no randomness for the hash
 * key) */
mcp_status universe_state_new(universe_state **out, mcp_error *err);
void universe_state_free(universe_state *state);

/* A view of what the state is now; O(1). Only the writer may call it. @return MCP_OK,
 * MCP_E_NOMEM */
mcp_status universe_state_freeze(universe_view **out, universe_state *state, mcp_error *err);

/* Make the state what the view shows; O(1) and cannot fail. The view may be another state's. */
void universe_state_restore(universe_state *state, const universe_view *view);

/* The clock of a state, in seconds; setting it is not a command's. |time| <= UNIVERSE_TIME_MAX */
double universe_state_time(const universe_state *state);
void universe_state_set_time(universe_state *state, double time);

/* One more holder of a view, and one less; NULL is fine. Any thread. */
universe_view *universe_view_keep(universe_view *view);
void universe_view_free(universe_view *view);

/* ---- asking a view --------------------------------------------------------------------------- */

double universe_view_time(const universe_view *view);
size_t universe_view_count(const universe_view *view, universe_map map);
bool universe_view_has(const universe_view *view, universe_map map, const char *id, size_t length);

typedef struct universe_summary {
    double time;
    size_t counts[UNIVERSE_MAPS];
    size_t body_types[UNIVERSE_BODY_TYPES];
    size_t roots, root_groups, rogues;
    uint64_t
        /* of the state's JSON: an estimate kept as the state changes, within about a tenth */
        bytes;
} universe_summary;

/* O(1). */
void universe_view_summary(universe_summary *out, const universe_view *view);

/* ---- JSON ------------------------------------------------------------------------------------ */

/*
 * Which part of a state. All zeros (or NULL for the whole struct): the nine fields, complete.
 *
 * `limit` counts entities over all maps that `fields` names; where more follow, `next` is set, and
 * a later call with that `cursor` continues. A page with a cursor does not repeat rootIds,
 * rootGroupIds and time.
 */
typedef struct universe_id {
    const char *bytes;
    size_t length;
} universe_id;

/* How the bytes of a state come. */
typedef enum universe_form {
    UNIVERSE_PLAIN,    /* JSON */
    UNIVERSE_IN_STRING /* the same as it stands between the quotes of a JSON string */
} universe_form;

typedef struct universe_projection {
    unsigned fields;        /* UNIVERSE_FIELD_*; 0: all */
    const universe_id *ids; /* only entities of these ids, from any of the maps; NULL: all */
    size_t id_count;
    unsigned body_types; /* bit 1u << universe_body_type: only such bodies; 0: all */
    size_t limit;        /* 0: no limit */
    uint64_t cursor;     /* 0: from the beginning */
    universe_form form;
    bool is_fresh; /* texts that are kept are not used; the bytes are the same */
} universe_projection;

#define UNIVERSE_FIELD_MAP(map) (1u << (map)) /* 1u << UNIVERSE_STARS ... */
#define UNIVERSE_FIELD_ROOT_IDS (1u << 6)
#define UNIVERSE_FIELD_ROOT_GROUP_IDS (1u << 7)
#define UNIVERSE_FIELD_TIME (1u << 8)
#define UNIVERSE_FIELDS_ALL 0x1ffu

/* The bit of a field by its name ("stars", "rootIds", "time", ...); 0 when there is none of that
 * name. */
unsigned universe_field_of(const char *name);

/*
 * Write the state, or a part of it, as one JSON object.
 *
 * @param next may be NULL; the cursor of the page after this one, 0 when nothing follows
 * @return what the sink said, MCP_E_NOMEM
 */
mcp_status universe_view_write(const universe_view *view, const universe_projection *part,
                               universe_sink *sink, void *data, uint64_t *next, mcp_error *err);

/* A state that is written by and by. All zeros: at its beginning. */
typedef struct universe_writing {
    mcp_json_writer writer;
    unsigned step;  /* the field that is written, in the order of the JSON */
    uint32_t at;    /* the row or link of the next item */
    bool has_begun; /* the object */
    bool is_inside; /* of the field */
    bool is_whole;  /* nothing follows */
} universe_writing;

/*
 * Write the state on, until `out` holds `worth` bytes or a little more, or the state ends. All that
 * was written one after the other is what universe_view_write writes. Each call has the same view
 * and `fields`; it may be on another thread.
 *
 * @param fields UNIVERSE_FIELD_*; 0: all
 * @return MCP_OK, MCP_E_LIMIT (`out` is full), MCP_E_NOMEM
 */
mcp_status universe_view_write_on(universe_writing *writing, const universe_view *view,
                                  unsigned fields, size_t worth, mcp_buf *out, mcp_error *err);

/* One entity as a JSON value. @return MCP_OK, MCP_E_NOT_FOUND (nothing written), MCP_E_NOMEM,
 * MCP_E_LIMIT */
mcp_status universe_view_write_entity(const universe_view *view, universe_map map, const char *id,
                                      size_t length, mcp_json_writer *writer, mcp_error *err);

/* What a command changed: an entity to be written again, or one that is gone. */
typedef struct universe_touch {
    universe_map map;
    const char *id;
    size_t length;
    bool removed;
} universe_touch;

/*
 * The `delta` object: {"stars":{id:Star...},"removed":{"stars":[...]},"rootIds":[...],...}. Where
 * an entity is touched more than once, what the view says counts: it is written when it is there,
 * else it is removed. `roots` and `root_groups` add rootIds and rootGroupIds.
 */
mcp_status universe_view_delta(const universe_view *view, const universe_touch *touches,
                               size_t count, bool roots, bool root_groups, universe_sink *sink,
                               void *data, mcp_error *err);

/* ---- binary snapshot ------------------------------------------------------------------------- */

/* Write the state in a form that loads fast; the same state gives the same bytes. */
mcp_status universe_view_save(const universe_view *view, universe_sink *sink, void *data,
                              mcp_error *err);

/* Loading from bytes that come in pieces of any size. One thread at a time. */
typedef struct universe_load universe_load;

/* @return MCP_OK, MCP_E_NOMEM, MCP_E_IO */
mcp_status universe_load_begin(universe_load **out, mcp_error *err);

/* @return MCP_OK; MCP_E_PARSE (these are no snapshot of ours, or damaged; the message says what);
 * MCP_E_NOMEM */
mcp_status universe_load_feed(universe_load *load, const void *bytes, size_t length,
                              mcp_error *err);

/* The state, once all bytes are there. @return as universe_load_feed */
mcp_status universe_load_end(universe_state **out, universe_load *load, mcp_error *err);

/* Ends a load at any moment; NULL is fine. */
void universe_load_free(universe_load *load);

/* ---- JSON import ----------------------------------------------------------------------------- */

/*
 * Reading a state's JSON from bytes that come in pieces, never holding more of the text than one
 * entity. Missing fields are empty; unknown top-level members are skipped. With lenient rules what
 * breaks the hierarchy (I2, I4) is repaired, and each repair is one line of words.
 */
typedef struct universe_import universe_import;

mcp_status universe_import_new(universe_import **out, const universe_rules *rules, mcp_error *err);

/* @return MCP_OK; MCP_E_PARSE (no JSON); MCP_E_PARAMS (JSON, but no state: the message says where
 * and why); MCP_E_LIMIT (an entity or a map is too large); MCP_E_NOMEM */
mcp_status universe_import_feed(universe_import *import, const char *bytes, size_t length,
                                mcp_error *err);

/* The state, once all bytes are there. @return as universe_import_feed */
mcp_status universe_import_end(universe_state **out, universe_import *import, mcp_error *err);

/* What was repaired: how many in all, and the words of the i-th of the first 1000. Valid until
 * _free. */
/* Whether universe_import_end has failed for something that a repair would mend. */
bool universe_import_is_repairable(const universe_import *import);

size_t universe_import_repairs(const universe_import *import);
const char *universe_import_repair(const universe_import *import, size_t index);

/* Ends an import at any moment; NULL is fine. */
void universe_import_free(universe_import *import);

/* ---- positions ------------------------------------------------------------------------------- */

/* Which bodies, in pre-order (systems in the order of rootIds, then rogues); all zeros: every
 * body. */
typedef struct universe_which {
    const universe_id *ids; /* these, in this order; unknown ones are left out */
    size_t id_count;
    const char *root; /* this body and all below it; NULL: no such choice */
    size_t root_length;
} universe_which;

/* A batch of bodies and where they are; borrowed for the call. */
typedef struct universe_places {
    const universe_view *view;
    const uint32_t *bodies; /* see universe_place_id */
    const double (*xyz)[3];
    size_t count;
} universe_places;

typedef mcp_status universe_place_sink(const universe_places *places, void *data, mcp_error *err);

/* The id of a body of a batch; returns its length. */
size_t universe_place_id(const universe_places *places, size_t index, char id[UNIVERSE_ID_MAX]);

/* World positions at a time, in batches. @return what the sink said; MCP_E_NOT_FOUND (root);
 * MCP_E_NOMEM */
mcp_status universe_view_places(const universe_view *view, double time, const universe_which *which,
                                universe_place_sink *sink, void *data, mcp_error *err);

typedef enum universe_place_format {
    UNIVERSE_PLACES_JSON, /* {"time":t,"ids":[...],"positions":[[x,y,z],...]} */
    UNIVERSE_PLACES_F32,  /* three little-endian float32 a body */
    UNIVERSE_PLACES_IDS   /* ["id",...] */
} universe_place_format;

/* The same as bytes. @return as universe_view_places */
mcp_status universe_view_write_places(const universe_view *view, double time,
                                      const universe_which *which, universe_place_format format,
                                      universe_sink *sink, void *data, mcp_error *err);

/* ---- invariants ------------------------------------------------------------------------------ */

/*
 * Check I1 to I8 over the whole state; for tests, and after a load. O(n).
 * @return MCP_OK; MCP_E_INTERNAL (the message names the invariant and the entity); MCP_E_NOMEM
 */
mcp_status universe_view_check(const universe_view *view, const universe_rules *rules,
                               mcp_error *err);

#endif
