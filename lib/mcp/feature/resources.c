/*
 * resources.c - resources/list, resources/templates/list and resources/read.
 *
 * "resources.json" says what clients see and in which order; the table of rows says who reads it.
 * Each must name what the other names, or the server does not start. Templates are tried in the
 * order of the table.
 *
 * A read looks for the exact URI, then for the first template that the URI is an expansion of, then
 * for the first that takes it with raw slashes (uri_template.c): clients that escape as they should
 * are never answered by the leniency for the others. The variables become the call's arguments.
 *
 * A reader that finds nothing returns MCP_E_RESOURCE; the code and `data.uri` that the protocol
 * wants are put around it here, so that a missing file and an unknown URI look alike. Contents are
 * never empty: a reader that writes none has failed.
 */
#include <ctype.h>
#include <string.h>

#include "mcp/core/version.h"
#include "mcp/feature/uri_template.h"
#include "mcp/features.h"
#include "mcp/files.h"

#define FILE_NAME "resources.json"

enum { SHOWN_MAX = 100 }; /* bytes of a URI that a message repeats */

typedef struct mcp__listed_resource {
    mcp__feature base;
    const mcp_resource *row; /* of its URI, the first in the table */
    const mcp_json *entry;
    const mcp__uri_template *template; /* NULL: an exact URI */
    struct mcp__listed_resource *next; /* of the templates, in the order of the table */
    bool is_bound;                     /* its row was seen */
} mcp__listed_resource;

/* One of the two lists of the file. */
struct group {
    const char *member; /* its name, in the file and in the answer */
    const char *key;    /* what names an entry of it */
    const mcp__list_member *members;
    bool is_template;
};

/* clang-format off */
static const mcp__list_member resource_members[] = {
    { "uri", MCP_JSON_STRING },         { "name", MCP_JSON_STRING },
    { "title", MCP_JSON_STRING },       { "description", MCP_JSON_STRING },
    { "mimeType", MCP_JSON_STRING },    { "size", MCP_JSON_INT },
    { "annotations", MCP_JSON_OBJECT }, { "icons", MCP_JSON_ARRAY },
    { "_meta", MCP_JSON_OBJECT },       { 0 }
};

static const mcp__list_member template_members[] = {
    { "uriTemplate", MCP_JSON_STRING },  { "name", MCP_JSON_STRING },
    { "title", MCP_JSON_STRING },        { "description", MCP_JSON_STRING },
    { "mimeType", MCP_JSON_STRING },     { "annotations", MCP_JSON_OBJECT },
    { "icons", MCP_JSON_ARRAY },         { "_meta", MCP_JSON_OBJECT },
    { 0 }
};

static const struct group groups[] = {
    /* member               key            members           is_template */
    { "resources",         "uri",         resource_members, false },
    { "resourceTemplates", "uriTemplate", template_members, true },
};
/* clang-format on */

/* ---- loading -------------------------------------------------------------------------------- */

static mcp_status fault(mcp_error *err, const char *uri, const char *why)
{
    return mcp_error_set(err, MCP_E_PARAMS, FILE_NAME ": '%.*s': %s", SHOWN_MAX, uri, why);
}

/* The file as an object; `*out` stays NULL when there is none and no row needs one. */
static mcp_status read_definitions(const mcp_json **out, mcp_arena *arena,
                                   const mcp_features *features, mcp_error *err)
{
    const mcp_file *file = mcp_files_find(features->files, FILE_NAME);
    const mcp_json *root = NULL;
    mcp_error inner = MCP_ERROR_INIT;
    mcp_status st;

    if (!file)
        return features->resources[0].uri
                   ? mcp_error_set(err, MCP_E_PARAMS, FILE_NAME ": missing, but rows need it")
                   : MCP_OK;
    st = mcp_json_read(&root, arena, file->bytes, file->length, &inner);
    if (st != MCP_OK)
        return mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_PARAMS, FILE_NAME ": %s",
                             inner.message);
    if (!mcp_json_is_object(root))
        return mcp_error_set(err, MCP_E_PARAMS, FILE_NAME ": not an object");
    for (size_t i = 0; i < mcp_json_count(root); i++) {
        const char *name = mcp_json_name(root, i, NULL);
        bool is_ours = strcmp(name, groups[0].member) == 0 || strcmp(name, groups[1].member) == 0;
        if (!is_ours || !mcp_json_is_array(mcp_json_item(root, i)))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 FILE_NAME ": '%.*s' is not one of its two arrays", SHOWN_MAX,
                                 name);
    }
    *out = root;
    return MCP_OK;
}

