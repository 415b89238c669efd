/*
 * audit.c - appending lines under a lock, and turning files over.
 *
 * flock(2) excludes other processes and works on the file PATH.lock, which is never renamed; the
 * mutex excludes our own threads, which share its descriptor. Under both, the file is what PATH
 * names now (another process may have turned it over) and its size does not change. O_APPEND holds
 * even against writers that know no lock.
 */
#include "guard/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guard/archive.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/hash.h"

enum { KEEP_MAX = 100, RETRY_MS = 2, SUFFIX_MAX = 32 };

#define PACKED_MAX (INT64_C(64) << 20) /* under the lock: within a second */

static const char *const suffixes[] = { "", ".gz" };

struct guard_audit {
    char path[PATH_MAX - SUFFIX_MAX];
    guard_audit_options options;
    pthread_mutex_t lock; /* guards all below */
    int fd;               /* of the file; -1: it must be opened */
    int lock_fd;
    uint64_t seq; /* of the last line */
};

static int open_at(const char *path, int flags)
{
    return open(path, flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

static mcp_status failed(const guard_audit *self, int failure, mcp_error *err)
{
    if (failure == ENOSPC || failure == EDQUOT || failure == EFBIG)
        return mcp_error_set(err, MCP_E_STORAGE, "the audit log '%s': %s", self->path,
                             failure == EFBIG ? "it may not grow" : "the disk is full");
    return mcp_error_errno(err, failure, "the audit log '%s'", self->path);
}

static void forget_file(guard_audit *self)
{
    if (self->fd >= 0)
        close(self->fd);
    self->fd = -1;
}

/* Open what the path names now. */
static mcp_status open_file(guard_audit *self, mcp_error *err)
{
    struct stat st;

    forget_file(self);
    self->fd = open_at(self->path, O_RDWR | O_APPEND);
    if (self->fd < 0)
        return failed(self, errno, err);
    if (fstat(self->fd, &st) == 0 && S_ISREG(st.st_mode))
        return MCP_OK;
    forget_file(self);
    return mcp_error_set(err, MCP_E_PARAMS, "the audit log '%s' is not a regular file", self->path);
}

/* Remove older files that nobody has written to for so long. */
static void remove_old(const guard_audit *self)
{
    char path[PATH_MAX];
    struct stat about;
    int64_t oldest_s = mcp_clock_wall_ms() / 1000 - self->options.max_age_days * INT64_C(86400);

    for (int i = 2; self->options.max_age_days > 0 && i <= 2 * self->options.keep + 1; i++) {
        snprintf(path, sizeof path, "%s.%d%s", self->path, i / 2, suffixes[i % 2]);
        if (lstat(path, &about) == 0 && about.st_mtim.tv_sec < oldest_s)
            unlink(path);
    }
}

/* ---- open and close -------------------------------------------------------------------------- */

static mcp_status set_up(guard_audit *self, const char *path, const guard_audit_options *options,
                         mcp_error *err)
{
    char lock_path[PATH_MAX];

    if (options)
        self->options = *options;
    if (self->options.max_bytes == 0)
        self->options.max_bytes = 10 << 20;
    if (self->options.keep == 0)
        self->options.keep = 10;
    if (self->options.lock_ms == 0)
        self->options.lock_ms = 2000;
    if (self->options.max_bytes < (int64_t)GUARD_AUDIT_LINE_MAX || self->options.keep < 0 ||
        self->options.keep > KEEP_MAX || self->options.lock_ms < 0 ||
        self->options.max_age_days < 0)
        return mcp_error_set(err, MCP_E_PARAMS, "an audit log has a bound that cannot be");
    if (strlen(path) >= sizeof self->path)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of an audit log is too long");
    memcpy(self->path, path, strlen(path) + 1);
    mcp_status st = open_file(self, err);
    if (st != MCP_OK)
        return st;
    snprintf(lock_path, sizeof lock_path, "%s.lock", self->path);
    self->lock_fd = open_at(lock_path, O_RDWR);
    if (self->lock_fd < 0)
        return failed(self, errno, err);
    remove_old(self);
    return MCP_OK;
}

mcp_status guard_audit_open(guard_audit **out, const char *path, const guard_audit_options *options,
                            mcp_error *err)
{
    guard_audit *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for an audit log");
    self->fd = self->lock_fd = -1;
    pthread_mutex_init(&self->lock, NULL);
    mcp_status st = set_up(self, path, options, err);
    if (st != MCP_OK) {
        guard_audit_close(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void guard_audit_close(guard_audit *self)
{
    if (!self)
        return;
    forget_file(self);
    if (self->lock_fd >= 0)
        close(self->lock_fd);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* ---- under the lock -------------------------------------------------------------------------- */

/* flock(2) has no deadline of its own. */
static mcp_status take_lock(guard_audit *self, mcp_error *err)
{
    const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L };
    int64_t end_ms = mcp_clock_mono_ms() + self->options.lock_ms;

    while (flock(self->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return failed(self, errno, err);
        if (mcp_clock_mono_ms() >= end_ms)
            return mcp_error_set(err, MCP_E_BUSY, "the audit log '%s' is locked by another process",
                                 self->path);
        nanosleep(&pause, NULL);
    }
    return MCP_OK;
}

/* 0 or an errno; a file that is not there is fine. */
static int move(const char *from, const char *to)
{
    return rename(from, to) == 0 || errno == ENOENT ? 0 : errno;
}

/* The older files make room for one. @return 0 or an errno */
static int move_all(const guard_audit *self)
{
    char from[PATH_MAX], to[PATH_MAX];
    int failure = 0;

    for (int i = self->options.keep; i >= 1; i--) {
        for (int packed = 0; packed <= 1 && failure == 0; packed++) {
            snprintf(from, sizeof from, "%s.%d%s", self->path, i, suffixes[packed]);
            snprintf(to, sizeof to, "%s.%d%s", self->path, i + 1, suffixes[packed]);
            if (i < self->options.keep)
                failure = move(from, to);
            else if (unlink(from) != 0 && errno != ENOENT)
                failure = errno;
        }
    }
    return failure;
}

/* A file that cannot be compressed stays as it is. */
static void pack_second(const guard_audit *self)
{
    char path[PATH_MAX];
    struct stat about;

    snprintf(path, sizeof path, "%s.2", self->path);
    if (lstat(path, &about) == 0 && about.st_size <= PACKED_MAX)
        (void)guard_archive_pack(path, NULL);
}

static mcp_status turn_over(guard_audit *self, mcp_error *err)
{
    char to[PATH_MAX];
    int failure = move_all(self);

    snprintf(to, sizeof to, "%s.1", self->path);
    if (failure == 0)
        failure = move(self->path, to);
    if (failure == 0)
        pack_second(self);
    if (failure == 0)
        remove_old(self);
    return failure == 0 ? open_file(self, err) : failed(self, failure, err);
}

/* The file that the path names now, with room for a line. */
static mcp_status prepare(guard_audit *self, size_t length, int64_t *size, mcp_error *err)
{
    struct stat ours, named;
    mcp_status st = MCP_OK;

    bool is_ours = self->fd >= 0 && fstat(self->fd, &ours) == 0 && lstat(self->path, &named) == 0 &&
                   ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
    if (!is_ours)
        st = open_file(self, err);
    if (st == MCP_OK && fstat(self->fd, &ours) != 0)
        st = failed(self, errno, err);
    if (st == MCP_OK && ours.st_size > 0 &&
        ours.st_size + (int64_t)length > self->options.max_bytes) {
        st = turn_over(self, err);
        if (st == MCP_OK && fstat(self->fd, &ours) != 0)
            st = failed(self, errno, err);
    }
    if (st == MCP_OK)
        *size = ours.st_size;
    return st;
}

/* Whether the last line has no end: its process was killed as it wrote. */
static bool is_cut(int fd, int64_t size)
{
    char last = '\n';

    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

/* ---- the chain ------------------------------------------------------------------------------- */

mcp_status guard_audit_hash(char out[GUARD_AUDIT_HASH_SIZE], const char *line, size_t length,
                            mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_status st = mcp_sha256(digest, line, length, err);

    for (size_t i = 0; st == MCP_OK && i < sizeof digest; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    return st;
}

/* The hash of the last line of a file of that size; *found false: it has none. */
static mcp_status hash_last(char out[GUARD_AUDIT_HASH_SIZE], bool *found, int fd, int64_t size,
                            mcp_error *err)
{
    char text[GUARD_AUDIT_LINE_MAX];
    size_t room = size < (int64_t)sizeof text ? (size_t)size : sizeof text;
    ssize_t got = pread(fd, text, room, size - (int64_t)room);
    size_t end = got > 0 ? (size_t)got : 0;

    if (end > 0 && text[end - 1] == '\n')
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    *found = end > start;
    return *found ? guard_audit_hash(out, text + start, end - start, err) : MCP_OK;
}

/* The hash of the line before the next one, which may be the last one of the file before. */
static mcp_status hash_before(char out[GUARD_AUDIT_HASH_SIZE], const guard_audit *self,
                              int64_t size, mcp_error *err)
{
    char older[PATH_MAX];
    struct stat about;
    bool found = false;

    mcp_status st = hash_last(out, &found, self->fd, size, err);
    if (st != MCP_OK || found)
        return st;
    snprintf(older, sizeof older, "%s.1", self->path);
    int fd = open(older, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
        st = hash_last(out, &found, fd, about.st_size, err);
    if (fd >= 0)
        close(fd);
    if (st == MCP_OK && !found)
        snprintf(out, GUARD_AUDIT_HASH_SIZE, "%064d", 0);
    return st;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The members before the object's own. @return their length */
static int write_head(char *out, size_t size, const guard_audit *self, const char *before)
{
    char time[MCP_CLOCK_UTC_SIZE];

    mcp_clock_utc(time, mcp_clock_wall_ms(), 1);
    return snprintf(out, size, "\n{\"ts\":\"%s\",\"pid\":%ld,\"seq\":%" PRIu64 "%s%s%s", time,
                    (long)getpid(), self->seq + 1, before[0] ? ",\"prev\":\"" : "", before,
                    before[0] ? "\"" : "");
}

/* A line that does not fit as a whole is taken back. */
static mcp_status append(guard_audit *self, const char *line, size_t length, int64_t size,
                         mcp_error *err)
{
    ssize_t written;

    do
        written = write(self->fd, line, length);
    while (written < 0 && errno == EINTR);
    if (written == (ssize_t)length)
        return MCP_OK;
    int failure = written < 0 ? errno : ENOSPC;
    if (written > 0 && ftruncate(self->fd, size) != 0)
        failure = errno;
    return failed(self, failure, err);
}

static mcp_status write_line(guard_audit *self, const char *object, size_t length, bool is_durable,
                             mcp_error *err)
{
    char line[GUARD_AUDIT_LINE_MAX + 1], before[GUARD_AUDIT_HASH_SIZE] = "";
    int64_t size = 0;

    if (self->options.is_chained)
        snprintf(before, sizeof before, "%064d", 0); /* of the right length */
    int head = write_head(line, sizeof line, self, before);
    if (length > 2)
        line[head++] = ',';
    size_t total = (size_t)head + length; /* less its '{', with a newline */
    if (total > sizeof line)
        return mcp_error_set(err, MCP_E_LIMIT, "a line of the audit log is longer than %zu bytes",
                             GUARD_AUDIT_LINE_MAX);
    mcp_status st = prepare(self, total, &size, err);
    if (st == MCP_OK && self->options.is_chained)
        st = hash_before(before, self, size, err);
    if (st != MCP_OK)
        return st;
    (void)write_head(line, sizeof line, self, before);
    if (length > 2)
        line[head - 1] = ',';
    memcpy(line + head, object + 1, length - 1);
    line[total - 1] = '\n';
    size_t skip = is_cut(self->fd, size) ? 0 : 1;
    st = append(self, line + skip, total - skip, size, err);
    if (st != MCP_OK)
        return st;
    self->seq++;
    return is_durable && fdatasync(self->fd) != 0 ? failed(self, errno, err) : MCP_OK;
}

mcp_status guard_audit_write(guard_audit *self, const char *object, size_t length, bool is_durable,
                             mcp_error *err)
{
    if (length < 2 || object[0] != '{' || object[length - 1] != '}')
        return mcp_error_set(err, MCP_E_PARAMS, "a line of the audit log is not an object");
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)object[i] < 0x20)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "a line of the audit log has a control character");
    pthread_mutex_lock(&self->lock);
    mcp_status st = take_lock(self, err);
    if (st == MCP_OK) {
        st = write_line(self, object, length, is_durable, err);
        flock(self->lock_fd, LOCK_UN);
    }
    pthread_mutex_unlock(&self->lock);
    return st;
}
