/*
 * upstream.c - connections to upstreams, and their tools as features of the proxy's server.
 *
 * The features of each listing live until the upstream ends, since the server may still use them
 * for running calls. A list that is the same as before makes no new features, and LISTS_MAX bounds
 * the others.
 */
#include "proxy/upstream.h"

#include <stdlib.h>
#include <string.h>

#include "executors/host.h"
#include "executors/kinds.h"
#include "fetch/url.h"

enum { LIST_ARENA = 64 << 20, LISTS_MAX = 1000, DEFINITION_MAX = 1 << 20, LIST_MS = 30000 };
enum { NAME_MAX_BYTES = 200, ENTRY_ARENA = 1 << 20 };

struct portarium_upstream {
    portarium_upstream_options options;
    mcp_arena *arena; /* of what the client points to */
    proc_spec child;
    fetch *pool;
    client *client;
    portarium_upstream_tools *lists; /* the newest first */
    size_t list_count;
    char *text; /* of the newest list, to see whether another is the same */
    size_t text_length;
};

/* ---- connecting ------------------------------------------------------------------------------ */

/* The egress list of an upstream's URL is its host. */
static mcp_status open_pool(portarium_upstream *self, const char *url, mcp_error *err)
{
    fetch_url parts;
    mcp_status st = fetch_url_read(&parts, url, err);
    if (st != MCP_OK)
        return st;
    const fetch_options options = { .any_address = true }; /* this host's operator names it */
    return fetch_open(&self->pool, &options, err);
}

/* The token for a URL: the variable PORTARIUM_CRED_<NAME> of the entry's credential. */
static mcp_status read_bearer(const char **out, portarium_upstream *self, mcp_error *err)
{
    const char *name = mcp_json_get_string(self->options.entry, "credential");
    *out = NULL;
    if (!name)
        return MCP_OK;
    char *variable = mcp_arena_printf(self->arena, "PORTARIUM_CRED_%s", name);
    if (!variable)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for upstream %s", self->options.name);
    *out = getenv(variable);
    return *out && **out
               ? MCP_OK
               : mcp_error_set(err, MCP_E_NOT_FOUND, "upstream %s: the variable %s is not set",
                               self->options.name, variable);
}

static void on_change(void *data)
{
    portarium_upstream *self = data;
    self->options.on_change(self->options.change_data);
}

static mcp_status connect_to(portarium_upstream *self, mcp_error *err)
{
    const mcp_json *entry = self->options.entry;
    const char *url = mcp_json_get_string(entry, "url");
    client_options options = { .label = self->options.name,
                               .name = "portarium",
                               .url = url,
                               .on_list_changed = on_change,
                               .data = self };
    if (!url == !mcp_json_get(entry, "command"))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "upstream %s: [mcp.%s] of the configuration requires either command "
                             "or url",
                             self->options.name, self->options.name);
    mcp_status st = url ? open_pool(self, url, err)
                        : portarium_host_program(&self->child, entry, NULL, self->arena, err);
    if (st == MCP_OK && url)
        st = read_bearer(&options.bearer, self, err);
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

client *portarium_upstream_client(const portarium_upstream *self)
{
    return self->client;
}

/* ---- tools as features ----------------------------------------------------------------------- */

/* The definition under the name that clients see. */
static mcp_status write_definition(mcp_buf *out, const mcp_json *tool, const char *name)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "name", name);
    for (size_t i = 0; i < mcp_json_count(tool); i++) {
        const char *member = mcp_json_name(tool, i, NULL);
        if (strcmp(member, "name") == 0)
            continue;
        mcp_write_name(&json, member);
        mcp_write_value(&json, mcp_json_item(tool, i));
    }
    mcp_write_end(&json);
    return mcp_json_writer_status(&json);
}

/* Whether schemas compile, as the server will ask. @param output NULL where there is none */
static mcp_status compile(mcp_schema **output, const mcp_json *tool, mcp_error *err)
{
    mcp_schema *input = NULL;
    const mcp_json *schema = mcp_json_get(tool, "inputSchema");
    const char *type = mcp_json_get_string(schema, "type");
    *output = NULL;
    if (!type || strcmp(type, "object") != 0)
        return mcp_error_set(err, MCP_E_SCHEMA, "inputSchema must have type \"object\"");
    mcp_status st = mcp_schema_compile(&input, schema, NULL, err);
    mcp_schema_free(input);
    schema = mcp_json_get(tool, "outputSchema");
    return st == MCP_OK && schema ? mcp_schema_compile(output, schema, NULL, err) : st;
}

