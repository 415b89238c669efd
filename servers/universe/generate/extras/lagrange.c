/*
 * lagrange.c - the five points of a pair of bodies, marked, and Trojans at the stable two
 * (universe.md 13.5).
 *
 * A marker runs about the primary at the secondary's speed, so that it keeps its place in the pair.
 */
#include <math.h>
#include <stdio.h>

#include "generate/extras/extras.h"

/* Where a point is: its distance from the primary, and its angle from the secondary. */
static void place(universe_sprout *marker, const universe_sprout *primary,
                  const universe_sprout *secondary, int point)
{
    static const double angles[5] = { 0, 0, 180, 60, -60 };
    double mu = secondary->mass / (primary->mass + secondary->mass), d = secondary->distance;
    const double distances[5] = { d * (1 - cbrt(mu / 3)), d * (1 + cbrt(mu / 3)),
                                  d * (1 + 5 * mu / 12), d, d };
    marker->distance = distances[point - 1];
    marker->phase = fmod(secondary->phase + angles[point - 1] + 360, 360);
    marker->speed = secondary->speed;
    marker->has_rotation = secondary->has_rotation;
    for (int i = 0; i < 3; i++)
        marker->rotation[i] = secondary->rotation[i];
}

static const char *describe(universe_generation *generation, const char *primary,
                            const char *secondary, int point, bool is_planet_moon)
{
    const char label[3] = { 'L', (char)('0' + point), '\0' };
    mcp_json_writer json = universe_entity_begin(generation);
    mcp_write_member_string(&json, "primaryId", primary);
    mcp_write_member_string(&json, "secondaryId", secondary);
    mcp_write_member_int(&json, "pointIndex", point);
    mcp_write_member_bool(&json, "stable", point >= 4);
    mcp_write_member_string(&json, "pairType", is_planet_moon ? "planetMoon" : "starPlanet");
    mcp_write_member_string(&json, "label", label);
    mcp_write_end(&json);
    return mcp_arena_printf(generation->arena, ",\"lagrangePoint\":%s", generation->text.data);
}

static bool described(universe_generation *generation, universe_sprout *body, const char *more)
{
    body->more = more ? more : "";
    if (!more)
        universe_generation_fail(generation, MCP_E_NOMEM, "no memory for a Lagrange point");
    return more != NULL;
}

static void generate_trojan(universe_system *system, universe_rng *rng, int primary, int marker,
                            int number)
{
    universe_sprout *trojan = universe_system_add(system, UNIVERSE_ASTEROID, primary);
    if (!trojan)
        return;
    const universe_sprout *host = &system->bodies[marker];
    trojan->mass = universe_rng_log_normal(rng, 1.5, .8) * .01;
    trojan->radius = universe_radius_of(trojan->mass);
    trojan->color = "#8B8378";
    trojan->distance = fmax(.01, host->distance + universe_rng_uniform(rng, -.1, .1));
    trojan->speed = host->speed;
    trojan->phase = fmod(host->phase + universe_rng_uniform(rng, -5, 5) + 360, 360);
    trojan->has_rotation = host->has_rotation;
    for (int i = 0; i < 3; i++)
        trojan->rotation[i] = host->rotation[i];
    snprintf(trojan->name, sizeof trojan->name, "Trojan %d", number);
    described(system->generation, trojan,
              mcp_arena_printf(system->generation->arena, ",\"lagrangeHostId\":\"%s\"", host->id));
}

static void generate_trojans(universe_system *system, universe_rng *rng, int primary, int marker,
                             int ordinal)
{
    double f = system->generation->config->trojan_frequency;
    char label[32];
    if (f <= .05)
        return;
    snprintf(label, sizeof label, "trojan-%d", ordinal);
    universe_rng own = universe_rng_fork(rng, label);
    int64_t count = universe_rng_int(
        &own, (int64_t)floor(2 * f),
        (int64_t)floor(2 + 4 * system->generation->config->trojan_richness));
    for (int64_t i = 0; i < count && system->generation->status == MCP_OK; i++)
        generate_trojan(system, &own, primary, marker, (int)i + 1);
}

static void generate_pair(universe_system *system, universe_rng *rng, int primary, int secondary,
                          bool is_planet_moon)
{
    universe_generation *generation = system->generation;
    int first = generation->config->markers == UNIVERSE_MARKERS_ALL ? 1 : 4;
    for (int point = first; point <= 5 && generation->status == MCP_OK; point++) {
        universe_sprout *marker = universe_system_add(system, UNIVERSE_LAGRANGE_POINT, primary);
        if (!marker)
            return;
        int at = system->count - 1;
        const universe_sprout *one = &system->bodies[primary], *two = &system->bodies[secondary];
        place(marker, one, two, point);
        marker->mass = .001;
        marker->radius = .05;
        marker->color = point >= 4 ? "#5BC95B" : "#FF8C42";
        snprintf(marker->name, sizeof marker->name, "%.48s L%d", two->name, point);
        if (!described(generation, marker,
                       describe(generation, one->id, two->id, point, is_planet_moon)))
            return;
        if (point >= 4)
            generate_trojans(system, rng, primary, at, at);
    }
}

void universe_generate_lagrange(universe_system *system)
{
    const universe_config *config = system->generation->config;
    universe_rng rng = universe_rng_fork(&system->rng, "lagrange");
    int count = system->count; /* not those that come */

    if (!config->lagrange || config->markers == UNIVERSE_MARKERS_NONE)
        return;
    for (int i = 0; i < count; i++) {
        universe_body_type type = system->bodies[i].type;
        bool planet = type == UNIVERSE_PLANET && config->pairs != UNIVERSE_PAIRS_PLANET_MOON;
        bool moon = type == UNIVERSE_MOON && config->pairs != UNIVERSE_PAIRS_STAR_PLANET &&
                    system->bodies[system->bodies[i].parent].type == UNIVERSE_PLANET;
        if (planet || moon)
            generate_pair(system, &rng, system->bodies[i].parent, i, moon);
    }
}
