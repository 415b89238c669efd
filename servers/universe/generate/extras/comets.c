/*
 * comets.c - comets about a system's centre (universe.md 13.5).
 */
#include <math.h>
#include <stdio.h>

#include "generate/extras/extras.h"

/* By the style: rare and long, mixed, many and short. */
static const struct style {
    double far[2]; /* semi-major axis, in distances of the outermost planet */
    double eccentric[2];
    double short_period; /* probability */
} styles[] = {
    { { 2, 3.5 }, { .7, .99 }, .1 },
    { { 1.5, 3 }, { .6, .95 }, .4 },
    { { 1.2, 2.5 }, { .5, .9 }, .7 },
};

static const char *describe(universe_generation *generation, const universe_sprout *comet, double a,
                            bool is_short, universe_rng *rng)
{
    double activity = generation->config->comet_activity;
    mcp_json_writer json = universe_entity_begin(generation);
    mcp_write_member_bool(&json, "isPeriodic", is_short);
    mcp_write_member_double(&json, "perihelionDistance", a * (1 - comet->eccentricity));
    mcp_write_member_double(&json, "aphelionDistance", a * (1 + comet->eccentricity));
    mcp_write_member_bool(&json, "hasTail", universe_rng_bool(rng, .95));
    mcp_write_member_double(&json, "tailLengthBase",
                            (2 + 6 * activity) * universe_rng_uniform(rng, .7, 1.3));
    mcp_write_member_double(&json, "tailWidthBase", .2 + .4 * activity);
    mcp_write_member_string(&json, "tailColor", "#AADDFF");
    mcp_write_member_double(&json, "tailOpacityBase", .3 + .5 * activity);
    mcp_write_member_double(&json, "activityFalloffDistance", a * .6);
    mcp_write_member_int(&json, "seed", universe_rng_int(rng, 0, 2147483647));
    mcp_write_end(&json);
    return mcp_arena_printf(generation->arena, ",\"comet\":%s", generation->text.data);
}

static void generate_comet(universe_system *system, universe_rng *rng, double outermost, int number)
{
    universe_generation *generation = system->generation;
    const struct style *style = &styles[generation->config->comet_style];
    universe_sprout *comet = universe_system_add(system, UNIVERSE_COMET, system->center);
    if (!comet)
        return;
    bool is_short = universe_rng_bool(rng, style->short_period);
    double a = outermost * universe_rng_uniform(rng, style->far[0], style->far[1]);
    if (is_short)
        a /= 2;
    comet->mass = universe_rng_log_normal(rng, 1.5, .8) * .005;
    comet->radius = universe_radius_of(comet->mass);
    comet->color = "#DDEEFF";
    comet->distance = a;
    comet->speed = universe_orbit_speed(generation->config, a);
    comet->phase = universe_rng_uniform(rng, 0, 360);
    comet->has_eccentricity = comet->has_rotation = true;
    comet->eccentricity = universe_rng_uniform(rng, style->eccentric[0], style->eccentric[1]);
    comet->rotation[0] = universe_rng_uniform(rng, -45, 45);
    comet->rotation[1] = universe_rng_uniform(rng, -45, 45);
    comet->rotation[2] = universe_rng_uniform(rng, 0, 360);
    snprintf(comet->name, sizeof comet->name, "Comet %d", number);
    comet->more = describe(generation, comet, a, is_short, rng);
    if (!comet->more) {
        comet->more = "";
        universe_generation_fail(generation, MCP_E_NOMEM, "no memory for a comet");
    }
}

void universe_generate_comets(universe_system *system)
{
    const universe_config *config = system->generation->config;
    universe_rng rng = universe_rng_fork(&system->rng, "comets");
    double outermost = universe_outermost(system), f = config->comet_frequency;

    if (!config->comets || outermost <= 0)
        return;
    int64_t count = universe_rng_int(&rng, (int64_t)floor(1 + f), (int64_t)floor(2 + 4 * f));
    for (int64_t i = 0; i < count && system->generation->status == MCP_OK; i++)
        generate_comet(system, &rng, outermost, (int)i + 1);
}
