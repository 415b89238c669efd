/*
 * source.c - reading the keys at the right moments.
 *
 * The first thread that takes the keys when they are due renews them, without the lock; `loading`
 * keeps other threads from renewing too. They continue with the present keys. A thread that cannot
 * (there are no keys, or the one it needs is missing) waits for the renewal, for a short time: a
 * slow address must not block all workers.
 *
 * A failed attempt counts for the pause too, so that tokens with invented key names do not cause
 * more requests. A text that is the same as before leaves the set as it is.
 */
#include "auth/source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/fetch.h"
#include "mcp/alloc.h"
#include "mcp/buf.h"
#include "mcp/clock.h"
#include "mcp/hash.h"
#include "thread/thread.h"

enum { WAIT_MS = 1000, ROOM = 4096 };

/* A file written so recently may change again without a later time. */
#define SETTLED_S 2

/* Identifies the content of a file. */
struct stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec written;
    struct timespec changed;
};

struct auth_source {
    auth_source_options options;

    pthread_mutex_t lock;  /* guards what follows */
    pthread_cond_t loaded; /* `loading` became false */
    auth_keys *keys;       /* NULL: never had any */
    int64_t loaded_ms;     /* when `keys` were last known to be the newest */
    int64_t tried_ms;
    bool tried;
    bool loading;
    bool is_expired; /* renew without a pause */

    /* The thread that has set `loading` owns these. */
    struct stamp stamp;
    bool settled; /* `stamp` is worth comparing */
    bool failing;
    uint8_t digest[MCP_SHA256_SIZE]; /* of the text of `keys` */
    uint64_t generation;
};

/* ---- the file -------------------------------------------------------------------------------- */

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same_file(const struct stamp *a, const struct stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           is_same_time(a->written, b->written) && is_same_time(a->changed, b->changed);
}

static struct stamp stamp_of(const struct stat *facts)
{
    return (struct stamp){ facts->st_dev, facts->st_ino, facts->st_size, facts->st_mtim,
                           facts->st_ctim };
}

static mcp_status read_bytes(mcp_buf *text, int fd, const char *path, mcp_error *err)
{
    for (;;) {
        char *room = mcp_buf_reserve(text, ROOM);
        if (!room)
            return mcp_error_set(err, text->status, "%s: longer than %d bytes", path,
                                 AUTH_KEYS_TEXT_MAX);
        ssize_t got = read(fd, room, ROOM);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mcp_error_errno(err, errno, "%s", path);
        if (got == 0)
            return MCP_OK;
        mcp_buf_commit(text, (size_t)got);
    }
}

