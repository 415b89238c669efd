/*
 * belts.c - asteroid belts between and beyond planets, Kuiper belts, planetary rings (universe.md
 * 13.5).
 */
#include <math.h>
#include <stdio.h>

#include "generate/extras/extras.h"

static const double details[4] = { 1, 2, 3, 4 };
static const double low_details[4] = { .8, 2, 3, 4 };

/* ---- fields of particles --------------------------------------------------------------------- */

/* A field of small bodies about the centre. */
struct field {
    double inner, outer, thickness, sigma;
    double min, max, density;
    bool is_kuiper;
    const char *name;
};

/* Particles: geometric, so nearly always the minimum. */
static double particle_count(const struct field *field, universe_rng *rng, int64_t detail)
{
    double min = round(field->min * low_details[detail]);
    double max = round(field->max * details[detail]);
    double count = (double)universe_rng_geometric(rng, fmax(.05, 1 - field->density));
    return fmin(fmax(count, min), max);
}

static void write_field(universe_system *system, const struct field *field, universe_rng *rng)
{
    universe_generation *generation = system->generation;
    const char *host = system->bodies[system->center].id;
    double count = particle_count(field, rng, generation->config->detail);
    char id[UNIVERSE_UUID_SIZE];
    universe_rng_uuid(&system->ids, id);
    mcp_json_writer json = universe_entity_begin(generation);

    mcp_write_member_string(&json, "id", id);
    mcp_write_member_string(&json, "systemId", host);
    mcp_write_member_string(&json, "hostStarId", host);
    mcp_write_member_double(&json, "innerRadius", field->inner);
    mcp_write_member_double(&json, "outerRadius", field->outer);
    mcp_write_member_double(&json, "thickness", field->thickness);
    mcp_write_member_double(&json, "particleCount", count);
    mcp_write_member_string(&json, "baseColor", field->is_kuiper ? "#7A8CA8" : "#8B7355");
    mcp_write_member_string(&json, "highlightColor", field->is_kuiper ? "#C8D8F0" : "#C8B496");
    mcp_write_member_double(&json, "opacity", .6 + .3 * field->density);
    mcp_write_member_double(&json, "brightness", field->is_kuiper ? .6 : .8);
    mcp_write_member_double(&json, "clumpiness", universe_rng_uniform(rng, .2, .6));
    mcp_write_member_double(&json, "rotationSpeedMultiplier", field->is_kuiper ? .2 : .5);
    mcp_write_member_string(&json, "beltType", field->is_kuiper ? "kuiper" : "main");
    mcp_write_member_string(&json, "regionLabel", field->name);
    mcp_write_member_bool(&json, "isIcy", field->is_kuiper);
    mcp_write_member_int(&json, "seed", universe_rng_int(rng, 0, 2147483647));
    mcp_write_member_string(&json, "style", field->is_kuiper ? "scattered" : "moderate");
    if (field->is_kuiper)
        mcp_write_member_double(&json, "inclinationSigma", field->sigma);
    mcp_write_member_string(&json, "name", field->name);
    universe_entity_end(generation, &json, UNIVERSE_FIELDS);
}

/* ---- belts ----------------------------------------------------------------------------------- */

static void generate_belt(universe_system *system, universe_rng *rng, double inner, double outer,
                          int number)
{
    const universe_config *config = system->generation->config;
    char name[32];
    snprintf(name, sizeof name, "Belt %d", number);
    const struct field field = { .inner = inner,
                                 .outer = outer,
                                 .thickness = .5,
                                 .density = config->belt_density,
                                 .min = 300 + 300 * config->belt_density,
                                 .max = 1000 + 1500 * config->belt_density,
                                 .name = name };
    write_field(system, &field, rng);
}

