/*
 * dispatch.c - a message's way through the server.
 *
 *     bytes -> message -> call -> route -> [executor] -> reply -> peer
 *
 * Each message ends in exactly one `answer` or `skip` of its peer. A call that needs a worker is
 * opened in the session's table first; from then on three things can close it: its worker's return,
 * its deadline, and a cancellation. Whichever comes first takes it out of the table; what comes
 * later finds it closed and drops its work. The call's memory goes when its worker has given it
 * back, never before.
 *
 * A fourth thing can happen within a session: the handler asked its client something. Then the call stays
 * open without a worker until the answers are there, and its handler runs again.
 *
 * A call of an MCP_QUICK feature skips the executor: the loop runs its handler.
 *
 * A handler that answers later (run.c) changes nothing here: its call counts as a worker's until it is done.
 *
 * And a call may become a task: then its client is answered at once, and the call goes on in a session of its own
 * kind, by the same steps (task.c).
 *
 * A client has at most calls_max_running calls with workers; more wait in line, and when the line is full
 * the transport stops reading.
 */
#include "mcp/core/dispatch.h"

#include <assert.h>

#include "mcp/clock.h"
#include "mcp/core/answer.h"
#include "mcp/core/batch.h"
#include "mcp/core/call/heed.h"
#include "mcp/core/call/progress.h"
#include "mcp/core/call/reply.h"
#include "mcp/core/call/run.h"
#include "mcp/core/envelope.h"
#include "mcp/core/message.h"
#include "mcp/core/news/subscribe.h"
#include "mcp/core/outcome.h"
#include "mcp/core/principal.h"
#include "mcp/core/session/errand.h"
#include "mcp/core/task/task.h"

#define QUICK_MAX_BYTES ((size_t)32 * 1024) /* memory of a call that may run on the loop */

static void start(mcp_call *call);
static void start_waiting(mcp__session *session);
static bool may_start(const mcp__session *session);

/* ---- ending ---------------------------------------------------------------------------------- */

static mcp_call *call_of(mcp__task *task)
{
    return (mcp_call *)((char *)task - offsetof(mcp_call, task));
}

static void untally(mcp_call *call)
{
    if (call->tally)
        (*call->tally)--;
    call->tally = NULL;
    mcp__subscribe_leave(call);
}

void mcp__dispatch_end(mcp_call *call, mcp_status st)
{
    untally(call);
    call->loop.is_asking = false;
    call->status = st;
    mcp__call_table_remove(&call->session->calls, call);
    mcp__run_render(call);
    if (call->awaits)
        mcp__task_forget(call);
    mcp__answer_call(call);
    mcp__call_free(call);
}

/* ---- asking the client within a session --------------------------------------------------------- */

/* The worker is free; the call waits for its client. */
static void begin_asking(mcp_call *call)
{
    mcp_status st;

    mcp__progress_finish(call);
    call->loop.is_asking = true;
    call->loop.deadline_ms = 0;
    if (call->as_task) {
        st = mcp__task_ask(call); /* the task's own time is the bound */
    } else {
        call->loop.deadline_ms = mcp_clock_mono_ms() + MCP__ASKING_MS;
        mcp__call_table_due(&call->session->calls, call->loop.deadline_ms);
        st = mcp__asking_send(call, call->session, call->notices);
    }
    if (st != MCP_OK)
        mcp__dispatch_end(call, st);
}

static void give_up_asking(mcp_call *call)
{
    mcp_status st = mcp_error_set(&call->err, MCP_E_TIMEOUT,
                                  "the client did not answer what %s asked in time",
                                  mcp_call_name(call));

    mcp__asking_withdraw(call);
    if (call->is_tool && mcp_call_refuse(call, "%s", call->err.message) == MCP_OK)
        st = MCP_OK;
    mcp__dispatch_end(call, st);
}

/* No answers will come, and no more news will go: calls that wait for the one or the other end. */
static void end_unattended(mcp__session *session, const char *why)
{
    mcp_call *next;

    for (mcp_call *call = session->calls.first; call; call = next) {
        next = call->loop.next;
        if (call->is_listening)
            mcp__dispatch_end(call, MCP_OK);
        else if (call->loop.is_asking)
            mcp__dispatch_end(call, mcp_error_set(&call->err, MCP_E_STOPPED, "%s", why));
    }
}

