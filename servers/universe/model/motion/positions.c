/*
 * positions.c - world positions at a time.
 *
 * A walk in pre-order keeps the positions of the ancestors of the body it is at, one a level, so
 * each body costs its own motion and three additions, however deep it lies.
 */
#include <math.h>
#include <string.h>

#include "model/json/stream.h"
#include "model/motion/layout.h"
#include "model/motion/motion.h"
#include "model/pages/memory.h"

#define BATCH 1024
#define NEAR 16 /* leaves at hand: pre-order goes to and fro among the rows of a system */

#define AHEAD 16       /* bodies; see look_ahead */
#define ORBIT_USUAL 48 /* bytes: an axis, an eccentricity and three angles */

typedef double vector[3];

typedef struct place_walk {
    const universe_view *view;
    const universe_core *core;
    universe_layout *layout;
    double time;
    universe_place_sink *sink;
    void *data;
    mcp_error *err;
    vector *levels; /* where the ancestors are */
    size_t level_capacity;
    universe_cursor bodies_near[NEAR];
    universe_cursor orbits_near[NEAR];
    size_t count; /* of the batch */
    uint32_t bodies[BATCH];
    vector xyz[BATCH];
} place_walk;

static mcp_status flush(place_walk *walk)
{
    universe_places places = { walk->view, walk->bodies, (const double(*)[3])walk->xyz,
                               walk->count };

    walk->count = 0;
    return places.count > 0 ? walk->sink(&places, walk->data, walk->err) : MCP_OK;
}

static mcp_status put(place_walk *walk, universe_handle body, const vector xyz)
{
    walk->bodies[walk->count] = body;
    memcpy(walk->xyz[walk->count], xyz, sizeof(vector));
    return ++walk->count < BATCH ? MCP_OK : flush(walk);
}

/* Each leaf has its place among those at hand. */
static const void *row_near(universe_cursor near[NEAR], const universe_array *array, uint32_t index)
{
    return universe_array_at(&near[(index >> array->shift) % NEAR], array, index);
}

static const universe_body *body_at(place_walk *walk, universe_handle body)
{
    return row_near(walk->bodies_near, &walk->core->tables[UNIVERSE_STARS].rows, body);
}

/*
 * Rows and orbits are spread over the memory, and a walk that waits for each of them does little
 * else. Bodies mostly lie in the order in which they are walked, so the row of a body some numbers
 * ahead is fetched, and the orbit of one half as far, whose row has come by then. A wrong guess
 * costs nothing but the fetch.
 */
static void look_ahead(place_walk *walk, universe_handle at)
{
    const char *row = (const char *)body_at(walk, at + 2 * AHEAD);
    universe_handle orbit = body_at(walk, at + AHEAD)->orbit;

    __builtin_prefetch(row);
    __builtin_prefetch(row + sizeof(universe_body) / 2);
    __builtin_prefetch(row + sizeof(universe_body) - 1);
    if (!orbit)
        return;
    const char *block = row_near(walk->orbits_near, &walk->core->heap.units, orbit);
    __builtin_prefetch(block);
    __builtin_prefetch(block + ORBIT_USUAL);
}

static void add_motion(vector xyz, place_walk *walk, const universe_body *body)
{
    static const universe_orbit none;
    const universe_orbit *orbit = &none;

    if (body->orbit)
        orbit = row_near(walk->orbits_near, &walk->core->heap.units, body->orbit);
    universe_motion_add(xyz, body, orbit, walk->time);
}

/* Where a body is, by its ancestors' chain. */
static void find_place(vector xyz, place_walk *walk, universe_handle handle)
{
    const universe_body *body = universe_body_at(walk->core, handle);
    vector origin = { 0, 0, 0 };

    xyz[0] = xyz[1] = xyz[2] = 0;
    for (; body->parent; body = universe_body_at(walk->core, body->parent))
        add_motion(xyz, walk, body);
    if (body->row.flags & UNIVERSE_ROGUE)
        add_motion(origin, walk, body);
    else
        universe_layout_place(origin, walk->layout, body);
    for (int i = 0; i < 3; i++)
        xyz[i] += origin[i];
}

