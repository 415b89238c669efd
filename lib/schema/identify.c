/*
 * identify.c - what a subschema is called: `$id`, `$schema`, `$anchor`, `$dynamicAnchor`.
 *
 * An `$id` starts a resource of its own, with its own base URI, dialect and anchors. The root of a
 * document is a resource too, and answers to the document's URI as well as to its `$id`.
 */
#include <string.h>

#include "schema/compile.h"

/* The string under a keyword; NULL when absent. A NUL inside would end a comparison too early. */
static mcp_status text_of(const char **out, mcp__compiler *compiler, const mcp__subschema *node,
                          const char *keyword, mcp_error *err)
{
    const mcp_json *value = mcp_json_get(node->json, keyword);
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    if (value && (!text || strlen(text) != length))
        return mcp__compile_fault(compiler, node, keyword, err, "must be a string");
    *out = text;
    return MCP_OK;
}

static mcp_status enter_resource(mcp__compiler *compiler, const mcp__subschema *node,
                                 const char *uri, mcp_error *err)
{
    if (mcp__map_get(&compiler->resources, uri, strlen(uri)))
        return mcp__compile_fault(compiler, node, "$id", err, "%s is used twice", uri);
    if (mcp__map_put(&compiler->resources, uri, strlen(uri), node->resource) != MCP_OK)
        return mcp__compile_no_memory(compiler, err);
    return MCP_OK;
}

/* The URI that an `$id` gives; its fragment must be empty (Core 8.2.1). */
static mcp_status identifier(const char **out, mcp__compiler *compiler, const mcp__subschema *node,
                             const char *base, const char *id, mcp_error *err)
{
    char *uri = mcp__uri_resolve(compiler->arena, base, id);

    if (!uri)
        return mcp__compile_no_memory(compiler, err);
    const char *fragment = mcp__uri_split(uri);
    if (!fragment || *fragment)
        return mcp__compile_fault(compiler, node, "$id", err,
                                  "must not have a fragment: a name within the schema is $anchor");
    *out = uri;
    return MCP_OK;
}

static mcp_status dialect_of(mcp__resource *resource, mcp__compiler *compiler,
                             const mcp__subschema *node, mcp__resource *around, mcp_error *err)
{
    const char *dialect = NULL;
    mcp_status st = text_of(&dialect, compiler, node, "$schema", err);

    if (st != MCP_OK)
        return st;
    if (!dialect && around) {
        resource->vocabularies = around->vocabularies;
        return MCP_OK;
    }
    return mcp__dialect(&resource->vocabularies, compiler, dialect ? dialect : MCP__DRAFT_2020_12,
                        node->json, err);
}

static mcp_status begin_resource(mcp__compiler *compiler, mcp__subschema *node,
                                 mcp__resource *around, const char *uri, const char *id,
                                 mcp_error *err)
{
    mcp__resource *resource = mcp_arena_alloc(compiler->arena, sizeof *resource);
    const char *base = around ? around->uri : uri;

    if (!resource)
        return mcp__compile_no_memory(compiler, err);
    resource->uri = base;
    resource->root = node;
    node->resource = resource;
    mcp_status st = id ? identifier(&resource->uri, compiler, node, base, id, err) : MCP_OK;
    if (st == MCP_OK)
        st = dialect_of(resource, compiler, node, around, err);
    if (st == MCP_OK)
        st = enter_resource(compiler, node, resource->uri, err);
    if (st == MCP_OK && !around && strcmp(uri, resource->uri) != 0)
        st = enter_resource(compiler, node, uri, err);
    return st;
}

static bool is_anchor_name(const char *name)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char rest[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-.";

    return *name && strchr(first, *name) && name[strspn(name, rest)] == '\0';
}

static mcp_status enter_anchor(mcp__compiler *compiler, mcp__subschema *node, const char *keyword,
                               bool is_dynamic, mcp_error *err)
{
    const char *name = NULL;
    mcp_status st = text_of(&name, compiler, node, keyword, err);

    if (st != MCP_OK || !name)
        return st;
    if (!is_anchor_name(name))
        return mcp__compile_fault(compiler, node, keyword, err, "\"%s\" is no name for an anchor",
                                  name);
    mcp__resource *resource = node->resource;
    mcp__anchor *anchor = mcp_arena_alloc(compiler->arena, sizeof *anchor);
    const char *key = mcp_arena_printf(compiler->arena, "%s#%s", resource->uri, name);
    if (!anchor || !key)
        return mcp__compile_no_memory(compiler, err);
    const mcp__anchor *other = mcp__map_get(&compiler->anchors, key, strlen(key));
    if (other && (other->node != node || !is_dynamic))
        return mcp__compile_fault(compiler, node, keyword, err, "\"%s\" is used twice", name);
    *anchor = (mcp__anchor){ NULL, name, node, is_dynamic };
    if (mcp__map_put(&compiler->anchors, key, strlen(key), anchor) != MCP_OK)
        return mcp__compile_no_memory(compiler, err);
    if (is_dynamic) {
        anchor->next = resource->dynamic_anchors;
        resource->dynamic_anchors = anchor;
    }
    return MCP_OK;
}

mcp_status mcp__identify(mcp__compiler *compiler, mcp__subschema *node, mcp__resource *resource,
                         const char *uri, mcp_error *err)
{
    const char *id = NULL;
    mcp_status st = text_of(&id, compiler, node, "$id", err);

    node->resource = resource;
    if (st == MCP_OK && (id || !resource))
        st = begin_resource(compiler, node, resource, uri, id, err);
    if (st == MCP_OK)
        st = enter_anchor(compiler, node, "$anchor", false, err);
    if (st == MCP_OK)
        st = enter_anchor(compiler, node, "$dynamicAnchor", true, err);
    return st;
}
