/*
 * method.c - the dispatch table.
 *
 * A row says from which to which revision a method exists, what the server must be able to do, and
 * what the method needs; so what differs between revisions is a column, not an `if`. A method
 * without a row, or outside its revisions, does not exist: that is looked at before its parameters
 * are.
 *
 * The functions run on the loop. Cheap ones answer at once; the features' ones prepare the call for
 * a worker (feature/feature.h).
 */
#include "mcp/method.h"

#include <string.h>

#include "mcp/core/dispatch.h"
#include "mcp/core/fields.h"
#include "mcp/server_int.h"

enum {
    NEEDS_PARAMS = 1 << 0,
    IS_NOTIFICATION = 1 << 1,
    NOT_IN_BATCH = 1 << 2,
    OPENS_SESSION = NEEDS_PARAMS | NOT_IN_BATCH
};

/* The revisions that open with initialize. */
enum { FIRST = MCP_2024_11_05, LAST = MCP_2025_11_25 };

/* ---- opening --------------------------------------------------------------------------------- */

static void write_versions(mcp_json_writer *writer, const mcp_server_options *options)
{
    mcp_write_member_array(writer, "supported");
    for (int revision = options->newest; revision >= (int)options->oldest; revision--)
        mcp_write_string(writer, mcp_revision_name((mcp_revision)revision));
    mcp_write_end(writer);
}

static mcp_status refuse_version(mcp_call *call, const char *requested)
{
    mcp_json_writer *data = mcp__call_error_data(call);

    write_versions(data, call->options);
    mcp_write_member_string(data, "requested", requested);
    return mcp_error_set(&call->err, MCP_E_PARAMS, "Unsupported protocol version");
}

/* The version asked for where we speak it, else the newest that we speak: never an error, unless
 * the server was told to be strict. */
static mcp_status negotiate(mcp_revision *out, mcp_call *call)
{
    const mcp_server_options *options = call->options;
    size_t length = 0;
    const char *requested = mcp_json_string(mcp_json_get(call->params, "protocolVersion"), &length);
    mcp_revision revision = mcp_revision_find(requested);

    if (!requested || strlen(requested) != length)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.protocolVersion must be a string");
    if (revision >= options->oldest && revision <= options->newest)
        *out = revision;
    else if (options->strict_version)
        return refuse_version(call, requested);
    else
        *out = options->newest;
    return MCP_OK;
}

static void write_capability(mcp_json_writer *writer, const char *name, bool has_subscribe)
{
    mcp_write_member_object(writer, name);
    if (has_subscribe)
        mcp_write_member_bool(writer, "subscribe", false);
    mcp_write_member_bool(writer, "listChanged", false);
    mcp_write_end(writer);
}

static void write_capabilities(mcp_json_writer *writer, unsigned capabilities)
{
    mcp_write_member_object(writer, "capabilities");
    if (capabilities & MCP__TOOLS)
        write_capability(writer, "tools", false);
    if (capabilities & MCP__RESOURCES)
        write_capability(writer, "resources", true);
    if (capabilities & MCP__PROMPTS)
        write_capability(writer, "prompts", false);
    mcp_write_end(writer);
}

static void write_known(mcp_json_writer *writer, const char *member, const char *text,
                        mcp_revision revision)
{
    if (text && mcp__field_is_known("Implementation", member, revision))
        mcp_write_member_string(writer, member, text);
}

static void write_server_info(mcp_json_writer *writer, const mcp_server_options *options,
                              mcp_revision revision)
{
    mcp_write_member_object(writer, "serverInfo");
    mcp_write_member_string(writer, "name", options->name);
    mcp_write_member_string(writer, "version", options->version);
    write_known(writer, "title", options->title, revision);
    write_known(writer, "description", options->description, revision);
    write_known(writer, "websiteUrl", options->website_url, revision);
    mcp_write_end(writer);
}

/* Clients that leave these two out are served; ones that send something else in their place are
   not. */
static mcp_status check_opening(mcp_call *call)
{
    static const char *const names[] = { "capabilities", "clientInfo" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const mcp_json *value = mcp_json_get(call->params, names[i]);
        if (value && !mcp_json_is_object(value))
            return mcp_error_set(&call->err, MCP_E_PARAMS, "params.%s must be an object", names[i]);
    }
    return MCP_OK;
}

static void log_client(const mcp_call *call)
{
    const char *name = mcp_json_get_string(call->session->client_info, "name");
    const char *version = mcp_json_get_string(call->session->client_info, "version");

    mcp_log_write(&call->options->log, MCP_LOG_INFO, "client %s %s, protocol %s",
                  name ? name : "without a name", version ? version : "",
                  mcp_revision_name(call->session->revision));
}

