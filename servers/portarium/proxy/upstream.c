/*
 * upstream.c - connections to upstreams, and their tools as features of the proxy's server.
 *
 * The features of each listing live until the upstream ends, since the server may still use them
 * for running calls. A list that is the same as before makes no new features; LISTS_MAX and
 * LISTS_MAX_BYTES bound the others.
 */
#include "proxy/upstream.h"

#include <stdlib.h>
#include <string.h>

#include "executors/host.h"
#include "fetch/url.h"

enum { LIST_ARENA = 64 << 20, LISTS_MAX = 1000, DEFINITION_MAX = 1 << 20, LIST_MS = 30000 };
enum { NAME_MAX_BYTES = 200, ENTRY_ARENA = 1 << 20, LISTS_MAX_BYTES = 64 << 20 };

struct portarium_upstream {
    portarium_upstream_options options;
    mcp_arena *arena; /* of what the client points to */
    proc_spec child;
    fetch *pool;
    client *client;
    portarium_upstream_tools *lists; /* the newest first */
    size_t list_count, list_bytes;
    char *text; /* of the newest list, to see whether another is the same */
    size_t text_length;
};

/* ---- connecting ------------------------------------------------------------------------------ */

/* The configuration of this host names the address: it is the egress list. Redirects are not
 * followed. */
static mcp_status open_pool(portarium_upstream *self, const char *url, mcp_error *err)
{
    fetch_url parts;
    const fetch_options options = { .any_address = true };
    mcp_status st = fetch_url_read(&parts, url, err);
    if (st == MCP_OK && self->options.bearer && !fetch_url_is_trustworthy(&parts))
        st = mcp_error_set(err, MCP_E_DENIED,
                           "upstream %s: a credential is sent by https only, or to this machine",
                           self->options.name);
    return st == MCP_OK ? fetch_open(&self->pool, &options, err) : st;
}

static void on_change(void *data)
{
    portarium_upstream *self = data;
    self->options.on_change(self->options.change_data);
}

void portarium_upstream_lost(const portarium_upstream *self)
{
    self->options.on_change(self->options.change_data);
}

static mcp_status connect_to(portarium_upstream *self, mcp_error *err)
{
    const mcp_json *entry = self->options.entry;
    const char *url = mcp_json_get_string(entry, "url");
    client_options options = { .label = self->options.name,
                               .name = "portarium",
                               .url = url,
                               .bearer = url ? self->options.bearer : NULL,
                               .on_list_changed = on_change,
                               .data = self };
    if (!url == !mcp_json_get(entry, "command"))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "upstream %s: [mcp.%s] of the configuration requires either command "
                             "or url",
                             self->options.name, self->options.name);
    mcp_status st = url ? open_pool(self, url, err)
                        : portarium_host_program(&self->child, entry, NULL, self->arena, err);
    if (st != MCP_OK)
        return st;
    if (!url) {
        self->child.err = PROC_NULL;
        options.child = &self->child;
    }
    options.pool = self->pool;
    return client_new(&self->client, &options, err);
}

mcp_status portarium_upstream_new(portarium_upstream **out,
                                  const portarium_upstream_options *options, mcp_error *err)
{
    portarium_upstream *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for upstream %s", options->name);
    self->options = *options;
    self->arena = mcp_arena_new(ENTRY_ARENA);
    mcp_status st = self->arena ? connect_to(self, err)
                                : mcp_error_set(err, MCP_E_NOMEM, "no memory for upstream %s",
                                                options->name);
    if (st != MCP_OK) {
        portarium_upstream_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

static void free_list(portarium_upstream_tools *list)
{
    for (size_t i = 0; i < list->count; i++)
        mcp_schema_free(list->items[i].output_schema);
    mcp_arena_free(list->arena);
}

void portarium_upstream_free(portarium_upstream *self)
{
    if (!self)
        return;
    client_free(self->client);
    fetch_close(self->pool);
    while (self->lists) {
        portarium_upstream_tools *list = self->lists;
        self->lists = list->next;
        free_list(list);
    }
    free(self->text);
    mcp_arena_free(self->arena);
    free(self);
}

const char *portarium_upstream_name(const portarium_upstream *self)
{
    return self->options.name;
}

const char *portarium_upstream_credential(const portarium_upstream *self)
{
    return self->options.bearer;
}

client *portarium_upstream_client(const portarium_upstream *self)
{
    return self->client;
}

/* ---- tools as features ----------------------------------------------------------------------- */

/* Scopes are what this server asks of its clients, so an upstream does not set them. */
static void write_meta(mcp_json_writer *json, const mcp_json *meta)
{
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(meta); i++) {
        const char *member = mcp_json_name(meta, i, NULL);
        if (strcmp(member, "causeway/scopes") == 0)
            continue;
        mcp_write_name(json, member);
        mcp_write_value(json, mcp_json_item(meta, i));
    }
    mcp_write_end(json);
}

/* Annotations, without members that are null. */
static void write_annotations(mcp_json_writer *json, const mcp_json *annotations)
{
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(annotations); i++)
        if (!mcp_json_is_null(mcp_json_item(annotations, i)))
            mcp_write_member_value(json, mcp_json_name(annotations, i, NULL),
                                   mcp_json_item(annotations, i));
    mcp_write_end(json);
}

