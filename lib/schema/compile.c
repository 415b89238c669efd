/*
 * compile.c - from JSON to a compiled schema: documents, dialects, resources, nodes and rules.
 *
 * A subschema becomes a node, and each keyword of it that the dialect knows becomes a rule, in
 * the order of the keyword table. Where keywords hold subschemas, the row's compile function
 * comes back here for them, so a document is walked from the top and nothing in an unknown
 * keyword is looked at. JSON nests at most MCP_JSON_DEPTH_MAX deep, and so does this recursion.
 *
 * An `$id` starts a resource of its own, with its own base URI, dialect and anchors. The root of a
 * document is a resource too, and answers to the document's URI as well as to its `$id`. Documents
 * are loaded when a reference asks for them, so a large table of documents costs nothing.
 */
#include "schema/compile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena_int.h"
#include "mcp/files.h"

enum { SUBSCHEMAS_MAX = 10000, STEPS_MAX = 1000000, KEYWORDS_MAX = 64, PLACE_MAX = 4096 };

static const size_t arena_max = (size_t)256 << 20;

/* ---- places and faults ---------------------------------------------------------------------- */

void mcp__pointer_token(mcp_buf *out, const mcp__token *token)
{
    mcp_buf_putc(out, '/');
    if (!token->name)
        mcp_buf_printf(out, "%zu", token->index);
    for (size_t i = 0; token->name && i < token->length; i++) {
        if (token->name[i] == '~' || token->name[i] == '/')
            mcp_buf_puts(out, token->name[i] == '~' ? "~0" : "~1");
        else
            mcp_buf_putc(out, token->name[i]);
    }
}

void mcp__node_pointer(mcp_buf *out, const mcp__subschema *node)
{
    if (!node->at.parent)
        return;
    mcp__node_pointer(out, node->at.parent);
    mcp_buf_printf(out, "/%s", node->at.keyword);
    if (node->at.has_token)
        mcp__pointer_token(out, &node->at.token);
}

bool mcp__compile_fault(mcp__compiler *compiler, const mcp__subschema *node, const char *keyword,
                        const char *format, ...)
{
    const mcp__subschema *root = node;
    char words[200];
    mcp_buf place;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    while (root->at.parent)
        root = root->at.parent;
    mcp_buf_init(&place, PLACE_MAX);
    if (root != compiler->schema->root && root->resource && compiler->schema->root)
        mcp_buf_printf(&place, "%s#", root->resource->uri);
    mcp__node_pointer(&place, node);
    if (keyword)
        mcp_buf_printf(&place, "/%s", keyword);
    compiler->status = mcp_error_set(compiler->err, MCP_E_SCHEMA, "%s: %s",
                                     place.length ? place.data : "the schema", words);
    mcp_buf_clear(&place);
    return false;
}

bool mcp__compile_no_memory(mcp__compiler *compiler)
{
    if (mcp__arena_failure(compiler->arena) == MCP_E_LIMIT)
        compiler->status = mcp_error_set(compiler->err, MCP_E_LIMIT,
                                         "the schema is too large to compile");
    else
        compiler->status = mcp_error_set(compiler->err, MCP_E_NOMEM,
                                         "no memory to compile a schema");
    return false;
}

void *mcp__compile_alloc(mcp__compiler *compiler, size_t count, size_t size)
{
    void *memory = mcp_arena_array(compiler->arena, count, size);

    if (!memory)
        mcp__compile_no_memory(compiler);
    return memory;
}

static bool put(mcp__compiler *compiler, mcp__map *map, const char *key, void *value)
{
    return mcp__map_put(map, key, strlen(key), value) == MCP_OK || mcp__compile_no_memory(compiler);
}

/* ---- documents ------------------------------------------------------------------------------ */

/* The draft's own meta-schemas, from lib/schema/draft-2020-12/. */
extern const mcp_file mcp__meta_schemas[];

const char *mcp__meta_schema(const char *uri)
{
    char path[64];

    if (strncmp(uri, MCP__DRAFT, strlen(MCP__DRAFT)) != 0)
        return NULL;
    (void)snprintf(path, sizeof path, "%s.json", uri + strlen(MCP__DRAFT));
    const mcp_file *file = mcp_files_find(mcp__meta_schemas, path);
    return file ? file->bytes : NULL;
}

/* The root of the document or meta-schema of that URI, not compiled; NULL as well when there is
 * none. */
