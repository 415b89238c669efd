/*
 * archive.c - gzip by zlib, which also reads what is not compressed.
 */
#include "guard/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "mcp/alloc.h"

enum { PIECE = 1 << 16, SUFFIX_MAX = 16, GZIP_ONLY = 16 + MAX_WBITS };

struct guard_archive {
    gzFile file;
    char path[256]; /* cut, for messages */
    size_t from, until;
    char bytes[GUARD_ARCHIVE_LINE_MAX];
};

/* ---- packing --------------------------------------------------------------------------------- */

/* 0 or an errno. */
static int copy(int from, gzFile to)
{
    char bytes[PIECE];
    ssize_t got;

    do {
        got = read(from, bytes, sizeof bytes);
        if (got < 0 && errno != EINTR)
            return errno;
        if (got > 0 && gzwrite(to, bytes, (unsigned)got) != (int)got)
            return errno ? errno : EIO;
    } while (got != 0);
    return 0;
}

/* @param packed is closed in any case. @return 0 or an errno */
static int pack(int from, int packed, const struct stat *about)
{
    const struct timespec times[2] = { about->st_atim, about->st_mtim };
    int kept = fcntl(packed, F_DUPFD_CLOEXEC, 0); /* gzclose closes its own */
    gzFile to = kept >= 0 ? gzdopen(packed, "wb1") : NULL;

    errno = to ? 0 : ENOMEM;
    int failure = to ? copy(from, to) : errno;
    if (to && gzclose(to) != Z_OK && failure == 0)
        failure = errno ? errno : EIO;
    if (!to)
        close(packed);
    if (failure == 0 && (futimens(kept, times) != 0 || fsync(kept) != 0))
        failure = errno;
    if (kept >= 0)
        close(kept);
    return failure;
}

static mcp_status pack_open(int from, const char *path, mcp_error *err)
{
    char part[PATH_MAX], packed[PATH_MAX];
    struct stat about;

    if (fstat(from, &about) != 0 || !S_ISREG(about.st_mode))
        return mcp_error_set(err, MCP_E_PARAMS, "'%.200s' is not a regular file", path);
    snprintf(part, sizeof part, "%s.gz.part", path);
    snprintf(packed, sizeof packed, "%s.gz", path);
    int to = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int failure = to >= 0 ? pack(from, to, &about) : errno;
    if (failure == 0 && rename(part, packed) != 0)
        failure = errno;
    if (failure == 0 && unlink(path) != 0)
        failure = errno;
    if (failure == 0)
        return MCP_OK;
    unlink(part);
    return mcp_error_errno(err, failure, "'%.200s' cannot be compressed", path);
}

mcp_status guard_archive_pack(const char *path, mcp_error *err)
{
    if (strlen(path) >= PATH_MAX - SUFFIX_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of an archive is too long");
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (from < 0)
        return mcp_error_errno(err, errno, "'%.200s'", path);
    mcp_status st = pack_open(from, path, err);
    close(from);
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

mcp_status guard_archive_open(guard_archive **out, const char *path, mcp_error *err)
{
    guard_archive *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an archive");
    snprintf(self->path, sizeof self->path, "%s", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failure = errno;
    self->file = fd >= 0 ? gzdopen(fd, "rb") : NULL;
    if (self->file) {
        *out = self;
        return MCP_OK;
    }
    if (fd >= 0)
        close(fd);
    free(self);
    return fd < 0 ? mcp_error_errno(err, failure, "'%.200s'", path)
                  : mcp_error_set(err, MCP_E_NOMEM, "no memory for an archive");
}

/* More bytes behind those that are there. @param is_end there are none */
static mcp_status fill(guard_archive *self, bool *is_end, mcp_error *err)
{
    int code = Z_OK;

    memmove(self->bytes, self->bytes + self->from, self->until - self->from);
    self->until -= self->from;
    self->from = 0;
    if (self->until == sizeof self->bytes)
        return mcp_error_set(err, MCP_E_LIMIT, "'%.200s' has a line longer than %zu bytes",
                             self->path, sizeof self->bytes);
    int got = gzread(self->file, self->bytes + self->until,
                     (unsigned)(sizeof self->bytes - self->until));
    *is_end = got == 0;
    (void)gzerror(self->file, &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
        return mcp_error_set(err, MCP_E_IO, "'%.200s' is damaged or cannot be read", self->path);
    self->until += (size_t)got;
    return MCP_OK;
}

mcp_status guard_archive_line(const char **out, size_t *length, guard_archive *self, mcp_error *err)
{
    const char *end = NULL;
    size_t seen = 0;
    bool is_end = false;

    *out = NULL;
    *length = 0;
    while (!end && !is_end) {
        size_t held = self->until - self->from;
        end = held > seen ? memchr(self->bytes + self->from + seen, '\n', held - seen) : NULL;
        if (end)
            break;
        seen = held;
        mcp_status st = fill(self, &is_end, err);
        if (st != MCP_OK)
            return st;
    }
    if (!end && self->from == self->until)
        return MCP_OK;
    *out = self->bytes + self->from;
    *length = end ? (size_t)(end - *out) : self->until - self->from;
    self->from += *length + (end ? 1 : 0);
    return MCP_OK;
}

size_t guard_archive_head(char *out, size_t size, bool *is_whole, const char *packed, size_t length)
{
    z_stream stream = { .next_in = (z_const Bytef *)(uintptr_t)packed,
                        .avail_in = length < UINT_MAX ? (unsigned)length : UINT_MAX,
                        .next_out = (Bytef *)out,
                        .avail_out = size < UINT_MAX ? (unsigned)size : UINT_MAX };
    unsigned room = stream.avail_out;

    *is_whole = false;
    if (inflateInit2(&stream, GZIP_ONLY) != Z_OK)
        return 0;
    int code = inflate(&stream, Z_NO_FLUSH);
    /* A file may be several packed ones, one after the other. */
    while (code == Z_STREAM_END && stream.avail_in > 0 && inflateReset(&stream) == Z_OK)
        code = inflate(&stream, Z_NO_FLUSH);
    *is_whole = code == Z_STREAM_END;
    inflateEnd(&stream);
    return room - stream.avail_out;
}

void guard_archive_close(guard_archive *self)
{
    if (!self)
        return;
    (void)gzclose(self->file);
    free(self);
}
