/*
 * lock.c - one run per output directory.
 *
 * The lock is flock() on ".lock", as the format requires; the file stays after the run. A test of
 * the lock must not take it even for a moment, or a run that starts then would be refused. flock()
 * has no such test, so a run also holds an open-file-description lock on the same file, which has
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "results/results.h"

#define LOCK_NAME ".lock"

static mcp_status lock_file(int fd, mcp_error *err)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fcntl(fd, F_OFD_SETLK, &whole) == 0)
        return MCP_OK;
    if (errno == EWOULDBLOCK || errno == EACCES)
        return mcp_error_set(err, MCP_E_BUSY, "another run is writing to this output directory");
    return mcp_error_errno(err, errno, "the output directory cannot be locked");
}

mcp_status results_lock(int *lock_fd, int out_fd, mcp_error *err)
{
    int fd = openat(out_fd, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (fd < 0)
        return mcp_error_errno(err, errno, "the output directory cannot be locked");
    mcp_status st = lock_file(fd, err);
    if (st == MCP_OK)
        *lock_fd = fd;
    else
        close(fd);
    return st;
}

bool results_is_locked(int out_fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = openat(out_fd, LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return false;
    bool held = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    close(fd);
    return held;
}