/* No end of a task will be waited for. */
static void end_awaiting(mcp__session *session)
{
    mcp_call *call = session->calls.first;

    while (call) {
        mcp_call *next = call->loop.next;
        if (call->awaits)
            mcp__dispatch_end(call, mcp_error_set(&call->err, MCP_E_STOPPED,
                                                  "the server is going down"));
        call = next;
    }
}

void mcp__dispatch_resume(mcp_call *call)
{
    call->loop.is_asking = false;
    call->loop.deadline_ms = 0;
    mcp__call_reset(call);
    if (call->as_task)
        mcp__task_resume(call);
    if (may_start(call->session))
        start(call);
    else
        mcp__call_table_wait(&call->session->calls, call);
}

/* ---- from start to end -------------------------------------------------------------------------- */

/* A call that is in no table answers with an error; its client waits for it still. */
static void fail(mcp_call *call, mcp_status st)
{
    untally(call);
    call->status = st;
    mcp__run_render(call);
    mcp__answer_call(call);
    mcp__call_free(call);
}

/* Its handler ran, up to where it is known that it is to be a task. */
static void go_on_as_task(mcp_call *call)
{
    mcp__call_table_remove(&call->session->calls, call);
    mcp_status st = mcp__task_begin(call);
    if (st == MCP_OK)
        mcp__dispatch_call(call);
    else
        fail(call, st);
}

/* The handler has returned. */
static void end_run(mcp_call *call)
{
    mcp__session *session = call->session;

    session->calls.running--;
    mcp__heed_forget(&session->calls, call);
    if (call->loop.is_open && call->status == MCP_E_ASKED) {
        if (call->wants_task)
            go_on_as_task(call);
        else
            begin_asking(call);
        return;
    }
    untally(call);
    if (call->loop.is_open) {
        mcp__progress_finish(call);
        mcp__call_table_remove(&session->calls, call);
        mcp__answer_call(call);
    }
    mcp__call_free(call);
}

static void done(mcp__task *task)
{
    mcp__session *session = call_of(task)->session;

    end_run(call_of(task));
    start_waiting(session);
}

/* ---- on the loop itself ------------------------------------------------------------------------- */

/* What works on a long message may take long, whatever the handler promised. */
static bool may_run_here(const mcp_call *call, int64_t now_ns)
{
    return !call->check && mcp_arena_used(call->arena) <= QUICK_MAX_BYTES &&
           (!call->rest || call->rest->body.length <= QUICK_MAX_BYTES) &&
           mcp__pace_allows(call->pace, now_ns);
}

static void watch_deadline(mcp_call *call)
{
    if (call->timeout_ms == 0)
        return;
    call->loop.deadline_ms = mcp_clock_mono_ms() + call->timeout_ms;
    mcp__call_table_due(&call->session->calls, call->loop.deadline_ms);
}

/* @return true: the handler answers later */
static bool step_here(mcp_call *call, int64_t now_ns)
{
    mcp__pace_use before = mcp__pace_look();
    bool is_left = mcp__run_step(call);
    int64_t ended_ns = mcp_clock_mono_ns();

    if (ended_ns - now_ns > MCP__PACE_MAX_NS && mcp__pace_was_starved(&before))
        return is_left;
    if (mcp__pace_note(call->pace, now_ns, ended_ns))
        mcp_log_write(&call->options->log, MCP_LOG_WARNING,
                      "%s is declared MCP_QUICK and took more than %d ms: workers run it for a while",
                      mcp_call_name(call), (int)(MCP__PACE_MAX_NS / 1000000));
    return is_left;
}

/* What it posted is on its way to the loop, and the call must not be done before that is there: so it goes
 * behind it. @return false: there is nothing of the kind */
static bool go_behind(mcp_call *call, void (*run)(mcp__node *node))
{
    if (!atomic_load_explicit(&call->has_posted, memory_order_relaxed))
        return false;
    call->task.node.run = run;
    call->executor->post(call->executor, &call->task.node);
    return true;
}

static void on_adopted_done(mcp__node *node)
{
    mcp__task *task = (mcp__task *)node; /* the node is the task's first member */

    call_of(task)->executor->end(call_of(task)->executor, task);
}

