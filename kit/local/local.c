/*
 * local.c - from the environment and the system's list of users.
 */
#include "local/local.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *local_user(void)
{
    const struct passwd *entry = getpwuid(getuid());
    const char *name = entry ? entry->pw_name : getenv("USER");
    return name && *name ? name : "unknown";
}

/* Make the folder of a path, and those above it, for this user alone. */
static mcp_status make_folders(char *path, mcp_error *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
        if (failed)
            return mcp_error_errno(err, errno, "%s, a folder for the database (--db names another)",
                                   path);
        *slash = '/';
    }
    return MCP_OK;
}

mcp_status local_database(const char **out, const char *name, mcp_arena *arena, mcp_error *err)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    bool has_state = state && *state == '/';
    if (!has_state && (!home || *home != '/'))
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "there is no place for the database: neither HOME nor XDG_STATE_HOME "
                             "is set; set one, or --db sqlite:/PATH/%s",
                             name);
    char *url = mcp_arena_printf(arena, "sqlite:%s%s/causeway/%s", has_state ? state : home,
                                 has_state ? "" : "/.local/state", name);
    if (!url)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the database's path");
    mcp_status st = make_folders(url + strlen("sqlite:"), err);
    if (st == MCP_OK)
        *out = url;
    return st;
}
