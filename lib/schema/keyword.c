/*
 * keyword.c - the keywords of draft 2020-12, and how each one's value is read.
 *
 * One row a keyword, in the order in which a value is checked: what is cheap and tells most
 * comes first, so that the first finding is the useful one, and the members that are there
 * before those that are missing, so that the wrong branch of a union is seen by its wrong
 * constant; `unevaluated*` comes last, because it asks what all others looked at. Keywords that
 * only inform (title, default, contentEncoding, ...) have no row.
 */
#include <string.h>

#include "schema/check/check.h"
#include "schema/compile.h"

static mcp_status fault(const mcp__compiler *compiler, const mcp__rule *rule, mcp_error *err,
                        const char *words)
{
    return mcp__compile_fault(compiler, rule->node, rule->keyword->name, err, "%s", words);
}

/* ---- subschemas ----------------------------------------------------------------------------- */

static mcp_status room_for_nodes(mcp__compiler *compiler, mcp__rule *rule, size_t count,
                                 mcp_error *err)
{
    rule->nodes = mcp_arena_array(compiler->arena, count, sizeof(const mcp__subschema *));
    return rule->nodes ? MCP_OK : mcp__compile_no_memory(compiler, err);
}

static mcp_status add_node(mcp__compiler *compiler, mcp__rule *rule, const mcp_json *json,
                           mcp__location at, mcp_error *err)
{
    at.parent = rule->node;
    at.keyword = rule->keyword->name;
    return mcp__compile_node(&rule->nodes[rule->node_count++], compiler, json, &at,
                             rule->node->resource, NULL, err);
}

static mcp_status read_schema(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    if (mcp_json_is_array(rule->value) && strcmp(rule->keyword->name, "items") == 0)
        return fault(compiler, rule, err, "an array of schemas is prefixItems since 2020-12");
    mcp_status st = room_for_nodes(compiler, rule, 1, err);

    return st == MCP_OK ? add_node(compiler, rule, rule->value, (mcp__location){ 0 }, err) : st;
}

static mcp_status read_schema_list(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    size_t count = mcp_json_count(rule->value);

    if (!mcp_json_is_array(rule->value) || count == 0)
        return fault(compiler, rule, err, "must be an array of schemas, and not empty");
    mcp_status st = room_for_nodes(compiler, rule, count, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        mcp__location at = { .index = i, .has_index = true };
        st = add_node(compiler, rule, mcp_json_item(rule->value, i), at, err);
    }
    return st;
}

static mcp_status read_schema_map(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    size_t count = mcp_json_count(rule->value);

    if (!mcp_json_is_object(rule->value))
        return fault(compiler, rule, err, "must be an object of schemas");
    mcp_status st = room_for_nodes(compiler, rule, count, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        mcp__location at = { 0 };
        at.name = mcp_json_name(rule->value, i, &at.name_length);
        st = add_node(compiler, rule, mcp_json_item(rule->value, i), at, err);
    }
    return st;
}

static mcp_status add_reference(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    (void)err;
    rule->next_pending = compiler->pending;
    compiler->pending = rule;
    return MCP_OK;
}

/* ---- plain values --------------------------------------------------------------------------- */

static mcp_status read_count(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    if (!mcp__number_is_count(rule->value, &rule->as.count))
        return fault(compiler, rule, err, "must be a non-negative integer");
    return MCP_OK;
}

static mcp_status read_number(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    if (!mcp_json_is_number(rule->value))
        return fault(compiler, rule, err, "must be a number");
    return MCP_OK;
}

static mcp_status read_divisor(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    double size = 0;

    if (!mcp_json_double(rule->value, &size) || !(size > 0))
        return fault(compiler, rule, err, "must be a number above 0");
    rule->as.divisor = mcp__number_decimal(rule->value);
    return MCP_OK;
}

static mcp_status read_flag(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    bool is_on = false;

    if (!mcp_json_bool(rule->value, &is_on))
        return fault(compiler, rule, err, "must be true or false");
    rule->as.count = is_on;
    return MCP_OK;
}

static unsigned type_bit(const mcp_json *name)
{
    static const struct {
        const char *name;
        unsigned bit;
    } types[] = {
        { "null", MCP__NULL },       { "boolean", MCP__BOOLEAN }, { "object", MCP__OBJECT },
        { "array", MCP__ARRAY },     { "string", MCP__STRING },   { "number", MCP__NUMBER },
        { "integer", MCP__INTEGER },
    };
    const char *text = mcp_json_string(name, NULL);

    for (size_t i = 0; text && i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].name, text) == 0)
            return types[i].bit;
    }
    return 0;
}