static mcp_status deepen(place_walk *walk, size_t level)
{
    size_t capacity = walk->level_capacity ? 2 * walk->level_capacity : 64;

    if (level < walk->level_capacity)
        return MCP_OK;
    vector *larger = universe_realloc(walk->levels, walk->level_capacity * sizeof *larger,
                                      capacity * sizeof *larger);
    if (!larger)
        return mcp_error_set(walk->err, MCP_E_NOMEM, "no memory for positions");
    walk->levels = larger;
    walk->level_capacity = capacity;
    return MCP_OK;
}

/* A body and all below it. */
static mcp_status walk_below(place_walk *walk, universe_handle top)
{
    const universe_body *body = body_at(walk, top);
    universe_handle at = top;
    size_t level = 0;
    mcp_status st = deepen(walk, 0);

    if (st == MCP_OK)
        find_place(walk->levels[0], walk, top);
    while (st == MCP_OK) {
        st = put(walk, at, walk->levels[level]);
        if (body->first) {
            at = body->first;
            level++;
        } else {
            while (at != top && !body->next) {
                at = body->parent;
                body = body_at(walk, at);
                level--;
            }
            if (at == top)
                break;
            at = body->next;
        }
        if (st == MCP_OK)
            st = deepen(walk, level);
        if (st != MCP_OK)
            break;
        body = body_at(walk, at);
        look_ahead(walk, at);
        memcpy(walk->levels[level], walk->levels[level - 1], sizeof(vector));
        add_motion(walk->levels[level], walk, body);
    }
    return st;
}

static mcp_status walk_list(place_walk *walk, universe_handle at)
{
    mcp_status st = MCP_OK;

    for (; at && st == MCP_OK; at = universe_body_at(walk->core, at)->next)
        st = walk_below(walk, at);
    return st;
}

static mcp_status walk_ids(place_walk *walk, const universe_which *which)
{
    mcp_status st = MCP_OK;
    vector xyz;

    for (size_t i = 0; i < which->id_count && st == MCP_OK; i++) {
        const universe_id *id = &which->ids[i];
        universe_handle body = universe_find(walk->core, UNIVERSE_STARS, id->bytes, id->length);
        if (!body)
            continue;
        find_place(xyz, walk, body);
        st = put(walk, body, xyz);
    }
    return st;
}

static mcp_status walk_which(place_walk *walk, const universe_which *which)
{
    if (which->ids)
        return walk_ids(walk, which);
    if (which->root) {
        universe_handle root = universe_find(walk->core, UNIVERSE_STARS, which->root,
                                             which->root_length);
        return root ? walk_below(walk, root)
                    : mcp_error_set(walk->err, MCP_E_NOT_FOUND,
                                    "the universe has no body of that id");
    }
    mcp_status st = walk_list(walk, walk->core->roots.first);
    return st == MCP_OK ? walk_list(walk, walk->core->rogues.first) : st;
}

mcp_status universe_view_places(const universe_view *view, double time, const universe_which *which,
                                universe_place_sink *sink, void *data, mcp_error *err)
{
    static const universe_which every;

    if (!isfinite(time))
        return mcp_error_set(err, MCP_E_PARAMS, "a time is a finite number");
    place_walk *walk = universe_alloc(sizeof *walk);
    if (!walk)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for positions");
    walk->view = view;
    walk->core = &view->core;
    walk->time = time;
    walk->sink = sink;
    walk->data = data;
    walk->err = err;
    mcp_status st = universe_layout_new(&walk->layout, walk->core, err);
    if (st == MCP_OK)
        st = walk_which(walk, which ? which : &every);
    if (st == MCP_OK)
        st = flush(walk);
    universe_layout_free(walk->layout);
    universe_free(walk->levels, walk->level_capacity * sizeof *walk->levels);
    universe_free(walk, sizeof *walk);
    return st;
}

