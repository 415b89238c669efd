/*
 * reference.c - where `$ref` and `$dynamicRef` lead, and the URI references in them.
 *
 * A reference is resolved against the base URI of its resource. The part before the '#' names
 * a resource: one that is known, a document, a meta-schema, or in the end anything that some
 * document not yet looked at may hold. The fragment is a JSON Pointer from that resource's root
 * or an anchor. A pointer may lead into a keyword that we do not know; what is there is compiled
 * when it is asked for.
 *
 * A URI reference is split into its five parts by the delimiters alone (RFC 3986, appendix B):
 * whether the characters are legal is no matter here. Nothing is normalised but dot segments, so
 * two URIs are the same when their bytes are. A URN has no authority and no hierarchy, and needs
 * none: all that is ever resolved against it is a fragment.
 */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "schema/compile.h"

/* ---- URIs ----------------------------------------------------------------------------------- */

typedef struct span {
    const char *start; /* NULL: the part is absent, which is not the same as empty */
    size_t length;
} span;

typedef struct parts {
    span scheme;
    span authority;
    span path; /* never absent */
    span query;
    span fragment;
} parts;

static span take(const char **cursor, const char *stops)
{
    span part = { *cursor, strcspn(*cursor, stops) };

    *cursor += part.length;
    return part;
}

/* A scheme is a letter and what may follow one, up to a colon that comes before any '/', '?' or
 * '#'. */