void mcp__dispatch_go_on(mcp__node *node)
{
    mcp__task *task = (mcp__task *)node;
    mcp_call *call = call_of(task);

    do {
        int64_t now_ns = mcp_clock_mono_ns();
        if (!call->goes_on_quickly || !may_run_here(call, now_ns)) {
            call->executor->again(call->executor, task);
            return;
        }
        if (!step_here(call, now_ns)) {
            if (!go_behind(call, on_adopted_done))
                on_adopted_done(node);
            return;
        }
    } while (!mcp__work_leave(task));
}

/* A quick handler answers later. */
static void leave_here(mcp_call *call)
{
    watch_deadline(call);
    call->task.work = mcp__run_work;
    call->task.done = done;
    call->executor->adopt(call->executor, &call->task, MCP__LANE_SHORT);
    if (!mcp__work_leave(&call->task))
        mcp__dispatch_go_on(&call->task.node);
}

static void on_posted_done(mcp__node *node)
{
    done((mcp__task *)node);
}

/* Run a quick handler at once. */
static void run_here(mcp_call *call, int64_t now_ns)
{
    call->session->calls.running++;
    if (step_here(call, now_ns))
        leave_here(call);
    else if (!go_behind(call, on_posted_done))
        end_run(call); /* nobody has a place because of that: it took none */
}

static void start(mcp_call *call)
{
    mcp__session *session = call->session;
    mcp__executor *executor = session->setup.executor;
    mcp__lane lane = call->flags & MCP_LONG ? MCP__LANE_LONG : MCP__LANE_SHORT;
    int64_t now_ns = call->pace ? mcp_clock_mono_ns() : 0;

    if (call->pace && may_run_here(call, now_ns)) {
        run_here(call, now_ns);
        return;
    }
    watch_deadline(call);
    call->task.work = mcp__run_work;
    call->task.done = done;
    session->calls.running++;
    mcp_status st = executor->submit(executor, &call->task, lane, &call->err);
    if (st != MCP_OK) {
        session->calls.running--;
        mcp__dispatch_end(call, st);
    }
}

/* Clients that share a session are held back together, by the workers' own line. */
static bool may_start(const mcp__session *session)
{
    return session->setup.is_shared ||
           session->calls.running < session->setup.options->calls_max_running;
}

static bool is_overrun(const mcp__session *session)
{
    const mcp_server_options *options = session->setup.options;

    return session->setup.is_shared &&
           session->calls.running >= options->calls_max_running + options->calls_max_queued;
}

static void start_waiting(mcp__session *session)
{
    while (session->calls.waiting > 0 && may_start(session))
        start(mcp__call_table_next(&session->calls));
}

/* ---- from a message to a call ---------------------------------------------------------------- */

static mcp_call *make_call(mcp__session *session, mcp__peer *peer, mcp__peer *notices,
                           const mcp__element *element)
{
    const mcp__message *message = &element->message;
    mcp_arena *arena = element->arena;
    const mcp__session_setup *setup = &session->setup;
    mcp_call *call = NULL;
    bool is_lost = false;
    const mcp_principal *principal = mcp__principal_copy(arena, notices->principal, &is_lost);

    if (is_lost ||
        mcp__call_new(&call, arena, setup->options, setup->no_arguments, NULL) != MCP_OK)
        return NULL;
    call->principal = principal;
    call->server = setup->server;
    call->executor = setup->executor;
    call->session = session;
    call->peer = peer;
    call->notices = notices;
    call->id = message->id;
    call->method = message->method;
    call->params = message->params;
    call->meta = message->meta;
    call->revision = mcp__session_revision(session);
    call->log_level = session->log_level;
    if (setup->hold)
        call->set = setup->hold(setup->server);
    call->progress.token = mcp_json_get(message->meta, "progressToken");
    call->is_large = element->length > MCP__INCOMING_SMALL;
    call->steps_left = element->steps;
    call->steps_on_loop = element->steps_on_loop;
    return call;
}

static void serve_notification(mcp_call *call)
{
    mcp_status st = call->session->setup.route(call);

    if (st != MCP_OK)
        mcp_log_write(&call->options->log, MCP_LOG_DEBUG, "a notification was passed over: %s",
                      call->err.message);
    call->peer->skip(call->peer);
    mcp__call_free(call);
}

