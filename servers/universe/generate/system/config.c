/*
 * config.c - the members of a configuration (universe.md 13.6), one row each: name, kind, bounds,
 * place.
 *
 * A style preset is a JSON text of the same members, read by the same table before the caller's
 * own.
 */
#include "generate/system/config.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum kind { FLAG, WHOLE, NUMBER, CHOICE };

/* One member. `choices` ends with NULL. */
struct member {
    const char *name;
    enum kind kind;
    size_t offset;
    double min, max;
    const char *const *choices;
};

#define NAMES(name, ...) static const char *const name[] = { __VA_ARGS__, NULL }

NAMES(styles, "sparse", "solarLike", "crowded", "superDenseExperimental");
NAMES(topologies, "classic", "compact", "multiStarHeavy", "moonRich", "sparseOutpost",
      "deepHierarchy");
NAMES(scales, "realistic", "compressed", "toy");
NAMES(eccentricities, "circular", "mixed", "eccentric");
NAMES(structures, "flat", "galaxyCluster", "deepHierarchy");
NAMES(details, "low", "medium", "high", "ultra");
NAMES(placements, "none", "betweenPlanets", "outerBelt", "both");
NAMES(kuiper_styles, "tight", "classical", "wide");
NAMES(comet_styles, "rareLong", "mixed", "manyShort");
NAMES(marker_modes, "none", "stableOnly", "all");
NAMES(pair_scopes, "starPlanet", "planetMoon", "both");
NAMES(nebula_sizes, "small", "medium", "giant");
NAMES(nebula_colors, "cool", "warm", "mixed");
NAMES(rogue_styles, "slowDrifters", "mixed", "fastIntruders");
NAMES(path_modes, "linearOnly", "mixed", "curved");
NAMES(mass_profiles, "stellar", "intermediate", "supermassive", "mixed");
NAMES(rarities, "byFrequency", "ultraRare", "rare", "common");
NAMES(accretions, "quiet", "moderate", "active");
NAMES(spins, "low", "uniform", "high");

#define AT(field) offsetof(universe_config, field)

