/*
 * disks.c - protoplanetary disks about a system's centre (universe.md 13.5).
 */
#include <math.h>

#include "generate/extras/extras.h"

static const char *style_of(double thickness, double opacity)
{
    if (thickness > .8 && opacity > .7)
        return "extreme";
    if (thickness > .5)
        return "thick";
    return thickness > .25 ? "moderate" : "thin";
}

static void write_looks(mcp_json_writer *json, universe_rng *rng, double prominence)
{
    mcp_write_member_double(json, "bandStrength", universe_rng_uniform(rng, .3, .7));
    mcp_write_member_int(json, "bandFrequency", universe_rng_int(rng, 3, 9));
    mcp_write_member_double(json, "gapSharpness", universe_rng_uniform(rng, .3, .8));
    mcp_write_member_double(json, "innerGlowStrength", .3 + .6 * prominence);
    mcp_write_member_double(json, "noiseScale", universe_rng_uniform(rng, .8, 2.5));
    mcp_write_member_double(json, "noiseStrength", universe_rng_uniform(rng, .2, .6));
    mcp_write_member_double(json, "spiralStrength", universe_rng_uniform(rng, 0, .5));
    mcp_write_member_int(json, "spiralArmCount", universe_rng_int(rng, 1, 4));
    mcp_write_member_double(json, "edgeSoftness", universe_rng_uniform(rng, .2, .6));
    mcp_write_member_double(json, "temperatureGradient", universe_rng_uniform(rng, 1, 2));
}

void universe_generate_disk(universe_system *system)
{
    universe_generation *generation = system->generation;
    const universe_config *config = generation->config;
    universe_rng rng = universe_rng_fork(&system->rng, "protoplanetary-disks");
    const universe_sprout *center = &system->bodies[system->center];
    char id[UNIVERSE_UUID_SIZE];

    if (!config->disks || !universe_rng_bool(&rng, .7 * config->disk_presence))
        return;
    universe_rng own = universe_rng_fork(&rng, "disk-0");
    double reach = universe_outermost(system);
    double inner = center->radius * universe_rng_uniform(&own, 1.5, 3);
    double outer = inner + fmax(5, reach) * universe_rng_uniform(&own, .5, 1.2);
    double thickness = universe_rng_uniform(&own, .1, .3 + .9 * config->disk_prominence);
    double opacity = .2 + .6 * config->disk_prominence * universe_rng_uniform(&own, .7, 1);
    double count = round(2000 + 6000 * config->disk_density);
    universe_rng_uuid(&system->ids, id);

    mcp_json_writer json = universe_entity_begin(generation);
    mcp_write_member_string(&json, "id", id);
    mcp_write_member_string(&json, "systemId", center->id);
    mcp_write_member_string(&json, "centralStarId", center->id);
    mcp_write_member_double(&json, "innerRadius", inner);
    mcp_write_member_double(&json, "outerRadius", outer);
    mcp_write_member_double(&json, "thickness", thickness);
    mcp_write_member_double(&json, "particleCount", count);
    mcp_write_member_string(&json, "baseColor", "#D4A574");
    mcp_write_member_string(&json, "highlightColor", "#FFD700");
    mcp_write_member_double(&json, "opacity", opacity);
    mcp_write_member_double(&json, "brightness", .3 + .5 * config->disk_prominence);
    mcp_write_member_double(&json, "clumpiness", universe_rng_uniform(&own, .1, .6));
    mcp_write_member_double(&json, "rotationSpeedMultiplier", universe_rng_uniform(&own, .1, .6));
    mcp_write_member_int(&json, "seed", universe_rng_int(&own, 0, 2147483647));
    mcp_write_member_string(&json, "style", style_of(thickness, opacity));
    write_looks(&json, &own, config->disk_prominence);
    universe_entity_end(generation, &json, UNIVERSE_DISKS);
}
