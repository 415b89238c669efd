/*
 * execute.c - from a prepared call to its rendered message.
 *
 * A handler runs on a worker. One that is declared MCP_NONBLOCKING runs on the loop, as long as it
 * keeps to its budget: after an overrun workers run it for a second, twice as long after each
 * further overrun, an hour at most. So a handler that blocks costs the loop a dozen waits in its
 * first hour and one an hour afterwards.
 *
 * A handler that waits need not keep its thread: it returns MCP_E_DEFERRED, and mcp_call_resume
 * continues the call from any thread. For the loop nothing changes meanwhile: the call counts as
 * running, its deadline and cancellations find it, and a server that stops waits for it. A
 * continuation always runs, also where the call was closed, since it may have something to release.
 * The call must not be read once its task was left.
 *
 * Nothing can end a handler from outside. One that still runs stuck_handler_ms after it was asked
 * to stop is given up: it is logged by name, and its lane may have another thread until it ends, up
 * to replacement_threads. An MCP_LONG one no longer counts as running, so that its tool can be
 * called again.
 */
#include "mcp/core/call/execute.h"
#include "mcp/core/call/input_requests.h"
#include "mcp/core/call/suspend.h"

#include <assert.h>
#include <sys/resource.h>

#include "mcp/clock.h"
#include "mcp/core/call/result.h"

#define INLINE_MAX_BYTES ((size_t)32 * 1024) /* memory of a call that may run on the loop */
#define FIRST_PAUSE_NS INT64_C(1000000000)
#define LONGEST_PAUSE_NS (3600 * FIRST_PAUSE_NS)
#define FORGIVEN_AFTER 10 /* pauses without an overrun */

static mcp_call *call_of(mcp__task *task)
{
    return (mcp_call *)((char *)task - offsetof(mcp_call, work));
}

/* ---- the budget of the loop ------------------------------------------------------------------ */

bool mcp__inline_budget_allows(const mcp__inline_budget *budget, int64_t now_ns)
{
    return budget->pause_ns == 0 || now_ns >= budget->until_ns;
}

bool mcp__inline_budget_note(mcp__inline_budget *budget, int64_t began_ns, int64_t ended_ns)
{
    int64_t last_ns = budget->pause_ns;

    if (ended_ns - began_ns <= MCP__INLINE_MAX_NS)
        return false;
    if (last_ns == 0 || ended_ns - budget->until_ns >= FORGIVEN_AFTER * last_ns)
        budget->pause_ns = FIRST_PAUSE_NS;
    else
        budget->pause_ns = last_ns < LONGEST_PAUSE_NS / 2 ? last_ns * 2 : LONGEST_PAUSE_NS;
    budget->until_ns = ended_ns + budget->pause_ns;
    return last_ns == 0;
}

