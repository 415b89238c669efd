/*
 * paths.c - the roots, and the folders that users name.
 *
 * Both of two steps are needed. The path is canonicalised and compared with the roots by whole
 * components: this decides, with the same result for existing and missing paths. Then the part
 * below the root is opened beneath the root's descriptor without following links: a folder that was
 * exchanged for a link in between fails instead of leading out.
 *
 * A refusal names the path as it was given, and never a root.
 */
#include "guard/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/beneath.h"
#include "guard/canonical.h"
#include "guard/paths_int.h"
#include "mcp/alloc.h"

#define SHOWN_MAX GUARD_SHOWN_MAX

const char *guard__shown_end(const char *path)
{
    return strnlen(path, SHOWN_MAX + 1) > SHOWN_MAX ? "..." : "";
}

static mcp_status refuse_outside(const char *path, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_DENIED, "Path '%.*s%s' is not within the allowed directories",
                         SHOWN_MAX, path, guard__shown_end(path));
}

/* The error of a failed open beneath a root, for the client that named the path. */
static mcp_status refuse_inside(const char *path, int failure, mcp_error *err)
{
    if (failure == EXDEV || failure == ELOOP)
        return refuse_outside(path, err);
    if (failure == ENOENT || failure == ENAMETOOLONG)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "Path '%.*s%s' does not exist", SHOWN_MAX, path,
                             guard__shown_end(path));
    if (failure == ENOTDIR || failure == EEXIST)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "Path '%.*s%s' is not a directory", SHOWN_MAX,
                             path, guard__shown_end(path));
    return mcp_error_set(err, MCP_E_IO, "Path '%.*s%s' cannot be opened: %s", SHOWN_MAX, path,
                         guard__shown_end(path), strerrordesc_np(failure));
}

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the allowed directories");
}

/* The path as it was named, made absolute by the current directory. */
static char *absolute(const char *path)
{
    char text[2 * PATH_MAX], cwd[PATH_MAX] = "";

    if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
        return NULL;
    int length = snprintf(text, sizeof text, "%s%s%s", cwd, path[0] == '/' ? "" : "/", path);
    return length > 0 && (size_t)length < sizeof text ? mcp_alloc_strdup(text) : NULL;
}

static mcp_status open_root(struct guard_root *root, const char *path, mcp_error *err)
{
    char canonical[PATH_MAX];

    if (path[0] == '\0' || !guard_canonical(canonical, path))
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "the allowed directory '%.*s' cannot be resolved", SHOWN_MAX, path);
    root->fd = open(canonical, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root->fd < 0)
        return mcp_error_errno(err, errno, "the allowed directory '%.*s' cannot be opened",
                               SHOWN_MAX, path);
    root->path = mcp_alloc_strdup(canonical);
    root->given = absolute(path);
    return root->path && root->given ? MCP_OK : no_memory(err);
}

static mcp_status exclude(guard *all, const char *path, mcp_error *err)
{
    char canonical[PATH_MAX];

    if (path[0] == '\0' || !guard_canonical(canonical, path))
        return mcp_error_set(err, MCP_E_PARAMS, "the excluded directory '%.*s' cannot be resolved",
                             SHOWN_MAX, path);
    char *copy = mcp_alloc_strdup(canonical);
    if (!copy)
        return no_memory(err);
    all->excluded[all->excluded_count++] = copy;
    return MCP_OK;
}

mcp_status guard_new_without(guard **out, const char *const *roots, size_t count,
                             const char *const *excluded, size_t excluded_count, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (count == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "there must be an allowed directory");
    guard *all = mcp_alloc_zeroed(1, sizeof *all + count * sizeof all->roots[0]);
    if (!all)
        return no_memory(err);
    all->count = count;
    for (size_t i = 0; i < count; i++)
        all->roots[i].fd = -1;
    all->excluded = mcp_alloc_zeroed(excluded_count + 1, sizeof *all->excluded);
    if (!all->excluded)
        st = no_memory(err);
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = open_root(&all->roots[i], roots[i], err);
    for (size_t i = 0; st == MCP_OK && i < excluded_count; i++)
        st = exclude(all, excluded[i], err);
    if (st != MCP_OK) {
        guard_free(all);
        return st;
    }
    *out = all;
    return MCP_OK;
}

mcp_status guard_new(guard **out, const char *const *roots, size_t count, mcp_error *err)
{
    return guard_new_without(out, roots, count, NULL, 0, err);
}

void guard_free(guard *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->count; i++) {
        if (all->roots[i].fd >= 0)
            close(all->roots[i].fd);
        free(all->roots[i].path);
        free(all->roots[i].given);
    }
    for (size_t i = 0; i < all->excluded_count; i++)
        free(all->excluded[i]);
    free(all->excluded);
    free(all);
}

const struct guard_root *guard__find_root(const guard *all, const char *canonical,
                                          const char **below)
{
    const struct guard_root *found = NULL;

    for (size_t i = 0; i < all->count; i++) {
        const char *rest = guard_below(all->roots[i].path, canonical);
        if (rest && (!found || strlen(rest) < strlen(*below))) {
            found = &all->roots[i];
            *below = rest;
        }
    }
    for (size_t i = 0; found && i < all->excluded_count; i++) {
        const char *rest = guard_below(all->excluded[i], canonical);
        if (rest && strlen(rest) <= strlen(*below))
            found = NULL;
    }
    return found;
}

static mcp_status make_beneath(int *fd, const struct guard_root *root, const char *below,
                               mcp_error *err)
{
    if (below[0])
        return guard_make_durable_dir(fd, root->fd, below, err);
    return guard_open_subdir(fd, root->fd, ".", err);
}

static mcp_status open_named(int *fd, const char **canonical, const guard *all, const char *path,
                             bool make, mcp_arena *arena, mcp_error *err)
{
    char place[PATH_MAX];
    const char *below = NULL;
    const char *kept = NULL;

    if (path[0] == '\0')
        return mcp_error_set(err, MCP_E_PARAMS, "the path is empty");
    if (strnlen(path, PATH_MAX) == PATH_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "the path is longer than %d bytes", PATH_MAX - 1);
    if (!guard_canonical(place, path))
        return refuse_outside(path, err);
    const struct guard_root *root = guard__find_root(all, place, &below);
    if (!root)
        return refuse_outside(path, err);
    if (canonical) {
        kept = mcp_arena_strdup(arena, place);
        if (!kept)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    }
    int opened = guard_beneath(root->fd, below, O_RDONLY | O_DIRECTORY, 0);
    if (opened < 0 && errno == ENOENT && make) {
        mcp_status st = make_beneath(&opened, root, below, err);
        if (st != MCP_OK)
            return st;
    }
    if (opened < 0)
        return refuse_inside(path, errno, err);
    *fd = opened;
    if (canonical)
        *canonical = kept;
    return MCP_OK;
}

mcp_status guard_open_dir(int *fd, const char **canonical, const guard *all, const char *path,
                          mcp_arena *arena, mcp_error *err)
{
    return open_named(fd, canonical, all, path, false, arena, err);
}

mcp_status guard_open_or_make_dir(int *fd, const char **canonical, const guard *all,
                                  const char *path, mcp_arena *arena, mcp_error *err)
{
    return open_named(fd, canonical, all, path, true, arena, err);
}
