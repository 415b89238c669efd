/*
 * compile.c - from JSON to a compiled schema: documents, nodes and rules.
 *
 * A subschema becomes a node, and each keyword of it that the dialect knows becomes a rule, in
 * the order of the keyword table. Where keywords hold subschemas, the row's compile function
 * comes back here for them, so a document is walked from the top and nothing in an unknown
 * keyword is looked at. JSON nests at most MCP_JSON_DEPTH_MAX deep, and so does this recursion.
 *
 * Documents are loaded when a reference asks for them, so a large table of documents costs
 * nothing.
 */
#include "schema/compile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena_int.h"

enum { SUBSCHEMAS_MAX = 10000, STEPS_MAX = 1000000, KEYWORDS_MAX = 64, PLACE_MAX = 4096 };

static const size_t arena_max = (size_t)256 << 20;

/* ---- places and faults ---------------------------------------------------------------------- */

mcp_status mcp__pointer_token(mcp_buf *out, const char *name, size_t length)
{
    mcp_buf_putc(out, '/');
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '~')
            mcp_buf_puts(out, "~0");
        else if (name[i] == '/')
            mcp_buf_puts(out, "~1");
        else
            mcp_buf_putc(out, name[i]);
    }
    return out->status;
}

mcp_status mcp__node_pointer(mcp_buf *out, const mcp__subschema *node)
{
    const mcp__location *at = &node->at;

    if (!at->parent)
        return out->status;
    mcp__node_pointer(out, at->parent);
    mcp_buf_printf(out, "/%s", at->keyword);
    if (at->name)
        mcp__pointer_token(out, at->name, at->name_length);
    else if (at->has_index)
        mcp_buf_printf(out, "/%zu", at->index);
    return out->status;
}

static const mcp__subschema *root_of(const mcp__subschema *node)
{
    while (node->at.parent)
        node = node->at.parent;
    return node;
}

mcp_status mcp__compile_fault(const mcp__compiler *compiler, const mcp__subschema *node,
                              const char *keyword, mcp_error *err, const char *format, ...)
{
    const mcp__subschema *root = root_of(node);
    char words[200];
    mcp_buf place;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    mcp_buf_init(&place, PLACE_MAX);
    if (root != compiler->schema->root && root->resource && compiler->schema->root)
        mcp_buf_printf(&place, "%s#", root->resource->uri);
    mcp__node_pointer(&place, node);
    if (keyword)
        mcp_buf_printf(&place, "/%s", keyword);
    mcp_status st = mcp_error_set(err, MCP_E_SCHEMA, "%s: %s",
                                  place.length ? place.data : "the schema", words);
    mcp_buf_clear(&place);
    return st;
}

