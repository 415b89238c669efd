/*
 * members.c - the tables of members, and what is done by them: checking and describing.
 *
 * A range stands here only where it is an invariant (I8); the limits of editors and generators are
 * no business of a server. Kinds hold in lenient universes too, ranges and what is inner and outer
 * only in strict ones.
 */
#include "model/members.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "model/entity.h"

/* clang-format off */
#define NEEDED UNIVERSE_M_REQUIRED
#define COUNT(rows) (sizeof rows / sizeof((rows)[0]))
#define M_ID(name, flags)           { name, UNIVERSE_K_ID, flags, 0, 0, NULL, NULL }
#define M_ID_NULL(name, flags)      { name, UNIVERSE_K_ID_NULL, flags, 0, 0, NULL, NULL }
#define M_IDS(name, flags)          { name, UNIVERSE_K_IDS, flags, 0, 0, NULL, NULL }
#define M_TEXT(name, flags)         { name, UNIVERSE_K_TEXT, flags, 0, 0, NULL, NULL }
#define M_BOOL(name, flags)         { name, UNIVERSE_K_BOOL, flags, 0, 0, NULL, NULL }
#define M_SEED(name, flags)         { name, UNIVERSE_K_SEED, flags, 0, 0, NULL, NULL }
#define M_PAIR(name, flags)         { name, UNIVERSE_K_PAIR, flags, 0, 0, NULL, NULL }
#define M_NUMBER(name, flags)       { name, UNIVERSE_K_NUMBER, flags, 0, 0, NULL, NULL }
#define M_SIZE(name, flags)         { name, UNIVERSE_K_NUMBER, (flags) | UNIVERSE_M_RANGE, 0, HUGE_VAL, NULL, NULL }
#define M_ECCENTRICITY(name, flags) { name, UNIVERSE_K_NUMBER, (flags) | UNIVERSE_M_RANGE | UNIVERSE_M_BELOW_MAX, 0, 1, NULL, NULL }
#define M_INDEX(name, flags, a, b)  { name, UNIVERSE_K_INDEX, flags, a, b, NULL, NULL }
#define M_WORD(name, flags, words)  { name, UNIVERSE_K_WORD, flags, 0, 0, words, NULL }
#define M_OBJECT(name, flags, s)    { name, UNIVERSE_K_OBJECT, flags, 0, 0, NULL, s }
#define M_CHILDREN(name, flags)     { name, UNIVERSE_K_CHILDREN, flags, 0, 0, NULL, &universe_group_child_shape }
#define SHAPE(name, rows, inner, outer) { name, rows, COUNT(rows), inner, outer, true }

static const char *const body_types[] = { "star", "planet", "moon", "asteroid", "comet", "lagrangePoint", "blackHole", NULL };
static const char *const asteroid_types[] = { "mainBelt", "kuiperBelt", "generic", NULL };
static const char *const pair_types[] = { "starPlanet", "planetMoon", NULL };
static const char *const belt_types[] = { "main", "kuiper", NULL };
static const char *const belt_styles[] = { "thin", "moderate", "thick", "scattered", NULL };
static const char *const disk_styles[] = { "thin", "moderate", "thick", "extreme", NULL };
static const char *const child_types[] = { "system", "group", NULL };

static const universe_member vector_members[] = {
    M_NUMBER("x", NEEDED), M_NUMBER("y", NEEDED), M_NUMBER("z", NEEDED),
};
static const universe_shape vector_shape = SHAPE("Vector", vector_members, NULL, NULL);

static const universe_member ring_members[] = {
    M_SIZE("innerRadiusMultiplier", NEEDED), M_SIZE("outerRadiusMultiplier", NEEDED), M_SIZE("thickness", NEEDED),
    M_NUMBER("opacity", NEEDED), M_NUMBER("albedo", NEEDED), M_TEXT("color", NEEDED), M_NUMBER("density", NEEDED),
    M_NUMBER("warpFactor", 0), M_SEED("seed", 0),
};
const universe_shape universe_ring_shape =
    SHAPE("PlanetaryRing", ring_members, "innerRadiusMultiplier", "outerRadiusMultiplier");