static bool is_known(const portarium_upstream_tools *list, const char *name)
{
    return portarium_upstream_find(list, name) != NULL;
}

/* Add a tool to the list. @param text the definition, empty at first */
static mcp_status add_tool(portarium_upstream_tools *list, const mcp_json *tool, mcp_buf *text,
                           mcp_file *file, mcp_tool *row, mcp_error *err)
{
    portarium_upstream *self = list->upstream;
    size_t length = 0;
    const char *inner = mcp_json_string(mcp_json_get(tool, "name"), &length);
    if (!inner || length == 0 || strlen(inner) != length || length > NAME_MAX_BYTES)
        return mcp_error_set(err, MCP_E_SCHEMA, "its name is none");
    const char *name = mcp_arena_printf(list->arena, "%s%s", self->options.prefix, inner);
    const char *path = mcp_arena_printf(list->arena, "tools/%zu.json", list->count);
    if (!name || !path)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a tool");
    if (is_known(list, name))
        return mcp_error_set(err, MCP_E_EXISTS, "its name is listed twice");
    portarium_upstream_tool made = { .name = name,
                                     .inner = inner,
                                     .input_schema = mcp_json_get(tool, "inputSchema") };
    mcp_status st = compile(&made.output_schema, tool, err);
    if (st == MCP_OK)
        st = write_definition(text, tool, name);
    char *bytes = st == MCP_OK ? mcp_arena_strndup(list->arena, text->data, text->length) : NULL;
    if (st == MCP_OK && !bytes)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a tool");
    if (st != MCP_OK) {
        mcp_schema_free(made.output_schema);
        return st;
    }
    *file = (mcp_file){ path, bytes, text->length };
    *row = (mcp_tool){ .name = name,
                       .run = self->options.run,
                       .flags = MCP_WRITES | MCP_TASK_OPTIONAL,
                       .timeout_ms = self->options.timeout_ms };
    list->items[list->count++] = made;
    return MCP_OK;
}

static mcp_status add_tools(portarium_upstream_tools *list, const client_tools *all, mcp_error *err)
{
    portarium_upstream *self = list->upstream;
    mcp_file *files = mcp_arena_array(list->arena, all->count + 1, sizeof *files);
    mcp_tool *rows = mcp_arena_array(list->arena, all->count + 1, sizeof *rows);
    list->items = mcp_arena_array(list->arena, all->count + 1, sizeof *list->items);
    if (!files || !rows || !list->items)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tools of upstream %s",
                             self->options.name);
    for (size_t i = 0; i < all->count; i++) {
        mcp_buf text;
        mcp_error why = MCP_ERROR_INIT;
        size_t at = list->count;
        mcp_buf_init(&text, DEFINITION_MAX);
        mcp_status st = add_tool(list, all->items[i], &text, &files[at], &rows[at], &why);
        mcp_buf_clear(&text);
        if (st == MCP_E_NOMEM)
            return mcp_error_set(err, st, "%s", why.message);
        if (st != MCP_OK)
            mcp_log_write(&self->options.log, MCP_LOG_WARNING,
                          "upstream %s: its tool %zu is left out: %s", self->options.name, i,
                          why.message[0] ? why.message : mcp_status_words(st));
    }
    files[list->count] = (mcp_file){ NULL, NULL, 0 };
    rows[list->count] = (mcp_tool){ .name = NULL };
    list->files = files;
    list->rows = rows;
    return MCP_OK;
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
    const client_wait wait = { .timeout_ms = LIST_MS };
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
    if (st == MCP_OK && !is_same && self->list_count == LISTS_MAX)
        st = mcp_error_set(err, MCP_E_LIMIT, "the tools of upstream %s have changed %d times",
                           self->options.name, LISTS_MAX);
    if (st == MCP_OK && !is_same)
        st = take_list(out, self, arena, &all, err);
    if (st == MCP_OK && !is_same) {
        free(self->text);
        self->text = mcp_buf_take(&text, &self->text_length);
        return MCP_OK; /* the list has the arena */
    }
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
