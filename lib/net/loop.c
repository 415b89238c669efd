/*
 * loop.c - libuv's loop, cut down to what we use of it.
 *
 * Other threads reach the loop through one queue. Posting wakes the loop only when the queue was
 * empty, and the loop takes the whole queue at once, so a burst of answers costs one wake-up. Since
 * no node is ever taken singly, none can come back while another thread compares it (the ABA
 * problem).
 *
 * Sleeping is left to libuv, but turns are taken one by one: for a client that sends again at once,
 * the loop takes some without waiting before it takes one that waits. Waking a thread takes tens of
 * microseconds where the processor has gone idle, more than a message takes to be answered. Several
 * short waits in a row turn this on; a look without an event turns it off and doubles the number of
 * short waits that turn it on again, until a long run of hits restores it. On a single processor
 * the sender cannot run while the loop looks, so it never looks there.
 *
 * libuv demands that a handle's memory stays until its close callback has run. So timers and
 * signals are blocks of their own, which that callback frees; mcp__loop_free runs the loop until
 * the last is gone.
 *
 * A signal handle of libuv leaves the default action behind when it stops. We promise to leave what
 * was in force before, hence the sigaction around it.
 */
#include "net/loop.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "net/loop_int.h"

#define FIRST_NEEDED 4
#define MOST_NEEDED 1024
#define HITS_OF_CREDIT 64

/* The handles' `data` is the callbacks'. */
struct mcp__timer {
    uv_timer_t handle; /* first: what libuv gives back is the block */
    mcp__loop_callback *callback;
};

struct mcp__signal {
    uv_signal_t handle; /* first */
    mcp__loop_signal_callback *callback;
    struct sigaction earlier;
};

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

void mcp__handle_close(uv_handle_t *handle)
{
    if (handle)
        uv_close(handle, on_closed);
}

int mcp__poll_new(uv_poll_t **out, mcp__loop *loop, int fd, void *data)
{
    uv_poll_t *poll = mcp_alloc_zeroed(1, sizeof *poll);
    int code = poll ? uv_poll_init(&loop->uv, poll, fd) : UV_ENOMEM;

    if (code != 0) {
        free(poll);
        return code;
    }
    poll->data = data;
    *out = poll;
    return 0;
}

/* ---- the queue ------------------------------------------------------------------------------- */

bool mcp__queue_push(mcp__queue *queue, mcp__node *node)
{
    mcp__node *last = atomic_load_explicit(&queue->last, memory_order_relaxed);

    do {
        node->next = last;
    } while (!atomic_compare_exchange_weak_explicit(&queue->last, &last, node, memory_order_release,
                                                    memory_order_relaxed));
    return !last; /* `node` is another's by now */
}

mcp__node *mcp__queue_take(mcp__queue *queue)
{
    mcp__node *node = atomic_exchange_explicit(&queue->last, NULL, memory_order_acquire);
    mcp__node *first = NULL;

    while (node) {
        mcp__node *before = node->next;
        node->next = first;
        first = node;
        node = before;
    }
    return first;
}

void mcp__loop_post(mcp__loop *loop, mcp__node *node)
{
    if (mcp__queue_push(&loop->posted, node))
        (void)uv_async_send(&loop->wake);
}

static void run_posted(mcp__loop *loop)
{
    mcp__node *node = mcp__queue_take(&loop->posted);

    while (node) {
        mcp__node *next = node->next;
        node->run(node);
        node = next;
    }
}

/* ---- looking before sleeping ----------------------------------------------------------------- */

void mcp__spin_init(mcp__spin *spin, int64_t most_ns)
{
    cpu_set_t allowed;

    CPU_ZERO(&allowed);
    bool has_processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
                          CPU_COUNT(&allowed) > 1;
    *spin = (mcp__spin){ .most_ns = has_processors ? most_ns : 0, .needed = FIRST_NEEDED };
}