static const universe_member comet_members[] = {
    M_BOOL("isPeriodic", NEEDED), M_SIZE("perihelionDistance", NEEDED), M_SIZE("aphelionDistance", NEEDED),
    M_NUMBER("lastPerihelionTime", 0), M_BOOL("hasTail", NEEDED), M_NUMBER("tailLengthBase", NEEDED),
    M_NUMBER("tailWidthBase", NEEDED), M_TEXT("tailColor", NEEDED), M_NUMBER("tailOpacityBase", NEEDED),
    M_SIZE("activityFalloffDistance", NEEDED), M_SEED("seed", 0),
};
static const universe_shape comet_shape = SHAPE("CometMeta", comet_members, NULL, NULL);

static const universe_member lagrange_members[] = {
    M_ID("primaryId", NEEDED), M_ID("secondaryId", NEEDED), M_INDEX("pointIndex", NEEDED, 1, 5),
    M_BOOL("stable", NEEDED), M_WORD("pairType", NEEDED, pair_types), M_TEXT("label", 0),
};
static const universe_shape lagrange_shape = SHAPE("LagrangePointMeta", lagrange_members, NULL, NULL);

static const universe_member black_hole_members[] = {
    M_BOOL("hasAccretionDisk", NEEDED), M_BOOL("hasRelativisticJet", NEEDED), M_BOOL("hasPhotonRing", NEEDED),
    M_NUMBER("spin", NEEDED), M_SIZE("shadowRadius", NEEDED), M_SIZE("accretionInnerRadius", NEEDED),
    M_SIZE("accretionOuterRadius", NEEDED), M_NUMBER("diskThickness", NEEDED), M_NUMBER("diskBrightness", NEEDED),
    M_NUMBER("diskOpacity", NEEDED), M_NUMBER("diskTemperature", NEEDED), M_NUMBER("diskClumpiness", NEEDED),
    M_NUMBER("jetLength", NEEDED), M_NUMBER("jetOpeningAngle", NEEDED), M_NUMBER("jetBrightness", NEEDED),
    M_NUMBER("dopplerBeamingStrength", NEEDED), M_NUMBER("lensingStrength", NEEDED),
    M_NUMBER("rotationSpeedMultiplier", NEEDED), M_SEED("seed", NEEDED), M_NUMBER("diskTurbulenceScale", 0),
    M_TEXT("diskInnerColor", 0), M_TEXT("diskOuterColor", 0), M_NUMBER("diskStreakiness", 0), M_TEXT("jetBaseColor", 0),
    M_TEXT("jetTipColor", 0), M_NUMBER("jetGradientPower", 0), M_NUMBER("photonRingMultiImageCount", 0),
    M_NUMBER("photonRingWidth", 0), M_NUMBER("diskTilt", 0), M_NUMBER("diskTiltAxisAngle", 0),
};
static const universe_shape black_hole_shape =
    SHAPE("BlackHoleProperties", black_hole_members, "accretionInnerRadius", "accretionOuterRadius");

static const universe_member rogue_members[] = {
    M_SEED("seed", NEEDED), M_OBJECT("initialPosition", NEEDED, &vector_shape), M_OBJECT("velocity", NEEDED, &vector_shape),
    M_TEXT("colorOverride", 0), M_NUMBER("pathCurvature", 0), M_SIZE("semiMajorAxis", 0), M_ECCENTRICITY("eccentricity", 0),
    M_NUMBER("pathOffsetX", 0), M_NUMBER("pathOffsetY", 0), M_NUMBER("pathOffsetZ", 0), M_NUMBER("orbitRotX", 0),
    M_NUMBER("orbitRotY", 0), M_NUMBER("orbitRotZ", 0), M_NUMBER("pathPeriod", 0), M_BOOL("showTrajectory", 0),
    M_NUMBER("trajectoryPastWindow", 0), M_NUMBER("trajectoryFutureWindow", 0),
};
static const universe_shape rogue_shape = SHAPE("RoguePlanetMeta", rogue_members, NULL, NULL);

