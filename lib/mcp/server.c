/*
 * server.c - putting a server together: options with their defaults, features, transports.
 *
 * What is assembled here does not change while the server serves, so every thread may read it.
 * Features may come and go: a change builds another set next to the one in use, and calls keep what
 * they began with.
 *
 * The one exception is at the end: a handler that does not end within the grace time still holds
 * its tool, its schemas and its files, so a server that it was left in frees nothing of them.
 */
#include "mcp/server.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/core/call/client.h"
#include "mcp/core/dispatch.h"
#include "mcp/hash.h"
#include "mcp/http.h"
#include "mcp/method.h"
#include "mcp/random.h"
#include "mcp/server_int.h"
#include "mcp/transport/serve.h"

#define SCOPES_MAX_BYTES ((size_t)64 * 1024)
#define IDENTITY_MAX_BYTES ((size_t)64 * 1024)

/* ---- options --------------------------------------------------------------------------------- */

static int default_threads(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (cores < 2)
        return 2;
    return cores > 256 ? 256 : (int)cores;
}

/* Whether the bound is positive then. */
static bool set_default(int *option, int value)
{
    if (*option == 0)
        *option = value;
    return *option > 0;
}

static void set_default_size(size_t *option, size_t value)
{
    if (*option == 0)
        *option = value;
}

/* False: a bound is negative. */
static bool fill_bounds(mcp_limits *limits)
{
    set_default_size(&limits->message_max_bytes, (size_t)4 * 1024 * 1024);
    set_default_size(&limits->reply_max_bytes, (size_t)16 * 1024 * 1024);
    set_default_size(&limits->arena_max_bytes, (size_t)64 * 1024 * 1024);
    set_default_size(&limits->calls_max_bytes, limits->arena_max_bytes > (size_t)1 << 30
                                                   ? limits->arena_max_bytes
                                                   : (size_t)1 << 30);
    set_default_size(&limits->tasks_max_bytes, (size_t)64 * 1024 * 1024);
    (void)set_default(&limits->spin_us, 100);
    return set_default(&limits->calls_max_running, 32) &&
           set_default(&limits->calls_max_queued, 256) &&
           set_default(&limits->short_threads, default_threads()) &&
           set_default(&limits->replacement_threads, 8) &&
           set_default(&limits->stuck_handler_ms, 5000) &&
           set_default(&limits->timeout_ms, 60000) && set_default(&limits->grace_ms, 10000) &&
           set_default(&limits->tasks_max, 1000) &&
           set_default(&limits->tasks_max_per_client, 100) &&
           set_default(&limits->task_ttl_ms, 60 * 60 * 1000);
}

static void fill_revision(mcp_revision *option, mcp_revision otherwise, mcp_revision oldest,
                          mcp_revision newest)
{
    if (*option == MCP_REVISION_NONE)
        *option = otherwise;
    if (*option < oldest)
        *option = oldest;
    if (*option > newest)
        *option = newest;
}

/* Those of `initialize` stay NONE where no revision with sessions is served. */
static void fill_session_revisions(mcp_server_options *options)
{
    mcp_revision oldest = options->oldest;
    mcp_revision newest = options->newest < MCP_REVISION_NEWEST_SESSION
                              ? options->newest
                              : MCP_REVISION_NEWEST_SESSION;

    if (oldest > MCP_REVISION_NEWEST_SESSION) {
        options->default_revision = MCP_REVISION_NONE;
        options->offered_revision = MCP_REVISION_NONE;
        return;
    }
    fill_revision(&options->default_revision, MCP_2025_03_26, oldest, newest);
    fill_revision(&options->offered_revision, newest, oldest, newest);
}

static void fill_revisions(mcp_server_options *options)
{
    if (options->oldest == MCP_REVISION_NONE)
        options->oldest = MCP_2024_11_05;
    if (options->newest == MCP_REVISION_NONE)
        options->newest = MCP_REVISION_NEWEST;
    fill_session_revisions(options);
}

static bool is_revision(mcp_revision revision)
{
    return (int)revision >= MCP_REVISION_NONE && revision <= MCP_REVISION_NEWEST;
}