void mcp__spin_looked(mcp__spin *spin, bool has_come)
{
    if (has_come && ++spin->hits < HITS_OF_CREDIT)
        return;
    spin->hits = 0;
    if (has_come) {
        spin->needed = FIRST_NEEDED;
        return;
    }
    spin->is_on = false;
    spin->short_waits = 0;
    if (spin->needed < MOST_NEEDED)
        spin->needed *= 2;
}

void mcp__spin_slept(mcp__spin *spin, int64_t ns)
{
    bool is_short = ns <= spin->most_ns + spin->most_ns / 2; /* being woken is part of it */

    spin->short_waits = is_short && spin->most_ns > 0 ? spin->short_waits + 1 : 0;
    if (spin->short_waits >= spin->needed)
        spin->is_on = true;
}

void mcp__loop_came(mcp__loop *loop)
{
    loop->came++;
    if (loop->slept_ns != 0 && loop->away == 0)
        mcp__spin_slept(&loop->spin, mcp_clock_mono_ns() - loop->slept_ns);
    loop->slept_ns = 0;
}

static void on_wake(uv_async_t *handle)
{
    mcp__loop_came(handle->data);
    run_posted(handle->data);
}

/* What passed since the loop last was about to wait, without the waiting. */
static void clock_turn(mcp__loop *loop)
{
    uint64_t now_ns = uv_hrtime();
    uint64_t idle_ns = uv_metrics_idle_time(&loop->uv);
    uint64_t waited_ns = idle_ns - loop->idle_ns;
    uint64_t passed_ns = now_ns - loop->turn_began_ns;

    if (loop->turn_began_ns > 0 && passed_ns > waited_ns &&
        passed_ns - waited_ns > loop->turn_max_ns)
        loop->turn_max_ns = passed_ns - waited_ns;
    loop->turn_began_ns = now_ns;
    loop->idle_ns = idle_ns;
}

static void on_prepare(uv_prepare_t *handle)
{
    mcp__loop *loop = handle->data;

    if (loop->before_wait)
        loop->before_wait(loop->before_wait_data);
    clock_turn(loop);
}

static int start_handles(mcp__loop *loop)
{
    int code = uv_async_init(&loop->uv, &loop->wake, on_wake);

    if (code != 0)
        return code;
    uv_prepare_init(&loop->uv, &loop->prepare); /* these two cannot fail */
    uv_prepare_start(&loop->prepare, on_prepare);
    loop->wake.data = loop;
    loop->prepare.data = loop;
    return 0;
}

/* libuv aborts when its first loop gets no pipe for signals, so we look whether it will: a
   descriptor to poll by and the two ends. */
static int find_descriptors(void)
{
    int fds[3] = { -1, -1, -1 };
    int code = 0;

    for (int i = 0; i < 3 && code == 0; i++) {
        fds[i] = eventfd(0, EFD_CLOEXEC);
        code = fds[i] < 0 ? -errno : 0;
    }
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            (void)close(fds[i]);
    }
    return code;
}

mcp_status mcp__loop_new(mcp__loop **out, mcp_error *err)
{
    int code = find_descriptors();

    if (code != 0)
        return mcp_error_errno(err, -code, "the event loop cannot be made");
    mcp__loop *loop = mcp_alloc_zeroed(1, sizeof *loop);
    if (!loop)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the event loop");
    code = uv_loop_init(&loop->uv);
    if (code != 0) {
        free(loop);
        return mcp_error_errno(err, -code, "the event loop cannot be made");
    }
    (void)uv_loop_configure(&loop->uv, UV_METRICS_IDLE_TIME);
    code = start_handles(loop);
    if (code != 0) {
        (void)uv_loop_close(&loop->uv);
        free(loop);
        return mcp_error_errno(err, -code, "the event loop cannot be woken from other threads");
    }
    *out = loop;
    return MCP_OK;
}

