/*
 * csv.c - rows into a CSV file (RFC 4180): UTF-8, lines that end with LF.
 *
 * A null is nothing, an empty text is "". A field is quoted when it holds a quote, the delimiter,
 * CR or LF, or begins or ends with a blank. NaN and infinities are nulls: most readers of CSV know
 * no text for them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/text.h"
#include "guard/paths.h"
#include "mcp/alloc.h"
#include "sinks/write/driver.h"

#define FLUSH_BYTES ((size_t)1 << 20)
#define BUFFER_MAX ((size_t)512 << 20) /* a row, and what waits before it */

struct csv_file {
    int dir_fd, fd;
    char temporary[300];
    char delimiter;
    size_t count;
    const write_column *columns;
    mcp_arena *arena;             /* of the zones */
    const casparian_zone **zones; /* of columns of TIMESTAMP_TZ */
    mcp_buf out;
};

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static bool needs_quotes(const struct csv_file *self, const char *text, size_t length)
{
    if (length == 0 || is_blank(text[0]) || is_blank(text[length - 1]))
        return true;
    for (size_t i = 0; i < length; i++)
        if (text[i] == self->delimiter || text[i] == '"' || text[i] == '\n' || text[i] == '\r')
            return true;
    return false;
}

static void put_quoted(mcp_buf *out, const char *text, size_t length)
{
    mcp_buf_putc(out, '"');
    while (length > 0) {
        const char *quote = memchr(text, '"', length);
        size_t part = quote ? (size_t)(quote - text) + 1 : length;
        mcp_buf_append(out, text, part);
        if (quote)
            mcp_buf_putc(out, '"');
        text += part;
        length -= part;
    }
    mcp_buf_putc(out, '"');
}

static void put_text(struct csv_file *self, const char *text, size_t length)
{
    if (needs_quotes(self, text, length))
        put_quoted(&self->out, text, length);
    else
        mcp_buf_append(&self->out, text, length);
}

/* Quote what was appended from `begin` on, if the delimiter is in it: that of a number or a date
 * may be a point or a colon. */
static void quote_from(struct csv_file *self, size_t begin)
{
    mcp_buf *out = &self->out;

    if (out->status != MCP_OK || !memchr(out->data + begin, self->delimiter, out->length - begin))
        return;
    mcp_buf_putc(out, '"');
    if (mcp_buf_putc(out, '"') != MCP_OK)
        return;
    memmove(out->data + begin + 1, out->data + begin, out->length - begin - 2);
    out->data[begin] = '"';
}