/* `fixed`: what addStar may leave out, and a whole Star may not. */
#define STAR_MEMBERS(fixed) \
    M_ID("id", fixed), M_TEXT("name", NEEDED), M_SIZE("mass", NEEDED), M_SIZE("radius", NEEDED), M_TEXT("color", NEEDED), \
    M_IDS("children", fixed), M_ID_NULL("parentId", NEEDED), M_WORD("bodyType", 0, body_types), \
    M_SIZE("orbitalDistance", NEEDED), M_NUMBER("orbitalSpeed", NEEDED), M_NUMBER("orbitalPhase", 0), \
    M_SIZE("semiMajorAxis", 0), M_ECCENTRICITY("eccentricity", 0), M_NUMBER("orbitOffsetX", 0), \
    M_NUMBER("orbitOffsetY", 0), M_NUMBER("orbitOffsetZ", 0), M_NUMBER("orbitRotX", 0), M_NUMBER("orbitRotY", 0), \
    M_NUMBER("orbitRotZ", 0), M_OBJECT("ring", 0, &universe_ring_shape), M_ID("parentBeltId", 0), \
    M_WORD("asteroidSubType", 0, asteroid_types), M_OBJECT("comet", 0, &comet_shape), \
    M_OBJECT("lagrangePoint", 0, &lagrange_shape), M_ID("lagrangeHostId", 0), \
    M_OBJECT("blackHole", 0, &black_hole_shape), M_BOOL("isRoguePlanet", 0), M_OBJECT("roguePlanet", 0, &rogue_shape)

static const universe_member star_members[] = { STAR_MEMBERS(NEEDED) };
static const universe_member new_star_members[] = { STAR_MEMBERS(0) };
const universe_shape universe_star_shape = SHAPE("Star", star_members, NULL, NULL);
const universe_shape universe_new_star_shape = SHAPE("NewStar", new_star_members, NULL, NULL);

static const universe_member group_child_members[] = { M_ID("id", NEEDED), M_WORD("type", NEEDED, child_types) };
const universe_shape universe_group_child_shape = SHAPE("GroupChild", group_child_members, NULL, NULL);

#define GROUP_MEMBERS(fixed) \
    M_ID("id", fixed), M_TEXT("name", NEEDED), M_CHILDREN("children", NEEDED), M_ID_NULL("parentGroupId", NEEDED), \
    M_TEXT("color", 0), M_TEXT("icon", 0), M_OBJECT("position", 0, &vector_shape)

static const universe_member group_members[] = { GROUP_MEMBERS(NEEDED) };
static const universe_member new_group_members[] = { GROUP_MEMBERS(0) };
const universe_shape universe_group_shape = SHAPE("Group", group_members, NULL, NULL);
const universe_shape universe_new_group_shape = SHAPE("NewGroup", new_group_members, NULL, NULL);

static const universe_member belt_members[] = {
    M_ID("id", NEEDED), M_TEXT("name", NEEDED), M_ID("parentId", NEEDED), M_SIZE("innerRadius", NEEDED),
    M_SIZE("outerRadius", NEEDED), M_SIZE("thickness", NEEDED), M_ECCENTRICITY("eccentricity", NEEDED),
    M_NUMBER("inclination", NEEDED), M_SIZE("asteroidCount", NEEDED), M_IDS("asteroidIds", NEEDED), M_TEXT("color", 0),
    M_WORD("beltType", 0, belt_types), M_TEXT("regionLabel", 0), M_BOOL("isIcy", 0), M_NUMBER("inclinationSigma", 0),
    M_PAIR("radialRangeHint", 0), M_NUMBER("lodLevel", 0), M_BOOL("visible", 0), M_SEED("seed", 0),
};
const universe_shape universe_belt_shape = SHAPE("AsteroidBelt", belt_members, "innerRadius", "outerRadius");

