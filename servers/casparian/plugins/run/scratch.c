/*
 * scratch.c - the folder of a guest.
 */
#include "plugins/run/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 16, ENTRIES_MAX = 10000, REMOVED_DEPTH_MAX = 200 };

mcp_status casparian_scratch_make(const char **out, mcp_arena *arena, const char *parent,
                                  uid_t owner, mcp_error *err)
{
    char *path = mcp_arena_printf(arena, "%s/guest-XXXXXX", parent);
    if (!path)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the path of a scratch folder");
    if (!mkdtemp(path))
        return mcp_error_errno(err, errno, "%s: cannot make a scratch folder", parent);
    if (owner != 0 && chown(path, owner, owner) != 0) {
        int failure = errno;
        rmdir(path);
        return mcp_error_errno(err, failure, "%s: cannot give it to the user of guests", path);
    }
    *out = path;
    return MCP_OK;
}

static DIR *open_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder && fd >= 0)
        close(fd);
    return folder;
}

static struct dirent *next_entry(DIR *folder)
{
    struct dirent *entry;
    do
        entry = readdir(folder);
    while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry;
}

/* @return false: more entries or levels than are looked at */
static bool measure(DIR *folder, unsigned depth, size_t *entries, uint64_t *bytes)
{
    bool is_complete = depth < DEPTH_MAX;
    for (struct dirent *entry = next_entry(folder); is_complete && entry;
         entry = next_entry(folder)) {
        struct stat found;
        is_complete = ++*entries <= ENTRIES_MAX;
        if (fstatat(dirfd(folder), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        *bytes += (uint64_t)found.st_blocks * 512;
        DIR *below = S_ISDIR(found.st_mode) ? open_folder(dirfd(folder), entry->d_name) : NULL;
        if (below && is_complete)
            is_complete = measure(below, depth + 1, entries, bytes);
        if (below)
            closedir(below);
    }
    return is_complete;
}

uint64_t casparian_scratch_bytes(const char *path)
{
    size_t entries = 0;
    uint64_t bytes = 0;
    DIR *folder = open_folder(AT_FDCWD, path);
    bool is_complete = !folder || measure(folder, 0, &entries, &bytes);
    if (folder)
        closedir(folder);
    return is_complete ? bytes : UINT64_MAX;
}

static void empty(DIR *folder, unsigned depth)
{
    for (struct dirent *entry = next_entry(folder); entry && depth < REMOVED_DEPTH_MAX;
         entry = next_entry(folder)) {
        if (unlinkat(dirfd(folder), entry->d_name, 0) == 0)
            continue;
        /* A folder that its owner cannot open: of a guest of our own user. */
        if (fchmodat(dirfd(folder), entry->d_name, S_IRWXU, AT_SYMLINK_NOFOLLOW) != 0 &&
            errno == ENOENT)
            continue;
        DIR *below = open_folder(dirfd(folder), entry->d_name);
        if (below) {
            empty(below, depth + 1);
            closedir(below);
        }
        unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
    }
}

void casparian_scratch_remove(const char *path, bool all)
{
    DIR *folder = open_folder(AT_FDCWD, path);
    if (folder) {
        empty(folder, 0);
        closedir(folder);
    }
    if (all)
        rmdir(path);
}
