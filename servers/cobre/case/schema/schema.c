/*
 * schema.c - writes the shape of a file as a JSON Schema.
 *
 * The dotted paths of field tables are a tree: "generation.max_mw" is a member of the object
 * `generation`, which need not have a row of its own. One level is written at a time: the distinct
 * first steps below a prefix, in the order of the tables. An object without a row of its own is
 * required when one of its members is, and may else be null.
 */
#include "case/schema/schema.h"

#include <stdio.h>
#include <string.h>

#include "case/read/readers.h"
#include "case/schema/words.h"

enum { PATH_MAX_BYTES = 200 };

/* The place of a shape in its file: for the descriptions. */
struct place {
    mcp_json_writer *writer;
    const char *file;          /* the schema's name */
    char path[PATH_MAX_BYTES]; /* "stages[].blocks[]", "" for the root */
};

static void write_shape(struct place *place, const cobre_shape *shape, bool nullable,
                        const cobre_field *row);

/* ---- small parts ----------------------------------------------------------------------------- */

static void write_type(mcp_json_writer *writer, const char *type, bool nullable)
{
    if (!nullable) {
        mcp_write_member_string(writer, "type", type);
        return;
    }
    mcp_write_member_array(writer, "type");
    mcp_write_string(writer, type);
    mcp_write_string(writer, "null");
    mcp_write_end(writer);
}

static void write_limit(mcp_json_writer *writer, const char *name, double limit, bool is_integer)
{
    if (is_integer)
        mcp_write_member_int(writer, name, (int64_t)limit);
    else
        mcp_write_member_double(writer, name, limit);
}

static void write_integer_limits(mcp_json_writer *writer, const cobre_field *row)
{
    int64_t low = row->type == COBRE_FIELD_UINT32  ? 0
                  : row->type == COBRE_FIELD_INT32 ? INT32_MIN
                                                   : INT64_MIN;
    int64_t high = row->type == COBRE_FIELD_UINT32  ? UINT32_MAX
                   : row->type == COBRE_FIELD_INT32 ? INT32_MAX
                                                    : INT64_MAX;

    if (row->flags & COBRE_POSITIVE)
        low = 1;
    else if (row->flags & COBRE_NOT_NEGATIVE)
        low = 0;
    mcp_write_member_int(writer, "minimum", low);
    mcp_write_member_int(writer, "maximum", high);
}

static void write_real_limits(mcp_json_writer *writer, const cobre_field *row)
{
    if (row->flags & COBRE_POSITIVE)
        mcp_write_member_int(writer, "exclusiveMinimum", 0);
    else if (row->flags & COBRE_NOT_NEGATIVE)
        mcp_write_member_int(writer, "minimum", 0);
    if (row->flags & COBRE_AT_MOST_ONE)
        mcp_write_member_int(writer, "maximum", 1);
}

static void write_choices(mcp_json_writer *writer, const cobre_field *row)
{
    mcp_write_member_array(writer, "enum");
    for (size_t i = 0; row->choices[i]; i++)
        mcp_write_string(writer, row->choices[i]);
    if (row->flags & COBRE_NULLABLE)
        mcp_write_null(writer);
    mcp_write_end(writer);
}

static void write_default(const struct place *place, const cobre_field *row)
{
    mcp_json_writer *writer = place->writer;
    const char *text = cobre_words_default(place->file, place->path);

    if (row->flags & COBRE_REQUIRED)
        return;
    if (text)
        mcp_write_member_string(writer, "default", text);
    else if (row->type == COBRE_FIELD_BOOL)
        mcp_write_member_bool(writer, "default", row->preset != 0);
    else if (row->has_preset && row->type == COBRE_FIELD_CHOICE)
        mcp_write_member_string(writer, "default", row->choices[(size_t)row->preset]);
    else if (row->has_preset)
        write_limit(writer, "default", row->preset, row->type != COBRE_FIELD_REAL);
    else if (row->flags & COBRE_NULLABLE)
        mcp_write_member_null(writer, "default");
}

