/*
 * proxy.c - the upstreams of a proxy, the threads that follow their tools, and one that follows the
 * plane's exposure of them.
 */
#include "proxy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executors/credentials.h"
#include "gateway/actors.h"
#include "gateway/wait.h"
#include "mcp/clock.h"
#include "mcp/hash.h"
#include "proxy/shown.h"
#include "proxy/upstream.h"
#include "thread/thread.h"

/*
 * RETRY_MS: until an upstream that did not answer is asked again. PACE_MS: between two lists of one
 * upstream, and between two answers of a remote plane. START_MS: a client that lists tools once, at
 * its start, shall find them, so the server waits so long for its upstreams. MARGIN_MS: what a call
 * takes besides waiting for a decision and for the upstream.
 */
enum { RETRY_MS = 5000, PACE_MS = 1000, START_MS = 10000, MARGIN_MS = 30000, PREFIX_MAX = 128 };

/* An upstream, and what of it is added to the server. Its fields are its thread's, but for those
 * under the lock. */
typedef struct member {
    portarium_proxy *owner;
    portarium_upstream *upstream;
    thread_worker follower;
    bool is_following; /* under the lock; the thread may be woken */
    mcp_buf bearer;
    const portarium_upstream_tools *tools; /* under the lock; NULL: nothing yet */
    mcp_features *added;                   /* of these tools; NULL: nothing yet */
    bool is_due;                           /* its tools are to be listed; under the lock */
    bool was_tried;                        /* it has answered, or failed, once; under the lock */
    bool was_logged;                       /* that it does not answer */
    char prefix[PREFIX_MAX];
} member;

struct portarium_proxy {
    portarium_proxy_options options;
    mcp_server *server;
    portarium_vault *vault;
    portarium_shown *shown; /* of a remote plane; NULL: the plane is here */
    jobs_waits *waits;      /* of calls that ask a remote plane */
    member members[PORTARIUM_UPSTREAMS_MAX];
    pthread_mutex_t lock;
    pthread_mutex_t judging; /* taken before `lock`; from the names until their tools are put */
    uint64_t view;           /* a digest of the tools that are shown; under `judging` */
    pthread_cond_t tried;
    thread_worker watcher; /* notices that other tools are shown */
    bool is_watching;      /* under the lock; the thread may be woken */
    bool has_changed;      /* policies of the plane here; under the lock */
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
    if (self->is_following)
        thread_worker_wake(&self->follower);
    pthread_mutex_unlock(&self->owner->lock);
}

static bool should_stop(void *data)
{
    member *self = data;
    return thread_worker_is_stopping(&self->follower);
}

/* With letters and digits alone, as names of tools are shown to some clients. */
static bool is_alike(const char *one, const char *other)
{
    for (; *one && *other; one++, other++) {
        bool is_same = *one == *other ||
                       (!isalnum((unsigned char)*one) && !isalnum((unsigned char)*other));
        if (!is_same)
            return false;
    }
    return *one == *other;
}

/* No tool of one upstream may have the name of another's: NAME__TOOL has one meaning. */
static mcp_status check_name(const portarium_proxy_options *options, size_t index, mcp_error *err)
{
    const char *name = options->upstreams[index];
    if (strlen(name) + 3 > PREFIX_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "the name of an upstream has at most %d bytes",
                             PREFIX_MAX - 3);
    if (options->upstream_count > 1 && strstr(name, "__"))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--upstream %.64s: with several upstreams a name has no \"__\"", name);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(options->upstreams[i], name) == 0)
            return mcp_error_set(err, MCP_E_PARAMS, "--upstream %.64s is given twice", name);
        if (is_alike(options->upstreams[i], name))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "--upstream %.64s and %.64s give their tools the same prefix",
                                 options->upstreams[i], name);
    }
    return MCP_OK;
}

static mcp_status begin_trial(void **trial, mcp_error *err)
{
    const mcp_server_options options = { .name = "trial", .version = "1" };
    mcp_server *server = NULL;
    mcp_status st = mcp_server_new(&server, &options, err);
    *trial = server;
    return st;
}

static mcp_status try_tool(void *trial, const mcp_file *file, const mcp_tool *row, mcp_error *err)
{
    const mcp_features one = { .files = file, .tools = row };
    return mcp_server_add(trial, &one, err);
}

static void end_trial(void *trial)
{
    mcp_server_free(trial);
}

static const portarium_trial trial = { begin_trial, try_tool, end_trial };

