/*
 * request.c - the way of a call: limit, permission, audit, function, budget, audit.
 *
 * Everything that refuses a call ends in casparian_refuse_with, which notes the code; the line of
 * the audit is written when the function and all its continuations have ended.
 */
#include "gateway/request.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gateway/permissions.h"
#include "mcp/auth.h"
#include "mcp/clock.h"

#define ERROR_MAX ((size_t)1 << 20)
#define TAIL_BYTES 1024 /* of an answer, for the members after a list that was cut */

static const casparian_tool *find_tool(const casparian_app *app, const char *name)
{
    for (const casparian_tool *tool = app->tools; tool->name; tool++)
        if (strcmp(tool->name, name) == 0)
            return tool;
    return NULL;
}

/* ---- answers --------------------------------------------------------------------------------- */

mcp_json_writer *casparian_request_result(casparian_request *request)
{
    if (!request->result) {
        request->result = mcp_call_result(request->call);
        request->result_start = request->result->buf->length;
    }
    return request->result;
}

/* The text of the answer so far. */
static size_t result_bytes(const casparian_request *request)
{
    const mcp_json_writer *json = request->result;
    return json && !request->error_code ? json->buf->length - request->result_start : 0;
}

size_t casparian_request_room(const casparian_request *request)
{
    size_t max = request->app->config->mcp.max_response_bytes;
    size_t used = result_bytes(request) + TAIL_BYTES;
    return used < max ? max - used : 0;
}

/* Rules whose refusals are security lines of the audit. */
static bool is_security(casparian_code code)
{
    switch ((int)code) {
    case CASPARIAN_CODE_PATH_NOT_ALLOWED:
    case CASPARIAN_CODE_PATH_TRAVERSAL:
    case CASPARIAN_CODE_SYMLINK_ESCAPE:
    case CASPARIAN_CODE_PLUGIN_NOT_TRUSTED:
    case CASPARIAN_CODE_PLUGIN_MODIFIED:
    case CASPARIAN_CODE_SQL_NOT_ALLOWED:
    case CASPARIAN_CODE_RATE_LIMITED:
    case CASPARIAN_CODE_PERMISSION_DENIED:
        return true;
    default:
        return false;
    }
}

mcp_status casparian_refuse_with(casparian_request *request, const casparian_refusal *refusal)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, ERROR_MAX);
    mcp_json_writer_init(&json, &text);
    casparian_refusal_write(&json, refusal);
    mcp_status st = mcp_json_writer_status(&json);
    request->error_code = casparian_code_text(refusal->code);
    request->result = NULL;
    if (is_security(refusal->code))
        casparian_audit_security(request->app->audit, request->error_code, request->tool->name,
                                 refusal->message);
    if (st == MCP_OK)
        st = mcp_call_tool_error_text(request->call, text.data, text.length);
    mcp_buf_clear(&text);
    return st;
}

mcp_status casparian_refuse(casparian_request *request, casparian_code code, const char *suggestion,
                            const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return casparian_refuse_with(
        request,
        &(casparian_refusal){ .code = code, .message = message, .suggestion = suggestion });
}

mcp_status casparian_request_fail(casparian_request *request, mcp_status status,
                                  const mcp_error *err)
{
    casparian_code code = casparian_code_of(status);
    const char *words = err && err->message[0] ? err->message : mcp_status_words(status);
    if (code != CASPARIAN_CODE_INTERNAL)
        return casparian_refuse(request, code, NULL, "%s", words);
    mcp_call_log_line(request->call, MCP_LOG_ERROR, "%s: %s", request->tool->name, words);
    return casparian_refuse(request, code, NULL, "The server failed; its log tells how");
}

/* An answer that is larger than the budget, since its function could not cut it. */
static mcp_status replace_large(casparian_request *request)
{
    size_t max = request->app->config->mcp.max_response_bytes, bytes = result_bytes(request);
    char text[512];
    int length = snprintf(text, sizeof text,
                          "{\"truncated\":true,\"max_bytes\":%zu,\"original_bytes\":%zu,"
                          "\"message\":\"The answer is larger than the budget of %zu bytes\","
                          "\"partial_data\":null}",
                          max, bytes, max);
    request->error_code = "response_too_large";
    request->result = NULL;
    return mcp_call_tool_error_text(request->call, text, (size_t)length);
}

/* ---- before the function --------------------------------------------------------------------- */

/* Milliseconds until there is a token; 0: it was taken. */
static int64_t take_token(const casparian_request *request)
{
    const casparian_app *app = request->app;
    const char *client = mcp_call_principal(request->call);
    const char *key = client ? client : "local";
    int64_t now_ms = mcp_clock_mono_ms();
    int64_t wait_ms = app->rate ? guard_rate_take(app->rate, key, strlen(key), now_ms) : 0;
    if (wait_ms == 0 && app->expensive_rate && (request->tool->traits & CASPARIAN_EXPENSIVE))
        wait_ms = guard_rate_take(app->expensive_rate, key, strlen(key), now_ms);
    return wait_ms;
}

