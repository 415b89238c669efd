/*
 * reference.c - where `$ref` and `$dynamicRef` lead.
 *
 * A reference is resolved against the base URI of its resource. The part before the '#' names
 * a resource: one that is known, a document, a meta-schema, or in the end anything that some
 * document not yet looked at may hold. The fragment is a JSON Pointer from that resource's root
 * or an anchor. A pointer may lead into a keyword that we do not know; what is there is compiled
 * when it is asked for.
 */
#include <assert.h>
#include <string.h>

#include "schema/compile.h"

/* Compile what documents are left, so that the identifiers inside them become known. */
static mcp_status load_all_documents(mcp__compiler *compiler, mcp_error *err)
{
    const mcp__subschema *root = NULL;

    compiler->has_all_documents = true;
    for (size_t i = 0; i < compiler->options->document_count; i++) {
        const mcp_schema_document *document = &compiler->options->documents[i];
        const char *draft = mcp_json_get_string(document->schema, "$schema");
        unsigned vocabularies = 0;
        if (mcp__map_get(&compiler->resources, document->uri, strlen(document->uri)))
            continue;
        if (draft && mcp__dialect(&vocabularies, compiler, draft, NULL, NULL) == MCP_E_SCHEMA)
            continue; /* of another draft: nothing of this one can refer to it */
        mcp_status st = mcp__compile_document(&root, compiler, document->uri, document->schema,
                                              err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

static mcp_status find_resource(mcp__resource **out, mcp__compiler *compiler, const char *uri,
                                mcp_error *err)
{
    const mcp_json *json = NULL;
    const mcp__subschema *root = NULL;
    mcp_status st = MCP_OK;

    *out = mcp__map_get(&compiler->resources, uri, strlen(uri));
    if (*out)
        return MCP_OK;
    st = mcp__find_document(&json, compiler, uri, err);
    if (st == MCP_OK && json)
        st = mcp__compile_document(&root, compiler, uri, json, err);
    else if (st == MCP_OK && !compiler->has_all_documents)
        st = load_all_documents(compiler, err);
    if (st == MCP_OK)
        *out = mcp__map_get(&compiler->resources, uri, strlen(uri));
    return st;
}

static mcp__subschema *node_of(const mcp__compiler *compiler, const mcp_json *json)
{
    return json ? mcp__map_get(&compiler->nodes, (const char *)&json, sizeof(const mcp_json *))
                : NULL;
}

/* A pointer that leads to something not compiled yet: it belongs to the nearest subschema on its
 * way. `pointer` is changed for a while and restored. */
static mcp_status compile_at(const mcp__subschema **out, mcp__compiler *compiler,
                             const mcp__resource *resource, char *pointer, mcp_error *err)
{
    const mcp_json *target = mcp_json_pointer(resource->root->json, pointer);
    mcp__subschema *around = NULL;
    char *cut = pointer + strlen(pointer);

    while (!around && cut > pointer) {
        do
            cut--;
        while (*cut != '/');
        *cut = '\0';
        around = node_of(compiler, mcp_json_pointer(resource->root->json, pointer));
        *cut = '/';
    }
    assert(around); /* at the latest the root, to which the empty pointer leads */
    mcp__location at = { .parent = around, .keyword = mcp_arena_strdup(compiler->arena, cut + 1) };
    if (!at.keyword)
        return mcp__compile_no_memory(compiler, err);
    return mcp__compile_node(out, compiler, target, &at, around->resource, NULL, err);
}

static mcp_status find_pointer(const mcp__subschema **out, mcp__compiler *compiler,
                               const mcp__resource *resource, char *pointer, mcp_error *err)
{
    const mcp_json *target = mcp_json_pointer(resource->root->json, pointer);

    *out = node_of(compiler, target);
    if (*out || !target)
        return MCP_OK;
    return compile_at(out, compiler, resource, pointer, err);
}

static mcp_status find_anchor(const mcp__anchor **out, mcp__compiler *compiler,
                              const mcp__resource *resource, const char *name, mcp_error *err)
{
    const char *key = mcp_arena_printf(compiler->arena, "%s#%s", resource->uri, name);

    if (!key)
        return mcp__compile_no_memory(compiler, err);
    *out = mcp__map_get(&compiler->anchors, key, strlen(key));
    return MCP_OK;
}

/* The target of `uri` and `fragment`; NULL when they lead nowhere. */
static mcp_status find_target(const mcp__subschema **out, mcp__compiler *compiler, mcp__rule *rule,
                              const char *uri, char *fragment, mcp_error *err)
{
    mcp__resource *resource = NULL;
    const mcp__anchor *anchor = NULL;
    mcp_status st = find_resource(&resource, compiler, uri, err);

    *out = NULL;
    if (st != MCP_OK || !resource)
        return st;
    if (*fragment == '\0') {
        *out = resource->root;
        return MCP_OK;
    }
    if (*fragment == '/')
        return find_pointer(out, compiler, resource, fragment, err);
    st = find_anchor(&anchor, compiler, resource, fragment, err);
    if (st == MCP_OK && anchor) {
        *out = anchor->node;
        if (anchor->is_dynamic && strcmp(rule->keyword->name, "$dynamicRef") == 0)
            rule->as.anchor = anchor->name;
    }
    return st;
}

static mcp_status resolve_one(mcp__compiler *compiler, mcp__rule *rule, mcp_error *err)
{
    const char *keyword = rule->keyword->name;
    size_t length = 0;
    const char *text = mcp_json_string(rule->value, &length);
    const mcp__subschema *target = NULL;

    if (!text || strlen(text) != length)
        return mcp__compile_fault(compiler, rule->node, keyword, err, "must be a URI reference");
    char *uri = mcp__uri_resolve(compiler->arena, rule->node->resource->uri, text);
    rule->nodes = mcp_arena_array(compiler->arena, 1, sizeof(const mcp__subschema *));
    if (!uri || !rule->nodes)
        return mcp__compile_no_memory(compiler, err);
    char *fragment = mcp__uri_split(uri);
    if (!fragment)
        return mcp__compile_fault(compiler, rule->node, keyword, err, "%s is no URI reference",
                                  text);
    mcp_status st = find_target(&target, compiler, rule, uri, fragment, err);
    if (st != MCP_OK)
        return st;
    if (!target)
        return mcp__compile_fault(compiler, rule->node, keyword, err,
                                  "%s leads nowhere (nothing is fetched)", text);
    rule->nodes[0] = target;
    rule->node_count = 1;
    return MCP_OK;
}

mcp_status mcp__resolve_references(mcp__compiler *compiler, mcp_error *err)
{
    while (compiler->pending) {
        mcp__rule *rule = compiler->pending;
        compiler->pending = rule->next_pending;
        mcp_status st = resolve_one(compiler, rule, err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}
