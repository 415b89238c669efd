/*
 * task.c - from a call to a task, and to its end.
 *
 *     tools/call  ->  [begin]  answers with the task          the call moves to the table's own session, and
 *                        |                                    the entry is its peer
 *                     handler  <->  requests input            input_required, until the responses are there
 *                        |
 *                     [answer]  the text is kept              tasks/get and tasks/result send it
 *
 * A handler does not notice. Its call runs as any other, under the same bounds, from the same table
 * of open calls; only the peer differs: it keeps the answer instead of sending it. Within a session
 * the handler's notifications go to a stream that waits for the task's end, or else to the
 * session's own; without one nothing is sent: clients poll.
 *
 * Input requests of the session era go to a client that waits for the end, or else on the session's
 * own stream; while there is neither, they wait, and the status says so.
 */
#include "mcp/core/task/task.h"
#include "mcp/core/call/suspend.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "mcp/clock.h"
#include "mcp/core/call/result.h"
#include "mcp/core/response.h"
#include "mcp/core/subscriptions/subscriptions.h"

#define ARENA_MAX_BYTES ((size_t)64 * 1024)
#define POLL_MS 500
#define MESSAGE_MAX ((size_t)16 * 1024 * 1024)
#define ROOM_MAX ((size_t)4096) /* around an outcome where it is sent */

/* ---- the table ------------------------------------------------------------------------------- */

/*
 * A task is its principal's. Without one it is the session's that began it, and ends with it;
 * without a session a client is known by nothing but the id itself, which is 128 random bits. A
 * working task is never forgotten: its tool has its own time limit, or was made to have none. One
 * that waits for input, or is over, is forgotten when its time since the beginning has passed, and
 * where it got there only later, a while after that. The number of tasks, of tasks of one client,
 * and the bytes of their results are bounded.
 */

mcp_status mcp__task_table_new(mcp__task_table **out, const mcp__context *context, mcp_error *err)
{
    mcp__task_table *table = mcp_alloc_zeroed(1, sizeof *table);
    mcp__context own = *context;

    if (!table)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tasks");
    own.is_shared = true; /* clients that know nothing of one another */
    own.subscriptions = NULL;
    table->subscriptions = context->subscriptions;
    own.tasks = table;
    table->due_ms = INT64_MAX;
    mcp__map_init(&table->by_id, NULL);
    table->arena = mcp_arena_new(ARENA_MAX_BYTES);
    mcp_status st = table->arena ? mcp_json_read(&table->call_id, table->arena, "0", 1, err)
                                 : mcp_error_set(err, MCP_E_NOMEM, "no memory for tasks");
    if (st == MCP_OK)
        st = mcp__session_init(&table->session, &own, err);
    if (st != MCP_OK) {
        mcp_arena_free(table->arena);
        free(table);
        return st;
    }
    *out = table;
    return MCP_OK;
}

void mcp__task_table_free(mcp__task_table *table)
{
    if (!table)
        return;
    while (!LIST_EMPTY(&table->entries)) /* removing moves it on, which the analyzer does not see */
        mcp__task_table_remove(
            LIST_FIRST(&table->entries)); /* NOLINT(clang-analyzer-unix.Malloc) */
    mcp__session_clear(&table->session);
    mcp__map_clear(&table->by_id);
    mcp_arena_free(table->arena);
    free(table);
}

/* ---- whose a task is ------------------------------------------------------------------------- */

/* By which a call's client is known, next to its principal. */
static mcp__session *session_of(const mcp_call *call)
{
    return mcp__call_is_stateless(call) || call->session->is_once ? NULL : call->session;
}

bool mcp__task_table_is_of(const mcp__task_entry *entry, const mcp_call *call)
{
    const mcp_principal *principal = call->principal;

    if (entry->is_stateless != mcp__call_is_stateless(call) || !entry->principal != !principal)
        return false;
    if (principal)
        return strcmp(entry->principal, principal->name) == 0;
    return entry->session == session_of(call);
}

mcp__task_entry *mcp__task_table_find(const mcp__task_table *table, const char *id, size_t length,
                                      const mcp_call *call)
{
    mcp__task_entry *entry = mcp__map_get(&table->by_id, id, length);

    return entry && mcp__task_table_is_of(entry, call) ? entry : NULL;
}

mcp__task_entry *mcp__task_table_older(const mcp__task_table *table, uint64_t before,
                                       const mcp_call *call)
{
    mcp__task_entry *entry = LIST_FIRST(&table->entries);

    while (entry && (entry->number >= before || !mcp__task_table_is_of(entry, call)))
        entry = LIST_NEXT(entry, older);
    return entry;
}