static mcp_status refuse_rate(casparian_request *request, int64_t wait_ms)
{
    char details[64];
    snprintf(details, sizeof details, "{\"retry_after_ms\":%" PRId64 "}", wait_ms);
    return casparian_refuse_with(
        request, &(casparian_refusal){ .code = CASPARIAN_CODE_RATE_LIMITED,
                                       .message = "Too many calls of tools",
                                       .details = details,
                                       .suggestion = "Wait as long as retry_after_ms says" });
}

static mcp_status refuse_permission(casparian_request *request, const char *reason)
{
    return casparian_refuse(request, CASPARIAN_CODE_PERMISSION_DENIED,
                            "A human can allow it in config.toml: [mcp.tools], or the profile",
                            "The tool %s %s", request->tool->name, reason);
}

/* Ask the human through the client. @return MCP_OK with *is_allowed, or refused; else the status to
 * return */
static mcp_status ask(casparian_request *request, bool *is_allowed)
{
    static const char schema[] = "{\"type\":\"object\",\"properties\":{\"allow\":{\"type\":"
                                 "\"boolean\",\"title\":\"Allow this call\"}},\"required\":"
                                 "[\"allow\"]}";
    char message[256];
    if (!mcp_call_client_can(request->call, MCP_CLIENT_ELICITATION))
        return refuse_permission(request, "asks the human for each call, and this client cannot");
    snprintf(message, sizeof message, "Allow a call of the tool %s?", request->tool->name);
    const mcp_json *answer = mcp_call_elicit_form(request->call, "casparian/permission", message,
                                                  schema);
    if (!answer)
        return mcp_call_input_required(request->call);
    const mcp_json *allow = mcp_json_pointer(answer, "/content/allow");
    bool is_yes = false;
    *is_allowed = mcp_json_bool(allow, &is_yes) && is_yes;
    return *is_allowed ? MCP_OK : refuse_permission(request, "was not allowed by the human");
}

/* MCP_OK: allowed or refused; else the status to return. */
static mcp_status check_permission(casparian_request *request, bool *is_allowed)
{
    switch (casparian_permission_of(request->app->config, request->tool)) {
    case CASPARIAN_ALLOW:
        *is_allowed = true;
        return MCP_OK;
    case CASPARIAN_ASK:
        return ask(request, is_allowed);
    case CASPARIAN_DENY:
        break;
    }
    return refuse_permission(request, "is not allowed by the settings");
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Where the arguments have a string with a NUL. C would read it as another string, or as none. */
static bool find_nul(char *pointer, size_t size, const mcp_json *value)
{
    size_t length = 0, used = strlen(pointer), count = mcp_json_count(value);
    const char *text = mcp_json_string(value, &length);
    if (text)
        return memchr(text, '\0', length) != NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = mcp_json_is_object(value) ? mcp_json_name(value, i, &length) : NULL;
        if (name)
            snprintf(pointer + used, size - used, "/%s", name);
        else
            snprintf(pointer + used, size - used, "/%zu", i);
        if ((name && memchr(name, '\0', length)) ||
            find_nul(pointer, size, mcp_json_item(value, i)))
            return true;
        pointer[used] = '\0';
    }
    return false;
}

/* The statement of a query may not have one either; its guard tells so in its own words. */
static bool check_strings(casparian_request *request)
{
    char pointer[256] = "";
    if (!find_nul(pointer, sizeof pointer, mcp_call_arguments(request->call)) ||
        strcmp(pointer, "/sql") == 0)
        return true;
    casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL, "%s: a NUL is not allowed",
                     pointer);
    return false;
}

/* ---- audit ----------------------------------------------------------------------------------- */

static void fill_audit(casparian_audit_call *out, const casparian_request *request)
{
    size_t bytes = result_bytes(request);
    const char *text = bytes > 0 ? request->result->buf->data + request->result_start : NULL;
    *out = (casparian_audit_call){ .id = mcp_call_id(request->call),
                                   .tool = request->tool->name,
                                   .arguments = mcp_call_arguments(request->call),
                                   .error_code = request->error_code,
                                   .redaction = request->redaction,
                                   .preview = text,
                                   .preview_length = bytes,
                                   .response_bytes = bytes,
                                   .duration_ms = mcp_clock_mono_ms() - request->started_ms,
                                   .rows = request->rows };
}

void casparian_request_refused(casparian_app *app, mcp_call *call, casparian_code code)
{
    const casparian_audit_call line = { .id = mcp_call_id(call),
                                        .tool = mcp_call_name(call),
                                        .arguments = mcp_call_arguments(call),
                                        .error_code = casparian_code_text(code),
                                        .rows = -1 };
    casparian_audit_refused(app->audit, &line);
}

