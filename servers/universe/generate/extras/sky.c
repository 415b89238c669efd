/*
 * sky.c - what belongs to no system: nebulae and rogue planets (universe.md 13.5).
 */
#include <math.h>
#include <stdio.h>

#include "generate/extras/extras.h"

#define PI 3.141592653589793

/* A point at a distance of `near` to `far`, in any direction. */
static void draw_point(double out[3], universe_rng *rng, double near, double far)
{
    double distance = universe_rng_uniform(rng, near, far);
    double theta = universe_rng_uniform(rng, 0, 2 * PI);
    double y = universe_rng_uniform(rng, -1, 1);
    out[0] = distance * sqrt(1 - y * y) * cos(theta);
    out[1] = distance * y;
    out[2] = distance * sqrt(1 - y * y) * sin(theta);
}

static void write_vector(mcp_json_writer *json, const char *name, const double v[3])
{
    mcp_write_member_object(json, name);
    mcp_write_member_double(json, "x", v[0]);
    mcp_write_member_double(json, "y", v[1]);
    mcp_write_member_double(json, "z", v[2]);
    mcp_write_end(json);
}

/* ---- nebulae --------------------------------------------------------------------------------- */

static void generate_nebula(universe_generation *generation, universe_rng *rng, universe_rng *ids,
                            int number)
{
    static const double sizes[3][2] = { { 40, 100 }, { 80, 200 }, { 120, 250 } };
    static const char *const colors[3][2][2] = {
        { { "#3A4E9B", "#6FB7FF" }, { "#2E6E8E", "#8CE3E3" } },
        { { "#9B3A3A", "#FFB36F" }, { "#8E4A2E", "#FFD98C" } },
        { { "#5A3A9B", "#FF8CD9" }, { "#2E6E8E", "#FFB36F" } },
    };
    const universe_config *config = generation->config;
    const char *const *color = colors[config->nebula_color][universe_rng_int(rng, 0, 1)];
    char id[UNIVERSE_UUID_SIZE], name[32];
    double position[3];

    draw_point(position, rng, 800, 2000);
    double radius = universe_rng_uniform(rng, sizes[config->nebula_size][0],
                                         sizes[config->nebula_size][1]);
    universe_rng_uuid(ids, id);
    snprintf(name, sizeof name, "Nebula %d", number);
    mcp_json_writer json = universe_entity_begin(generation);
    mcp_write_member_string(&json, "id", id);
    mcp_write_member_string(&json, "name", name);
    write_vector(&json, "position", position);
    mcp_write_member_double(&json, "radius", radius);
    mcp_write_member_double(&json, "density", universe_rng_uniform(rng, .3, .8));
    mcp_write_member_double(&json, "brightness", config->nebula_brightness);
    mcp_write_member_string(&json, "baseColor", color[0]);
    mcp_write_member_string(&json, "accentColor", color[1]);
    mcp_write_member_double(&json, "noiseScale", universe_rng_uniform(rng, .5, 2));
    mcp_write_member_double(&json, "noiseDetail", universe_rng_uniform(rng, 2, 5));
    mcp_write_member_int(&json, "seed", universe_rng_int(rng, 0, 2147483647));
    universe_entity_end(generation, &json, UNIVERSE_NEBULAE);
}

void universe_generate_nebulae(universe_generation *generation, universe_rng rng, universe_rng *ids)
{
    double d = generation->config->nebula_density;
    double min = floor(1 + 4 * d), max = floor(3 + 9 * d);
    int count = (int)round(min + pow(d, .8) * (max - min));
    for (int i = 0; generation->config->nebulae && i < count && generation->status == MCP_OK; i++)
        generate_nebula(generation, &rng, ids, i + 1);
}

/* ---- rogue planets --------------------------------------------------------------------------- */

