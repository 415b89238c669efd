/*
 * meta.c - the meta-schemas of draft 2020-12, so that a `$ref` to them works without a network.
 *
 * These are the specification's own data, minified and without `$comment`: the schema of all
 * vocabularies and the one of each. A vocabulary's schema extends the others through
 * `$dynamicAnchor: "meta"`, which is how a schema inside a schema is checked by all of them at
 * once.
 */
#include "schema/compile.h"

#include <string.h>

#define DRAFT "https://json-schema.org/draft/2020-12/"

/* clang-format off */
static const char schema[] =
    "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT "schema\",\"$vocabulary\":{"
    "\"" DRAFT "vocab/core\":true,\"" DRAFT "vocab/applicator\":true,"
    "\"" DRAFT "vocab/unevaluated\":true,\"" DRAFT "vocab/validation\":true,"
    "\"" DRAFT "vocab/meta-data\":true,\"" DRAFT "vocab/format-annotation\":true,"
    "\"" DRAFT "vocab/content\":true},\"$dynamicAnchor\":\"meta\","
    "\"title\":\"Core and Validation specifications meta-schema\",\"allOf\":[{"
    "\"$ref\":\"meta/core\"},{\"$ref\":\"meta/applicator\"},{\"$ref\":\"meta/unevaluated\"},{"
    "\"$ref\":\"meta/validation\"},{\"$ref\":\"meta/meta-data\"},{"
    "\"$ref\":\"meta/format-annotation\"},{\"$ref\":\"meta/content\"}],\"type\":[\"object\","
    "\"boolean\"],\"properties\":{\"definitions\":{\"type\":\"object\",\"additionalProperties\":{"
    "\"$dynamicRef\":\"#meta\"},\"deprecated\":true,\"default\":{}},\"dependencies\":{"
    "\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[{\"$dynamicRef\":\"#meta\"},{"
    "\"$ref\":\"meta/validation#/$defs/stringArray\"}]},\"deprecated\":true,\"default\":{}},"
    "\"$recursiveAnchor\":{\"$ref\":\"meta/core#/$defs/anchorString\",\"deprecated\":true},"
    "\"$recursiveRef\":{\"$ref\":\"meta/core#/$defs/uriReferenceString\",\"deprecated\":true}}}";
static const char core[] =
    "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT "meta/core\",\"$vocabulary\":{"
    "\"" DRAFT "vocab/core\":true},\"$dynamicAnchor\":\"meta\","
    "\"title\":\"Core vocabulary meta-schema\",\"type\":[\"object\",\"boolean\"],\"properties\":{"
    "\"$id\":{\"$ref\":\"#/$defs/uriReferenceString\",\"pattern\":\"^[^#]*#?$\"},\"$schema\":{"
    "\"$ref\":\"#/$defs/uriString\"},\"$ref\":{\"$ref\":\"#/$defs/uriReferenceString\"},"
    "\"$anchor\":{\"$ref\":\"#/$defs/anchorString\"},\"$dynamicRef\":{"
    "\"$ref\":\"#/$defs/uriReferenceString\"},\"$dynamicAnchor\":{"
    "\"$ref\":\"#/$defs/anchorString\"},\"$vocabulary\":{\"type\":\"object\",\"propertyNames\":{"
    "\"$ref\":\"#/$defs/uriString\"},\"additionalProperties\":{\"type\":\"boolean\"}},\"$defs\":{"
    "\"type\":\"object\",\"additionalProperties\":{\"$dynamicRef\":\"#meta\"}}},\"$defs\":{"
    "\"anchorString\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"},"
    "\"uriString\":{\"type\":\"string\",\"format\":\"uri\"},\"uriReferenceString\":{"
    "\"type\":\"string\",\"format\":\"uri-reference\"}}}";
static const char applicator[] =
    "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT "meta/applicator\",\"$vocabulary\":{"
    "\"" DRAFT "vocab/applicator\":true},\"$dynamicAnchor\":\"meta\","
    "\"title\":\"Applicator vocabulary meta-schema\",\"type\":[\"object\",\"boolean\"],"
    "\"properties\":{\"prefixItems\":{\"$ref\":\"#/$defs/schemaArray\"},\"items\":{"
    "\"$dynamicRef\":\"#meta\"},\"contains\":{\"$dynamicRef\":\"#meta\"},"
    "\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},\"properties\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},\"default\":{}},\"patternProperties\":{"
    "\"type\":\"object\",\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},\"propertyNames\":{"
    "\"format\":\"regex\"},\"default\":{}},\"dependentSchemas\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},\"default\":{}},\"propertyNames\":{"
    "\"$dynamicRef\":\"#meta\"},\"if\":{\"$dynamicRef\":\"#meta\"},\"then\":{"
    "\"$dynamicRef\":\"#meta\"},\"else\":{\"$dynamicRef\":\"#meta\"},\"allOf\":{"
    "\"$ref\":\"#/$defs/schemaArray\"},\"anyOf\":{\"$ref\":\"#/$defs/schemaArray\"},\"oneOf\":{"
    "\"$ref\":\"#/$defs/schemaArray\"},\"not\":{\"$dynamicRef\":\"#meta\"}},\"$defs\":{"
    "\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"$dynamicRef\":\"#meta\"}}}}";
