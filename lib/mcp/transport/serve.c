/*
 * serve.c - loop, workers, tasks, signals and large messages while a server serves, and the course
 * of its end.
 *
 * The end has several causes and one course:
 *     SIGTERM, SIGINT, mcp_server_stop   no further message is taken, calls that wait are refused, calls that
 *                                        run are asked to stop
 *     a second signal                    calls that run are cancelled
 *     a cause of the transport           what it says (stdio.c)
 * The loop is left when all is answered and sent. After the grace time open calls are answered with
 * an error; LAST_MS later the loop is left whatever still runs.
 */
#include "mcp/transport/serve.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "mcp/core/dispatch.h"
#include "mcp/core/subscriptions/subscriptions.h"

#define LAST_MS 500
#define SECOND_SIGNAL_MS 1000

/* ---- large messages -------------------------------------------------------------------------- */

/* A block of its own, as a worker may have it longer than the connection lives. */
struct large {
    mcp__reading reading; /* first */
    mcp__serve *serve;
    mcp__large_done *done;
    void *owner;
};

static void on_read(mcp__reading *reading)
{
    struct large *large = (struct large *)reading;

    large->serve->reading--;
    large->done(large->owner, &reading->incoming);
    mcp__incoming_clear(&reading->incoming);
    free(large);
}

mcp_status mcp__serve_read(mcp__serve *serve, mcp_buf *text, mcp__large_done *done, void *owner,
                           mcp_error *err)
{
    struct large *large = text->status == MCP_OK ? mcp_alloc_zeroed(1, sizeof *large) : NULL;

    if (!large) {
        mcp_buf_clear(text);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to read a message");
    }
    *large = (struct large){ .serve = serve, .done = done, .owner = owner };
    large->reading.options = serve->options;
    large->reading.budget = serve->context.budget;
    large->reading.done = on_read;
    large->reading.text = *text;
    mcp_buf_init(text, text->max_bytes);
    mcp_status st = mcp__reading_start(&large->reading, serve->executor, err);
    if (st == MCP_OK)
        serve->reading++;
    else
        free(large);
    return st;
}

/* ---- the end --------------------------------------------------------------------------------- */

void mcp__serve_stop_calls(mcp__serve *serve, mcp_stop why)
{
    mcp__dispatch_tasks_stop(serve->tasks, why);
    serve->driver->stop_calls(serve, why);
}

void mcp__serve_end(mcp__serve *serve, const char *why)
{
    if (serve->is_ending)
        return;
    serve->is_ending = true;
    mcp_log_write(&serve->options->log, MCP_LOG_INFO, "going down: %s", why);
    mcp__timer_start(serve->leave_timer, serve->options->limits.grace_ms);
}

static void stop(mcp__serve *serve, const char *why)
{
    serve->is_stopping = true;
    mcp__serve_end(serve, why);
    serve->driver->close(serve);
    serve->driver->refuse_waiting(serve);
    mcp__serve_stop_calls(serve, MCP_STOP_SHUTDOWN);
}

static void on_signal(int number, void *data)
{
    mcp__serve *serve = data;

    if (!serve->is_stopping) {
        stop(serve, number == SIGINT ? "interrupted" : "terminated");
        return;
    }
    mcp_log_write(&serve->options->log, MCP_LOG_WARNING, "cancelling what runs");
    mcp__serve_stop_calls(serve, MCP_STOP_CANCELLED);
    mcp__timer_start(serve->leave_timer, SECOND_SIGNAL_MS);
}

static void on_hangup(int number, void *data)
{
    mcp__serve *serve = data;

    (void)number;
    if (!serve->is_ending)
        serve->driver->reload(serve);
}

static void on_stop_posted(mcp__node *node)
{
    mcp__serve *serve = (mcp__serve *)((char *)node - offsetof(mcp__serve, stop_node));

    if (!serve->is_stopping)
        stop(serve, "stopped");
}

static void on_leave_due(void *data)
{
    mcp__serve *serve = data;

    if (serve->is_abandoned) {
        mcp__loop_stop(serve->loop);
        return;
    }
    mcp_log_write(&serve->options->log, MCP_LOG_WARNING, "the grace time is over");
    serve->is_abandoned = true;
    mcp__serve_stop_calls(serve, MCP_STOP_SHUTDOWN);
    serve->driver->abandon(serve);
    mcp__dispatch_abandon(&serve->tasks->session);
    mcp__timer_start(serve->leave_timer, LAST_MS);
}

