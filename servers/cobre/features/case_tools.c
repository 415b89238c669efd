/*
 * case_tools.c - the tools that look at a case directory, and the schema of config.json.
 */
#include <unistd.h>

#include "case/read/inspect.h"
#include "case/schema/schema.h"
#include "features/tools.h"
#include "gateway/directory.h"
#include "gateway/errors.h"
#include "query/scenarios.h"
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
    cobre_app *app = data;
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
    cobre_app *app = data;
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

/* ---- cobre/list-scenarios -------------------------------------------------------------------- */

static mcp_status refuse_scenarios(mcp_call *call, mcp_status st, const char *file,
                                   const mcp_error *cause)
{
    if (st == MCP_E_NOT_FOUND)
        return cobre_refuse(call, "MissingFile",
                            "Provide the model of the inflow below scenarios/ of the case.",
                            COBRE_MEMBERS(COBRE_TEXT("file", file)), "%s", cause->message);
    if (st == MCP_E_PARSE || st == MCP_E_DENIED || st == MCP_E_LIMIT || st == MCP_E_IO)
        return cobre_refuse(
            call, "ParseError", "cobre/validate tells more about the case.",
            COBRE_MEMBERS(COBRE_TEXT("file", file), COBRE_TEXT("detail", cause->message)), "%s",
            cause->message);
    return mcp_error_set(mcp_call_error(call), st, "%s", cause->message);
}

static void write_scenarios(const query_scenario_summary *about, mcp_json_writer *out)
{
    mcp_write_member_string(out, "scenario_source", about->is_external ? "external" : "par");
    mcp_write_member_int(out, "count", about->count);
    mcp_write_member_int(out, "stages", about->stages);
    mcp_write_member_int(out, "entities", about->entities);
    if (about->is_external) {
        mcp_write_member_null(out, "par_model");
        return;
    }
    mcp_write_member_object(out, "par_model");
    mcp_write_member_int(out, "max_ar_order", about->max_order);
    mcp_write_member_int(out, "seasons", about->seasons);
    mcp_write_member_int(out, "correlation_groups", about->groups);
    mcp_write_end(out);
}

mcp_status cobre_tool_list_scenarios(mcp_call *call, void *data)
{
    cobre_app *app = data;
    mcp_error cause = MCP_ERROR_INIT;
    query_scenario_summary about;
    const char *file = NULL;
    mcp_status st = MCP_OK;
    int fd = -1;
    if (!cobre_open_dir(call, app, "case_dir", &fd, NULL, &st))
        return st;
    st = query_scenarios_summarize(&about, &file, app->engine, fd, mcp_call_arena(call), &cause);
    close(fd);
    if (st != MCP_OK)
        return refuse_scenarios(call, st, file, &cause);
    write_scenarios(&about, mcp_call_result(call));
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
