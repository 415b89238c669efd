/*
 * arguments.c - arguments that everybody reads alike.
 *
 * A member that stands twice is refused wherever it stands: a proxy that judged the first, and a handler
 * that acts on the last, would have seen two different calls.
 */
#include "mcp/feature/arguments.h"

enum { SHOWN_MAX = 80 }; /* bytes of a name that a message repeats */

/* Nesting is bounded by the reader of JSON. */
static const char *find_duplicate(const mcp_json *value)
{
    const char *name = mcp_json_duplicate(value);
    bool has_members = mcp_json_is_object(value) || mcp_json_is_array(value);

    for (size_t i = 0; !name && has_members && i < mcp_json_count(value); i++)
        name = find_duplicate(mcp_json_item(value, i));
    return name;
}

mcp_status mcp__arguments_read(mcp_call *call)
{
    const mcp_json *arguments = mcp_json_get(call->params, "arguments");

    if (!arguments)
        return MCP_OK;
    if (!mcp_json_is_object(arguments))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.arguments must be an object");
    call->arguments = arguments;
    return MCP_OK;
}

mcp_status mcp__arguments_check(mcp_call *call)
{
    const char *twice = find_duplicate(call->arguments);

    if (!twice)
        return MCP_OK;
    return mcp_error_set(&call->err, MCP_E_PARAMS, "'%.*s' stands twice in params.arguments",
                         SHOWN_MAX, twice);
}
