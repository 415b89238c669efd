/*
 * hooks.c - the verdict on a tool, and errors of arguments in casparian's form. Both run on the
 * loop, so they do not wait for the audit log.
 */
#include "hooks.h"

#include <string.h>

#include "gateway/permissions.h"
#include "gateway/request.h"

#define ERROR_MAX 65536

bool casparian_tool_is_visible(const mcp_call *call, mcp_feature feature, const char *name,
                               void *data)
{
    const casparian_app *app = data;
    if (feature != MCP_FEATURE_TOOL || strcmp(mcp_call_name(call), name) == 0)
        return true;
    for (const casparian_tool *tool = app->tools; tool->name; tool++)
        if (strcmp(tool->name, name) == 0)
            return casparian_permission_of(app->config, tool) != CASPARIAN_DENY;
    return true;
}

/* The details: where, and which rule. */
static const char *details_of(mcp_call *call, const mcp_schema_finding *finding)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, ERROR_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "pointer", finding->instance_path);
    mcp_write_member_string(&json, "rule", finding->keyword);
    mcp_write_end(&json);
    const char *details = text.status == MCP_OK
                              ? mcp_arena_strndup(mcp_call_arena(call), text.data, text.length)
                              : NULL;
    mcp_buf_clear(&text);
    return details;
}

mcp_status casparian_format_error(mcp_call *call, mcp_refusal reason,
                                  const mcp_schema_finding *finding, void *data)
{
    casparian_app *app = data;
    casparian_refusal refusal = { .code = CASPARIAN_CODE_PERMISSION_DENIED,
                                  .message = "The tool cannot be called now" };
    mcp_json_writer json;
    mcp_buf text;
    if (reason == MCP_REFUSED_BUSY)
        refusal = (casparian_refusal){ .code = CASPARIAN_CODE_RATE_LIMITED,
                                       .message = "Too many calls of this tool run already",
                                       .suggestion = "Call it again when one of them has ended" };
    if (reason == MCP_REFUSED_ARGUMENTS && finding)
        refusal = (casparian_refusal){ .code = CASPARIAN_CODE_INVALID_ARGUMENTS,
                                       .message = finding->message,
                                       .details = details_of(call, finding) };
    casparian_request_refused(app, call, refusal.code);
    mcp_buf_init(&text, ERROR_MAX);
    mcp_json_writer_init(&json, &text);
    casparian_refusal_write(&json, &refusal);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = mcp_call_tool_error_text(call, text.data, text.length);
    mcp_buf_clear(&text);
    return st;
}
