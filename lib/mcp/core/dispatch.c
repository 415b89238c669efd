/*
 * dispatch.c - a message's way through the server.
 *
 *     bytes -> message -> call -> route -> [executor] -> message -> peer
 *
 * Each message ends in exactly one `answer` or `no_reply` of its peer. A call that needs a worker
 * is added to the session's table first; from then on three things can close it: its worker's
 * return, its deadline, and a cancellation. The first of them takes it out of the table; the others
 * find it closed and drop their work. Its memory goes when its worker has given it back, never
 * before. call/suspend.h has the states.
 *
 * Within a session the handler may request input of its client. Then the call is suspended without
 * a worker until the responses are there, and its handler runs again. And a call may become a task:
 * its client is answered at once, and the call continues in the session of the tasks, by the same
 * steps (task.c).
 *
 * A client has at most calls_max_running calls with workers; more wait in line, and when the line
 * is full the transport stops reading.
 */
#include "mcp/core/dispatch.h"

#include "mcp/clock.h"
#include "mcp/core/call/client.h"
#include "mcp/core/call/execute.h"
#include "mcp/core/call/input_requests.h"
#include "mcp/core/call/result.h"
#include "mcp/core/call/suspend.h"
#include "mcp/core/call/trace.h"
#include "mcp/core/envelope.h"
#include "mcp/core/message/overlong.h"
#include "mcp/core/response.h"
#include "mcp/core/subscriptions/subscriptions.h"
#include "mcp/core/task/task.h"

#define STOPPING "the server is going down"
#define GONE "the client is gone, or " STOPPING
#define OVERLONG_ARENA_MAX (MCP__ID_MAX * 16)

/* ---- ending ---------------------------------------------------------------------------------- */

static void uncount(mcp_call *call)
{
    if (call->plan.active)
        (*call->plan.active)--;
    call->plan.active = NULL;
    if (call->subscription)
        mcp__subscribe_leave(call);
    if (call->input.session)
        mcp__input_responses_unsend(call);
}

/* Takes a call that is closed, and in no table. */
static void answer_and_free(mcp_call *call)
{
    if (call->status == MCP_E_URL_ELICITATION)
        mcp__url_elicitation_keep(call->task.entry ? call->task.entry->session : call->session,
                                  call);
    mcp__result_send(call);
    mcp__call_free(call);
}

/* A call that is in no table, and that no worker has, ends with a status. */
static void fail(mcp_call *call, mcp_status st)
{
    uncount(call);
    (void)mcp__call_close(call);
    call->status = st;
    mcp__call_render(call);
    answer_and_free(call);
}

static void end_call(mcp_call *call, mcp_status st)
{
    if (mcp__call_waits_for(call, MCP__WAIT_TASK))
        mcp__task_leave(call);
    mcp__call_table_remove(call->context->calls, call);
    fail(call, st);
}

/* Close an open call without an answer. */
static void close_call(mcp_call *call)
{
    mcp__peer *peer = call->peer;

    if (mcp__call_waits_for(call, MCP__WAIT_TASK))
        mcp__task_leave(call);
    if (mcp__call_state_of(call) == MCP__CALL_QUEUED)
        mcp__call_table_unwait(call->context->calls, call);
    if (mcp__call_waits_for(call, MCP__WAIT_INPUT))
        mcp__input_responses_withdraw(call);
    bool has_worker = mcp__execute_stop(call, MCP_STOP_CANCELLED);
    mcp__result_ended(call, "cancelled");
    (void)mcp__call_close(call);
    mcp__call_table_remove(call->context->calls, call);
    if (!has_worker) {
        uncount(call);
        mcp__call_free(call);
    }
    peer->no_reply(peer);
}

/* ---- running --------------------------------------------------------------------------------- */

static void end_run(mcp_call *call);

/* Clients that share a session are held back together, by the workers' own line. */
static bool may_start(const mcp__context *context)
{
    return context->is_shared ||
           context->calls->running < context->options->limits.calls_max_running;
}

static bool is_overrun(const mcp__context *context)
{
    const mcp_server_options *options = context->options;

    return context->is_shared && context->calls->running >= options->limits.calls_max_running +
                                                                options->limits.calls_max_queued;
}

static void start(mcp_call *call)
{
    bool is_done = false;
    mcp_status st = mcp__execute(&is_done, call);

    if (st != MCP_OK)
        end_call(call, st);
    else if (is_done)
        end_run(call); /* no call in line has a place because of that: it took none */
}

