/*
 * generate.c - the whole pipeline: count, then system by system, then what belongs to none (universe.md 13.2).
 *
 * The topologies are drawn twice, first only to be counted: so the number of bodies is known, and refused
 * where it is too large, before the first of them is made. A system's memory is given back before the next.
 */
#include "generate/generate.h"

#include <math.h>

#include "generate/system.h"

#define ENTITY_MAX_BYTES ((size_t)16 << 20)
#define SYSTEM_MAX_BYTES ((size_t)256 << 20)

/* ---- the seeds of systems --------------------------------------------------------------------- */

/* The generator of the i-th system; `master` moves on, but for a universe of one. */
static universe_rng next_system(const universe_config *config, universe_rng *master)
{
    if (config->max_systems == 1)
        return config->seed;
    return universe_rng_number((uint32_t)universe_rng_int(master, 0, 2147483647));
}

/* More than any system has of what is not in its topology. */
static int64_t extras_of(const universe_config *config, const universe_topology *topology)
{
    int64_t extras = 0, pairs = topology->bodies - topology->stars;
    if (config->comets)
        extras += (int64_t)floor(2 + 4 * config->comet_frequency);
    if (config->lagrange && config->markers != UNIVERSE_MARKERS_NONE)
        extras += pairs * (5 + 2 * (int64_t)floor(2 + 4 * config->trojan_richness));
    return extras;
}

static mcp_status estimate(const universe_config *config, mcp_error *err)
{
    universe_rng master = config->seed;
    int64_t bodies = 0;
    for (int64_t i = 0; i < config->max_systems; i++) {
        universe_topology topology = { 0 };
        universe_rng rng = next_system(config, &master);
        mcp_arena *arena = mcp_arena_new(0);
        bool grown = arena && universe_topology_grow(&topology, config,
                                                     universe_rng_fork(&rng, "lsystem"), arena);
        if (grown)
            bodies += topology.bodies + extras_of(config, &topology);
        mcp_arena_free(arena);
        if (!grown)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory to count a universe");
    }
    if (bodies > UNIVERSE_GENERATED_BODIES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "this would be up to %lld bodies, more than %d: lower maxSystems, the "
                             "densities or what is enabled",
                             (long long)bodies, UNIVERSE_GENERATED_BODIES_MAX);
    return MCP_OK;
}

/* ---- growing ---------------------------------------------------------------------------------- */

/* One system, all of it; its root's id is told. */
static void grow_system(universe_growth *growth, universe_rng rng, char root[UNIVERSE_UUID_SIZE])
{
    universe_system system = { .growth = growth,
                               .rng = rng,
                               .ids = universe_rng_fork(&rng, "ids") };
    universe_topology topology = { 0 };
    if (!universe_topology_grow(&topology, growth->config, universe_rng_fork(&rng, "lsystem"),
                                growth->arena)) {
        universe_growth_fail(growth, MCP_E_NOMEM, "no memory for a system");
        return;
    }
    universe_grow_bodies(&system, &topology);
    if (growth->status != MCP_OK)
        return;
    universe_grow_belts(&system);
    universe_grow_rings(&system);
    universe_grow_comets(&system);
    universe_grow_lagrange(&system);
    universe_grow_disk(&system);
    universe_write_system(&system);
    for (size_t i = 0; i < UNIVERSE_UUID_SIZE; i++)
        root[i] = system.bodies[system.center].id[i];
}

/* The arena of a system is its own. */
static void grow_one(universe_growth *growth, universe_rng rng, char root[UNIVERSE_UUID_SIZE])
{
    growth->arena = mcp_arena_new(SYSTEM_MAX_BYTES);
    if (growth->arena)
        grow_system(growth, rng, root);
    else
        universe_growth_fail(growth, MCP_E_NOMEM, "no memory for a system");
    mcp_arena_free(growth->arena);
    growth->arena = NULL;
}

static void grow_systems(universe_growth *growth, char (*roots)[UNIVERSE_UUID_SIZE],
                         universe_generating *told, void *data)
{
    universe_rng master = growth->config->seed;
    int64_t count = growth->config->max_systems;
    int64_t step = count / 100 + 1;
    for (int64_t i = 0; i < count && growth->status == MCP_OK; i++) {
        grow_one(growth, next_system(growth->config, &master), roots[i]);
        if (told && i % step == 0 && told((double)i / (double)count, data))
            universe_growth_fail(growth, MCP_E_STOPPED, "the generator was stopped");
    }
}

/* Reference: nebulae and rogues once a system and once more; groups wherever there are several systems. */
static void grow_as_reference(universe_growth *growth, const universe_rng *master,
                              universe_rng *ids)
{
    universe_rng walk = *master;
    for (int64_t i = 0; growth->config->compat && i < growth->config->max_systems; i++) {
        universe_rng rng = next_system(growth->config, &walk);
        universe_grow_nebulae(growth, universe_rng_fork(&rng, "nebulae"), ids);
        universe_grow_rogues(growth, universe_rng_fork(&rng, "rogue-planets"), ids);
    }
}

static void grow_rest(universe_growth *growth, char (*roots)[UNIVERSE_UUID_SIZE])
{
    const universe_config *config = growth->config;
    const universe_rng *master = &config->seed;
    /* Not "ids": a universe of one system has the same generator as that system. */
    universe_rng ids = universe_rng_fork(master, "sky-ids");
    size_t count = (size_t)config->max_systems;
    if (growth->status != MCP_OK)
        return;
    if (config->groups || (config->compat && count > 1))
        universe_grow_groups(growth, universe_rng_fork(master, "groups"), &ids, roots, count);
    grow_as_reference(growth, master, &ids);
    universe_grow_nebulae(growth, universe_rng_fork(master, "nebulae"), &ids);
    universe_grow_rogues(growth, universe_rng_fork(master, "rogue-planets"), &ids);
}

static mcp_status grow(universe_state **out, universe_growth *growth, universe_generating *told,
                       void *data, mcp_arena *arena)
{
    char(*roots)[UNIVERSE_UUID_SIZE] =
        mcp_arena_array(arena, (size_t)growth->config->max_systems, sizeof *roots);
    if (!roots)
        return mcp_error_set(growth->err, MCP_E_NOMEM, "no memory for a universe's systems");
    grow_systems(growth, roots, told, data);
    growth->arena = mcp_arena_new(SYSTEM_MAX_BYTES);
    if (!growth->arena)
        universe_growth_fail(growth, MCP_E_NOMEM, "no memory for a universe");
    grow_rest(growth, roots);
    mcp_arena_free(growth->arena);
    return growth->status == MCP_OK ? universe_build_end(out, growth->build, growth->err)
                                    : growth->status;
}

mcp_status universe_generate(universe_state **out, const mcp_json *json,
                             universe_generating *told, void *data, mcp_arena *arena,
                             mcp_error *err)
{
    universe_config config;
    const universe_rules strict = { 0 };
    universe_growth growth = { .config = &config, .err = err };

    mcp_status st = universe_config_read(&config, json, err);
    if (st == MCP_OK)
        st = estimate(&config, err);
    if (st == MCP_OK)
        st = universe_build_new(&growth.build, &strict, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&growth.text, ENTITY_MAX_BYTES);
    st = grow(out, &growth, told, data, arena);
    mcp_buf_clear(&growth.text);
    universe_build_free(growth.build);
    return st;
}