/* ---- coming and going ------------------------------------------------------------------------ */

static mcp_status check_room(const mcp__task_table *table, const mcp_call *call, mcp_error *err)
{
    const mcp_server_options *options = call->context->options;
    bool is_known = call->principal || session_of(call);
    size_t own = 0;

    if (table->count >= (size_t)options->limits.tasks_max)
        return mcp_error_set(err, MCP_E_BUSY, "%d tasks are kept, no more can be: try again later",
                             options->limits.tasks_max);
    for (const mcp__task_entry *entry = LIST_FIRST(&table->entries); is_known && entry;
         entry = LIST_NEXT(entry, older))
        own += mcp__task_table_is_of(entry, call);
    if (own >= (size_t)options->limits.tasks_max_per_client)
        return mcp_error_set(err, MCP_E_BUSY,
                             "%d tasks of this client are kept, no more can be: try again later",
                             options->limits.tasks_max_per_client);
    return MCP_OK;
}

static mcp_status name_entry(mcp__task_entry *entry, const mcp_principal *principal, mcp_error *err)
{
    entry->principal = principal ? mcp_alloc_strdup(principal->name) : NULL;
    if (principal && !entry->principal)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a task");
    mcp_status st = mcp_random_id(entry->id, err);
    if (st == MCP_OK &&
        mcp__map_put(&entry->table->by_id, entry->id, strlen(entry->id), entry) != MCP_OK)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a task");
    return st;
}

mcp_status mcp__task_table_add(mcp__task_entry **out, mcp__task_table *table, const mcp_call *call,
                               int64_t ttl_ms, mcp_error *err)
{
    mcp_status st = check_room(table, call, err);

    if (st != MCP_OK)
        return st;
    mcp__task_entry *entry = mcp_alloc_zeroed(1, sizeof *entry);
    if (!entry)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a task");
    entry->table = table;
    entry->is_stateless = mcp__call_is_stateless(call);
    entry->session = session_of(call);
    entry->ttl_ms = ttl_ms;
    entry->began_ms = entry->since_ms = mcp_clock_mono_ms();
    entry->began_wall_ms = entry->updated_wall_ms = mcp_clock_wall_ms();
    st = name_entry(entry, call->principal, err);
    if (st != MCP_OK) {
        free(entry->principal);
        free(entry);
        return st;
    }
    entry->number = ++table->last_number;
    TAILQ_INIT(&entry->waiting);
    LIST_INSERT_HEAD(&table->entries, entry, older);
    table->count++;
    *out = entry;
    return MCP_OK;
}

void mcp__task_table_remove(mcp__task_entry *entry)
{
    mcp__task_table *table = entry->table;

    assert(!entry->call && TAILQ_EMPTY(&entry->waiting));
    (void)mcp__map_remove(&table->by_id, entry->id, strlen(entry->id));
    LIST_REMOVE(entry, older);
    table->count--;
    if (entry->owned)
        table->bytes -= entry->outcome_length;
    free(entry->owned);
    free(entry->principal);
    free(entry);
}

int64_t mcp__task_table_end_ms(const mcp__task_entry *entry)
{
    int64_t end_ms = entry->began_ms + entry->ttl_ms;

    if (entry->status == MCP__TASK_WORKING)
        return INT64_MAX;
    return entry->since_ms < end_ms ? end_ms : entry->since_ms + MCP__TASK_LATE_MS;
}

/* ---- a task on the wire ---------------------------------------------------------------------- */

/*
 *     2025-11-25     a Task; its result by tasks/result; notifications/tasks/status to its session; everything
 *                    else that a task sends says in _meta which one it belongs to
 *     2026-07-28     a Task with other names for its durations, and its input requests or its result inside;
 *                    notifications/tasks to the subscribers of its id
 */

static const char *const status_names[] = { "working", "input_required", "completed", "failed",
                                            "cancelled" };

/* What the two eras call the same. */
static const struct names {
    const char *ttl;
    const char *poll;
} names[] = { { "ttl", "pollInterval" }, { "ttlMs", "pollIntervalMs" } };

