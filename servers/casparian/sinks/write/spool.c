/*
 * spool.c - frames into a file and out of it.
 */
#include "sinks/write/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "mcp/alloc.h"

#define FALLBACK_NAME ".casparian_spool.tmp"

struct frame_head {
    uint32_t table, length;
};

void write_spool_init(write_spool *self, int64_t max_bytes)
{
    *self = (write_spool){ .fd = -1, .max_bytes = max_bytes };
    mcp_buf_init(&self->frame, CASPARIAN_BATCH_BYTES_MAX + sizeof(struct frame_head));
}

void write_spool_clear(write_spool *self)
{
    if (self->fd >= 0)
        close(self->fd);
    self->fd = -1;
    mcp_buf_clear(&self->frame);
}

/* A file system without O_TMPFILE has the file under a name for a moment. */
static mcp_status create(write_spool *self, int dir_fd, mcp_error *err)
{
    self->fd = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (self->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
        self->fd = openat(dir_fd, FALLBACK_NAME, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        if (self->fd >= 0)
            unlinkat(dir_fd, FALLBACK_NAME, 0);
    }
    if (self->fd < 0)
        return mcp_error_errno(err, errno, "no file for rows that wait in the sink's folder");
    return MCP_OK;
}

static mcp_status write_frame(write_spool *self, mcp_error *err)
{
    size_t done = 0;

    while (done < self->frame.length) {
        ssize_t put = pwrite(self->fd, self->frame.data + done, self->frame.length - done,
                             (off_t)(self->length + (int64_t)done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return mcp_error_set(err, MCP_E_IO, "rows that wait cannot be written to disk: %s",
                                 strerrordesc_np(put < 0 ? errno : ENOSPC));
        done += (size_t)put;
    }
    self->length += (int64_t)done;
    return MCP_OK;
}

mcp_status write_spool_add(write_spool *self, int dir_fd, size_t table,
                           const casparian_batch *batch, mcp_error *err)
{
    struct frame_head head = { (uint32_t)table, 0 };
    mcp_status st = self->fd < 0 ? create(self, dir_fd, err) : MCP_OK;

    if (st != MCP_OK)
        return st;
    mcp_buf_reset(&self->frame);
    mcp_buf_append(&self->frame, &head, sizeof head);
    st = casparian_batch_encode(&self->frame, batch, err);
    if (st != MCP_OK)
        return st;
    head.length = (uint32_t)(self->frame.length - sizeof head);
    memcpy(self->frame.data, &head, sizeof head);
    if (self->length + (int64_t)self->frame.length > self->max_bytes)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "the rows of a source file take more than %lld bytes on disk",
                             (long long)self->max_bytes);
    return write_frame(self, err);
}

static mcp_status read_all(write_spool *self, void *to, size_t length, mcp_error *err)
{
    size_t done = 0;

    while (done < length) {
        ssize_t got = pread(self->fd, (char *)to + done, length - done, (off_t)self->at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return mcp_error_set(err, MCP_E_IO, "rows that wait cannot be read from disk: %s",
                                 got < 0 ? strerrordesc_np(errno) : "the file has become shorter");
        done += (size_t)got;
        self->at += got;
    }
    return MCP_OK;
}

mcp_status write_spool_next(write_spool *self, write_rows **out, mcp_error *err)
{
    struct frame_head head;

    *out = NULL;
    if (self->at >= self->length)
        return MCP_OK;
    mcp_status st = read_all(self, &head, sizeof head, err);
    char *bytes = st == MCP_OK ? mcp_alloc(head.length) : NULL;
    if (st == MCP_OK && !bytes)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for %u bytes of rows", head.length);
    if (st == MCP_OK)
        st = read_all(self, bytes, head.length, err);
    if (st != MCP_OK) {
        free(bytes);
        return st;
    }
    st = write_rows_decode(out, bytes, head.length, err);
    if (st == MCP_OK)
        (*out)->table = head.table;
    return st;
}
