/*
 * files.c - files and folders beneath an open folder.
 *
 * All names are relative to a descriptor and go through guard_beneath(), so none of them leaves the
 * folder. A file is always written as a new file "name.tmp" next to the target, then renamed. A
 * reader sees the old file or the new one, and a crash leaves a ".tmp" that the next run replaces.
 */
#include "guard/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/beneath.h"

#define TREE_DEPTH_MAX 64
#define SHOWN 150 /* bytes of a name in a message */

/* The folder that holds a name, and its last component. */
struct place {
    int dir_fd;
    char name[NAME_MAX + 1];
};

static bool has_parent_step(const char *relative)
{
    for (const char *at = relative; at; at = strchr(at, '/')) {
        at += strspn(at, "/");
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return true;
    }
    return false;
}

static mcp_status check_relative(const char *relative, mcp_error *err)
{
    size_t length = strnlen(relative, PATH_MAX);

    if (length == 0 || length == PATH_MAX || relative[0] == '/')
        return mcp_error_set(err, MCP_E_PARAMS, "the name '%.*s' is empty, too long or absolute",
                             SHOWN, relative);
    if (has_parent_step(relative))
        return mcp_error_set(err, MCP_E_DENIED, "'%.*s' leads out of its directory", SHOWN,
                             relative);
    return MCP_OK;
}

static mcp_status check_component(const char *name, mcp_error *err)
{
    size_t length = strnlen(name, NAME_MAX + 1);

    if (length == 0 || length > NAME_MAX || strchr(name, '/') || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "'%.*s' is not a file name", SHOWN, name);
    return MCP_OK;
}

static mcp_status say_errno(const char *relative, int failure, mcp_error *err)
{
    if (failure == EXDEV || failure == ELOOP)
        return mcp_error_set(err, MCP_E_DENIED, "'%.*s' leads over a link or out of its directory",
                             SHOWN, relative);
    if (failure == EACCES || failure == EPERM)
        return mcp_error_set(err, MCP_E_IO, "'%.*s': %s", SHOWN, relative,
                             strerrordesc_np(failure));
    return mcp_error_errno(err, failure, "'%.*s'", SHOWN, relative);
}

