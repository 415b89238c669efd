/*
 * stars.c - the reducers of bodies: added, changed, attached, detached, with rings. Removing is in
 * remove.c.
 */
#include <string.h>

#include "commands/reduce.h"

/* ---- adding ---------------------------------------------------------------------------------- */

static bool is_same_text(const mcp_json *a, const char *bytes, size_t length)
{
    size_t own_length = 0;
    const char *own = mcp_json_string(a, &own_length);

    return own && own_length == length && memcmp(own, bytes, length) == 0;
}

/* addStar takes `id` and `children` in its payload only where they say what is so anyway. */
static bool payload_is_plain(universe_reduction *r, const mcp_json *id, const mcp_json *payload)
{
    const mcp_json *own = mcp_json_get(payload, "id");

    if (own && !mcp_json_is_null(own) && !mcp_json_equal(own, id)) {
        universe_invalid(r, "differs from the command's id", "/payload/id");
        return false;
    }
    if (mcp_json_count(mcp_json_get(payload, "children")) > 0) {
        universe_invalid(r, "a new body has no children; attach them", "/payload/children");
        return false;
    }
    return true;
}

void universe_add_star(universe_reduction *r)
{
    const mcp_json *id = universe_argument(r, "id");
    const mcp_json *payload = universe_argument(r, "payload");
    const mcp_json *parent_id = mcp_json_get(payload, "parentId");
    universe_handle parent = universe_named_by(r, UNIVERSE_STARS, parent_id);

    if (universe_named(r, UNIVERSE_STARS, "id")) {
        universe_reject(r, "starAlreadyExists", NULL, "id", id, NULL);
        return;
    }
    if (!parent && !mcp_json_is_null(parent_id)) {
        universe_reject(r, "parentNotFound", NULL, "id", id, "parentId", parent_id, NULL);
        return;
    }
    if (!payload_is_plain(r, id, payload) ||
        !universe_names_exist(r, UNIVERSE_STARS, payload, "/payload"))
        return;
    universe_handle body = universe_new_row(r, UNIVERSE_STARS, id);
    if (!body)
        return;
    universe_put(r, UNIVERSE_STARS, body, universe_parts_whole(r, UNIVERSE_STARS, payload));
    universe_body_append(r->state, body, parent);
    if (parent)
        universe_touched(r, UNIVERSE_STARS, parent, false);
    r->out->roots = !parent &&
                    !(universe_body_at(&r->state->core, body)->row.flags & UNIVERSE_ROGUE);
    universe_event(r, "starAdded", NULL, "id", id, NULL);
}

/* ---- changing -------------------------------------------------------------------------------- */

static bool children_agree(const universe_core *core, universe_handle body,
                           const mcp_json *children)
{
    universe_handle at = universe_body_at(core, body)->first;
    char id[UNIVERSE_ID_MAX + 1];

    for (size_t i = 0; i < mcp_json_count(children); i++) {
        if (!at)
            return false;
        size_t length = universe_row_id(core, UNIVERSE_STARS, at, id);
        if (!is_same_text(mcp_json_item(children, i), id, length))
            return false;
        at = universe_body_at(core, at)->next;
    }
    return !at;
}

static bool parent_agrees(const universe_core *core, universe_handle body,
                          const mcp_json *parent_id)
{
    universe_handle parent = universe_body_at(core, body)->parent;
    char id[UNIVERSE_ID_MAX + 1];

    if (!parent)
        return mcp_json_is_null(parent_id);
    size_t length = universe_row_id(core, UNIVERSE_STARS, parent, id);
    return is_same_text(parent_id, id, length);
}

/* C3: the member of a patch that would change the hierarchy; NULL when none does. */
static const char *hierarchy_changed(universe_reduction *r, universe_handle body,
                                     const mcp_json *patch)
{
    const universe_core *core = &r->state->core;
    const mcp_json *id = mcp_json_get(patch, "id");
    const mcp_json *parent_id = mcp_json_get(patch, "parentId");
    const mcp_json *children = mcp_json_get(patch, "children");

    if (id && !mcp_json_equal(id, universe_argument(r, "id")))
        return "id";
    if (children && !children_agree(core, body, children))
        return "children";
    return parent_id && !parent_agrees(core, body, parent_id) ? "parentId" : NULL;
}

