/*
 * refusals.c - errors of arguments and of the control plane, by revision.
 */
#include "features/refusals.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "features/tools.h"

enum { MESSAGE_MAX = 400, RECORD_MAX = 64 << 10, FIELDS_SHOWN = 5 };

/* ---- arguments ------------------------------------------------------------------------------- */

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n\v\f")] == '\0';
}

const char *portarium_missing(const mcp_call *call)
{
    const mcp_json *arguments = mcp_call_arguments(call);
    for (const char *const *name = portarium_required(mcp_call_name(call)); name && *name; name++) {
        const char *text = mcp_json_get_string(arguments, *name);
        if (!text || is_blank(text))
            return *name;
    }
    return NULL;
}

static portarium_arg_error form_of(const mcp_call *call, const portarium_app *app)
{
    mcp_revision revision = mcp_call_revision(call);
    if (app->arg_error != PORTARIUM_ARG_ERROR_AUTO)
        return app->arg_error;
    if (revision >= MCP_2025_11_25)
        return PORTARIUM_ARG_ERROR_RESULT;
    return revision >= MCP_2025_03_26 ? PORTARIUM_ARG_ERROR_PARAMS : PORTARIUM_ARG_ERROR_INTERNAL;
}

mcp_status portarium_refuse_arguments(mcp_call *call, const portarium_app *app, const char *format,
                                      ...)
{
    char text[MESSAGE_MAX];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    portarium_arg_error form = form_of(call, app);
    if (form == PORTARIUM_ARG_ERROR_RESULT)
        return mcp_call_tool_error(call, "%s", text);
    /* The code of "not found" is -32603, and its message is sent. */
    return mcp_error_set(mcp_call_error(call),
                         form == PORTARIUM_ARG_ERROR_PARAMS ? MCP_E_PARAMS : MCP_E_NOT_FOUND, "%s",
                         text);
}

/* ---- the control plane ----------------------------------------------------------------------- */

static bool is_retryable(int status)
{
    return status == 429 || (status >= 502 && status <= 504);
}

/* One line that says what is wrong. */
static const char *detail_of(const portarium_reply *reply, mcp_arena *arena)
{
    const char *text = reply->detail;
    if (reply->status >= 500 && reply->status != 501 && !reply->is_unknown)
        return portarium_client_failed;
    for (size_t i = 0; i < reply->fields.count && i < FIELDS_SHOWN; i++) {
        const portarium_field *field = &reply->fields.items[i];
        text = mcp_arena_printf(arena, "%s%s%s%s%s", i > 0 && text ? text : "", i > 0 ? "; " : "",
                                field->field, *field->field ? ": " : "", field->message);
    }
    return text ? text : portarium_client_failed;
}

static void write_record(mcp_json_writer *out, const portarium_reply *reply, const char *detail,
                         const char *correlation_id)
{
    mcp_write_member_string(out, "error", portarium_problem_slug(reply));
    mcp_write_member_int(out, "status", reply->status);
    mcp_write_member_string(out, "title", portarium_problem_title(reply));
    mcp_write_member_string(out, "detail", detail);
    mcp_write_member_string(out, "correlationId", correlation_id);
    mcp_write_member_bool(out, "retryable", !reply->is_unknown && is_retryable(reply->status));
}

mcp_status portarium_answer_failure(mcp_call *call, const portarium_reply *reply,
                                    const portarium_client_call *what)
{
    mcp_buf text;
    mcp_json_writer json;
    const char *detail = detail_of(reply, what->arena);
    if (mcp_call_revision(call) <= MCP_2024_11_05) {
        write_record(mcp_call_error_data(call), reply, detail, what->correlation_id);
        return mcp_error_set(mcp_call_error(call), reply->status >= 500 ? MCP_E_BUSY : MCP_E_DENIED,
                             "%s", detail);
    }
    mcp_buf_init(&text, RECORD_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    write_record(&json, reply, detail, what->correlation_id);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = mcp_call_tool_error_text(call, text.data, text.length);
    mcp_buf_clear(&text);
    return st;
}
