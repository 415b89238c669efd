/*
 * resources.c - resources/list, resources/templates/list and resources/read.
 *
 * "resources.json" says what clients see and in which order; the table of rows says who reads it.
 * Each must name what the other names, or the server does not start. Rows of exact URIs go into a
 * map, rows of templates into a list in the order of the table.
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
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/map.h"
#include "mcp/arena.h"
#include "mcp/feature/feature.h"
#include "mcp/feature/list/entry.h"
#include "mcp/feature/list/exposure.h"
#include "mcp/feature/uri_template.h"
#include "mcp/files.h"

#define FILE_NAME "resources.json"

enum { SHOWN_MAX = 100 }; /* bytes of a URI that a message repeats */

struct resource {
    const mcp_resource *row;
    void *data;
    const mcp_json *entry;
    const char *scopes;                /* that a token needs; NULL: none */
    const mcp__uri_template *template; /* NULL: an exact URI */
    struct resource *next;             /* of the templates */
};

struct mcp__resources {
    mcp_arena *arena; /* pays for this struct and all it holds but the lists */
    const mcp_server_options *options;
    mcp__list *list;
    mcp__list *templates;
    mcp__map exact; /* URI to struct resource */
    struct resource *first_template;
    struct resource **last_template;
};

/* One of the two lists of the file. */
struct group {
    const char *member; /* its name, in the file and in the answer */
    const char *key;    /* what names an entry of it */
    const mcp__member *members;
    bool is_template;
};

/* clang-format off */
static const mcp__member resource_members[] = {
    { "uri", MCP_JSON_STRING },         { "name", MCP_JSON_STRING },
    { "title", MCP_JSON_STRING },       { "description", MCP_JSON_STRING },
    { "mimeType", MCP_JSON_STRING },    { "size", MCP_JSON_INT },
    { "annotations", MCP_JSON_OBJECT }, { "icons", MCP_JSON_ARRAY },
    { "_meta", MCP_JSON_OBJECT },       { 0 }
};

static const mcp__member template_members[] = {
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

static const size_t group_count = sizeof groups / sizeof groups[0];

/* ---- making and ending ---------------------------------------------------------------------- */

mcp_status mcp__resources_new(mcp__resources **out, const mcp_server_options *options,
                              mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp__resources *resources = arena ? mcp_arena_alloc(arena, sizeof *resources) : NULL;
    mcp_status st;

    if (!resources) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for resources");
    }
    resources->arena = arena;
    resources->options = options;
    resources->last_template = &resources->first_template;
    mcp__map_init(&resources->exact, arena);
    st = mcp__list_new(&resources->list, groups[0].member, err);
    if (st == MCP_OK)
        st = mcp__list_new(&resources->templates, groups[1].member, err);
    if (st == MCP_OK)
        *out = resources;
    else
        mcp__resources_free(resources);
    return st;
}

void mcp__resources_free(mcp__resources *resources)
{
    if (!resources)
        return;
    mcp__list_free(resources->list);
    mcp__list_free(resources->templates);
    mcp_arena_free(resources->arena);
}

/* ---- loading -------------------------------------------------------------------------------- */

static mcp_status fault(mcp_error *err, const char *uri, const char *why)
{
    return mcp_error_set(err, MCP_E_PARAMS, FILE_NAME ": '%.*s': %s", SHOWN_MAX, uri, why);
}

