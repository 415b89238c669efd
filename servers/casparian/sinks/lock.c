/*
 * lock.c - two lock files, and the note of who holds the second.
 */
#include "sinks/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/clock.h"
#include "sinks/manifest.h"

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

static mcp_status take(const sink_lock *self, int fd, const char *what, mcp_error *err)
{
    int64_t until = mcp_clock_mono_ms() + SINK_LOCK_WAIT_MS;
    char about[ABOUT_MAX];

    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return mcp_error_errno(err, errno, "the lock of %s", what);
        if (mcp_clock_mono_ms() >= until) {
            read_about(about, self);
            return mcp_error_set(err, MCP_E_BUSY, "another job commits to %s since %d s; %.120s",
                                 what, SINK_LOCK_WAIT_MS / 1000, about[0] ? about : "try again");
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

mcp_status sink_lock_take(sink_lock *self, int dir_fd, const char *database, mcp_error *err)
{
    char name[NAME_MAX + 1];
    sink_lock made = SINK_LOCK_INIT;
    mcp_status st = guard_make_dir(&made.manifests_fd, dir_fd, CASPARIAN_MANIFEST_DIR, err);

    made.dir_fd = dir_fd;
    if (st == MCP_OK)
        st = open_lock(&made.chain_fd, made.manifests_fd, ".lock", err);
    if (st == MCP_OK)
        st = take(&made, made.chain_fd, "the folder of the sink", err);
    if (st == MCP_OK && database) {
        snprintf(name, sizeof name, "%.200s.lock", database);
        snprintf(made.about, sizeof made.about, "%.200s.lock.json", database);
        st = open_lock(&made.database_fd, dir_fd, name, err);
    }
    if (st == MCP_OK && database)
        st = take(&made, made.database_fd, database, err);
    if (st == MCP_OK && database)
        write_about(&made);
    else
        made.about[0] = '\0';
    *self = made;
    if (st != MCP_OK)
        sink_lock_release(self);
    return st;
}

void sink_lock_release(sink_lock *self)
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
