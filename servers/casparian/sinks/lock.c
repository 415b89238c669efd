/*
 * lock.c - two lock files a folder, the note of who holds the second, and the order of folders.
 */
#include "sinks/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/clock.h"
#include "sinks/manifest.h"
#include "sinks/sink.h"

#define PAUSE_MS 20
#define ABOUT_MAX 300

static mcp_status open_lock(int *fd, int dir_fd, const char *name, mcp_error *err)
{
    *fd = openat(dir_fd, name, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0644);
    return *fd >= 0 ? MCP_OK : mcp_error_errno(err, errno, "the lock '%.100s'", name);
}

/* What the holder of a database has written about itself; "" when it is not known. */
static void read_about(char out[ABOUT_MAX], const sink_lock *self)
{
    int fd = self->about[0] ? openat(self->dir_fd, self->about, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
                            : -1;
    ssize_t length = fd >= 0 ? read(fd, out, ABOUT_MAX - 1) : 0;

    out[length > 0 ? length : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

static mcp_status take(const sink_lock *self, int fd, const char *what, int64_t until,
                       mcp_error *err)
{
    char about[ABOUT_MAX];

    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return mcp_error_errno(err, errno, "the lock of '%.150s'", what);
        if (mcp_clock_mono_ms() >= until) {
            read_about(about, self);
            return mcp_error_set(err, MCP_E_BUSY,
                                 "another job commits to '%.150s' since %d s; %.120s", what,
                                 SINK_LOCK_WAIT_MS / 1000, about[0] ? about : "try again");
        }
        usleep(PAUSE_MS * 1000);
    }
    return MCP_OK;
}

/* Only for messages, so a failure does not matter. */
static void write_about(const sink_lock *self)
{
    char host[128] = "", text[ABOUT_MAX], at[MCP_CLOCK_UTC_SIZE];

    gethostname(host, sizeof host - 1);
    mcp_clock_utc(at, mcp_clock_wall_ms(), 1);
    int length = snprintf(text, sizeof text, "{\"host\":\"%s\",\"pid\":%ld,\"since\":\"%s\"}", host,
                          (long)getpid(), at);
    guard_write_file(self->dir_fd, self->about, text, (size_t)length, NULL);
}

static mcp_status take_chain(sink_lock *self, const sink_dir *dir, int64_t until, mcp_error *err)
{
    self->dir_fd = dir->fd;
    mcp_status st = guard_make_durable_dir(&self->manifests_fd, dir->fd, CASPARIAN_MANIFEST_DIR,
                                           err);
    if (st == MCP_OK)
        st = open_lock(&self->chain_fd, self->manifests_fd, ".lock", err);
    return st == MCP_OK ? take(self, self->chain_fd, dir->path, until, err) : st;
}

static mcp_status take_database(sink_lock *self, const char *database, int64_t until,
                                mcp_error *err)
{
    char name[NAME_MAX + 1], about[NAME_MAX + 1];

    snprintf(name, sizeof name, "%.200s.lock", database);
    snprintf(about, sizeof about, "%.200s.lock.json", database);
    mcp_status st = open_lock(&self->database_fd, self->dir_fd, name, err);
    if (st != MCP_OK)
        return st;
    memcpy(self->about, about, sizeof about);
    st = take(self, self->database_fd, database, until, err);
    if (st == MCP_OK)
        write_about(self);
    else
        self->about[0] = '\0'; /* the note is that of the holder */
    return st;
}

/* ---- several folders ------------------------------------------------------------------------- */

/* A folder's place in the order that all processes take locks in. */
typedef struct rank {
    size_t index;
    dev_t device;
    ino_t inode;
} rank;

static int by_inode(const void *a, const void *b)
{
    const rank *left = a, *right = b;

    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    return left->inode < right->inode ? -1 : left->inode > right->inode;
}

static mcp_status order_folders(rank *out, const sink_dir *dirs, size_t count, mcp_error *err)
{
    struct stat about;

    for (size_t i = 0; i < count; i++) {
        if (fstat(dirs[i].fd, &about) != 0)
            return mcp_error_errno(err, errno, "the folder '%.150s'", dirs[i].path);
        out[i] = (rank){ i, about.st_dev, about.st_ino };
    }
    qsort(out, count, sizeof *out, by_inode);
    return MCP_OK;
}

mcp_status sink_locks_take(sink_lock *locks, const sink_dir *dirs, size_t count,
                           const char *database, mcp_error *err)
{
    rank order[CASPARIAN_SINK_PLACES_MAX];
    int64_t until = mcp_clock_mono_ms() + SINK_LOCK_WAIT_MS;
    mcp_status st = order_folders(order, dirs, count, err);

    for (size_t i = 0; i < count && st == MCP_OK; i++)
        st = take_chain(&locks[order[i].index], &dirs[order[i].index], until, err);
    if (st == MCP_OK && database)
        st = take_database(&locks[0], database, until, err);
    if (st != MCP_OK)
        sink_locks_release(locks, count);
    return st;
}

static void release(sink_lock *self)
{
    static const sink_lock none = SINK_LOCK_INIT;
    int fds[] = { self->database_fd, self->chain_fd, self->manifests_fd };

    if (self->about[0])
        unlinkat(self->dir_fd, self->about, 0);
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    *self = none;
}

void sink_locks_release(sink_lock *locks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        release(&locks[i]);
}