static mcp_call *find_open(const mcp__session *session, const mcp_json *id,
                           const mcp__peer *notices)
{
    return mcp__call_table_find_of(&session->calls, id,
                                   session->setup.is_shared ? notices : NULL);
}

static mcp_status prepare(mcp_call *call)
{
    mcp_status st;

    if (find_open(call->session, call->id, call->notices))
        return mcp_error_set(&call->err, MCP_E_REQUEST,
                             "a request with this id is still being answered");
    st = mcp__envelope_open(call);
    if (st == MCP_OK)
        st = call->session->setup.route(call);
    if (st == MCP_OK && call->run && !call->is_refused && is_overrun(call->session))
        st = mcp_error_set(&call->err, MCP_E_BUSY, "the server is busy");
    if (st != MCP_OK)
        untally(call);
    return st;
}

static void serve_request(mcp_call *call)
{
    mcp__call_table *calls = &call->session->calls;

    call->status = prepare(call);
    if (call->status == MCP_OK && call->run && !call->is_refused && call->becomes_task)
        call->status = mcp__task_begin(call);
    if (call->as_task) {
        mcp__dispatch_call(call);
        return;
    }
    if (call->status == MCP_OK && call->awaits && !mcp__task_is_over(call->awaits)) {
        mcp__call_table_add(calls, call);
        mcp__task_await(call);
        return;
    }
    if (call->status == MCP_OK && call->run && !call->is_refused) {
        mcp__call_table_add(calls, call);
        if (may_start(call->session))
            start(call);
        else
            mcp__call_table_wait(calls, call);
        return;
    }
    if (call->status == MCP_OK && call->is_listening) {
        mcp__call_table_add(calls, call);
        mcp__subscribe_acknowledge(call);
        return;
    }
    fail(call, call->status);
}

/* An error for what is no request, or silence for a notification with a fault: those get no
   answer. */
static void serve_invalid(mcp__session *session, mcp__peer *peer, const mcp__message *message,
                          const mcp_json *value, const mcp_error *err)
{
    if (message->method && !mcp_json_get(value, "id")) {
        mcp_log_write(&session->setup.options->log, MCP_LOG_DEBUG,
                      "a notification was passed over: %s", err->message);
        peer->skip(peer);
        return;
    }
    mcp__answer_error(session, peer, message->id, err->status, err->message);
}

static bool is_sessionless(const mcp__session *session, const mcp__peer *peer)
{
    return session->setup.is_shared ||
           (peer->headers && mcp__headers_are_stateless(peer->headers));
}

static void serve_response(mcp__session *session, mcp__peer *peer, mcp__element *response)
{
    mcp_call *call = mcp__asking_answer(session, response);

    peer->skip(peer);
    if (call)
        mcp__dispatch_resume(call);
}

