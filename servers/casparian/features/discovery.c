/*
 * discovery.c - casparian_plugins, casparian_files and casparian_sources: what there is.
 */
#include <stdlib.h>
#include <string.h>

#include "features/answer.h"
#include "features/tools.h"
#include "files/glob.h"
#include "jobs/state/rows.h"
#include "jobs/state/sources.h"

enum { PAGE = 1000, PAGES_MAX = 100, LIMIT = 100 };

/* ---- plugins --------------------------------------------------------------------------------- */

static void write_texts(mcp_json_writer *json, const char *name, const char *const *texts,
                        size_t count)
{
    mcp_write_member_array(json, name);
    for (size_t i = 0; i < count; i++)
        mcp_write_string(json, texts[i]);
    mcp_write_end(json);
}

static void write_plugin(mcp_json_writer *json, const casparian_plugin *plugin, bool is_latest)
{
    mcp_write_object(json);
    mcp_write_member_string(json, "id", plugin->id);
    mcp_write_member_string(json, "version", plugin->version);
    mcp_write_member_string(json, "runtime", casparian_runtime_text(plugin->runtime));
    write_texts(json, "outputs", plugin->outputs, plugin->output_count);
    write_texts(json, "topics", plugin->topics, plugin->topic_count);
    mcp_write_member_string(json, "source", casparian_origin_text(plugin->origin));
    mcp_write_member_bool(json, "trusted", plugin->is_trusted);
    casparian_write_text(json, "trust_reason", plugin->reason);
    if (plugin->origin == CASPARIAN_DEV)
        mcp_write_member_string(json, "path", plugin->entrypoint);
    mcp_write_member_bool(json, "latest", is_latest);
    if (plugin->import_warning_count > 0)
        write_texts(json, "import_warnings", plugin->import_warnings, plugin->import_warning_count);
    mcp_write_end(json);
}

static void write_faults(mcp_json_writer *json, const casparian_plugin_list *all)
{
    mcp_write_member_array(json, "errors");
    for (size_t i = 0; i < all->fault_count; i++) {
        mcp_write_object(json);
        mcp_write_member_string(json, "path", all->faults[i].path);
        mcp_write_member_string(json, "error", all->faults[i].message);
        mcp_write_end(json);
    }
    mcp_write_end(json);
}

