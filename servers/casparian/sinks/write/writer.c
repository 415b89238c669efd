/*
 * writer.c - a bounded queue and the thread behind it.
 *
 * `lock` guards the queue, `is_ended` and `failure`. The thread holds it only to take rows. After a
 * failure it still takes rows and drops them, and the next push returns the failure at once.
 */
#include "sinks/write/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/paths.h"
#include "keys/canonical.h"
#include "keys/digest.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "thread/thread.h"

#define FINISH_WAIT_MS 3600000 /* until a file of any size is on disk and hashed */
#define READ_BYTES ((size_t)256 << 10)

struct writer {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* rows were taken, or the thread is done */
    thread_worker worker;
    write_rows *first, *last;
    size_t count;
    bool is_ended; /* no more rows come */
    bool is_done;  /* the file is complete, or has failed */
    bool is_kept;  /* the owner has the complete file; its thread only */
    mcp_error failure;

    /* the thread's */
    const write_driver *driver;
    void *file;
    int dir_fd;
    char temporary[300];
    const char *version, *job;
    writer_result result;
};

/* ---- the thread ------------------------------------------------------------------------------ */

static mcp_status hash_bytes(writer_result *out, keys_digest *digest, int fd, char *room,
                             mcp_error *err)
{
    uint8_t sum[MCP_SHA256_SIZE];

    for (;;) {
        ssize_t got = read(fd, room, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mcp_error_errno(err, errno, "a finished file cannot be read");
        if (got == 0)
            break;
        keys_digest_add(digest, room, (size_t)got);
        out->bytes += got;
    }
    mcp_status st = keys_digest_end(digest, sum, err);
    if (st == MCP_OK)
        keys_hex(out->sha256, sum);
    return st;
}

static mcp_status hash_file(writer *self, mcp_error *err)
{
    keys_digest *digest = NULL;
    int fd = -1;
    char *room = mcp_alloc(READ_BYTES);
    mcp_status st = room ? keys_digest_new(&digest, err)
                         : mcp_error_set(err, MCP_E_NOMEM, "no memory to hash a file");

    if (st == MCP_OK)
        st = guard_open_file(&fd, self->dir_fd, self->temporary, err);
    if (st == MCP_OK)
        st = hash_bytes(&self->result, digest, fd, room, err);
    if (fd >= 0)
        close(fd);
    keys_digest_free(digest);
    free(room);
    return st;
}

static mcp_status write_rows_to(writer *self, const write_rows *rows, mcp_error *err)
{
    const write_lineage lineage = { { rows->source_hash, self->job, rows->processed_at,
                                      self->version } };

    return self->driver->append(self->file, &rows->batch, &lineage, err);
}

static void keep_failure(writer *self, const mcp_error *err)
{
    pthread_mutex_lock(&self->lock);
    if (self->failure.status == MCP_OK)
        self->failure = *err;
    pthread_mutex_unlock(&self->lock);
}

/* The oldest rows; NULL: no more come, or the writer is being stopped. */
static write_rows *take(writer *self)
{
    pthread_mutex_lock(&self->lock);
    while (!self->first && !self->is_ended && !self->worker.is_stopping)
        thread_worker_wait(&self->worker, THREAD_FOREVER);
    write_rows *rows = self->worker.is_stopping ? NULL : self->first;
    if (rows) {
        self->first = rows->next;
        self->count--;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return rows;
}

static void complete(writer *self, mcp_error *err)
{
    void *file = self->file;

    self->file = NULL;
    if (self->driver->finish(file, err) == MCP_OK)
        hash_file(self, err);
}

static void run(void *data)
{
    writer *self = data;
    mcp_error err = MCP_ERROR_INIT;

    for (write_rows *rows = take(self); rows; rows = take(self)) {
        if (err.status == MCP_OK && write_rows_to(self, rows, &err) != MCP_OK)
            keep_failure(self, &err);
        write_rows_free(rows);
    }
    pthread_mutex_lock(&self->lock);
    bool is_complete = self->is_ended && !self->first && !self->worker.is_stopping;
    pthread_mutex_unlock(&self->lock);
    if (is_complete && err.status == MCP_OK) {
        complete(self, &err);
        if (err.status != MCP_OK)
            keep_failure(self, &err);
    }
    pthread_mutex_lock(&self->lock);
    self->is_done = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

/* ---- the owner ------------------------------------------------------------------------------- */

static mcp_status open_file(writer *self, const write_options *options, mcp_error *err)
{
    mcp_status st = self->driver->open(&self->file, options, err);

    if (st == MCP_OK)
        st = thread_worker_start(&self->worker, run, self, err);
    return st;
}

mcp_status writer_open(writer **out, const write_driver *driver, const write_options *options,
                       const char *version, mcp_error *err)
{
    writer *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an output");
    pthread_mutex_init(&self->lock, NULL);
    thread_cond_init(&self->changed);
    thread_worker_init(&self->worker, &self->lock);
    self->failure = (mcp_error)MCP_ERROR_INIT;
    self->driver = driver;
    self->dir_fd = options->dir_fd;
    snprintf(self->temporary, sizeof self->temporary, "%s.tmp", options->name);
    self->version = version;
    self->job = options->job;
    mcp_status st = open_file(self, options, err);
    if (st == MCP_OK)
        *out = self;
    else
        writer_free(self);
    return st;
}

static mcp_status failure_of(const writer *self, mcp_error *err)
{
    if (err && self->failure.status != MCP_OK)
        *err = self->failure;
    return self->failure.status;
}

/* With the lock: wait until a condition of the writer holds, or it has failed. */
static bool wait_for(writer *self, bool (*holds)(const writer *self), int64_t ms)
{
    int64_t until = mcp_clock_mono_ms() + ms;

    while (!holds(self) && self->failure.status == MCP_OK)
        if (!thread_wait_until(&self->changed, &self->lock, until))
            return holds(self);
    return true;
}

static bool has_room(const writer *self)
{
    return self->count < WRITER_QUEUE;
}

static bool is_done(const writer *self)
{
    return self->is_done;
}

static mcp_status say_stuck(const writer *self, int64_t ms, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_TIMEOUT, "'%.100s' was not written in %d s: is its disk stuck?",
                         self->temporary, (int)(ms / 1000));
}

mcp_status writer_push(writer *self, write_rows *rows, mcp_error *err)
{
    pthread_mutex_lock(&self->lock);
    bool is_in_time = wait_for(self, has_room, WRITER_WAIT_MS);
    mcp_status st = is_in_time ? failure_of(self, err) : say_stuck(self, WRITER_WAIT_MS, err);
    if (st == MCP_OK) {
        rows->next = NULL;
        if (self->first)
            self->last->next = rows;
        else
            self->first = rows;
        self->last = rows;
        self->count++;
        thread_worker_wake(&self->worker);
    }
    pthread_mutex_unlock(&self->lock);
    if (st != MCP_OK)
        write_rows_free(rows);
    return st;
}

void writer_end(writer *self)
{
    pthread_mutex_lock(&self->lock);
    self->is_ended = true;
    thread_worker_wake(&self->worker);
    pthread_mutex_unlock(&self->lock);
}

mcp_status writer_wait(writer *self, writer_result *out, mcp_error *err)
{
    pthread_mutex_lock(&self->lock);
    bool is_in_time = wait_for(self, is_done, FINISH_WAIT_MS);
    mcp_status st = is_in_time ? failure_of(self, err) : say_stuck(self, FINISH_WAIT_MS, err);
    pthread_mutex_unlock(&self->lock);
    if (st != MCP_OK)
        return st;
    thread_worker_stop(&self->worker);
    self->is_kept = true;
    *out = self->result;
    return MCP_OK;
}

void writer_free(writer *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->worker);
    for (write_rows *rows = self->first, *next; rows; rows = next) {
        next = rows->next;
        write_rows_free(rows);
    }
    if (self->file)
        self->driver->abort(self->file);
    else if (!self->is_kept)
        unlinkat(self->dir_fd, self->temporary, 0);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
