/*
 * arguments.c - the arguments of a call: no duplicates, and headers of HTTP that repeat them.
 *
 * A duplicate member is refused at any depth: a proxy that checks the first and a handler that uses
 * the last would see two different calls.
 *
 * From 2026-07-28 an input schema may mark a property by "x-mcp-header": "Region". A client then
 * sends the argument a second time as Mcp-Param-Region, so that a proxy can route the call without
 * reading its body. A call whose header and body differ is refused.
 *
 * Clients drop a tool whose marks break the rules, so the marks are checked when the tool is added:
 * the name is a token (RFC 9110, 5.6.2) and unique, whatever its case; the property is a string, an
 * integer or a boolean; and only `properties` lead to it from the root: below another keyword only
 * a validator knows whether it applies.
 */
#include "mcp/feature/arguments.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "net/http.h"

#define MARK "x-mcp-header"

enum { SHOWN_MAX = 80 }; /* bytes of a name that a message repeats */

/* Nesting is bounded by the reader of JSON. */
const char *mcp__arguments_duplicate(const mcp_json *value)
{
    const char *name = mcp_json_duplicate(value);
    bool has_members = mcp_json_is_object(value) || mcp_json_is_array(value);

    for (size_t i = 0; !name && has_members && i < mcp_json_count(value); i++)
        name = mcp__arguments_duplicate(mcp_json_item(value, i));
    return name;
}

mcp_status mcp__arguments_read(mcp_call *call)
{
    const mcp_json *arguments = mcp_json_get(call->request.params, "arguments");

    if (!arguments)
        return MCP_OK;
    if (!mcp_json_is_object(arguments))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.arguments must be an object");
    call->request.arguments = arguments;
    return MCP_OK;
}

mcp_status mcp__arguments_check(mcp_call *call)
{
    const char *duplicate = mcp__arguments_duplicate(call->request.arguments);

    if (!duplicate)
        return MCP_OK;
    return mcp_error_set(&call->err, MCP_E_PARAMS, "duplicate member '%.*s' in params.arguments",
                         SHOWN_MAX, duplicate);
}

/* ---- headers that repeat arguments ---------------------------------------------------------- */

struct mcp__param_header {
    const mcp__param_header *next;
    const char *header;  /* without "Mcp-Param-" */
    const char *pointer; /* leads from the arguments to this one */
};

/* What is gathered, and from what. */
struct header_search {
    mcp_arena *arena;
    mcp__param_header *first;
    mcp_error *err;
};

/* Keywords that hold a schema, and that hold a list or a map of them; none of these schemas is at a
 * fixed place in the arguments. */
static const char *const of_one[] = { "additionalProperties",
                                      "contains",
                                      "else",
                                      "if",
                                      "items",
                                      "not",
                                      "propertyNames",
                                      "then",
                                      "unevaluatedItems",
                                      "unevaluatedProperties" };
static const char *const of_many[] = {
    "$defs",      "allOf", "anyOf", "definitions", "dependentSchemas", "oneOf", "patternProperties",
    "prefixItems"
};

static bool is_simple(const mcp_json *schema)
{
    const char *type = mcp_json_get_string(schema, "type");

    return type && (strcmp(type, "string") == 0 || strcmp(type, "integer") == 0 ||
                    strcmp(type, "boolean") == 0);
}

static bool is_taken(const struct header_search *search, const char *header)
{
    for (const mcp__param_header *mirror = search->first; mirror; mirror = mirror->next)
        if (strcasecmp(mirror->header, header) == 0)
            return true;
    return false;
}

/* The pointer to a property of what `parent` leads to (RFC 6901, section 3). */
static const char *extend(mcp_arena *arena, const char *parent, const char *name, size_t length)
{
    size_t start = strlen(parent);
    char *pointer = mcp_arena_alloc(arena, start + 2 * length + 2);

    if (!pointer)
        return NULL;
    memcpy(pointer, parent, start);
    pointer[start++] = '/';
    for (size_t i = 0; i < length; i++) {
        bool is_special = name[i] == '~' || name[i] == '/';
        pointer[start++] = is_special ? '~' : name[i];
        if (is_special)
            pointer[start++] = name[i] == '~' ? '0' : '1';
    }
    pointer[start] = '\0';
    return pointer;
}

