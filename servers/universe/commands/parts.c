/*
 * parts.c - the members of an entity as a list: those of a command, those it has now, and the two
 * laid over each other.
 */
#include <string.h>

#include "commands/reduce.h"

static universe_parts parts_new(universe_reduction *r, size_t capacity)
{
    universe_parts parts = { mcp_arena_array(r->arena, capacity + 1, sizeof(universe_part)), 0 };

    if (!parts.items)
        universe_give_up(r, MCP_E_NOMEM);
    return parts;
}

universe_parts universe_parts_of(universe_reduction *r, const mcp_json *object)
{
    size_t count = mcp_json_count(object);
    universe_parts parts = parts_new(r, count);

    for (size_t i = 0; parts.items && i < count; i++) {
        universe_part *part = &parts.items[parts.count++];
        part->name = mcp_json_name(object, i, &part->length);
        part->value = mcp_json_item(object, i);
    }
    return parts;
}

/* parentId and parentGroupId are null by meaning; they are no content and skipped where parts are
 * stored. */
universe_parts universe_parts_whole(universe_reduction *r, universe_map map, const mcp_json *entity)
{
    universe_parts parts = universe_parts_of(r, entity);

    for (size_t i = 0; i < parts.count; i++) {
        universe_part *part = &parts.items[i];
        if (!universe_member_value(&part->value, universe_shape_of(map), r->rules, part->name,
                                   part->length, part->value, r->arena))
            universe_give_up(r, MCP_E_NOMEM);
    }
    return parts;
}

universe_parts universe_parts_patch(universe_reduction *r, universe_map map, const mcp_json *patch)
{
    universe_parts parts = universe_parts_whole(r, map, patch);

    for (size_t i = 0; i < parts.count && !r->rules->lenient; i++)
        if (mcp_json_is_null(parts.items[i].value))
            parts.items[i].value = NULL;
    return parts;
}

universe_parts universe_parts_now(universe_reduction *r, universe_map map, universe_handle handle)
{
    const mcp_json *value = NULL;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 2 * UNIVERSE_ENTITY_MAX);
    mcp_json_writer_init(&writer, &buf);
    universe_content_write(&r->state->core, map, handle, &writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = buf.status;
    if (st == MCP_OK)
        st = mcp_json_read(&value, r->arena, buf.data, buf.length, NULL);
    mcp_buf_clear(&buf);
    if (st != MCP_OK)
        universe_give_up(r, st == MCP_E_PARSE ? MCP_E_INTERNAL : st);
    return universe_parts_of(r, value);
}

static universe_part *find(universe_parts parts, const char *name, size_t length)
{
    for (size_t i = 0; i < parts.count; i++)
        if (parts.items[i].length == length && memcmp(parts.items[i].name, name, length) == 0)
            return &parts.items[i];
    return NULL;
}

universe_parts universe_parts_merged(universe_reduction *r, universe_parts base,
                                     universe_parts patch)
{
    universe_parts merged = parts_new(r, base.count + patch.count);

    if (!merged.items)
        return merged;
    for (size_t i = 0; i < base.count; i++)
        merged.items[merged.count++] = base.items[i];
    for (size_t i = 0; i < patch.count; i++) {
        universe_part *same = find(base, patch.items[i].name, patch.items[i].length);
        if (same)
            merged.items[same - base.items] = patch.items[i];
        else
            merged.items[merged.count++] = patch.items[i];
    }
    return merged;
}

const mcp_json *universe_parts_get(universe_parts parts, const char *name)
{
    const universe_part *part = find(parts, name, strlen(name));

    return part ? part->value : NULL;
}

bool universe_parts_ordered(const universe_reduction *r, const universe_shape *shape,
                            universe_parts parts)
{
    double inner = 0;
    double outer = 1;

    return !shape->inner || r->rules->lenient ||
           !mcp_json_double(universe_parts_get(parts, shape->inner), &inner) ||
           !mcp_json_double(universe_parts_get(parts, shape->outer), &outer) || inner < outer;
}

/* A patch alone was held against the limit when it came; here the entity that it makes is. */
bool universe_unknown_fit(universe_reduction *r, universe_map map, universe_parts parts,
                          const char *at)
{
    const universe_shape *shape = universe_shape_of(map);
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, UNIVERSE_UNKNOWN_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    for (size_t i = 0; i < parts.count; i++) {
        const universe_part *part = &parts.items[i];
        if (!part->value || universe_member_find(shape, part->name, part->length))
            continue;
        mcp_write_member_value(&writer, part->name, part->value);
    }
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    mcp_buf_clear(&buf);
    if (st == MCP_E_NOMEM)
        universe_give_up(r, st);
    else if (st != MCP_OK)
        universe_invalid(r, "unknown members take more than 4096 bytes", at);
    return st == MCP_OK;
}

/* ---- what an entity names -------------------------------------------------------------------- */

static bool exists(universe_reduction *r, const mcp_json *id, const char *at, const char *member)
{
    if (!mcp_json_is_string(id) || universe_named_by(r, UNIVERSE_STARS, id))
        return true;
    universe_invalid(r, "names a body that is not there",
                     mcp_arena_printf(r->arena, "%s/%s", at, member));
    return false;
}

bool universe_names_exist(universe_reduction *r, universe_map map, const mcp_json *entity,
                          const char *at)
{
    const mcp_json *marker = mcp_json_get(entity, "lagrangePoint");

    if (r->rules->lenient)
        return true;
    switch (map) {
    case UNIVERSE_BELTS:
        return exists(r, mcp_json_get(entity, "parentId"), at, "parentId");
    case UNIVERSE_FIELDS:
        return exists(r, mcp_json_get(entity, "hostStarId"), at, "hostStarId");
    case UNIVERSE_DISKS:
        return exists(r, mcp_json_get(entity, "centralStarId"), at, "centralStarId");
    case UNIVERSE_STARS:
        return exists(r, mcp_json_get(entity, "lagrangeHostId"), at, "lagrangeHostId") &&
               exists(r, mcp_json_get(marker, "primaryId"), at, "lagrangePoint/primaryId") &&
               exists(r, mcp_json_get(marker, "secondaryId"), at, "lagrangePoint/secondaryId");
    default:
        return true;
    }
}

/* ---- storing --------------------------------------------------------------------------------- */

void universe_put(universe_reduction *r, universe_map map, universe_handle handle,
                  universe_parts parts)
{
    if (r->status != MCP_OK)
        return;
    mcp_status st = universe_entity_store(r->state, map, handle, parts.items, parts.count, r->err);
    if (st == MCP_E_LIMIT)
        universe_invalid(r, "the entity takes more than 4 MiB", "");
    else if (st != MCP_OK)
        universe_give_up(r, st);
    universe_touched(r, map, handle, false);
}

universe_handle universe_new_row(universe_reduction *r, universe_map map, const mcp_json *id)
{
    size_t length = 0;
    const char *bytes = mcp_json_string(id, &length);

    if (r->state->core.tables[map].count >= UNIVERSE_ENTITIES_MAX) {
        universe_reject(r, "universeFull", "a map holds at most 4000000 entities", "id", id, NULL);
        return 0;
    }
    return universe_row_make(r->state, map, bytes, length);
}
