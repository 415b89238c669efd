/*
 * proxy.c - the upstreams of a proxy, and the thread that follows their tools.
 */
#include "proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/actors.h"
#include "proxy/upstream.h"
#include "thread/thread.h"

/* RETRY_MS: until an upstream that did not answer is asked again. MARGIN_MS: what a call takes
 * besides waiting for a decision and for the upstream. */
enum { RETRY_MS = 5000, MARGIN_MS = 30000, PREFIX_MAX = 128 };

/* An upstream, and what of it is added to the server. */
typedef struct member {
    portarium_proxy *owner;
    portarium_upstream *upstream;
    mcp_features *added; /* NULL: nothing yet */
    bool is_due;         /* its tools are to be listed; under the lock */
    bool was_logged;     /* that it does not answer */
    char prefix[PREFIX_MAX];
} member;

struct portarium_proxy {
    portarium_proxy_options options;
    mcp_server *server;
    member members[PORTARIUM_UPSTREAMS_MAX];
    pthread_mutex_t lock;
    thread_worker follower;
    bool is_following;
};

static const mcp_log *log_of(const portarium_proxy *self)
{
    return &self->options.app->log;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void on_change(void *data)
{
    member *self = data;
    pthread_mutex_lock(&self->owner->lock);
    self->is_due = true;
    thread_worker_wake(&self->owner->follower);
    pthread_mutex_unlock(&self->owner->lock);
}

static bool is_named_twice(const portarium_proxy_options *options, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(options->upstreams[i], options->upstreams[index]) == 0)
            return true;
    }
    return false;
}

static mcp_status open_member(portarium_proxy *self, size_t index, mcp_error *err)
{
    member *out = &self->members[index];
    const char *name = self->options.upstreams[index];
    const mcp_json *entry = mcp_json_get(self->options.servers, name);
    if (!entry)
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "there is no upstream %.64s: the file of --config has no [mcp.%.64s]",
                             name, name);
    if (is_named_twice(&self->options, index))
        return mcp_error_set(err, MCP_E_PARAMS, "--upstream %.64s is given twice", name);
    if (strlen(name) + 3 > sizeof out->prefix)
        return mcp_error_set(err, MCP_E_LIMIT, "the name of an upstream has at most %d bytes",
                             PREFIX_MAX - 3);
    if (self->options.upstream_count > 1)
        snprintf(out->prefix, sizeof out->prefix, "%s__", name);
    out->owner = self;
    out->is_due = true;
    const portarium_upstream_options options = {
        .name = name,
        .prefix = out->prefix,
        .entry = entry,
        .run = portarium_proxy_call,
        .data = &self->options,
        .timeout_ms = (int)(self->options.wait_ms + self->options.call_ms + MARGIN_MS),
        .log = *log_of(self),
        .on_change = on_change,
        .change_data = out,
    };
    return portarium_upstream_new(&out->upstream, &options, err);
}

mcp_status portarium_proxy_new(portarium_proxy **out, const portarium_proxy_options *options,
                               mcp_error *err)
{
    if (options->upstream_count == 0 || options->upstream_count > PORTARIUM_UPSTREAMS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "--upstream names 1 to %d MCP servers",
                             PORTARIUM_UPSTREAMS_MAX);
    portarium_proxy *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the proxy");
    self->options = *options;
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->follower, &self->lock);
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < options->upstream_count; i++)
        st = open_member(self, i, err);
    if (st != MCP_OK) {
        portarium_proxy_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_proxy_free(portarium_proxy *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < PORTARIUM_UPSTREAMS_MAX; i++)
        portarium_upstream_free(self->members[i].upstream);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* ---- following ------------------------------------------------------------------------------- */

/* The tools of a listing in the place of those of the one before. */
static mcp_status replace(member *self, const portarium_upstream_tools *tools, mcp_error *err)
{
    mcp_server *server = self->owner->server;
    mcp_features *made = mcp_arena_alloc(tools->arena, sizeof *made);
    if (!made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tools");
    *made = (mcp_features){ .files = tools->files, .tools = tools->rows, .data = (void *)tools };
    mcp_status st = self->added ? mcp_server_remove_features(server, self->added, err) : MCP_OK;
    if (st != MCP_OK)
        return st;
    self->added = NULL;
    st = mcp_server_add_features(server, made, err);
    if (st == MCP_OK)
        self->added = made;
    return st;
}

/* @return false: it is to be asked again after a while */
static bool refresh(member *self)
{
    const portarium_upstream_tools *tools = NULL;
    mcp_error err = MCP_ERROR_INIT;
    const char *name = portarium_upstream_name(self->upstream);
    mcp_status st = portarium_upstream_list(&tools, self->upstream, &err);
    bool is_final = st == MCP_OK || st == MCP_E_LIMIT;
    if (st == MCP_OK && tools)
        st = replace(self, tools, &err);
    if (st != MCP_OK && !self->was_logged)
        mcp_log_write(log_of(self->owner), MCP_LOG_WARNING, "upstream %s: %s", name, err.message);
    if (st == MCP_OK && tools)
        mcp_log_write(log_of(self->owner), MCP_LOG_INFO, "upstream %s has %zu tools", name,
                      tools->count);
    self->was_logged = st != MCP_OK;
    return is_final;
}

/* Refresh those that are due. @return how long to sleep */
static int64_t refresh_due(portarium_proxy *self)
{
    int64_t sleep_ms = THREAD_FOREVER;
    for (size_t i = 0; i < self->options.upstream_count; i++) {
        member *at = &self->members[i];
        pthread_mutex_lock(&self->lock);
        bool is_due = at->is_due && !self->follower.is_stopping;
        at->is_due = false;
        pthread_mutex_unlock(&self->lock);
        if (!is_due || refresh(at))
            continue;
        pthread_mutex_lock(&self->lock);
        at->is_due = true;
        pthread_mutex_unlock(&self->lock);
        sleep_ms = RETRY_MS;
    }
    return sleep_ms;
}

static bool has_news(const portarium_proxy *self)
{
    for (size_t i = 0; i < self->options.upstream_count; i++) {
        if (self->members[i].is_due && !self->members[i].was_logged)
            return true;
    }
    return false;
}

static void follow(void *data)
{
    portarium_proxy *self = data;
    pthread_mutex_lock(&self->lock);
    while (!self->follower.is_stopping) {
        pthread_mutex_unlock(&self->lock);
        int64_t sleep_ms = refresh_due(self);
        pthread_mutex_lock(&self->lock);
        if (!self->follower.is_stopping && !has_news(self))
            thread_worker_wait(&self->follower, sleep_ms);
    }
    pthread_mutex_unlock(&self->lock);
}

mcp_status portarium_proxy_start(portarium_proxy *self, mcp_server *server, mcp_error *err)
{
    self->server = server;
    mcp_status st = thread_worker_start(&self->follower, follow, self, err);
    self->is_following = st == MCP_OK;
    return st;
}

void portarium_proxy_stop(portarium_proxy *self)
{
    if (self && self->is_following)
        thread_worker_stop(&self->follower);
    if (self)
        self->is_following = false;
}

/* ---- visibility ------------------------------------------------------------------------------ */

bool portarium_proxy_shows(const mcp_call *call, mcp_feature feature, const char *name, void *data)
{
    const portarium_app *app = data;
    portarium_caller caller;
    (void)call;
    if (feature != MCP_FEATURE_TOOL || !app->exposures)
        return true;
    portarium_caller_of(&caller, &app->local);
    return portarium_exposures_allow(app->exposures,
                                     caller.workspace[0] ? caller.workspace : app->workspace, name,
                                     caller.roles, caller.tier);
}