static mcp_status read_type(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    unsigned types = type_bit(rule->value);

    for (size_t i = 0; mcp_json_is_array(rule->value) && i < mcp_json_count(rule->value); i++) {
        unsigned bit = type_bit(mcp_json_item(rule->value, i));
        if (bit == 0)
            return fault(compiler, rule, err, "names a type that does not exist");
        types |= bit;
    }
    if (types == 0)
        return fault(compiler, rule, err, "must be the name of a type or an array of them");
    rule->as.types = types;
    return MCP_OK;
}

static mcp_status hash_values(mcp__compiler *compiler, mcp__rule *rule, bool is_list,
                              mcp_error *err)
{
    size_t count = is_list ? mcp_json_count(rule->value) : 1;
    uint64_t *hashes = mcp_arena_array(compiler->arena, count, sizeof *hashes);
    uint64_t without_end = UINT64_MAX;

    if (!hashes)
        return mcp__compile_no_memory(compiler, err);
    for (size_t i = 0; i < count; i++) {
        const mcp_json *value = is_list ? mcp_json_item(rule->value, i) : rule->value;
        hashes[i] = mcp__value_hash(value, &without_end);
    }
    rule->as.hashes = hashes;
    return MCP_OK;
}

static mcp_status read_constant(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    return hash_values(compiler, rule, false, err);
}

static mcp_status read_enumeration(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    if (!mcp_json_is_array(rule->value))
        return fault(compiler, rule, err, "must be an array");
    return hash_values(compiler, rule, true, err);
}

static bool is_list_of_strings(const mcp_json *value)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (!mcp_json_is_string(mcp_json_item(value, i)))
            return false;
    }
    return mcp_json_is_array(value);
}

static mcp_status read_names(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    if (!is_list_of_strings(rule->value))
        return fault(compiler, rule, err, "must be an array of strings");
    return MCP_OK;
}

static mcp_status read_names_map(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    for (size_t i = 0; i < mcp_json_count(rule->value); i++) {
        if (!is_list_of_strings(mcp_json_item(rule->value, i)))
            return fault(compiler, rule, err, "must be an object of arrays of strings");
    }
    if (!mcp_json_is_object(rule->value))
        return fault(compiler, rule, err, "must be an object of arrays of strings");
    return MCP_OK;
}

static mcp_status read_format(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    const char *name = mcp_json_string(rule->value, NULL);
    bool asserts = compiler->options->assert_formats ||
                   (rule->node->resource->vocabularies & MCP__FORMAT_ASSERTION);

    if (!name)
        return fault(compiler, rule, err, "must be a string");
    rule->as.format = asserts ? mcp__format_find(name) : NULL;
    return MCP_OK;
}

/* ---- patterns ------------------------------------------------------------------------------- */

static mcp_status compile_pattern(const mcp__pattern **out, mcp__compiler *compiler,
                                  const mcp__rule *rule, const char *text, size_t length,
                                  mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = mcp__pattern_compile(&compiler->schema->patterns, compiler->arena, text, length,
                                         &why);

    if (st == MCP_OK)
        *out = compiler->schema->patterns;
    else if (st == MCP_E_SCHEMA)
        fault(compiler, rule, err, why.message);
    else
        mcp_error_set(err, st, "%s", why.message);
    return st;
}

static mcp_status read_pattern(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    size_t length = 0;
    const char *text = mcp_json_string(rule->value, &length);
    const mcp__pattern **patterns = mcp_arena_array(compiler->arena, 1,
                                                    sizeof(const mcp__pattern *));

    if (!text)
        return fault(compiler, rule, err, "must be a string");
    if (!patterns)
        return mcp__compile_no_memory(compiler, err);
    rule->as.patterns = patterns;
    return compile_pattern(patterns, compiler, rule, text, length, err);
}