/* The token for the URL of an entry, where it names a credential. */
static mcp_status read_bearer(member *self, const char *name, const mcp_json *entry, mcp_error *err)
{
    portarium_proxy *owner = self->owner;
    const char *credential = mcp_json_get_string(entry, "credential");
    mcp_error why = MCP_ERROR_INIT;
    if (!credential)
        return MCP_OK;
    mcp_status st = portarium_credential_get(&self->bearer, owner->vault, owner->options.workspace,
                                             credential, mcp_clock_mono_ms() + START_MS, &why);
    return st == MCP_OK ? st
                        : mcp_error_set(err, st, "upstream %.64s: the credential %.64s: %.300s",
                                        name, credential, why.message);
}

static mcp_status open_member(portarium_proxy *self, size_t index, mcp_error *err)
{
    member *out = &self->members[index];
    const char *name = self->options.upstreams[index];
    const mcp_json *entry = mcp_json_get(self->options.host.servers, name);
    if (!entry)
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "there is no upstream %.64s: the file of --config has no [mcp.%.64s]",
                             name, name);
    mcp_status st = check_name(&self->options, index, err);
    if (st == MCP_OK)
        st = read_bearer(out, name, entry, err);
    if (st != MCP_OK)
        return st;
    if (self->options.upstream_count > 1)
        snprintf(out->prefix, sizeof out->prefix, "%s__", name);
    out->is_due = true;
    const portarium_upstream_options options = {
        .name = name,
        .prefix = out->prefix,
        .entry = entry,
        .bearer = out->bearer.length > 0 ? out->bearer.data : NULL,
        .trial = &trial,
        .run = portarium_proxy_call,
        .data = &self->options,
        .timeout_ms = (int)(self->options.wait_ms + self->options.call_ms + MARGIN_MS),
        .log = *log_of(self),
        .on_change = on_change,
        .should_stop = should_stop,
        .change_data = out,
    };
    return portarium_upstream_new(&out->upstream, &options, err);
}

static bool is_over(void *waiting)
{
    return mcp_call_stop(((const portarium_waiting *)waiting)->call) != MCP_STOP_NONE;
}

/* What a plane in this process has itself. */
static mcp_status open_remote(portarium_proxy *self, mcp_error *err)
{
    const jobs_waits_options waits = { .is_over = is_over };
    if (self->options.app->plane)
        return MCP_OK;
    mcp_status st = portarium_shown_new(&self->shown, self->options.app, self->options.workspace,
                                        err);
    if (st == MCP_OK)
        st = jobs_waits_new(&self->waits, &waits, err);
    self->options.waits = self->waits;
    return st;
}

static void init(portarium_proxy *self, const portarium_proxy_options *options)
{
    self->options = *options;
    pthread_mutex_init(&self->lock, NULL);
    pthread_mutex_init(&self->judging, NULL);
    thread_cond_init(&self->tried);
    thread_worker_init(&self->watcher, &self->lock);
    for (size_t i = 0; i < PORTARIUM_UPSTREAMS_MAX; i++) {
        self->members[i].owner = self;
        thread_worker_init(&self->members[i].follower, &self->lock);
        mcp_buf_init(&self->members[i].bearer, PORTARIUM_CREDENTIAL_MAX);
    }
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
    init(self, options);
    mcp_status st = portarium_vault_new(&self->vault, &self->options.host, err);
    if (st == MCP_OK)
        st = open_remote(self, err);
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
    for (size_t i = 0; i < PORTARIUM_UPSTREAMS_MAX; i++) {
        portarium_upstream_free(self->members[i].upstream);
        portarium_credential_wipe(&self->members[i].bearer);
    }
    jobs_waits_free(self->waits);
    portarium_shown_free(self->shown);
    portarium_vault_free(self->vault);
    pthread_cond_destroy(&self->tried);
    pthread_mutex_destroy(&self->judging);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* The names of all tools, of which those of one member are about to be added.
 * @param out freed by the caller; NULL where there are none */
static mcp_status gather(const char ***out, size_t *count, portarium_proxy *self,
                         const member *fresh, const portarium_upstream_tools *tools, mcp_error *err)
{
    const portarium_upstream_tools *lists[PORTARIUM_UPSTREAMS_MAX];
    size_t most = 0;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->options.upstream_count; i++) {
        lists[i] = &self->members[i] == fresh ? tools : self->members[i].tools;
        most += lists[i] ? lists[i]->count : 0;
    }
    pthread_mutex_unlock(&self->lock);
    *count = 0;
    *out = most > 0 ? calloc(most, sizeof **out) : NULL;
    if (most > 0 && !*out)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for names of tools");
    for (size_t i = 0; i < self->options.upstream_count; i++) {
        for (size_t j = 0; lists[i] && j < lists[i]->count; j++)
            (*out)[(*count)++] = lists[i]->items[j].name;
    }
    return MCP_OK;
}