/* Read the file, unless it is unchanged; then `text` stays empty and *same becomes true. */
static mcp_status read_file(mcp_buf *text, bool *same, auth_source *self, mcp_error *err)
{
    const char *path = self->options.file;
    struct stat facts;
    /* O_NONBLOCK: a pipe must not wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return mcp_error_errno(err, errno, "%s", path);
    mcp_status st = MCP_OK;
    if (fstat(fd, &facts) != 0)
        st = mcp_error_errno(err, errno, "%s", path);
    else if (!S_ISREG(facts.st_mode))
        st = mcp_error_set(err, MCP_E_IO, "%s: not a regular file", path);
    if (st == MCP_OK) {
        struct stamp stamp = stamp_of(&facts);
        *same = self->settled && !self->failing && is_same_file(&stamp, &self->stamp);
        self->stamp = stamp;
        self->settled = mcp_clock_wall_ms() / 1000 - stamp.changed.tv_sec > SETTLED_S;
        if (!*same)
            st = read_bytes(text, fd, path, err);
    }
    close(fd);
    return st;
}

/* ---- loading, by the thread that set `loading` ----------------------------------------------- */

static mcp_status read_keys(auth_keys **fresh, auth_source *self, const mcp_buf *text,
                            mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    auth_keys *keys = NULL;

    mcp_status st = mcp_sha256(digest, text->data ? text->data : "", text->length, err);
    if (st != MCP_OK)
        return st;
    if (self->generation > 0 && memcmp(digest, self->digest, MCP_SHA256_SIZE) == 0)
        return MCP_OK;
    st = auth_keys_read(&keys, text->data ? text->data : "", text->length, self->generation + 1,
                        self->options.rsa_alg, &self->options.log, err);
    if (st != MCP_OK)
        return st;
    self->generation++;
    memcpy(self->digest, digest, MCP_SHA256_SIZE);
    mcp_log_write(&self->options.log, MCP_LOG_INFO, "auth: %zu keys to check tokens with",
                  auth_keys_count(keys));
    *fresh = keys;
    return MCP_OK;
}

/* Read the keys; *fresh stays NULL where they are unchanged. */
static mcp_status load(auth_keys **fresh, auth_source *self, mcp_error *err)
{
    mcp_buf text;
    bool same = false;

    /* The limit has room for one read more than the longest file, which shows that a file is
     * longer. */
    mcp_buf_init(&text, self->options.url ? AUTH_KEYS_TEXT_MAX : AUTH_KEYS_TEXT_MAX + ROOM);
    mcp_status st = self->options.url
                        ? auth_fetch(&text, self->options.url, self->options.ca_file, err)
                        : read_file(&text, &same, self, err);
    if (st == MCP_OK && !same)
        st = read_keys(fresh, self, &text, err);
    mcp_buf_clear(&text);
    return st;
}

/* A file is checked every second; a failure is logged once. */
static void tell(auth_source *self, mcp_status st, const mcp_error *err)
{
    const char *from = self->options.url ? self->options.url : self->options.file;
    bool news = self->options.url || !self->failing;

    if (st != MCP_OK && news)
        mcp_log_write(&self->options.log, MCP_LOG_WARNING, "auth: no keys from %s: %s", from,
                      err->message);
    if (st == MCP_OK && self->failing)
        mcp_log_write(&self->options.log, MCP_LOG_INFO, "auth: keys from %s again", from);
    self->failing = st != MCP_OK;
}

/* ---- when ------------------------------------------------------------------------------------ */

/* With the lock. */
static bool is_due(const auth_source *self, int64_t now_ms, uint64_t beyond)
{
    int64_t pause_ms = self->options.url ? AUTH_FETCH_PAUSE_MS : AUTH_FILE_PAUSE_MS;

    if (self->loading || self->is_expired)
        return !self->loading;
    if (self->tried && now_ms - self->tried_ms < pause_ms)
        return false;
    return self->options.file || !self->keys || now_ms - self->loaded_ms >= AUTH_FRESH_MS ||
           auth_keys_generation(self->keys) == beyond;
}

/* With the lock: whether the present keys suffice. */
static bool will_do(const auth_source *self, int64_t now_ms, uint64_t beyond)
{
    return self->keys && now_ms - self->loaded_ms < AUTH_FRESH_MS + AUTH_STALE_MS &&
           auth_keys_generation(self->keys) != beyond;
}

/* With the lock, which is released meanwhile. */
static mcp_status renew(auth_source *self, int64_t now_ms, mcp_error *err)
{
    auth_keys *fresh = NULL;
    auth_keys *old = NULL;

    self->loading = true;
    self->is_expired = false;
    self->tried = true;
    self->tried_ms = now_ms;
    pthread_mutex_unlock(&self->lock);
    mcp_status st = load(&fresh, self, err);
    tell(self, st, err);
    pthread_mutex_lock(&self->lock);
    if (st == MCP_OK)
        self->loaded_ms = self->options.mono_ms();
    if (fresh) {
        old = self->keys;
        self->keys = fresh;
    }
    self->loading = false;
    pthread_cond_broadcast(&self->loaded);
    auth_keys_release(old);
    return st;
}

/* With the lock, which is released meanwhile. */
static void wait_for_renewal(auth_source *self)
{
    int64_t until_ms = mcp_clock_mono_ms() + WAIT_MS;
    bool has_time = true;

    while (self->loading && has_time)
        has_time = thread_wait_until(&self->loaded, &self->lock, until_ms);
}

mcp_status auth_source_take(auth_keys **out, auth_source *self, uint64_t beyond, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    int64_t now_ms = self->options.mono_ms();

    pthread_mutex_lock(&self->lock);
    if (is_due(self, now_ms, beyond))
        renew(self, now_ms, &cause);
    else if (self->loading && !will_do(self, now_ms, beyond))
        wait_for_renewal(self);
    /* The keys have been renewed for `beyond`: they are the newest even if the key is still
     * missing. */
    bool busy = self->loading && !will_do(self, now_ms, beyond);
    auth_keys *keys = !busy && will_do(self, now_ms, 0) ? auth_keys_retain(self->keys) : NULL;
    pthread_mutex_unlock(&self->lock);
    if (busy)
        return mcp_error_set(err, MCP_E_BUSY, "the keys to check tokens with are being fetched");
    if (!keys)
        return mcp_error_set(err, MCP_E_IO, "there are no keys to check tokens with");
    *out = keys;
    return MCP_OK;
}

void auth_source_expire(auth_source *self)
{
    pthread_mutex_lock(&self->lock);
    self->is_expired = true;
    pthread_mutex_unlock(&self->lock);
}

/* ---- open and close -------------------------------------------------------------------------- */

static mcp_status load_first(auth_source *self, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;

    pthread_mutex_lock(&self->lock);
    mcp_status st = renew(self, self->options.mono_ms(), &cause);
    pthread_mutex_unlock(&self->lock);
    if (self->options.url)
        return MCP_OK;
    if (st != MCP_OK)
        return mcp_error_set(err, st, "%s", cause.message);
    if (auth_keys_count(self->keys) == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "%s: has no key to use", self->options.file);
    return MCP_OK;
}

mcp_status auth_source_open(auth_source **out, const auth_source_options *options, mcp_error *err)
{
    auth_source *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a source of keys");
    self->options = *options;
    pthread_mutex_init(&self->lock, NULL);
    thread_cond_init(&self->loaded);
    mcp_status st = options->url ? auth_fetch_check(options->url, err) : MCP_OK;
    if (st == MCP_OK)
        st = load_first(self, err);
    if (st == MCP_OK)
        *out = self;
    else
        auth_source_close(self);
    return st;
}

void auth_source_close(auth_source *self)
{
    if (!self)
        return;
    auth_keys_release(self->keys);
    pthread_cond_destroy(&self->loaded);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