/* Ends the membership of a system in its group, where it has one. */
static void leave_group(universe_reduction *r, universe_handle body)
{
    universe_handle link = universe_body_at(&r->state->core, body)->member;

    if (!link)
        return;
    universe_touched(r, UNIVERSE_GROUPS, universe_link_at(&r->state->core, link)->from, false);
    universe_member_remove(r->state, link);
}

static bool is_rogue(const universe_reduction *r, universe_handle body)
{
    return universe_body_at(&r->state->core, body)->row.flags & UNIVERSE_ROGUE;
}

/* Store new members; a body without parent that becomes a rogue, or ceases to be one, changes its
 * list (I4). */
static void put_body(universe_reduction *r, universe_handle body, universe_parts parts)
{
    bool is_true = false;
    bool was_rogue = is_rogue(r, body);
    bool is_top = !universe_body_at(&r->state->core, body)->parent;

    mcp_json_bool(universe_parts_get(parts, "isRoguePlanet"), &is_true);
    bool moves = is_top && is_true != was_rogue;
    if (moves) {
        leave_group(r, body);
        universe_body_unlink(r->state, body);
        r->out->roots = true;
    }
    universe_put(r, UNIVERSE_STARS, body, parts);
    if (moves)
        universe_body_append(r->state, body, 0);
}

void universe_update_star(universe_reduction *r)
{
    const mcp_json *id = universe_argument(r, "id");
    const mcp_json *patch = universe_argument(r, "payload");
    universe_handle body = universe_named(r, UNIVERSE_STARS, "id");

    if (!body) {
        universe_reject(r, "starNotFound", NULL, "id", id, NULL);
        return;
    }
    const char *field = hierarchy_changed(r, body, patch);
    if (field) {
        universe_reject_patch(r, id, field);
        return;
    }
    if (!universe_names_exist(r, UNIVERSE_STARS, patch, "/payload"))
        return;
    universe_parts merged = universe_parts_merged(r, universe_parts_now(r, UNIVERSE_STARS, body),
                                                  universe_parts_patch(r, UNIVERSE_STARS, patch));
    if (!universe_unknown_fit(r, UNIVERSE_STARS, merged, "/payload"))
        return;
    put_body(r, body, merged);
    universe_event(r, "starUpdated", NULL, "id", id, NULL);
}

/* ---- hierarchy ------------------------------------------------------------------------------- */

/* Whether `body` is `above` or below it. */
static bool is_below(const universe_core *core, universe_handle body, universe_handle above)
{
    while (body && body != above)
        body = universe_body_at(core, body)->parent;
    return body != 0;
}

/* From where it is to the end of another list. */
static void move_body(universe_reduction *r, universe_handle body, universe_handle parent)
{
    universe_handle old = universe_body_at(&r->state->core, body)->parent;

    if (old)
        universe_touched(r, UNIVERSE_STARS, old, false);
    leave_group(r, body);
    universe_body_unlink(r->state, body);
    universe_body_append(r->state, body, parent);
    universe_touched(r, UNIVERSE_STARS, body, false);
    if (parent && parent != old)
        universe_touched(r, UNIVERSE_STARS, parent, false);
    r->out->roots = (!old || !parent) && !is_rogue(r, body);
}

void universe_attach_star(universe_reduction *r)
{
    const mcp_json *child_id = universe_argument(r, "childId");
    const mcp_json *parent_id = universe_argument(r, "parentId");
    universe_handle child = universe_named(r, UNIVERSE_STARS, "childId");
    universe_handle parent = universe_named(r, UNIVERSE_STARS, "parentId");
    const char *reason = !child || !parent                          ? "notFound"
                         : is_below(&r->state->core, parent, child) ? "cycle"
                                                                    : NULL;

    if (reason) {
        universe_reject(r, "attachFailed", reason, "childId", child_id, "parentId", parent_id,
                        NULL);
        return;
    }
    move_body(r, child, parent);
    universe_event(r, "starAttached", NULL, "childId", child_id, "parentId", parent_id, NULL);
}

