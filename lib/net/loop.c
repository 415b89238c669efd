/*
 * loop.c - libuv's loop, cut down to what we use of it.
 *
 * Other threads reach the loop through one queue. Posting wakes the loop only when the queue was
 * empty, and the loop takes the whole queue at once, so a burst of answers costs one wake-up.
 *
 * Sleeping is left to libuv, but turns are taken one by one: while events come fast, the loop takes
 * some without waiting before it takes one that waits (spin.c).
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
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "net/loop_int.h"

struct mcp__timer {
    uv_timer_t handle; /* first: what libuv gives back is the block */
    mcp__loop_callback *callback;
    void *data;
};

struct mcp__signal {
    uv_signal_t handle; /* first */
    mcp__loop_signal_callback *callback;
    void *data;
    int number;
    struct sigaction earlier;
};

mcp_status mcp__uv_error(mcp_error *err, int code, const char *what)
{
    return mcp_error_errno(err, -code, "%s", what);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

void mcp__handle_close(uv_handle_t *handle)
{
    uv_close(handle, on_closed);
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
    if (loop->turn_end)
        loop->turn_end(loop->turn_end_data);
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
        return mcp__uv_error(err, code, "the event loop cannot be made");
    mcp__loop *loop = mcp_alloc_zeroed(1, sizeof *loop);
    if (!loop)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the event loop");
    code = uv_loop_init(&loop->uv);
    if (code != 0) {
        free(loop);
        return mcp__uv_error(err, code, "the event loop cannot be made");
    }
    (void)uv_loop_configure(&loop->uv, UV_METRICS_IDLE_TIME);
    code = start_handles(loop);
    if (code != 0) {
        (void)uv_loop_close(&loop->uv);
        free(loop);
        return mcp__uv_error(err, code, "the event loop cannot be woken from other threads");
    }
    mcp__queue_init(&loop->posted);
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
    loop->turn_end = NULL;
    do { /* a stop that came after the last run ends the first round at once */
        (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    } while (uv_loop_close(&loop->uv) == UV_EBUSY);
    mcp__queue_clear(&loop->posted);
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
        if (loop->came != before) {
            mcp__spin_hit(&loop->spin);
            return true;
        }
    } while (!loop->is_stopping && mcp_clock_mono_ns() < until_ns);
    mcp__spin_miss(&loop->spin);
    return loop->is_stopping;
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
    loop->is_running = false;
    if (loop->turn_end)
        loop->turn_end(loop->turn_end_data);
}

void mcp__loop_stop(mcp__loop *loop)
{
    loop->is_stopping = true;
    uv_stop(&loop->uv); /* no further turn, and the one that is begun does not wait */
}

void mcp__loop_post(mcp__loop *loop, mcp__node *node)
{
    if (mcp__queue_push(&loop->posted, node))
        (void)uv_async_send(&loop->wake);
}

void mcp__loop_before_wait(mcp__loop *loop, mcp__loop_callback *callback, void *data)
{
    loop->before_wait = callback;
    loop->before_wait_data = data;
}

static void on_timer(uv_timer_t *handle)
{
    mcp__timer *timer = (mcp__timer *)handle;

    timer->callback(timer->data);
}

mcp_status mcp__timer_new(mcp__timer **out, mcp__loop *loop, mcp__loop_callback *callback,
                          void *data, mcp_error *err)
{
    mcp__timer *timer = mcp_alloc_zeroed(1, sizeof *timer);

    if (!timer)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a timer");
    timer->callback = callback;
    timer->data = data;
    (void)uv_timer_init(&loop->uv, &timer->handle); /* cannot fail */
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
    if (timer)
        mcp__handle_close((uv_handle_t *)&timer->handle);
}

static void on_signal(uv_signal_t *handle, int number)
{
    mcp__signal *watched = (mcp__signal *)handle;

    watched->callback(number, watched->data);
}

mcp_status mcp__signal_new(mcp__signal **out, mcp__loop *loop, int number,
                           mcp__loop_signal_callback *callback, void *data, mcp_error *err)
{
    mcp__signal *watched = mcp_alloc_zeroed(1, sizeof *watched);

    if (!watched)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to watch a signal");
    watched->callback = callback;
    watched->data = data;
    watched->number = number;
    (void)sigaction(number, NULL, &watched->earlier);
    int code = uv_signal_init(&loop->uv, &watched->handle);
    if (code != 0) {
        free(watched);
        return mcp__uv_error(err, code, "signals cannot be watched");
    }
    code = uv_signal_start(&watched->handle, on_signal, number);
    if (code != 0) {
        mcp__handle_close((uv_handle_t *)&watched->handle);
        return mcp__uv_error(err, code, "the signal cannot be watched");
    }
    *out = watched;
    return MCP_OK;
}

void mcp__signal_free(mcp__signal *signal)
{
    if (!signal)
        return;
    (void)uv_signal_stop(&signal->handle);
    (void)sigaction(signal->number, &signal->earlier, NULL);
    mcp__handle_close((uv_handle_t *)&signal->handle);
}