static mcp_status check_options(const mcp_server_options *options, mcp_error *err)
{
    if (!options->name || !options->version)
        return mcp_error_set(err, MCP_E_PARAMS, "a server needs a name and a version");
    if (!is_revision(options->oldest) || !is_revision(options->newest) ||
        !is_revision(options->default_revision) || !is_revision(options->offered_revision))
        return mcp_error_set(err, MCP_E_PARAMS, "a revision in the options is none that is served");
    if (options->newest != MCP_REVISION_NONE && options->oldest > options->newest)
        return mcp_error_set(err, MCP_E_PARAMS, "the oldest revision is newer than the newest");
    return MCP_OK;
}

static mcp_status fill_options(mcp_server_options *options, mcp_error *err)
{
    mcp_status st = check_options(options, err);

    if (st != MCP_OK)
        return st;
    fill_revisions(options);
    if (!options->write_note)
        options->write_note = "Write operations are disabled.";
    if (!fill_bounds(&options->limits))
        return mcp_error_set(err, MCP_E_PARAMS, "a bound in the options is negative");
    return MCP_OK;
}

/* ---- assembly -------------------------------------------------------------------------------- */

/* Every result without a session carries the identity, so it is written once. */
static mcp_status render_identity(const char **out, mcp_server *server, bool with_icons,
                                  mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf text;
    mcp_status st;

    mcp_buf_init(&text, IDENTITY_MAX_BYTES);
    mcp_json_writer_init(&writer, &text);
    mcp__client_write_identity(&writer, &server->options, MCP_REVISION_NEWEST, with_icons);
    st = mcp_json_writer_status(&writer);
    if (st == MCP_OK) {
        *out = mcp_arena_strndup(server->arena, text.data, text.length);
        st = *out ? MCP_OK : MCP_E_NOMEM;
    }
    mcp_buf_clear(&text);
    if (st == MCP_OK)
        return MCP_OK;
    return mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_PARAMS,
                         "the server's name, title or description cannot be sent: %s",
                         mcp_status_words(st));
}

static mcp_status read_extensions(mcp_server *server, mcp_error *err)
{
    const char *text = server->options.extensions;

    if (!text ||
        (mcp_json_read(&server->extensions, server->arena, text, strlen(text), NULL) == MCP_OK &&
         mcp_json_is_object(server->extensions)))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARAMS, "extensions is no JSON object");
}

/* They are sent as they stand, so they must be what they claim to be, on one line. */
static mcp_status check_icons(const mcp_server *server, mcp_error *err)
{
    const char *text = server->options.icons;
    const mcp_json *value = NULL;

    if (!text || (mcp_json_read(&value, server->arena, text, strlen(text), NULL) == MCP_OK &&
                  mcp_json_is_array(value) && !strpbrk(text, "\r\n")))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARAMS, "icons is no JSON array on one line");
}

static mcp_status make_state_key(mcp_server *server, mcp_error *err)
{
    const char *secret = server->options.state_secret;

    if (!secret)
        return mcp_random_bytes(server->state_key, sizeof server->state_key, err);
    if (strlen(secret) < MCP__STATE_KEY_SIZE)
        return mcp_error_set(err, MCP_E_PARAMS, "state_secret is shorter than %d bytes",
                             MCP__STATE_KEY_SIZE);
    return mcp_sha256(server->state_key, secret, strlen(secret), err);
}