void universe_detach_star(universe_reduction *r)
{
    const mcp_json *child_id = universe_argument(r, "childId");
    universe_handle child = universe_named(r, UNIVERSE_STARS, "childId");

    if (!child || !universe_body_at(&r->state->core, child)->parent) {
        universe_reject(r, "detachFailed", "notAttached", "childId", child_id, NULL);
        return;
    }
    universe_body_set_distance(r->state, child, 0);
    move_body(r, child, 0);
    universe_event(r, "starDetached", NULL, "childId", child_id, NULL);
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* JSON text as a value of the arena's. */
static const mcp_json *read_back(universe_reduction *r, mcp_json_writer *writer)
{
    const mcp_json *value = NULL;
    mcp_status st = mcp_json_writer_status(writer);

    if (st == MCP_OK)
        st = mcp_json_read(&value, r->arena, writer->buf->data, writer->buf->length, NULL);
    if (st != MCP_OK)
        universe_give_up(r, st == MCP_E_PARSE ? MCP_E_INTERNAL : st);
    return value;
}

/* The ring of a planet that had none. */
static const mcp_json *default_ring(universe_reduction *r, universe_handle body,
                                    universe_parts star)
{
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 64 << 10);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    mcp_write_member_double(&writer, "innerRadiusMultiplier", 1.5);
    mcp_write_member_double(&writer, "outerRadiusMultiplier", 3.0);
    mcp_write_member_double(&writer, "thickness",
                            0.1 * universe_body_at(&r->state->core, body)->radius);
    mcp_write_member_double(&writer, "opacity", 0.6);
    mcp_write_member_double(&writer, "albedo", 0.8);
    mcp_write_member_value(&writer, "color", universe_parts_get(star, "color"));
    mcp_write_member_double(&writer, "density", 0.6);
    mcp_write_end(&writer);
    const mcp_json *ring = read_back(r, &writer);
    mcp_buf_clear(&buf);
    return ring;
}

static const mcp_json *object_of(universe_reduction *r, universe_parts parts)
{
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, UNIVERSE_ENTITY_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    for (size_t i = 0; i < parts.count; i++)
        if (parts.items[i].value)
            mcp_write_member_value(&writer, parts.items[i].name, parts.items[i].value);
    mcp_write_end(&writer);
    const mcp_json *object = read_back(r, &writer);
    mcp_buf_clear(&buf);
    return object;
}

/* Put the planet's ring in place; NULL takes it away. */
static void put_ring(universe_reduction *r, universe_handle body, universe_parts star,
                     const mcp_json *ring)
{
    universe_part part = { "ring", 4, ring };
    universe_parts patch = { &part, 1 };

    put_body(r, body, universe_parts_merged(r, star, patch));
}

void universe_update_ring(universe_reduction *r)
{
    const mcp_json *id = universe_argument(r, "planetId");
    universe_handle body = universe_named(r, UNIVERSE_STARS, "planetId");

    if (!body) {
        universe_reject(r, "starNotFound", NULL, "id", id, NULL);
        return;
    }
    universe_parts star = universe_parts_now(r, UNIVERSE_STARS, body);
    const mcp_json *ring = universe_parts_get(star, "ring");
    if (!mcp_json_is_object(ring))
        ring = default_ring(r, body, star);
    universe_parts patch = universe_parts_patch(r, UNIVERSE_STARS, universe_argument(r, "patch"));
    universe_parts merged = universe_parts_merged(r, universe_parts_of(r, ring), patch);
    if (!universe_parts_ordered(r, &universe_ring_shape, merged)) {
        universe_invalid(r, "must be less than the outer one", "/patch/innerRadiusMultiplier");
        return;
    }
    put_ring(r, body, star, object_of(r, merged));
    universe_event(r, "ringUpdated", NULL, "planetId", id, NULL);
}

void universe_remove_ring(universe_reduction *r)
{
    const mcp_json *id = universe_argument(r, "planetId");
    universe_handle body = universe_named(r, UNIVERSE_STARS, "planetId");
    universe_parts star = { NULL, 0 };

    if (body)
        star = universe_parts_now(r, UNIVERSE_STARS, body);
    if (!mcp_json_is_object(universe_parts_get(star, "ring"))) {
        universe_reject(r, "ringNotFound", NULL, "planetId", id, NULL);
        return;
    }
    put_ring(r, body, star, NULL);
    universe_event(r, "ringRemoved", NULL, "planetId", id, NULL);
}
