/*
 * errors.c - error records as answers to tool calls: one JSON object in one text block.
 */
#include "gateway/errors.h"

#define RECORD_MAX ((size_t)1 << 20)
#define CASE_RECORD_MAX ((size_t)12 << 20) /* the reply holds it as text, within 16 MiB */

static mcp_status refuse_with(mcp_call *call, mcp_buf *text, mcp_json_writer *writer)
{
    mcp_status st = mcp_json_writer_status(writer);
    if (st == MCP_OK)
        st = mcp_call_tool_error_text(call, text->data, text->length);
    else
        mcp_error_set(mcp_call_error(call), st, "the error record cannot be written");
    mcp_buf_clear(text);
    return st;
}

mcp_status cobre_refuse_record(mcp_call *call, const cobre_record *record)
{
    if (!record)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the error record");
    mcp_buf text;
    mcp_json_writer writer;
    mcp_buf_init(&text, RECORD_MAX);
    mcp_json_writer_init(&writer, &text);
    cobre_record_write(record, &writer);
    return refuse_with(call, &text, &writer);
}

mcp_status cobre_refuse(mcp_call *call, const char *kind, const char *suggestion,
                        const cobre_member *members, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const cobre_record *record = cobre_record_newv(mcp_call_arena(call), kind, suggestion, members,
                                                   format, arguments);
    va_end(arguments);
    return cobre_refuse_record(call, record);
}

mcp_status cobre_refuse_case(mcp_call *call, const cobre_report *report)
{
    mcp_buf text;
    mcp_json_writer writer;
    mcp_buf_init(&text, CASE_RECORD_MAX);
    mcp_json_writer_init(&writer, &text);
    cobre_report_write_failure(report, &writer);
    return refuse_with(call, &text, &writer);
}

mcp_status cobre_refuse_use(mcp_call *call, const char *settings, const char *suggestion,
                            const char *message)
{
    return cobre_refuse(call, "IncompatibleSettings", suggestion,
                        COBRE_MEMBERS(COBRE_NULL("file"), COBRE_TEXT("settings", settings),
                                      COBRE_TEXT("detail", message),
                                      COBRE_TEXT("tool", mcp_call_name(call))),
                        "%s", message);
}