/* Takes the element's arena, where it needs it. */
static void serve_value(mcp__session *session, mcp__peer *peer, mcp__peer *notices,
                        mcp__element *element)
{
    const mcp__message *message = &element->message;
    mcp_call *call = NULL;

    if (message->kind == MCP__INVALID) {
        serve_invalid(session, peer, message, element->value, &element->fault);
    } else if (message->kind == MCP__RESPONSE && is_sessionless(session, peer)) {
        mcp__answer_error(session, peer, NULL, MCP_E_REQUEST, "a response needs a session");
    } else if (message->kind == MCP__RESPONSE) {
        serve_response(session, peer, element);
    } else {
        call = make_call(session, peer, notices, element);
        if (!call)
            mcp__answer_error(session, peer, message->id, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
    }
    if (!call)
        return;
    element->arena = NULL; /* the call's now */
    if (message->kind == MCP__NOTIFICATION)
        serve_notification(call);
    else
        serve_request(call);
}

/* ---- batches --------------------------------------------------------------------------------- */

static bool takes_batches(const mcp__session *session)
{
    const mcp_server_options *options = session->setup.options;

    if (session->revision != MCP_REVISION_NONE)
        return session->revision == MCP_2025_03_26;
    return options->oldest <= MCP_2025_03_26 && options->newest >= MCP_2025_03_26;
}

static bool has_claim(const mcp_json *array)
{
    for (size_t i = 0; i < mcp_json_count(array); i++) {
        const mcp_json *params = mcp_json_get(mcp_json_item(array, i), "params");
        if (mcp__envelope_is_claimed(mcp_json_get(params, "_meta")))
            return true;
    }
    return false;
}

static const char *batch_fault(const mcp__session *session, const mcp_json *array)
{
    size_t count = mcp_json_count(array);

    if (session->setup.is_shared || !takes_batches(session))
        return "batches are not part of this revision";
    if (count == 0)
        return "a batch must not be empty";
    if (count > MCP__BATCH_MAX)
        return "a batch may have 100 messages at most";
    return has_claim(array) ? "batches are not part of this revision" : NULL;
}

static void serve_batch(mcp__session *session, mcp__peer *peer, mcp__incoming *incoming)
{
    const char *fault = batch_fault(session, incoming->whole.value);
    mcp__peer *batch = NULL;

    if (fault) {
        mcp__answer_error(session, peer, NULL, MCP_E_REQUEST, fault);
        return;
    }
    if (mcp__batch_new(&batch, peer, incoming->count, session->setup.options->reply_max_bytes,
                       NULL) != MCP_OK) {
        mcp__answer_error(session, peer, NULL, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
        return;
    }
    for (size_t i = 0; i < incoming->count; i++) {
        if (incoming->elements[i].value)
            serve_value(session, batch, peer, &incoming->elements[i]);
        else
            mcp__answer_error(session, batch, NULL, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
    }
}

/* ---- what the transport calls ---------------------------------------------------------------- */

void mcp__dispatch_incoming(mcp__session *session, mcp__peer *peer, mcp__incoming *incoming)
{
    if (incoming->status != MCP_OK)
        mcp__answer_error(session, peer, NULL, incoming->status, incoming->err.message);
    else if (mcp_json_is_array(incoming->whole.value))
        serve_batch(session, peer, incoming);
    else
        serve_value(session, peer, peer, &incoming->whole);
    mcp__incoming_clear(incoming);
}

void mcp__dispatch_message(mcp__session *session, mcp__peer *peer, const char *text, size_t length)
{
    mcp__incoming incoming;

    mcp__incoming_read(&incoming, session->setup.options, session->setup.budget, text, length);
    mcp__dispatch_incoming(session, peer, &incoming);
}

void mcp__dispatch_call(mcp_call *call)
{
    mcp__call_table *calls = &call->session->calls;

    if (is_overrun(call->session)) {
        call->status = mcp_error_set(&call->err, MCP_E_BUSY, "the server is busy");
        mcp__run_render(call);
        mcp__answer_call(call);
        mcp__call_free(call);
        return;
    }
    mcp__call_table_add(calls, call);
    if (may_start(call->session))
        start(call);
    else
        mcp__call_table_wait(calls, call);
}

void mcp__dispatch_overlong(mcp__session *session, mcp__peer *peer)
{
    mcp_error err = MCP_ERROR_INIT;

    (void)mcp_error_set(&err, MCP_E_PARSE, "a message may have %zu bytes at most",
                        session->setup.options->message_max_bytes);
    mcp__answer_error(session, peer, NULL, err.status, err.message);
}

bool mcp__dispatch_is_full(const mcp__session *session)
{
    return session->calls.waiting >= session->setup.options->calls_max_queued;
}

bool mcp__dispatch_is_idle(const mcp__session *session)
{
    return !session->calls.first && session->calls.running == 0;
}

/* A handler that a worker has is watched from then on. */
static void tell_to_stop(mcp_call *call, mcp_stop why)
{
    bool is_with_worker = call->run && !call->loop.is_waiting && !call->loop.is_asking &&
                          !call->is_listening;

    mcp__call_set_stop(call, why);
    if (is_with_worker && why != MCP_STOP_SHUTDOWN)
        mcp__heed_watch(&call->session->calls, call);
}

static void time_out(mcp__session *session, mcp_call *call)
{
    mcp__peer *peer = call->peer;
    mcp_buf reply;

    if (call->loop.is_asking) {
        give_up_asking(call);
        return;
    }
    tell_to_stop(call, MCP_STOP_DEADLINE);
    mcp__call_table_remove(&session->calls, call);
    mcp_buf_init(&reply, session->setup.options->reply_max_bytes);
    peer->http_status = 200;
    peer->fault = MCP_E_TIMEOUT;
    if (mcp__reply_timeout(&reply, call) == MCP_OK)
        peer->answer(peer, &reply);
    else
        mcp__answer_call_fault(call, MCP_E_TIMEOUT, mcp_status_words(MCP_E_TIMEOUT));
    mcp_buf_clear(&reply);
}

int64_t mcp__dispatch_tick(mcp__session *session, int64_t now_ms)
{
    mcp__call_table *calls = &session->calls;
    mcp_call *next;

    if (now_ms < calls->due_ms && !calls->has_held_reports)
        return calls->due_ms;
    calls->due_ms = INT64_MAX;
    calls->has_held_reports = false;
    mcp__heed_tick(calls, now_ms);
    for (mcp_call *call = calls->first; call; call = next) {
        next = call->loop.next;
        if (call->loop.is_waiting)
            continue;
        if (call->loop.deadline_ms > 0 && call->loop.deadline_ms <= now_ms) {
            time_out(session, call);
            continue;
        }
        if (call->loop.deadline_ms > 0)
            mcp__call_table_due(calls, call->loop.deadline_ms);
        if (call->progress.token || call->log_level != MCP_LEVEL_NONE)
            mcp__call_table_due(calls, mcp__progress_deliver(call, now_ms));
    }
    return calls->due_ms;
}

/* Close a call without an answer. */
static void close_silently(mcp__session *session, mcp_call *call)
{
    mcp__peer *peer = call->peer;
    bool is_idle = call->loop.is_waiting || call->loop.is_asking || call->is_listening ||
                   call->awaits;

    if (call->awaits)
        mcp__task_forget(call);
    if (call->loop.is_waiting)
        mcp__call_table_unwait(&session->calls, call);
    if (call->loop.is_asking)
        mcp__asking_withdraw(call);
    if (is_idle)
        mcp__call_set_stop(call, MCP_STOP_CANCELLED);
    else
        tell_to_stop(call, MCP_STOP_CANCELLED);
    mcp__call_table_remove(&session->calls, call);
    if (is_idle) {
        untally(call);
        mcp__call_free(call);
    }
    peer->skip(peer);
}

void mcp__dispatch_close(mcp_call *call)
{
    close_silently(call->session, call);
}

void mcp__dispatch_cancel(mcp__session *session, const mcp_json *id, const mcp__peer *notices)
{
    mcp_call *call = find_open(session, id, notices);

    if (call)
        close_silently(session, call);
}

void mcp__dispatch_stop(mcp__session *session, mcp_stop why)
{
    mcp_call *next;

    if (why != MCP_STOP_CANCELLED)
        end_unattended(session, "the client is gone, or the server is going down");
    for (mcp_call *call = session->calls.first; call; call = next) {
        next = call->loop.next;
        if (why == MCP_STOP_CANCELLED)
            close_silently(session, call);
        else if (why != MCP_STOP_CLIENT_GONE || (call->flags & MCP_STOP_ON_HANGUP))
            tell_to_stop(call, why);
    }
}

void mcp__dispatch_hang_up(mcp__session *session, const mcp__peer *notices)
{
    mcp_call *next;

    for (mcp_call *call = session->calls.first; call; call = next) {
        next = call->loop.next;
        if (call->notices != notices)
            continue;
        if (call->revision > MCP_REVISION_NEWEST_SESSION)
            close_silently(session, call);
        else if (call->flags & MCP_STOP_ON_HANGUP)
            tell_to_stop(call, MCP_STOP_CLIENT_GONE);
    }
}

void mcp__dispatch_refuse_waiting(mcp__session *session)
{
    mcp_call *call;

    while ((call = mcp__call_table_next(&session->calls)) != NULL)
        mcp__dispatch_end(call, mcp_error_set(&call->err, MCP_E_STOPPED, "the server is going down"));
}

void mcp__dispatch_abandon(mcp__session *session)
{
    mcp__dispatch_refuse_waiting(session);
    end_unattended(session, "the server is going down");
    end_awaiting(session);
    while (session->calls.first) {
        mcp_call *call = session->calls.first;
        mcp__call_table_remove(&session->calls, call);
        mcp__answer_call_fault(call, MCP_E_STOPPED, "the server is going down");
    }
}