/* The last message of its handler; where it is over, that of its end. */
static void read_message(const mcp__task_entry *entry, char out[MCP__PROGRESS_TEXT_SIZE],
                         int64_t *updated_wall_ms)
{
    mcp__progress *progress = entry->call ? &entry->call->progress : NULL;

    *updated_wall_ms = entry->updated_wall_ms;
    if (!progress) {
        memcpy(out, entry->message, MCP__PROGRESS_TEXT_SIZE);
        return;
    }
    pthread_mutex_lock(&progress->lock);
    memcpy(out, progress->text, MCP__PROGRESS_TEXT_SIZE);
    if (progress->text_wall_ms > *updated_wall_ms)
        *updated_wall_ms = progress->text_wall_ms;
    pthread_mutex_unlock(&progress->lock);
}

/* ---- a Task ---------------------------------------------------------------------------------- */

static void write_time(mcp_json_writer *writer, const char *name, int64_t wall_ms)
{
    char text[MCP_CLOCK_UTC_SIZE];

    mcp_clock_utc(text, wall_ms, 1);
    mcp_write_member_string(writer, name, text);
}

void mcp__task_write(const mcp__task_entry *entry, mcp_json_writer *writer)
{
    const struct names *named = &names[entry->is_stateless];
    char message[MCP__PROGRESS_TEXT_SIZE];
    int64_t updated_wall_ms;

    read_message(entry, message, &updated_wall_ms);
    mcp_write_member_string(writer, "taskId", entry->id);
    mcp_write_member_string(writer, "status", status_names[entry->status]);
    if (message[0] != '\0')
        mcp_write_member_string(writer, "statusMessage", message);
    write_time(writer, "createdAt", entry->began_wall_ms);
    write_time(writer, "lastUpdatedAt", updated_wall_ms);
    mcp_write_member_int(writer, named->ttl, entry->ttl_ms);
    mcp_write_member_int(writer, named->poll, POLL_MS);
}

void mcp__task_write_detailed(const mcp__task_entry *entry, mcp_json_writer *writer)
{
    mcp__task_write(entry, writer);
    if (entry->status == MCP__TASK_INPUT_REQUIRED) {
        mcp_write_member_object(writer, "inputRequests");
        mcp__input_responses_write_open(entry->call, writer);
        mcp_write_end(writer);
    } else if (entry->status == MCP__TASK_COMPLETED || entry->status == MCP__TASK_FAILED) {
        mcp_write_name(writer, entry->is_error ? "error" : "result");
        mcp_write_raw(writer, entry->outcome, entry->outcome_length);
    }
}

static void render_outcome(mcp_call *call)
{
    const mcp__task_entry *entry = call->plan.feature;
    mcp_json_writer writer;

    if (call->status != MCP_OK || !mcp__task_is_over(entry)) {
        mcp__result_render(call);
        return;
    }
    mcp__response_begin(&writer, &call->answer.message, call->request.id, call->request.revision);
    mcp_write_name(&writer, entry->is_error ? "error" : "result");
    mcp_write_raw(&writer, entry->outcome, entry->outcome_length);
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        return;
    mcp_buf_clear(&call->answer.message);
    call->status = mcp_error_set(&call->err, mcp_json_writer_status(&writer),
                                 "the task's result cannot be written");
    mcp__result_render(call);
}

static const mcp__call_kind outcome_kind = { .render = render_outcome };

/* ---- notifications --------------------------------------------------------------------------- */

static void notify_session(const mcp__task_entry *entry)
{
    mcp__session *session = entry->session;
    mcp_json_writer writer;
    mcp_buf message;

    if (!session || !session->listener || session->revision != MCP_2025_11_25)
        return;
    mcp__notification_begin(&writer, &message, MESSAGE_MAX, "notifications/tasks/status");
    mcp_write_member_object(&writer, "params");
    mcp__task_write(entry, &writer);
    mcp__notification_send(session->listener, &writer, &message);
}

static void notify_subscribers(const mcp__task_entry *entry)
{
    const mcp__interest *interest = mcp__subscriptions_of_task(entry->table->subscriptions,
                                                               entry->id);

    for (; interest; interest = LIST_NEXT(interest, of_topic)) {
        const mcp_call *call = interest->call;
        mcp_json_writer writer;
        mcp_buf message;
        if (!mcp__task_table_is_of(entry, call))
            continue;
        mcp__notification_begin(&writer, &message, call->context->options->limits.reply_max_bytes,
                                "notifications/tasks"); /* its result is in it */
        mcp_write_member_object(&writer, "params");
        mcp__subscribe_write_id(call, &writer);
        mcp__task_write_detailed(entry, &writer);
        mcp__notification_send(call->notification_peer, &writer, &message);
    }
}