/* RFC 3986 section 3.1: a URI begins with its scheme. */
static bool has_scheme(const char *uri)
{
    size_t length = strspn(uri,
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

    return isalpha((unsigned char)uri[0]) && uri[length] == ':';
}

static mcp_status check_entry(const mcp_json *entry, const struct group *group, mcp_error *err)
{
    const char *key = mcp_json_get_string(entry, group->key);
    mcp_error inner = MCP_ERROR_INIT;
    int64_t size = 0;

    if (!key)
        return mcp_error_set(err, MCP_E_PARAMS, FILE_NAME ": an entry of '%s' without '%s'",
                             group->member, group->key);
    if (mcp__list_check_members(entry, group->members, &inner) != MCP_OK)
        return fault(err, key, inner.message);
    if (!mcp_json_get_string(entry, "name"))
        return fault(err, key, "has no 'name'");
    if (!has_scheme(key))
        return fault(err, key, "does not begin with a scheme");
    if (mcp__uri_is_template(key) != group->is_template)
        return fault(err, key, "is in the wrong one of the two arrays");
    if (mcp_json_int(mcp_json_get(entry, "size"), &size) && size < 0)
        return fault(err, key, "has a negative 'size'");
    return MCP_OK;
}

static const mcp_resource *find_row(const mcp_resource *rows, const char *uri)
{
    for (; rows->uri; rows++) {
        if (strcmp(rows->uri, uri) == 0)
            return rows;
    }
    return NULL;
}

static mcp__listed_resource *find(const mcp__features *set, const char *uri)
{
    return (mcp__listed_resource *)mcp__features_find(set, MCP_FEATURE_RESOURCE, uri, strlen(uri));
}

/* A member that core/version.c has no row for is kept: vendors have members of their own. */
static void write_entry(mcp_json_writer *writer, const mcp_json *entry, const char *type,
                        mcp_revision revision)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(entry); i++) {
        const char *name = mcp_json_name(entry, i, NULL);
        const mcp_json *value = mcp_json_item(entry, i);
        if (!mcp__field_is_known(type, name, revision))
            continue;
        mcp_write_name(writer, name);
        if (strcmp(name, "annotations") == 0 && mcp_json_is_object(value))
            write_entry(writer, value, "Annotations", revision);
        else
            mcp_write_value(writer, value);
    }
    mcp_write_end(writer);
}

/* Templates got title, _meta and icons in the same revisions as resources, so they share their
 * rows. */
static void render(mcp_json_writer *writer, const mcp__feature *feature, mcp_revision revision)
{
    write_entry(writer, ((const mcp__listed_resource *)feature)->entry, "Resource", revision);
}

static mcp_status check_row(const mcp_resource *row, const char *uri, mcp_error *err)
{
    if (!row)
        return fault(err, uri, "no row of the table reads it");
    if (!row->read)
        return fault(err, uri, "its row has no function");
    if (row->flags & (MCP_WRITES | MCP_LONG))
        return fault(err, uri, "is read, and soon: MCP_WRITES and MCP_LONG are for tools");
    return MCP_OK;
}