static void generate_main_belts(universe_system *system)
{
    const universe_config *config = system->generation->config;
    universe_rng rng = universe_rng_fork(&system->rng, "belts");
    int64_t placement = config->belt_placement, made = 0;
    bool between = placement == UNIVERSE_BELTS_BETWEEN || placement == UNIVERSE_BELTS_BOTH;
    bool outer = placement == UNIVERSE_BELTS_OUTER || placement == UNIVERSE_BELTS_BOTH;

    for (int i = 0; between && i + 1 < system->planets && made < config->belts_max; i++) {
        double r1 = system->bodies[system->planet_list[i]].distance;
        double gap = system->bodies[system->planet_list[i + 1]].distance - r1;
        if (!universe_rng_bool(&rng, .5) || gap <= 0)
            continue;
        generate_belt(system, &rng, r1 + .4 * gap, r1 + .6 * gap, (int)++made);
    }
    double outermost = universe_outermost(system);
    if (outer && outermost > 0 && made < config->belts_max)
        generate_belt(system, &rng, 1.5 * outermost, 2.25 * outermost, (int)++made);
}

static void generate_kuiper(universe_system *system)
{
    static const double ranges[3][2] = { { 1.5, 2.5 }, { 2, 3.5 }, { 2.5, 4.5 } };
    const universe_config *config = system->generation->config;
    universe_rng rng = universe_rng_fork(&system->rng, "kuiper");
    double outermost = universe_outermost(system);
    const double *range = ranges[config->kuiper_style];
    const struct field field = { .inner = range[0] * outermost,
                                 .outer = range[1] * outermost,
                                 .thickness = 1,
                                 .sigma = .5 + 2.5 * config->kuiper_inclination,
                                 .density = config->kuiper_density,
                                 .min = 500 + 500 * config->kuiper_density,
                                 .max = 1500 + 2000 * config->kuiper_density,
                                 .is_kuiper = true,
                                 .name = "Kuiper belt" };
    if (outermost > 0)
        write_field(system, &field, &rng);
}

void universe_generate_belts(universe_system *system)
{
    if (system->generation->config->belts)
        generate_main_belts(system);
    if (system->generation->config->kuiper)
        generate_kuiper(system);
}

/* ---- rings ----------------------------------------------------------------------------------- */

static void ring(universe_system *system, universe_sprout *planet, universe_rng *rng)
{
    universe_generation *generation = system->generation;
    double prominence = generation->config->ring_prominence;
    mcp_json_writer json = universe_entity_begin(generation);

    mcp_write_member_double(&json, "innerRadiusMultiplier", universe_rng_uniform(rng, 1.3, 1.8));
    mcp_write_member_double(&json, "outerRadiusMultiplier", universe_rng_uniform(rng, 2.3, 3.8));
    mcp_write_member_double(&json, "thickness", .1 * planet->radius);
    mcp_write_member_double(&json, "opacity", .3 + .6 * prominence);
    mcp_write_member_double(&json, "albedo", universe_rng_uniform(rng, .5, .9));
    mcp_write_member_string(&json, "color", planet->color);
    mcp_write_member_double(&json, "density", .3 + .6 * prominence);
    mcp_write_member_int(&json, "seed", universe_rng_int(rng, 0, 2147483647));
    mcp_write_end(&json);
    planet->more = mcp_arena_printf(generation->arena, ",\"ring\":%s", generation->text.data);
    if (!planet->more) {
        planet->more = "";
        universe_generation_fail(generation, MCP_E_NOMEM, "no memory for a ring");
    }
}

void universe_generate_rings(universe_system *system)
{
    const universe_config *config = system->generation->config;
    universe_rng rng = universe_rng_fork(&system->rng, "rings");
    double outermost = universe_outermost(system);

    for (int i = 0; config->rings && i < system->planets; i++) {
        universe_sprout *planet = &system->bodies[system->planet_list[i]];
        double factor = fmin(2, fmax(1, planet->mass / 20));
        double p = (.05 + .45 * config->ring_frequency) * factor *
                   (1 + .5 * planet->distance / outermost);
        char label[32];
        snprintf(label, sizeof label, "ring-%d", i);
        if (!universe_rng_bool(&rng, p))
            continue;
        universe_rng own = universe_rng_fork(&rng, label);
        ring(system, planet, &own);
    }
}