static const mcp_json *find_document(mcp__compiler *compiler, const char *uri)
{
    const char *text = mcp__meta_schema(uri);
    const mcp_json *schema = NULL;

    for (size_t i = 0; i < compiler->options->document_count; i++) {
        if (strcmp(compiler->options->documents[i].uri, uri) == 0)
            return compiler->options->documents[i].schema;
    }
    if (text)
        compiler->status = mcp_json_read(&schema, compiler->arena, text, strlen(text),
                                         compiler->err);
    return schema;
}

/* Compile a document that is known by `uri`. */
static bool compile_document(mcp__compiler *compiler, const char *uri, const mcp_json *json)
{
    static const mcp__location root = { 0 };
    const mcp__subschema *known = mcp__map_get(&compiler->nodes, (const char *)&json,
                                               sizeof(const mcp_json *));

    if (!known)
        return mcp__compile_node(compiler, json, &root, NULL, uri) != NULL;
    return put(compiler, &compiler->resources, uri, known->resource); /* one value, two URIs */
}

/* ---- dialects ------------------------------------------------------------------------------- */

/* `$schema` names the draft itself or a meta-schema that lists vocabularies in `$vocabulary`. A
 * keyword whose vocabulary is not listed is as good as unknown. A meta-schema may demand a
 * vocabulary that we do not know: then its schemas must not be processed (Core 8.1.2). One whose
 * value is false may be left out when unknown; the known ones count either way. */

#define HINTS_MAX 200 /* bytes: the message has no room for more */
#define STANDARD                                                                                   \
    (MCP__CORE | MCP__APPLICATOR | MCP__UNEVALUATED | MCP__VALIDATION | MCP__FORMAT | MCP__CONTENT)

static const struct {
    const char *uri;
    unsigned bits;
} vocabularies[] = {
    { MCP__DRAFT "vocab/core", MCP__CORE },
    { MCP__DRAFT "vocab/applicator", MCP__APPLICATOR },
    { MCP__DRAFT "vocab/unevaluated", MCP__UNEVALUATED },
    { MCP__DRAFT "vocab/validation", MCP__VALIDATION },
    { MCP__DRAFT "vocab/meta-data", 0 },
    { MCP__DRAFT "vocab/format-annotation", MCP__FORMAT },
    { MCP__DRAFT "vocab/format-assertion", MCP__FORMAT | MCP__FORMAT_ASSERTION },
    { MCP__DRAFT "vocab/content", MCP__CONTENT },
};

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

static bool holds_a_map(const char *keyword)
{
    static const char *const maps[] = { "properties", "patternProperties", "definitions", "$defs",
                                        "dependencies" };

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        if (strcmp(maps[i], keyword) == 0)
            return true;
    }
    return false;
}

/* Append what the schema and its subschemas write as an earlier draft does. */
static void describe(mcp_buf *out, const mcp_json *value, bool is_map, bool *shown)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = is_map ? NULL : mcp_json_name(value, i, NULL);
        const mcp_json *item = mcp_json_item(value, i);
        for (size_t k = 0; name && k < sizeof earlier / sizeof *earlier; k++) {
            bool fits = earlier[k].type == MCP_JSON_ABSENT ||
                        earlier[k].type == mcp_json_type_of(item);
            if (strcmp(name, earlier[k].keyword) != 0 || !fits || shown[k])
                continue;
            mcp_buf_printf(out, "; %s", earlier[k].now);
            shown[k] = true;
        }
        describe(out, item, name && holds_a_map(name), shown);
    }
}

static bool refuse_dialect(mcp__compiler *compiler, const char *uri, const mcp_json *schema)
{
    bool shown[sizeof earlier / sizeof *earlier] = { 0 };
    mcp_buf hints;

    mcp_buf_init(&hints, HINTS_MAX);
    describe(&hints, schema, false, shown);
    compiler->status = mcp_error_set(compiler->err, MCP_E_SCHEMA,
                                     "the dialect %s is not known; JSON Schema 2020-12 is%s", uri,
                                     hints.length ? hints.data : "");
    mcp_buf_clear(&hints);
    return false;
}

static bool read_vocabularies(unsigned *out, mcp__compiler *compiler, const char *uri,
                              const mcp_json *list)
{
    size_t known = sizeof vocabularies / sizeof *vocabularies;
    unsigned all = 0;

    for (size_t i = 0; i < mcp_json_count(list); i++) {
        const char *name = mcp_json_name(list, i, NULL);
        bool is_required = true;
        size_t at = 0;
        mcp_json_bool(mcp_json_item(list, i), &is_required);
        while (at < known && strcmp(vocabularies[at].uri, name) != 0)
            at++;
        if (at < known)
            all |= vocabularies[at].bits;
        else if (is_required)
            compiler->status = mcp_error_set(compiler->err, MCP_E_SCHEMA,
                                             "%s needs the unknown vocabulary %s", uri, name);
        if (compiler->status != MCP_OK)
            return false;
    }
    if (!(all & MCP__CORE))
        compiler->status = mcp_error_set(compiler->err, MCP_E_SCHEMA,
                                         "%s is not a dialect of JSON Schema 2020-12", uri);
    *out = all;
    return compiler->status == MCP_OK;
}

