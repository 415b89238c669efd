/*
 * named.c - names of clients, refused by rule.
 *
 * The rules are those of casparian: ".." first, since it is a sign of an attack wherever it leads;
 * then the canonical path is compared with the roots. The text of one that is
 * below none says why: a text below a root was led out by a link, any other is outside, and gets
 * the same answer whether it exists or not.
 */
#include "guard/named.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/beneath.h"
#include "guard/canonical.h"
#include "guard/paths_int.h"

/* ---- refusals -------------------------------------------------------------------------------- */

static mcp_status refuse(guard_refusal *why, guard_refusal rule, const char *path, mcp_error *err)
{
    static const char *const texts[] = {
        [GUARD_REFUSED_TRAVERSAL] = "Path traversal attempt detected: ",
        [GUARD_REFUSED_LINK] = "Symlink escapes allowed roots: ",
        [GUARD_REFUSED_OUTSIDE] = "Path not allowed: ",
        [GUARD_REFUSED_MISSING] = "Path does not exist: ",
    };
    static const mcp_status statuses[] = {
        [GUARD_REFUSED_TRAVERSAL] = MCP_E_DENIED,
        [GUARD_REFUSED_LINK] = MCP_E_DENIED,
        [GUARD_REFUSED_OUTSIDE] = MCP_E_DENIED,
        [GUARD_REFUSED_MISSING] = MCP_E_NOT_FOUND,
    };
    if (why)
        *why = rule;
    if (rule == GUARD_REFUSED_INVALID)
        return mcp_error_set(err, MCP_E_PARAMS, "Path is empty, too long or not UTF-8");
    return mcp_error_set(err, statuses[rule], "%s%.*s%s%s", texts[rule], GUARD_SHOWN_MAX, path,
                         guard__shown_end(path),
                         rule == GUARD_REFUSED_OUTSIDE ? " (not within allowed roots)" : "");
}

static mcp_status refuse_kind(guard_refusal *why, unsigned kinds, const char *path, mcp_error *err)
{
    if (why)
        *why = GUARD_REFUSED_KIND;
    return mcp_error_set(err, MCP_E_PARAMS, "Not a %s: %.*s%s",
                         kinds == GUARD_FILES  ? "regular file"
                         : kinds == GUARD_DIRS ? "directory"
                                               : "regular file or directory",
                         GUARD_SHOWN_MAX, path, guard__shown_end(path));
}

/* A failed open beneath a root. */
static mcp_status refuse_errno(guard_refusal *why, unsigned kinds, const char *path, int failure,
                               mcp_error *err)
{
    if (failure == EXDEV || failure == ELOOP)
        return refuse(why, GUARD_REFUSED_LINK, path, err);
    if (failure == ENOENT || failure == ENAMETOOLONG)
        return refuse(why, GUARD_REFUSED_MISSING, path, err);
    if (failure == ENOTDIR)
        return kinds == GUARD_DIRS ? refuse_kind(why, kinds, path, err)
                                   : refuse(why, GUARD_REFUSED_MISSING, path, err);
    if (failure == ENXIO || failure == ENODEV) /* a socket, a FIFO, a device */
        return refuse_kind(why, kinds, path, err);
    return mcp_error_set(err, MCP_E_IO, "Path cannot be opened: %.*s%s: %s", GUARD_SHOWN_MAX, path,
                         guard__shown_end(path), strerrordesc_np(failure));
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The bytes of the character that begins with `lead`; 0: none does. */
static size_t character_length(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead < 0xE0)
        return 2;
    if (lead >= 0xE0 && lead < 0xF0)
        return 3;
    return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

static bool is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        size_t length = character_length(*at);
        for (size_t i = 1; i < length; i++)
            if ((at[i] & 0xC0) != 0x80)
                return false;
        bool is_bad = length == 0 || (at[0] == 0xE0 && at[1] < 0xA0) ||
                      (at[0] == 0xED && at[1] >= 0xA0) || (at[0] == 0xF0 && at[1] < 0x90) ||
                      (at[0] == 0xF4 && at[1] >= 0x90);
        if (is_bad)
            return false;
        at += length;
    }
    return true;
}