static mcp_status make_parts(mcp_server *server, mcp_error *err)
{
    server->arena = mcp_arena_new(0);
    if (!server->arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a server");
    mcp_status st = mcp_json_read(&server->no_arguments, server->arena, "{}", 2, err);
    if (st == MCP_OK)
        st = check_icons(server, err);
    if (st == MCP_OK)
        st = render_identity(&server->identity, server, false, err);
    if (st == MCP_OK)
        st = render_identity(&server->introduction, server, true, err);
    if (st == MCP_OK)
        st = read_extensions(server, err);
    if (st == MCP_OK)
        st = make_state_key(server, err);
    if (st == MCP_OK)
        st = mcp__subscriptions_new(&server->subscriptions, err);
    if (st == MCP_OK)
        st = mcp__features_new(&server->set, &server->options, err);
    return st;
}

mcp_status mcp_server_new(mcp_server **out, const mcp_server_options *options, mcp_error *err)
{
    mcp_server_options filled = options ? *options : (mcp_server_options){ 0 };
    mcp_status st = fill_options(&filled, err);

    if (st != MCP_OK)
        return st;
    mcp_server *server = mcp_alloc_zeroed(1, sizeof *server);
    if (!server)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a server");
    server->options = filled;
    server->budget.max_bytes = filled.limits.calls_max_bytes;
    server->capabilities = (filled.logging ? MCP__CAN_LOGGING : 0u) |
                           (filled.subscriptions ? MCP__CAN_SUBSCRIBE : 0u) |
                           (filled.list_changed ? MCP__CAN_CHANGE : 0u);
    server->views[MCP_FEATURE_TOOL].lists = MCP__LIST_TOOLS;
    server->views[MCP_FEATURE_RESOURCE].lists = MCP__LIST_RESOURCES;
    server->views[MCP_FEATURE_PROMPT].lists = MCP__LIST_PROMPTS;
    for (size_t i = 0; i < sizeof server->views / sizeof server->views[0]; i++)
        server->views[i].is_of_view = true;
    pthread_mutex_init(&server->change_lock, NULL);
    pthread_mutex_init(&server->set_lock, NULL);
    pthread_mutex_init(&server->stop.lock, NULL);
    st = make_parts(server, err);
    if (st != MCP_OK) {
        mcp_server_free(server);
        return st;
    }
    *out = server;
    return MCP_OK;
}

/* ---- features -------------------------------------------------------------------------------- */

static mcp_status record(mcp__offer **out, mcp_server *server, const mcp_features *features,
                         const mcp_features *key, mcp_error *err)
{
    if (!features)
        return mcp_error_set(err, MCP_E_PARAMS, "there are no features to add");
    mcp__offer *offer = mcp_arena_alloc(server->arena, sizeof *offer);
    mcp__offer **end = &server->offers;

    if (!offer)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for features");
    *offer = (mcp__offer){ .features = *features, .key = key };
    while (*end)
        end = &(*end)->next;
    *end = offer;
    *out = offer;
    return MCP_OK;
}

mcp_status mcp_server_add(mcp_server *server, const mcp_features *features, mcp_error *err)
{
    mcp__offer *offer = NULL;
    mcp_status st = MCP_OK;

    pthread_mutex_lock(&server->change_lock);
    if (server->is_serving)
        st = mcp_error_set(err, MCP_E_BUSY,
                           "the server serves: mcp_server_add_features adds features meanwhile");
    if (st == MCP_OK)
        st = record(&offer, server, features, NULL, err);
    if (st == MCP_OK)
        st = mcp__features_load(server->set, features, err);
    pthread_mutex_unlock(&server->change_lock);
    return st;
}

/* Put together what is offered now. Capabilities stay declared even when their last feature
 * went. */
static mcp_status build(mcp__features **out, const mcp_server *server, mcp_error *err)
{
    mcp__features *set = NULL;
    mcp_status st = mcp__features_new(&set, &server->options, err);

    if (st != MCP_OK)
        return st;
    for (const mcp__offer *offer = server->offers; offer && st == MCP_OK; offer = offer->next)
        if (offer->is_withdrawn)
            set->capabilities |= mcp__features_capabilities(&offer->features);
        else
            st = mcp__features_load(set, &offer->features, err);
    if (st == MCP_OK)
        *out = set;
    else
        mcp__features_drop(set);
    return st;
}

/* Once: from then on the loop may read it. */
static mcp_status describe(mcp_server *server, mcp__offer *offer, const mcp__features *set,
                           mcp_error *err)
{
    if (offer->change.lists)
        return MCP_OK;
    if (mcp__features_visibility(&server->options) &&
        mcp__features_describe(&offer->change, server->arena, set, &offer->features, err) != MCP_OK)
        return MCP_E_NOMEM;
    offer->change.lists = mcp__features_lists(mcp__features_capabilities(&offer->features));
    return MCP_OK;
}

/* `offer` has changed: let calls see it, and clients hear of it. */
static mcp_status change(mcp_server *server, mcp__offer *offer, mcp_error *err)
{
    mcp__features *fresh = NULL;
    mcp_status st = build(&fresh, server, err);

    if (st == MCP_OK)
        st = describe(server, offer, fresh, err);
    if (st != MCP_OK) {
        mcp__features_drop(fresh);
        return st;
    }
    pthread_mutex_lock(&server->set_lock);
    mcp__features *old = server->set;
    server->set = fresh;
    pthread_mutex_unlock(&server->set_lock);
    mcp__features_drop(old);
    if (offer->change.lists)
        mcp__subscriptions_lists(server->subscriptions, &offer->change);
    return MCP_OK;
}

static mcp__offer *find_offer(const mcp_server *server, const mcp_features *key)
{
    mcp__offer *offer = key ? server->offers : NULL;

    while (offer && offer->key != key)
        offer = offer->next;
    return offer;
}

/* With the others, and without `old`, which was offered until now; NULL: none. */
static mcp_status offer_again(mcp_server *server, const mcp_features *features, mcp__offer *old,
                              mcp_error *err)
{
    mcp__offer *offer = find_offer(server, features);
    mcp_status st = MCP_OK;

    if (!server->options.list_changed)
        return mcp_error_set(err, MCP_E_UNSUPPORTED, "list_changed is not set in the options");
    if (offer && !offer->is_withdrawn)
        return mcp_error_set(err, MCP_E_PARAMS, "these features are offered already");
    if (!offer)
        st = record(&offer, server, features, features, err);
    if (st != MCP_OK)
        return st;
    offer->is_withdrawn = false;
    if (old)
        old->is_withdrawn = true;
    st = change(server, offer, err);
    offer->is_withdrawn = st != MCP_OK;
    if (old)
        old->is_withdrawn = st == MCP_OK;
    /* Clients that may know of the new ones were notified; others may know of the old ones. */
    bool are_hidden = mcp__features_visibility(&server->options) != NULL;
    if (st == MCP_OK && old && (are_hidden || (old->change.lists & ~offer->change.lists)))
        mcp__subscriptions_lists(server->subscriptions, &old->change);
    return st;
}

mcp_status mcp_server_add_features(mcp_server *server, const mcp_features *features, mcp_error *err)
{
    pthread_mutex_lock(&server->change_lock);
    mcp_status st = offer_again(server, features, NULL, err);
    pthread_mutex_unlock(&server->change_lock);
    return st;
}

mcp_status mcp_server_replace_features(mcp_server *server, const mcp_features *old,
                                       const mcp_features *features, mcp_error *err)
{
    pthread_mutex_lock(&server->change_lock);
    mcp__offer *offer = find_offer(server, old);
    mcp_status st = MCP_OK;
    if (offer && !offer->is_withdrawn && old != features)
        st = offer_again(server, features, offer, err);
    else
        st = mcp_error_set(err, MCP_E_PARAMS, "these features cannot be replaced");
    pthread_mutex_unlock(&server->change_lock);
    return st;
}

mcp_status mcp_server_remove_features(mcp_server *server, const mcp_features *features,
                                      mcp_error *err)
{
    pthread_mutex_lock(&server->change_lock);
    mcp__offer *offer = find_offer(server, features);
    mcp_status st = MCP_OK;
    if (offer && !offer->is_withdrawn) {
        offer->is_withdrawn = true;
        st = change(server, offer, err);
        offer->is_withdrawn = st == MCP_OK;
    } else {
        st = mcp_error_set(err, MCP_E_PARAMS, "these features are not offered");
    }
    pthread_mutex_unlock(&server->change_lock);
    return st;
}

mcp_status mcp_server_visibility_changed(mcp_server *server, mcp_feature kind, mcp_error *err)
{
    if (!server->options.list_changed)
        return mcp_error_set(err, MCP_E_UNSUPPORTED, "list_changed is not set in the options");
    if ((size_t)kind >= sizeof server->views / sizeof server->views[0])
        return mcp_error_set(err, MCP_E_PARAMS, "there is no kind %d of features", (int)kind);
    mcp__subscriptions_lists(server->subscriptions, &server->views[kind]);
    return MCP_OK;
}

mcp_status mcp_server_resource_updated(mcp_server *server, const char *uri, mcp_error *err)
{
    if (!uri)
        return mcp_error_set(err, MCP_E_PARAMS, "a changed resource has no URI");
    return mcp__subscriptions_resource(server->subscriptions, uri, err);
}

/* ---- serving --------------------------------------------------------------------------------- */

static const mcp__features *hold(mcp_server *server)
{
    pthread_mutex_lock(&server->set_lock);
    mcp__features *set = server->set;
    atomic_fetch_add(&set->holders, 1);
    pthread_mutex_unlock(&server->set_lock);
    return set;
}

mcp__context mcp__server_context(mcp_server *server, mcp__executor *executor)
{
    return (mcp__context){
        .server = server,
        .options = &server->options,
        .route = mcp__method_route,
        .executor = executor,
        .hold = hold,
        .drop = mcp__features_drop,
        .subscriptions = server->subscriptions,
        .visibility = mcp__features_visibility(&server->options),
        .budget = &server->budget,
        .no_arguments = server->no_arguments,
        .state_key = server->state_key,
        .identity = server->identity,
        .introduction = server->introduction,
        .extensions = server->extensions,
        .capabilities = server->capabilities,
        .mismatches = &server->mismatches,
        .span_ids = &server->span_ids,
        .hooks = &mcp__dispatch_hooks,
    };
}

static mcp__serve_setup serve_setup(mcp_server *server)
{
    return (mcp__serve_setup){ .context = mcp__server_context(server, NULL),
                               .stop = &server->stop,
                               .long_threads = server->set->long_threads };
}

/* One transport at a time: the ids of calls, the workers and the request to stop are its own. */
static mcp_status begin_serving(mcp__serve_setup *out, mcp_server *server, mcp_error *err)
{
    mcp_status st = MCP_OK;

    pthread_mutex_lock(&server->change_lock);
    if (server->is_serving)
        st = mcp_error_set(
            err, MCP_E_BUSY,
            "the server serves already: another transport needs a server of its own");
    else if (server->is_left_running)
        st = mcp_error_set(err, MCP_E_BUSY,
                           "a handler that did not end within the grace time still runs");
    else
        server->is_serving = true;
    *out = serve_setup(server);
    pthread_mutex_unlock(&server->change_lock);
    return st;
}

static void end_serving(mcp_server *server, const mcp__serve_setup *setup)
{
    pthread_mutex_lock(&server->change_lock);
    server->is_serving = false;
    server->is_left_running = server->is_left_running || setup->is_left_running;
    pthread_mutex_unlock(&server->change_lock);
}

mcp_status mcp_server_stdio(mcp_server *server, mcp_error *err)
{
    mcp__serve_setup setup;
    mcp_status st = begin_serving(&setup, server, err);

    if (st != MCP_OK)
        return st;
    st = mcp__stdio_serve(&setup, err);
    end_serving(server, &setup);
    return st;
}

void mcp_server_stop(mcp_server *server)
{
    if (server)
        mcp__stop_request(&server->stop);
}

mcp_status mcp_server_elicitation_complete(mcp_server *server, const char *id, mcp_error *err)
{
    if (!id)
        return mcp_error_set(err, MCP_E_PARAMS, "an elicitation has no id");
    return mcp__subscriptions_elicited(server->subscriptions, id, err);
}

/* The scopes that features ask for, for clients that want to know before they ask. */
static mcp_status gather_scopes(const char **out, mcp_server *server, mcp_error *err)
{
    mcp_buf scopes;

    mcp_buf_init(&scopes, SCOPES_MAX_BYTES);
    mcp__list_scopes(&server->set->tools, &scopes);
    mcp__list_scopes(&server->set->resources, &scopes);
    mcp__list_scopes(&server->set->templates, &scopes);
    mcp__list_scopes(&server->set->prompts, &scopes);
    *out = scopes.status == MCP_OK ? mcp_arena_strndup(server->arena, scopes.data, scopes.length)
                                   : NULL;
    mcp_buf_clear(&scopes);
    return *out ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for the features' scopes");
}

mcp_status mcp_server_http(mcp_server *server, const mcp_http_options *options, mcp_error *err)
{
    const mcp_http_options defaults = MCP_HTTP_OPTIONS_INIT;
    mcp__serve_setup setup;
    mcp_status st = begin_serving(&setup, server, err);

    if (st != MCP_OK)
        return st;
    pthread_mutex_lock(&server->change_lock); /* another thread may add features already */
    st = gather_scopes(&setup.context.scopes, server, err);
    pthread_mutex_unlock(&server->change_lock);
    if (st == MCP_OK)
        st = mcp__httpd_serve(&setup, options ? options : &defaults, err);
    end_serving(server, &setup);
    return st;
}

void mcp_server_free(mcp_server *server)
{
    if (!server || server->is_left_running)
        return;
    mcp__features_drop(server->set);
    mcp__subscriptions_free(server->subscriptions);
    pthread_mutex_destroy(&server->change_lock);
    pthread_mutex_destroy(&server->set_lock);
    pthread_mutex_destroy(&server->stop.lock);
    mcp_arena_free(server->arena);
    free(server);
}