static mcp_status add_entry(mcp__features *set, const mcp_json *entry, const struct group *group,
                            const mcp_features *features, mcp_error *err)
{
    mcp__listed_resource *resource = mcp_arena_alloc(set->arena, sizeof *resource);
    const char *uri = mcp_json_get_string(entry, group->key);
    mcp_error inner = MCP_ERROR_INIT;
    mcp_status st = check_entry(entry, group, err);

    if (st == MCP_OK && !resource)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for resources");
    if (st != MCP_OK)
        return st;
    *resource = (mcp__listed_resource){ .base = { .name = uri, .data = features->data },
                                        .row = find_row(features->resources, uri),
                                        .entry = entry };
    st = check_row(resource->row, uri, err);
    if (st != MCP_OK)
        return st;
    resource->base.is_unlisted = (resource->row->flags & MCP_UNLISTED) != 0;
    const mcp__listed_resource *other = find(set, uri);
    if (other)
        return fault(err, uri, other->is_bound ? "was added before" : "duplicate entry");
    st = mcp__list_read_scopes(&resource->base.scopes, entry, &inner);
    if (st == MCP_OK && group->is_template)
        st = mcp__uri_template_compile(&resource->template, set->arena, uri, &inner);
    if (st == MCP_E_NOMEM)
        return mcp_error_set(err, st, "no memory for resources");
    if (st != MCP_OK)
        return fault(err, uri, inner.message);
    return mcp__list_add(group->is_template ? &set->templates : &set->resources, &resource->base,
                         render, err);
}

static mcp_status bind_row(mcp__features *set, const mcp_resource *row, mcp_error *err)
{
    mcp__listed_resource *resource = find(set, row->uri);

    if (!resource)
        return fault(err, row->uri, "has a row but no entry");
    if (resource->is_bound)
        return fault(err, row->uri, "has two rows in the table");
    resource->is_bound = true;
    if (resource->template) {
        *set->last_template = resource;
        set->last_template = &resource->next;
    }
    return MCP_OK;
}

mcp_status mcp__resources_load(mcp__features *set, const mcp_features *features, mcp_error *err)
{
    const mcp_json *root = NULL;
    mcp_status st = read_definitions(&root, set->arena, features, err);

    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        const mcp_json *entries = mcp_json_get(root, groups[i].member);
        for (size_t k = 0; k < mcp_json_count(entries) && st == MCP_OK; k++)
            st = add_entry(set, mcp_json_item(entries, k), &groups[i], features, err);
    }
    for (const mcp_resource *row = features->resources; st == MCP_OK && row->uri; row++)
        st = bind_row(set, row, err);
    return st;
}

/* ---- serving -------------------------------------------------------------------------------- */

/* The message names no path but the one that the client sent. */
static mcp_status not_found(mcp_call *call)
{
    mcp_write_member_string(mcp_call_error_data(call), "uri", call->request.name);
    if (call->err.status == MCP_E_RESOURCE && call->err.message[0])
        return MCP_E_RESOURCE;
    return mcp_error_set(&call->err, MCP_E_RESOURCE, "resource not found: %.*s", SHOWN_MAX,
                         call->request.name);
}

/* Runs on the worker, around the row's own function. */
static mcp_status read_contents(mcp_call *call, void *data)
{
    const mcp__listed_resource *resource = call->plan.feature;
    mcp_status st = resource->row->read(call, data);

    return st == MCP_E_RESOURCE ? not_found(call) : st;
}

static mcp_status write_contents(mcp_call *call, mcp_json_writer *writer)
{
    if (call->answer.content.text.length == 0)
        return mcp_error_set(&call->err, MCP_E_INTERNAL, "the reader of %.*s wrote no contents",
                             SHOWN_MAX, call->request.name);
    mcp_write_member_array(writer, "contents");
    mcp_write_raw(writer, call->answer.content.text.data, call->answer.content.text.length);
    mcp_write_end(writer);
    return mcp_json_writer_status(writer);
}

static const mcp__call_kind resource_kind = { .finish = write_contents };

static bool is_shown(const mcp__listed_resource *resource, const mcp_call *call)
{
    return mcp__list_shows(call, MCP_FEATURE_RESOURCE, resource->base.name, resource->base.scopes);
}

/* Whether the template is tried with raw slashes in a variable. */
static bool takes(const mcp__listed_resource *resource, mcp__uri_slashes slashes)
{
    return slashes == MCP__SLASHES_ENCODED || !(resource->row->flags & MCP_ENCODED_SLASHES);
}