mcp_status casparian_plugins_tool(casparian_request *request)
{
    casparian_plugin_list all;
    size_t written = 0;
    mcp_status st = casparian_registry_list(
        &all, mcp_call_arena(request->call), request->app->registry,
        mcp_arg_bool(request->call, "include_dev", false), mcp_call_error(request->call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_array(json, "plugins");
    for (; written < all.count && casparian_request_room(request) > 0; written++)
        write_plugin(json, &all.items[written],
                     written == 0 || strcmp(all.items[written - 1].id, all.items[written].id) != 0);
    mcp_write_end(json);
    write_faults(json, &all);
    casparian_write_truncation(json, all.count - written);
    request->rows = (int64_t)written;
    return MCP_OK;
}

/* ---- sources --------------------------------------------------------------------------------- */

static void write_source(mcp_json_writer *json, const casparian_source *source, bool is_accessible)
{
    mcp_write_object(json);
    mcp_write_member_int(json, "id", source->id);
    mcp_write_member_string(json, "name", source->name);
    mcp_write_member_string(json, "type", "local");
    mcp_write_member_string(json, "path", source->path);
    mcp_write_member_bool(json, "enabled", source->is_enabled);
    mcp_write_member_bool(json, "accessible", is_accessible);
    if (is_accessible) {
        mcp_write_member_int(json, "file_count", source->file_count);
        mcp_write_member_int(json, "total_size", source->total_size);
        mcp_write_member_int(json, "tagged_count", source->tagged_count);
    }
    casparian_write_time(json, "last_scan_at", source->last_scan_ms);
    mcp_write_member_array(json, "rules");
    for (size_t i = 0; i < source->rule_count; i++) {
        mcp_write_object(json);
        mcp_write_member_string(json, "pattern", source->rules[i].pattern);
        mcp_write_member_string(json, "tag", source->rules[i].tag);
        mcp_write_member_int(json, "priority", source->rules[i].priority);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    mcp_write_end(json);
}

mcp_status casparian_sources_tool(casparian_request *request)
{
    bool is_whole = mcp_arg_bool(request->call, "include_disabled", false);
    const casparian_source *all = NULL;
    size_t count = 0;
    mcp_status st = casparian_source_list(&all, &count, request->app->store,
                                          mcp_call_arena(request->call),
                                          mcp_call_error(request->call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_array(json, "sources");
    for (size_t i = 0; i < count && casparian_request_room(request) > 0; i++)
        if (is_whole || all[i].is_enabled)
            write_source(json, &all[i], guard_allows(request->app->roots, all[i].path));
    mcp_write_end(json);
    return MCP_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A listing on its way. */
typedef struct listing {
    casparian_request *request;
    casparian_registered_filter filter;
    casparian_glob *glob; /* NULL: all */
    int64_t limit, count, bytes, hidden, last;
    bool is_cut;
} listing;

/* "TAG", a tab, how it came, a newline; for each tag. */
static void write_tags(mcp_json_writer *json, const char *tags)
{
    mcp_write_member_array(json, "tags");
    for (const char *at = tags; *at; at = strchr(at, '\n') + 1)
        mcp_write_string_n(json, at, (size_t)(strchr(at, '\t') - at));
    mcp_write_end(json);
    mcp_write_member_object(json, "tag_sources");
    for (const char *at = tags; *at; at = strchr(at, '\n') + 1) {
        char name[CASPARIAN_TAG_MAX + 1] = "";
        const char *tab = strchr(at, '\t');
        memcpy(name, at, (size_t)(tab - at) < sizeof name ? (size_t)(tab - at) : sizeof name - 1);
        mcp_write_name(json, name);
        mcp_write_string_n(json, tab + 1, (size_t)(strchr(at, '\n') - tab - 1));
    }
    mcp_write_end(json);
}

static void write_file(mcp_json_writer *json, const casparian_registered *file)
{
    mcp_write_object(json);
    mcp_write_member_int(json, "file_id", file->id);
    mcp_write_member_string(json, "path", file->path);
    mcp_write_member_string(json, "rel_path", file->relative);
    casparian_write_text(json, "source", file->source);
    mcp_write_member_int(json, "size", file->size);
    casparian_write_time(json, "modified", file->mtime_s * 1000);
    write_tags(json, file->tags);
    mcp_write_member_string(json, "status", file->status);
    casparian_write_text(json, "last_error", file->last_error);
    casparian_write_text(json, "content_hash", file->hash);
    mcp_write_end(json);
}

/* One page of the table. @return false: the listing is full, or the table has no more */
static bool write_page(listing *self, const casparian_registered *files, size_t count)
{
    casparian_request *request = self->request;
    for (size_t i = 0; i < count; i++) {
        if (self->glob && !casparian_glob_matches(self->glob, files[i].relative)) {
            self->last = files[i].id;
            continue;
        }
        if (!guard_allows(request->app->roots, files[i].path)) {
            self->hidden++;
            self->last = files[i].id;
            continue;
        }
        if (self->count == self->limit || casparian_request_room(request) == 0) {
            self->is_cut = true;
            return false;
        }
        write_file(casparian_request_result(request), &files[i]);
        self->last = files[i].id;
        self->count++;
        self->bytes += files[i].size;
    }
    return count == PAGE;
}

static mcp_status list(listing *self)
{
    casparian_request *request = self->request;
    mcp_json_writer *json = casparian_request_result(request);
    bool has_more = true;
    mcp_status st = MCP_OK;
    mcp_write_member_array(json, "files");
    for (int page = 0; st == MCP_OK && has_more && page < PAGES_MAX; page++) {
        const casparian_registered *files = NULL;
        size_t count = 0;
        mcp_arena *arena = mcp_arena_new(0);
        if (!arena)
            return MCP_E_NOMEM;
        self->filter.after = self->last;
        self->filter.limit = PAGE;
        st = casparian_registered_list(&files, &count, request->app->store, arena, &self->filter,
                                       mcp_call_error(request->call));
        has_more = st == MCP_OK && write_page(self, files, count);
        mcp_arena_free(arena);
    }
    mcp_write_end(json);
    self->is_cut |= has_more;
    return st;
}

static mcp_status answer(listing *self)
{
    casparian_request *request = self->request;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_status st = list(self);
    mcp_write_member_int(json, "file_count", self->count);
    mcp_write_member_int(json, "total_size", self->bytes);
    mcp_write_member_int(json, "hidden_by_policy", self->hidden);
    mcp_write_member_bool(json, "truncated", self->is_cut);
    if (self->is_cut)
        mcp_write_member_string(
            json, "cursor",
            mcp_arena_printf(mcp_call_arena(request->call), "%lld", (long long)self->last));
    request->rows = self->count;
    return st;
}

/* The arguments; false: the call was refused. */
static bool read_filter(listing *self)
{
    casparian_request *request = self->request;
    const char *source = mcp_arg_string(request->call, "source");
    const char *cursor = mcp_arg_string(request->call, "cursor");
    mcp_error *err = mcp_call_error(request->call);
    casparian_source found;
    char *end = NULL;
    if (cursor) {
        self->last = strtoll(cursor, &end, 10);
        if (end == cursor || *end || self->last < 0) {
            casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL,
                             "/cursor: it is not one of this tool");
            return false;
        }
    }
    if (!source)
        return true;
    mcp_status st = casparian_source_find(&found, request->app->store,
                                          mcp_call_arena(request->call), source, err);
    if (st != MCP_OK)
        casparian_request_fail(request, st, err);
    self->filter.source = found.id;
    return st == MCP_OK;
}

mcp_status casparian_files_tool(casparian_request *request)
{
    const char *pattern = mcp_arg_string(request->call, "pattern");
    listing self = { .request = request,
                     .filter = { .tag = mcp_arg_string(request->call, "tag"),
                                 .status = mcp_arg_string(request->call, "status"),
                                 .untagged = mcp_arg_bool(request->call, "untagged", false) },
                     .limit = mcp_arg_int(request->call, "limit", LIMIT) };
    mcp_error cause = MCP_ERROR_INIT;
    if (!read_filter(&self))
        return MCP_OK;
    mcp_status st = pattern ? casparian_glob_new(&self.glob, pattern, &cause) : MCP_OK;
    if (st == MCP_E_PARAMS)
        return casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL, "/pattern: %s",
                                cause.message);
    if (st == MCP_OK)
        st = answer(&self);
    casparian_glob_free(self.glob);
    return st;
}