/* The vocabularies that a schema with this `$schema` uses. `schema`: for the error alone; may be
 * NULL. */
static bool find_dialect(unsigned *out, mcp__compiler *compiler, const char *uri,
                         const mcp_json *schema)
{
    size_t length = strlen(uri);
    bool has_fragment = length > 0 && uri[length - 1] == '#';
    const char *name = mcp_arena_strndup(compiler->arena, uri, length - (has_fragment ? 1 : 0));

    if (!name)
        return mcp__compile_no_memory(compiler);
    *out = STANDARD;
    if (strcmp(name, MCP__DRAFT_2020_12) == 0)
        return true;
    const mcp_json *meta = find_document(compiler, name);
    const mcp_json *list = mcp_json_get(meta, "$vocabulary");
    const char *draft = mcp_json_get_string(meta, "$schema");
    if (compiler->status != MCP_OK)
        return false;
    if (mcp_json_is_object(list))
        return read_vocabularies(out, compiler, name, list);
    return (draft && strcmp(draft, MCP__DRAFT_2020_12) == 0) ||
           refuse_dialect(compiler, name, schema);
}

/* Nothing of this draft can refer to such a document. */
static bool is_of_another_draft(mcp__compiler *compiler, const mcp_json *schema)
{
    const char *draft = mcp_json_get_string(schema, "$schema");
    mcp_error *err = compiler->err;
    unsigned ignored = 0;

    compiler->err = NULL;
    bool is_other = draft && !find_dialect(&ignored, compiler, draft, NULL) &&
                    compiler->status == MCP_E_SCHEMA;
    compiler->err = err;
    compiler->status = MCP_OK;
    return is_other;
}

/* ---- resources ------------------------------------------------------------------------------ */

/* Compile what documents are left, so that the identifiers inside them become known. */
static bool load_all_documents(mcp__compiler *compiler)
{
    compiler->has_all_documents = true;
    for (size_t i = 0; i < compiler->options->document_count; i++) {
        const mcp_schema_document *document = &compiler->options->documents[i];
        if (!mcp__map_get(&compiler->resources, document->uri, strlen(document->uri)) &&
            !is_of_another_draft(compiler, document->schema) &&
            !compile_document(compiler, document->uri, document->schema))
            return false;
    }
    return true;
}

const mcp__resource *mcp__find_resource(mcp__compiler *compiler, const char *uri)
{
    const mcp__resource *known = mcp__map_get(&compiler->resources, uri, strlen(uri));

    if (known)
        return known;
    const mcp_json *json = find_document(compiler, uri);
    if (json)
        compile_document(compiler, uri, json);
    else if (compiler->status == MCP_OK && !compiler->has_all_documents)
        load_all_documents(compiler);
    return compiler->status == MCP_OK ? mcp__map_get(&compiler->resources, uri, strlen(uri)) : NULL;
}

/* The string under a keyword; NULL when absent. A NUL inside would end a comparison too early. */
static bool text_of(const char **out, mcp__compiler *compiler, const mcp__subschema *node,
                    const char *keyword)
{
    const mcp_json *value = mcp_json_get(node->json, keyword);
    size_t length = 0;

    *out = mcp_json_string(value, &length);
    return !value || (*out && strlen(*out) == length) ||
           mcp__compile_fault(compiler, node, keyword, "must be a string");
}

static bool enter_resource(mcp__compiler *compiler, const mcp__subschema *node, const char *uri)
{
    if (mcp__map_get(&compiler->resources, uri, strlen(uri)))
        return mcp__compile_fault(compiler, node, "$id", "%s is used twice", uri);
    return put(compiler, &compiler->resources, uri, node->resource);
}

/* The URI that an `$id` gives; its fragment must be empty (Core 8.2.1). */
static bool identifier(const char **out, mcp__compiler *compiler, const mcp__subschema *node,
                       const char *id)
{
    char *uri = mcp__uri_resolve(compiler->arena, *out, id);
    const char *fragment = uri ? mcp__uri_split(uri) : NULL;

    if (!uri)
        return mcp__compile_no_memory(compiler);
    *out = uri;
    return (fragment && *fragment == '\0') ||
           mcp__compile_fault(compiler, node, "$id",
                              "must not have a fragment: a name within the schema is $anchor");
}