/* Whether a status only says that the answer comes later. */
static bool is_pending(mcp_status status)
{
    return (int)status > (int)MCP_PENDING;
}

/* The end of a function: what it returned becomes the answer. */
static mcp_status finish(casparian_request *request, mcp_status st)
{
    casparian_audit_call line;
    if (is_pending(st))
        return st;
    if (st != MCP_OK)
        st = casparian_request_fail(request, st, mcp_call_error(request->call));
    if (st == MCP_OK && result_bytes(request) > request->app->config->mcp.max_response_bytes)
        st = replace_large(request);
    fill_audit(&line, request);
    casparian_audit_response(request->app->audit, &line);
    return st;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static mcp_status begin(casparian_request *request)
{
    mcp_error err = MCP_ERROR_INIT;
    casparian_audit_call line;
    bool is_allowed = false;
    fill_audit(&line, request);
    mcp_status st = casparian_audit_request(request->app->audit, &line, &err);
    if (st != MCP_OK)
        return casparian_refuse(request, CASPARIAN_CODE_STORE_ERROR, NULL, "%s", err.message);
    int64_t wait_ms = take_token(request);
    if (wait_ms > 0)
        return refuse_rate(request, wait_ms);
    st = check_permission(request, &is_allowed);
    if (st != MCP_OK || !is_allowed || !check_strings(request))
        return st;
    return request->tool->run(request);
}

mcp_status casparian_request_run(mcp_call *call, void *data)
{
    casparian_app *app = data;
    casparian_request *request = mcp_arena_alloc(mcp_call_arena(call), sizeof *request);
    if (!request)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a call");
    *request = (casparian_request){ .call = call,
                                    .app = app,
                                    .tool = find_tool(app, mcp_call_name(call)),
                                    .rows = -1,
                                    .started_ms = mcp_clock_mono_ms() };
    if (!request->tool)
        return mcp_error_set(mcp_call_error(call), MCP_E_INTERNAL, "the tool has no row");
    return finish(request, begin(request));
}

static mcp_status resume(mcp_call *call, void *data)
{
    casparian_request *request = data;
    (void)call;
    return finish(request, request->next(request));
}

void casparian_request_resume(casparian_request *request, casparian_handler *next)
{
    request->next = next;
    mcp_call_resume(request->call, resume, request, 0);
}

bool casparian_request_is_over(void *request)
{
    return mcp_call_stop(((const casparian_request *)request)->call) != MCP_STOP_NONE;
}

/* ---- paths ----------------------------------------------------------------------------------- */

casparian_code casparian_code_of_path(guard_refusal why)
{
    switch (why) {
    case GUARD_REFUSED_TRAVERSAL:
        return CASPARIAN_CODE_PATH_TRAVERSAL;
    case GUARD_REFUSED_LINK:
        return CASPARIAN_CODE_SYMLINK_ESCAPE;
    case GUARD_REFUSED_OUTSIDE:
        return CASPARIAN_CODE_PATH_NOT_ALLOWED;
    case GUARD_REFUSED_MISSING:
        return CASPARIAN_CODE_NOT_FOUND;
    case GUARD_REFUSED_INVALID:
    case GUARD_REFUSED_KIND:
    case GUARD_REFUSED_NOT:
        break;
    }
    return CASPARIAN_CODE_INVALID_ARGUMENTS;
}

/* NULL stands for a text with a NUL in it. */
static bool refuse_path(casparian_request *request, mcp_status st, guard_refusal why,
                        const mcp_error *err)
{
    if (why == GUARD_REFUSED_NOT)
        (void)casparian_request_fail(request, st, err);
    else
        (void)casparian_refuse(request, casparian_code_of_path(why), NULL, "%s", err->message);
    return false;
}

bool casparian_request_open(guard_named *out, casparian_request *request, const char *path,
                            unsigned kinds)
{
    mcp_error err = MCP_ERROR_INIT;
    guard_refusal why = GUARD_REFUSED_NOT;
    mcp_status st = guard_open_named(out, &why, request->app->roots, path ? path : "", kinds,
                                     mcp_call_arena(request->call), &err);
    return st == MCP_OK || refuse_path(request, st, why, &err);
}

bool casparian_request_target(guard_target *out, casparian_request *request, const char *path)
{
    mcp_error err = MCP_ERROR_INIT;
    guard_refusal why = GUARD_REFUSED_NOT;
    mcp_status st = guard_open_target(out, &why, request->app->roots, path ? path : "",
                                      mcp_call_arena(request->call), &err);
    return st == MCP_OK || refuse_path(request, st, why, &err);
}