/* clang-format off */
static const struct member members[] = {
    { "maxSystems", WHOLE, AT(max_systems), 1, UNIVERSE_GENERATED_SYSTEMS_MAX, NULL },
    { "maxStarsPerSystem", WHOLE, AT(max_stars), 1, 3, NULL },
    { "maxDepth", WHOLE, AT(max_depth), 1, 8, NULL },
    { "stylePreset", CHOICE, AT(style), 0, 0, styles },
    { "topologyPreset", CHOICE, AT(topology), 0, 0, topologies },
    { "enableNarySystems", FLAG, AT(nary), 0, 0, NULL },
    { "scaleMode", CHOICE, AT(scale), 0, 0, scales },
    { "planetDensity", NUMBER, AT(planet_density), 0, 1, NULL },
    { "moonDensity", NUMBER, AT(moon_density), 0, 1, NULL },
    { "orbitEccentricityStyle", CHOICE, AT(eccentricity), 0, 0, eccentricities },
    { "orbitInclinationMax", NUMBER, AT(inclination), 0, 180, NULL },
    { "orbitOffsetEnabled", FLAG, AT(offset_orbits), 0, 0, NULL },
    { "enableGroups", FLAG, AT(groups), 0, 0, NULL },
    { "targetGalaxyCount", WHOLE, AT(group_count), 1, 10000, NULL },
    { "groupStructureMode", CHOICE, AT(group_structure), 0, 0, structures },
    { "smallBodyDetail", CHOICE, AT(detail), 0, 0, details },
    { "enableAsteroidBelts", FLAG, AT(belts), 0, 0, NULL },
    { "beltDensity", NUMBER, AT(belt_density), 0, 1, NULL },
    { "maxBeltsPerSystem", WHOLE, AT(belts_max), 0, 16, NULL },
    { "beltPlacementMode", CHOICE, AT(belt_placement), 0, 0, placements },
    { "enableKuiperBelt", FLAG, AT(kuiper), 0, 0, NULL },
    { "kuiperBeltDensity", NUMBER, AT(kuiper_density), 0, 1, NULL },
    { "kuiperBeltDistanceStyle", CHOICE, AT(kuiper_style), 0, 0, kuiper_styles },
    { "kuiperBeltInclination", NUMBER, AT(kuiper_inclination), 0, 1, NULL },
    { "enablePlanetaryRings", FLAG, AT(rings), 0, 0, NULL },
    { "ringFrequency", NUMBER, AT(ring_frequency), 0, 1, NULL },
    { "ringProminence", NUMBER, AT(ring_prominence), 0, 1, NULL },
    { "enableComets", FLAG, AT(comets), 0, 0, NULL },
    { "cometFrequency", NUMBER, AT(comet_frequency), 0, 1, NULL },
    { "cometOrbitStyle", CHOICE, AT(comet_style), 0, 0, comet_styles },
    { "cometActivity", NUMBER, AT(comet_activity), 0, 1, NULL },
    { "enableLagrangePoints", FLAG, AT(lagrange), 0, 0, NULL },
    { "lagrangeMarkerMode", CHOICE, AT(markers), 0, 0, marker_modes },
    { "trojanFrequency", NUMBER, AT(trojan_frequency), 0, 1, NULL },
    { "trojanRichness", NUMBER, AT(trojan_richness), 0, 1, NULL },
    { "lagrangePairScope", CHOICE, AT(pairs), 0, 0, pair_scopes },
    { "enableProtoplanetaryDisks", FLAG, AT(disks), 0, 0, NULL },
    { "protoplanetaryDiskPresence", NUMBER, AT(disk_presence), 0, 1, NULL },
    { "protoplanetaryDiskDensity", NUMBER, AT(disk_density), 0, 1, NULL },
    { "protoplanetaryDiskProminence", NUMBER, AT(disk_prominence), 0, 1, NULL },
    { "enableNebulae", FLAG, AT(nebulae), 0, 0, NULL },
    { "nebulaDensity", NUMBER, AT(nebula_density), 0, 1, NULL },
    { "nebulaSizeBias", CHOICE, AT(nebula_size), 0, 0, nebula_sizes },
    { "nebulaColorStyle", CHOICE, AT(nebula_color), 0, 0, nebula_colors },
    { "nebulaBrightness", NUMBER, AT(nebula_brightness), 0, 1, NULL },
    { "enableRoguePlanets", FLAG, AT(rogues), 0, 0, NULL },
    { "roguePlanetFrequency", NUMBER, AT(rogue_frequency), 0, 1, NULL },
    { "roguePlanetOrbitStyle", CHOICE, AT(rogue_style), 0, 0, rogue_styles },
    { "rogueTrajectoryMode", CHOICE, AT(rogue_paths), 0, 0, path_modes },
    { "rogueCurvatureMin", NUMBER, AT(curvature_min), 0, 1, NULL },
    { "rogueCurvatureMax", NUMBER, AT(curvature_max), 0, 1, NULL },
    { "enableBlackHoles", FLAG, AT(holes), 0, 0, NULL },
    { "blackHoleFrequency", NUMBER, AT(hole_frequency), 0, 1, NULL },
    { "blackHoleAccretionIntensity", NUMBER, AT(hole_accretion), 0, 1, NULL },
    { "blackHoleJetFrequency", NUMBER, AT(hole_jets), 0, 1, NULL },
    { "blackHoleVisualComplexity", NUMBER, AT(hole_complexity), 0, 1, NULL },
    { "blackHoleMassProfile", CHOICE, AT(hole_mass), 0, 0, mass_profiles },
    { "blackHoleRarityStyle", CHOICE, AT(hole_rarity), 0, 0, rarities },
    { "blackHoleAccretionStyle", CHOICE, AT(hole_accretion_style), 0, 0, accretions },
    { "blackHoleSpinBias", CHOICE, AT(hole_spin), 0, 0, spins },
    { "compat", FLAG, AT(compat), 0, 0, NULL },
};