/* The first visible template in the order of the table, else MCP_E_NOT_FOUND. */
static mcp_status find_template(mcp__listed_resource **out, mcp_call *call, size_t length,
                                mcp__uri_slashes slashes)
{
    for (mcp__listed_resource *r = call->features->first_template; r; r = r->next) {
        if (!is_shown(r, call) || !takes(r, slashes))
            continue;
        mcp_status st = mcp__uri_template_match(&call->request.arguments, r->template,
                                                call->request.name, length, slashes, call->arena,
                                                &call->err);
        if (st == MCP_OK)
            *out = r;
        if (st != MCP_E_NOT_FOUND)
            return st;
    }
    return MCP_E_NOT_FOUND;
}

static mcp_status find_resource(mcp__listed_resource **out, mcp_call *call, size_t length)
{
    mcp_status st;

    *out = (mcp__listed_resource *)mcp__list_find(&call->features->resources, call->request.name,
                                                  length);
    if (*out && is_shown(*out, call))
        return MCP_OK;
    st = find_template(out, call, length, MCP__SLASHES_ENCODED);
    if (st == MCP_E_NOT_FOUND)
        st = find_template(out, call, length, MCP__SLASHES_RAW);
    return st == MCP_E_NOT_FOUND ? not_found(call) : st;
}

mcp_status mcp__resources_read(mcp_call *call)
{
    mcp__listed_resource *resource = NULL;
    size_t length = 0;
    mcp_status st;

    call->request.name = mcp_json_string(mcp_json_get(call->request.params, "uri"), &length);
    if (!call->request.name || length == 0 || strlen(call->request.name) != length)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.uri must be a URI");
    st = find_resource(&resource, call, length);
    if (st != MCP_OK)
        return st;
    call->err = (mcp_error)MCP_ERROR_INIT; /* forget the templates that did not fit */
    if (resource->base.scopes)
        st = mcp_call_require_scopes(call, resource->base.scopes);
    if (st != MCP_OK)
        return st;
    call->plan.kind = &resource_kind;
    call->plan.feature = resource;
    call->answer.mime_type = mcp_json_get_string(resource->entry, "mimeType");
    call->plan.run = read_contents;
    call->plan.data = resource->base.data;
    call->plan.flags = resource->row->flags;
    call->plan.timeout_ms = resource->row->timeout_ms ? resource->row->timeout_ms
                                                      : call->context->options->limits.timeout_ms;
    return MCP_OK;
}

/* ---- for subscriptions and completions ------------------------------------------------------ */

/* Out of memory counts as a match. */
static bool fits(const mcp__listed_resource *resource, mcp_call *call, const char *uri)
{
    const mcp_json *variables = NULL;
    mcp_status st = MCP_E_NOT_FOUND;

    for (int slashes = MCP__SLASHES_ENCODED; slashes <= MCP__SLASHES_RAW; slashes++)
        if ((st == MCP_E_NOT_FOUND || st == MCP_E_PARAMS) &&
            takes(resource, (mcp__uri_slashes)slashes))
            st = mcp__uri_template_match(&variables, resource->template, uri, strlen(uri),
                                         (mcp__uri_slashes)slashes, call->arena, NULL);
    return st != MCP_E_NOT_FOUND && st != MCP_E_PARAMS;
}

bool mcp__resources_hides(const mcp__features *set, mcp_call *call, const char *uri)
{
    const mcp__feature *exact = mcp__list_find(&set->resources, uri, strlen(uri));
    bool is_there = exact != NULL;

    if (exact && is_shown((const mcp__listed_resource *)exact, call))
        return false;
    for (const mcp__listed_resource *r = set->first_template; r; r = r->next) {
        if (!fits(r, call, uri))
            continue;
        if (is_shown(r, call))
            return false;
        is_there = true;
    }
    return is_there;
}

bool mcp__resources_has(const mcp__features *set, const char *uri, const char *variable)
{
    const mcp__listed_resource *resource = find(set, uri);

    return resource && resource->template && mcp__uri_template_has(resource->template, variable);
}
