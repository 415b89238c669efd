/*
 * generate.c - the whole pipeline: count, then system by system, then what belongs to none
 * (universe.md 13.2).
 *
 * The topologies are drawn twice, first only to be counted: so the number of bodies is known, and
 * refused where it is too large, before the first of them is made. A system's memory is given back
 * before the next.
 */
#include "generate/generate.h"

#include <math.h>

#include "generate/extras/extras.h"

#define ENTITY_MAX_BYTES ((size_t)16 << 20)
#define SYSTEM_MAX_BYTES ((size_t)256 << 20)

/* ---- the seeds of systems -------------------------------------------------------------------- */

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
        bool generated = arena && universe_topology_generate(
                                      &topology, config, universe_rng_fork(&rng, "lsystem"), arena);
        if (generated)
            bodies += topology.bodies + extras_of(config, &topology);
        mcp_arena_free(arena);
        if (!generated)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory to count a universe");
    }
    if (bodies > UNIVERSE_GENERATED_BODIES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "this would be up to %lld bodies, more than %d: lower maxSystems, the "
                             "densities or what is enabled",
                             (long long)bodies, UNIVERSE_GENERATED_BODIES_MAX);
    return MCP_OK;
}

/* ---- growing --------------------------------------------------------------------------------- */

/* One system, all of it. @param root gets the id of its centre */
static void generate_system(universe_generation *generation, universe_rng rng,
                            char root[UNIVERSE_UUID_SIZE])
{
    universe_system system = { .generation = generation,
                               .rng = rng,
                               .ids = universe_rng_fork(&rng, "ids") };
    universe_topology topology = { 0 };
    if (!universe_topology_generate(&topology, generation->config,
                                    universe_rng_fork(&rng, "lsystem"), generation->arena)) {
        universe_generation_fail(generation, MCP_E_NOMEM, "no memory for a system");
        return;
    }
    universe_generate_bodies(&system, &topology);
    if (generation->status != MCP_OK)
        return;
    universe_generate_belts(&system);
    universe_generate_rings(&system);
    universe_generate_comets(&system);
    universe_generate_lagrange(&system);
    universe_generate_disk(&system);
    universe_write_system(&system);
    for (size_t i = 0; i < UNIVERSE_UUID_SIZE; i++)
        root[i] = system.bodies[system.center].id[i];
}

/* The arena of a system is its own. */
static void generate_one(universe_generation *generation, universe_rng rng,
                         char root[UNIVERSE_UUID_SIZE])
{
    generation->arena = mcp_arena_new(SYSTEM_MAX_BYTES);
    if (generation->arena)
        generate_system(generation, rng, root);
    else
        universe_generation_fail(generation, MCP_E_NOMEM, "no memory for a system");
    mcp_arena_free(generation->arena);
    generation->arena = NULL;
}

static void generate_systems(universe_generation *generation, char (*roots)[UNIVERSE_UUID_SIZE],
                             universe_generating *report, void *data)
{
    universe_rng master = generation->config->seed;
    int64_t count = generation->config->max_systems;
    int64_t step = count / 100 + 1;
    for (int64_t i = 0; i < count && generation->status == MCP_OK; i++) {
        generate_one(generation, next_system(generation->config, &master), roots[i]);
        if (report && i % step == 0 && report((double)i / (double)count, data))
            universe_generation_fail(generation, MCP_E_STOPPED, "the generator was stopped");
    }
}

/* Reference: nebulae and rogues once a system and once more; groups wherever there are several
 * systems. */
static void generate_as_reference(universe_generation *generation, const universe_rng *master,
                                  universe_rng *ids)
{
    universe_rng walk = *master;
    for (int64_t i = 0; generation->config->compat && i < generation->config->max_systems; i++) {
        universe_rng rng = next_system(generation->config, &walk);
        universe_generate_nebulae(generation, universe_rng_fork(&rng, "nebulae"), ids);
        universe_generate_rogues(generation, universe_rng_fork(&rng, "rogue-planets"), ids);
    }
}

static void generate_rest(universe_generation *generation, char (*roots)[UNIVERSE_UUID_SIZE])
{
    const universe_config *config = generation->config;
    const universe_rng *master = &config->seed;
    /* Not "ids": a universe of one system has the same generator as that system. */
    universe_rng ids = universe_rng_fork(master, "sky-ids");
    size_t count = (size_t)config->max_systems;
    if (generation->status != MCP_OK)
        return;
    if (config->groups || (config->compat && count > 1))
        universe_generate_groups(generation, universe_rng_fork(master, "groups"), &ids, roots,
                                 count);
    generate_as_reference(generation, master, &ids);
    universe_generate_nebulae(generation, universe_rng_fork(master, "nebulae"), &ids);
    universe_generate_rogues(generation, universe_rng_fork(master, "rogue-planets"), &ids);
}

static mcp_status generate(universe_state **out, universe_generation *generation,
                           universe_generating *report, void *data, mcp_arena *arena)
{
    char(*roots)[UNIVERSE_UUID_SIZE] = mcp_arena_array(
        arena, (size_t)generation->config->max_systems, sizeof *roots);
    if (!roots)
        return mcp_error_set(generation->err, MCP_E_NOMEM, "no memory for a universe's systems");
    generate_systems(generation, roots, report, data);
    generation->arena = mcp_arena_new(SYSTEM_MAX_BYTES);
    if (!generation->arena)
        universe_generation_fail(generation, MCP_E_NOMEM, "no memory for a universe");
    generate_rest(generation, roots);
    mcp_arena_free(generation->arena);
    return generation->status == MCP_OK
               ? universe_build_end(out, generation->build, generation->err)
               : generation->status;
}

mcp_status universe_generate(universe_state **out, const mcp_json *json,
                             universe_generating *report, void *data, mcp_arena *arena,
                             mcp_error *err)
{
    universe_config config;
    const universe_rules strict = { 0 };
    universe_generation generation = { .config = &config, .err = err };

    mcp_status st = universe_config_read(&config, json, err);
    if (st == MCP_OK)
        st = estimate(&config, err);
    if (st == MCP_OK)
        st = universe_build_new(&generation.build, &strict, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&generation.text, ENTITY_MAX_BYTES);
    st = generate(out, &generation, report, data, arena);
    mcp_buf_clear(&generation.text);
    universe_build_free(generation.build);
    return st;
}