static mcp_status read_pattern_map(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    mcp_status st = read_schema_map(compiler, rule, err);

    if (st != MCP_OK)
        return st;
    const mcp__pattern **patterns = mcp_arena_array(compiler->arena, rule->node_count,
                                                    sizeof(const mcp__pattern *));
    if (!patterns)
        return mcp__compile_no_memory(compiler, err);
    rule->as.patterns = patterns;
    for (size_t i = 0; st == MCP_OK && i < rule->node_count; i++) {
        size_t length = 0;
        const char *text = mcp_json_name(rule->value, i, &length);
        st = compile_pattern(&patterns[i], compiler, rule, text, length, err);
    }
    return st;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Short names, so that a row is a line. */
enum {
    CORE = MCP__CORE,
    APPLICATOR = MCP__APPLICATOR,
    UNEVALUATED = MCP__UNEVALUATED,
    VALIDATION = MCP__VALIDATION,
    FORMAT = MCP__FORMAT,
    ANY = MCP__ANY,
    OBJECT = MCP__OBJECT,
    ARRAY = MCP__ARRAY,
    STRING = MCP__STRING,
    NUMBER = MCP__NUMBER
};

/* clang-format off */
const mcp__keyword mcp__keywords[] = {
    /* name                  vocabulary   types   compile           check */
    {"type",                  VALIDATION,  ANY,    read_type,        mcp__check_type},
    {"const",                 VALIDATION,  ANY,    read_constant,    mcp__check_const},
    {"enum",                  VALIDATION,  ANY,    read_enumeration, mcp__check_enum},
    {"maximum",               VALIDATION,  NUMBER, read_number,      mcp__check_maximum},
    {"exclusiveMaximum",      VALIDATION,  NUMBER, read_number,      mcp__check_exclusive_maximum},
    {"minimum",               VALIDATION,  NUMBER, read_number,      mcp__check_minimum},
    {"exclusiveMinimum",      VALIDATION,  NUMBER, read_number,      mcp__check_exclusive_minimum},
    {"multipleOf",            VALIDATION,  NUMBER, read_divisor,     mcp__check_multiple_of},
    {"maxLength",             VALIDATION,  STRING, read_count,       mcp__check_max_length},
    {"minLength",             VALIDATION,  STRING, read_count,       mcp__check_min_length},
    {"pattern",               VALIDATION,  STRING, read_pattern,     mcp__check_pattern},
    {"format",                FORMAT,      STRING, read_format,      mcp__check_format},
    {"properties",            APPLICATOR,  OBJECT, read_schema_map,  mcp__check_properties},
    {"maxProperties",         VALIDATION,  OBJECT, read_count,       mcp__check_max_count},
    {"minProperties",         VALIDATION,  OBJECT, read_count,       mcp__check_min_count},
    {"required",              VALIDATION,  OBJECT, read_names,       mcp__check_required},
    {"dependentRequired",     VALIDATION,  OBJECT, read_names_map,   mcp__check_dependent_required},
    {"maxItems",              VALIDATION,  ARRAY,  read_count,       mcp__check_max_count},
    {"minItems",              VALIDATION,  ARRAY,  read_count,       mcp__check_min_count},
    {"uniqueItems",           VALIDATION,  ARRAY,  read_flag,        mcp__check_unique_items},
    {"$defs",                 CORE,        ANY,    read_schema_map,  NULL},
    {"definitions",           CORE,        ANY,    read_schema_map,  NULL},
    {"$ref",                  CORE,        ANY,    add_reference,    mcp__check_ref},
    {"$dynamicRef",           CORE,        ANY,    add_reference,    mcp__check_dynamic_ref},
    {"allOf",                 APPLICATOR,  ANY,    read_schema_list, mcp__check_all_of},
    {"anyOf",                 APPLICATOR,  ANY,    read_schema_list, mcp__check_any_of},
    {"oneOf",                 APPLICATOR,  ANY,    read_schema_list, mcp__check_one_of},
    {"not",                   APPLICATOR,  ANY,    read_schema,      mcp__check_not},
    {"then",                  APPLICATOR,  ANY,    read_schema,      NULL},
    {"else",                  APPLICATOR,  ANY,    read_schema,      NULL},
    {"if",                    APPLICATOR,  ANY,    read_schema,      mcp__check_if},
    {"dependentSchemas",      APPLICATOR,  OBJECT, read_schema_map,  mcp__check_dependent_schemas},
    {"propertyNames",         APPLICATOR,  OBJECT, read_schema,      mcp__check_property_names},
    {"patternProperties",     APPLICATOR,  OBJECT, read_pattern_map, mcp__check_pattern_properties},
    {"additionalProperties",  APPLICATOR,  OBJECT, read_schema,      mcp__check_additional},
    {"prefixItems",           APPLICATOR,  ARRAY,  read_schema_list, mcp__check_prefix_items},
    {"items",                 APPLICATOR,  ARRAY,  read_schema,      mcp__check_items},
    {"minContains",           VALIDATION,  ARRAY,  read_count,       NULL},
    {"maxContains",           VALIDATION,  ARRAY,  read_count,       NULL},
    {"contains",              APPLICATOR,  ARRAY,  read_schema,      mcp__check_contains},
    {"unevaluatedItems",      UNEVALUATED, ARRAY,  read_schema,      mcp__check_unevaluated_items},
    {"unevaluatedProperties", UNEVALUATED, OBJECT, read_schema, mcp__check_unevaluated_members},
    {0},
};
/* clang-format on */
