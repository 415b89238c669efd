/*
 * preview.c - casparian_preview: the first rows that a parser makes of some files.
 */
#include "features/answer.h"
#include "features/runs/prepare.h"

#include <unistd.h>

#include "mcp/clock.h"

enum { FILES_MAX = 10, LIMIT = 100, WARNINGS_MAX = 1 << 16 };

static bool has_stopped(void *call)
{
    return mcp_call_stop(call) != MCP_STOP_NONE;
}

/* Check the argument `files`. False: the call was refused. */
static bool read_files(const char **out, size_t *count, casparian_request *request)
{
    const mcp_json *files = mcp_arg_json(request->call, "files");
    *count = mcp_json_count(files);
    for (size_t i = 0; i < *count && i < FILES_MAX; i++) {
        guard_named named;
        if (!casparian_request_open(&named, request, mcp_json_string(mcp_json_item(files, i), NULL),
                                    GUARD_FILES))
            return false;
        close(named.fd);
        out[i] = named.path;
    }
    return true;
}

mcp_status casparian_preview_tool(casparian_request *request)
{
    const char *files[FILES_MAX];
    casparian_redaction redaction;
    mcp_buf warnings;
    mcp_arena *arena = mcp_call_arena(request->call);
    casparian_prepared_call *prepared = mcp_arena_alloc(arena, sizeof *prepared);
    casparian_preview_request what = { .files = files,
                                       .limit = mcp_arg_int(request->call, "limit", LIMIT),
                                       .redaction = &redaction,
                                       .warnings = &warnings,
                                       .should_stop = has_stopped,
                                       .data = request->call };
    if (!prepared)
        return MCP_E_NOMEM;
    if (!casparian_prepare_read(prepared, request) ||
        !read_files(files, &what.file_count, request) || !casparian_prepare_work(prepared, request))
        return MCP_OK;
    if (!casparian_request_permits(request, "plugins", prepared->work.plugin.id))
        return MCP_OK;
    what.plugin = &prepared->work.plugin;
    what.schemas = prepared->work.schemas;
    what.schema_count = prepared->work.schema_count;
    mcp_buf_init(&warnings, WARNINGS_MAX);
    casparian_request_redaction(&redaction, &warnings, request);
    mcp_status st = casparian_driver_preview(casparian_request_result(request),
                                             request->app->driver, arena, &what,
                                             mcp_call_error(request->call));
    mcp_buf_clear(&warnings);
    if (st == MCP_E_EXISTS)
        return casparian_refuse(request, CASPARIAN_CODE_PLUGIN_MODIFIED,
                                "Start again with the plugin as it is now.", "%s",
                                mcp_call_error(request->call)->message);
    return st;
}
