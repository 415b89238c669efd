/*
 * system.h - one star system while it grows: its bodies as an array in pre-order of making, and the
 * generators of random numbers that its parts draw from.
 */
#ifndef UNIVERSE_SYSTEM_H
#define UNIVERSE_SYSTEM_H

#include "generate/system/config.h"
#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/build.h"
#include "model/model.h"

#define UNIVERSE_UUID_SIZE 37

/** Where a universe grows to: entities are added as soon as they are complete. */
typedef struct universe_generation {
    const universe_config *config;
    universe_build *build;
    mcp_arena *arena; /* of the system that grows; emptied between systems */
    mcp_buf text;     /* one entity's JSON */
    int64_t stars_named;
    mcp_status status; /* the first failure; sticks */
    mcp_error *err;
} universe_generation;

/** One body that grows. Numbers as in the model; ids are UUIDs. */
typedef struct universe_sprout {
    char id[UNIVERSE_UUID_SIZE];
    universe_body_type type;
    int parent; /* index; -1: a root */
    char name[64];
    double mass, radius, distance, speed, phase;
    const char *color;
    double eccentricity, rotation[3], offset[3];
    bool has_eccentricity, has_rotation, has_offset;
    int first_child, last_child, next; /* indices; -1: none */
    const char *more;                  /* further members as JSON, ",\"ring\":{...}"; "" for none */
} universe_sprout;

/** A system. */
typedef struct universe_system {
    universe_generation *generation;
    universe_rng rng, ids;
    universe_sprout *bodies;
    int count, capacity;
    int center;             /* the heaviest star */
    int stars, planets;     /* how many */
    int moon_number;        /* names given */
    const int *planet_list; /* indices, nearest first */
} universe_system;

/** How many bodies of each kind an L-system grows: the stars, and for each planet its moons. */
typedef struct universe_topology {
    int stars, planets;
    int *moons;      /* of each planet */
    int **sub_moons; /* of each moon of each planet; NULL where the preset has none */
    int64_t bodies;  /* of all kinds */
} universe_topology;

/** Grow a topology; arrays in the arena. False: memory is out. */
bool universe_topology_generate(universe_topology *out, const universe_config *config,
                                universe_rng rng, mcp_arena *arena);

/** Remember a failure. */
void universe_generation_fail(universe_generation *generation, mcp_status status,
                              const char *words);

/** A UUID (version 4) from a generator. */
void universe_rng_uuid(universe_rng *ids, char out[UNIVERSE_UUID_SIZE]);

/** A new body below `parent`; NULL when memory is out. */
universe_sprout *universe_system_add(universe_system *system, universe_body_type type, int parent);

/** Radius by mass, distance of the i-th orbit, speed at a distance (universe.md 13.4). */
double universe_radius_of(double mass);
double universe_orbit_distance(const universe_config *config, universe_rng *rng, int index);
double universe_orbit_speed(const universe_config *config, double distance);

/** All of a system but what follows from its bodies. */
void universe_generate_bodies(universe_system *system, const universe_topology *topology);

/** The distance of the outermost planet; 0 without planets. */
double universe_outermost(const universe_system *system);

/** Add all bodies to the universe. */
void universe_write_system(const universe_system *system);

/** Begin an entity of a map: its object is open. End it by universe_entity_end. */
mcp_json_writer universe_entity_begin(universe_generation *generation);
void universe_entity_end(universe_generation *generation, mcp_json_writer *json, universe_map map);

#endif