/* The schema of a property: remember its mark, where it has one. */
static mcp_status note(struct header_search *search, const mcp_json *schema, const char *pointer)
{
    const mcp_json *mark = mcp_json_get(schema, MARK);
    size_t length = 0;
    const char *header = mcp_json_string(mark, &length);
    mcp__param_header *mirror;

    if (!mark)
        return MCP_OK;
    if (!pointer || pointer[0] == '\0')
        return mcp_error_set(search->err, MCP_E_PARAMS,
                             MARK " is where not only `properties` lead to");
    if (!header || !mcp__http_is_token(header, length))
        return mcp_error_set(search->err, MCP_E_PARAMS, MARK " at %s is no name of a header",
                             pointer);
    if (!is_simple(schema))
        return mcp_error_set(search->err, MCP_E_PARAMS,
                             MARK " at %s: not a string, an integer or a boolean", pointer);
    if (is_taken(search, header))
        return mcp_error_set(search->err, MCP_E_PARAMS, MARK " \"%s\" occurs twice", header);
    mirror = mcp_arena_alloc(search->arena, sizeof *mirror);
    if (!mirror)
        return mcp_error_set(search->err, MCP_E_NOMEM, "no memory for a tool's headers");
    *mirror = (mcp__param_header){ .next = search->first, .header = header, .pointer = pointer };
    search->first = mirror;
    return MCP_OK;
}

static mcp_status look(struct header_search *search, const mcp_json *schema, const char *pointer);

/* What is below `properties`. `parent` NULL: not at a fixed place. */
static mcp_status look_at_properties(struct header_search *search, const mcp_json *properties,
                                     const char *parent)
{
    mcp_status st = MCP_OK;

    if (!mcp_json_is_object(properties))
        return MCP_OK;
    for (size_t i = 0; i < mcp_json_count(properties) && st == MCP_OK; i++) {
        size_t length = 0;
        const char *name = mcp_json_name(properties, i, &length);
        const char *pointer = NULL;
        if (parent && strlen(name) == length) {
            pointer = extend(search->arena, parent, name, length);
            if (!pointer)
                return mcp_error_set(search->err, MCP_E_NOMEM, "no memory for a tool's headers");
        }
        st = look(search, mcp_json_item(properties, i), pointer);
    }
    return st;
}

/* Marks that only another keyword leads to are out of place. */
static mcp_status look_below(struct header_search *search, const mcp_json *schema)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < sizeof of_one / sizeof of_one[0] && st == MCP_OK; i++)
        st = look(search, mcp_json_get(schema, of_one[i]), NULL);
    for (size_t i = 0; i < sizeof of_many / sizeof of_many[0]; i++) {
        const mcp_json *schemas = mcp_json_get(schema, of_many[i]);
        for (size_t k = 0; k < mcp_json_count(schemas) && st == MCP_OK; k++)
            st = look(search, mcp_json_item(schemas, k), NULL);
    }
    return st;
}

static mcp_status look(struct header_search *search, const mcp_json *schema, const char *pointer)
{
    mcp_status st;

    if (!mcp_json_is_object(schema))
        return MCP_OK;
    st = note(search, schema, pointer);
    if (st == MCP_OK)
        st = look_at_properties(search, mcp_json_get(schema, "properties"), pointer);
    return st == MCP_OK ? look_below(search, schema) : st;
}

mcp_status mcp__param_headers_read(const mcp__param_header **out, mcp_arena *arena,
                                   const mcp_json *schema, mcp_error *err)
{
    struct header_search search = { .arena = arena, .err = err };
    mcp_status st = look(&search, schema, "");

    if (st == MCP_OK)
        *out = search.first;
    return st;
}

mcp_status mcp__param_headers_check(const mcp__param_header *mirrors, const mcp__headers *headers,
                                    const mcp_json *arguments, mcp_arena *arena, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (; mirrors && st == MCP_OK; mirrors = mirrors->next)
        st = mcp__headers_check_parameter(
            headers, mirrors->header, mcp_json_pointer(arguments, mirrors->pointer), arena, err);
    return st;
}
