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

static bool fault(mcp__compiler *compiler, const mcp__rule *rule, const char *words)
{
    return mcp__compile_fault(compiler, rule->node, rule->keyword->name, "%s", words);
}

/* ---- subschemas ----------------------------------------------------------------------------- */

/* The keyword's value is one schema, or holds `count` of them as items or members. */
static bool add_nodes(mcp__compiler *compiler, mcp__rule *rule, bool is_container, size_t count)
{
    mcp__location at = { .parent = rule->node,
                         .keyword = rule->keyword->name,
                         .has_token = is_container };

    rule->nodes = mcp__compile_alloc(compiler, count, sizeof(const mcp__subschema *));
    for (size_t i = 0; rule->nodes && i < count; i++) {
        const mcp_json *schema = is_container ? mcp_json_item(rule->value, i) : rule->value;
        at.token.index = i;
        at.token.name = mcp_json_name(rule->value, i, &at.token.length);
        rule->nodes[i] = mcp__compile_node(compiler, schema, &at, rule->node->resource, NULL);
        if (!rule->nodes[i])
            return false;
    }
    rule->node_count = count;
    return rule->nodes != NULL;
}

static bool read_schema(mcp__compiler *compiler, mcp__rule *rule)
{
    if (mcp_json_is_array(rule->value) && strcmp(rule->keyword->name, "items") == 0)
        return fault(compiler, rule, "an array of schemas is prefixItems since 2020-12");
    return add_nodes(compiler, rule, false, 1);
}

static bool read_schema_list(mcp__compiler *compiler, mcp__rule *rule)
{
    if (!mcp_json_is_array(rule->value) || mcp_json_count(rule->value) == 0)
        return fault(compiler, rule, "must be an array of schemas, and not empty");
    return add_nodes(compiler, rule, true, mcp_json_count(rule->value));
}

static bool read_schema_map(mcp__compiler *compiler, mcp__rule *rule)
{
    if (!mcp_json_is_object(rule->value))
        return fault(compiler, rule, "must be an object of schemas");
    return add_nodes(compiler, rule, true, mcp_json_count(rule->value));
}

static bool add_reference(mcp__compiler *compiler, mcp__rule *rule)
{
    rule->next_pending = compiler->pending;
    compiler->pending = rule;
    return true;
}

/* ---- plain values --------------------------------------------------------------------------- */

static bool read_count(mcp__compiler *compiler, mcp__rule *rule)
{
    return mcp__number_is_count(rule->value, &rule->as.count) ||
           fault(compiler, rule, "must be a non-negative integer");
}

static bool read_number(mcp__compiler *compiler, mcp__rule *rule)
{
    return mcp_json_is_number(rule->value) || fault(compiler, rule, "must be a number");
}

static bool read_divisor(mcp__compiler *compiler, mcp__rule *rule)
{
    double size = 0;

    if (!mcp_json_double(rule->value, &size) || !(size > 0))
        return fault(compiler, rule, "must be a number above 0");
    rule->as.divisor = mcp__number_decimal(rule->value);
    return true;
}

static bool read_flag(mcp__compiler *compiler, mcp__rule *rule)
{
    bool is_on = false;

    if (!mcp_json_bool(rule->value, &is_on))
        return fault(compiler, rule, "must be true or false");
    rule->as.count = is_on;
    return true;
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

static bool read_type(mcp__compiler *compiler, mcp__rule *rule)
{
    unsigned types = type_bit(rule->value);

    for (size_t i = 0; mcp_json_is_array(rule->value) && i < mcp_json_count(rule->value); i++) {
        unsigned bit = type_bit(mcp_json_item(rule->value, i));
        if (bit == 0)
            return fault(compiler, rule, "names a type that does not exist");
        types |= bit;
    }
    rule->as.types = types;
    return types != 0 || fault(compiler, rule, "must be the name of a type or an array of them");
}

/* Of const, or of enum's items: hashes tell most values apart before they are compared. */
static bool read_values(mcp__compiler *compiler, mcp__rule *rule)
{
    bool is_list = strcmp(rule->keyword->name, "enum") == 0;
    size_t count = is_list ? mcp_json_count(rule->value) : 1;
    uint64_t without_end = UINT64_MAX;

    if (is_list && !mcp_json_is_array(rule->value))
        return fault(compiler, rule, "must be an array");
    uint64_t *hashes = mcp__compile_alloc(compiler, count, sizeof *hashes);
    for (size_t i = 0; hashes && i < count; i++) {
        const mcp_json *value = is_list ? mcp_json_item(rule->value, i) : rule->value;
        hashes[i] = mcp__value_hash(value, &without_end);
    }
    rule->as.hashes = hashes;
    return hashes != NULL;
}

static bool is_list_of_strings(const mcp_json *value)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (!mcp_json_is_string(mcp_json_item(value, i)))
            return false;
    }
    return mcp_json_is_array(value);
}

