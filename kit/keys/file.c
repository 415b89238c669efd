/*
 * file.c - files with secrets.
 *
 * A new file is written under a random name next to its place and linked to it: link(2) refuses a
 * name that is taken, and no reader finds half a key.
 */
#include "keys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp/random.h"

/* 0, or an errno. */
static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
    return fsync(fd) == 0 ? 0 : errno;
}

/* The folder's entry must be on disk, too: a key is used as soon as it exists. */
static int sync_folder_of(const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');

    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int failure = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    close(fd);
    return failure;
}

static int write_new(const char *name, const void *bytes, size_t length)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return errno;
    int failure = fchmod(fd, 0600) == 0 ? write_all(fd, bytes, length) : errno;
    if (close(fd) != 0 && failure == 0)
        failure = errno;
    return failure;
}

mcp_status keys_file_create(const char *path, const void *bytes, size_t length, mcp_error *err)
{
    char name[PATH_MAX], id[MCP_RANDOM_ID_SIZE];
    mcp_status st = mcp_random_id(id, err);

    if (st != MCP_OK)
        return st;
    int needed = snprintf(name, sizeof name, "%s.%s", path, id);
    if (needed < 0 || (size_t)needed >= sizeof name)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of a key file is too long");
    int failure = write_new(name, bytes, length);
    if (failure == 0 && link(name, path) != 0)
        failure = errno;
    if (failure != ENOENT && failure != ENOTDIR)
        (void)unlink(name);
    if (failure == 0)
        failure = sync_folder_of(path);
    if (failure == EEXIST)
        return mcp_error_set(err, MCP_E_EXISTS, "'%s' exists already", path);
    return failure == 0 ? MCP_OK : mcp_error_errno(err, failure, "cannot make '%s'", path);
}

static mcp_status check(int fd, const char *path, mcp_error *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return mcp_error_errno(err, errno, "cannot read '%s'", path);
    if (!S_ISREG(st.st_mode))
        return mcp_error_set(err, MCP_E_PARSE, "'%s' is not a regular file", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return mcp_error_set(err, MCP_E_DENIED, "'%s' belongs to another user", path);
    if (st.st_mode & 077)
        return mcp_error_set(err, MCP_E_DENIED,
                             "'%s' may be used by others (mode %03o); chmod 600 it", path,
                             (unsigned)st.st_mode & 0777);
    return MCP_OK;
}

static mcp_status read_all(int fd, char *out, size_t size, size_t *length, const char *path,
                           mcp_error *err)
{
    size_t have = 0;

    for (;;) {
        char more;
        bool is_full = have == size;
        ssize_t got = read(fd, is_full ? &more : out + have, is_full ? 1 : size - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mcp_error_errno(err, errno, "cannot read '%s'", path);
        if (got == 0)
            break;
        if (is_full)
            return mcp_error_set(err, MCP_E_PARSE, "'%s' is longer than %zu bytes", path, size);
        have += (size_t)got;
    }
    *length = have;
    return MCP_OK;
}

mcp_status keys_file_read(void *out, size_t size, size_t *length, const char *path, mcp_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not make it wait */

    if (fd < 0)
        return mcp_error_errno(err, errno, "cannot read '%s'", path);
    mcp_status st = check(fd, path, err);
    if (st == MCP_OK)
        st = read_all(fd, out, size, length, path, err);
    close(fd);
    if (st != MCP_OK)
        explicit_bzero(out, size);
    return st;
}