/* The definition under the name that clients see. Some servers write null for a member that they do
 * not have, which the protocol does not know. */
static mcp_status write_definition(mcp_buf *out, const mcp_json *tool, const char *name)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "name", name);
    for (size_t i = 0; i < mcp_json_count(tool); i++) {
        const char *member = mcp_json_name(tool, i, NULL);
        const mcp_json *value = mcp_json_item(tool, i);
        if (strcmp(member, "name") == 0 || mcp_json_is_null(value))
            continue;
        mcp_write_name(&json, member);
        if (strcmp(member, "_meta") == 0 && mcp_json_is_object(value))
            write_meta(&json, value);
        else if (strcmp(member, "annotations") == 0 && mcp_json_is_object(value))
            write_annotations(&json, value);
        else
            mcp_write_value(&json, value);
    }
    mcp_write_end(&json);
    return mcp_json_writer_status(&json);
}

/* A name that the plane takes, and no call as a task. */
static mcp_status check_tool(const mcp_json *tool, mcp_error *err)
{
    size_t length = 0;
    const char *name = mcp_json_string(mcp_json_get(tool, "name"), &length);
    const char *tasks = mcp_json_get_string(mcp_json_get(tool, "execution"), "taskSupport");
    if (!name || length == 0 || strlen(name) != length || length > NAME_MAX_BYTES)
        return mcp_error_set(err, MCP_E_SCHEMA, "its name has no, or more than %d bytes",
                             NAME_MAX_BYTES);
    return tasks && strcmp(tasks, "required") == 0
               ? mcp_error_set(err, MCP_E_UNSUPPORTED, "it must be called as a task")
               : MCP_OK;
}

/* The tools of a list in the making. */
typedef struct listing {
    portarium_upstream_tools *list;
    mcp_file *files;
    mcp_tool *rows;
    void *trial;
} listing;

/* The file and the row of the next tool. */
static mcp_status write_tool(const listing *self, const mcp_json *tool, const char *name,
                             mcp_error *err)
{
    const portarium_upstream_tools *list = self->list;
    const portarium_upstream_options *options = &list->upstream->options;
    mcp_buf text;
    mcp_buf_init(&text, DEFINITION_MAX);
    mcp_status st = write_definition(&text, tool, name);
    const char *path = mcp_arena_printf(list->arena, "tools/%zu.json", list->count);
    char *bytes = st == MCP_OK ? mcp_arena_strndup(list->arena, text.data, text.length) : NULL;
    self->files[list->count] = (mcp_file){ path, bytes, text.length };
    self->rows[list->count] = (mcp_tool){ .name = name,
                                          .run = options->run,
                                          .flags = MCP_WRITES | MCP_TASK_OPTIONAL,
                                          .timeout_ms = options->timeout_ms };
    mcp_buf_clear(&text);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "its definition: %s", mcp_status_words(st));
    return path && bytes ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a tool");
}

/* Its own name may be that of another tool, its schemas may not compile: the server says so. */
static mcp_status try_tool(const listing *self, mcp_error *err)
{
    size_t at = self->list->count;
    mcp_file *files = mcp_arena_array(self->list->arena, 2, sizeof *files);
    mcp_tool *rows = mcp_arena_array(self->list->arena, 2, sizeof *rows);
    if (!files || !rows)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a tool");
    files[0] = self->files[at];
    rows[0] = self->rows[at];
    files[1] = (mcp_file){ NULL, NULL, 0 };
    rows[1] = (mcp_tool){ .name = NULL };
    return self->list->upstream->options.trial->add(self->trial, files, rows, err);
}

