/*
 * user.c - the user of this process and the name of the host.
 */
#include "gateway/user.h"

#include <pwd.h>
#include <unistd.h>

enum { HOST_SIZE = 256, ENTRY_SIZE = 4096 };

const char *casparian_local_user(mcp_arena *arena)
{
    char host[HOST_SIZE] = "localhost", entry[ENTRY_SIZE];
    struct passwd found, *result = NULL;
    gethostname(host, sizeof host - 1);
    host[sizeof host - 1] = '\0';
    if (getpwuid_r(getuid(), &found, entry, sizeof entry, &result) == 0 && result)
        return mcp_arena_printf(arena, "%s@%s", found.pw_name, host);
    return mcp_arena_printf(arena, "%ld@%s", (long)getuid(), host);
}