static void write_description(const struct place *place)
{
    const char *words = cobre_words_of(place->file, place->path);

    if (words)
        mcp_write_member_string(place->writer, "description", words);
}

/* ---- one value ------------------------------------------------------------------------------- */

/* The value of a row that has no members and no joint. */
static void write_value(const struct place *place, const cobre_field *row)
{
    static const char *const types[] = {
        [COBRE_FIELD_BOOL] = "boolean",   [COBRE_FIELD_INT32] = "integer",
        [COBRE_FIELD_UINT32] = "integer", [COBRE_FIELD_INT64] = "integer",
        [COBRE_FIELD_REAL] = "number",    [COBRE_FIELD_TEXT] = "string",
        [COBRE_FIELD_CHOICE] = "string",  [COBRE_FIELD_DATE] = "string",
        [COBRE_FIELD_ARRAY] = "array",    [COBRE_FIELD_OBJECT] = "object",
        [COBRE_FIELD_ANY] = NULL,
    };
    mcp_json_writer *writer = place->writer;

    if (types[row->type])
        write_type(writer, types[row->type], (row->flags & COBRE_NULLABLE) != 0);
    switch (row->type) {
    case COBRE_FIELD_INT32:
    case COBRE_FIELD_UINT32:
    case COBRE_FIELD_INT64:
        write_integer_limits(writer, row);
        break;
    case COBRE_FIELD_REAL:
        write_real_limits(writer, row);
        break;
    case COBRE_FIELD_CHOICE:
        write_choices(writer, row);
        break;
    case COBRE_FIELD_DATE:
        mcp_write_member_string(writer, "format", "date");
        mcp_write_member_string(writer, "pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$");
        break;
    case COBRE_FIELD_BOOL:
    case COBRE_FIELD_TEXT:
    case COBRE_FIELD_ARRAY:
    case COBRE_FIELD_OBJECT:
    case COBRE_FIELD_ANY:
    default:
        break;
    }
    write_default(place, row);
}

static void write_limited(const struct place *place, const cobre_shape *shape, bool nullable,
                          const cobre_field *row)
{
    bool is_integer = shape->kind == COBRE_SHAPE_INTEGER;

    write_type(place->writer, is_integer ? "integer" : "number", nullable);
    if (shape->min != 0 || shape->max != 0) {
        write_limit(place->writer, "minimum", shape->min, is_integer);
        write_limit(place->writer, "maximum", shape->max, is_integer);
    }
    if (row)
        write_default(place, row);
}

/* ---- objects --------------------------------------------------------------------------------- */

/* The rows of an object's tables, one after another; NULL at the end. */
static const cobre_field *row_at(const cobre_shape *shape, size_t index)
{
    for (size_t t = 0; t < 3 && shape->tables[t]; t++) {
        for (const cobre_field *row = shape->tables[t]; row->path; row++) {
            if (index-- == 0)
                return row;
        }
    }
    return NULL;
}

/* The length of the next step of a path below a prefix ("" or "a.b."); 0: not below it. */
static size_t step_of(const char *path, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(path, prefix, length) == 0 ? strcspn(path + length, ".") : 0;
}

/* One member of an object: `name` below `prefix`. */
struct member {
    char path[PATH_MAX_BYTES];   /* within the shape: "generation" */
    char inside[PATH_MAX_BYTES]; /* "generation." */
    const cobre_field *row;      /* of its own; NULL: none */
    bool has_members, needs_member;
};

static bool is_new(const cobre_shape *shape, const char *prefix, size_t index)
{
    const char *path = row_at(shape, index)->path;
    size_t step = step_of(path, prefix), length = strlen(prefix) + step;

    for (size_t i = 0; i < index; i++) {
        const char *other = row_at(shape, i)->path;
        if (step_of(other, prefix) == step && strncmp(other, path, length) == 0)
            return false;
    }
    return step > 0;
}