size_t universe_place_id(const universe_places *places, size_t index, char id[UNIVERSE_ID_MAX])
{
    char text[UNIVERSE_ID_MAX + 1];
    size_t length = universe_row_id(&places->view->core, UNIVERSE_STARS, places->bodies[index],
                                    text);

    memcpy(id, text, length);
    return length;
}

/* ---- as bytes -------------------------------------------------------------------------------- */

static mcp_status put_ids(const universe_places *places, void *data, mcp_error *err)
{
    universe_stream *stream = data;
    char id[UNIVERSE_ID_MAX];

    (void)err;
    for (size_t i = 0; i < places->count && universe_stream_step(stream); i++) {
        size_t length = universe_place_id(places, i, id);
        mcp_write_string_n(&stream->writer, id, length);
    }
    return stream->status;
}

static mcp_status put_vectors(const universe_places *places, void *data, mcp_error *err)
{
    universe_stream *stream = data;

    (void)err;
    for (size_t i = 0; i < places->count && universe_stream_step(stream); i++) {
        mcp_write_array(&stream->writer);
        for (int axis = 0; axis < 3; axis++)
            mcp_write_double_or_null(&stream->writer, places->xyz[i][axis] + 0.0);
        mcp_write_end(&stream->writer);
    }
    return stream->status;
}

static mcp_status write_json(const universe_view *view, double time, const universe_which *which,
                             bool ids_only, universe_stream *stream, mcp_error *err)
{
    mcp_status st;

    if (ids_only) {
        mcp_write_array(&stream->writer);
        st = universe_view_places(view, time, which, put_ids, stream, err);
        mcp_write_end(&stream->writer);
        return st;
    }
    mcp_write_object(&stream->writer);
    mcp_write_member_double(&stream->writer, "time", time + 0.0);
    mcp_write_member_array(&stream->writer, "ids");
    st = universe_view_places(view, time, which, put_ids, stream, err);
    mcp_write_end(&stream->writer);
    mcp_write_member_array(&stream->writer, "positions");
    if (st == MCP_OK)
        st = universe_view_places(view, time, which, put_vectors, stream, err);
    mcp_write_end(&stream->writer);
    mcp_write_end(&stream->writer);
    return st;
}

typedef struct byte_sink {
    universe_sink *sink;
    void *data;
} byte_sink;

/* Three little-endian floats a body. */
static mcp_status put_floats(const universe_places *places, void *data, mcp_error *err)
{
    byte_sink *to = data;
    unsigned char bytes[BATCH * 12];
    unsigned char *at = bytes;

    for (size_t i = 0; i < places->count; i++)
        for (int axis = 0; axis < 3; axis++) {
            float number = (float)places->xyz[i][axis];
            uint32_t bits;
            memcpy(&bits, &number, sizeof bits);
            for (int shift = 0; shift < 32; shift += 8)
                *at++ = (unsigned char)(bits >> shift);
        }
    return to->sink((const char *)bytes, (size_t)(at - bytes), to->data, err);
}

mcp_status universe_view_write_places(const universe_view *view, double time,
                                      const universe_which *which, universe_place_format format,
                                      universe_sink *sink, void *data, mcp_error *err)
{
    byte_sink to = { sink, data };
    universe_stream stream;

    if (format == UNIVERSE_PLACES_F32)
        return universe_view_places(view, time, which, put_floats, &to, err);
    if (!isfinite(time))
        return mcp_error_set(err, MCP_E_PARAMS, "a time is a finite number");
    universe_stream_open(&stream, UNIVERSE_PLAIN, sink, data, err);
    mcp_status st = write_json(view, time, which, format == UNIVERSE_PLACES_IDS, &stream, err);
    if (st != MCP_OK && stream.status == MCP_OK)
        stream.status = st; /* nothing more is handed over */
    return universe_stream_close(&stream);
}
