/*
 * arguments.c - the tool's word of a status in place of the domain's; refusals of the library.
 */
#include "arguments.h"

#include <string.h>

#include "features/refusals.h"
#include "model/mapping.h"

/* The tool's word; NULL: the status is that already, or no status. */
static const char *word_of(const char *tool, const char *status)
{
    portarium_work_item_status item;
    portarium_heartbeat beat;
    if (strcmp(tool, "portarium_work_items_list") == 0 &&
        portarium_work_item_status_read(&item, status))
        return portarium_work_item_word(item);
    if (strcmp(tool, "portarium_agent_heartbeat") == 0 && portarium_heartbeat_read(&beat, status) &&
        beat == PORTARIUM_HEARTBEAT_OK)
        return portarium_heartbeat_word(beat);
    return NULL;
}

mcp_status portarium_normalize_arguments(mcp_call *call, const char *tool,
                                         const mcp_json **arguments, void *data)
{
    const char *status = mcp_json_get_string(*arguments, "status");
    const char *word = status ? word_of(tool, status) : NULL;
    const mcp_json *patch = NULL;
    portarium_tx tx = { .arena = mcp_call_arena(call) };
    (void)data;
    if (!word)
        return MCP_OK;
    mcp_status st = portarium_object(&tx, &patch, mcp_call_error(call), "status", word,
                                     (char *)NULL);
    return st == MCP_OK ? portarium_merge(&tx, arguments, *arguments, patch, mcp_call_error(call))
                        : st;
}

mcp_status portarium_refuse_call(mcp_call *call, mcp_refusal reason,
                                 const mcp_schema_finding *finding, void *data)
{
    const portarium_app *app = data;
    const char *missing = reason == MCP_REFUSED_ARGUMENTS ? portarium_missing(call) : NULL;
    if (missing)
        return portarium_refuse_arguments(call, app, "Missing required string parameter: %s",
                                          missing);
    if (reason == MCP_REFUSED_ARGUMENTS)
        return portarium_refuse_arguments(call, app, "Invalid parameter: %s", finding->message);
    if (mcp_call_revision(call) >= MCP_2025_03_26)
        return MCP_OK; /* the library's text, as a result */
    return mcp_error_set(mcp_call_error(call), MCP_E_DENIED, "Write operations are disabled.");
}
