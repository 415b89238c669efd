/*
 * topology.c - the L-system: a system becomes stars and planets, a planet moons, a moon sub-moons
 * (universe.md 13.3). Drawn in this order: the number of stars, of planets, then planet by planet
 * its moons, and in the one preset that has them, moon by moon its sub-moons.
 */
#include "generate/system/system.h"

static int64_t clamped(int64_t n, int64_t min, int64_t max)
{
    return n < min ? min : n > max ? max : n;
}

static int64_t draw_stars(const universe_config *config, universe_rng *rng)
{
    static const double heavy[3] = { .05, .55, .40 };
    static const double by_limit[3][3] = { { 1, 0, 0 }, { .6, .4, 0 }, { .65, .25, .10 } };
    int64_t limit = config->nary ? config->max_stars : 1;
    if (config->topology == UNIVERSE_MULTI_STAR_HEAVY)
        return clamped(1 + (int64_t)universe_rng_weighted(rng, heavy, 3), 1, limit);
    if (config->topology == UNIVERSE_CLASSIC)
        return 1 + (int64_t)universe_rng_weighted(rng, by_limit[limit - 1], 3);
    return 1;
}

static int64_t draw_planets(const universe_config *config, universe_rng *rng)
{
    static const double outpost[3] = { .15, .60, .25 };
    switch (config->topology) {
    case UNIVERSE_COMPACT:
        return universe_rng_int(rng, 1, 2);
    case UNIVERSE_MULTI_STAR_HEAVY:
        return universe_rng_int(rng, 1, 4);
    case UNIVERSE_MOON_RICH:
        return universe_rng_int(rng, 3, 6);
    case UNIVERSE_SPARSE_OUTPOST:
        return (int64_t)universe_rng_weighted(rng, outpost, 3);
    case UNIVERSE_DEEP_HIERARCHY:
        return universe_rng_int(rng, 2, 5);
    default:
        return universe_rng_geometric(rng, .8 - .6 * config->planet_density);
    }
}

static int64_t draw_moons(const universe_config *config, universe_rng *rng)
{
    switch (config->topology) {
    case UNIVERSE_COMPACT:
        return clamped(universe_rng_geometric(rng, .08), 5, 18);
    case UNIVERSE_MULTI_STAR_HEAVY:
        return universe_rng_bool(rng, .7) ? universe_rng_int(rng, 1, 3) : 0;
    case UNIVERSE_MOON_RICH:
        return clamped(universe_rng_geometric(rng, .05), 4, 25);
    case UNIVERSE_SPARSE_OUTPOST:
        if (universe_rng_bool(rng, .75))
            return 0;
        return universe_rng_bool(rng, .85) ? 1 : 2;
    case UNIVERSE_DEEP_HIERARCHY:
        return universe_rng_int(rng, 2, 6);
    default:
        return universe_rng_geometric(rng, .8 - .6 * config->moon_density);
    }
}

/* The sub-moons of each of a planet's moons. */
static int *generate_sub_moons(universe_rng *rng, int moons, int64_t *bodies, mcp_arena *arena)
{
    int *counts = mcp_arena_array(arena, (size_t)moons + 1, sizeof *counts);
    for (int i = 0; counts && i < moons; i++) {
        counts[i] = universe_rng_bool(rng, .5) ? (int)universe_rng_int(rng, 1, 4) : 0;
        *bodies += counts[i];
    }
    return counts;
}

bool universe_topology_generate(universe_topology *out, const universe_config *config,
                                universe_rng rng, mcp_arena *arena)
{
    universe_topology generated = { .stars = (int)draw_stars(config, &rng) };
    bool is_deep = config->topology == UNIVERSE_DEEP_HIERARCHY && config->max_depth > 2;

    generated.planets = (int)draw_planets(config, &rng);
    generated.bodies = generated.stars + generated.planets;
    generated.moons = mcp_arena_array(arena, (size_t)generated.planets + 1,
                                      sizeof *generated.moons);
    if (is_deep)
        generated.sub_moons = mcp_arena_array(arena, (size_t)generated.planets + 1,
                                              sizeof *generated.sub_moons);
    if (!generated.moons || (is_deep && !generated.sub_moons))
        return false;
    for (int i = 0; i < generated.planets; i++) {
        generated.moons[i] = config->max_depth > 1 ? (int)draw_moons(config, &rng) : 0;
        generated.bodies += generated.moons[i];
        if (is_deep) {
            generated.sub_moons[i] = generate_sub_moons(&rng, generated.moons[i], &generated.bodies,
                                                        arena);
            if (!generated.sub_moons[i])
                return false;
        }
    }
    *out = generated;
    return true;
}
