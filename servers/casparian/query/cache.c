/*
 * cache.c - see cache.h.
 *
 * An entry knows where each STEP-th row begins in its file, so a page is read from there. The lock
 * guards the list; rows are read and written without it, from a descriptor of the reader's own.
 */
#include "query/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns/sealed/cell.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/random.h"

enum { STEP = 256, ENTRIES_MAX = 1000 };

typedef struct entry {
    char token[CASPARIAN_QUERY_TOKEN_SIZE];
    casparian_query_key key;
    bool has_key;
    bool is_plain, is_truncated; /* of the whole result */
    int64_t used_ms;
    int fd;
    uint64_t bytes, rows;
    uint64_t *steps;              /* the offset of every STEP-th row, and the end */
    casparian_query_result *head; /* columns and warnings, no rows */
    struct entry *next;           /* used before this one */
} entry;

struct casparian_query_cache {
    char *dir;
    uint64_t bytes_max;
    int64_t ttl_ms;
    pthread_mutex_t lock; /* guards all below */
    entry *newest;
    uint64_t bytes;
    int64_t version;
};

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory to keep the result of a query");
}

static void entry_free(entry *self)
{
    if (!self)
        return;
    if (self->fd >= 0)
        close(self->fd);
    casparian_query_result_free(self->head);
    free(self->steps);
    free(self);
}

mcp_status casparian_query_cache_open(casparian_query_cache **out,
                                      const casparian_query_cache_options *options, mcp_error *err)
{
    casparian_query_cache *self = mcp_alloc_zeroed(1, sizeof *self);

    if (self)
        self->dir = mcp_alloc_strdup(options->dir);
    if (!self || !self->dir) {
        free(self);
        return no_memory(err);
    }
    self->bytes_max = options->bytes_max;
    self->ttl_ms = options->ttl_ms;
    pthread_mutex_init(&self->lock, NULL);
    *out = self;
    return MCP_OK;
}

/* ---- dropping, with the lock held ------------------------------------------------------------ */

static void drop(casparian_query_cache *self, entry **place)
{
    entry *gone = *place;

    *place = gone->next;
    self->bytes -= gone->bytes;
    entry_free(gone);
}

static void drop_all(casparian_query_cache *self)
{
    while (self->newest)
        drop(self, &self->newest);
}

/* The list is by use, so what is too old is at its end. */
static void drop_old(casparian_query_cache *self)
{
    int64_t oldest_ms = mcp_clock_mono_ms() - self->ttl_ms;
    entry **place = &self->newest;

    while (*place && (*place)->used_ms > oldest_ms)
        place = &(*place)->next;
    while (*place)
        drop(self, place);
}

/* Until there is room for another one. */
static void make_room(casparian_query_cache *self, uint64_t bytes)
{
    entry **place = &self->newest;
    uint64_t kept = bytes;
    size_t count = 1;

    while (*place && kept + (*place)->bytes <= self->bytes_max && count < ENTRIES_MAX) {
        kept += (*place)->bytes;
        count++;
        place = &(*place)->next;
    }
    while (*place)
        drop(self, place);
}

void casparian_query_cache_sweep(casparian_query_cache *self, int64_t version)
{
    pthread_mutex_lock(&self->lock);
    if (self->version != version)
        drop_all(self);
    self->version = version;
    drop_old(self);
    pthread_mutex_unlock(&self->lock);
}

void casparian_query_cache_forget(casparian_query_cache *self)
{
    pthread_mutex_lock(&self->lock);
    drop_all(self);
    pthread_mutex_unlock(&self->lock);
}