static struct member member_at(const cobre_shape *shape, const char *prefix, size_t index)
{
    const char *path = row_at(shape, index)->path;
    size_t length = strlen(prefix) + step_of(path, prefix), i = 0;
    struct member member = { .row = NULL };

    snprintf(member.path, sizeof member.path, "%.*s", (int)length, path);
    snprintf(member.inside, sizeof member.inside, "%.*s.", (int)length, path);
    for (const cobre_field *row = row_at(shape, i); row; row = row_at(shape, ++i)) {
        if (strcmp(row->path, member.path) == 0)
            member.row = row;
        if (step_of(row->path, member.inside) == 0)
            continue;
        member.has_members = true;
        member.needs_member = member.needs_member || (row->flags & COBRE_REQUIRED);
    }
    return member;
}

static bool is_required(const struct member *member)
{
    if (member->row)
        return (member->row->flags & (COBRE_REQUIRED | COBRE_WITHIN)) != 0;
    return member->needs_member;
}

static const cobre_shape *joint_at(const cobre_shape *shape, const char *path)
{
    for (const cobre_joint *joint = shape->joints; joint && joint->path; joint++) {
        if (strcmp(joint->path, path) == 0)
            return joint->shape;
    }
    return NULL;
}

static void write_members(struct place *place, const cobre_shape *shape, const char *prefix);

static void write_member(struct place *place, const cobre_shape *shape, const char *prefix,
                         const struct member *member)
{
    const char *name = member->path + strlen(prefix);
    const cobre_shape *joint = joint_at(shape, member->path);
    bool nullable = member->row ? (member->row->flags & COBRE_NULLABLE) != 0
                                : !member->needs_member;
    size_t length = strlen(place->path);

    mcp_write_member_object(place->writer, name);
    snprintf(place->path + length, sizeof place->path - length, "%s%s", length > 0 ? "." : "",
             name);
    write_description(place);
    if (shape->tag && strcmp(shape->tag, member->path) == 0) {
        write_type(place->writer, "string", false);
        mcp_write_member_string(place->writer, "const", shape->tag_value);
    } else if (joint) {
        write_shape(place, joint, nullable, member->row);
    } else if (member->has_members) {
        write_type(place->writer, "object", nullable);
        write_members(place, shape, member->inside);
        if (shape->is_closed)
            mcp_write_member_bool(place->writer, "additionalProperties", false);
    } else {
        write_value(place, member->row);
    }
    place->path[length] = '\0';
    mcp_write_end(place->writer);
}

static void write_required(const struct place *place, const cobre_shape *shape, const char *prefix)
{
    size_t i = 0, count = 0;

    for (const cobre_field *row = row_at(shape, i); row; row = row_at(shape, ++i)) {
        if (!is_new(shape, prefix, i))
            continue;
        struct member member = member_at(shape, prefix, i);
        if (!is_required(&member))
            continue;
        if (count++ == 0)
            mcp_write_member_array(place->writer, "required");
        mcp_write_string(place->writer, member.path + strlen(prefix));
    }
    if (count > 0)
        mcp_write_end(place->writer);
}

/* "required" and "properties" of the object at a prefix. */
static void write_members(struct place *place, const cobre_shape *shape, const char *prefix)
{
    bool is_root = place->path[0] == '\0';
    bool has_schema = false;
    size_t i = 0;

    write_required(place, shape, prefix);
    mcp_write_member_object(place->writer, "properties");
    for (const cobre_field *row = row_at(shape, i); row; row = row_at(shape, ++i)) {
        if (!is_new(shape, prefix, i))
            continue;
        struct member member = member_at(shape, prefix, i);
        has_schema = has_schema || strcmp(member.path, "$schema") == 0;
        write_member(place, shape, prefix, &member);
    }
    if (is_root && prefix[0] == '\0' && !has_schema) {
        mcp_write_member_object(place->writer, "$schema");
        write_type(place->writer, "string", true);
        mcp_write_end(place->writer);
    }
    if (prefix[0] == '\0' && shape->forbidden)
        mcp_write_member_bool(place->writer, shape->forbidden, false);
    mcp_write_end(place->writer);
}