/* A QUEUED call is in the table. */
static void start_or_wait(mcp_call *call)
{
    if (may_start(call->context))
        start(call);
    else
        mcp__call_table_wait(call->context->calls, call);
}

void mcp__dispatch_call(mcp_call *call)
{
    if (is_overrun(call->context)) {
        fail(call, mcp_error_set(&call->err, MCP_E_BUSY, "server busy"));
    } else {
        mcp__call_table_add(call->context->calls, call);
        start_or_wait(call);
    }
}

/* The worker is free; the call waits for its client. */
static void request_input(mcp_call *call)
{
    mcp_status st;

    mcp__progress_finish(call);
    call->loop.deadline_ms = 0;
    if (call->session->is_ending) {
        st = mcp_error_set(&call->err, MCP_E_STOPPED, GONE);
    } else if (call->task.entry) {
        st = mcp__task_request_input(call); /* the task's own time is the bound */
    } else {
        call->loop.deadline_ms = mcp_clock_mono_ms() + MCP__INPUT_WAIT_MS;
        mcp__call_table_due(call->context->calls, call->loop.deadline_ms);
        st = mcp__input_responses_request(call, call->session, call->notification_peer);
    }
    if (st != MCP_OK)
        end_call(call, st);
}

/* The handler ran up to where it is known that its call is a task. */
static void continue_as_task(mcp_call *call)
{
    mcp__call_table_remove(call->context->calls, call);
    mcp_status st = mcp__task_begin(call);
    (void)mcp__call_resume(call);
    if (st == MCP_OK)
        mcp__dispatch_call(call);
    else
        fail(call, st);
}

/* The handler has returned. */
static void end_run(mcp_call *call)
{
    if (call->status == MCP_E_INPUT_REQUIRED && mcp__call_suspend(call, MCP__WAIT_INPUT)) {
        if (call->task.begins == MCP__TASK_BY_HANDLER)
            continue_as_task(call);
        else
            request_input(call);
        return;
    }
    uncount(call);
    if (!mcp__call_close(call)) { /* it was answered, or its answer is not wanted */
        mcp__call_free(call);
        return;
    }
    mcp__progress_finish(call);
    mcp__call_table_remove(call->context->calls, call);
    answer_and_free(call);
}

static void on_returned(mcp_call *call)
{
    mcp__session *session = call->session;

    end_run(call);
    while (session->calls.waiting > 0 && may_start(&session->context))
        start(mcp__call_table_next(&session->calls));
}

void mcp__dispatch_resume(mcp_call *call)
{
    call->loop.deadline_ms = 0;
    mcp__call_reset(call);
    if (call->task.entry)
        mcp__task_resume(call);
    if (mcp__call_resume(call))
        start_or_wait(call);
}

/* ---- sessions and tasks ---------------------------------------------------------------------- */

static void on_session_begins(mcp__session *session)
{
    if (session->context.subscriptions)
        mcp__subscriptions_enter(session->context.subscriptions, session);
}

static void on_session_ends(mcp__session *session)
{
    if (session->context.tasks)
        mcp__task_session_ends(session->context.tasks, session);
    if (session->context.subscriptions)
        mcp__subscriptions_leave(session->context.subscriptions, session);
    mcp__subscribe_clear(session);
}

static bool knows_task(const mcp_call *call, const char *id, size_t length)
{
    return mcp__task_table_find(call->context->tasks, id, length, call) != NULL;
}

const mcp__hooks mcp__dispatch_hooks = {
    .returned = on_returned,
    .end = end_call,
    .close = close_call,
    .session_begins = on_session_begins,
    .session_reopens = mcp__subscribe_clear,
    .session_ends = on_session_ends,
    .knows_task = knows_task,
};

/* ---- from a message to a call ---------------------------------------------------------------- */