mcp_status mcp__compile_no_memory(const mcp__compiler *compiler, mcp_error *err)
{
    if (mcp__arena_failure(compiler->arena) == MCP_E_LIMIT)
        return mcp_error_set(err, MCP_E_LIMIT, "the schema is too large to compile");
    return mcp_error_set(err, MCP_E_NOMEM, "no memory to compile a schema");
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static mcp_status collect_rules(mcp__compiler *compiler, mcp__subschema *node, mcp_error *err)
{
    const mcp_json *values[KEYWORDS_MAX] = { 0 };
    size_t count = 0;

    for (size_t i = 0; mcp__keywords[i].name; i++) {
        if (mcp__keywords[i].vocabulary & node->resource->vocabularies)
            values[i] = mcp_json_get(node->json, mcp__keywords[i].name);
        count += values[i] ? 1 : 0;
    }
    node->rules = mcp_arena_array(compiler->arena, count, sizeof *node->rules);
    if (!node->rules)
        return mcp__compile_no_memory(compiler, err);
    for (size_t i = 0; mcp__keywords[i].name; i++) {
        mcp__rule rule = { .keyword = &mcp__keywords[i], .node = node, .value = values[i] };
        if (values[i])
            node->rules[node->rule_count++] = rule;
    }
    return MCP_OK;
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

static mcp_status compile_rules(mcp__compiler *compiler, mcp__subschema *node, mcp_error *err)
{
    mcp_status st = collect_rules(compiler, node, err);

    for (size_t i = 0; st == MCP_OK && i < node->rule_count; i++) {
        mcp__rule *rule = &node->rules[i];
        st = rule->keyword->compile(compiler, rule, err);
        node->tracks = node->tracks || rule->keyword->vocabulary == MCP__UNEVALUATED;
    }
    link_siblings(node);
    return st;
}

mcp_status mcp__compile_node(const mcp__subschema **out, mcp__compiler *compiler,
                             const mcp_json *json, const mcp__location *at, mcp__resource *resource,
                             const char *uri, mcp_error *err)
{
    mcp__subschema *node = mcp_arena_alloc(compiler->arena, sizeof *node);
    bool accepts = true;

    if (!node)
        return mcp__compile_no_memory(compiler, err);
    *node = (mcp__subschema){ .json = json, .resource = resource, .at = *at };
    if (compiler->subschemas_left == 0)
        return mcp_error_set(err, MCP_E_LIMIT, "the schema has too many subschemas");
    compiler->subschemas_left--;
    if (!mcp_json_is_object(json) && !mcp_json_bool(json, &accepts))
        return mcp__compile_fault(compiler, node, NULL, err, "a schema is an object or a boolean");
    node->refuses = !accepts;
    if (mcp__map_put(&compiler->nodes, (const char *)&node->json, sizeof(const mcp_json *), node) !=
        MCP_OK)
        return mcp__compile_no_memory(compiler, err);
    if (!compiler->schema->root)
        compiler->schema->root = node; /* the first is the root: faults name their place by it */
    mcp_status st = mcp__identify(compiler, node, resource, uri, err);
    if (st == MCP_OK && mcp_json_is_object(json))
        st = compile_rules(compiler, node, err);
    if (st == MCP_OK)
        *out = node;
    return st;
}

/* ---- documents ------------------------------------------------------------------------------ */

mcp_status mcp__compile_document(const mcp__subschema **out, mcp__compiler *compiler,
                                 const char *uri, const mcp_json *json, mcp_error *err)
{
    static const mcp__location root = { 0 };
    mcp__subschema *known = mcp__map_get(&compiler->nodes, (const char *)&json,
                                         sizeof(const mcp_json *));

    if (!known)
        return mcp__compile_node(out, compiler, json, &root, NULL, uri, err);
    if (mcp__map_put(&compiler->resources, uri, strlen(uri), known->resource) != MCP_OK)
        return mcp__compile_no_memory(compiler, err);
    *out = known; /* one value under two URIs is one resource */
    return MCP_OK;
}

mcp_status mcp__find_document(const mcp_json **out, mcp__compiler *compiler, const char *uri,
                              mcp_error *err)
{
    const char *text = mcp__meta_schema(uri);

    *out = NULL;
    for (size_t i = 0; i < compiler->options->document_count; i++) {
        const mcp_schema_document *document = &compiler->options->documents[i];
        if (strcmp(document->uri, uri) == 0) {
            *out = document->schema;
            return MCP_OK;
        }
    }
    return text ? mcp_json_read(out, compiler->arena, text, strlen(text), err) : MCP_OK;
}

/* ---- the schema ----------------------------------------------------------------------------- */

static mcp_status compile_root(mcp__compiler *compiler, const mcp_json *json, mcp_error *err)
{
    const mcp__subschema *root = NULL;
    const char *base = compiler->options->base_uri;
    char *uri = mcp_arena_strdup(compiler->arena, base ? base : "");

    if (!uri)
        return mcp__compile_no_memory(compiler, err);
    mcp__uri_split(uri);
    mcp_status st = mcp__compile_document(&root, compiler, uri, json, err);
    if (st == MCP_OK)
        st = mcp__resolve_references(compiler, err);
    return st;
}

/* The maps are needed while compiling only, so they are not the arena's. */
static mcp_status compile_into(mcp_schema *compiled, const mcp_json *json,
                               const mcp_schema_options *options, mcp_error *err)
{
    mcp__compiler compiler = { .schema = compiled, .arena = compiled->arena, .options = options };

    compiler.subschemas_left = options->subschemas_max ? options->subschemas_max : SUBSCHEMAS_MAX;
    mcp__map_init(&compiler.resources, NULL);
    mcp__map_init(&compiler.anchors, NULL);
    mcp__map_init(&compiler.nodes, NULL);
    mcp_status st = compile_root(&compiler, json, err);
    mcp__map_clear(&compiler.resources);
    mcp__map_clear(&compiler.anchors);
    mcp__map_clear(&compiler.nodes);
    return st;
}

mcp_status mcp_schema_compile(mcp_schema **out, const mcp_json *schema,
                              const mcp_schema_options *options, mcp_error *err)
{
    static const mcp_schema_options defaults = MCP_SCHEMA_OPTIONS_INIT;
    const mcp_schema_options *used = options ? options : &defaults;
    mcp_status st = MCP_E_NOMEM;

    if (!schema)
        return mcp_error_set(err, MCP_E_SCHEMA, "there is no schema");
    mcp_schema *compiled = mcp_alloc_zeroed(1, sizeof *compiled);

    if (compiled)
        compiled->arena = mcp_arena_new(arena_max);
    if (compiled && compiled->arena) {
        compiled->steps_max = used->steps_max ? used->steps_max : STEPS_MAX;
        st = compile_into(compiled, schema, used, err);
    } else {
        mcp_error_set(err, st, "no memory to compile a schema");
    }
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