static void write_rules(const struct place *place, const cobre_shape *shape)
{
    if (!shape->rules)
        return;
    mcp_write_name(place->writer, "allOf");
    mcp_write_raw(place->writer, shape->rules, strlen(shape->rules));
}

/* A file that is one list. */
static void write_keyed(struct place *place, const cobre_shape *shape)
{
    mcp_json_writer *writer = place->writer;
    const cobre_shape list = { .kind = COBRE_SHAPE_LIST, .of = shape->of };

    mcp_write_member_string(writer, "type", "object");
    mcp_write_member_array(writer, "required");
    mcp_write_string(writer, shape->key);
    mcp_write_end(writer);
    mcp_write_member_object(writer, "properties");
    mcp_write_member_object(writer, "$schema");
    write_type(writer, "string", true);
    mcp_write_end(writer);
    mcp_write_member_object(writer, shape->key);
    snprintf(place->path, sizeof place->path, "%s", shape->key);
    write_description(place);
    write_shape(place, &list, false, NULL);
    place->path[0] = '\0';
    mcp_write_end(writer);
    mcp_write_end(writer);
}

/* ---- any shape ------------------------------------------------------------------------------- */

static void write_either(struct place *place, const cobre_shape *shape, bool nullable)
{
    mcp_write_member_array(place->writer, "anyOf");
    for (size_t i = 0; shape->either[i]; i++) {
        mcp_write_object(place->writer);
        write_shape(place, shape->either[i], false, NULL);
        mcp_write_end(place->writer);
    }
    if (nullable) {
        mcp_write_object(place->writer);
        mcp_write_member_string(place->writer, "type", "null");
        mcp_write_end(place->writer);
    }
    mcp_write_end(place->writer);
}

static void write_list(struct place *place, const cobre_shape *shape, bool nullable)
{
    size_t length = strlen(place->path);

    write_type(place->writer, "array", nullable);
    if (shape->count > 0) {
        mcp_write_member_int(place->writer, "minItems", (int64_t)shape->count);
        mcp_write_member_int(place->writer, "maxItems", (int64_t)shape->count);
    } else if (shape->least > 0) {
        mcp_write_member_int(place->writer, "minItems", (int64_t)shape->least);
    }
    mcp_write_member_object(place->writer, "items");
    snprintf(place->path + length, sizeof place->path - length, "[]");
    write_shape(place, shape->of, false, NULL);
    place->path[length] = '\0';
    mcp_write_end(place->writer);
}

static void write_map(struct place *place, const cobre_shape *shape, bool nullable)
{
    size_t length = strlen(place->path);

    write_type(place->writer, "object", nullable);
    if (shape->least > 0)
        mcp_write_member_int(place->writer, "minProperties", (int64_t)shape->least);
    mcp_write_member_object(place->writer, "additionalProperties");
    snprintf(place->path + length, sizeof place->path - length, "{}");
    write_shape(place, shape->of, false, NULL);
    place->path[length] = '\0';
    mcp_write_end(place->writer);
}

/* Shapes nest as deep as their constants do; `row` is the member's own, NULL for an item. */
static void write_shape(struct place *place, const cobre_shape *shape, bool nullable,
                        const cobre_field *row)
{
    switch (shape->kind) {
    case COBRE_SHAPE_LIST:
        write_list(place, shape, nullable);
        break;
    case COBRE_SHAPE_MAP:
        write_map(place, shape, nullable);
        break;
    case COBRE_SHAPE_NUMBER:
    case COBRE_SHAPE_INTEGER:
        write_limited(place, shape, nullable, row);
        break;
    case COBRE_SHAPE_TEXT:
        write_type(place->writer, "string", nullable);
        mcp_write_member_string(place->writer, "pattern", shape->pattern);
        break;
    case COBRE_SHAPE_EITHER:
        write_either(place, shape, nullable);
        break;
    case COBRE_SHAPE_OBJECT:
    default:
        if (shape->key) {
            write_keyed(place, shape);
            break;
        }
        write_type(place->writer, "object", nullable);
        write_members(place, shape, "");
        write_rules(place, shape);
        break;
    }
}