static const char unevaluated[] =
    "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT "meta/unevaluated\",\"$vocabulary\":{"
    "\"" DRAFT "vocab/unevaluated\":true},\"$dynamicAnchor\":\"meta\","
    "\"title\":\"Unevaluated applicator vocabulary meta-schema\",\"type\":[\"object\","
    "\"boolean\"],\"properties\":{\"unevaluatedItems\":{\"$dynamicRef\":\"#meta\"},"
    "\"unevaluatedProperties\":{\"$dynamicRef\":\"#meta\"}}}";
static const char validation[] =
    "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT "meta/validation\",\"$vocabulary\":{"
    "\"" DRAFT "vocab/validation\":true},\"$dynamicAnchor\":\"meta\","
    "\"title\":\"Validation vocabulary meta-schema\",\"type\":[\"object\",\"boolean\"],"
    "\"properties\":{\"type\":{\"anyOf\":[{\"$ref\":\"#/$defs/simpleTypes\"},{\"type\":\"array\","
    "\"items\":{\"$ref\":\"#/$defs/simpleTypes\"},\"minItems\":1,\"uniqueItems\":true}]},"
    "\"const\":true,\"enum\":{\"type\":\"array\",\"items\":true},\"multipleOf\":{"
    "\"type\":\"number\",\"exclusiveMinimum\":0},\"maximum\":{\"type\":\"number\"},"
    "\"exclusiveMaximum\":{\"type\":\"number\"},\"minimum\":{\"type\":\"number\"},"
    "\"exclusiveMinimum\":{\"type\":\"number\"},\"maxLength\":{"
    "\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minLength\":{"
    "\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},\"pattern\":{\"type\":\"string\","
    "\"format\":\"regex\"},\"maxItems\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minItems\":{"
    "\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},\"uniqueItems\":{\"type\":\"boolean\","
    "\"default\":false},\"maxContains\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},"
    "\"minContains\":{\"$ref\":\"#/$defs/nonNegativeInteger\",\"default\":1},\"maxProperties\":{"
    "\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minProperties\":{"
    "\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},\"required\":{"
    "\"$ref\":\"#/$defs/stringArray\"},\"dependentRequired\":{\"type\":\"object\","
    "\"additionalProperties\":{\"$ref\":\"#/$defs/stringArray\"}}},\"$defs\":{"
    "\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},\"nonNegativeIntegerDefault0\":{"
    "\"$ref\":\"#/$defs/nonNegativeInteger\",\"default\":0},\"simpleTypes\":{\"enum\":[\"array\","
    "\"boolean\",\"integer\",\"null\",\"number\",\"object\",\"string\"]},\"stringArray\":{"
    "\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true,\"default\":[]}}}";
static const char meta_data[] =
    "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT "meta/meta-data\",\"$vocabulary\":{"
    "\"" DRAFT "vocab/meta-data\":true},\"$dynamicAnchor\":\"meta\","
    "\"title\":\"Meta-data vocabulary meta-schema\",\"type\":[\"object\",\"boolean\"],"
    "\"properties\":{\"title\":{\"type\":\"string\"},\"description\":{\"type\":\"string\"},"
    "\"default\":true,\"deprecated\":{\"type\":\"boolean\",\"default\":false},\"readOnly\":{"
    "\"type\":\"boolean\",\"default\":false},\"writeOnly\":{\"type\":\"boolean\","
    "\"default\":false},\"examples\":{\"type\":\"array\",\"items\":true}}}";
static const char format_annotation[] =
    "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT "meta/format-annotation\","
    "\"$vocabulary\":{\"" DRAFT "vocab/format-annotation\":true},\"$dynamicAnchor\":\"meta\","
    "\"title\":\"Format vocabulary meta-schema for annotation results\",\"type\":[\"object\","
    "\"boolean\"],\"properties\":{\"format\":{\"type\":\"string\"}}}";
static const char format_assertion[] =
    "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT "meta/format-assertion\",\"$vocabulary\":{"
    "\"" DRAFT "vocab/format-assertion\":true},\"$dynamicAnchor\":\"meta\","
    "\"title\":\"Format vocabulary meta-schema for assertion results\",\"type\":[\"object\","
    "\"boolean\"],\"properties\":{\"format\":{\"type\":\"string\"}}}";
static const char content[] =
    "{\"$schema\":\"" DRAFT "schema\",\"$id\":\"" DRAFT "meta/content\",\"$vocabulary\":{"
    "\"" DRAFT "vocab/content\":true},\"$dynamicAnchor\":\"meta\","
    "\"title\":\"Content vocabulary meta-schema\",\"type\":[\"object\",\"boolean\"],"
    "\"properties\":{\"contentEncoding\":{\"type\":\"string\"},\"contentMediaType\":{"
    "\"type\":\"string\"},\"contentSchema\":{\"$dynamicRef\":\"#meta\"}}}";
/* clang-format on */

static const struct {
    const char *uri;
    const char *text;
} schemas[] = {
    { DRAFT "schema", schema },
    { DRAFT "meta/core", core },
    { DRAFT "meta/applicator", applicator },
    { DRAFT "meta/unevaluated", unevaluated },
    { DRAFT "meta/validation", validation },
    { DRAFT "meta/meta-data", meta_data },
    { DRAFT "meta/format-annotation", format_annotation },
    { DRAFT "meta/format-assertion", format_assertion },
    { DRAFT "meta/content", content },
};

const char *mcp__meta_schema(const char *uri)
{
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        if (strcmp(schemas[i].uri, uri) == 0)
            return schemas[i].text;
    }
    return NULL;
}
