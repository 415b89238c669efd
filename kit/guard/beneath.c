/*
 * beneath.c - openat2(2), and a walk for kernels without it.
 *
 * openat2 resolves the whole name in the kernel with RESOLVE_BENEATH, NO_SYMLINKS and
 * NO_MAGICLINKS, so no rename in between changes the result. Without it (before Linux 5.6, or in a
 * container that filters it) the name is opened component by component with O_NOFOLLOW, and ".." is
 * refused; each step begins at a descriptor, which cannot be exchanged either.
 */
#include "guard/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES_MAX 16 /* EAGAIN: a rename during the lookup */

static atomic_bool without_openat2;

void guard_beneath_forget_openat2(bool forget)
{
    atomic_store(&without_openat2, forget);
}

static int open_by_kernel(int dir_fd, const char *relative, int flags, mode_t mode)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags,
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = -1;

    for (int i = 0; i < TRIES_MAX; i++) {
        fd = syscall(SYS_openat2, dir_fd, relative, &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN)
            break;
    }
    return (int)fd;
}

/* openat() of one component; a link is ELOOP whatever else was asked for. */
static int open_component(int dir_fd, const char *name, int flags, mode_t mode)
{
    struct stat st;
    int fd = openat(dir_fd, name, flags | O_NOFOLLOW, mode);

    if (fd >= 0 && !(flags & O_PATH))
        return fd;
    int failure = errno;
    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode))
        return fd;
    if (fd >= 0) {
        close(fd);
        failure = ELOOP;
    } else if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
        failure = failure == EEXIST ? EEXIST : ELOOP;
    }
    errno = failure;
    return -1;
}

/* Cut the next component out of *rest; false at the end. Dots are skipped. */
static bool next_component(char name[NAME_MAX + 1], const char **rest)
{
    size_t length;

    do {
        *rest += strspn(*rest, "/");
        length = strcspn(*rest, "/");
        if (length > NAME_MAX)
            length = NAME_MAX;
        memcpy(name, *rest, length);
        name[length] = '\0';
        *rest += length;
    } while (strcmp(name, ".") == 0);
    return length > 0;
}

static int open_by_steps(int dir_fd, const char *relative, int flags, mode_t mode)
{
    char name[NAME_MAX + 1], next[NAME_MAX + 1];
    int at = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    bool has_name = next_component(name, &relative);

    while (at >= 0 && has_name) {
        bool has_next = next_component(next, &relative);
        int fd = -1;
        if (strcmp(name, "..") == 0)
            errno = EXDEV;
        else if (has_next)
            fd = open_component(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
        else
            fd = open_component(at, name, flags, mode);
        int failure = errno;
        close(at);
        errno = failure;
        at = fd;
        has_name = has_next;
        memcpy(name, next, sizeof name);
    }
    return at;
}

int guard_beneath(int dir_fd, const char *relative, int flags, mode_t mode)
{
    flags |= O_CLOEXEC;
    if (relative[0] == '/') {
        errno = EXDEV;
        return -1;
    }
    relative = relative[0] ? relative : ".";
    if (strcmp(relative, ".") == 0)
        return openat(dir_fd, ".", flags, mode);
    if (!atomic_load(&without_openat2)) {
        int fd = open_by_kernel(dir_fd, relative, flags, mode);
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
            return fd;
    }
    return open_by_steps(dir_fd, relative, flags, mode);
}