static int64_t ns_of(struct timeval time)
{
    return ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

mcp__inline_use mcp__inline_use_now(void)
{
    struct rusage use = { .ru_nvcsw = 0 };

    (void)getrusage(RUSAGE_THREAD, &use);
    return (mcp__inline_use){ ns_of(use.ru_utime) + ns_of(use.ru_stime), use.ru_nvcsw };
}

bool mcp__inline_use_was_starved(const mcp__inline_use *since)
{
    mcp__inline_use now = mcp__inline_use_now();

    return now.waits == since->waits &&
           now.processor_ns - since->processor_ns <= MCP__INLINE_MAX_NS;
}

/* ---- one run --------------------------------------------------------------------------------- */

static void run_handler(mcp_call *call)
{
    mcp__continuation next = call->plan.continuation;

    call->plan.continuation.run = NULL;
    if (next.run) {
        call->status = next.run(call, next.data);
        return;
    }
    call->status = call->plan.check ? call->plan.check(call) : MCP_OK;
    call->plan.check = NULL;
    if (call->status == MCP_OK && call->input.is_allowed && mcp__call_is_stateless(call) &&
        !call->answer.error_text)
        call->status = mcp__input_requests_read(call);
    if (call->status == MCP_OK && !call->answer.error_text)
        call->status = call->plan.run(call, call->plan.data);
}

/* @return true: the handler has deferred its answer */
static bool step(mcp_call *call)
{
    if (mcp__call_state_of(call) == MCP__CALL_CLOSED && !call->plan.continuation.run)
        return false; /* before it began */
    run_handler(call);
    if (call->status == MCP_E_DEFERRED) {
        (void)mcp__call_suspend(call, MCP__WAIT_DEFERRED); /* refused: the loop has closed it */
        return true;
    }
    if (mcp__call_state_of(call) != MCP__CALL_CLOSED)
        mcp__call_render(call);
    return false;
}

static bool work(mcp__task *task)
{
    while (step(call_of(task))) {
        if (mcp__work_leave(task))
            return false;
        (void)mcp__call_resume(call_of(task));
    }
    return true;
}

/* ---- the end of it --------------------------------------------------------------------------- */

static void unwatch(mcp_call *call)
{
    if (call->loop.stuck_ms == 0)
        return;
    if (call->loop.stuck_ms == INT64_MAX)
        mcp_call_log_line(call, MCP_LOG_INFO, "%s has ended at last", mcp_call_name(call));
    call->loop.stuck_ms = 0;
    LIST_REMOVE(call, loop.stopped);
}

static void end_run(mcp_call *call)
{
    call->context->calls->running--;
    unwatch(call);
}

static void on_done(mcp__task *task)
{
    mcp_call *call = call_of(task);

    end_run(call);
    call->context->hooks->returned(call);
}

/* ---- on the loop ----------------------------------------------------------------------------- */

/* Work on a large input may take long, whatever the handler promised. */
static bool may_run_here(const mcp_call *call, int64_t now_ns)
{
    const mcp__call_kind *kind = call->plan.kind;

    return !call->plan.check && mcp_arena_used(call->arena) <= INLINE_MAX_BYTES &&
           (!kind->size_of_input || kind->size_of_input(call) <= INLINE_MAX_BYTES) &&
           mcp__inline_budget_allows(call->plan.inline_budget, now_ns);
}

/* As `step`. */
static bool step_here(mcp_call *call, int64_t now_ns)
{
    mcp__inline_use before = mcp__inline_use_now();
    bool is_deferred = step(call);
    int64_t ended_ns = mcp_clock_mono_ns();

    if (ended_ns - now_ns > MCP__INLINE_MAX_NS && mcp__inline_use_was_starved(&before))
        return is_deferred;
    if (mcp__inline_budget_note(call->plan.inline_budget, now_ns, ended_ns))
        mcp_call_log_line(
            call, MCP_LOG_WARNING,
            "%s is declared MCP_NONBLOCKING and took more than %d ms: workers run it for a while",
            mcp_call_name(call), (int)(MCP__INLINE_MAX_NS / 1000000));
    return is_deferred;
}

/* Nodes that the handler posted must run before the call is done: then its end is posted behind
 * them. @return false: there are none */
static bool post_end(mcp_call *call, void (*run)(mcp__node *node))
{
    mcp__executor *executor = call->context->executor;

    if (!atomic_load_explicit(&call->has_posted, memory_order_relaxed))
        return false;
    call->work.node.run = run;
    executor->post(executor, &call->work.node);
    return true;
}

static void on_adopted_end(mcp__node *node)
{
    mcp__task *task = (mcp__task *)node; /* the node is the task's first member */
    mcp__executor *executor = call_of(task)->context->executor;

    executor->end(executor, task);
}

static void on_posted_end(mcp__node *node)
{
    on_done((mcp__task *)node);
}

/* A call that was adopted is resumed by a continuation that may run on the loop. */
static void on_resumed(mcp__node *node)
{
    mcp__task *task = (mcp__task *)node;
    mcp_call *call = call_of(task);
    int64_t now_ns = mcp_clock_mono_ns();

    while (call->plan.continuation.is_nonblocking && may_run_here(call, now_ns)) {
        if (!step_here(call, now_ns)) {
            if (!post_end(call, on_adopted_end))
                on_adopted_end(node);
            return;
        }
        if (mcp__work_leave(task))
            return;
        (void)mcp__call_resume(call);
        now_ns = mcp_clock_mono_ns();
    }
    call->context->executor->again(call->context->executor, task);
}

void mcp_call_resume(mcp_call *call, mcp_handler *continuation, void *data, unsigned flags)
{
    mcp__executor *executor = call->context->executor;
    bool is_nonblocking = (flags & MCP_NONBLOCKING) && call->plan.inline_budget;

    call->plan.continuation = (mcp__continuation){ continuation, data, is_nonblocking };
    if (!mcp__work_resume(&call->work))
        return; /* the thread that has it continues */
    (void)mcp__call_resume(call);
    call->work.node.run = on_resumed;
    if (is_nonblocking)
        executor->post(executor, &call->work.node);
    else
        executor->again(executor, &call->work);
}

static void watch_deadline(mcp_call *call)
{
    if (call->plan.timeout_ms == 0)
        return;
    call->loop.deadline_ms = mcp_clock_mono_ms() + call->plan.timeout_ms;
    mcp__call_table_due(call->context->calls, call->loop.deadline_ms);
}

/* @return whether the handler has returned, and nothing of it is under way */
static bool run_here(mcp_call *call, int64_t now_ns)
{
    call->work.done = on_done;
    if (!step_here(call, now_ns)) {
        if (post_end(call, on_posted_end))
            return false;
        end_run(call);
        return true;
    }
    watch_deadline(call);
    call->work.work = work;
    call->context->executor->adopt(call->context->executor, &call->work, MCP__LANE_SHORT);
    if (!mcp__work_leave(&call->work)) {
        (void)mcp__call_resume(call);
        on_resumed(&call->work.node);
    }
    return false;
}

mcp_status mcp__execute(bool *is_done, mcp_call *call)
{
    mcp__executor *executor = call->context->executor;
    mcp__lane lane = call->plan.flags & MCP_LONG ? MCP__LANE_LONG : MCP__LANE_SHORT;
    int64_t now_ns = call->plan.inline_budget ? mcp_clock_mono_ns() : 0;

    bool may = mcp__call_start(call);
    assert(may);
    (void)may;
    call->context->calls->running++;
    *is_done = false;
    if (call->plan.inline_budget && may_run_here(call, now_ns)) {
        *is_done = run_here(call, now_ns);
        return MCP_OK;
    }
    watch_deadline(call);
    call->work.work = work;
    call->work.done = on_done;
    mcp_status st = executor->submit(executor, &call->work, lane, &call->err);
    if (st != MCP_OK)
        call->context->calls->running--;
    return st;
}

/* ---- handlers that do not stop --------------------------------------------------------------- */

/* Between RUNNING and DEFERRED the state changes on other threads, so the second question is for
 * the reasons that are the loop's alone. */
static bool is_running(const mcp_call *call)
{
    mcp__call_state state = mcp__call_state_of(call);

    return state == MCP__CALL_RUNNING ||
           (state == MCP__CALL_SUSPENDED && !mcp__call_waits_for(call, MCP__WAIT_INPUT) &&
            !mcp__call_waits_for(call, MCP__WAIT_TASK) &&
            !mcp__call_waits_for(call, MCP__WAIT_SUBSCRIPTION));
}

bool mcp__execute_stop(mcp_call *call, mcp_stop why)
{
    mcp__call_table *calls = call->context->calls;
    bool has_worker = is_running(call);

    mcp__call_set_stop(call, why);
    if (!has_worker || why == MCP_STOP_SHUTDOWN || call->loop.stuck_ms != 0 ||
        !call->context->executor->give_up)
        return has_worker;
    call->loop.stuck_ms = mcp_clock_mono_ms() + call->context->options->limits.stuck_handler_ms;
    LIST_INSERT_HEAD(&calls->stopped, call, loop.stopped);
    mcp__call_table_due(calls, call->loop.stuck_ms);
    return true;
}

static void give_up(mcp_call *call)
{
    const mcp_server_options *options = call->context->options;
    mcp__given_up what = call->context->executor->give_up(call->context->executor, &call->work);

    if (what == MCP__UNBEGUN) { /* the handler that keeps it waiting is given up in its turn */
        call->loop.stuck_ms += options->limits.stuck_handler_ms;
        return;
    }
    call->loop.stuck_ms = INT64_MAX;
    if (what == MCP__REPLACED && call->plan.active) {
        (*call->plan.active)--;
        call->plan.active = NULL;
    }
    mcp_call_log_line(call, MCP_LOG_WARNING, "%s was asked to stop %d ms ago and still runs: %s",
                      mcp_call_name(call), options->limits.stuck_handler_ms,
                      what == MCP__REPLACED ? "another thread takes its place"
                                            : "no further thread may take its place");
}

void mcp__execute_tick(mcp__call_table *calls, int64_t now_ms)
{
    for (mcp_call *call = LIST_FIRST(&calls->stopped); call; call = LIST_NEXT(call, loop.stopped)) {
        if (call->loop.stuck_ms <= now_ms)
            give_up(call);
        mcp__call_table_due(calls, call->loop.stuck_ms);
    }
}