static bool begin_resource(mcp__compiler *compiler, mcp__subschema *node,
                           const mcp__resource *around, const char *uri, const char *id)
{
    mcp__resource *resource = mcp__compile_alloc(compiler, 1, sizeof *resource);
    const char *dialect = NULL;

    if (!resource)
        return false;
    resource->uri = around ? around->uri : uri;
    resource->root = node;
    node->resource = resource;
    if ((id && !identifier(&resource->uri, compiler, node, id)) ||
        !text_of(&dialect, compiler, node, "$schema"))
        return false;
    if (!dialect && around)
        resource->vocabularies = around->vocabularies;
    else if (!find_dialect(&resource->vocabularies, compiler,
                           dialect ? dialect : MCP__DRAFT_2020_12, node->json))
        return false;
    return enter_resource(compiler, node, resource->uri) &&
           (around || strcmp(uri, resource->uri) == 0 || enter_resource(compiler, node, uri));
}

static bool is_anchor_name(const char *name)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char rest[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-.";

    return *name && strchr(first, *name) && name[strspn(name, rest)] == '\0';
}

static bool enter_anchor(mcp__compiler *compiler, mcp__subschema *node, const char *keyword,
                         bool is_dynamic)
{
    const char *name = NULL;

    if (!text_of(&name, compiler, node, keyword) || !name)
        return compiler->status == MCP_OK;
    if (!is_anchor_name(name))
        return mcp__compile_fault(compiler, node, keyword, "\"%s\" is no name for an anchor", name);
    mcp__resource *resource = node->resource;
    mcp__anchor *anchor = mcp__compile_alloc(compiler, 1, sizeof *anchor);
    const char *key = mcp_arena_printf(compiler->arena, "%s#%s", resource->uri, name);
    if (!anchor || !key)
        return mcp__compile_no_memory(compiler);
    const mcp__anchor *other = mcp__map_get(&compiler->anchors, key, strlen(key));
    if (other && (other->node != node || !is_dynamic))
        return mcp__compile_fault(compiler, node, keyword, "\"%s\" is used twice", name);
    *anchor = (mcp__anchor){ resource->dynamic_anchors, name, node, is_dynamic };
    if (is_dynamic)
        resource->dynamic_anchors = anchor;
    return put(compiler, &compiler->anchors, key, anchor);
}

/* Read `$id`, `$schema`, `$anchor` and `$dynamicAnchor`, and say what resource the node lies in. */
static bool identify(mcp__compiler *compiler, mcp__subschema *node, mcp__resource *around,
                     const char *uri)
{
    const char *id = NULL;

    node->resource = around;
    return text_of(&id, compiler, node, "$id") &&
           ((around && !id) || begin_resource(compiler, node, around, uri, id)) &&
           enter_anchor(compiler, node, "$anchor", false) &&
           enter_anchor(compiler, node, "$dynamicAnchor", true);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static bool collect_rules(mcp__compiler *compiler, mcp__subschema *node)
{
    const mcp_json *values[KEYWORDS_MAX] = { 0 };
    size_t count = 0;

    for (size_t i = 0; mcp__keywords[i].name; i++) {
        if (mcp__keywords[i].vocabulary & node->resource->vocabularies)
            values[i] = mcp_json_get(node->json, mcp__keywords[i].name);
        count += values[i] ? 1 : 0;
    }
    node->rules = mcp__compile_alloc(compiler, count, sizeof *node->rules);
    for (size_t i = 0; node->rules && mcp__keywords[i].name; i++) {
        mcp__rule rule = { .keyword = &mcp__keywords[i], .node = node, .value = values[i] };
        if (values[i])
            node->rules[node->rule_count++] = rule;
    }
    return node->rules != NULL;
}

static mcp__rule *rule_of(const mcp__subschema *node, const char *keyword)
{
    for (size_t i = 0; i < node->rule_count; i++) {
        if (strcmp(node->rules[i].keyword->name, keyword) == 0)
            return &node->rules[i];
    }
    return NULL;
}

/* Some keywords depend on their siblings. */
static void link_siblings(const mcp__subschema *node)
{
    static const struct {
        const char *keyword;
        const char *with[2];
    } links[] = {
        { "if", { "then", "else" } },
        { "items", { "prefixItems", "prefixItems" } },
        { "contains", { "minContains", "maxContains" } },
        { "additionalProperties", { "properties", "patternProperties" } },
    };

    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        mcp__rule *rule = rule_of(node, links[i].keyword);
        for (size_t k = 0; rule && k < 2; k++)
            rule->with[k] = rule_of(node, links[i].with[k]);
    }
}