static void put_cell(struct csv_file *self, const casparian_vector *vector, size_t column,
                     size_t row)
{
    casparian_cell cell = casparian_vector_cell(vector, row);
    size_t begin = self->out.length;

    if (cell.kind == CASPARIAN_KIND_NULL)
        return;
    if (cell.kind == CASPARIAN_KIND_FLOAT64 && !isfinite(cell.number))
        return;
    if (cell.kind == CASPARIAN_KIND_STRING) {
        put_text(self, cell.text.bytes, cell.text.length);
        return;
    }
    if (cell.kind == CASPARIAN_KIND_BINARY && cell.text.length == 0) {
        mcp_buf_puts(&self->out, "\"\"");
        return;
    }
    casparian_text_append(&self->out, &cell, self->zones[column]);
    quote_from(self, begin);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static mcp_status flush(struct csv_file *self, size_t enough, mcp_error *err)
{
    const char *bytes = self->out.data;
    size_t left = self->out.length;

    if (self->out.status != MCP_OK)
        return mcp_error_set(err, self->out.status, "no room for a row of '%.100s'",
                             self->temporary);
    if (left < enough)
        return MCP_OK;
    while (left > 0) {
        ssize_t put = write(self->fd, bytes, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return mcp_error_set(err, MCP_E_IO, "'%.100s' cannot be written: %s", self->temporary,
                                 strerrordesc_np(put < 0 ? errno : ENOSPC));
        bytes += put;
        left -= (size_t)put;
    }
    mcp_buf_reset(&self->out);
    return MCP_OK;
}

/* The fields of lineage and the end of the line: the same for all rows of a batch. */
static mcp_status put_lineage(struct csv_file *self, mcp_buf *to, const write_lineage *lineage,
                              mcp_error *err)
{
    struct csv_file field = *self;

    mcp_buf_init(&field.out, BUFFER_MAX);
    for (size_t i = 0; i < LINEAGE_COUNT; i++) {
        mcp_buf_putc(&field.out, self->delimiter);
        put_text(&field, lineage->texts[i], strlen(lineage->texts[i]));
    }
    mcp_buf_putc(&field.out, '\n');
    *to = field.out;
    return to->status == MCP_OK ? MCP_OK : mcp_error_set(err, to->status, "no memory for lineage");
}

static mcp_status file_append(void *data, const casparian_batch *batch,
                              const write_lineage *lineage, mcp_error *err)
{
    struct csv_file *self = data;
    mcp_buf end;
    mcp_status st = put_lineage(self, &end, lineage, err);

    for (size_t row = 0; row < batch->rows && st == MCP_OK; row++) {
        for (size_t i = 0; i < self->count; i++) {
            if (i > 0)
                mcp_buf_putc(&self->out, self->delimiter);
            put_cell(self, &batch->columns[i], i, row);
        }
        mcp_buf_append(&self->out, end.data, end.length);
        st = flush(self, FLUSH_BYTES, err);
    }
    mcp_buf_clear(&end);
    return st;
}

/* ---- from open to finish --------------------------------------------------------------------- */

static void put_header(struct csv_file *self, const char *const *names)
{
    for (size_t i = 0; i < self->count + LINEAGE_COUNT; i++) {
        const char *name = i < self->count ? self->columns[i].name : names[i - self->count];
        if (i > 0)
            mcp_buf_putc(&self->out, self->delimiter);
        put_text(self, name, strlen(name));
    }
    mcp_buf_putc(&self->out, '\n');
}

static void file_free(struct csv_file *self)
{
    if (self->fd >= 0)
        close(self->fd);
    mcp_buf_clear(&self->out);
    mcp_arena_free(self->arena);
    free(self);
}

static void file_abort(void *data)
{
    struct csv_file *self = data;

    unlinkat(self->dir_fd, self->temporary, 0);
    file_free(self);
}

static mcp_status load_zones(struct csv_file *self, mcp_error *err)
{
    mcp_status st = MCP_OK;

    self->arena = mcp_arena_new(0);
    self->zones = self->arena ? mcp_arena_array(self->arena, self->count, sizeof *self->zones)
                              : NULL;
    if (!self->zones)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a CSV file");
    for (size_t i = 0; i < self->count && st == MCP_OK; i++)
        if (self->columns[i].type.kind == CASPARIAN_KIND_TIMESTAMP_TZ)
            st = casparian_zone_load(&self->zones[i], self->arena, self->columns[i].type.zone, err);
    return st;
}

static mcp_status file_open(void **out, const write_options *options, mcp_error *err)
{
    struct csv_file *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a CSV file");
    self->fd = -1;
    self->dir_fd = options->dir_fd;
    self->columns = options->columns;
    self->count = options->count;
    self->delimiter = options->uri->delimiter;
    snprintf(self->temporary, sizeof self->temporary, "%s.tmp", options->name);
    mcp_buf_init(&self->out, BUFFER_MAX);
    mcp_status st = load_zones(self, err);
    if (st == MCP_OK)
        st = guard_create(&self->fd, self->dir_fd, self->temporary, err);
    if (st == MCP_OK && options->uri->has_header)
        put_header(self, options->lineage_names);
    if (st == MCP_OK)
        *out = self;
    else
        file_free(self);
    return st;
}

static mcp_status file_finish(void *data, mcp_error *err)
{
    struct csv_file *self = data;
    mcp_status st = flush(self, 1, err);

    if (st == MCP_OK && fsync(self->fd) != 0)
        st = mcp_error_errno(err, errno, "'%.100s' cannot be written", self->temporary);
    if (st == MCP_OK) {
        int failed = close(self->fd);
        self->fd = -1;
        if (failed)
            st = mcp_error_errno(err, errno, "'%.100s' cannot be written", self->temporary);
    }
    if (st == MCP_OK)
        file_free(self);
    else
        file_abort(self);
    return st;
}

const write_driver write_csv = {
    .extension = "csv",
    .open = file_open,
    .append = file_append,
    .finish = file_finish,
    .abort = file_abort,
};
