/*
 * method.c - the dispatch table.
 *
 * A row says from which to which revision a method exists, what the server must be able to do, and
 * what the method needs; so what differs between revisions is a column, not an `if`. A method
 * without a row, or outside its revisions, does not exist: that is looked at before its parameters
 * are.
 *
 * The functions run on the loop. Cheap ones answer at once; the features' ones prepare the call for
 * a worker (features.h).
 */
#include "mcp/method.h"

#include <string.h>

#include "mcp/core/call/client.h"
#include "mcp/core/dispatch.h"
#include "mcp/core/envelope.h"
#include "mcp/core/headers.h"
#include "mcp/core/subscriptions/subscriptions.h"
#include "mcp/core/version.h"
#include "mcp/features.h"

enum {
    NEEDS_PARAMS = 1 << 0,
    IS_NOTIFICATION = 1 << 1,
    NOT_IN_BATCH = 1 << 2,
    MAY_ASK = 1 << 3 /* its handler may ask the client */
};

static unsigned capabilities_of(const mcp_call *call)
{
    return call->context->capabilities | call->features->capabilities;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The version asked for where we speak it, else the one that the server offers: never an error,
 * unless the server was told to be strict. */
static mcp_status negotiate(mcp_revision *out, mcp_call *call)
{
    const mcp_server_options *options = call->context->options;
    /* `initialize` never agrees on a revision without sessions. */
    mcp_revision newest = options->newest < MCP_REVISION_NEWEST_SESSION
                              ? options->newest
                              : MCP_REVISION_NEWEST_SESSION;
    size_t length = 0;
    const char *requested = mcp_json_string(mcp_json_get(call->request.params, "protocolVersion"),
                                            &length);
    mcp_revision revision = mcp_revision_find(requested);

    if (!requested || strlen(requested) != length)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.protocolVersion must be a string");
    bool is_served = revision >= options->oldest && revision <= newest;
    if (!is_served && options->strict_version) {
        mcp_json_writer *data = mcp_call_error_data(call);
        mcp__envelope_write_revisions(data, "supported", options->oldest, newest);
        mcp_write_member_string(data, "requested", requested);
        return mcp_error_set(&call->err, MCP_E_PARAMS, "Unsupported protocol version");
    }
    *out = is_served ? revision : options->offered_revision;
    return MCP_OK;
}

/* What a server declares: the members are those that the revision knows. */
static const struct declaration {
    unsigned capability;
    const char *name;
    bool has_subscribe;
    bool has_list_changed;
} declarations[] = {
    /* capability           name           subscribe  listChanged */
    { MCP__CAN_TOOLS, "tools", false, true },
    { MCP__CAN_RESOURCES, "resources", true, true },
    { MCP__CAN_PROMPTS, "prompts", false, true },
    { MCP__CAN_COMPLETIONS, "completions", false, false },
    { MCP__CAN_LOGGING, "logging", false, false },
};

static void write_flag(mcp_json_writer *writer, const char *name, bool is_set, bool is_bare)
{
    if (is_set || !is_bare)
        mcp_write_member_bool(writer, name, is_set);
}

static void write_declaration(mcp_json_writer *writer, const struct declaration *declaration,
                              unsigned capabilities, bool is_bare)
{
    mcp_write_member_object(writer, declaration->name);
    if (declaration->has_subscribe)
        write_flag(writer, "subscribe", capabilities & MCP__CAN_SUBSCRIBE, is_bare);
    if (declaration->has_list_changed)
        write_flag(writer, "listChanged", capabilities & MCP__CAN_CHANGE, is_bare);
    mcp_write_end(writer);
}

/* A client that cannot be told from others is not told of tasks by a list. */
static void write_tasks(mcp_json_writer *writer, const mcp_call *call)
{
    static const char listed[] =
        "{\"list\":{},\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}";
    static const char unlisted[] = "{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}";
    bool has_list = !call->session->is_once || call->principal;

    mcp_write_name(writer, "tasks");
    mcp_write_raw(writer, has_list ? listed : unlisted,
                  has_list ? sizeof listed - 1 : sizeof unlisted - 1);
}

#define TASKS "io.modelcontextprotocol/tasks"

/* The server's own, and that for tasks. */
static void write_extensions(mcp_json_writer *writer, const mcp_json *own, bool has_tasks)
{
    has_tasks = has_tasks && !mcp_json_get(own, TASKS);
    if (!own && !has_tasks)
        return;
    mcp_write_member_object(writer, "extensions");
    mcp__list_write_members(writer, own, NULL);
    if (has_tasks) {
        mcp_write_member_object(writer, TASKS);
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
}

static void write_capabilities(mcp_json_writer *writer, const mcp_call *call, mcp_revision revision)
{
    unsigned capabilities = capabilities_of(call);
    bool has_tasks = capabilities & MCP__CAN_TASKS;

    mcp_write_member_object(writer, "capabilities");
    for (size_t i = 0; i < sizeof declarations / sizeof declarations[0]; i++)
        if ((capabilities & declarations[i].capability) &&
            mcp__field_is_known("ServerCapabilities", declarations[i].name, revision))
            write_declaration(writer, &declarations[i], capabilities,
                              call->context->options->bare_capabilities);
    if (has_tasks && mcp__field_is_known("ServerCapabilities", "tasks", revision))
        write_tasks(writer, call);
    if (mcp__field_is_known("ServerCapabilities", "extensions", revision))
        write_extensions(writer, call->context->extensions, has_tasks);
    mcp_write_end(writer);
}

/* Clients that leave these two out are served; ones that send something else in their place are
   not. */
static mcp_status check_opening(mcp_call *call)
{
    static const char *const names[] = { "capabilities", "clientInfo" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const mcp_json *value = mcp_json_get(call->request.params, names[i]);
        if (value && !mcp_json_is_object(value))
            return mcp_error_set(&call->err, MCP_E_PARAMS, "params.%s must be an object", names[i]);
    }
    return MCP_OK;
}

static void log_client(const mcp_call *call)
{
    const char *name = call->session->client_names.name;
    const char *version = call->session->client_names.version;

    mcp_call_log_line(call, MCP_LOG_INFO, "client %s %s, protocol %s",
                      name ? name : "without a name", version ? version : "",
                      mcp_revision_name(call->session->revision));
}

static void write_instructions(mcp_json_writer *writer, const mcp_call *call)
{
    const char *text = call->context->options->instructions;

    if (text && call->features)
        text = mcp__tools_text(call->features, call->arena, text, call->request.revision);
    if (text)
        mcp_write_member_string(writer, "instructions", text);
}

static mcp_status on_initialize(mcp_call *call)
{
    const mcp_server_options *options = call->context->options;
    mcp_revision revision = MCP_REVISION_NONE;
    mcp_status st = check_opening(call);

    if (st == MCP_OK)
        st = negotiate(&revision, call);
    if (st == MCP_OK)
        st = mcp__session_open(call->session, revision, call->request.params, &call->err);
    if (st != MCP_OK)
        return st;
    call->request.revision = revision;
    log_client(call);
    mcp_json_writer *result = mcp_call_result(call);
    mcp_write_member_string(result, "protocolVersion", mcp_revision_name(revision));
    write_capabilities(result, call, call->request.revision);
    mcp_write_name(result, "serverInfo");
    mcp__client_write_identity(result, options, revision, true);
    write_instructions(result, call);
    return MCP_OK;
}

static mcp_status on_initialized(mcp_call *call)
{
    call->session->is_initialized = true;
    return MCP_OK;
}

static mcp_status on_ping(mcp_call *call)
{
    (void)mcp_call_result(call);
    return MCP_OK;
}

/* Ids that are unknown, finished or malformed are passed over in silence: answers and cancellations
 * cross each other all the time. */
static mcp_status on_cancelled(mcp_call *call)
{
    const mcp_json *id = mcp_json_get(call->request.params, "requestId");

    if (mcp_json_is_string(id) || mcp_json_is_number(id))
        mcp__dispatch_cancel(call->session, id, call->notification_peer);
    return MCP_OK;
}

static mcp_status on_discover(mcp_call *call)
{
    const mcp_server_options *options = call->context->options;
    mcp_json_writer *result = mcp_call_result(call);

    mcp__envelope_write_revisions(result, "supportedVersions", options->oldest, options->newest);
    write_capabilities(result, call, call->request.revision);
    write_instructions(result, call);
    call->answer.identity = call->context->introduction;
    return MCP_OK;
}

/* ---- features -------------------------------------------------------------------------------- */

static mcp_status on_tools_list(mcp_call *call)
{
    return mcp__list_answer(&call->features->tools, call);
}

static mcp_status on_resources_list(mcp_call *call)
{
    return mcp__list_answer(&call->features->resources, call);
}

static mcp_status on_templates_list(mcp_call *call)
{
    return mcp__list_answer(&call->features->templates, call);
}

static mcp_status on_prompts_list(mcp_call *call)
{
    return mcp__list_answer(&call->features->prompts, call);
}

static mcp_status on_set_level(mcp_call *call)
{
    mcp_level level = mcp_level_find(mcp_json_get_string(call->request.params, "level"));

    if (level == MCP_LEVEL_NONE)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.level must be a level of logging");
    call->session->log_level = level;
    (void)mcp_call_result(call);
    return MCP_OK;
}

/* The URI of a subscription. */
static mcp_status read_uri(const char **out, mcp_call *call)
{
    size_t length = 0;

    *out = mcp_json_string(mcp_json_get(call->request.params, "uri"), &length);
    if (!*out || length == 0 || strlen(*out) != length)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.uri must be a URI");
    (void)mcp_call_result(call);
    return MCP_OK;
}

static mcp_status on_subscribe(mcp_call *call)
{
    const char *uri = NULL;
    mcp_status st = read_uri(&uri, call);

    return st == MCP_OK ? mcp__subscribe_add(call->session, uri, &call->err) : st;
}

static mcp_status on_unsubscribe(mcp_call *call)
{
    const char *uri = NULL;
    mcp_status st = read_uri(&uri, call);

    if (st == MCP_OK)
        mcp__subscribe_remove(call->session, uri);
    return st;
}

static mcp_status on_listen(mcp_call *call)
{
    unsigned can = capabilities_of(call);

    return mcp__subscribe_listen(call, can & MCP__CAN_CHANGE ? mcp__features_lists(can) : 0,
                                 (can & MCP__CAN_RESOURCES) && (can & MCP__CAN_SUBSCRIBE));
}

/* ---- the table ------------------------------------------------------------------------------- */

/* How long an answer may be kept, and by whom: lists that are the same for everybody, by
 * everybody. */
static const mcp__caching list_caching = { .is_stated = true,
                                           .is_public = true,
                                           .ttl_ms = 3600000 };
static const mcp__caching read_caching = { .is_stated = true };

#define SHOWN_MAX 150 /* bytes of a name in a message */

#define SINCE_2024_11_05 MCP_2024_11_05, MCP_REVISION_NEWEST
#define WITH_SESSIONS MCP_2024_11_05, MCP_REVISION_NEWEST_SESSION
#define SINCE_2026_07_28 MCP_2026_07_28, MCP_REVISION_NEWEST
#define SINCE_2025_11_25 MCP_2025_11_25, MCP_REVISION_NEWEST
#define IN_2025_11_25 MCP_2025_11_25, MCP_2025_11_25

/* clang-format off */
static const struct method {
    const char *name;
    int from, to; /* mcp_revision */
    unsigned capability;
    unsigned flags;
    const char *subject;         /* the member of params that the header Mcp-Name repeats */
    const mcp__caching *caching; /* NULL: nothing is said about it */
    mcp_status (*run)(mcp_call *call);
} methods[] = {
    /* name                        from, to          capability          flags            subject  caching        run */
    { "tools/call",                SINCE_2024_11_05, MCP__CAN_TOOLS,     NEEDS_PARAMS | MAY_ASK, "name",  NULL,          mcp__tools_call },
    { "tools/list",                SINCE_2024_11_05, MCP__CAN_TOOLS,     0,               NULL,    &list_caching, on_tools_list },
    { "resources/read",            SINCE_2024_11_05, MCP__CAN_RESOURCES, NEEDS_PARAMS | MAY_ASK, "uri",   &read_caching, mcp__resources_read },
    { "resources/list",            SINCE_2024_11_05, MCP__CAN_RESOURCES, 0,               NULL,    &list_caching, on_resources_list },
    { "resources/templates/list",  SINCE_2024_11_05, MCP__CAN_RESOURCES, 0,               NULL,    &list_caching, on_templates_list },
    { "prompts/get",               SINCE_2024_11_05, MCP__CAN_PROMPTS,   NEEDS_PARAMS | MAY_ASK, "name",  NULL,          mcp__prompts_get },
    { "prompts/list",              SINCE_2024_11_05, MCP__CAN_PROMPTS,   0,               NULL,    &list_caching, on_prompts_list },
    { "completion/complete",       SINCE_2024_11_05, MCP__CAN_COMPLETIONS, NEEDS_PARAMS,  NULL,    NULL,          mcp__completions_complete },
    { "logging/setLevel",          WITH_SESSIONS,    MCP__CAN_LOGGING,   NEEDS_PARAMS,    NULL,    NULL,          on_set_level },
    { "resources/subscribe",       WITH_SESSIONS,    MCP__CAN_RESOURCES | MCP__CAN_SUBSCRIBE, NEEDS_PARAMS, NULL, NULL, on_subscribe },
    { "resources/unsubscribe",     WITH_SESSIONS,    MCP__CAN_RESOURCES | MCP__CAN_SUBSCRIBE, NEEDS_PARAMS, NULL, NULL, on_unsubscribe },
    { "subscriptions/listen",      SINCE_2026_07_28, MCP__CAN_ALWAYS,    NEEDS_PARAMS,    NULL,    NULL,          on_listen },
    { "tasks/get",                 SINCE_2025_11_25, MCP__CAN_TASKS,     NEEDS_PARAMS,    "taskId", NULL,         mcp__tasks_get },
    { "tasks/update",              SINCE_2026_07_28, MCP__CAN_TASKS,     NEEDS_PARAMS,    "taskId", NULL,         mcp__tasks_update },
    { "tasks/result",              IN_2025_11_25,    MCP__CAN_TASKS,     NEEDS_PARAMS,    NULL,    NULL,          mcp__tasks_result },
    { "tasks/cancel",              SINCE_2025_11_25, MCP__CAN_TASKS,     NEEDS_PARAMS,    "taskId", NULL,         mcp__tasks_cancel },
    { "tasks/list",                IN_2025_11_25,    MCP__CAN_TASKS,     0,               NULL,    NULL,          mcp__tasks_list },
    { "server/discover",           SINCE_2026_07_28, MCP__CAN_ALWAYS,    0,               NULL,    &list_caching, on_discover },
    { "ping",                      WITH_SESSIONS,    MCP__CAN_ALWAYS,    0,               NULL,    NULL,          on_ping },
    { "initialize",                WITH_SESSIONS,    MCP__CAN_ALWAYS,    NEEDS_PARAMS | NOT_IN_BATCH, NULL, NULL, on_initialize },
    { "notifications/initialized", WITH_SESSIONS,    MCP__CAN_ALWAYS,    IS_NOTIFICATION, NULL,    NULL,          on_initialized },
    { "notifications/cancelled",   SINCE_2024_11_05, MCP__CAN_ALWAYS,    IS_NOTIFICATION, NULL,    NULL,          on_cancelled },
};
/* clang-format on */

static const struct method *find(const mcp_call *call)
{
    bool is_notification = !call->request.id;

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        const struct method *method = &methods[i];
        if (strcmp(method->name, call->request.method) != 0)
            continue;
        bool serves = (method->capability & ~capabilities_of(call)) == 0 &&
                      (int)call->request.revision >= method->from &&
                      (int)call->request.revision <= method->to &&
                      is_notification == ((method->flags & IS_NOTIFICATION) != 0);
        return serves ? method : NULL;
    }
    return NULL;
}

/* The header that names what is called; a body that does not name it is refused by the method
 * itself. */
static mcp_status check_subject(const struct method *method, mcp_call *call)
{
    const mcp_json *subject = method->subject ? mcp_json_get(call->request.params, method->subject)
                                              : NULL;

    if (!mcp__call_is_stateless(call) || !call->notification_peer->headers ||
        !mcp_json_is_string(subject))
        return MCP_OK;
    return mcp__headers_check_name(call->notification_peer->headers, "Mcp-Name", subject,
                                   call->arena, &call->err);
}

mcp_status mcp__method_route(mcp_call *call)
{
    const struct method *method = find(call);

    if (!method)
        return mcp_error_set(&call->err, MCP_E_METHOD, "Unknown method: %.*s", SHOWN_MAX,
                             call->request.method);
    call->plan.method = method->name;
    if ((method->flags & NOT_IN_BATCH) && call->peer != call->notification_peer)
        return mcp_error_set(&call->err, MCP_E_REQUEST, "%s must not be part of a batch",
                             method->name);
    if ((method->flags & NEEDS_PARAMS) && !call->request.params)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "%s needs params", method->name);
    if (check_subject(method, call) != MCP_OK)
        return call->err.status;
    if (method->caching)
        call->answer.caching = *method->caching;
    if (capabilities_of(call) & MCP__CAN_CHANGE)
        call->answer.caching.ttl_ms = 0; /* the next look may see another list */
    call->input.is_allowed = (method->flags & MAY_ASK) != 0;
    return method->run(call);
}