static bool compile_rules(mcp__compiler *compiler, mcp__subschema *node)
{
    if (!collect_rules(compiler, node))
        return false;
    for (size_t i = 0; i < node->rule_count; i++) {
        mcp__rule *rule = &node->rules[i];
        if (!rule->keyword->compile(compiler, rule))
            return false;
        node->tracks = node->tracks || rule->keyword->vocabulary == MCP__UNEVALUATED;
    }
    link_siblings(node);
    return true;
}

const mcp__subschema *mcp__compile_node(mcp__compiler *compiler, const mcp_json *json,
                                        const mcp__location *at, mcp__resource *resource,
                                        const char *uri)
{
    mcp__subschema *node = mcp__compile_alloc(compiler, 1, sizeof *node);
    bool accepts = true;
    bool is_fine = false;

    if (!node)
        return NULL;
    *node = (mcp__subschema){ .json = json, .resource = resource, .at = *at };
    if (compiler->subschemas_left == 0)
        compiler->status = mcp_error_set(compiler->err, MCP_E_LIMIT,
                                         "the schema has too many subschemas");
    else if (!mcp_json_is_object(json) && !mcp_json_bool(json, &accepts))
        mcp__compile_fault(compiler, node, NULL, "a schema is an object or a boolean");
    if (compiler->status != MCP_OK)
        return NULL;
    compiler->subschemas_left--;
    node->refuses = !accepts;
    if (mcp__map_put(&compiler->nodes, (const char *)&node->json, sizeof(const mcp_json *), node) !=
        MCP_OK)
        mcp__compile_no_memory(compiler);
    if (!compiler->schema->root)
        compiler->schema->root = node; /* the first is the root: faults name their place by it */
    is_fine = compiler->status == MCP_OK && identify(compiler, node, resource, uri) &&
              (!mcp_json_is_object(json) || compile_rules(compiler, node));
    return is_fine ? node : NULL;
}

/* ---- the schema ----------------------------------------------------------------------------- */

static bool compile_root(mcp__compiler *compiler, const mcp_json *json)
{
    const char *base = compiler->options->base_uri;
    char *uri = mcp_arena_strdup(compiler->arena, base ? base : "");

    if (!uri)
        return mcp__compile_no_memory(compiler);
    mcp__uri_split(uri);
    return compile_document(compiler, uri, json) && mcp__resolve_references(compiler);
}

/* The maps are needed while compiling only, so they are not the arena's. */
static mcp_status compile_into(mcp_schema *compiled, const mcp_json *json,
                               const mcp_schema_options *options, mcp_error *err)
{
    mcp__compiler compiler = {
        .schema = compiled,
        .arena = compiled->arena,
        .options = options,
        .err = err,
        .subschemas_left = options->subschemas_max ? options->subschemas_max : SUBSCHEMAS_MAX,
    };

    compile_root(&compiler, json);
    mcp__map_clear(&compiler.resources);
    mcp__map_clear(&compiler.anchors);
    mcp__map_clear(&compiler.nodes);
    mcp__map_clear(&compiler.patterns);
    return compiler.status;
}

mcp_status mcp_schema_compile(mcp_schema **out, const mcp_json *schema,
                              const mcp_schema_options *options, mcp_error *err)
{
    static const mcp_schema_options defaults = MCP_SCHEMA_OPTIONS_INIT;
    const mcp_schema_options *used = options ? options : &defaults;

    if (!schema)
        return mcp_error_set(err, MCP_E_SCHEMA, "there is no schema");
    mcp_schema *compiled = mcp_alloc_zeroed(1, sizeof *compiled);
    mcp_arena *arena = compiled ? mcp_arena_new(arena_max) : NULL;

    if (!arena) {
        free(compiled);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to compile a schema");
    }
    compiled->arena = arena;
    compiled->steps_max = used->steps_max ? used->steps_max : STEPS_MAX;
    mcp_status st = compile_into(compiled, schema, used, err);
    if (st == MCP_OK)
        *out = compiled;
    else
        mcp_schema_free(compiled);
    return st;
}

void mcp_schema_free(mcp_schema *schema)
{
    if (!schema)
        return;
    mcp__pattern_free_all(schema->patterns);
    mcp_arena_free(schema->arena);
    free(schema);
}