/* The file as an object; `*out` stays NULL when there is none and no row needs one. */
static mcp_status read_definitions(const mcp_json **out, mcp__resources *resources,
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
    st = mcp_json_read(&root, resources->arena, file->bytes, file->length, &inner);
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
    if (mcp__entry_check(entry, group->members, &inner) != MCP_OK)
        return fault(err, key, inner.message);
    if (!mcp_json_get_string(entry, "name"))
        return fault(err, key, "has no 'name'");
    if (!has_scheme(key))
        return fault(err, key, "does not begin with a scheme");
    if (mcp__uri_is_template(key) != (group->is_template ? 1 : 0))
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

/* Templates got title, _meta and icons in the same revisions as resources, so they share their
 * rows. */
static void render(mcp_json_writer *writer, const void *entry, mcp_revision revision)
{
    mcp__entry_write(writer, entry, "Resource", revision);
}

static const struct resource *find_loaded(const mcp__resources *resources, const char *uri)
{
    for (const struct resource *r = resources->first_template; r; r = r->next) {
        if (strcmp(r->row->uri, uri) == 0)
            return r;
    }
    return mcp__map_get(&resources->exact, uri, strlen(uri));
}

/* Check the entries of a group and put them on their list, in the order of the file. */
static mcp_status list_group(mcp__resources *resources, const mcp_json *entries,
                             const struct group *group, const mcp_resource *rows, mcp_error *err)
{
    for (size_t i = 0; i < mcp_json_count(entries); i++) {
        const mcp_json *entry = mcp_json_item(entries, i);
        mcp_status st = check_entry(entry, group, err);
        const char *key = mcp_json_get_string(entry, group->key);
        if (st != MCP_OK)
            return st;
        for (size_t k = 0; k < i; k++) {
            const char *other = mcp_json_get_string(mcp_json_item(entries, k), group->key);
            if (strcmp(other, key) == 0)
                return fault(err, key, "duplicate entry");
        }
        if (!find_row(rows, key))
            return fault(err, key, "no row of the table reads it");
        if (find_loaded(resources, key))
            return fault(err, key, "was added before");
        const char *scopes = NULL;
        mcp_error inner = MCP_ERROR_INIT;
        if (mcp__exposure_scopes(&scopes, entry, &inner) != MCP_OK)
            return fault(err, key, inner.message);
        st = mcp__list_add(group->is_template ? resources->templates : resources->list, key, scopes,
                           render, entry, err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

static const mcp_json *find_entry(const mcp_json *root, const struct group *group, const char *uri)
{
    const mcp_json *entries = mcp_json_get(root, group->member);

    for (size_t i = 0; i < mcp_json_count(entries); i++) {
        const char *key = mcp_json_get_string(mcp_json_item(entries, i), group->key);
        if (key && strcmp(key, uri) == 0)
            return mcp_json_item(entries, i);
    }
    return NULL;
}

static mcp_status keep(mcp__resources *resources, struct resource *resource, mcp_error *err)
{
    const char *uri = resource->row->uri;
    mcp_error inner = MCP_ERROR_INIT;
    mcp_status st;

    if (find_loaded(resources, uri))
        return fault(err, uri, "has two rows in the table");
    if (!mcp__uri_is_template(uri)) {
        st = mcp__map_put(&resources->exact, uri, strlen(uri), resource);
        return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "no memory for resources");
    }
    st = mcp__uri_template_compile(&resource->template, resources->arena, uri, &inner);
    if (st == MCP_E_NOMEM)
        return mcp_error_set(err, st, "no memory for resources");
    if (st != MCP_OK)
        return fault(err, uri, inner.message);
    *resources->last_template = resource;
    resources->last_template = &resource->next;
    return MCP_OK;
}

static mcp_status bind_row(mcp__resources *resources, const mcp_resource *row, const mcp_json *root,
                           void *data, mcp_error *err)
{
    const struct group *group = &groups[mcp__uri_is_template(row->uri) ? 1 : 0];
    struct resource *resource = mcp_arena_alloc(resources->arena, sizeof *resource);

    if (!resource)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for resources");
    *resource = (struct resource){ .row = row,
                                   .data = data,
                                   .entry = find_entry(root, group, row->uri) };
    if (!resource->entry)
        return fault(err, row->uri, "has a row but no entry");
    /* The list has checked it. */
    (void)mcp__exposure_scopes(&resource->scopes, resource->entry, NULL);
    if (!row->read)
        return fault(err, row->uri, "its row has no function");
    if (row->flags & (MCP_WRITES | MCP_LONG))
        return fault(err, row->uri, "is read, and soon: MCP_WRITES and MCP_LONG are for tools");
    return keep(resources, resource, err);
}

mcp_status mcp__resources_load(mcp__resources *resources, const mcp_features *features,
                               mcp_error *err)
{
    const mcp_json *root = NULL;
    mcp_status st = read_definitions(&root, resources, features, err);

    for (size_t i = 0; i < group_count && st == MCP_OK; i++)
        st = list_group(resources, mcp_json_get(root, groups[i].member), &groups[i],
                        features->resources, err);
    for (const mcp_resource *row = features->resources; st == MCP_OK && row->uri; row++)
        st = bind_row(resources, row, root, features->data, err);
    return st;
}

/* ---- serving -------------------------------------------------------------------------------- */

mcp_status mcp__resources_list(mcp__resources *resources, mcp_call *call)
{
    return mcp__list_answer(resources->list, call);
}

mcp_status mcp__resources_templates(mcp__resources *resources, mcp_call *call)
{
    return mcp__list_answer(resources->templates, call);
}

/* The message names no path but the one that the client sent. */
static mcp_status not_found(mcp_call *call)
{
    mcp_write_member_string(mcp__call_error_data(call), "uri", call->request.name);
    if (call->err.status == MCP_E_RESOURCE && call->err.message[0])
        return MCP_E_RESOURCE;
    return mcp_error_set(&call->err, MCP_E_RESOURCE, "resource not found: %.*s", SHOWN_MAX,
                         call->request.name);
}

/* Runs on the worker, around the row's own function. */
static mcp_status read_contents(mcp_call *call, void *data)
{
    const struct resource *resource = call->plan.feature;
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

static bool is_shown(const struct resource *resource, const mcp_call *call)
{
    return mcp__exposure_shows(call, MCP_FEATURE_RESOURCE, resource->row->uri, resource->scopes);
}

/* Whether the template is tried with raw slashes in a variable. */
static bool takes(const struct resource *resource, mcp__uri_slashes slashes)
{
    return slashes == MCP__SLASHES_ENCODED || !(resource->row->flags & MCP_ENCODED_SLASHES);
}

/* The first visible template in the order of the table, else MCP_E_NOT_FOUND. */
static mcp_status find_template(struct resource **out, const mcp__resources *resources,
                                mcp_call *call, size_t length, mcp__uri_slashes slashes)
{
    for (struct resource *r = resources->first_template; r; r = r->next) {
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

static mcp_status find_resource(struct resource **out, const mcp__resources *resources,
                                mcp_call *call, size_t length)
{
    mcp_status st;

    *out = mcp__map_get(&resources->exact, call->request.name, length);
    if (*out && is_shown(*out, call))
        return MCP_OK;
    st = find_template(out, resources, call, length, MCP__SLASHES_ENCODED);
    if (st == MCP_E_NOT_FOUND)
        st = find_template(out, resources, call, length, MCP__SLASHES_RAW);
    return st == MCP_E_NOT_FOUND ? not_found(call) : st;
}

mcp_status mcp__resources_read(mcp__resources *resources, mcp_call *call)
{
    struct resource *resource = NULL;
    size_t length = 0;
    mcp_status st;

    call->request.name = mcp_json_string(mcp_json_get(call->request.params, "uri"), &length);
    if (!call->request.name || length == 0 || strlen(call->request.name) != length)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.uri must be a URI");
    st = find_resource(&resource, resources, call, length);
    if (st != MCP_OK)
        return st;
    call->err = (mcp_error)MCP_ERROR_INIT; /* forget the templates that did not fit */
    if (resource->scopes)
        st = mcp_call_require_scopes(call, resource->scopes);
    if (st != MCP_OK)
        return st;
    call->plan.kind = &resource_kind;
    call->plan.feature = resource;
    call->answer.mime_type = mcp_json_get_string(resource->entry, "mimeType");
    call->plan.run = read_contents;
    call->plan.data = resource->data;
    call->plan.flags = resource->row->flags;
    call->plan.timeout_ms = resource->row->timeout_ms ? resource->row->timeout_ms
                                                      : resources->options->limits.timeout_ms;
    return MCP_OK;
}

const char *mcp__resources_scopes_of(const mcp__resources *resources, const char *uri)
{
    const struct resource *resource = find_loaded(resources, uri);

    return resource ? resource->scopes : NULL;
}

void mcp__resources_scopes(const mcp__resources *resources, mcp_buf *out)
{
    mcp__list_scopes(resources->list, out);
    mcp__list_scopes(resources->templates, out);
}

/* ---- for subscriptions ---------------------------------------------------------------------- */

/* Out of memory counts as a match. */
static bool fits(const struct resource *resource, mcp_call *call, const char *uri)
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

bool mcp__resources_hides(const mcp__resources *resources, mcp_call *call, const char *uri)
{
    const struct resource *exact = mcp__map_get(&resources->exact, uri, strlen(uri));
    bool is_there = exact != NULL;

    if (exact && is_shown(exact, call))
        return false;
    for (const struct resource *r = resources->first_template; r; r = r->next) {
        if (!fits(r, call, uri))
            continue;
        if (is_shown(r, call))
            return false;
        is_there = true;
    }
    return is_there;
}

/* ---- for completions ------------------------------------------------------------------------ */

const char *mcp__resources_name(const mcp__resources *resources, const mcp_call *call,
                                const char *uri)
{
    const struct resource *resource = find_loaded(resources, uri);

    return resource && is_shown(resource, call) ? resource->row->uri : NULL;
}

bool mcp__resources_has(const mcp__resources *resources, const char *uri, const char *variable)
{
    const struct resource *resource = find_loaded(resources, uri);

    return resource && resource->template && mcp__uri_template_has(resource->template, variable);
}