void mcp__loop_free(mcp__loop *loop)
{
    if (!loop)
        return;
    run_posted(loop);
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    loop->before_wait = NULL;
    do { /* a stop that came after the last run ends the first round at once */
        (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    } while (uv_loop_close(&loop->uv) == UV_EBUSY);
    free(loop);
}

void mcp__loop_spin(mcp__loop *loop, int64_t most_us)
{
    mcp__spin_init(&loop->spin, most_us > 0 ? most_us * 1000 : 0);
}

/* Take turns without waiting. Returns false when it is time to sleep. */
static bool look(mcp__loop *loop)
{
    int64_t until_ns = mcp_clock_mono_ns() + loop->spin.most_ns;
    uint64_t before = loop->came;

    do {
        (void)uv_run(&loop->uv, UV_RUN_NOWAIT);
    } while (loop->came == before && !loop->is_stopping && mcp_clock_mono_ns() < until_ns);
    mcp__spin_looked(&loop->spin, loop->came != before);
    return loop->came != before || loop->is_stopping;
}

uint64_t mcp__loop_turn_max_ns(const mcp__loop *loop)
{
    return loop->turn_max_ns;
}

void mcp__loop_run(mcp__loop *loop)
{
    loop->turn_began_ns = 0;
    while (!loop->is_stopping) {
        if (loop->spin.is_on && loop->away == 0 && look(loop))
            continue;
        loop->slept_ns = mcp_clock_mono_ns();
        (void)uv_run(&loop->uv, UV_RUN_ONCE);
    }
    loop->is_stopping = false;
}

void mcp__loop_stop(mcp__loop *loop)
{
    loop->is_stopping = true;
    uv_stop(&loop->uv); /* no further turn, and the one that is begun does not wait */
}

void mcp__loop_before_wait(mcp__loop *loop, mcp__loop_callback *callback, void *data)
{
    loop->before_wait = callback;
    loop->before_wait_data = data;
}

static void on_timer(uv_timer_t *handle)
{
    ((mcp__timer *)handle)->callback(handle->data);
}

mcp_status mcp__timer_new(mcp__timer **out, mcp__loop *loop, mcp__loop_callback *callback,
                          void *data, mcp_error *err)
{
    mcp__timer *timer = mcp_alloc_zeroed(1, sizeof *timer);

    if (!timer)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a timer");
    timer->callback = callback;
    (void)uv_timer_init(&loop->uv, &timer->handle); /* cannot fail */
    timer->handle.data = data;
    *out = timer;
    return MCP_OK;
}

void mcp__timer_start(mcp__timer *timer, int64_t delay_ms)
{
    /* The loop's idea of now is as old as its last wait; counted from there a timer would be
       early. */
    uv_update_time(timer->handle.loop);
    (void)uv_timer_start(&timer->handle, on_timer, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

void mcp__timer_stop(mcp__timer *timer)
{
    (void)uv_timer_stop(&timer->handle);
}

void mcp__timer_free(mcp__timer *timer)
{
    mcp__handle_close((uv_handle_t *)timer);
}

static void on_signal(uv_signal_t *handle, int number)
{
    ((mcp__signal *)handle)->callback(number, handle->data);
}

mcp_status mcp__signal_new(mcp__signal **out, mcp__loop *loop, int number,
                           mcp__loop_signal_callback *callback, void *data, mcp_error *err)
{
    mcp__signal *watched = mcp_alloc_zeroed(1, sizeof *watched);

    if (!watched)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to watch a signal");
    watched->callback = callback;
    watched->handle.data = data;
    (void)sigaction(number, NULL, &watched->earlier);
    int code = uv_signal_init(&loop->uv, &watched->handle);
    if (code != 0) {
        free(watched);
        return mcp_error_errno(err, -code, "signals cannot be watched");
    }
    code = uv_signal_start(&watched->handle, on_signal, number);
    if (code != 0) {
        mcp__handle_close((uv_handle_t *)&watched->handle);
        return mcp_error_errno(err, -code, "the signal cannot be watched");
    }
    *out = watched;
    return MCP_OK;
}

void mcp__signal_free(mcp__signal *signal)
{
    if (!signal)
        return;
    int number = signal->handle.signum; /* stopping forgets it */
    (void)uv_signal_stop(&signal->handle);
    (void)sigaction(number, &signal->earlier, NULL);
    mcp__handle_close((uv_handle_t *)&signal->handle);
}