static bool has_parent_step(const char *path)
{
    for (const char *at = path; *at; at += strcspn(at, "/")) {
        at += strspn(at, "/");
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

/* The absolute path by its text alone, without "." and double slashes. */
static bool lexical(char out[PATH_MAX], const char *path)
{
    char cwd[PATH_MAX] = "", whole[2 * PATH_MAX];
    size_t length = 0;
    if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
        return false;
    int size = snprintf(whole, sizeof whole, "%s/%s", cwd, path);
    if (size < 0 || (size_t)size >= sizeof whole)
        return false;
    for (const char *at = whole; *at;) {
        at += strspn(at, "/");
        size_t part = strcspn(at, "/");
        bool is_kept = part > 0 && !(part == 1 && at[0] == '.');
        if (is_kept && length + part + 2 > PATH_MAX)
            return false;
        if (is_kept) {
            out[length++] = '/';
            memcpy(out + length, at, part);
            length += part;
        }
        at += part;
    }
    if (length == 0)
        out[length++] = '/';
    out[length] = '\0';
    return true;
}

/* Whether the text is below a root, as that is canonical or as it was named. */
static bool is_lexically_inside(const guard *all, const char *path)
{
    char text[PATH_MAX], root[PATH_MAX], place[2 * PATH_MAX];
    if (!lexical(text, path))
        return false;
    if (guard_allows(all, text))
        return true;
    for (size_t i = 0; i < all->count; i++) {
        if (!lexical(root, all->roots[i].given))
            continue;
        const char *below = guard_below(root, text);
        if (!below)
            continue;
        snprintf(place, sizeof place, "%s%s%s", all->roots[i].path, *below ? "/" : "", below);
        if (guard_allows(all, place))
            return true;
    }
    return false;
}

bool guard_allows(const guard *all, const char *canonical)
{
    const char *below = NULL;
    return guard__find_root(all, canonical, &below) != NULL;
}

/* ---- from a name to a root ------------------------------------------------------------------- */

/* A name that no rule refuses: what is below which root. */
struct found {
    char place[PATH_MAX];
    const struct guard_root *root;
    const char *below; /* in `place` */
    const char *kept;  /* the arena's copy of `place` */
};

static mcp_status find(struct found *out, guard_refusal *why, const guard *all, const char *path,
                       mcp_arena *arena, mcp_error *err)
{
    if (why)
        *why = GUARD_REFUSED_NOT;
    if (path[0] == '\0' || strnlen(path, PATH_MAX) == PATH_MAX || !is_utf8(path))
        return refuse(why, GUARD_REFUSED_INVALID, path, err);
    if (has_parent_step(path))
        return refuse(why, GUARD_REFUSED_TRAVERSAL, path, err);
    out->root = guard_canonical(out->place, path) ? guard__find_root(all, out->place, &out->below)
                                                  : NULL;
    if (!out->root)
        return refuse(why,
                      is_lexically_inside(all, path) ? GUARD_REFUSED_LINK : GUARD_REFUSED_OUTSIDE,
                      path, err);
    out->kept = mcp_arena_strdup(arena, out->place);
    return out->kept ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
}

/* ---- opening --------------------------------------------------------------------------------- */

mcp_status guard_open_named(guard_named *out, guard_refusal *why, const guard *all,
                            const char *path, unsigned kinds, mcp_arena *arena, mcp_error *err)
{
    struct found found;
    struct stat about;
    mcp_status st = find(&found, why, all, path, arena, err);
    if (st != MCP_OK)
        return st;
    /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
    int fd = guard_beneath(found.root->fd, found.below, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return refuse_errno(why, kinds, path, errno, err);
    bool is_known = fstat(fd, &about) == 0;
    bool is_wanted = is_known && ((S_ISREG(about.st_mode) && (kinds & GUARD_FILES)) ||
                                  (S_ISDIR(about.st_mode) && (kinds & GUARD_DIRS)));
    if (!is_wanted) {
        close(fd);
        return refuse_kind(why, kinds, path, err);
    }
    *out = (guard_named){ .fd = fd,
                          .path = found.kept,
                          .is_dir = S_ISDIR(about.st_mode),
                          .size = about.st_size,
                          .mtime_ns = about.st_mtim.tv_sec * INT64_C(1000000000) +
                                      about.st_mtim.tv_nsec,
                          .device = about.st_dev,
                          .inode = about.st_ino };
    return MCP_OK;
}

/* Open the nearest folder above the missing part of found->below, which is cut there.
 * @return the descriptor, or -1 with errno */
static int open_ancestor(struct found *found, size_t *length)
{
    char above[PATH_MAX];
    *length = strlen(found->below);
    memcpy(above, found->below, *length + 1);
    for (;;) {
        int fd = guard_beneath(found->root->fd, above, O_RDONLY | O_DIRECTORY, 0);
        if (fd >= 0 || errno != ENOENT || *length == 0)
            return fd;
        while (*length > 0 && above[*length - 1] != '/')
            (*length)--;
        if (*length > 0)
            (*length)--; /* the slash */
        above[*length] = '\0';
    }
}

/* What exists at the target and is no folder; its parent is to be opened. */
static mcp_status open_parent(int *fd, size_t *length, guard_refusal *why,
                              const struct found *found, const char *path, mcp_error *err)
{
    struct stat about = { 0 };
    char parent[PATH_MAX];
    const char *slash = strrchr(found->below, '/');
    int at = guard_beneath(found->root->fd, found->below, O_PATH, 0);
    if (at < 0)
        return refuse_errno(why, GUARD_DIRS, path, errno, err);
    bool is_file = fstat(at, &about) == 0 && S_ISREG(about.st_mode);
    close(at);
    if (!is_file)
        return refuse_kind(why, GUARD_FILES | GUARD_DIRS, path, err);
    *length = slash ? (size_t)(slash - found->below) : 0;
    memcpy(parent, found->below, *length);
    parent[*length] = '\0';
    *fd = guard_beneath(found->root->fd, parent, O_RDONLY | O_DIRECTORY, 0);
    return *fd >= 0 ? MCP_OK : refuse_errno(why, GUARD_DIRS, path, errno, err);
}

mcp_status guard_open_target(guard_target *out, guard_refusal *why, const guard *all,
                             const char *path, mcp_arena *arena, mcp_error *err)
{
    struct found found;
    size_t length = 0;
    mcp_status st = find(&found, why, all, path, arena, err);
    if (st != MCP_OK)
        return st;
    int fd = open_ancestor(&found, &length);
    bool is_file = fd < 0 && errno == ENOTDIR;
    if (is_file)
        st = open_parent(&fd, &length, why, &found, path, err);
    else if (fd < 0)
        st = refuse_errno(why, GUARD_DIRS, path, errno, err);
    if (st != MCP_OK)
        return st;
    const char *rest = found.kept + (found.below - found.place) + length;
    rest += strspn(rest, "/");
    *out = (guard_target){ .dir_fd = fd,
                           .rest = rest,
                           .path = found.kept,
                           .exists = is_file || *rest == '\0',
                           .is_dir = !is_file && *rest == '\0' };
    return MCP_OK;
}