static mcp_call *make_call(mcp__session *session, mcp__peer *peer, mcp__peer *notification_peer,
                           const mcp__element *element)
{
    const mcp__message *message = &element->message;
    const mcp__context *context = &session->context;
    mcp_call *call = NULL;
    bool is_lost = false;
    const mcp_principal *principal = NULL;

    if (notification_peer->principal)
        principal = mcp__principal_copy(element->arena, notification_peer->principal, &is_lost);
    if (is_lost || mcp__call_new(&call, element->arena, context, NULL) != MCP_OK)
        return NULL;
    call->principal = principal;
    call->session = session;
    call->peer = peer;
    call->notification_peer = notification_peer;
    call->request.id = message->id;
    call->request.method = message->method;
    call->request.params = message->params;
    call->request.meta = message->meta;
    call->request.transport = notification_peer->transport;
    call->request.revision = mcp__session_revision(session);
    call->request.log_level = session->log_level;
    call->request.steps = element->steps;
    call->progress.token = mcp_json_get(message->meta, "progressToken");
    mcp__trace_open(call, notification_peer->headers);
    if (context->hold)
        call->features = context->hold(context->server);
    return call;
}

/* An error for what became no call. */
static void respond(mcp__session *session, mcp__peer *peer, const mcp_json *id, mcp_status status,
                    const char *message)
{
    mcp__response_error(&session->context, peer, id, mcp__envelope_revision(session, peer), status,
                        message);
}

static void serve_notification(mcp_call *call)
{
    mcp_status st = call->context->route(call);

    if (st != MCP_OK)
        mcp_call_log_line(call, MCP_LOG_DEBUG, "a notification was passed over: %s",
                          call->err.message);
    call->peer->no_reply(call->peer);
    mcp__call_free(call);
}

static mcp_call *find_open(const mcp__session *session, const mcp_json *id,
                           const mcp__peer *notification_peer)
{
    return mcp__call_table_find_of(&session->calls, id,
                                   session->context.is_shared ? notification_peer : NULL);
}

static bool needs_run(const mcp_call *call)
{
    return call->plan.run && !call->answer.error_text;
}

static mcp_status prepare(mcp_call *call)
{
    mcp_status st;

    if (find_open(call->session, call->request.id, call->notification_peer))
        return mcp_error_set(&call->err, MCP_E_REQUEST,
                             "a request with this id is still being answered");
    st = mcp__envelope_open(call);
    if (st == MCP_OK)
        st = call->context->route(call);
    if (st == MCP_OK && needs_run(call) && is_overrun(call->context))
        st = mcp_error_set(&call->err, MCP_E_BUSY, "server busy");
    if (st == MCP_OK && needs_run(call) && call->task.begins == MCP__TASK_BEFORE_RUN)
        st = mcp__task_begin(call);
    return st;
}

static void serve_request(mcp_call *call)
{
    mcp_status st = prepare(call);

    if (st != MCP_OK || (mcp__call_state_of(call) == MCP__CALL_QUEUED && !needs_run(call))) {
        fail(call, st);
    } else if (call->task.entry) {
        mcp__dispatch_call(call);
    } else {
        mcp__call_table_add(call->context->calls, call);
        if (mcp__call_waits_for(call, MCP__WAIT_TASK))
            mcp__task_enter(call);
        else if (mcp__call_waits_for(call, MCP__WAIT_SUBSCRIPTION))
            mcp__subscribe_acknowledge(call);
        else
            start_or_wait(call);
    }
}

/* An error for what is no request, or silence for a notification with a fault. */
static void serve_invalid(mcp__session *session, mcp__peer *peer, const mcp__message *message,
                          const mcp_json *value, const mcp_error *err)
{
    if (message->method && !mcp_json_get(value, "id")) {
        mcp_log_write(&session->context.options->log, MCP_LOG_DEBUG,
                      "a notification was passed over: %s", err->message);
        peer->no_reply(peer);
        return;
    }
    respond(session, peer, message->id, err->status, err->message);
}

static bool is_sessionless(const mcp__session *session, const mcp__peer *peer)
{
    return session->context.is_shared || mcp__envelope_is_stateless(peer->headers);
}

static void serve_response(mcp__session *session, mcp__peer *peer, mcp__element *response)
{
    mcp_call *call = mcp__input_responses_take(session, response);

    peer->no_reply(peer);
    if (call)
        mcp__dispatch_resume(call);
}

