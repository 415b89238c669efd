/*
 * holes.c - stars that are black holes: how probable, how heavy, what they look like (universe.md
 * 13.5).
 *
 * A high spin is drawn as the root of a uniform number, so that high ones are frequent.
 */
#include "generate/system/holes.h"

#include <math.h>

static double center_probability(const universe_config *config)
{
    static const double by_rarity[] = { 0, .01, .05, .30 };
    if (config->hole_rarity == UNIVERSE_BY_FREQUENCY)
        return fmax(.05, .5 * config->hole_frequency);
    return by_rarity[config->hole_rarity];
}

static double companion_probability(const universe_config *config)
{
    static const double by_rarity[] = { 0, .005, .02, .10 };
    if (config->hole_rarity == UNIVERSE_BY_FREQUENCY)
        return .1 * config->hole_frequency;
    return by_rarity[config->hole_rarity];
}

universe_holes universe_holes_draw(const universe_config *config, universe_rng *rng, int stars)
{
    universe_holes holes = { 0 };
    if (!config->holes)
        return holes;
    holes.center = universe_rng_bool(rng, center_probability(config));
    for (int i = 0; i + 1 < stars; i++)
        holes.companions[i] = universe_rng_bool(rng, companion_probability(config));
    return holes;
}

static double draw_mass(const universe_config *config, universe_rng *rng)
{
    static const double ranges[3][2] = { { 5, 50 }, { 50, 1e4 }, { 1e6, 1e9 } };
    int64_t profile = config->hole_mass == UNIVERSE_MIXED_MASSES ? universe_rng_int(rng, 0, 2)
                                                                 : config->hole_mass;
    return universe_rng_uniform(rng, ranges[profile][0], ranges[profile][1]);
}

static double draw_spin(const universe_config *config, universe_rng *rng)
{
    double u = universe_rng_float(rng);
    if (config->hole_spin == UNIVERSE_SPIN_HIGH)
        return sqrt(u);
    return config->hole_spin == UNIVERSE_SPIN_LOW ? u * u : u;
}

static void write_disk(mcp_json_writer *json, const universe_config *config, universe_rng *rng,
                       double shadow)
{
    static const double strengths[] = { .5, 1, 1.5 };
    double strength = fmin(1, config->hole_accretion * strengths[config->hole_accretion_style]);
    double inner = shadow * universe_rng_uniform(rng, 1.5, 2.5);
    mcp_write_member_double(json, "accretionInnerRadius", inner);
    mcp_write_member_double(json, "accretionOuterRadius",
                            inner * universe_rng_uniform(rng, 2.5, 4.5));
    mcp_write_member_double(json, "diskThickness", shadow * universe_rng_uniform(rng, .05, .2));
    mcp_write_member_double(json, "diskBrightness", fmin(1, .3 + .7 * strength));
    mcp_write_member_double(json, "diskOpacity", universe_rng_uniform(rng, .5, .9));
    mcp_write_member_double(json, "diskTemperature", universe_rng_uniform(rng, 4000, 20000));
    mcp_write_member_double(json, "diskClumpiness",
                            universe_rng_float(rng) * config->hole_complexity);
}

static void write_jet(mcp_json_writer *json, universe_rng *rng, double shadow, bool has_jet)
{
    mcp_write_member_double(json, "jetLength",
                            has_jet ? shadow * universe_rng_uniform(rng, 8, 20) : 0);
    mcp_write_member_double(json, "jetOpeningAngle", universe_rng_uniform(rng, 3, 15));
    mcp_write_member_double(json, "jetBrightness", has_jet ? universe_rng_uniform(rng, .5, 1) : 0);
}

void universe_hole_make(universe_system *system, universe_sprout *star, universe_rng *rng)
{
    universe_generation *generation = system->generation;
    const universe_config *config = generation->config;
    mcp_json_writer json = universe_entity_begin(generation);

    star->type = UNIVERSE_BLACK_HOLE;
    star->color = "#000000";
    star->mass = draw_mass(config, rng);
    star->radius = universe_radius_of(fmin(star->mass, 1e4));
    double shadow = star->radius;
    bool has_disk = universe_rng_bool(rng, .3 + .7 * config->hole_accretion);
    bool has_jet = has_disk && universe_rng_bool(rng, config->hole_jets);

    mcp_write_member_bool(&json, "hasAccretionDisk", has_disk);
    mcp_write_member_bool(&json, "hasRelativisticJet", has_jet);
    mcp_write_member_bool(&json, "hasPhotonRing", config->hole_complexity > .3);
    mcp_write_member_double(&json, "spin", draw_spin(config, rng));
    mcp_write_member_double(&json, "shadowRadius", shadow);
    write_disk(&json, config, rng, shadow);
    write_jet(&json, rng, shadow, has_jet);
    mcp_write_member_double(&json, "dopplerBeamingStrength", universe_rng_float(rng));
    mcp_write_member_double(&json, "lensingStrength", universe_rng_uniform(rng, .3, 1));
    mcp_write_member_double(&json, "rotationSpeedMultiplier", universe_rng_uniform(rng, .5, 2));
    mcp_write_member_int(&json, "seed", universe_rng_int(rng, 0, 2147483647));
    mcp_write_end(&json);
    star->more = mcp_arena_printf(generation->arena, ",\"blackHole\":%s", generation->text.data);
    if (!star->more || mcp_json_writer_status(&json) != MCP_OK) {
        star->more = "";
        universe_generation_fail(generation, MCP_E_NOMEM, "no memory for a black hole");
    }
}