/* The plain configuration, then the four styles (universe.md 13.6). */
static const char plain[] =
    "{\"maxSystems\":5,\"maxStarsPerSystem\":3,\"maxDepth\":3,\"enableNarySystems\":true,"
    "\"planetDensity\":0.6,\"moonDensity\":0.7,\"targetGalaxyCount\":3,\"beltDensity\":0.5,"
    "\"maxBeltsPerSystem\":2,\"beltPlacementMode\":\"both\",\"kuiperBeltDensity\":0.5,"
    "\"kuiperBeltDistanceStyle\":\"classical\",\"kuiperBeltInclination\":0.3,\"ringFrequency\":0.3,"
    "\"ringProminence\":0.5,\"cometFrequency\":0.3,\"cometActivity\":0.5,"
    "\"lagrangeMarkerMode\":\"all\",\"trojanFrequency\":0.3,\"trojanRichness\":0.5,"
    "\"protoplanetaryDiskPresence\":0.3,\"protoplanetaryDiskDensity\":0.5,"
    "\"protoplanetaryDiskProminence\":0.5,\"nebulaDensity\":0.3,\"nebulaColorStyle\":\"mixed\","
    "\"nebulaBrightness\":0.5,\"roguePlanetFrequency\":0.3,\"rogueCurvatureMin\":0,"
    "\"rogueCurvatureMax\":0.3,\"blackHoleFrequency\":0.2,\"blackHoleAccretionIntensity\":0.5,"
    "\"blackHoleJetFrequency\":0.3,\"blackHoleVisualComplexity\":0.5,"
    "\"blackHoleAccretionStyle\":\"moderate\",\"blackHoleSpinBias\":\"uniform\","
    "\"smallBodyDetail\":\"medium\"}";

