/*
 * config.h - what a universe is grown from: the members of a configuration, read and checked by one
 * table.
 */
#ifndef UNIVERSE_CONFIG_H
#define UNIVERSE_CONFIG_H

#include "generate/system/rng.h"
#include "mcp/error.h"
#include "mcp/json.h"

enum { UNIVERSE_GENERATED_SYSTEMS_MAX = 100000, UNIVERSE_GENERATED_BODIES_MAX = 2000000 };

/* Choices, in the order of their names in config.c. */
enum { UNIVERSE_SPARSE, UNIVERSE_SOLAR_LIKE, UNIVERSE_CROWDED, UNIVERSE_SUPER_DENSE };
enum {
    UNIVERSE_CLASSIC,
    UNIVERSE_COMPACT,
    UNIVERSE_MULTI_STAR_HEAVY,
    UNIVERSE_MOON_RICH,
    UNIVERSE_SPARSE_OUTPOST,
    UNIVERSE_DEEP_HIERARCHY
};
enum { UNIVERSE_REALISTIC, UNIVERSE_COMPRESSED, UNIVERSE_TOY };
enum { UNIVERSE_CIRCULAR, UNIVERSE_MIXED_ECCENTRIC, UNIVERSE_ECCENTRIC };
enum { UNIVERSE_FLAT, UNIVERSE_GALAXY_CLUSTER, UNIVERSE_DEEP_GROUPS };
enum { UNIVERSE_DETAIL_LOW, UNIVERSE_DETAIL_MEDIUM, UNIVERSE_DETAIL_HIGH, UNIVERSE_DETAIL_ULTRA };
enum { UNIVERSE_BELTS_NONE, UNIVERSE_BELTS_BETWEEN, UNIVERSE_BELTS_OUTER, UNIVERSE_BELTS_BOTH };
enum { UNIVERSE_KUIPER_TIGHT, UNIVERSE_KUIPER_CLASSICAL, UNIVERSE_KUIPER_WIDE };
enum { UNIVERSE_RARE_LONG, UNIVERSE_MIXED_COMETS, UNIVERSE_MANY_SHORT };
enum { UNIVERSE_MARKERS_NONE, UNIVERSE_MARKERS_STABLE, UNIVERSE_MARKERS_ALL };
enum { UNIVERSE_PAIRS_STAR_PLANET, UNIVERSE_PAIRS_PLANET_MOON, UNIVERSE_PAIRS_BOTH };
enum { UNIVERSE_NEBULAE_SMALL, UNIVERSE_NEBULAE_MEDIUM, UNIVERSE_NEBULAE_GIANT };
enum { UNIVERSE_NEBULAE_COOL, UNIVERSE_NEBULAE_WARM, UNIVERSE_NEBULAE_MIXED };
enum { UNIVERSE_SLOW_DRIFTERS, UNIVERSE_MIXED_ROGUES, UNIVERSE_FAST_INTRUDERS };
enum { UNIVERSE_LINEAR_ONLY, UNIVERSE_MIXED_PATHS, UNIVERSE_CURVED };
enum { UNIVERSE_STELLAR, UNIVERSE_INTERMEDIATE, UNIVERSE_SUPERMASSIVE, UNIVERSE_MIXED_MASSES };
enum { UNIVERSE_BY_FREQUENCY, UNIVERSE_ULTRA_RARE, UNIVERSE_RARE, UNIVERSE_COMMON };
enum { UNIVERSE_ACCRETION_QUIET, UNIVERSE_ACCRETION_MODERATE, UNIVERSE_ACCRETION_ACTIVE };
enum { UNIVERSE_SPIN_LOW, UNIVERSE_SPIN_UNIFORM, UNIVERSE_SPIN_HIGH };

/** A configuration that was checked. Fractions are 0 to 1. */
typedef struct universe_config {
    universe_rng seed;
    int64_t max_systems, max_stars, max_depth;
    int64_t style, topology, scale, eccentricity;
    bool nary, offset_orbits, compat;
    double planet_density, moon_density, inclination; /* inclination in degrees */
    bool groups;
    int64_t group_count, group_structure;
    int64_t detail;
    bool belts;
    double belt_density;
    int64_t belts_max, belt_placement;
    bool kuiper;
    double kuiper_density, kuiper_inclination;
    int64_t kuiper_style;
    bool rings;
    double ring_frequency, ring_prominence;
    bool comets;
    double comet_frequency, comet_activity;
    int64_t comet_style;
    bool lagrange;
    int64_t markers, pairs;
    double trojan_frequency, trojan_richness;
    bool disks;
    double disk_presence, disk_density, disk_prominence;
    bool nebulae;
    double nebula_density, nebula_brightness;
    int64_t nebula_size, nebula_color;
    bool rogues;
    double rogue_frequency, curvature_min, curvature_max;
    int64_t rogue_style, rogue_paths;
    bool holes;
    double hole_frequency, hole_accretion, hole_jets, hole_complexity;
    int64_t hole_mass, hole_rarity, hole_accretion_style, hole_spin;
} universe_config;

/**
 * Read a configuration: defaults, then the style preset where one is named, then its other members.
 *
 * @return MCP_OK; MCP_E_PARAMS: an unknown member or a value that cannot be, named with what can
 */
mcp_status universe_config_read(universe_config *out, const mcp_json *json, mcp_error *err);

#endif
