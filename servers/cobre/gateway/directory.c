/*
 * directory.c - opens the directories that calls name.
 */
#include "gateway/directory.h"

#include <string.h>

#include "gateway/errors.h"

static mcp_status refuse_nul(mcp_call *call, const char *argument)
{
    return cobre_refuse(call, "SchemaViolation", "Give the path without NUL bytes.",
                        COBRE_MEMBERS(COBRE_TEXT("field", argument),
                                      COBRE_TEXT("expected", "a path without NUL bytes"),
                                      COBRE_TEXT("actual", "a path with a NUL byte")),
                        "%s holds a NUL byte", argument);
}

/* The message is the same for every path outside, whether it exists or not. */
static mcp_status refuse_outside(mcp_call *call, const char *path)
{
    return cobre_refuse(call, "MissingFile",
                        "Provide a path within the server's configured allowed directories.",
                        COBRE_MEMBERS(COBRE_TEXT("path", path)),
                        "Path '%s' is not within the allowed directories", path);
}

static mcp_status refuse_absent(mcp_call *call, bool is_case, const char *path,
                                const mcp_error *cause)
{
    return cobre_refuse(call, is_case ? "MissingFile" : "OutputNotFound",
                        "Check the path and that it is a directory.",
                        is_case
                            ? COBRE_MEMBERS(COBRE_TEXT("file", path))
                            : COBRE_MEMBERS(COBRE_TEXT("path", path),
                                            COBRE_TEXT("expected_content", "an output directory")),
                        "%s", cause->message);
}

bool cobre_open_dir(mcp_call *call, const cobre_app *app, const char *argument, int *fd,
                    const char **canonical, mcp_status *answer)
{
    const char *path = mcp_arg_string(call, argument);
    mcp_error cause = MCP_ERROR_INIT;
    if (!path) {
        *answer = refuse_nul(call, argument);
        return false;
    }
    mcp_status st = guard_open_dir(fd, canonical, app->guard, path, mcp_call_arena(call), &cause);
    if (st == MCP_OK)
        return true;
    if (st == MCP_E_NOMEM)
        *answer = mcp_error_set(mcp_call_error(call), st, "%s", cause.message);
    else if (st == MCP_E_DENIED)
        *answer = refuse_outside(call, path);
    else
        *answer = refuse_absent(call, strcmp(argument, "case_dir") == 0, path, &cause);
    return false;
}
