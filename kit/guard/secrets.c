/*
 * secrets.c - a set of secret values, searched for in texts.
 *
 * Each value lies in the list of its first byte, longest first; a text is walked once. The lock is
 * held for a whole text: a secret that is added is found in every text that begins later.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/redact.h"
#include "mcp/alloc.h"

#define SECRET_MAX ((size_t)64 << 10)

struct secret {
    struct secret *next; /* of the same first byte, not longer */
    size_t length;
    unsigned uses; /* how often it was added */
    char bytes[];
};

struct guard_secrets {
    pthread_rwlock_t lock;
    struct secret *by_first[256];
    size_t count;
};

mcp_status guard_secrets_new(guard_secrets **out, mcp_error *err)
{
    guard_secrets *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a set of secrets");
    pthread_rwlock_init(&self->lock, NULL);
    *out = self;
    return MCP_OK;
}

static void secret_free(struct secret *secret)
{
    explicit_bzero(secret->bytes, secret->length);
    free(secret);
}

void guard_secrets_free(guard_secrets *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < 256; i++) {
        for (struct secret *next, *at = self->by_first[i]; at; at = next) {
            next = at->next;
            secret_free(at);
        }
    }
    pthread_rwlock_destroy(&self->lock);
    free(self);
}

/* Where a value is, or would have to be put. */
static struct secret **place_of(guard_secrets *self, const char *bytes, size_t length)
{
    struct secret **at = &self->by_first[(unsigned char)bytes[0]];

    while (*at && ((*at)->length > length ||
                   ((*at)->length == length && memcmp((*at)->bytes, bytes, length) != 0)))
        at = &(*at)->next;
    return at;
}

static bool is_there(struct secret *const *place, const char *bytes, size_t length)
{
    return *place && (*place)->length == length && memcmp((*place)->bytes, bytes, length) == 0;
}

/* Under the lock. */
static mcp_status add(guard_secrets *self, const char *bytes, size_t length, mcp_error *err)
{
    struct secret **place = place_of(self, bytes, length);

    if (is_there(place, bytes, length)) {
        (*place)->uses++;
        return MCP_OK;
    }
    if (self->count >= 2 * GUARD_SECRETS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "there are %d secrets already", GUARD_SECRETS_MAX);
    struct secret *secret = mcp_alloc(sizeof *secret + length);
    if (!secret)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a secret");
    *secret = (struct secret){ .next = *place, .length = length, .uses = 1 };
    memcpy(secret->bytes, bytes, length);
    *place = secret;
    self->count++;
    return MCP_OK;
}

static void take_out(guard_secrets *self, const char *bytes, size_t length)
{
    struct secret **place = place_of(self, bytes, length), *secret = *place;

    if (!is_there(place, bytes, length) || --secret->uses > 0)
        return;
    *place = secret->next;
    secret_free(secret);
    self->count--;
}

/* The value as JSON writes it inside a string; nothing when that is the value itself, or when it is
 * not UTF-8, which no JSON has. `form` must be cleared by wipe(). */
static mcp_status json_form(mcp_buf *form, const char *value, size_t length)
{
    mcp_json_writer writer;

    mcp_buf_init(form, 6 * SECRET_MAX + 2);
    mcp_json_writer_init(&writer, form);
    mcp_write_string_n(&writer, value, length);
    mcp_status st = mcp_json_writer_status(&writer);
    return st == MCP_E_PARAMS ? MCP_OK : st;
}

static void wipe(mcp_buf *form)
{
    if (form->data)
        explicit_bzero(form->data, form->length);
    mcp_buf_clear(form);
}

static bool differs(const mcp_buf *form, size_t length)
{
    return form->length > length + 2 && form->data[form->length - 1] == '"';
}

mcp_status guard_secrets_add(guard_secrets *self, const char *value, size_t length, mcp_error *err)
{
    mcp_buf form;

    if (length < GUARD_SECRET_MIN)
        return mcp_error_set(err, MCP_E_PARAMS, "a secret needs %d bytes", GUARD_SECRET_MIN);
    if (length > SECRET_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a secret is longer than %zu bytes", SECRET_MAX);
    mcp_status st = json_form(&form, value, length);
    if (st != MCP_OK) {
        wipe(&form);
        return mcp_error_set(err, st, "out of memory for a secret");
    }
    pthread_rwlock_wrlock(&self->lock);
    st = add(self, value, length, err);
    if (st == MCP_OK && differs(&form, length)) {
        st = add(self, form.data + 1, form.length - 2, err);
        if (st != MCP_OK)
            take_out(self, value, length);
    }
    pthread_rwlock_unlock(&self->lock);
    wipe(&form);
    return st;
}

void guard_secrets_remove(guard_secrets *self, const char *value, size_t length)
{
    mcp_buf form;

    if (length < GUARD_SECRET_MIN || length > SECRET_MAX)
        return;
    mcp_status st = json_form(&form, value, length);
    pthread_rwlock_wrlock(&self->lock);
    take_out(self, value, length);
    if (st == MCP_OK && differs(&form, length))
        take_out(self, form.data + 1, form.length - 2);
    pthread_rwlock_unlock(&self->lock);
    wipe(&form);
}

/* The length of the longest secret that begins here; 0: none. */
static size_t secret_at(const guard_secrets *self, const char *text, size_t length)
{
    for (const struct secret *at = self->by_first[(unsigned char)*text]; at; at = at->next)
        if (at->length <= length && memcmp(at->bytes, text, at->length) == 0)
            return at->length;
    return 0;
}

mcp_status guard_secrets_clean(const guard_secrets *self, mcp_buf *out, const char *text,
                               size_t length)
{
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&self->lock; /* of a set that does not change */
    size_t from = 0, at = 0;

    pthread_rwlock_rdlock(lock);
    while (at < length) {
        size_t size = secret_at(self, text + at, length - at);
        if (size == 0) {
            at++;
            continue;
        }
        mcp_buf_append(out, text + from, at - from);
        mcp_buf_puts(out, GUARD_REDACTED);
        from = at += size;
    }
    pthread_rwlock_unlock(lock);
    return mcp_buf_append(out, text + from, length - from);
}

bool guard_secrets_found(const guard_secrets *self, const char *text, size_t length)
{
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&self->lock;
    bool is_found = false;

    pthread_rwlock_rdlock(lock);
    for (size_t at = 0; at < length && !is_found; at++)
        is_found = secret_at(self, text + at, length - at) > 0;
    pthread_rwlock_unlock(lock);
    return is_found;
}