static const universe_member field_members[] = {
    M_ID("id", NEEDED), M_ID("systemId", NEEDED), M_ID("hostStarId", NEEDED), M_SIZE("innerRadius", NEEDED),
    M_SIZE("outerRadius", NEEDED), M_SIZE("thickness", NEEDED), M_SIZE("particleCount", NEEDED), M_TEXT("baseColor", NEEDED),
    M_TEXT("highlightColor", NEEDED), M_NUMBER("opacity", NEEDED), M_NUMBER("brightness", NEEDED),
    M_NUMBER("clumpiness", NEEDED), M_NUMBER("rotationSpeedMultiplier", NEEDED), M_WORD("beltType", NEEDED, belt_types),
    M_TEXT("regionLabel", NEEDED), M_BOOL("isIcy", NEEDED), M_SEED("seed", NEEDED), M_WORD("style", NEEDED, belt_styles),
    M_NUMBER("inclinationSigma", 0), M_TEXT("name", 0), M_BOOL("visible", 0),
};
const universe_shape universe_field_shape = SHAPE("SmallBodyField", field_members, "innerRadius", "outerRadius");

static const universe_member disk_members[] = {
    M_ID("id", NEEDED), M_ID("systemId", NEEDED), M_ID("centralStarId", NEEDED), M_SIZE("innerRadius", NEEDED),
    M_SIZE("outerRadius", NEEDED), M_SIZE("thickness", NEEDED), M_SIZE("particleCount", NEEDED), M_TEXT("baseColor", NEEDED),
    M_TEXT("highlightColor", NEEDED), M_NUMBER("opacity", NEEDED), M_NUMBER("brightness", NEEDED),
    M_NUMBER("clumpiness", NEEDED), M_NUMBER("rotationSpeedMultiplier", NEEDED), M_SEED("seed", NEEDED),
    M_WORD("style", NEEDED, disk_styles), M_TEXT("name", 0), M_NUMBER("bandStrength", 0), M_NUMBER("bandFrequency", 0),
    M_NUMBER("gapSharpness", 0), M_NUMBER("innerGlowStrength", 0), M_NUMBER("noiseScale", 0), M_NUMBER("noiseStrength", 0),
    M_NUMBER("spiralStrength", 0), M_NUMBER("spiralArmCount", 0), M_NUMBER("edgeSoftness", 0),
    M_NUMBER("temperatureGradient", 0),
};
const universe_shape universe_disk_shape = SHAPE("ProtoplanetaryDisk", disk_members, "innerRadius", "outerRadius");

static const universe_member nebula_members[] = {
    M_ID("id", NEEDED), M_TEXT("name", NEEDED), M_OBJECT("position", NEEDED, &vector_shape), M_SIZE("radius", NEEDED),
    M_NUMBER("density", NEEDED), M_NUMBER("brightness", NEEDED), M_TEXT("baseColor", NEEDED), M_TEXT("accentColor", NEEDED),
    M_NUMBER("noiseScale", NEEDED), M_NUMBER("noiseDetail", NEEDED), M_SEED("seed", NEEDED),
    M_OBJECT("dimensions", 0, &vector_shape), M_IDS("associatedGroupIds", 0), M_BOOL("visible", 0),
};
const universe_shape universe_nebula_shape = SHAPE("NebulaRegion", nebula_members, NULL, NULL);
/* clang-format on */

const universe_shape *universe_shape_of(universe_map map)
{
    static const universe_shape *const shapes[UNIVERSE_MAPS] = {
        [UNIVERSE_STARS] = &universe_star_shape, [UNIVERSE_GROUPS] = &universe_group_shape,
        [UNIVERSE_BELTS] = &universe_belt_shape, [UNIVERSE_FIELDS] = &universe_field_shape,
        [UNIVERSE_DISKS] = &universe_disk_shape, [UNIVERSE_NEBULAE] = &universe_nebula_shape,
    };

    return shapes[map];
}

const universe_member *universe_member_find(const universe_shape *shape, const char *name,
                                            size_t length)
{
    for (size_t i = 0; i < shape->count; i++)
        if (strlen(shape->members[i].name) == length &&
            memcmp(shape->members[i].name, name, length) == 0)
            return &shape->members[i];
    return NULL;
}

/* ---- null ------------------------------------------------------------------------------------ */

static bool has_null_member(const mcp_json *value)
{
    bool is_object = mcp_json_is_object(value);

    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const mcp_json *item = mcp_json_item(value, i);
        if ((is_object && mcp_json_is_null(item)) || has_null_member(item))
            return true;
    }
    return false;
}