static mcp_status add_tool(listing *self, const mcp_json *tool, mcp_error *err)
{
    portarium_upstream_tools *list = self->list;
    mcp_status st = check_tool(tool, err);
    if (st != MCP_OK)
        return st;
    portarium_upstream_tool made = { .inner = mcp_json_get_string(tool, "name"),
                                     .input_schema = mcp_json_get(tool, "inputSchema") };
    const mcp_json *output = mcp_json_get(tool, "outputSchema");
    made.name = mcp_arena_printf(list->arena, "%s%s", list->upstream->options.prefix, made.inner);
    if (!made.name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a tool");
    st = write_tool(self, tool, made.name, err);
    if (st == MCP_OK)
        st = try_tool(self, err);
    if (st == MCP_OK)
        st = portarium_marks_read(&made.marks, list->arena, made.input_schema, err);
    if (st == MCP_OK && output && !mcp_json_is_null(output))
        st = mcp_schema_compile(&made.output_schema, output, NULL, err);
    if (st == MCP_OK)
        list->items[list->count++] = made;
    return st;
}

static mcp_status add_each(listing *self, const client_tools *all, mcp_error *err)
{
    const portarium_upstream_options *options = &self->list->upstream->options;
    for (size_t i = 0; i < all->count; i++) {
        mcp_error why = MCP_ERROR_INIT;
        mcp_status st = add_tool(self, all->items[i], &why);
        const char *name = mcp_json_get_string(all->items[i], "name");
        if (st == MCP_E_NOMEM)
            return mcp_error_set(err, st, "%s", why.message);
        if (st != MCP_OK)
            mcp_log_write(&options->log, MCP_LOG_WARNING,
                          "upstream %s: the tool %.128s is left out: %s", options->name,
                          name ? name : "without a name",
                          why.message[0] ? why.message : mcp_status_words(st));
    }
    self->files[self->list->count] = (mcp_file){ NULL, NULL, 0 };
    self->rows[self->list->count] = (mcp_tool){ .name = NULL };
    self->list->files = self->files;
    self->list->rows = self->rows;
    return MCP_OK;
}

static mcp_status add_tools(portarium_upstream_tools *list, const client_tools *all, mcp_error *err)
{
    const portarium_trial *trial = list->upstream->options.trial;
    listing self = { .list = list,
                     .files = mcp_arena_array(list->arena, all->count + 1, sizeof *self.files),
                     .rows = mcp_arena_array(list->arena, all->count + 1, sizeof *self.rows) };
    list->items = mcp_arena_array(list->arena, all->count + 1, sizeof *list->items);
    if (!self.files || !self.rows || !list->items)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tools of upstream %s",
                             list->upstream->options.name);
    if (all->left_out > 0)
        mcp_log_write(&list->upstream->options.log, MCP_LOG_WARNING,
                      "upstream %s: %zu entries of its tools/list are no tools, and are left out",
                      list->upstream->options.name, all->left_out);
    mcp_status st = trial->begin(&self.trial, err);
    if (st == MCP_OK)
        st = add_each(&self, all, err);
    trial->end(self.trial);
    return st;
}

/* The list as text, to compare. */
static mcp_status write_list(mcp_buf *out, const client_tools *all)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    mcp_write_array(&json);
    for (size_t i = 0; i < all->count; i++)
        mcp_write_value(&json, all->items[i]);
    mcp_write_end(&json);
    return mcp_json_writer_status(&json);
}

static mcp_status take_list(const portarium_upstream_tools **out, portarium_upstream *self,
                            mcp_arena *arena, const client_tools *all, mcp_error *err)
{
    portarium_upstream_tools *list = mcp_arena_alloc(arena, sizeof *list);
    if (!list)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tools of upstream %s",
                             self->options.name);
    *list = (portarium_upstream_tools){ .upstream = self,
                                        .arena = arena,
                                        .data = self->options.data };
    mcp_status st = add_tools(list, all, err);
    if (st != MCP_OK) {
        for (size_t i = 0; i < list->count; i++)
            mcp_schema_free(list->items[i].output_schema);
        return st;
    }
    list->next = self->lists;
    self->lists = list;
    self->list_count++;
    *out = list;
    return MCP_OK;
}

mcp_status portarium_upstream_list(const portarium_upstream_tools **out, portarium_upstream *self,
                                   mcp_error *err)
{
    client_tools all = { .count = 0 };
    mcp_buf text;
    const client_wait wait = { .timeout_ms = LIST_MS,
                               .should_stop = self->options.should_stop,
                               .data = self->options.change_data };
    mcp_arena *arena = mcp_arena_new(LIST_ARENA);
    *out = NULL;
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tools of upstream %s",
                             self->options.name);
    mcp_buf_init(&text, LIST_ARENA);
    mcp_status st = client_list_tools(&all, self->client, arena, &wait, err);
    if (st == MCP_OK)
        st = write_list(&text, &all);
    bool is_same = st == MCP_OK && self->text && text.length == self->text_length &&
                   memcmp(text.data, self->text, text.length) == 0;
    if (st == MCP_OK && !is_same &&
        (self->list_count == LISTS_MAX || text.length > LISTS_MAX_BYTES - self->list_bytes))
        st = mcp_error_set(err, MCP_E_LIMIT,
                           "the tools of upstream %s have changed too often: start the gate again",
                           self->options.name);
    if (st == MCP_OK && !is_same)
        st = take_list(out, self, arena, &all, err);
    if (st == MCP_OK && !is_same) {
        free(self->text);
        self->list_bytes += text.length;
        self->text = mcp_buf_take(&text, &self->text_length);
        return MCP_OK; /* the list has the arena */
    }
    if (st == MCP_OK)
        *out = self->lists;
    mcp_buf_clear(&text);
    mcp_arena_free(arena);
    return st;
}

const portarium_upstream_tool *portarium_upstream_find(const portarium_upstream_tools *tools,
                                                       const char *name)
{
    for (size_t i = 0; i < tools->count; i++) {
        if (strcmp(tools->items[i].name, name) == 0)
            return &tools->items[i];
    }
    return NULL;
}