/* Under the lock. */
static void post_stop(mcp__serve *serve)
{
    if (serve->is_stop_posted)
        return;
    serve->is_stop_posted = true;
    mcp__loop_post(serve->loop, &serve->stop_node);
}

void mcp__stop_request(mcp__stop *request)
{
    pthread_mutex_lock(&request->lock);
    if (request->serving)
        post_stop(request->serving);
    else
        request->is_requested = true;
    pthread_mutex_unlock(&request->lock);
}

/* ---- the loop's turn ------------------------------------------------------------------------- */

static void on_due(void *data)
{
    mcp__serve *serve = data;

    serve->due_ms = INT64_MAX;
    if (serve->driver->due)
        serve->driver->due(serve);
}

static void before_wait(void *data)
{
    mcp__serve *serve = data;
    int64_t due_ms = serve->driver->settle(serve);

    if (due_ms != serve->due_ms && due_ms == INT64_MAX)
        mcp__timer_stop(serve->due_timer);
    else if (due_ms != serve->due_ms)
        mcp__timer_start(serve->due_timer, due_ms - mcp_clock_mono_ms());
    serve->due_ms = due_ms;
    if (serve->is_ending && serve->reading == 0 && mcp__dispatch_is_idle(&serve->tasks->session) &&
        serve->driver->is_done(serve))
        mcp__loop_stop(serve->loop);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

mcp_status mcp__serve_open(mcp__serve *serve, const mcp__serve_driver *driver,
                           const mcp__serve_setup *setup, int long_threads, int max_queued,
                           mcp_error *err)
{
    const mcp_limits *limits = &setup->context.options->limits;
    const mcp__pool_size size = { .short_threads = limits->short_threads,
                                  .long_threads = setup->long_threads + long_threads,
                                  .replacement_threads = limits->replacement_threads,
                                  .max_queued = max_queued };

    serve->driver = driver;
    serve->options = setup->context.options;
    serve->context = setup->context;
    serve->stop = setup->stop;
    serve->stop_node.run = on_stop_posted;
    serve->due_ms = INT64_MAX;
    mcp_status st = mcp__loop_new(&serve->loop, err);
    if (st != MCP_OK)
        return st;
    mcp__loop_spin(serve->loop, limits->spin_us);
    st = mcp__pool_new(&serve->pool, serve->loop, &size, err);
    if (st != MCP_OK)
        return st;
    serve->executor = serve->context.executor = mcp__pool_executor(serve->pool);
    st = mcp__task_table_new(&serve->tasks, &serve->context, err);
    serve->context.tasks = serve->tasks;
    if (st == MCP_OK)
        st = mcp__timer_new(&serve->due_timer, serve->loop, on_due, serve, err);
    if (st == MCP_OK)
        st = mcp__timer_new(&serve->leave_timer, serve->loop, on_leave_due, serve, err);
    if (st == MCP_OK)
        st = mcp__signal_new(&serve->signals[0], serve->loop, SIGTERM, on_signal, serve, err);
    if (st == MCP_OK)
        st = mcp__signal_new(&serve->signals[1], serve->loop, SIGINT, on_signal, serve, err);
    return st;
}

mcp_status mcp__serve_watch_hangup(mcp__serve *serve, mcp_error *err)
{
    return mcp__signal_new(&serve->hangup, serve->loop, SIGHUP, on_hangup, serve, err);
}

void mcp__serve_run(mcp__serve *serve)
{
    pthread_mutex_lock(&serve->stop->lock);
    serve->stop->serving = serve;
    if (serve->stop->is_requested)
        post_stop(serve);
    serve->stop->is_requested = false;
    pthread_mutex_unlock(&serve->stop->lock);
    mcp__loop_before_wait(serve->loop, before_wait, serve);
    mcp__loop_run(serve->loop);
}

bool mcp__serve_close(mcp__serve *serve)
{
    pthread_mutex_lock(&serve->stop->lock);
    serve->stop->serving = NULL;
    pthread_mutex_unlock(&serve->stop->lock);
    serve->is_stopping = true; /* a request that was posted before is run when the loop is freed */
    mcp__timer_free(serve->due_timer);
    mcp__timer_free(serve->leave_timer);
    for (int i = 0; i < 2; i++)
        mcp__signal_free(serve->signals[i]);
    mcp__signal_free(serve->hangup);
    if (serve->context.subscriptions) /* other threads may still notify; sessions end later */
        mcp__subscriptions_detach(serve->context.subscriptions);
    return mcp__pool_free(serve->pool);
}

void mcp__serve_free(mcp__serve *serve)
{
    mcp__task_table_free(serve->tasks);
    mcp__loop_free(serve->loop);
}