void cobre_schema_write(const cobre_schema *schema, mcp_json_writer *writer)
{
    struct place place = { .writer = writer, .file = schema->name };
    char id[64];

    snprintf(id, sizeof id, "urn:cobre:schema:%s", schema->name);
    mcp_write_object(writer);
    mcp_write_member_string(writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
    mcp_write_member_string(writer, "$id", id);
    mcp_write_member_string(writer, "title", schema->title);
    write_description(&place);
    write_shape(&place, schema->shape, false, NULL);
    mcp_write_end(writer);
}

/* ---- the files ------------------------------------------------------------------------------- */

/* clang-format off */
const cobre_schema cobre_schemas[COBRE_SCHEMA_COUNT] = {
    { COBRE_FILE_BUSES, "buses", &cobre_shape_buses, "Buses (system/buses.json)" },
    { COBRE_FILE_CONFIG, "config", &cobre_shape_config, "Configuration (config.json)" },
    { COBRE_FILE_CORRELATION, "correlation", &cobre_shape_correlation,
      "Correlation of the noise (scenarios/correlation.json)" },
    { COBRE_FILE_CONTRACTS, "energy_contracts", &cobre_shape_contracts,
      "Energy contracts (system/energy_contracts.json)" },
    { COBRE_FILE_EXCHANGE_FACTORS, "exchange_factors", &cobre_shape_exchange_factors,
      "Block factors of lines (constraints/exchange_factors.json)" },
    { COBRE_FILE_CONSTRAINTS, "generic_constraints", &cobre_shape_constraints,
      "Generic constraints (constraints/generic_constraints.json)" },
    { COBRE_FILE_HYDROS, "hydros", &cobre_shape_hydros, "Hydro plants (system/hydros.json)" },
    { COBRE_FILE_INITIAL, "initial_conditions", &cobre_shape_initial,
      "Initial conditions (initial_conditions.json)" },
    { COBRE_FILE_LINES, "lines", &cobre_shape_lines, "Lines (system/lines.json)" },
    { COBRE_FILE_LOAD_FACTORS, "load_factors", &cobre_shape_load_factors,
      "Block factors of loads (scenarios/load_factors.json)" },
    { COBRE_FILE_SOURCE_FACTORS, "non_controllable_factors", &cobre_shape_source_factors,
      "Block factors of sources (scenarios/non_controllable_factors.json)" },
    { COBRE_FILE_SOURCES, "non_controllable_sources", &cobre_shape_sources,
      "Non-controllable sources (system/non_controllable_sources.json)" },
    { COBRE_FILE_PENALTIES, "penalties", &cobre_shape_penalties, "Penalties (penalties.json)" },
    { COBRE_FILE_MODELS, "production_models", &cobre_shape_models,
      "Production models (system/hydro_production_models.json)" },
    { COBRE_FILE_STATIONS, "pumping_stations", &cobre_shape_stations,
      "Pumping stations (system/pumping_stations.json)" },
    { COBRE_FILE_STAGES, "stages", &cobre_shape_stages, "Stages (stages.json)" },
    { COBRE_FILE_THERMALS, "thermals", &cobre_shape_thermals,
      "Thermal plants (system/thermals.json)" },
};
/* clang-format on */

const cobre_schema *cobre_schema_of(cobre_file_id file)
{
    for (size_t i = 0; i < COBRE_SCHEMA_COUNT; i++) {
        if (cobre_schemas[i].file == file)
            return &cobre_schemas[i];
    }
    return NULL;
}
