/*
 * bodies.c - masses, orbits, names and colours of a system's bodies (universe.md 13.4).
 *
 * The order of the draws from the fork "stardata" is part of what a seed means: the black-hole
 * tests (only where holes are enabled), the masses of all stars; then each star's orbit, the centre
 * first; then each planet (mass, distance, phase, colour, orbit) with its moons behind it. An orbit
 * draws eccentricity, inclination about x, about y, about z, and the offset's two angles and
 * length, each only where its range is not empty.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generate/system/holes.h"
#include "generate/system/system.h"

#define PI 3.141592653589793

/* ---- laws ------------------------------------------------------------------------------------ */

static const struct scale {
    double base, growth, speed;
} scales[] = { { 8, 1.8, 20 }, { 5, 1.6, 18 }, { 3, 1.5, 15 } };

double universe_radius_of(double mass)
{
    return .15 * pow(mass, .4);
}

double universe_orbit_distance(const universe_config *config, universe_rng *rng, int index)
{
    const struct scale *scale = &scales[config->scale];
    return scale->base * pow(scale->growth, index) + universe_rng_uniform(rng, -.1, .1);
}

double universe_orbit_speed(const universe_config *config, double distance)
{
    return scales[config->scale].speed / sqrt(distance);
}

static double draw_mass(universe_rng *rng, double factor)
{
    return universe_rng_log_normal(rng, 1.5, .8) * factor;
}

static void draw_offset(universe_sprout *body, universe_rng *rng)
{
    double theta = universe_rng_uniform(rng, 0, 2 * PI);
    double phi = universe_rng_uniform(rng, 0, PI);
    double length = universe_rng_uniform(rng, 0, 2);
    body->has_offset = true;
    body->offset[0] = length * sin(phi) * cos(theta);
    body->offset[1] = length * cos(phi);
    body->offset[2] = length * sin(phi) * sin(theta);
}

static void draw_orbit(universe_sprout *body, const universe_config *config, universe_rng *rng)
{
    static const double ranges[3][2] = { { 0, 0 }, { 0, .3 }, { .1, .7 } };
    const double *range = ranges[config->eccentricity];
    double inclination = config->inclination;

    if (range[1] > range[0]) {
        body->has_eccentricity = true;
        body->eccentricity = universe_rng_uniform(rng, range[0], range[1]);
    }
    if (inclination > 0) {
        body->has_rotation = true;
        body->rotation[0] = universe_rng_uniform(rng, -inclination, inclination);
        body->rotation[1] = universe_rng_uniform(rng, -inclination / 2, inclination / 2);
        body->rotation[2] = universe_rng_uniform(rng, 0, 360);
    }
    if (config->offset_orbits)
        draw_offset(body, rng);
}

/* ---- names and colours ----------------------------------------------------------------------- */

/* The n-th star of a universe. Letters and constellations repeat after 40 stars; the other 40 pairs
 * follow, and then the same 80 with a number. */
static void name_star(universe_sprout *star, int64_t n)
{
    static const char *const greek[] = { "Alpha",   "Beta", "Gamma", "Delta",
                                         "Epsilon", "Zeta", "Eta",   "Theta" };
    static const char *const constellations[] = { "Orionis",    "Centauri",   "Lyrae",  "Cygni",
                                                  "Draconis",   "Aquilae",    "Pegasi", "Leonis",
                                                  "Andromedae", "Cassiopeiae" };
    char number[24] = "";
    if (n >= 80)
        snprintf(number, sizeof number, " %lld", (long long)(n / 80 + 1));
    snprintf(star->name, sizeof star->name, "%s %s%s", greek[n % 8],
             constellations[(n + n / 40) % 10], number);
}

static void name_planet(universe_sprout *planet, int index)
{
    static const char *const names[] = { "Mercury", "Venus",  "Earth",   "Mars", "Jupiter",
                                         "Saturn",  "Uranus", "Neptune", "Pluto" };
    if (index < 9)
        snprintf(planet->name, sizeof planet->name, "%s", names[index]);
    else if (index < 26)
        snprintf(planet->name, sizeof planet->name, "Planet %c", 'A' + index);
    else
        snprintf(planet->name, sizeof planet->name, "Planet %d", index + 1);
}

static void name_moon(universe_sprout *moon, int index)
{
    static const char *const names[] = { "Moon",   "Phobos",   "Deimos",   "Io",
                                         "Europa", "Ganymede", "Callisto", "Titan" };
    if (index < 8)
        snprintf(moon->name, sizeof moon->name, "%s", names[index]);
    else
        snprintf(moon->name, sizeof moon->name, "Moon %d", index + 1);
}

