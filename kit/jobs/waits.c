/*
 * waits.c - a table of waits by key, a heap of them by deadline, and the thread that ends them.
 *
 * To wake takes waits out of table and heap and puts them into the list `ended`; only the thread
 * calls their ends, without the lock, and frees them. So a wait that the thread has seen lives
 * until the thread itself ends it.
 *
 * A mark is a counter that several keys share, which costs a needless look now and then, and no
 * memory for keys that nobody waits for.
 */
#include "jobs/waits.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/hash.h"
#include "thread/thread.h"

enum { WAITS_MAX = 10000, MARKS = 1024, BUCKETS = 1024, LOOK_MS = 250, HEAP_MIN = 64 };

struct wait {
    struct wait *next;  /* in its bucket, then in `ended` */
    struct wait **from; /* what leads to it in its bucket; NULL: it has ended */
    size_t place;       /* in the heap */
    int64_t deadline_ms;
    jobs_wait_end *end;
    void *data;
    jobs_outcome outcome;
    char key[];
};

struct jobs_waits {
    jobs_waits_options options;
    thread_worker worker;
    pthread_mutex_t lock;
    uint64_t marks[MARKS];
    struct wait *buckets[BUCKETS];
    struct wait **heap; /* the earliest deadline is the first */
    struct wait **seen; /* the thread's, as large as the heap was when it looked */
    size_t count;
    size_t capacity;
    struct wait *ended; /* to be called by the thread */
    struct wait **ended_end;
};

/* ---- the heap -------------------------------------------------------------------------------- */

static void put(jobs_waits *self, size_t place, struct wait *wait)
{
    self->heap[place] = wait;
    wait->place = place;
}

static void rise(jobs_waits *self, size_t place, struct wait *wait)
{
    while (place > 0 && self->heap[(place - 1) / 2]->deadline_ms > wait->deadline_ms) {
        put(self, place, self->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(self, place, wait);
}

static void sink(jobs_waits *self, size_t place, struct wait *wait)
{
    for (size_t child = 2 * place + 1; child < self->count; child = 2 * place + 1) {
        if (child + 1 < self->count &&
            self->heap[child + 1]->deadline_ms < self->heap[child]->deadline_ms)
            child++;
        if (self->heap[child]->deadline_ms >= wait->deadline_ms)
            break;
        put(self, place, self->heap[child]);
        place = child;
    }
    put(self, place, wait);
}

static mcp_status make_room(jobs_waits *self)
{
    if (self->count < self->capacity)
        return MCP_OK;
    size_t capacity = self->capacity ? 2 * self->capacity : HEAP_MIN;
    struct wait **heap = mcp_realloc(self->heap, capacity * sizeof(struct wait *));
    if (!heap)
        return MCP_E_NOMEM;
    self->heap = heap;
    self->capacity = capacity;
    return MCP_OK;
}

static void leave_heap(jobs_waits *self, const struct wait *wait)
{
    struct wait *last = self->heap[--self->count];
    size_t place = wait->place;

    if (last == wait)
        return;
    if (place > 0 && self->heap[(place - 1) / 2]->deadline_ms > last->deadline_ms)
        rise(self, place, last);
    else
        sink(self, place, last);
}

/* ---- waiting and waking, under the lock ------------------------------------------------------ */

static void enter(jobs_waits *self, struct wait *wait)
{
    struct wait **bucket = &self->buckets[mcp_fnv1a(wait->key) % BUCKETS];

    wait->next = *bucket;
    if (wait->next)
        wait->next->from = &wait->next;
    wait->from = bucket;
    *bucket = wait;
    self->count++;
    rise(self, self->count - 1, wait);
}

static void append_ended(jobs_waits *self, struct wait *wait, jobs_outcome outcome)
{
    wait->outcome = outcome;
    wait->from = NULL;
    wait->next = NULL;
    *self->ended_end = wait;
    self->ended_end = &wait->next;
}

static void end_wait(jobs_waits *self, struct wait *wait, jobs_outcome outcome)
{
    *wait->from = wait->next;
    if (wait->next)
        wait->next->from = wait->from;
    leave_heap(self, wait);
    append_ended(self, wait, outcome);
}

/* End those of a key. @param data of which; NULL: of all */
static bool end_key(jobs_waits *self, const char *key, const void *data, jobs_outcome outcome)
{
    struct wait *next = NULL;
    bool has_any = false;

    for (struct wait *wait = self->buckets[mcp_fnv1a(key) % BUCKETS]; wait; wait = next) {
        next = wait->next;
        if (strcmp(wait->key, key) != 0 || (data && wait->data != data))
            continue;
        end_wait(self, wait, outcome);
        has_any = true;
    }
    return has_any;
}

static void end_all(jobs_waits *self, jobs_outcome outcome)
{
    while (self->count > 0)
        end_wait(self, self->heap[self->count - 1], outcome);
}

/* ---- the functions of the header ------------------------------------------------------------- */

uint64_t jobs_waits_mark(jobs_waits *self, const char *key)
{
    pthread_mutex_lock(&self->lock);
    uint64_t mark = self->marks[mcp_fnv1a(key) % MARKS];
    pthread_mutex_unlock(&self->lock);
    return mark;
}

/* Under the lock. */
static mcp_status check_open(jobs_waits *self, mcp_error *err)
{
    if (self->worker.is_stopping)
        return mcp_error_set(err, MCP_E_STOPPED, "the program is going down");
    if (self->count >= self->options.max)
        return mcp_error_set(err, MCP_E_LIMIT, "%zu calls wait already", self->options.max);
    if (make_room(self) != MCP_OK)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a wait");
    return MCP_OK;
}

mcp_status jobs_wait(jobs_waits *self, const char *key, uint64_t mark, int64_t deadline_mono_ms,
                     jobs_wait_end *end, void *data, mcp_error *err)
{
    size_t size = strlen(key) + 1;
    struct wait *wait = mcp_alloc(sizeof *wait + size);
    bool wakes = false;

    if (!wait)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a wait");
    *wait = (struct wait){ .deadline_ms = deadline_mono_ms, .end = end, .data = data };
    memcpy(wait->key, key, size);
    pthread_mutex_lock(&self->lock);
    mcp_status st = check_open(self, err);
    if (st == MCP_OK && mark != self->marks[mcp_fnv1a(key) % MARKS]) {
        append_ended(self, wait, JOBS_WOKEN);
        wakes = true;
    } else if (st == MCP_OK) {
        enter(self, wait);
        wakes = wait->place == 0;
    }
    pthread_mutex_unlock(&self->lock);
    if (wakes)
        pthread_cond_signal(&self->worker.woken);
    if (st != MCP_OK)
        free(wait);
    return st;
}

void jobs_wake(jobs_waits *self, const char *key)
{
    pthread_mutex_lock(&self->lock);
    self->marks[mcp_fnv1a(key) % MARKS]++;
    bool wakes = end_key(self, key, NULL, JOBS_WOKEN);
    pthread_mutex_unlock(&self->lock);
    if (wakes)
        pthread_cond_signal(&self->worker.woken);
}

void jobs_wake_all(jobs_waits *self)
{
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < MARKS; i++)
        self->marks[i]++;
    end_all(self, JOBS_WOKEN);
    pthread_mutex_unlock(&self->lock);
    pthread_cond_signal(&self->worker.woken);
}

void jobs_wait_cancel(jobs_waits *self, const char *key, const void *data)
{
    pthread_mutex_lock(&self->lock);
    bool wakes = data && end_key(self, key, data, JOBS_CANCELLED);
    pthread_mutex_unlock(&self->lock);
    if (wakes)
        pthread_cond_signal(&self->worker.woken);
}

size_t jobs_waits_count(jobs_waits *self)
{
    pthread_mutex_lock(&self->lock);
    size_t count = self->count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Under the lock, released meanwhile. */
static void call_ended(jobs_waits *self)
{
    struct wait *ended = self->ended;

    self->ended = NULL;
    self->ended_end = &self->ended;
    pthread_mutex_unlock(&self->lock);
    while (ended) {
        struct wait *next = ended->next;
        ended->end(ended->data, ended->outcome);
        free(ended);
        ended = next;
    }
    pthread_mutex_lock(&self->lock);
}

/* Under the lock, released meanwhile: cancel the waits that nobody needs. Without memory for the
 * list they are looked at later. */
static void cancel_over(jobs_waits *self)
{
    size_t count = self->count;
    struct wait **seen = mcp_realloc(self->seen, (count + 1) * sizeof(struct wait *));
    size_t over = 0;

    if (!seen)
        return;
    self->seen = seen;
    memcpy(seen, self->heap, count * sizeof(struct wait *));
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < count; i++)
        if (self->options.is_over(seen[i]->data))
            seen[over++] = seen[i];
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < over; i++)
        if (seen[i]->from)
            end_wait(self, seen[i], JOBS_CANCELLED);
}