static void write_without_null_members(mcp_json_writer *writer, const mcp_json *value)
{
    bool is_object = mcp_json_is_object(value);

    if (!is_object && !mcp_json_is_array(value)) {
        mcp_write_value(writer, value);
        return;
    }
    if (is_object)
        mcp_write_object(writer);
    else
        mcp_write_array(writer);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const mcp_json *item = mcp_json_item(value, i);
        if (is_object && mcp_json_is_null(item))
            continue;
        if (is_object)
            mcp_write_name(writer, mcp_json_name(value, i, NULL));
        write_without_null_members(writer, item);
    }
    mcp_write_end(writer);
}

static bool copy_without_null_members(const mcp_json **out, const mcp_json *value, mcp_arena *arena)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 2 * UNIVERSE_ENTITY_MAX);
    mcp_json_writer_init(&writer, &text);
    write_without_null_members(&writer, value);
    bool is_copied = mcp_json_writer_status(&writer) == MCP_OK &&
                     mcp_json_read(out, arena, text.data, text.length, NULL) == MCP_OK;
    mcp_buf_clear(&text);
    return is_copied;
}

bool universe_member_value(const mcp_json **out, const universe_shape *shape,
                           const universe_rules *rules, const char *name, size_t length,
                           const mcp_json *value, mcp_arena *arena)
{
    bool is_kept = rules->lenient || !universe_member_find(shape, name, length);

    *out = !is_kept && mcp_json_is_null(value) ? NULL : value;
    if (is_kept || rules->keep_nested_null || !has_null_member(*out))
        return true;
    return copy_without_null_members(out, value, arena);
}

/* ---- checking -------------------------------------------------------------------------------- */

typedef struct checking {
    universe_fault *fault;
    const universe_rules *rules;
    mcp_arena *arena;
} checking;

/* A name as a step of a JSON Pointer. */
static const char *step_of(mcp_arena *arena, const char *name)
{
    size_t length = strlen(name);
    char *step = mcp_arena_alloc(arena, 2 * length + 1);

    for (size_t i = 0, at = 0; step && i < length; i++) {
        bool is_special = name[i] == '~' || name[i] == '/';
        step[at++] = is_special ? '~' : name[i];
        if (is_special)
            step[at++] = name[i] == '~' ? '0' : '1';
    }
    return step ? step : "";
}

static bool wrong(const checking *check, const char *at, const char *step, const char *reason)
{
    check->fault->reason = reason;
    check->fault->path = step ? mcp_arena_printf(check->arena, "%s/%s", at,
                                                 step_of(check->arena, step))
                              : at;
    return false;
}

static bool wrong_item(const checking *check, const char *at, const char *step, size_t index,
                       const char *reason)
{
    check->fault->reason = reason;
    check->fault->path = mcp_arena_printf(check->arena, "%s/%s/%zu", at, step, index);
    return false;
}

/* NULL, or why a string is no id. */
static const char *id_refused(const mcp_json *value)
{
    size_t length = 0;
    const char *id = mcp_json_string(value, &length);

    if (!id)
        return "must be an id, a string";
    if (length == 0)
        return "an id is not empty";
    if (length > UNIVERSE_ID_MAX)
        return "an id has at most 256 bytes";
    return memchr(id, '\0', length) ? "an id holds no NUL" : NULL;
}

static const char *text_refused(const mcp_json *value)
{
    size_t length = 0;

    if (!mcp_json_string(value, &length))
        return "must be a string";
    return length > UNIVERSE_TEXT_MAX ? "has more than 1024 bytes" : NULL;
}

static const char *number_refused(const universe_member *member, const mcp_json *value,
                                  const universe_rules *rules)
{
    double number = 0;

    if (!mcp_json_double(value, &number))
        return "must be a number";
    if (!isfinite(number))
        return "must be finite";
    if (!(member->flags & UNIVERSE_M_RANGE) || (rules && rules->lenient))
        return NULL;
    if (number < member->min)
        return "must not be negative";
    if (member->flags & UNIVERSE_M_BELOW_MAX && number >= member->max)
        return "must be less than 1";
    return NULL;
}