static int64_t draw_count(universe_rng *rng, double frequency)
{
    if (frequency == 0)
        return 0;
    if (frequency < .4)
        return universe_rng_int(rng, 0, 1);
    if (frequency < .7)
        return universe_rng_int(rng, 1, 2);
    return frequency < .9 ? universe_rng_int(rng, 2, 3) : universe_rng_int(rng, 3, 5);
}

/* 0: a straight path. */
static double draw_curvature(const universe_config *config, universe_rng *rng)
{
    bool is_curved = config->rogue_paths == UNIVERSE_CURVED ||
                     (config->rogue_paths == UNIVERSE_MIXED_PATHS && universe_rng_bool(rng, .5));
    return is_curved ? universe_rng_uniform(rng, config->curvature_min, config->curvature_max) : 0;
}

static void write_path(mcp_json_writer *json, universe_rng *rng, double curvature)
{
    if (curvature <= 0)
        return;
    mcp_write_member_double(json, "pathCurvature", curvature);
    mcp_write_member_double(json, "semiMajorAxis", universe_rng_uniform(rng, 80, 200));
    mcp_write_member_double(json, "eccentricity", .1 + curvature * .5);
    mcp_write_member_double(json, "orbitRotX", universe_rng_uniform(rng, -45, 45));
    mcp_write_member_double(json, "orbitRotY", universe_rng_uniform(rng, -45, 45));
    mcp_write_member_double(json, "orbitRotZ", universe_rng_uniform(rng, 0, 360));
    mcp_write_member_double(json, "pathPeriod", universe_rng_uniform(rng, 300, 800));
}

static void write_rogue(mcp_json_writer *json, const universe_config *config, universe_rng *rng)
{
    static const double speeds[3][2] = { { .005, .02 }, { .01, .08 }, { .05, .15 } };
    const double *range = speeds[config->rogue_style];
    double position[3], velocity[3];

    draw_point(position, rng, 100, 300);
    draw_point(velocity, rng, range[0], range[1]);
    mcp_write_member_object(json, "roguePlanet");
    mcp_write_member_int(json, "seed", universe_rng_int(rng, 0, 2147483647));
    write_vector(json, "initialPosition", position);
    write_vector(json, "velocity", velocity);
    write_path(json, rng, draw_curvature(config, rng));
    mcp_write_member_bool(json, "showTrajectory", true);
    mcp_write_end(json);
}

static void generate_rogue(universe_generation *generation, universe_rng *rng, universe_rng *ids,
                           int number)
{
    char id[UNIVERSE_UUID_SIZE], name[32];
    double mass = universe_rng_log_normal(rng, 1.5, .8) * 10;

    universe_rng_uuid(ids, id);
    snprintf(name, sizeof name, "Rogue %d", number);
    mcp_json_writer json = universe_entity_begin(generation);
    mcp_write_member_string(&json, "id", id);
    mcp_write_member_string(&json, "name", name);
    mcp_write_member_double(&json, "mass", mass);
    mcp_write_member_double(&json, "radius", universe_radius_of(mass));
    mcp_write_member_string(&json, "color", "#6A5A8A");
    mcp_write_member_array(&json, "children");
    mcp_write_end(&json);
    mcp_write_member_null(&json, "parentId");
    mcp_write_member_string(&json, "bodyType", "planet");
    mcp_write_member_double(&json, "orbitalDistance", 0);
    mcp_write_member_double(&json, "orbitalSpeed", 0);
    mcp_write_member_double(&json, "orbitalPhase", 0);
    mcp_write_member_bool(&json, "isRoguePlanet", true);
    write_rogue(&json, generation->config, rng);
    universe_entity_end(generation, &json, UNIVERSE_STARS);
}

void universe_generate_rogues(universe_generation *generation, universe_rng rng, universe_rng *ids)
{
    int64_t count = generation->config->rogues
                        ? draw_count(&rng, generation->config->rogue_frequency)
                        : 0;
    for (int64_t i = 0; i < count && generation->status == MCP_OK; i++)
        generate_rogue(generation, &rng, ids, (int)i + 1);
}
