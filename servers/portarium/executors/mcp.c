/*
 * mcp.c - an action as a call of a tool of another MCP server.
 *
 * Connections are kept: one for each server of the host's configuration, and one for each URL with
 * its egress list and credential.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "executors/kinds.h"
#include "fetch/url.h"

enum { LINKS_MAX = 64, LINK_ARENA = 1 << 20, ARGUMENTS_MAX = 1 << 20, HASHED_MAX = 1 << 20 };

/* A connection. What it was made of is its key. */
typedef struct link_to {
    mcp_arena *arena; /* of what a child's spec points to */
    mcp_buf key;
    fetch *pool;
    client *client;
    int users;
    int64_t used; /* when it was used last, in uses */
} link_to;

struct portarium_links {
    pthread_mutex_t lock;
    link_to items[LINKS_MAX];
    size_t count;
    int64_t uses;
};

mcp_status portarium_links_new(struct portarium_links **out, mcp_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for connections");
    pthread_mutex_init(&(*out)->lock, NULL);
    return MCP_OK;
}

static void link_clear(link_to *self)
{
    client_free(self->client);
    fetch_close(self->pool);
    portarium_credential_wipe(&self->key);
    mcp_arena_free(self->arena);
    *self = (link_to){ .users = 0 };
}

void portarium_links_free(struct portarium_links *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++)
        link_clear(&self->items[i]);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* ---- making one ------------------------------------------------------------------------------ */

/* What a call needs of its server. */
typedef struct target {
    const char *server, *url; /* one of them, or both: the host says where its server is */
    const mcp_json *entry;    /* of the server */
    const mcp_json *egress;
    mcp_buf secret; /* for the URL; empty: none */
} target;

static mcp_status write_key(mcp_buf *out, const target *to)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    mcp_write_array(&json);
    mcp_write_string(&json, to->server ? to->server : to->url);
    mcp_write_bool(&json, to->server != NULL);
    if (!to->server && to->egress)
        mcp_write_value(&json, to->egress);
    if (to->secret.length > 0)
        mcp_write_string(&json, to->secret.data);
    mcp_write_end(&json);
    return mcp_json_writer_status(&json);
}

/* The URL of a workspace goes where its egress list allows; that of the host has no list. */
static mcp_status open_pool(link_to *out, const target *to, mcp_error *err)
{
    const fetch_options options = { .any_address = true };
    return to->server ? fetch_open(&out->pool, &options, err)
                      : portarium_pool_open(&out->pool, to->egress, out->arena, err);
}

static mcp_status open_link(link_to *out, const target *to, mcp_error *err)
{
    proc_spec *child = mcp_arena_alloc(out->arena, sizeof *child);
    client_options options = { .label = to->server,
                               .name = "portarium",
                               .url = to->url,
                               .bearer = to->secret.length > 0 ? to->secret.data : NULL };
    if (!child)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a connection");
    mcp_status st = to->url ? open_pool(out, to, err)
                            : portarium_host_program(child, to->entry, NULL, out->arena, err);
    if (st != MCP_OK)
        return st;
    if (!to->url) {
        child->err = PROC_NULL;
        options.child = child;
    }
    options.pool = out->pool;
    return client_new(&out->client, &options, err);
}

/* ---- the kept ones --------------------------------------------------------------------------- */

static link_to *find(struct portarium_links *self, const mcp_buf *key)
{
    for (size_t i = 0; i < self->count; i++) {
        const mcp_buf *has = &self->items[i].key;
        if (has->length == key->length && memcmp(has->data, key->data, key->length) == 0)
            return &self->items[i];
    }
    return NULL;
}

/* A free place, or that of the one that nobody has used for the longest time. NULL: all in use. */
static link_to *place_for(struct portarium_links *self, link_to *ended)
{
    link_to *oldest = NULL;
    if (self->count < LINKS_MAX)
        return &self->items[self->count++];
    for (size_t i = 0; i < self->count; i++) {
        link_to *at = &self->items[i];
        if (at->users == 0 && (!oldest || at->used < oldest->used))
            oldest = at;
    }
    if (oldest) {
        *ended = *oldest;
        *oldest = (link_to){ .users = 0 };
    }
    return oldest;
}

