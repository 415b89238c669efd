/*
 * system.c - the bodies of a growing system, and how they become entities of the universe.
 */
#include "generate/system/system.h"

#include <stdio.h>
#include <string.h>

void universe_generation_fail(universe_generation *generation, mcp_status status, const char *words)
{
    if (generation->status == MCP_OK)
        generation->status = mcp_error_set(generation->err, status, "%s", words);
}

void universe_rng_uuid(universe_rng *ids, char out[UNIVERSE_UUID_SIZE])
{
    uint32_t word[4];
    for (int i = 0; i < 4; i++)
        word[i] = universe_rng_next(ids);
    word[1] = (word[1] & 0xffff0fffu) | 0x00004000u;
    word[2] = (word[2] & 0x3fffffffu) | 0x80000000u;
    snprintf(out, UNIVERSE_UUID_SIZE, "%08x-%04x-%04x-%04x-%04x%08x", word[0], word[1] >> 16,
             word[1] & 0xffff, word[2] >> 16, word[2] & 0xffff, word[3]);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static bool make_room(universe_system *system)
{
    if (system->count < system->capacity)
        return true;
    int capacity = system->capacity ? system->capacity * 2 : 32;
    universe_sprout *bodies = mcp_arena_array(system->generation->arena, (size_t)capacity,
                                              sizeof *bodies);
    if (!bodies) {
        universe_generation_fail(system->generation, MCP_E_NOMEM,
                                 "no memory for a system's bodies");
        return false;
    }
    if (system->count > 0)
        memcpy(bodies, system->bodies, (size_t)system->count * sizeof *bodies);
    system->bodies = bodies;
    system->capacity = capacity;
    return true;
}

universe_sprout *universe_system_add(universe_system *system, universe_body_type type, int parent)
{
    if (!make_room(system))
        return NULL;
    int at = system->count++;
    universe_sprout *body = &system->bodies[at];
    *body = (universe_sprout){
        .type = type, .parent = parent, .first_child = -1, .last_child = -1, .next = -1, .more = ""
    };
    universe_rng_uuid(&system->ids, body->id);
    if (parent >= 0) {
        universe_sprout *above = &system->bodies[parent];
        if (above->last_child >= 0)
            system->bodies[above->last_child].next = at;
        else
            above->first_child = at;
        above->last_child = at;
    }
    return body;
}

/* ---- entities -------------------------------------------------------------------------------- */

mcp_json_writer universe_entity_begin(universe_generation *generation)
{
    mcp_json_writer json;
    mcp_buf_reset(&generation->text);
    mcp_json_writer_init(&json, &generation->text);
    mcp_write_object(&json);
    return json;
}

static void add_entity(universe_generation *generation, universe_map map)
{
    const mcp_json *entity = NULL;
    if (generation->status != MCP_OK)
        return;
    generation->status = mcp_json_read(&entity, generation->arena, generation->text.data,
                                       generation->text.length, generation->err);
    if (generation->status == MCP_OK)
        generation->status = universe_build_add(generation->build, map, entity, generation->err);
}

void universe_entity_end(universe_generation *generation, mcp_json_writer *json, universe_map map)
{
    mcp_write_end(json);
    if (mcp_json_writer_status(json) != MCP_OK)
        universe_generation_fail(generation, mcp_json_writer_status(json), "writing an entity");
    add_entity(generation, map);
}

static void write_orbit(mcp_json_writer *json, const universe_sprout *body)
{
    static const char *const rotations[] = { "orbitRotX", "orbitRotY", "orbitRotZ" };
    static const char *const offsets[] = { "orbitOffsetX", "orbitOffsetY", "orbitOffsetZ" };
    mcp_write_member_double(json, "orbitalDistance", body->distance);
    mcp_write_member_double(json, "orbitalSpeed", body->speed);
    mcp_write_member_double(json, "orbitalPhase", body->phase);
    if (body->has_eccentricity) {
        mcp_write_member_double(json, "semiMajorAxis", body->distance);
        mcp_write_member_double(json, "eccentricity", body->eccentricity);
    }
    for (int i = 0; body->has_rotation && i < 3; i++)
        mcp_write_member_double(json, rotations[i], body->rotation[i]);
    for (int i = 0; body->has_offset && i < 3; i++)
        mcp_write_member_double(json, offsets[i], body->offset[i]);
}

static void write_family(mcp_json_writer *json, const universe_system *system,
                         const universe_sprout *body)
{
    mcp_write_member_array(json, "children");
    for (int i = body->first_child; i >= 0; i = system->bodies[i].next)
        mcp_write_string(json, system->bodies[i].id);
    mcp_write_end(json);
    mcp_write_member_string(json, "parentId",
                            body->parent >= 0 ? system->bodies[body->parent].id : NULL);
}

static void write_body(const universe_system *system, const universe_sprout *body)
{
    universe_generation *generation = system->generation;
    mcp_json_writer json = universe_entity_begin(generation);
    mcp_write_member_string(&json, "id", body->id);
    mcp_write_member_string(&json, "name", body->name);
    mcp_write_member_double(&json, "mass", body->mass);
    mcp_write_member_double(&json, "radius", body->radius);
    mcp_write_member_string(&json, "color", body->color);
    write_family(&json, system, body);
    mcp_write_member_string(&json, "bodyType", universe_body_type_names[body->type]);
    write_orbit(&json, body);
    if (mcp_json_writer_status(&json) == MCP_OK)
        mcp_buf_puts(&generation->text, body->more);
    universe_entity_end(generation, &json, UNIVERSE_STARS);
}

void universe_write_system(const universe_system *system)
{
    universe_generation *generation = system->generation;
    for (int i = 0; i < system->count && generation->status == MCP_OK; i++) {
        const universe_sprout *body = &system->bodies[i];
        write_body(system, body);
        if (body->parent < 0 && generation->status == MCP_OK)
            generation->status = universe_build_root(generation->build, UNIVERSE_STARS, body->id,
                                                     UNIVERSE_UUID_SIZE - 1, generation->err);
    }
}