/* How long the thread may sleep. */
static int64_t time_to_next(const jobs_waits *self, int64_t now_ms, int64_t look_ms)
{
    if (self->ended)
        return 0;
    if (self->count == 0)
        return THREAD_FOREVER;
    int64_t next_ms = self->heap[0]->deadline_ms;
    if (self->options.is_over && look_ms < next_ms)
        next_ms = look_ms;
    return next_ms > now_ms ? next_ms - now_ms : 0;
}

static void run(void *data)
{
    jobs_waits *self = data;
    int64_t look_ms = 0;

    pthread_mutex_lock(&self->lock);
    while (!self->worker.is_stopping) {
        int64_t now_ms = mcp_clock_mono_ms();
        while (self->count > 0 && self->heap[0]->deadline_ms <= now_ms)
            end_wait(self, self->heap[0], JOBS_TIMED_OUT);
        if (self->options.is_over && self->count > 0 && now_ms >= look_ms) {
            cancel_over(self);
            look_ms = now_ms + LOOK_MS;
        }
        if (self->ended)
            call_ended(self);
        int64_t sleep_ms = time_to_next(self, mcp_clock_mono_ms(), look_ms);
        if (sleep_ms > 0)
            thread_worker_wait(&self->worker, sleep_ms);
    }
    end_all(self, JOBS_CANCELLED);
    call_ended(self);
    pthread_mutex_unlock(&self->lock);
}

mcp_status jobs_waits_new(jobs_waits **out, const jobs_waits_options *options, mcp_error *err)
{
    jobs_waits *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for waits");
    if (options)
        self->options = *options;
    if (self->options.max == 0)
        self->options.max = WAITS_MAX;
    self->ended_end = &self->ended;
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->worker, &self->lock);
    mcp_status st = thread_worker_start(&self->worker, run, self, err);
    if (st == MCP_OK)
        *out = self;
    else
        jobs_waits_free(self);
    return st;
}

void jobs_waits_free(jobs_waits *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->worker);
    pthread_mutex_destroy(&self->lock);
    free(self->heap);
    free(self->seen);
    free(self);
}
