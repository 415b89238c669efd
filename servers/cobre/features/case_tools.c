/*
 * case_tools.c - the tools that look at a case directory, and the schema of config.json.
 */
#include <unistd.h>

#include "case/read/inspect.h"
#include "features/tools.h"
#include "gateway/directory.h"
#include "gateway/errors.h"
#include "validate/load.h"

static mcp_status load_report(mcp_call *call, const cobre_app *app, int fd, const char *directory,
                              cobre_report **report)
{
    const cobre_case *input = NULL;
    *report = cobre_report_new(mcp_call_arena(call));
    if (!*report)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the report");
    return cobre_case_load(&input, fd, directory, app->engine, *report, mcp_call_arena(call),
                           mcp_call_error(call));
}

mcp_status cobre_tool_validate(mcp_call *call, void *data)
{
    const cobre_app *app = data;
    int fd = -1;
    const char *directory = NULL;
    mcp_status st = MCP_OK;
    cobre_report *report = NULL;
    if (!cobre_open_dir(call, app, "case_dir", &fd, &directory, &st))
        return st;
    st = load_report(call, app, fd, directory, &report);
    close(fd);
    if (st == MCP_OK)
        cobre_report_write_verdict(report, mcp_call_result(call));
    return st;
}

mcp_status cobre_tool_inspect_case(mcp_call *call, void *data)
{
    const cobre_app *app = data;
    mcp_arena *arena = mcp_call_arena(call);
    int fd = -1;
    mcp_status st = MCP_OK;
    cobre_inspection about;
    cobre_report *report = cobre_report_new(arena);
    if (!report)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the report");
    if (!cobre_open_dir(call, app, "case_dir", &fd, NULL, &st))
        return st;
    st = cobre_case_inspect(&about, fd, report, arena, mcp_call_error(call));
    close(fd);
    if (st != MCP_OK)
        return st;
    if (cobre_report_count(report, COBRE_SEVERITY_ERROR))
        return cobre_refuse_case(call, report);
    cobre_inspection_write(&about, mcp_call_result(call));
    return MCP_OK;
}

/* ---- cobre/get-config-schema ----------------------------------------------------------------- */

mcp_status cobre_tool_get_config_schema(mcp_call *call, void *data)
{
    (void)data;
    const mcp_file *file = mcp_files_find(cobre_files, "schemas/config.schema.json");
    if (!file)
        return mcp_error_set(mcp_call_error(call), MCP_E_INTERNAL,
                             "schemas/config.schema.json is not embedded");
    const mcp_json *schema = NULL;
    mcp_status st = mcp_json_read(&schema, mcp_call_arena(call), file->bytes, file->length,
                                  mcp_call_error(call));
    if (st == MCP_OK)
        mcp_write_member_value(mcp_call_result(call), "schema", schema);
    return st;
}