static bool is_scheme(span text)
{
    static const char more[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.";

    return text.length > 0 && isalpha((unsigned char)text.start[0]) &&
           strspn(text.start, more) >= text.length;
}

static parts split(const char *uri)
{
    parts out = { 0 };
    const char *cursor = uri;
    span first = take(&cursor, ":/?#");

    if (*cursor == ':' && is_scheme(first)) {
        out.scheme = first;
        cursor++;
    } else {
        cursor = uri;
    }
    if (cursor[0] == '/' && cursor[1] == '/') {
        cursor += 2;
        out.authority = take(&cursor, "/?#");
    }
    out.path = take(&cursor, "?#");
    if (*cursor == '?') {
        cursor++;
        out.query = take(&cursor, "#");
    }
    if (*cursor == '#')
        out.fragment = (span){ cursor + 1, strlen(cursor + 1) };
    return out;
}

/* Remove the dot segments of a path in place (section 5.2.4). @return its new end */
static char *remove_dots(char *path, const char *end)
{
    char *out = path;

    for (const char *at = path; at < end;) {
        const char *begin = at;
        size_t slash = *at == '/' ? 1 : 0;
        for (at += slash; at < end && *at != '/';)
            at++;
        size_t size = (size_t)(at - begin);
        bool is_dot = size == slash + 1 && at[-1] == '.';
        bool is_dots = size == slash + 2 && at[-1] == '.' && at[-2] == '.';
        while (is_dots && out > path && *--out != '/')
            continue;
        if (!is_dot && !is_dots) {
            memmove(out, begin, size);
            out += size;
        } else if (slash == 0) {
            at += at < end ? 1 : 0; /* "./x" and "../x" with no base: just x */
        } else if (at == end) {
            *out++ = '/';
        }
    }
    return out;
}

static char *put(char *at, const char *before, span part, const char *after)
{
    if (!part.start)
        return at;
    at = stpcpy(at, before);
    memcpy(at, part.start, part.length);
    return stpcpy(at + part.length, after);
}

/* Sections 5.2.2, 5.2.3 and 5.3. */
char *mcp__uri_resolve(mcp_arena *arena, const char *base, const char *reference)
{
    char *out = mcp_arena_alloc(arena, strlen(base) + strlen(reference) + sizeof "://?#/");
    parts from = split(base);
    parts to = split(reference);
    bool is_relative = !to.scheme.start && !to.authority.start;
    bool has_path = !is_relative || to.path.length > 0;

    if (!out)
        return NULL;
    char *end = put(out, "", to.scheme.start ? to.scheme : from.scheme, ":");
    end = put(end, "//", is_relative ? from.authority : to.authority, "");
    char *path = end;
    if (is_relative && (!has_path || to.path.start[0] != '/')) {
        while (has_path && from.path.length > 0 && from.path.start[from.path.length - 1] != '/')
            from.path.length--; /* the reference takes the place of the last segment */
        end = put(end, "", from.path, "");
        if (has_path && end == path && from.authority.start)
            *end++ = '/';
    }
    end = put(end, "", to.path, "");
    end = has_path ? remove_dots(path, end) : end;
    end = put(end, "?", has_path || to.query.start ? to.query : from.query, "");
    *put(end, "#", to.fragment, "") = '\0';
    return out;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *mcp__uri_split(char *uri)
{
    char *hash = strchr(uri, '#');

    if (!hash)
        return uri + strlen(uri);
    *hash = '\0';
    char *to = hash + 1;
    for (const char *from = to; *from; from++) {
        char c = *from;
        if (c == '%') {
            int high = hex_digit(from[1]);
            int low = high < 0 ? -1 : hex_digit(from[2]);
            if (low < 0 || high + low == 0)
                return NULL;
            c = (char)(high * 16 + low);
            from += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    return hash + 1;
}

/* ---- targets -------------------------------------------------------------------------------- */

static const mcp__subschema *node_of(const mcp__compiler *compiler, const mcp_json *json)
{
    return json ? mcp__map_get(&compiler->nodes, (const char *)&json, sizeof(const mcp_json *))
                : NULL;
}

/* A pointer may lead to something not compiled yet: it belongs to the nearest subschema on its
 * way. `pointer` is changed for a while and restored. */
static const mcp__subschema *find_pointer(mcp__compiler *compiler, const mcp__resource *resource,
                                          char *pointer)
{
    const mcp_json *target = mcp_json_pointer(resource->root->json, pointer);
    const mcp__subschema *known = node_of(compiler, target);
    const mcp__subschema *around = NULL;
    char *cut = pointer + strlen(pointer);

    if (known || !target)
        return known;
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
        mcp__compile_no_memory(compiler);
    return at.keyword ? mcp__compile_node(compiler, target, &at, around->resource, NULL) : NULL;
}

static const mcp__subschema *find_anchor(mcp__compiler *compiler, const mcp__resource *resource,
                                         const char *name, mcp__rule *rule)
{
    const char *key = mcp_arena_printf(compiler->arena, "%s#%s", resource->uri, name);
    const mcp__anchor *anchor = key ? mcp__map_get(&compiler->anchors, key, strlen(key)) : NULL;

    if (!key)
        mcp__compile_no_memory(compiler);
    if (anchor && anchor->is_dynamic && strcmp(rule->keyword->name, "$dynamicRef") == 0)
        rule->as.anchor = anchor->name;
    return anchor ? anchor->node : NULL;
}

static bool resolve_one(mcp__compiler *compiler, mcp__rule *rule)
{
    size_t length = 0;
    const char *text = mcp_json_string(rule->value, &length);
    const char *keyword = rule->keyword->name;

    if (!text || strlen(text) != length)
        return mcp__compile_fault(compiler, rule->node, keyword, "must be a URI reference");
    char *uri = mcp__uri_resolve(compiler->arena, rule->node->resource->uri, text);
    rule->nodes = mcp__compile_alloc(compiler, 1, sizeof(const mcp__subschema *));
    if (!uri || !rule->nodes)
        return mcp__compile_no_memory(compiler);
    char *fragment = mcp__uri_split(uri);
    if (!fragment)
        return mcp__compile_fault(compiler, rule->node, keyword, "%s is no URI reference", text);
    const mcp__resource *resource = mcp__find_resource(compiler, uri);
    if (resource && *fragment == '/')
        rule->nodes[0] = find_pointer(compiler, resource, fragment);
    else if (resource && *fragment)
        rule->nodes[0] = find_anchor(compiler, resource, fragment, rule);
    else if (resource)
        rule->nodes[0] = resource->root;
    if (!rule->nodes[0] && compiler->status == MCP_OK)
        mcp__compile_fault(compiler, rule->node, keyword, "%s leads nowhere (nothing is fetched)",
                           text);
    rule->node_count = 1;
    return compiler->status == MCP_OK;
}

bool mcp__resolve_references(mcp__compiler *compiler)
{
    while (compiler->pending) {
        mcp__rule *rule = compiler->pending;
        compiler->pending = rule->next_pending;
        if (!resolve_one(compiler, rule))
            return false;
    }
    return true;
}