/* With the lock. Nothing is connected yet, so nobody waits. */
static mcp_status take_locked(link_to **out, struct portarium_links *self, const target *to,
                              mcp_buf *key, link_to *ended, mcp_error *err)
{
    link_to made = { .arena = NULL };
    *out = find(self, key);
    if (*out)
        return MCP_OK;
    made.arena = mcp_arena_new(LINK_ARENA);
    mcp_status st = made.arena ? open_link(&made, to, err)
                               : mcp_error_set(err, MCP_E_NOMEM, "no memory for a connection");
    if (st == MCP_OK)
        *out = place_for(self, ended);
    if (st == MCP_OK && !*out)
        st = mcp_error_set(err, MCP_E_BUSY, "all %d connections to MCP servers are in use",
                           LINKS_MAX);
    if (st != MCP_OK) {
        link_clear(&made);
        return st;
    }
    made.key = *key;
    mcp_buf_init(key, HASHED_MAX);
    **out = made;
    return MCP_OK;
}

static mcp_status take(link_to **out, struct portarium_links *self, const target *to,
                       mcp_error *err)
{
    mcp_buf key;
    link_to ended = { .users = 0 };
    *out = NULL;
    mcp_buf_init(&key, HASHED_MAX);
    mcp_status st = write_key(&key, to);
    if (st != MCP_OK) {
        portarium_credential_wipe(&key);
        return mcp_error_set(err, st, "no memory for a connection");
    }
    pthread_mutex_lock(&self->lock);
    st = take_locked(out, self, to, &key, &ended, err);
    if (st == MCP_OK) {
        (*out)->users++;
        (*out)->used = ++self->uses;
    }
    pthread_mutex_unlock(&self->lock);
    link_clear(&ended);
    portarium_credential_wipe(&key);
    return st;
}

static void give_back(struct portarium_links *self, link_to *link)
{
    pthread_mutex_lock(&self->lock);
    link->users--;
    pthread_mutex_unlock(&self->lock);
}

/* ---- a call ---------------------------------------------------------------------------------- */

static mcp_status read_back(const mcp_json **out, mcp_buf *text, mcp_json_writer *json,
                            mcp_arena *arena, mcp_error *err)
{
    mcp_status st = mcp_json_writer_status(json);
    if (st != MCP_OK)
        mcp_error_set(err, st, "the arguments are too large");
    else
        st = mcp_json_read(out, arena, text->data, text->length, err);
    mcp_buf_clear(text);
    return st;
}