static bool read_names(mcp__compiler *compiler, mcp__rule *rule)
{
    return is_list_of_strings(rule->value) || fault(compiler, rule, "must be an array of strings");
}

static bool read_names_map(mcp__compiler *compiler, mcp__rule *rule)
{
    bool is_fine = mcp_json_is_object(rule->value);

    for (size_t i = 0; i < mcp_json_count(rule->value); i++)
        is_fine = is_fine && is_list_of_strings(mcp_json_item(rule->value, i));
    return is_fine || fault(compiler, rule, "must be an object of arrays of strings");
}

/* ---- patterns ------------------------------------------------------------------------------- */

static bool room_for_patterns(mcp__compiler *compiler, mcp__rule *rule, size_t count)
{
    rule->as.patterns = mcp__compile_alloc(compiler, count, sizeof *rule->as.patterns);
    return rule->as.patterns != NULL;
}

/* Each expression is compiled once for the schema, however often it is there. */
static bool add_pattern(mcp__compiler *compiler, mcp__rule *rule, size_t index, const char *text,
                        size_t length)
{
    mcp__pattern **all = &compiler->schema->patterns;
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = MCP_OK;

    rule->as.patterns[index] = mcp__map_get(&compiler->patterns, text, length);
    if (rule->as.patterns[index])
        return true;
    st = mcp__pattern_compile(all, compiler->arena, text, length, &why);
    if (st == MCP_E_SCHEMA)
        return fault(compiler, rule, why.message);
    if (st != MCP_OK)
        compiler->status = mcp_error_set(compiler->err, st, "%s", why.message);
    else if (mcp__map_put(&compiler->patterns, text, length, *all) != MCP_OK)
        mcp__compile_no_memory(compiler);
    rule->as.patterns[index] = *all;
    return compiler->status == MCP_OK;
}

static bool read_pattern(mcp__compiler *compiler, mcp__rule *rule)
{
    size_t length = 0;
    const char *text = mcp_json_string(rule->value, &length);

    if (!text)
        return fault(compiler, rule, "must be a string");
    return room_for_patterns(compiler, rule, 1) && add_pattern(compiler, rule, 0, text, length);
}

static bool read_pattern_map(mcp__compiler *compiler, mcp__rule *rule)
{
    if (!read_schema_map(compiler, rule) || !room_for_patterns(compiler, rule, rule->node_count))
        return false;
    for (size_t i = 0; i < rule->node_count; i++) {
        size_t length = 0;
        const char *text = mcp_json_name(rule->value, i, &length);
        if (!add_pattern(compiler, rule, i, text, length))
            return false;
    }
    return true;
}

static bool read_format(mcp__compiler *compiler, mcp__rule *rule)
{
    const char *name = mcp_json_string(rule->value, NULL);
    bool asserts = compiler->options->assert_formats ||
                   (rule->node->resource->vocabularies & MCP__FORMAT_ASSERTION);

    if (!name)
        return fault(compiler, rule, "must be a string");
    rule->as.format = asserts ? mcp__format_find(name) : NULL;
    if (!rule->as.format)
        return true;
    const char *expression = rule->as.format->expression;
    return room_for_patterns(compiler, rule, 1) &&
           add_pattern(compiler, rule, 0, expression, strlen(expression));
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
    {"const",                 VALIDATION,  ANY,    read_values,      mcp__check_const},
    {"enum",                  VALIDATION,  ANY,    read_values,      mcp__check_enum},
    {"maximum",               VALIDATION,  NUMBER, read_number,      mcp__check_maximum},
    {"exclusiveMaximum",      VALIDATION,  NUMBER, read_number,      mcp__check_exclusive_maximum},
    {"minimum",               VALIDATION,  NUMBER, read_number,      mcp__check_minimum},
    {"exclusiveMinimum",      VALIDATION,  NUMBER, read_number,      mcp__check_exclusive_minimum},
    {"multipleOf",            VALIDATION,  NUMBER, read_divisor,     mcp__check_multiple_of},
    {"maxLength",             VALIDATION,  STRING, read_count,       mcp__check_at_most},
    {"minLength",             VALIDATION,  STRING, read_count,       mcp__check_at_least},
    {"pattern",               VALIDATION,  STRING, read_pattern,     mcp__check_pattern},
    {"format",                FORMAT,      STRING, read_format,      mcp__check_format},
    {"properties",            APPLICATOR,  OBJECT, read_schema_map,  mcp__check_properties},
    {"maxProperties",         VALIDATION,  OBJECT, read_count,       mcp__check_at_most},
    {"minProperties",         VALIDATION,  OBJECT, read_count,       mcp__check_at_least},
    {"required",              VALIDATION,  OBJECT, read_names,       mcp__check_required},
    {"dependentRequired",     VALIDATION,  OBJECT, read_names_map,   mcp__check_dependent_required},
    {"maxItems",              VALIDATION,  ARRAY,  read_count,       mcp__check_at_most},
    {"minItems",              VALIDATION,  ARRAY,  read_count,       mcp__check_at_least},
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