static const char *index_refused(const checking *check, const universe_member *member,
                                 const mcp_json *value)
{
    double number = 0;

    if (mcp_json_double(value, &number) && number == floor(number) && number >= member->min &&
        number <= member->max)
        return NULL;
    return mcp_arena_printf(check->arena, "must be an integer from %g to %g", member->min,
                            member->max);
}

static const char *word_refused(const checking *check, const universe_member *member,
                                const mcp_json *value)
{
    const char *word = mcp_json_string(value, NULL), *all = "must be one of";

    for (size_t i = 0; word && member->words[i]; i++)
        if (strcmp(member->words[i], word) == 0)
            return NULL;
    for (size_t i = 0; all && member->words[i]; i++)
        all = mcp_arena_printf(check->arena, "%s%s \"%s\"", all, i ? "," : "", member->words[i]);
    return all ? all : "is not one of the known words";
}

static const char *pair_refused(const mcp_json *value)
{
    bool is_pair = mcp_json_is_array(value) && mcp_json_count(value) == 2 &&
                   mcp_json_is_number(mcp_json_item(value, 0)) &&
                   mcp_json_is_number(mcp_json_item(value, 1));

    return is_pair ? NULL : "must be two numbers";
}

/* NULL, or why a value without parts does not fit. */
static const char *scalar_refused(const checking *check, const universe_member *member,
                                  const mcp_json *value)
{
    switch (member->kind) {
    case UNIVERSE_K_ID_NULL:
        if (mcp_json_is_null(value))
            return NULL;
        return mcp_json_is_string(value) ? id_refused(value) : "must be an id, a string, or null";
    case UNIVERSE_K_ID:
        return id_refused(value);
    case UNIVERSE_K_TEXT:
        return text_refused(value);
    case UNIVERSE_K_BOOL:
        return mcp_json_type_of(value) == MCP_JSON_BOOL ? NULL : "must be true or false";
    case UNIVERSE_K_SEED:
        return mcp_json_is_number(value) || !text_refused(value) ? NULL
                                                                 : "must be a string or a number";
    case UNIVERSE_K_WORD:
        return word_refused(check, member, value);
    case UNIVERSE_K_INDEX:
        return index_refused(check, member, value);
    case UNIVERSE_K_PAIR:
        return pair_refused(value);
    default:
        return number_refused(member, value, check->rules);
    }
}

static bool check_object(const checking *check, const universe_shape *shape, const mcp_json *value,
                         const char *at, bool is_part);

static bool check_ids(const checking *check, const universe_member *member, const mcp_json *value,
                      const char *at)
{
    if (!mcp_json_is_array(value))
        return wrong(check, at, member->name, "must be an array of ids");
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *why = id_refused(mcp_json_item(value, i));
        if (why)
            return wrong_item(check, at, member->name, i, why);
    }
    return true;
}

static bool check_children(const checking *check, const universe_member *member,
                           const mcp_json *value, const char *at)
{
    if (!mcp_json_is_array(value))
        return wrong(check, at, member->name, "must be an array of {id, type}");
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *place = mcp_arena_printf(check->arena, "%s/%s/%zu", at, member->name, i);
        if (!place || !check_object(check, member->shape, mcp_json_item(value, i), place, false))
            return false;
    }
    return true;
}

/* Each entry fits the shape, and its `id` is its key (I1). */
static bool check_map(const checking *check, const universe_member *member, const mcp_json *value,
                      const char *at)
{
    const char *map = mcp_arena_printf(check->arena, "%s/%s", at, member->name);

    if (!mcp_json_is_object(value))
        return wrong(check, at, member->name, "must be an object from ids to entities");
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        size_t id_length = 0;
        const char *key = mcp_json_name(value, i, &length);
        const mcp_json *entry = mcp_json_item(value, i);
        const char *place = mcp_arena_printf(check->arena, "%s/%s", map,
                                             step_of(check->arena, key));
        if (!place || !check_object(check, member->shape, entry, place, false))
            return false;
        const char *id = mcp_json_string(mcp_json_get(entry, "id"), &id_length);
        if (id_length != length || memcmp(id, key, length) != 0)
            return wrong(check, place, "id", "is not the key under which the entity stands");
    }
    return true;
}