static uint64_t digest_of(portarium_proxy *self, const char *const *names, size_t count)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < count; i++)
        digest += portarium_proxy_shows(self, names[i]) ? mcp_fnv1a(names[i]) : 0;
    return digest;
}

/* With `judging`: find out which tools are shown; a remote plane is asked.
 * @param fresh,tools NULL: those that there are. @param has_changed other tools are shown now */
static mcp_status judge(bool *has_changed, portarium_proxy *self, const member *fresh,
                        const portarium_upstream_tools *tools, bool (*stops)(void *data),
                        void *data, mcp_error *err)
{
    const char **names = NULL;
    size_t count = 0;
    mcp_status st = gather(&names, &count, self, fresh, tools, err);
    if (st == MCP_OK && self->shown)
        st = portarium_shown_judge(self->shown, names, count, stops, data, err);
    uint64_t view = st == MCP_OK ? digest_of(self, names, count) : self->view;
    *has_changed = view != self->view;
    self->view = view;
    free(names);
    return st;
}

static bool watcher_stops(void *data)
{
    portarium_proxy *self = data;
    return thread_worker_is_stopping(&self->watcher);
}

static void on_exposure(void *data)
{
    portarium_proxy *self = data;
    pthread_mutex_lock(&self->lock);
    self->has_changed = true;
    if (self->is_watching)
        thread_worker_wake(&self->watcher);
    pthread_mutex_unlock(&self->lock);
}

/* With the lock: until the exposure may have changed. A remote plane does not say when. */
static void wait_for_exposure(portarium_proxy *self)
{
    if (self->shown)
        thread_worker_wait(&self->watcher, PACE_MS);
    while (!self->shown && !self->has_changed && !self->watcher.is_stopping)
        thread_worker_wait(&self->watcher, THREAD_FOREVER);
    self->has_changed = false;
}

