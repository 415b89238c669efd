/*
 * case_tools.c - the tools that look at a case directory, and the schema of config.json.
 */
#include <unistd.h>

#include "case/read/inspect.h"
#include "case/schema/schema.h"
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
    mcp_write_name(mcp_call_result(call), "schema");
    cobre_schema_write(cobre_schema_of(COBRE_FILE_CONFIG), mcp_call_result(call));
    return MCP_OK;
}