/* Those that follow the task, of its status. */
static void notify_clients(const mcp__task_entry *entry)
{
    if (!entry->is_stateless)
        notify_session(entry);
    else if (entry->table->subscriptions)
        notify_subscribers(entry);
}

/* ---- its status ------------------------------------------------------------------------------ */

static void look_by(mcp__task_entry *entry)
{
    int64_t end_ms = mcp__task_table_end_ms(entry);

    if (end_ms < entry->table->due_ms)
        entry->table->due_ms = end_ms;
}

static void set_status(mcp__task_entry *entry, mcp__task_status status)
{
    entry->status = status;
    entry->since_ms = mcp_clock_mono_ms();
    entry->updated_wall_ms = mcp_clock_wall_ms();
    look_by(entry);
}

/* ---- its end --------------------------------------------------------------------------------- */

#define OUT_OF_MEMORY "{\"code\":-32603,\"message\":\"out of memory\"}"

static void keep_constant(mcp__task_entry *entry, const char *error)
{
    entry->is_error = true;
    entry->outcome = error;
    entry->outcome_length = strlen(error);
}

/* A copy of its own size: buffers are larger than what they hold. */
static void keep(mcp__task_entry *entry, const char *text, size_t length, bool is_error)
{
    mcp__task_table *table = entry->table;
    const mcp_server_options *options = table->session.context.options;

    if (length > options->limits.tasks_max_bytes - table->bytes ||
        length + ROOM_MAX > options->limits.reply_max_bytes) {
        keep_constant(entry,
                      "{\"code\":-32603,\"message\":\"there is no room for the task's result\"}");
        return;
    }
    entry->owned = mcp_alloc(length);
    if (!entry->owned) {
        keep_constant(entry, OUT_OF_MEMORY);
        return;
    }
    memcpy(entry->owned, text, length);
    entry->outcome = entry->owned;
    entry->outcome_length = length;
    entry->is_error = is_error;
    table->bytes += length;
}

/* It is over: calls that wait for it are answered. */
static void end(mcp__task_entry *entry, mcp__task_status status)
{
    entry->call = NULL;
    entry->asked_on = NULL;
    set_status(entry, status);
    notify_clients(entry);
    while (!TAILQ_EMPTY(&entry->waiting)) {
        mcp_call *call = TAILQ_FIRST(&entry->waiting);
        call->context->hooks->end(call, MCP_OK);
    }
}

/* ---- the peer of its call -------------------------------------------------------------------- */

/* The call's id is the number 0, so the message around its result is known. */
#define HEAD "{\"jsonrpc\":\"2.0\",\"id\":0,"
#define RESULT HEAD "\"result\":"
#define ERROR HEAD "\"error\":"

static void answer(mcp__peer *peer, mcp_buf *message)
{
    mcp__task_entry *entry = (mcp__task_entry *)peer;
    bool is_error = strncmp(message->data, ERROR, sizeof ERROR - 1) == 0;
    size_t head = is_error ? sizeof ERROR - 1 : sizeof RESULT - 1;
    /* The dispatch answers in place of the call only when the time is over, or with an error. */
    bool is_own = peer->fault == MCP_OK;
    const char *tool_error = is_own ? entry->call->answer.error_text : NULL;
    bool has_failed = is_error || (!entry->is_stateless && (!is_own || tool_error));

    (void)snprintf(entry->message, sizeof entry->message, "%s", tool_error ? tool_error : "");
    mcp__utf8_tidy(entry->message, strlen(entry->message), sizeof entry->message - 1);
    keep(entry, message->data + head, message->length - head - 1, is_error);
    mcp_buf_clear(message);
    end(entry, has_failed || entry->is_error ? MCP__TASK_FAILED : MCP__TASK_COMPLETED);
}

/* Where a message of a task goes; NULL: nowhere. */
static mcp__peer *outlet(const mcp__task_entry *entry)
{
    if (!TAILQ_EMPTY(&entry->waiting))
        return TAILQ_FIRST(&entry->waiting)->notification_peer;
    return entry->session ? entry->session->listener : NULL;
}

static void notify(mcp__peer *peer, mcp_buf *message)
{
    mcp__peer *to = outlet((const mcp__task_entry *)peer);

    if (to)
        to->notify(to, message);
    mcp_buf_clear(message);
}

static bool is_slow(const mcp__peer *peer)
{
    const mcp__peer *to = outlet((const mcp__task_entry *)peer);

    return to && to->is_slow(to);
}

static void no_reply(mcp__peer *peer)
{
    (void)peer;
}

