/*
 * dialect.c - which vocabularies a schema uses.
 *
 * `$schema` names the draft itself or a meta-schema that lists vocabularies in `$vocabulary`. A
 * keyword whose vocabulary is not listed is as good as unknown. A meta-schema may demand a
 * vocabulary that we do not know: then its schemas must not be processed (Core 8.1.2). One whose
 * value is false may be left out when unknown; the known ones count either way.
 */
#include <string.h>

#include "schema/compile.h"

#define DRAFT "https://json-schema.org/draft/2020-12/"
#define HINTS_MAX 200 /* bytes: the message has no room for more */
#define STANDARD                                                                                   \
    (MCP__CORE | MCP__APPLICATOR | MCP__UNEVALUATED | MCP__VALIDATION | MCP__FORMAT | MCP__CONTENT)

static const struct {
    const char *uri;
    unsigned bits;
} vocabularies[] = {
    { DRAFT "vocab/core", MCP__CORE },
    { DRAFT "vocab/applicator", MCP__APPLICATOR },
    { DRAFT "vocab/unevaluated", MCP__UNEVALUATED },
    { DRAFT "vocab/validation", MCP__VALIDATION },
    { DRAFT "vocab/meta-data", 0 },
    { DRAFT "vocab/format-annotation", MCP__FORMAT },
    { DRAFT "vocab/format-assertion", MCP__FORMAT | MCP__FORMAT_ASSERTION },
    { DRAFT "vocab/content", MCP__CONTENT },
};

static bool known(const char *uri, unsigned *bits)
{
    for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++) {
        if (strcmp(vocabularies[i].uri, uri) == 0) {
            *bits = vocabularies[i].bits;
            return true;
        }
    }
    return false;
}

/* What earlier drafts wrote in another way. `type`: what the value must be for that; ABSENT:
 * anything. */
static const struct {
    const char *keyword;
    mcp_json_type type;
    const char *now;
} earlier[] = {
    { "definitions", MCP_JSON_OBJECT, "definitions is $defs" },
    { "items", MCP_JSON_ARRAY, "an array under items is prefixItems" },
    { "additionalItems", MCP_JSON_ABSENT, "additionalItems is items next to prefixItems" },
    { "dependencies", MCP_JSON_OBJECT, "dependencies is dependentRequired or dependentSchemas" },
    { "$recursiveRef", MCP_JSON_STRING, "$recursiveRef is $dynamicRef" },
    { "id", MCP_JSON_STRING, "id is $id" },
};

/* Append what the schema and its subschemas write as an earlier draft does. */
static void describe(mcp_buf *out, const mcp_json *value, bool is_map, bool *shown)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = mcp_json_name(value, i, NULL);
        const mcp_json *item = mcp_json_item(value, i);
        for (size_t k = 0; name && !is_map && k < sizeof earlier / sizeof *earlier; k++) {
            bool fits = earlier[k].type == MCP_JSON_ABSENT ||
                        earlier[k].type == mcp_json_type_of(item);
            if (strcmp(name, earlier[k].keyword) != 0 || !fits || shown[k])
                continue;
            (void)mcp_buf_printf(out, "; %s", earlier[k].now);
            shown[k] = true;
        }
        describe(out, item,
                 name && !is_map &&
                     (strcmp(name, "properties") == 0 || strcmp(name, "patternProperties") == 0 ||
                      strcmp(name, "definitions") == 0 || strcmp(name, "$defs") == 0 ||
                      strcmp(name, "dependencies") == 0),
                 shown);
    }
}

static mcp_status unknown(const char *uri, const mcp_json *schema, mcp_error *err)
{
    bool shown[sizeof earlier / sizeof *earlier] = { 0 };
    mcp_buf hints;

    mcp_buf_init(&hints, HINTS_MAX);
    describe(&hints, schema, false, shown);
    mcp_status st = mcp_error_set(err, MCP_E_SCHEMA,
                                  "the dialect %s is not known; JSON Schema 2020-12 is%s", uri,
                                  hints.length ? hints.data : "");
    mcp_buf_clear(&hints);
    return st;
}

static mcp_status read_vocabularies(unsigned *out, const char *uri, const mcp_json *list,
                                    mcp_error *err)
{
    unsigned all = 0;

    for (size_t i = 0; i < mcp_json_count(list); i++) {
        const char *name = mcp_json_name(list, i, NULL);
        bool is_required = true;
        unsigned bits = 0;
        mcp_json_bool(mcp_json_item(list, i), &is_required);
        if (!known(name, &bits) && is_required)
            return mcp_error_set(err, MCP_E_SCHEMA, "%s needs the unknown vocabulary %s", uri,
                                 name);
        all |= bits;
    }
    if (!(all & MCP__CORE))
        return mcp_error_set(err, MCP_E_SCHEMA, "%s is not a dialect of JSON Schema 2020-12", uri);
    *out = all;
    return MCP_OK;
}

mcp_status mcp__dialect(unsigned *out, mcp__compiler *compiler, const char *uri,
                        const mcp_json *schema, mcp_error *err)
{
    const mcp_json *meta = NULL;
    size_t length = strlen(uri);

    if (length > 0 && uri[length - 1] == '#')
        length--;
    if (length == strlen(MCP__DRAFT_2020_12) && memcmp(uri, MCP__DRAFT_2020_12, length) == 0) {
        *out = STANDARD;
        return MCP_OK;
    }
    const char *name = mcp_arena_strndup(compiler->arena, uri, length);
    if (!name)
        return mcp__compile_no_memory(compiler, err);
    mcp_status st = mcp__find_document(&meta, compiler, name, err);
    if (st != MCP_OK)
        return st;
    const mcp_json *list = mcp_json_get(meta, "$vocabulary");
    const char *draft = mcp_json_get_string(meta, "$schema");
    if (mcp_json_is_object(list))
        return read_vocabularies(out, name, list, err);
    if (!draft || strcmp(draft, MCP__DRAFT_2020_12) != 0)
        return unknown(name, schema, err);
    *out = STANDARD;
    return MCP_OK;
}