/* Takes the element's arena, where it needs it. */
static void serve_value(mcp__session *session, mcp__peer *peer, mcp__peer *notification_peer,
                        mcp__element *element)
{
    const mcp__message *message = &element->message;
    mcp_call *call = NULL;

    if (message->kind == MCP__INVALID) {
        serve_invalid(session, peer, message, element->value, &element->fault);
    } else if (message->kind == MCP__RESPONSE && is_sessionless(session, peer)) {
        respond(session, peer, NULL, MCP_E_REQUEST, "a response needs a session");
    } else if (message->kind == MCP__RESPONSE) {
        serve_response(session, peer, element);
    } else {
        call = make_call(session, peer, notification_peer, element);
        if (!call)
            respond(session, peer, message->id, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
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
    const mcp_server_options *options = session->context.options;
    size_t count = mcp_json_count(array);
    bool is_known = session->revision != MCP_REVISION_NONE
                        ? session->revision == MCP_2025_03_26
                        : options->oldest <= MCP_2025_03_26 && options->newest >= MCP_2025_03_26;

    if (session->context.is_shared || !is_known)
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

    if (fault) {
        respond(session, peer, NULL, MCP_E_REQUEST, fault);
        return;
    }
    mcp__peer *batch = mcp__batch_new(peer, incoming->count,
                                      session->context.options->limits.reply_max_bytes);
    if (!batch) {
        respond(session, peer, NULL, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
        return;
    }
    for (size_t i = 0; i < incoming->count; i++) {
        if (incoming->elements[i].value)
            serve_value(session, batch, peer, &incoming->elements[i]);
        else
            respond(session, batch, NULL, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
    }
}

/* ---- what the transport calls ---------------------------------------------------------------- */

void mcp__dispatch_incoming(mcp__session *session, mcp__peer *peer, mcp__incoming *incoming)
{
    if (incoming->status != MCP_OK)
        respond(session, peer, incoming->whole.message.id, incoming->status, incoming->err.message);
    else if (mcp_json_is_array(incoming->whole.value))
        serve_batch(session, peer, incoming);
    else
        serve_value(session, peer, peer, &incoming->whole);
    mcp__incoming_clear(incoming);
}

void mcp__dispatch_message(mcp__session *session, mcp__peer *peer, const char *text, size_t length)
{
    mcp__incoming incoming;

    mcp__incoming_read(&incoming, session->context.options, session->context.budget, text, length);
    mcp__dispatch_incoming(session, peer, &incoming);
}

void mcp__dispatch_overlong(mcp__session *session, mcp__peer *peer, const mcp__line_ends *ends)
{
    mcp_arena *arena = ends ? mcp_arena_new(OVERLONG_ARENA_MAX) : NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp_error_set(&err, MCP_E_PARSE, "a message may have %zu bytes at most",
                                  session->context.options->limits.message_max_bytes);

    respond(session, peer, arena ? mcp__overlong_id(ends, arena) : NULL, st, err.message);
    mcp_arena_free(arena);
}

bool mcp__dispatch_is_full(const mcp__session *session)
{
    return session->calls.waiting >= session->context.options->limits.calls_max_queued;
}

bool mcp__dispatch_is_idle(const mcp__session *session)
{
    return TAILQ_EMPTY(&session->calls.open) && session->calls.running == 0;
}

static void time_out_input(mcp_call *call)
{
    mcp_status st = mcp_error_set(&call->err, MCP_E_TIMEOUT,
                                  "the client did not answer what %s asked in time",
                                  mcp_call_name(call));

    mcp__input_responses_withdraw(call);
    if (call->plan.kind->fail && mcp_call_tool_error(call, "%s", call->err.message) == MCP_OK)
        st = MCP_OK;
    end_call(call, st);
}

static void time_out_run(mcp_call *call)
{
    (void)mcp__execute_stop(call, MCP_STOP_DEADLINE);
    (void)mcp__call_close(call);
    mcp__call_table_remove(call->context->calls, call);
    mcp__result_send_timeout(call);
}

int64_t mcp__dispatch_tick(mcp__session *session, int64_t now_ms)
{
    mcp__call_table *calls = &session->calls;
    mcp_call *next;

    if (now_ms < calls->due_ms && !calls->has_held_reports)
        return calls->due_ms;
    calls->due_ms = INT64_MAX;
    calls->has_held_reports = false;
    mcp__execute_tick(calls, now_ms);
    for (mcp_call *call = TAILQ_FIRST(&calls->open); call; call = next) {
        next = TAILQ_NEXT(call, loop.open);
        if (mcp__call_state_of(call) == MCP__CALL_QUEUED)
            continue;
        if (call->loop.deadline_ms > 0 && call->loop.deadline_ms <= now_ms) {
            if (mcp__call_waits_for(call, MCP__WAIT_INPUT))
                time_out_input(call);
            else
                time_out_run(call);
            continue;
        }
        if (call->loop.deadline_ms > 0)
            mcp__call_table_due(calls, call->loop.deadline_ms);
        if (call->progress.token || call->request.log_level != MCP_LEVEL_NONE)
            mcp__call_table_due(calls, mcp__progress_deliver(call, now_ms));
    }
    return calls->due_ms;
}

void mcp__dispatch_cancel(mcp__session *session, const mcp_json *id,
                          const mcp__peer *notification_peer)
{
    mcp_call *call = find_open(session, id, notification_peer);

    if (call)
        close_call(call);
}

/* No input, and no notification, will reach the client: calls that wait for it end. */
static void end_suspended(mcp__session *session, const char *why, bool of_tasks)
{
    mcp_call *next;

    for (mcp_call *call = TAILQ_FIRST(&session->calls.open); call; call = next) {
        next = TAILQ_NEXT(call, loop.open);
        if (mcp__call_waits_for(call, MCP__WAIT_SUBSCRIPTION))
            end_call(call, MCP_OK);
        else if (mcp__call_waits_for(call, MCP__WAIT_INPUT) ||
                 (of_tasks && mcp__call_waits_for(call, MCP__WAIT_TASK)))
            end_call(call, mcp_error_set(&call->err, MCP_E_STOPPED, "%s", why));
    }
}

void mcp__dispatch_stop(mcp__session *session, mcp_stop why)
{
    mcp_call *next;

    if (why != MCP_STOP_CANCELLED) {
        session->is_ending = true;
        end_suspended(session, GONE, false);
    }
    for (mcp_call *call = TAILQ_FIRST(&session->calls.open); call; call = next) {
        next = TAILQ_NEXT(call, loop.open);
        if (why == MCP_STOP_CANCELLED)
            close_call(call);
        else if (why != MCP_STOP_CLIENT_GONE || (call->plan.flags & MCP_STOP_ON_HANGUP))
            (void)mcp__execute_stop(call, why);
    }
}

void mcp__dispatch_hang_up(const mcp__peer *notification_peer)
{
    mcp_call *next;

    for (mcp_call *call = LIST_FIRST(&notification_peer->calls); call; call = next) {
        next = LIST_NEXT(call, loop.of_peer); /* the peer goes with the last of them */
        if (mcp__call_is_stateless(call))
            close_call(call);
        else if (call->plan.flags & MCP_STOP_ON_HANGUP)
            (void)mcp__execute_stop(call, MCP_STOP_CLIENT_GONE);
    }
}

void mcp__dispatch_end_listening(const mcp__peer *notification_peer)
{
    mcp_call *next;

    for (mcp_call *call = LIST_FIRST(&notification_peer->calls); call; call = next) {
        next = LIST_NEXT(call, loop.of_peer);
        if (mcp__call_waits_for(call, MCP__WAIT_SUBSCRIPTION))
            end_call(call, MCP_OK);
    }
}

void mcp__dispatch_refuse_waiting(mcp__session *session)
{
    while (session->calls.waiting > 0) {
        mcp_call *call = mcp__call_table_next(&session->calls);
        end_call(call, mcp_error_set(&call->err, MCP_E_STOPPED, STOPPING));
    }
}

void mcp__dispatch_abandon(mcp__session *session)
{
    mcp__dispatch_refuse_waiting(session);
    end_suspended(session, STOPPING, true);
    while (!TAILQ_EMPTY(&session->calls.open)) {
        mcp_call *call = TAILQ_FIRST(&session->calls.open);
        (void)mcp__call_close(call);
        mcp__call_table_remove(&session->calls, call);
        mcp__result_send_fault(call, MCP_E_STOPPED, STOPPING);
    }
}

/* ---- calls that are tasks -------------------------------------------------------------------- */

int64_t mcp__dispatch_tasks_tick(mcp__task_table *table, int64_t now_ms)
{
    (void)mcp__dispatch_tick(&table->session, now_ms);
    mcp__task_expire(table, now_ms);
    return mcp__dispatch_tasks_due_ms(table);
}

int64_t mcp__dispatch_tasks_due_ms(const mcp__task_table *table)
{
    int64_t calls_ms = table->session.calls.due_ms;

    return table->due_ms < calls_ms ? table->due_ms : calls_ms;
}

void mcp__dispatch_tasks_stop(mcp__task_table *table, mcp_stop why)
{
    mcp__task_stop(table, why);
    mcp__dispatch_stop(&table->session, why);
}