static void abort_request(mcp__peer *peer)
{
    mcp__task_entry *entry = (mcp__task_entry *)peer;

    keep_constant(entry, OUT_OF_MEMORY);
    end(entry, MCP__TASK_FAILED);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* The call answers as if the task were its result; false: there was no memory for that. */
static bool answer_with_task(mcp_call *call, const mcp__task_entry *entry)
{
    const mcp__call_kind *kind = call->plan.kind;

    call->plan.kind = &mcp__plain_kind;
    call->status = MCP_OK;
    call->answer.result_type = entry->is_stateless ? "task" : NULL;
    if (!entry->is_stateless)
        mcp_write_member_object(mcp_call_result(call), "task");
    mcp__task_write(entry, mcp_call_result(call));
    mcp__result_render(call);
    bool is_there = call->answer.message.length > 0;
    int64_t began_ns = call->began_ns;
    call->began_ns = 0; /* this is not the call's end */
    if (is_there)
        mcp__result_send(call);
    call->began_ns = began_ns;
    call->plan.kind = kind;
    call->answer.result_type = NULL;
    return is_there;
}

/* From the top, but with the responses that the client gave already. */
static void rewind_call(mcp_call *call)
{
    const char *state = call->input.next_state ? call->input.next_state : call->input.state;

    mcp__call_reset(call);
    call->input.state = state;
    call->task.begins = MCP__TASK_NEVER;
    call->loop.deadline_ms = 0;
}

static mcp_status note_task(mcp_call *call, const mcp__task_entry *entry)
{
    call->progress.text = mcp_arena_alloc(call->arena, MCP__PROGRESS_TEXT_SIZE);
    if (!call->progress.text)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a task");
    if (entry->is_stateless)
        return MCP_OK;
    const char *related = mcp_arena_printf(call->arena, "{\"taskId\":\"%s\"}", entry->id);
    if (!related)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a task");
    return mcp__call_note(call, "io.modelcontextprotocol/related-task", related);
}

static void move(mcp_call *call, mcp__task_entry *entry)
{
    mcp__task_table *table = entry->table;

    entry->peer = (mcp__peer){ .answer = answer,
                               .notify = notify,
                               .is_slow = is_slow,
                               .no_reply = no_reply,
                               .abort = abort_request };
    entry->call = call;
    call->task.entry = entry;
    call->session = &table->session;
    call->context = &table->session.context;
    call->peer = &entry->peer;
    call->notification_peer = &entry->peer;
    call->request.id = table->call_id;
    if (!entry->is_stateless)
        return;
    call->progress.token = NULL; /* nothing is sent to clients that poll */
    call->request.log_level = MCP_LEVEL_NONE;
}

mcp_status mcp__task_begin(mcp_call *call)
{
    mcp__task_table *table = call->context->tasks;
    mcp__task_entry *entry = NULL;
    mcp__note *notes = call->answer.notes;
    mcp_status st = mcp__task_table_add(&entry, table, call, call->task.ttl_ms, &call->err);

    if (st != MCP_OK)
        return st;
    st = note_task(call, entry);
    mcp__note *more = call->answer.notes;
    call->answer.notes = notes; /* the message that tells of the task has its id anyhow */
    if (st == MCP_OK && !answer_with_task(call, entry))
        st = mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a task");
    if (st != MCP_OK) {
        call->progress.text = NULL;
        mcp__task_table_remove(entry);
        return st;
    }
    call->answer.notes = more;
    rewind_call(call);
    move(call, entry);
    return MCP_OK;
}

mcp_status mcp_call_become_task(mcp_call *call)
{
    bool knows_tasks = call->context->tasks && mcp__call_is_stateless(call) &&
                       mcp_call_client_can(call, MCP_CLIENT_TASKS);

    if (call->task.entry || !knows_tasks || !(call->plan.flags & MCP_TASK_DEFERRED))
        return MCP_OK;
    call->task.begins = MCP__TASK_BY_HANDLER;
    return MCP_E_INPUT_REQUIRED;
}

/* ---- input requests -------------------------------------------------------------------------- */

/* Within a session: to a client that waits, if there is one. */
static mcp_status send_requests(mcp__task_entry *entry)
{
    mcp_call *waiting = TAILQ_FIRST(&entry->waiting);
    mcp__session *session = waiting ? waiting->session : entry->session;
    mcp__peer *to = outlet(entry);

    if (!to || entry->is_stateless)
        return MCP_OK;
    mcp_status st = mcp__input_responses_request(entry->call, session, to);
    if (st != MCP_OK)
        return st;
    entry->asked_on = waiting;
    entry->asked_listener = waiting ? NULL : to;
    return MCP_OK;
}

mcp_status mcp__task_request_input(mcp_call *call)
{
    mcp__task_entry *entry = call->task.entry;
    mcp_status st = entry->is_stateless ? mcp__input_responses_name(call) : MCP_OK;

    if (st != MCP_OK)
        return st;
    set_status(entry, MCP__TASK_INPUT_REQUIRED);
    notify_clients(entry);
    return send_requests(entry);
}

void mcp__task_resume(mcp_call *call)
{
    call->task.entry->asked_on = NULL;
    call->task.entry->asked_listener = NULL;
    set_status(call->task.entry, MCP__TASK_WORKING);
    notify_clients(call->task.entry);
}

/* ---- waiting for its end --------------------------------------------------------------------- */

void mcp__task_await(mcp_call *call, mcp__task_entry *entry)
{
    call->plan.kind = &outcome_kind;
    call->plan.feature = entry;
    if (!mcp__task_is_over(entry))
        (void)mcp__call_suspend(call, MCP__WAIT_TASK);
}

void mcp__task_enter(mcp_call *call)
{
    mcp__task_entry *entry = call->plan.feature;
    /* whether the requests went where they may still be answered */
    bool is_asked = entry->asked_on || (entry->asked_listener && entry->session &&
                                        entry->session->listener == entry->asked_listener);
    mcp_status st = MCP_OK;

    TAILQ_INSERT_TAIL(&entry->waiting, call, loop.waiting);
    if (entry->status == MCP__TASK_INPUT_REQUIRED && !is_asked)
        st = send_requests(entry);
    if (st != MCP_OK)
        entry->call->context->hooks->end(entry->call, st);
}

void mcp__task_leave(mcp_call *call)
{
    mcp__task_entry *entry = call->plan.feature;

    TAILQ_REMOVE(&entry->waiting, call, loop.waiting);
    if (entry->asked_on != call)
        return;
    entry->asked_on = NULL;
    if (!TAILQ_EMPTY(&entry->waiting))
        (void)send_requests(entry); /* where that fails, to the next that waits */
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void stop(mcp__task_entry *entry, const char *message, const char *error)
{
    mcp_call *call = entry->call;

    assert(call); /* until the task is over */
    call->context->hooks->close(call);
    (void)snprintf(entry->message, sizeof entry->message, "%s", message);
    keep_constant(entry, error);
    end(entry, MCP__TASK_CANCELLED);
}

void mcp__task_cancel(mcp__task_entry *entry)
{
    stop(entry, "The task was cancelled.",
         "{\"code\":-32603,\"message\":\"the task was cancelled\"}");
}

void mcp__task_session_ends(mcp__task_table *table, const mcp__session *session)
{
    mcp__task_entry *next;

    for (mcp__task_entry *entry = LIST_FIRST(&table->entries); entry; entry = next) {
        next = LIST_NEXT(entry, older);
        if (entry->call && entry->call->input.session == session)
            mcp__input_responses_unsend(entry->call);
        if (entry->session != session)
            continue;
        entry->session = NULL;
        if (entry->principal)
            continue;
        if (!mcp__task_is_over(entry))
            mcp__task_cancel(entry);
        mcp__task_table_remove(entry);
    }
}

/* One that waits for input when its time is over will not get it. */
void mcp__task_expire(mcp__task_table *table, int64_t now_ms)
{
    mcp__task_entry *next;

    if (table->due_ms > now_ms)
        return;
    table->due_ms = INT64_MAX;
    for (mcp__task_entry *entry = LIST_FIRST(&table->entries); entry; entry = next) {
        next = LIST_NEXT(entry, older);
        if (mcp__task_table_end_ms(entry) > now_ms) {
            look_by(entry);
            continue;
        }
        if (!mcp__task_is_over(entry))
            stop(entry, "Nobody answered in time.",
                 "{\"code\":-32603,\"message\":\"what the task asked was not answered in time\"}");
        mcp__task_table_remove(entry);
    }
}

void mcp__task_stop(mcp__task_table *table, mcp_stop why)
{
    for (mcp__task_entry *entry = LIST_FIRST(&table->entries); entry;
         entry = LIST_NEXT(entry, older))
        if (!mcp__task_is_over(entry) &&
            (why == MCP_STOP_CANCELLED || TAILQ_EMPTY(&entry->waiting)))
            mcp__task_cancel(entry);
}