void casparian_query_cache_close(casparian_query_cache *self)
{
    if (!self)
        return;
    drop_all(self);
    pthread_mutex_destroy(&self->lock);
    free(self->dir);
    free(self);
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* A file without a name: no reader finds it, and nothing is left of it after a crash. */
static int make_file(const casparian_query_cache *self)
{
    int fd = open(self->dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

    if (fd < 0 && errno == ENOENT && mkdir(self->dir, 0700) == 0)
        fd = open(self->dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    return fd;
}

static mcp_status write_all(int fd, const mcp_buf *cells, mcp_error *err)
{
    for (size_t at = 0; at < cells->length;) {
        ssize_t written = pwrite(fd, cells->data + at, cells->length - at, (off_t)at);
        if (written <= 0)
            return mcp_error_errno(err, written < 0 ? errno : ENOSPC,
                                   "the result of a query cannot be kept");
        at += (size_t)written;
    }
    return MCP_OK;
}

static mcp_status find_steps(entry *self, const casparian_query_result *result, mcp_error *err)
{
    size_t count = (size_t)(result->all_rows / STEP) + 2;
    size_t at = 0;

    self->steps = mcp_alloc_zeroed(count, sizeof *self->steps);
    if (!self->steps)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        self->steps[i] = at;
        at += casparian_query_rows_length(&result->cells, at, result->facts.column_count, STEP);
    }
    return MCP_OK;
}

static mcp_status copy_head(casparian_query_result *to, const casparian_query_result *from,
                            mcp_error *err)
{
    const casparian_query_facts *facts = &from->facts;
    size_t count = facts->column_count;
    const char **texts = mcp_alloc_zeroed(2 * count + 1, sizeof *texts);
    mcp_status st = MCP_OK;

    if (!texts)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        texts[i] = facts->columns[i].name;
        texts[count + i] = facts->columns[i].type;
    }
    st = casparian_query_result_columns(to, count, texts, texts + count, err);
    if (st == MCP_OK)
        st = casparian_query_result_warnings(to, facts->warning_count, facts->warnings, err);
    free(texts);
    return st;
}

static mcp_status make_token(char out[CASPARIAN_QUERY_TOKEN_SIZE], mcp_error *err)
{
    uint8_t bytes[(CASPARIAN_QUERY_TOKEN_SIZE - 1) / 2];

    mcp_status st = mcp_random_bytes(bytes, sizeof bytes, err);
    for (size_t i = 0; st == MCP_OK && i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return st;
}

static mcp_status make_entry(entry **out, const casparian_query_cache *cache,
                             const casparian_query_result *result, mcp_error *err)
{
    entry *self = mcp_alloc_zeroed(1, sizeof *self);
    mcp_status st;

    if (!self)
        return no_memory(err);
    self->fd = make_file(cache);
    st = self->fd < 0
             ? mcp_error_errno(err, errno, "no file for the result of a query in '%s'", cache->dir)
             : MCP_OK;
    if (st == MCP_OK)
        st = write_all(self->fd, &result->cells, err);
    if (st == MCP_OK)
        st = find_steps(self, result, err);
    if (st == MCP_OK)
        st = casparian_query_result_new(&self->head, err);
    if (st == MCP_OK)
        st = copy_head(self->head, result, err);
    if (st == MCP_OK)
        st = make_token(self->token, err);
    self->bytes = result->cells.length;
    self->rows = result->all_rows;
    self->is_plain = result->is_plain;
    if (st == MCP_OK)
        *out = self;
    else
        entry_free(self);
    return st;
}

mcp_status casparian_query_cache_put(casparian_query_cache *self, casparian_query_result *result,
                                     const casparian_query_key *key, int64_t version,
                                     mcp_error *err)
{
    entry *made = NULL;
    mcp_status st;

    if (result->cells.length > self->bytes_max)
        return mcp_error_set(err, MCP_E_LIMIT, "the result of a query is too long to be kept");
    st = make_entry(&made, self, result, err);
    if (st != MCP_OK)
        return st;
    made->is_truncated = result->is_cut;
    if (key) {
        made->key = *key;
        made->has_key = true;
    }
    made->used_ms = mcp_clock_mono_ms();
    pthread_mutex_lock(&self->lock);
    bool is_current = self->version == version;
    if (is_current) {
        memcpy(result->token, made->token, sizeof result->token);
        make_room(self, made->bytes);
        self->bytes += made->bytes;
        made->next = self->newest;
        self->newest = made;
    }
    pthread_mutex_unlock(&self->lock);
    if (!is_current)
        entry_free(made);
    return MCP_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A page of an entry, and where it is; the entry may be gone while it is read. */
typedef struct reading {
    casparian_query_result *result;
    int fd;
    uint64_t from, until; /* bytes of the file */
    uint64_t skipped;     /* rows before the page */
} reading;

/* With the lock held. */
static mcp_status begin_page(reading *out, const entry *of, uint64_t first, size_t limit,
                             mcp_error *err)
{
    uint64_t last = of->rows - first < limit ? of->rows : first + limit;
    casparian_query_result *result = NULL;
    mcp_status st = casparian_query_result_new(&result, err);

    if (st != MCP_OK)
        return st;
    st = copy_head(result, of->head, err);
    out->fd = st == MCP_OK ? fcntl(of->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (st == MCP_OK && out->fd < 0)
        st = mcp_error_errno(err, errno, "a kept result cannot be read");
    if (st != MCP_OK) {
        casparian_query_result_free(result);
        return st;
    }
    memcpy(result->token, of->token, sizeof result->token);
    result->first_row = first;
    result->all_rows = of->rows;
    result->is_plain = of->is_plain;
    result->facts.row_count = (size_t)(last - first);
    result->facts.is_truncated = last < of->rows || of->is_truncated;
    result->facts.is_cached = true;
    out->result = result;
    out->from = of->steps[first / STEP];
    out->until = last == of->rows ? of->bytes : of->steps[(last + STEP - 1) / STEP];
    out->skipped = first % STEP;
    return MCP_OK;
}

static mcp_status read_bytes(mcp_buf *out, const reading *from, mcp_error *err)
{
    size_t length = (size_t)(from->until - from->from);
    char *space = mcp_buf_reserve(out, length);
    size_t done = 0;

    if (!space)
        return no_memory(err);
    while (done < length) {
        ssize_t got = pread(from->fd, space + done, length - done, (off_t)(from->from + done));
        if (got <= 0)
            return mcp_error_errno(err, got < 0 ? errno : EIO, "a kept result cannot be read");
        done += (size_t)got;
    }
    mcp_buf_commit(out, length);
    return MCP_OK;
}

/* Without the rows before the page. */
static mcp_status read_page(reading *self, mcp_error *err)
{
    casparian_query_result *result = self->result;
    mcp_buf all;
    mcp_status st;

    mcp_buf_init(&all, CASPARIAN_QUERY_SPOOL_MAX);
    st = read_bytes(&all, self, err);
    close(self->fd);
    if (st == MCP_OK) {
        size_t skip = casparian_query_rows_length(&all, 0, result->facts.column_count,
                                                  self->skipped);
        size_t length = casparian_query_rows_length(&all, skip, result->facts.column_count,
                                                    result->facts.row_count);
        st = mcp_buf_append(&result->cells, all.data ? all.data + skip : "", length);
    }
    mcp_buf_clear(&all);
    return st;
}

/* With the lock held: it is the one used last. */
static void touch(casparian_query_cache *self, entry **place)
{
    entry *used = *place;

    *place = used->next;
    used->next = self->newest;
    used->used_ms = mcp_clock_mono_ms();
    self->newest = used;
}

static mcp_status take_page(casparian_query_result **out, casparian_query_cache *self,
                            entry **place, uint64_t first, size_t limit, mcp_error *err)
{
    reading page = { .fd = -1 };
    mcp_status st = MCP_E_NOT_FOUND;

    if (*place && first <= (*place)->rows) {
        st = begin_page(&page, *place, first, limit, err);
        touch(self, place);
    }
    pthread_mutex_unlock(&self->lock);
    if (st == MCP_E_NOT_FOUND)
        return mcp_error_set(err, st, "the result of this cursor is not kept any more");
    if (st == MCP_OK)
        st = read_page(&page, err);
    if (st == MCP_OK)
        *out = page.result;
    else
        casparian_query_result_free(page.result);
    return st;
}

mcp_status casparian_query_cache_find(casparian_query_result **out, casparian_query_cache *self,
                                      const casparian_query_key *key, size_t limit, mcp_error *err)
{
    pthread_mutex_lock(&self->lock);
    entry **place = &self->newest;
    while (*place && (!(*place)->has_key || memcmp(&(*place)->key, key, sizeof *key) != 0))
        place = &(*place)->next;
    return take_page(out, self, place, 0, limit, err);
}

/* "TOKEN-ROW". @return false: it is none */
static bool read_cursor(const char *cursor, uint64_t *row)
{
    const size_t length = CASPARIAN_QUERY_TOKEN_SIZE - 1;
    char *end = NULL;

    if (strlen(cursor) >= CASPARIAN_QUERY_CURSOR_SIZE || strlen(cursor) < length + 2 ||
        cursor[length] != '-' || cursor[length + 1] < '0' || cursor[length + 1] > '9')
        return false;
    *row = strtoull(cursor + length + 1, &end, 10);
    return *end == '\0';
}

mcp_status casparian_query_cache_page(casparian_query_result **out, casparian_query_cache *self,
                                      const char *cursor, size_t limit, mcp_error *err)
{
    uint64_t row = 0;

    if (!read_cursor(cursor, &row))
        return mcp_error_set(err, MCP_E_PARAMS, "the cursor is none of a query");
    pthread_mutex_lock(&self->lock);
    entry **place = &self->newest;
    while (*place && strncmp((*place)->token, cursor, CASPARIAN_QUERY_TOKEN_SIZE - 1) != 0)
        place = &(*place)->next;
    return take_page(out, self, place, row, limit, err);
}