static const char *const style_texts[] = {
    /* sparse */
    "{\"maxSystems\":3,\"maxStarsPerSystem\":1,\"maxDepth\":2,\"planetDensity\":0.8,"
    "\"moonDensity\":0.8,\"orbitInclinationMax\":5,\"smallBodyDetail\":\"low\"}",
    /* solarLike */
    "{\"maxSystems\":5,\"maxStarsPerSystem\":2,\"maxDepth\":3,\"planetDensity\":0.5,"
    "\"moonDensity\":0.6,\"orbitInclinationMax\":10,\"enableAsteroidBelts\":true,"
    "\"beltDensity\":0.4,\"maxBeltsPerSystem\":1,\"beltPlacementMode\":\"betweenPlanets\","
    "\"enableKuiperBelt\":true,\"kuiperBeltDensity\":0.3,"
    "\"kuiperBeltDistanceStyle\":\"classical\",\"kuiperBeltInclination\":0.3,"
    "\"enablePlanetaryRings\":true,\"ringFrequency\":0.3,\"ringProminence\":0.7,"
    "\"enableComets\":true,\"cometFrequency\":0.3,\"cometOrbitStyle\":\"rareLong\","
    "\"cometActivity\":0.5,\"enableLagrangePoints\":true,\"lagrangeMarkerMode\":\"all\","
    "\"trojanFrequency\":0.3,\"trojanRichness\":0.4,\"lagrangePairScope\":\"starPlanet\","
    "\"enableNebulae\":true,\"nebulaDensity\":0.2,\"nebulaSizeBias\":\"small\","
    "\"enableRoguePlanets\":true,\"roguePlanetFrequency\":0.2,"
    "\"roguePlanetOrbitStyle\":\"slowDrifters\",\"rogueTrajectoryMode\":\"mixed\","
    "\"rogueCurvatureMin\":0,\"rogueCurvatureMax\":0.3,\"smallBodyDetail\":\"medium\"}",
    /* crowded */
    "{\"maxSystems\":15,\"maxStarsPerSystem\":3,\"maxDepth\":3,\"planetDensity\":0.3,"
    "\"moonDensity\":0.4,\"orbitEccentricityStyle\":\"mixed\",\"orbitInclinationMax\":25,"
    "\"enableAsteroidBelts\":true,\"beltDensity\":0.6,\"maxBeltsPerSystem\":2,"
    "\"beltPlacementMode\":\"both\",\"enableKuiperBelt\":true,\"kuiperBeltDensity\":0.5,"
    "\"kuiperBeltDistanceStyle\":\"wide\",\"kuiperBeltInclination\":0.5,"
    "\"enablePlanetaryRings\":true,\"ringFrequency\":0.6,\"ringProminence\":0.6,"
    "\"enableComets\":true,\"cometFrequency\":0.5,\"cometOrbitStyle\":\"mixed\","
    "\"cometActivity\":0.7,\"enableLagrangePoints\":true,\"lagrangeMarkerMode\":\"all\","
    "\"trojanFrequency\":0.6,\"trojanRichness\":0.7,\"lagrangePairScope\":\"starPlanet\","
    "\"enableProtoplanetaryDisks\":true,\"protoplanetaryDiskPresence\":0.2,"
    "\"protoplanetaryDiskDensity\":0.5,\"protoplanetaryDiskProminence\":0.6,"
    "\"enableNebulae\":true,\"nebulaDensity\":0.2,\"nebulaSizeBias\":\"small\","
    "\"enableRoguePlanets\":true,\"roguePlanetFrequency\":0.5,"
    "\"roguePlanetOrbitStyle\":\"mixed\",\"rogueTrajectoryMode\":\"mixed\","
    "\"rogueCurvatureMin\":0,\"rogueCurvatureMax\":0.6,\"smallBodyDetail\":\"high\"}",
    /* superDenseExperimental */
    "{\"maxSystems\":50,\"maxStarsPerSystem\":3,\"maxDepth\":4,\"planetDensity\":0.2,"
    "\"moonDensity\":0.3,\"orbitEccentricityStyle\":\"eccentric\",\"orbitInclinationMax\":45,"
    "\"orbitOffsetEnabled\":true,\"enableAsteroidBelts\":true,\"beltDensity\":0.7,"
    "\"maxBeltsPerSystem\":3,\"beltPlacementMode\":\"both\",\"enableKuiperBelt\":true,"
    "\"kuiperBeltDensity\":0.7,\"kuiperBeltDistanceStyle\":\"wide\","
    "\"kuiperBeltInclination\":0.8,\"enablePlanetaryRings\":true,\"ringFrequency\":0.9,"
    "\"ringProminence\":0.9,\"enableComets\":true,\"cometFrequency\":0.8,"
    "\"cometOrbitStyle\":\"manyShort\",\"cometActivity\":0.9,\"enableLagrangePoints\":true,"
    "\"lagrangeMarkerMode\":\"all\",\"trojanFrequency\":0.8,\"trojanRichness\":0.9,"
    "\"lagrangePairScope\":\"both\",\"enableProtoplanetaryDisks\":true,"
    "\"protoplanetaryDiskPresence\":0.5,\"protoplanetaryDiskDensity\":0.8,"
    "\"protoplanetaryDiskProminence\":0.6,\"enableNebulae\":true,\"nebulaDensity\":0.2,"
    "\"nebulaSizeBias\":\"small\",\"enableRoguePlanets\":true,\"roguePlanetFrequency\":0.8,"
    "\"roguePlanetOrbitStyle\":\"fastIntruders\",\"rogueTrajectoryMode\":\"curved\","
    "\"rogueCurvatureMin\":0.3,\"rogueCurvatureMax\":1,\"enableGroups\":true,"
    "\"targetGalaxyCount\":8,\"groupStructureMode\":\"deepHierarchy\","
    "\"smallBodyDetail\":\"ultra\"}",
};
/* clang-format on */

static const struct member *find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (strlen(members[i].name) == length && memcmp(members[i].name, name, length) == 0)
            return &members[i];
    }
    return NULL;
}