static mcp_status make_arguments(const mcp_json **out, const portarium_attempt *attempt,
                                 mcp_arena *arena, mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    const portarium_scope scope = portarium_scope_of(attempt);
    const mcp_json *template = mcp_json_get(attempt->binding, "arguments");
    *out = attempt->input;
    if (!template)
        return !*out || mcp_json_is_object(*out)
                   ? MCP_OK
                   : mcp_error_set(err, MCP_E_PARAMS, "the input of a tool is an object");
    mcp_buf_init(&text, ARGUMENTS_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_status st = portarium_template_body(&json, template, &scope, err);
    if (st == MCP_OK)
        return read_back(out, &text, &json, arena, err);
    mcp_buf_clear(&text);
    return st;
}

static mcp_status make_meta(const mcp_json **out, const portarium_attempt *attempt,
                            mcp_arena *arena, mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    mcp_buf_init(&text, ARGUMENTS_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "portarium/idempotencyKey", attempt->key);
    portarium_trace_write(&json, &attempt->trace);
    mcp_write_end(&json);
    return read_back(out, &text, &json, arena, err);
}

static void take_answer(portarium_result *out, const client_result *answer, const mcp_buf *secret,
                        mcp_arena *arena)
{
    int64_t code = 0;
    bool is_error = false;
    const mcp_json *content = mcp_json_get(answer->result, "structuredContent");
    mcp_json_bool(mcp_json_get(answer->result, "isError"), &is_error);
    mcp_json_int(mcp_json_get(answer->error, "code"), &code);
    if (answer->error)
        portarium_end(out, PORTARIUM_OUTCOME_FAILED,
                      code == -32602 ? PORTARIUM_CLASS_VALIDATION : PORTARIUM_CLASS_UNKNOWN,
                      "the MCP server answered with error %lld", (long long)code);
    else if (is_error)
        portarium_end(out, PORTARIUM_OUTCOME_FAILED, PORTARIUM_CLASS_UNKNOWN,
                      "the tool answered with an error");
    else
        portarium_end_done(out, content ? content : answer->result, secret, arena);
}

static void call(portarium_result *out, const portarium_attempt *attempt,
                 const portarium_stop *stop, const target *to, client *server, mcp_arena *arena)
{
    client_result answer = { .may_have_run = false };
    mcp_error err = MCP_ERROR_INIT;
    client_call what = { .name = mcp_json_get_string(attempt->binding, "tool"),
                         .timeout_ms = portarium_time_left(attempt),
                         .should_stop = stop->is_set,
                         .data = stop->data };
    mcp_status st = make_arguments(&what.arguments, attempt, arena, &err);
    if (st == MCP_OK)
        st = make_meta(&what.meta, attempt, arena, &err);
    if (st == MCP_OK)
        st = client_call_tool(&answer, server, arena, &what, &err);
    if (st == MCP_OK)
        take_answer(out, &answer, &to->secret, arena);
    else
        portarium_end_unanswered(out, st, &err, answer.may_have_run);
}

/* The credential that the binding, or the host's entry, names for the URL. */
static mcp_status find_secret(target *out, const portarium_attempt *attempt,
                              const portarium_room *room, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *source = out->entry ? out->entry : attempt->binding;
    if (!mcp_json_get(source, "credential"))
        return MCP_OK;
    fetch_url url;
    mcp_status st = fetch_url_read(&url, out->url, err);
    const char *name = portarium_credential_name(source, NULL, arena);
    if (st == MCP_OK && !fetch_url_is_trustworthy(&url))
        st = mcp_error_set(err, MCP_E_DENIED, "a credential is sent by https only");
    if (st == MCP_OK && !name)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a credential");
    if (st != MCP_OK)
        return st;
    return out->entry ? portarium_credential_get(&out->secret, room->vault, attempt->workspace,
                                                 name, attempt->deadline_mono_ms, err)
                      : portarium_credential_of(&out->secret, room->vault, attempt, name, err);
}

/* Where the binding leads: a name of the host, or a URL. */
static mcp_status find_target(target *out, const portarium_attempt *attempt,
                              const portarium_room *room, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *binding = attempt->binding;
    out->server = mcp_json_get_string(binding, "server");
    out->egress = attempt->egress;
    if (out->server)
        out->entry = mcp_json_get(room->host->servers, out->server);
    if (out->server && !out->entry)
        return mcp_error_set(err, MCP_E_DENIED, "this host has no MCP server \"%s\"", out->server);
    out->url = mcp_json_get_string(out->server ? out->entry : binding, "url");
    if (!out->server && !out->url)
        return mcp_error_set(err, MCP_E_PARAMS, "the binding has neither server nor url");
    if (out->url && out->entry && mcp_json_get(out->entry, "command"))
        return mcp_error_set(err, MCP_E_DENIED,
                             "[mcp.%s] of the configuration has a command and a url", out->server);
    return out->url ? find_secret(out, attempt, room, arena, err) : MCP_OK;
}

static void perform(portarium_result *out, const portarium_attempt *attempt,
                    const portarium_stop *stop, mcp_arena *arena, void *data)
{
    const portarium_room *room = data;
    link_to *link = NULL;
    target to = { .server = NULL };
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf_init(&to.secret, PORTARIUM_CREDENTIAL_MAX);
    mcp_status st = find_target(&to, attempt, room, arena, &err);
    if (st == MCP_OK)
        st = take(&link, room->links, &to, &err);
    if (st == MCP_OK) {
        call(out, attempt, stop, &to, link->client, arena);
        give_back(room->links, link);
    } else {
        portarium_end_unsent(out, st, &err);
    }
    portarium_credential_wipe(&to.secret);
}

static mcp_status check(const mcp_json *binding, void *data, mcp_error *err)
{
    const portarium_room *room = data;
    const char *server = mcp_json_get_string(binding, "server");
    if (!server || mcp_json_get(room->host->servers, server))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_DENIED, "this host has no MCP server \"%s\"", server);
}

const portarium_executor portarium_mcp = {
    .kind = "mcp",
    .perform = perform,
    .check = check,
    .is_idempotent = portarium_binding_is_idempotent,
};