static void watch(void *data)
{
    portarium_proxy *self = data;
    bool was_logged = false;
    pthread_mutex_lock(&self->lock);
    for (wait_for_exposure(self); !self->watcher.is_stopping; wait_for_exposure(self)) {
        mcp_error err = MCP_ERROR_INIT;
        bool has_changed = false;
        pthread_mutex_unlock(&self->lock);
        pthread_mutex_lock(&self->judging);
        mcp_status st = judge(&has_changed, self, NULL, NULL, watcher_stops, self, &err);
        pthread_mutex_unlock(&self->judging);
        if (has_changed)
            st = mcp_server_visibility_changed(self->server, MCP_FEATURE_TOOL, &err);
        if (st != MCP_OK && st != MCP_E_STOPPED && !was_logged)
            mcp_log_write(log_of(self), MCP_LOG_WARNING, "%s", err.message);
        was_logged = st != MCP_OK;
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}

/* ---- following ------------------------------------------------------------------------------- */

/* With `judging`: the tools of a listing in the place of those of the one before. */
static mcp_status put(member *self, const portarium_upstream_tools *tools, mcp_error *err)
{
    portarium_proxy *owner = self->owner;
    mcp_features *made = mcp_arena_alloc(tools->arena, sizeof *made);
    if (!made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tools");
    *made = (mcp_features){ .files = tools->files, .tools = tools->rows, .data = (void *)tools };
    bool has_changed = false; /* which the new tools tell clients anyway */
    mcp_status st = judge(&has_changed, owner, self, tools, should_stop, self, err);
    if (st == MCP_OK)
        st = self->added ? mcp_server_replace_features(owner->server, self->added, made, err)
                         : mcp_server_add_features(owner->server, made, err);
    if (st != MCP_OK)
        return st;
    self->added = made;
    pthread_mutex_lock(&owner->lock);
    self->tools = tools;
    pthread_mutex_unlock(&owner->lock);
    return MCP_OK;
}

/* The watcher may not ask between the answer for new tools and their place in the list: its answer
 * would be about the tools before, and would hide all others. */
static mcp_status replace(member *self, const portarium_upstream_tools *tools, mcp_error *err)
{
    pthread_mutex_lock(&self->owner->judging);
    mcp_status st = put(self, tools, err);
    pthread_mutex_unlock(&self->owner->judging);
    return st;
}

/* @return false: it is to be asked again after a while */
static bool refresh(member *self)
{
    const portarium_upstream_tools *tools = NULL;
    mcp_error err = MCP_ERROR_INIT;
    const char *name = portarium_upstream_name(self->upstream);
    mcp_status st = portarium_upstream_list(&tools, self->upstream, &err);
    bool is_new = st == MCP_OK && tools != self->tools;
    if (is_new)
        st = replace(self, tools, &err);
    if (st != MCP_OK && st != MCP_E_STOPPED && !self->was_logged)
        mcp_log_write(log_of(self->owner), MCP_LOG_WARNING, "upstream %s: %s", name, err.message);
    if (st == MCP_OK && is_new)
        mcp_log_write(log_of(self->owner), MCP_LOG_INFO, "upstream %s has %zu tools", name,
                      tools->count);
    self->was_logged = st != MCP_OK;
    return st == MCP_OK || st == MCP_E_LIMIT;
}

/* With the lock: until its tools are to be listed. */
static void wait_until_due(member *self)
{
    while (!self->is_due && !self->follower.is_stopping)
        thread_worker_wait(&self->follower, THREAD_FOREVER);
}

/* With the lock: sleep, whatever changes meanwhile. */
static void pause_for(member *self, int64_t ms)
{
    int64_t until_ms = mcp_clock_mono_ms() + ms, left_ms = ms;
    for (; left_ms > 0 && !self->follower.is_stopping; left_ms = until_ms - mcp_clock_mono_ms())
        thread_worker_wait(&self->follower, left_ms);
}

static void follow(void *data)
{
    member *self = data;
    portarium_proxy *owner = self->owner;
    pthread_mutex_lock(&owner->lock);
    for (wait_until_due(self); !self->follower.is_stopping; wait_until_due(self)) {
        self->is_due = false;
        pthread_mutex_unlock(&owner->lock);
        bool is_done = refresh(self);
        pthread_mutex_lock(&owner->lock);
        self->was_tried = true;
        self->is_due = self->is_due || !is_done;
        pthread_cond_broadcast(&owner->tried);
        pause_for(self, is_done ? PACE_MS : RETRY_MS);
    }
    pthread_mutex_unlock(&owner->lock);
}

static bool are_all_tried(const portarium_proxy *self)
{
    for (size_t i = 0; i < self->options.upstream_count; i++) {
        if (!self->members[i].was_tried)
            return false;
    }
    return true;
}

static void wait_for_upstreams(portarium_proxy *self)
{
    int64_t until_ms = mcp_clock_mono_ms() + START_MS;
    pthread_mutex_lock(&self->lock);
    while (!are_all_tried(self) && thread_wait_until(&self->tried, &self->lock, until_ms))
        ;
    pthread_mutex_unlock(&self->lock);
}

/* Whether a thread may be woken. @return whether it was so before */
static bool set(portarium_proxy *self, bool *may_be_woken, bool value)
{
    pthread_mutex_lock(&self->lock);
    bool before = *may_be_woken;
    *may_be_woken = value;
    pthread_mutex_unlock(&self->lock);
    return before;
}

static mcp_status start_watching(portarium_proxy *self, mcp_error *err)
{
    mcp_status st = thread_worker_start(&self->watcher, watch, self, err);
    set(self, &self->is_watching, st == MCP_OK);
    if (st == MCP_OK && !self->shown)
        portarium_exposures_listen(self->options.app->exposures, on_exposure, self);
    return st;
}

mcp_status portarium_proxy_start(portarium_proxy *self, mcp_server *server, mcp_error *err)
{
    self->server = server;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < self->options.upstream_count; i++) {
        st = thread_worker_start(&self->members[i].follower, follow, &self->members[i], err);
        set(self, &self->members[i].is_following, st == MCP_OK);
    }
    if (st == MCP_OK)
        st = start_watching(self, err);
    if (st == MCP_OK)
        wait_for_upstreams(self);
    return st;
}

void portarium_proxy_stop(portarium_proxy *self)
{
    if (!self)
        return;
    /* What changes from now on wakes nobody. */
    if (!self->shown)
        portarium_exposures_listen(self->options.app->exposures, NULL, NULL);
    if (set(self, &self->is_watching, false))
        thread_worker_stop(&self->watcher);
    for (size_t i = 0; i < self->options.upstream_count; i++) {
        if (set(self, &self->members[i].is_following, false))
            thread_worker_stop(&self->members[i].follower);
    }
}

/* ---- visibility ------------------------------------------------------------------------------ */

bool portarium_proxy_shows(portarium_proxy *self, const char *name)
{
    const portarium_app *app = self->options.app;
    portarium_caller caller;
    if (self->shown)
        return portarium_shown_has(self->shown, name);
    portarium_caller_of(&caller, &app->local);
    return portarium_exposures_allow(app->exposures, self->options.workspace, name, caller.roles,
                                     caller.tier);
}