mcp_status guard_open_file(int *fd, int dir_fd, const char *relative, mcp_error *err)
{
    struct stat about;
    mcp_status st = check_relative(relative, err);

    if (st != MCP_OK)
        return st;
    /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
    int opened = guard_beneath(dir_fd, relative, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (opened < 0)
        return say_errno(relative, errno, err);
    if (fstat(opened, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(opened);
        return mcp_error_set(err, MCP_E_NOT_FOUND, "'%.*s' is not a regular file", SHOWN, relative);
    }
    *fd = opened;
    return MCP_OK;
}

mcp_status guard_open_subdir(int *fd, int dir_fd, const char *relative, mcp_error *err)
{
    mcp_status st = check_relative(relative, err);

    if (st != MCP_OK)
        return st;
    int opened = guard_beneath(dir_fd, relative, O_RDONLY | O_DIRECTORY, 0);
    if (opened < 0)
        return say_errno(relative, errno, err);
    *fd = opened;
    return MCP_OK;
}

bool guard_exists(int dir_fd, const char *relative)
{
    struct stat st;

    if (check_relative(relative, NULL) != MCP_OK)
        return false;
    int fd = guard_beneath(dir_fd, relative, O_PATH, 0);
    if (fd < 0)
        return false;
    bool found = fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
    close(fd);
    return found;
}

bool guard_is_at(int dir_fd, const char *path)
{
    struct stat opened, named;
    int root = path[0] == '/' ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    int fd = root >= 0 ? guard_beneath(root, path + strspn(path, "/"), O_PATH | O_DIRECTORY, 0)
                       : -1;
    bool is_same = fd >= 0 && fstat(fd, &named) == 0 && fstat(dir_fd, &opened) == 0 &&
                   named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;

    if (fd >= 0)
        close(fd);
    if (root >= 0)
        close(root);
    return is_same;
}

bool guard_is_taken(int dir_fd, const char *relative)
{
    if (check_relative(relative, NULL) != MCP_OK)
        return false;
    int fd = guard_beneath(dir_fd, relative, O_PATH, 0);
    if (fd < 0)
        return errno == ELOOP || errno == EXDEV;
    close(fd);
    return true;
}

/* Read until the end of the file or until `room` is full. */
static ssize_t read_all(int fd, char *bytes, size_t room)
{
    size_t have = 0;

    while (have < room) {
        ssize_t got = read(fd, bytes + have, room - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

static mcp_status read_open_file(const char **bytes, size_t *length, int fd, const char *relative,
                                 size_t max_bytes, mcp_arena *arena, mcp_error *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return say_errno(relative, errno, err);
    if ((uintmax_t)st.st_size > max_bytes)
        return mcp_error_set(err, MCP_E_LIMIT, "'%.*s' is longer than %zu bytes", SHOWN, relative,
                             max_bytes);
    char *room = mcp_arena_alloc(arena, (size_t)st.st_size + 1);
    if (!room)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for '%.*s'", SHOWN, relative);
    ssize_t got = read_all(fd, room, (size_t)st.st_size);
    if (got < 0)
        return say_errno(relative, errno, err);
    *bytes = room;
    *length = (size_t)got;
    return MCP_OK;
}

mcp_status guard_read_file(const char **bytes, size_t *length, int dir_fd, const char *relative,
                           size_t max_bytes, mcp_arena *arena, mcp_error *err)
{
    int fd = -1;
    mcp_status st = guard_open_file(&fd, dir_fd, relative, err);

    if (st != MCP_OK)
        return st;
    st = read_open_file(bytes, length, fd, relative, max_bytes, arena, err);
    close(fd);
    return st;
}

/* Wait until the disk has the entries of a folder, whose descriptor may be one of O_PATH. Some file
 * systems cannot tell, and nobody can of a folder that may not be read. */
static bool sync_entries(int at)
{
    int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return errno == EACCES;
    bool is_synced = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
    int failure = errno;
    close(fd);
    errno = failure;
    return is_synced;
}

/* Open a folder of that name, created if missing. */
static int open_or_make(int at, const char *name, bool is_durable)
{
    int made = mkdirat(at, name, 0777);

    if (made != 0 && errno != EEXIST)
        return -1;
    if (made == 0 && is_durable && !sync_entries(at))
        return -1;
    return guard_beneath(at, name, O_RDONLY | O_DIRECTORY, 0);
}

static mcp_status make_dir(int *fd, int dir_fd, const char *relative, bool is_durable,
                           mcp_error *err)
{
    char name[NAME_MAX + 1];
    mcp_status st = check_relative(relative, err);

    if (st != MCP_OK)
        return st;
    int at = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    for (const char *rest = relative; at >= 0 && *rest; rest += strspn(rest, "/")) {
        size_t length = strcspn(rest, "/");
        int next = -1;
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(name, rest, length);
            name[length] = '\0';
            next = open_or_make(at, name, is_durable);
        }
        int failure = errno;
        close(at);
        errno = failure;
        at = next;
        rest += length;
    }
    if (at < 0)
        return say_errno(relative, errno, err);
    if (fd)
        *fd = at;
    else
        close(at);
    return MCP_OK;
}

mcp_status guard_make_dir(int *fd, int dir_fd, const char *relative, mcp_error *err)
{
    return make_dir(fd, dir_fd, relative, false, err);
}

mcp_status guard_make_durable_dir(int *fd, int dir_fd, const char *relative, mcp_error *err)
{
    return make_dir(fd, dir_fd, relative, true, err);
}

mcp_status guard_create(int *fd, int dir_fd, const char *name, mcp_error *err)
{
    mcp_status st = check_component(name, err);

    if (st != MCP_OK)
        return st;
    if (unlinkat(dir_fd, name, 0) != 0 && errno != ENOENT)
        return say_errno(name, errno, err);
    int made = guard_beneath(dir_fd, name, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (made < 0)
        return say_errno(name, errno, err);
    *fd = made;
    return MCP_OK;
}

mcp_status guard_replace(int dir_fd, const char *from, const char *to, mcp_error *err)
{
    mcp_status st = check_component(from, err);

    if (st == MCP_OK)
        st = check_component(to, err);
    if (st == MCP_OK && renameat(dir_fd, from, dir_fd, to) != 0)
        st = say_errno(to, errno, err);
    return st;
}

/* Split a name and open the folder that holds it; close place->dir_fd afterwards. */
static mcp_status find_place(struct place *place, int dir_fd, const char *relative, mcp_error *err)
{
    char parent[PATH_MAX] = ".";
    mcp_status st = check_relative(relative, err);
    const char *slash = strrchr(relative, '/');
    const char *name = slash ? slash + 1 : relative;

    if (st == MCP_OK)
        st = check_component(name, err);
    if (st != MCP_OK)
        return st;
    if (slash) {
        memcpy(parent, relative, (size_t)(slash - relative));
        parent[slash - relative] = '\0';
    }
    memcpy(place->name, name, strlen(name) + 1);
    place->dir_fd = guard_beneath(dir_fd, parent, O_PATH | O_DIRECTORY, 0);
    return place->dir_fd < 0 ? say_errno(relative, errno, err) : MCP_OK;
}

static mcp_status write_all(int fd, const char *name, const char *bytes, size_t length,
                            mcp_error *err)
{
    while (length > 0) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return say_errno(name, errno, err);
        bytes += put;
        length -= (size_t)put;
    }
    return MCP_OK;
}

static mcp_status write_and_replace(const struct place *place, const void *bytes, size_t length,
                                    mcp_error *err)
{
    char temporary[NAME_MAX + 5];
    int fd = -1;

    snprintf(temporary, sizeof temporary, "%s.tmp", place->name);
    mcp_status st = guard_create(&fd, place->dir_fd, temporary, err);
    if (st != MCP_OK)
        return st;
    st = write_all(fd, place->name, bytes, length, err);
    if (close(fd) != 0 && st == MCP_OK)
        st = say_errno(place->name, errno, err);
    if (st == MCP_OK)
        st = guard_replace(place->dir_fd, temporary, place->name, err);
    if (st != MCP_OK)
        unlinkat(place->dir_fd, temporary, 0);
    return st;
}

mcp_status guard_write_file(int dir_fd, const char *relative, const void *bytes, size_t length,
                            mcp_error *err)
{
    struct place place;
    mcp_status st = find_place(&place, dir_fd, relative, err);

    if (st != MCP_OK)
        return st;
    st = write_and_replace(&place, bytes, length, err);
    close(place.dir_fd);
    return st;
}

static int remove_entry(int dir_fd, const char *name, unsigned depth);

static int remove_all_in(DIR *dir, unsigned depth)
{
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (!entry)
            return errno == 0 ? 0 : -1;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (remove_entry(dirfd(dir), entry->d_name, depth + 1) != 0)
            return -1;
    }
}

/* Remove a folder with all that is in it; 0, or -1 with errno. What another process removes
 * meanwhile is gone as it should be. */
static int remove_folder(int dir_fd, const char *name, unsigned depth)
{
    if (depth > TREE_DEPTH_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    int fd = guard_beneath(dir_fd, name, O_RDONLY | O_DIRECTORY, 0);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        int failure = errno;
        if (fd >= 0)
            close(fd);
        errno = failure;
        return failure == ENOENT ? 0 : -1;
    }
    int failed = remove_all_in(dir, depth);
    int failure = errno;
    closedir(dir);
    errno = failure;
    if (!failed)
        failed = unlinkat(dir_fd, name, AT_REMOVEDIR) != 0 && errno != ENOENT;
    return failed ? -1 : 0;
}

static int remove_entry(int dir_fd, const char *name, unsigned depth)
{
    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    return remove_folder(dir_fd, name, depth);
}

mcp_status guard_remove_tree(int dir_fd, const char *relative, mcp_error *err)
{
    struct place place;
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = find_place(&place, dir_fd, relative, &why);

    if (st == MCP_E_NOT_FOUND)
        return MCP_OK;
    if (st != MCP_OK) {
        if (err)
            *err = why;
        return st;
    }
    int failed = remove_entry(place.dir_fd, place.name, 1);
    int failure = errno;
    close(place.dir_fd);
    if (failed && failure == EOVERFLOW)
        return mcp_error_set(err, MCP_E_LIMIT, "'%.*s' is nested deeper than %d", SHOWN, relative,
                             TREE_DEPTH_MAX);
    return failed ? say_errno(relative, failure, err) : MCP_OK;
}
