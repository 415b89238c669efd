/*
 * author.c - bundles that a person names, and files that are made of them.
 */
#define _XOPEN_SOURCE 700
#include "shell/author/author.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/trust.h"

enum { REMOVE_FOLDERS = 16 };

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the files of a plugin");
}

/* ---- bundles --------------------------------------------------------------------------------- */

static mcp_status decide(casparian_inspected *out, casparian_app *app, mcp_error *err)
{
    const casparian_trust_settings *settings = &app->config->trust;
    const casparian_trust trust = { .allow_unsigned_python = settings->allow_unsigned_python,
                                    .allow_unsigned_native = settings->allow_unsigned_native,
                                    .signers = settings->signers,
                                    .signer_count = settings->signer_count };
    out->plugin.origin = CASPARIAN_INSTALLED;
    out->plugin.is_unsigned = false;
    return casparian_trust_decide(&out->plugin, app->arena, &trust, &out->bundle, NULL, err);
}

mcp_status casparian_author_inspect(casparian_inspected *out, casparian_app *app, const char *path,
                                    mcp_error *err)
{
    char real[PATH_MAX];
    struct stat found;
    if (!realpath(path, real) || stat(real, &found) != 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no folder '%.200s'", path);
    if (!S_ISDIR(found.st_mode))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "'%.200s' is no folder; a plugin is a folder with casparian.toml",
                             path);
    const casparian_plugin_ref ref = { .path = path };
    mcp_status st = casparian_bundle_read(&out->bundle, app->arena, real, err);
    if (st == MCP_OK)
        st = casparian_registry_resolve(&out->plugin, NULL, app->arena, app->registry, &ref,
                                        out->bundle.dir, err);
    if (st == MCP_E_PARSE || st == MCP_E_PARAMS || st == MCP_E_LIMIT || st == MCP_E_SCHEMA)
        return MCP_E_STOPPED; /* the folder is wrong, not the line */
    return st == MCP_OK ? decide(out, app, err) : st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status write_bytes(int fd, const char *path, const char *bytes, size_t length,
                              mcp_error *err)
{
    for (size_t at = 0; at < length;) {
        ssize_t part = write(fd, bytes + at, length - at);
        if (part < 0 && errno != EINTR)
            return mcp_error_errno(err, errno, "%s", path);
        at += part > 0 ? (size_t)part : 0;
    }
    return fsync(fd) == 0 ? MCP_OK : mcp_error_errno(err, errno, "%s", path);
}

mcp_status casparian_author_write(const char *path, const void *bytes, size_t length, unsigned mode,
                                  mcp_error *err)
{
    char next[PATH_MAX];
    int size = snprintf(next, sizeof next, "%s.new", path);
    if (size < 0 || (size_t)size >= sizeof next)
        return mcp_error_set(err, MCP_E_PARAMS, "the path '%.80s...' is too long", path);
    unlink(next); /* of a command that was killed */
    int fd = open(next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, (mode_t)mode);
    if (fd < 0)
        return mcp_error_errno(err, errno, "%s", path);
    mcp_status st = write_bytes(fd, path, bytes, length, err);
    close(fd);
    if (st == MCP_OK && rename(next, path) != 0)
        st = mcp_error_errno(err, errno, "%s", path);
    if (st != MCP_OK)
        unlink(next);
    return st;
}

mcp_status casparian_author_folders(mcp_arena *arena, const char *path, mcp_error *err)
{
    char *copy = mcp_arena_strdup(arena, path);
    if (!copy)
        return no_memory(err);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0755) != 0 && errno != EEXIST)
            return mcp_error_errno(err, errno, "%s", copy);
        *slash = '/';
    }
    return MCP_OK;
}

static mcp_status copy_file(mcp_arena *arena, const char *from, const char *to, mcp_error *err)
{
    const char *bytes = NULL;
    size_t length = 0;
    struct stat found;
    if (stat(from, &found) != 0)
        return mcp_error_errno(err, errno, "%s", from);
    mcp_status st = casparian_bundle_text(&bytes, &length, arena, from, CASPARIAN_BUNDLE_BYTES_MAX,
                                          err);
    if (st == MCP_OK)
        st = casparian_author_folders(arena, to, err);
    return st == MCP_OK ? casparian_author_write(to, bytes, length,
                                                 found.st_mode & S_IXUSR ? 0755 : 0644, err)
                        : st;
}

mcp_status casparian_author_copy(mcp_arena *arena, const casparian_bundle *bundle, const char *to,
                                 mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < bundle->file_count; i++) {
        const char *path = bundle->files[i].path;
        const char *source = mcp_arena_printf(arena, "%s/%s", bundle->dir, path);
        const char *target = mcp_arena_printf(arena, "%s/%s", to, path);
        st = source && target ? copy_file(arena, source, target, err) : no_memory(err);
    }
    return st;
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *place)
{
    (void)found, (void)kind, (void)place;
    return remove(path);
}

mcp_status casparian_author_remove(const char *path, mcp_error *err)
{
    if (nftw(path, remove_one, REMOVE_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
        return MCP_OK;
    return mcp_error_errno(err, errno, "%s", path);
}