static mcp_status on_initialize(mcp_call *call)
{
    const mcp_server_options *options = call->options;
    mcp_revision revision = MCP_REVISION_NONE;
    mcp_status st = check_opening(call);

    if (st == MCP_OK)
        st = negotiate(&revision, call);
    if (st == MCP_OK)
        st = mcp__session_open(call->session, revision, call->params, &call->err);
    if (st != MCP_OK)
        return st;
    call->revision = revision;
    log_client(call);
    mcp_json_writer *result = mcp_call_result(call);
    mcp_write_member_string(result, "protocolVersion", mcp_revision_name(revision));
    write_capabilities(result, call->server->capabilities);
    write_server_info(result, options, revision);
    if (options->instructions)
        mcp_write_member_string(result, "instructions", options->instructions);
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
    const mcp_json *id = mcp_json_get(call->params, "requestId");

    if (mcp_json_is_string(id) || mcp_json_is_number(id))
        mcp__dispatch_cancel(call->session, id);
    return MCP_OK;
}

/* ---- features -------------------------------------------------------------------------------- */

static mcp_status on_tools_list(mcp_call *call)
{
    return mcp__tools_list(call->server->tools, call);
}

static mcp_status on_tools_call(mcp_call *call)
{
    return mcp__tools_call(call->server->tools, call);
}

static mcp_status on_resource_list(mcp_call *call)
{
    return mcp__resources_list(call->server->resources, call);
}

static mcp_status on_template_list(mcp_call *call)
{
    return mcp__resources_templates(call->server->resources, call);
}

static mcp_status on_resource_read(mcp_call *call)
{
    return mcp__resources_read(call->server->resources, call);
}

static mcp_status on_prompts_list(mcp_call *call)
{
    return mcp__prompts_list(call->server->prompts, call);
}

static mcp_status on_prompts_get(mcp_call *call)
{
    return mcp__prompts_get(call->server->prompts, call);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct method {
    const char *name;
    int from, to; /* mcp_revision */
    unsigned capability;
    unsigned flags;
    mcp_status (*run)(mcp_call *call);
} methods[] = {
    /* clang-format off */
    /* name                        from   to    capability      flags            run */
    { "tools/call",                FIRST, LAST, MCP__TOOLS,     NEEDS_PARAMS,    on_tools_call },
    { "tools/list",                FIRST, LAST, MCP__TOOLS,     0,               on_tools_list },
    { "resources/read",            FIRST, LAST, MCP__RESOURCES, NEEDS_PARAMS,    on_resource_read },
    { "resources/list",            FIRST, LAST, MCP__RESOURCES, 0,               on_resource_list },
    { "resources/templates/list",  FIRST, LAST, MCP__RESOURCES, 0,               on_template_list },
    { "prompts/get",               FIRST, LAST, MCP__PROMPTS,   NEEDS_PARAMS,    on_prompts_get },
    { "prompts/list",              FIRST, LAST, MCP__PROMPTS,   0,               on_prompts_list },
    { "ping",                      FIRST, LAST, MCP__ALWAYS,    0,               on_ping },
    { "initialize",                FIRST, LAST, MCP__ALWAYS,    OPENS_SESSION,   on_initialize },
    { "notifications/initialized", FIRST, LAST, MCP__ALWAYS,    IS_NOTIFICATION, on_initialized },
    { "notifications/cancelled",   FIRST, LAST, MCP__ALWAYS,    IS_NOTIFICATION, on_cancelled },
    /* clang-format on */
};

static const struct method *find(const mcp_call *call)
{
    bool is_notification = !call->id;

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        const struct method *method = &methods[i];
        if (strcmp(method->name, call->method) != 0)
            continue;
        bool serves = (method->capability & ~call->server->capabilities) == 0 &&
                      (int)call->revision >= method->from && (int)call->revision <= method->to &&
                      is_notification == ((method->flags & IS_NOTIFICATION) != 0);
        return serves ? method : NULL;
    }
    return NULL;
}

mcp_status mcp__method_route(mcp_call *call)
{
    const struct method *method = find(call);

    if (!method)
        return mcp_error_set(&call->err, MCP_E_METHOD, "there is no method %s here", call->method);
    if ((method->flags & NOT_IN_BATCH) && call->peer != call->notices)
        return mcp_error_set(&call->err, MCP_E_REQUEST, "%s must not be part of a batch",
                             method->name);
    if ((method->flags & NEEDS_PARAMS) && !call->params)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "%s needs params", method->name);
    return method->run(call);
}