static mcp_status read_choice(int64_t *to, const struct member *member, const mcp_json *value,
                              mcp_error *err)
{
    char list[160] = "";
    const char *text = mcp_json_string(value, NULL);
    size_t used = 0;
    for (size_t i = 0; member->choices[i]; i++) {
        if (text && strcmp(text, member->choices[i]) == 0) {
            *to = (int64_t)i;
            return MCP_OK;
        }
        size_t length = strlen(member->choices[i]);
        if (used + length + 2 < sizeof list) {
            if (used > 0)
                list[used++] = ' ';
            memcpy(list + used, member->choices[i], length + 1);
            used += length;
        }
    }
    return mcp_error_set(err, MCP_E_PARAMS, "\"%s\" is one of: %s", member->name, list);
}

static mcp_status read_number(double *to, const struct member *member, const mcp_json *value,
                              mcp_error *err)
{
    bool fits = mcp_json_double(value, to) && *to >= member->min && *to <= member->max;
    if (fits && (member->kind == NUMBER || *to == floor(*to)))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARAMS, "\"%s\" is a %s from %.10g to %.10g", member->name,
                         member->kind == NUMBER ? "number" : "whole number", member->min,
                         member->max);
}

static mcp_status read_member(universe_config *out, const struct member *member,
                              const mcp_json *value, mcp_error *err)
{
    char *place = (char *)out + member->offset;
    double number = 0;
    if (member->kind == CHOICE)
        return read_choice((int64_t *)(void *)place, member, value, err);
    if (member->kind == FLAG)
        return mcp_json_bool(value, (bool *)(void *)place)
                   ? MCP_OK
                   : mcp_error_set(err, MCP_E_PARAMS, "\"%s\" is true or false", member->name);
    mcp_status st = read_number(&number, member, value, err);
    if (st == MCP_OK && member->kind == NUMBER)
        *(double *)(void *)place = number;
    else if (st == MCP_OK)
        *(int64_t *)(void *)place = (int64_t)number;
    return st;
}

/* A text of any length, or a whole number, of which the low 32 bits count. */
static mcp_status read_seed(universe_rng *out, const mcp_json *seed, mcp_error *err)
{
    size_t length = 0;
    int64_t number = 0;
    const char *text = mcp_json_string(seed, &length);
    if (text)
        *out = universe_rng_text(text, length);
    else if (mcp_json_int(seed, &number))
        *out = universe_rng_number((uint32_t)number);
    else
        return mcp_error_set(err, MCP_E_PARAMS, "\"seed\" is a string or a whole number");
    return MCP_OK;
}

static mcp_status read_members(universe_config *out, const mcp_json *json, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(json); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(json, i, &length);
        const mcp_json *value = mcp_json_item(json, i);
        const struct member *member = find(name, length);
        if (member)
            st = read_member(out, member, value, err);
        else if (strcmp(name, "seed") == 0)
            st = read_seed(&out->seed, value, err);
        else if (strcmp(name, "dryRun") != 0)
            st = mcp_error_set(err, MCP_E_PARAMS, "\"%.64s\" is no member of a configuration",
                               name);
    }
    return st;
}

static mcp_status read_text(universe_config *out, const char *text, mcp_error *err)
{
    const mcp_json *json = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a configuration");
    mcp_status st = mcp_json_read(&json, arena, text, strlen(text), err);
    if (st == MCP_OK)
        st = read_members(out, json, err);
    mcp_arena_free(arena);
    return st;
}

mcp_status universe_config_read(universe_config *out, const mcp_json *json, mcp_error *err)
{
    universe_config config = { .style = UNIVERSE_SOLAR_LIKE, .seed = universe_rng_text("", 0) };
    const mcp_json *style = mcp_json_get(json, "stylePreset");
    mcp_status st = read_text(&config, plain, err);

    if (st == MCP_OK && style)
        st = read_member(&config, find("stylePreset", 11), style, err);
    if (st == MCP_OK && style)
        st = read_text(&config, style_texts[config.style], err);
    if (st == MCP_OK)
        st = read_members(&config, json, err);
    if (st == MCP_OK && config.curvature_min > config.curvature_max)
        st = mcp_error_set(err, MCP_E_PARAMS,
                           "\"rogueCurvatureMin\" is above \"rogueCurvatureMax\"");
    if (st == MCP_OK)
        *out = config;
    return st;
}