static bool check_member(const checking *check, const universe_member *member,
                         const mcp_json *value, const char *at)
{
    const char *place;

    switch (member->kind) {
    case UNIVERSE_K_OBJECT:
    case UNIVERSE_K_PART:
        place = mcp_arena_printf(check->arena, "%s/%s", at, member->name);
        return place &&
               check_object(check, member->shape, value, place, member->kind == UNIVERSE_K_PART);
    case UNIVERSE_K_MAP:
        return check_map(check, member, value, at);
    case UNIVERSE_K_IDS:
        return check_ids(check, member, value, at);
    case UNIVERSE_K_CHILDREN:
        return check_children(check, member, value, at);
    default:
        break;
    }
    const char *why = scalar_refused(check, member, value);
    return why ? wrong(check, at, member->name, why) : true;
}

/* All members that the shape does not know, as JSON, take UNIVERSE_UNKNOWN_MAX bytes at most. */
static bool check_unknown(const checking *check, const universe_shape *shape, const mcp_json *value,
                          const char *at)
{
    size_t length = 0;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, UNIVERSE_UNKNOWN_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_object(&writer);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = mcp_json_name(value, i, &length);
        if (universe_member_find(shape, name, length))
            continue;
        mcp_write_name(&writer, name);
        mcp_write_value(&writer, mcp_json_item(value, i));
    }
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    mcp_buf_clear(&buf);
    if (st == MCP_E_NOMEM) {
        check->fault->reason = NULL;
        return false;
    }
    return st == MCP_OK ? true
                        : wrong(check, at, NULL, "unknown members take more than 4096 bytes");
}

static bool check_order(const checking *check, const universe_shape *shape, const mcp_json *value,
                        const char *at)
{
    double inner = 0;
    double outer = 0;

    if (!shape->inner || (check->rules && check->rules->lenient) ||
        !mcp_json_double(mcp_json_get(value, shape->inner), &inner) ||
        !mcp_json_double(mcp_json_get(value, shape->outer), &outer) || inner < outer)
        return true;
    return wrong(check, at, shape->inner, "must be less than the outer one");
}

/* "is missing; the object needs name, mass" */
static const char *missing(const checking *check, const universe_shape *shape)
{
    const char *text = "is missing; the object needs";
    size_t count = 0;

    for (size_t i = 0; text && i < shape->count; i++)
        if (shape->members[i].flags & UNIVERSE_M_REQUIRED)
            text = mcp_arena_printf(check->arena, "%s%s %s", text, count++ ? "," : "",
                                    shape->members[i].name);
    return text ? text : "is missing";
}

static bool check_object(const checking *check, const universe_shape *shape, const mcp_json *value,
                         const char *at, bool is_part)
{
    size_t known = 0;

    if (!mcp_json_is_object(value))
        return wrong(check, at, NULL, "must be an object");
    for (size_t i = 0; i < shape->count; i++) {
        const universe_member *member = &shape->members[i];
        const mcp_json *found = mcp_json_get(value, member->name);
        bool is_needed = member->flags & UNIVERSE_M_REQUIRED;
        if (!found && is_needed && !is_part)
            return wrong(check, at, member->name, missing(check, shape));
        known += found != NULL;
        if (!found || (!is_needed && mcp_json_is_null(found)))
            continue;
        if (!check_member(check, member, found, at))
            return false;
    }
    if (known < mcp_json_count(value) && shape->is_open && !check_unknown(check, shape, value, at))
        return false;
    return check_order(check, shape, value, at);
}

bool universe_shape_check(universe_fault *fault, const universe_shape *shape, const mcp_json *value,
                          const char *at, bool is_part, const universe_rules *rules,
                          mcp_arena *arena)
{
    checking check = { fault, rules, arena };

    *fault = (universe_fault){ NULL, NULL };
    return check_object(&check, shape, value, at, is_part);
}
