/*
 * path.c - takes out of a path what names nothing.
 */
#include "policy/path.h"

#include <stdbool.h>
#include <string.h>

static mcp_status refuse(const char *path, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_PARAMS,
                         "policy.path '%.150s' names no directory, or is too long", path);
}

/* Whether a path from the output directory begins with a folder that a run writes and clears. */
static bool is_of_results(const char *plain)
{
    static const char *const folders[] = { "training", "simulation", "hydro_models", "stochastic",
                                           "exports" };
    size_t length = strcspn(plain, "/");

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strlen(folders[i]) == length && strncmp(plain, folders[i], length) == 0)
            return true;
    return false;
}

mcp_status policy_path_plain(char out[POLICY_PATH_SIZE], const char *path, mcp_error *err)
{
    size_t length = 0, next = 0;

    for (const char *at = path; *at; at += next) {
        at += strspn(at, "/");
        next = strcspn(at, "/");
        if (next == 0 || (next == 1 && *at == '.'))
            continue;
        if (length + next + 2 > POLICY_PATH_SIZE)
            return refuse(path, err);
        if (length > 0 || path[0] == '/')
            out[length++] = '/';
        memcpy(out + length, at, next);
        length += next;
    }
    if (length == 0)
        return refuse(path, err);
    out[length] = '\0';
    if (is_of_results(out))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "policy.path '%.150s' is a folder of the results: give the policy a "
                             "directory of its own",
                             path);
    return MCP_OK;
}