static const char *star_color(double mass)
{
    if (mass > 600)
        return "#9BB0FF";
    if (mass > 200)
        return "#CAD7FF";
    if (mass > 100)
        return "#F8F7FF";
    return mass > 50 ? "#FFF4EA" : "#FFD2A1";
}

static const char *planet_color(universe_rng *rng)
{
    static const char *const colors[] = { "#4A90E2", "#E25822", "#8B7355", "#C0A080", "#A0C0E0" };
    return colors[universe_rng_int(rng, 0, 4)];
}

/* ---- growing --------------------------------------------------------------------------------- */

static void orbit_at(universe_system *system, universe_sprout *body, universe_rng *rng, int index)
{
    body->distance = universe_orbit_distance(system->generation->config, rng, index);
    body->speed = universe_orbit_speed(system->generation->config, body->distance);
}

static int generate_stars(universe_system *system, int count, universe_rng *rng)
{
    const universe_config *config = system->generation->config;
    double masses[3] = { 0 };
    universe_holes holes = universe_holes_draw(config, rng, count);
    int heaviest = 0, companion = 0;

    for (int i = 0; i < count; i++) {
        masses[i] = draw_mass(rng, 100);
        heaviest = masses[i] > masses[heaviest] ? i : heaviest;
    }
    for (int i = 0; i < count; i++) {
        int at = i == 0 ? heaviest : i <= heaviest ? i - 1 : i;
        bool is_center = at == heaviest;
        universe_sprout *star = universe_system_add(system, UNIVERSE_STAR,
                                                    is_center ? -1 : system->center);
        if (!star)
            return 0;
        star->mass = masses[at];
        star->radius = universe_radius_of(star->mass);
        star->color = star_color(star->mass);
        name_star(star, ++system->generation->stars_named);
        if (!is_center) {
            orbit_at(system, star, rng, companion);
            star->phase = 360.0 * companion / count;
            companion++;
        }
        draw_orbit(star, config, rng);
        if (is_center ? holes.center : holes.companions[companion - 1])
            universe_hole_make(system, star, rng);
    }
    return companion;
}

static int generate_moon(universe_system *system, universe_rng *rng, int parent, int index)
{
    universe_sprout *moon = universe_system_add(system, UNIVERSE_MOON, parent);
    if (!moon)
        return -1;
    moon->mass = draw_mass(rng, 1);
    moon->radius = universe_radius_of(moon->mass);
    orbit_at(system, moon, rng, index);
    moon->phase = universe_rng_uniform(rng, 0, 360);
    moon->color = "#CCCCCC";
    name_moon(moon, system->moon_number++);
    draw_orbit(moon, system->generation->config, rng);
    return system->count - 1;
}

static int generate_planet(universe_system *system, universe_rng *rng, int index, int companions)
{
    universe_sprout *planet = universe_system_add(system, UNIVERSE_PLANET, system->center);
    if (!planet)
        return -1;
    planet->mass = draw_mass(rng, 10);
    planet->radius = universe_radius_of(planet->mass);
    orbit_at(system, planet, rng, index + companions);
    planet->phase = universe_rng_uniform(rng, 0, 360);
    planet->color = planet_color(rng);
    name_planet(planet, index);
    draw_orbit(planet, system->generation->config, rng);
    return system->count - 1;
}

static void generate_moons(universe_system *system, universe_rng *rng, int planet, int count,
                           const int *sub_moons)
{
    for (int i = 0; i < count; i++) {
        int moon = generate_moon(system, rng, planet, i);
        if (moon < 0)
            return;
        for (int j = 0; sub_moons && j < sub_moons[i]; j++)
            generate_moon(system, rng, moon, j);
    }
}

void universe_generate_bodies(universe_system *system, const universe_topology *topology)
{
    universe_rng rng = universe_rng_fork(&system->rng, "stardata");
    int *planets = mcp_arena_array(system->generation->arena, (size_t)topology->planets + 1,
                                   sizeof *planets);

    if (!planets) {
        universe_generation_fail(system->generation, MCP_E_NOMEM,
                                 "no memory for a system's planets");
        return;
    }
    int companions = generate_stars(system, topology->stars, &rng);
    for (int i = 0; i < topology->planets && system->generation->status == MCP_OK; i++) {
        planets[i] = generate_planet(system, &rng, i, companions);
        if (planets[i] < 0)
            return;
        generate_moons(system, &rng, planets[i], topology->moons[i],
                       topology->sub_moons ? topology->sub_moons[i] : NULL);
        system->planets = i + 1;
    }
    system->stars = topology->stars;
    system->planet_list = planets;
}

double universe_outermost(const universe_system *system)
{
    double outermost = 0;
    for (int i = 0; i < system->planets; i++) {
        double distance = system->bodies[system->planet_list[i]].distance;
        outermost = distance > outermost ? distance : outermost;
    }
    return outermost;
}
