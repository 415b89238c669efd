/*
 * layout.c - where groups put their systems.
 *
 * Root groups without a position of their own stand on a grid of five columns; the children of a
 * group, systems and groups alike, on a square grid inside its box, whose edge grows with the root
 * of their number.
 */
#include "model/motion/layout.h"

#include <math.h>

#include "model/pages/memory.h"

#define COLUMNS 5
#define PITCH 20.0 /* between root groups */
#define EDGE_BASE 8.0
#define EDGE_GROWTH 2.0
#define INSIDE 0.7 /* of the edge is used for children */

typedef struct group_place {
    double xyz[3];
    uint32_t children;
    bool is_known;
} group_place;

struct universe_layout {
    const universe_core *core;
    uint32_t *index; /* by link: which child it is */
    group_place *groups;
    universe_handle *way; /* from a group to one whose place is known */
    uint32_t links, rows;
};

static uint32_t number_list(universe_layout *layout, universe_handle at)
{
    uint32_t count = 0;

    for (; at; at = universe_link_at(layout->core, at)->next)
        layout->index[at] = count++;
    return count;
}

mcp_status universe_layout_new(universe_layout **out, const universe_core *core, mcp_error *err)
{
    *out = NULL;
    if (core->tables[UNIVERSE_GROUPS].count == 0)
        return MCP_OK;
    universe_layout *layout = universe_alloc(sizeof *layout);
    if (!layout)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the layout of groups");
    layout->core = core;
    layout->links = core->links_used;
    layout->rows = core->tables[UNIVERSE_GROUPS].used;
    layout->index = universe_alloc(layout->links * sizeof *layout->index);
    layout->groups = universe_alloc(layout->rows * sizeof *layout->groups);
    layout->way = universe_alloc(layout->rows * sizeof *layout->way);
    if (!layout->index || !layout->groups || !layout->way) {
        universe_layout_free(layout);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the layout of groups");
    }
    number_list(layout, core->root_groups.first);
    for (universe_handle group = 1; group < layout->rows; group++)
        layout->groups[group].children = number_list(
            layout, universe_thing_at(core, UNIVERSE_GROUPS, group)->first);
    *out = layout;
    return MCP_OK;
}

void universe_layout_free(universe_layout *layout)
{
    if (!layout)
        return;
    universe_free(layout->index, layout->links * sizeof *layout->index);
    universe_free(layout->way, layout->rows * sizeof *layout->way);
    universe_free(layout->groups, layout->rows * sizeof *layout->groups);
    universe_free(layout, sizeof *layout);
}

/* The position that a group has by itself. */
static void own_position(double xyz[3], const universe_core *core, universe_handle group)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *value = NULL;
    mcp_buf text;

    mcp_buf_init(&text, UNIVERSE_ENTITY_MAX + 16);
    mcp_buf_putc(&text, '{');
    universe_text_append(&text, core, universe_thing_at(core, UNIVERSE_GROUPS, group)->rest);
    if (arena && mcp_buf_putc(&text, '}') == MCP_OK)
        mcp_json_read(&value, arena, text.data, text.length, NULL);
    const mcp_json *position = mcp_json_get(value, "position");
    xyz[0] = xyz[1] = xyz[2] = 0;
    mcp_json_double(mcp_json_get(position, "x"), &xyz[0]);
    mcp_json_double(mcp_json_get(position, "y"), &xyz[1]);
    mcp_json_double(mcp_json_get(position, "z"), &xyz[2]);
    mcp_buf_clear(&text);
    mcp_arena_free(arena);
}

static void grid_position(double xyz[3], uint32_t index)
{
    int middle = COLUMNS / 2; /* of whole columns */

    xyz[0] = (index % COLUMNS) * PITCH - PITCH * middle;
    xyz[1] = 0;
    xyz[2] = floor((double)index / COLUMNS) * PITCH;
}

/* Add the place of the i-th of n children to the place of its group. */
static void add_inside(double xyz[3], uint32_t index, uint32_t children)
{
    double edge = EDGE_BASE + EDGE_GROWTH * sqrt(children);
    uint32_t side = (uint32_t)ceil(sqrt(children));
    double spacing = INSIDE * edge / side;

    xyz[0] += (index % side) * spacing - INSIDE / 2 * edge;
    xyz[2] += floor((double)index / side) * spacing - INSIDE / 2 * edge;
}

static void settle(universe_layout *layout, universe_handle group)
{
    const universe_thing *row = universe_thing_at(layout->core, UNIVERSE_GROUPS, group);
    group_place *place = &layout->groups[group];

    if (row->row.flags & UNIVERSE_PLACED) {
        own_position(place->xyz, layout->core, group);
    } else if (!row->parent) {
        grid_position(place->xyz, layout->index[row->member]);
    } else {
        const group_place *above = &layout->groups[row->parent];
        for (int i = 0; i < 3; i++)
            place->xyz[i] = above->xyz[i];
        add_inside(place->xyz, layout->index[row->member], above->children);
    }
    place->is_known = true;
}

/* Up to the first group whose place needs no other, and down again by the same way. */
static const group_place *place_of(universe_layout *layout, universe_handle group)
{
    size_t count = 0;

    for (universe_handle at = group; at && !layout->groups[at].is_known;) {
        const universe_thing *row = universe_thing_at(layout->core, UNIVERSE_GROUPS, at);
        layout->way[count++] = at;
        at = row->row.flags & UNIVERSE_PLACED ? 0 : row->parent;
    }
    while (count > 0)
        settle(layout, layout->way[--count]);
    return &layout->groups[group];
}

void universe_layout_place(double xyz[3], universe_layout *layout, const universe_body *system)
{
    xyz[0] = xyz[1] = xyz[2] = 0;
    if (!layout || !system->member)
        return;
    const group_place *group = place_of(layout,
                                        universe_link_at(layout->core, system->member)->from);
    for (int i = 0; i < 3; i++)
        xyz[i] = group->xyz[i];
    add_inside(xyz, layout->index[system->member], group->children);
}
