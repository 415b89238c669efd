/*
 * copy.c - copies file by file, and hashes the copy.
 *
 * What happens to the plugin meanwhile, also that a link takes the place of a folder, makes the
 * copy another one, which its hash shows.
 */
#include "plugins/run/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/bundle.h"
#include "plugins/run/scratch.h"

enum { COPY_BYTES = 64 << 10, FOLDER_MODE = 0755, FILE_MODE = 0644, PROGRAM_MODE = 0755 };

#define READ_ROOM ((size_t)256 << 20) /* of the texts of a bundle, twice */

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the copy of a plugin");
}

static mcp_status changed(const casparian_plugin *plugin, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_EXISTS,
                         "the plugin %s was changed or removed since it was looked up",
                         plugin->display);
}

static mcp_status failed(const char *path, int failure, mcp_error *err)
{
    if (failure == ENOSPC || failure == EDQUOT)
        return mcp_error_set(err, MCP_E_STORAGE, "'%.200s': the disk is full", path);
    mcp_error_errno(err, failure, "'%.200s' cannot be written", path);
    return MCP_E_IO;
}

/* The folders between `dir` and the file. */
static mcp_status make_folders(char *path, size_t dir_length, mcp_error *err)
{
    for (char *slash = strchr(path + dir_length + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int failure = mkdir(path, FOLDER_MODE) == 0 || errno == EEXIST ? 0 : errno;
        if (failure == 0 && chmod(path, FOLDER_MODE) != 0) /* whatever the umask is */
            failure = errno;
        mcp_status st = failure ? failed(path, failure, err) : MCP_OK;
        *slash = '/';
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

static mcp_status copy_bytes(int to, int from, const char *path, mcp_error *err)
{
    char bytes[COPY_BYTES];
    size_t total = 0;
    ssize_t part = 1;

    while (part != 0 && total <= CASPARIAN_BUNDLE_BYTES_MAX) {
        part = read(from, bytes, sizeof bytes);
        if (part < 0 && errno != EINTR)
            return failed(path, errno, err);
        for (ssize_t at = 0; at < part;) {
            ssize_t written = write(to, bytes + at, (size_t)(part - at));
            if (written < 0 && errno != EINTR)
                return failed(path, errno, err);
            at += written > 0 ? written : 0;
        }
        total += part > 0 ? (size_t)part : 0;
    }
    return MCP_OK;
}

/* @return MCP_E_EXISTS: the plugin has no such file any more */
static mcp_status copy_file(const char *from, char *to, size_t dir_length, mcp_error *err)
{
    struct stat about;
    int source = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (source < 0 || fstat(source, &about) != 0 || !S_ISREG(about.st_mode)) {
        if (source >= 0)
            close(source);
        return MCP_E_EXISTS;
    }
    mode_t mode = about.st_mode & S_IXUSR ? PROGRAM_MODE : FILE_MODE;
    mcp_status st = make_folders(to, dir_length, err);
    int copy = st == MCP_OK ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
                            : -1;
    if (st == MCP_OK && (copy < 0 || fchmod(copy, mode) != 0))
        st = failed(to, errno, err);
    if (st == MCP_OK)
        st = copy_bytes(copy, source, to, err);
    if (copy >= 0 && close(copy) != 0 && st == MCP_OK)
        st = failed(to, errno, err);
    close(source);
    return st;
}

static mcp_status read_any(casparian_bundle *out, mcp_arena *arena, bool is_module, const char *dir,
                           const char *entrypoint, mcp_error *err)
{
    return is_module ? casparian_module_read(out, arena, entrypoint, err)
                     : casparian_bundle_read(out, arena, dir, err);
}

/* The path of the entrypoint in its folder. A module is in it. */
static const char *relative_entrypoint(const casparian_plugin *plugin)
{
    return plugin->is_module ? strrchr(plugin->entrypoint, '/') + 1
                             : plugin->entrypoint + strlen(plugin->dir) + 1;
}

/* All files of a bundle, or the module. `dir` is that of the copy. */
static mcp_status copy_files(const casparian_bundle *bundle, const casparian_plugin *plugin,
                             mcp_arena *arena, const char *dir, mcp_error *err)
{
    size_t count = plugin->is_module ? 1 : bundle->file_count;
    mcp_status st = MCP_OK;

    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        const char *name = plugin->is_module ? relative_entrypoint(plugin) : bundle->files[i].path;
        const char *from = mcp_arena_printf(arena, "%s/%s", plugin->dir, name);
        char *to = mcp_arena_printf(arena, "%s/%s", dir, name);
        st = from && to ? copy_file(from, to, strlen(dir), err) : no_memory(err);
    }
    return st;
}

/* Whether the copy is what was looked up: MCP_OK, or MCP_E_EXISTS. */
static mcp_status check(const casparian_plugin *plugin, mcp_arena *arena, const char *dir,
                        const char *entrypoint, mcp_error *err)
{
    casparian_bundle copied;
    char hash[CASPARIAN_HASH_SIZE];
    mcp_status st = read_any(&copied, arena, plugin->is_module, dir, entrypoint, err);

    if (st == MCP_OK)
        st = casparian_bundle_hash(hash, &copied, err);
    if (st == MCP_E_NOMEM)
        return st;
    return st == MCP_OK && strcmp(hash, plugin->artifact_hash) == 0 ? MCP_OK : MCP_E_EXISTS;
}

static mcp_status copy_into(const casparian_plugin *plugin, mcp_arena *arena, const char *dir,
                            const char *entrypoint, mcp_error *err)
{
    casparian_bundle bundle;
    mcp_status st = read_any(&bundle, arena, plugin->is_module, plugin->dir, plugin->entrypoint,
                             NULL);

    if (chmod(dir, FOLDER_MODE) != 0)
        return failed(dir, errno, err);
    if (st == MCP_OK)
        st = copy_files(&bundle, plugin, arena, dir, err);
    else if (st != MCP_E_NOMEM)
        st = MCP_E_EXISTS;
    return st == MCP_OK ? check(plugin, arena, dir, entrypoint, err) : st;
}

mcp_status casparian_copy_make(const char **out, casparian_plugin *plugin, mcp_arena *arena,
                               const char *parent, mcp_error *err)
{
    const char *dir = NULL;
    mcp_arena *room = mcp_arena_new(READ_ROOM);
    mcp_status st = room ? casparian_scratch_make(&dir, arena, parent, 0, err) : no_memory(err);
    const char *entrypoint = st == MCP_OK ? mcp_arena_printf(arena, "%s/%s", dir,
                                                             relative_entrypoint(plugin))
                                          : NULL;

    if (st == MCP_OK)
        st = entrypoint ? copy_into(plugin, room, dir, entrypoint, err) : no_memory(err);
    mcp_arena_free(room);
    if (st != MCP_OK) {
        if (dir)
            casparian_scratch_remove(dir, true);
        return st == MCP_E_EXISTS ? changed(plugin, err) : st;
    }
    plugin->dir = dir;
    plugin->entrypoint = entrypoint;
    *out = dir;
    return MCP_OK;
}
