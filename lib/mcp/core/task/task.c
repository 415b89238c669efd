/*
 * task.c - from a call to a task, and to its end.
 *
 *     tools/call  ->  [begin]  answers with the task          the call moves to the table's own session, and
 *                        |                                    the entry is its peer
 *                     handler  <->  asks                      input_required, until the answers are there
 *                        |
 *                     [answer]  the text is kept              tasks/get and tasks/result tell it
 *
 * A handler does not notice. Its call runs as any other, under the same bounds, from the same table of open
 * calls; only the peer differs: it keeps the answer instead of sending it. Within a session what the handler
 * sends meanwhile goes to a stream that waits for the task's end, or else to the session's own; without one
 * nothing is sent: clients come and look.
 *
 * Questions of the session era are requests. They go to a client that waits for the end, or else on the session's
 * own stream; while there is neither, they wait, which the status tells the client.
 */
#include "mcp/core/task/task.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "mcp/clock.h"
#include "mcp/core/call/reply.h"
#include "mcp/core/dispatch.h"

#define ROOM_MAX ((size_t)4096) /* of what stands around an outcome where it is told */

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

/* ---- its end ---------------------------------------------------------------------------------- */

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
    const mcp_server_options *options = table->session.setup.options;

    if (length > options->tasks_max_bytes - table->bytes ||
        length + ROOM_MAX > options->reply_max_bytes) {
        keep_constant(entry,
                      "{\"code\":-32603,\"message\":\"there is no room for the task's result\"}");
        return;
    }
    entry->owned = mcp__alloc(length);
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

/* It is over: those who wait learn how. */
static void end(mcp__task_entry *entry, mcp__task_status status)
{
    mcp_call *call;

    entry->call = NULL;
    entry->asked_on = NULL;
    set_status(entry, status);
    mcp__task_tell(entry);
    while ((call = entry->waiting) != NULL)
        mcp__dispatch_end(call, MCP_OK);
}

/* ---- the peer of its call --------------------------------------------------------------------- */

/* The call's id is the number 0, so the message around what it ended with is known. */
#define HEAD "{\"jsonrpc\":\"2.0\",\"id\":0,"
#define RESULT HEAD "\"result\":"
#define ERROR HEAD "\"error\":"

/* Whether what came is a tool's word that it failed. The dispatch answers instead of the call only when the
 * time is over, or with an error. */
static bool is_failed_tool(const mcp__task_entry *entry)
{
    return entry->peer.fault != MCP_OK || entry->call->is_refused;
}

static void note_refusal(mcp__task_entry *entry)
{
    if (entry->peer.fault == MCP_OK && entry->call->is_refused)
        (void)snprintf(entry->message, sizeof(entry->message), "%s", entry->call->refusal);
    mcp__utf8_tidy(entry->message, strlen(entry->message), sizeof(entry->message) - 1);
}

static void answer(mcp__peer *peer, mcp_buf *message)
{
    mcp__task_entry *entry = (mcp__task_entry *)peer;
    bool is_error = strncmp(message->data, ERROR, sizeof(ERROR) - 1) == 0;
    size_t head = is_error ? sizeof(ERROR) - 1 : sizeof(RESULT) - 1;
    bool has_failed = is_error || (!entry->is_stateless && is_failed_tool(entry));

    entry->message[0] = '\0';
    note_refusal(entry);
    keep(entry, message->data + head, message->length - head - 1, is_error);
    mcp_buf_clear(message);
    end(entry, has_failed || entry->is_error ? MCP__TASK_FAILED : MCP__TASK_COMPLETED);
}

/* Where a message of a task goes: NULL: to nobody. */
static mcp__peer *outlet(const mcp__task_entry *entry)
{
    if (entry->waiting)
        return entry->waiting->notices;
    return entry->session ? entry->session->news : NULL;
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

static void skip(mcp__peer *peer)
{
    (void)peer;
}

static void lose(mcp__peer *peer)
{
    mcp__task_entry *entry = (mcp__task_entry *)peer;

    keep_constant(entry, OUT_OF_MEMORY);
    end(entry, MCP__TASK_FAILED);
}

/* ---- beginning -------------------------------------------------------------------------------- */

static void write_creation(const mcp__task_entry *entry, mcp_json_writer *writer)
{
    if (!entry->is_stateless)
        mcp_write_member_object(writer, "task");
    mcp__task_write(entry, writer);
    if (!entry->is_stateless)
        mcp_write_end(writer);
}

/* The call answers as if the task were its result; false: there was no memory for that. */
static bool answer_with_task(mcp_call *call, const mcp__task_entry *entry)
{
    mcp__peer *peer = call->peer;
    mcp__finisher *finish = call->finish;

    call->finish = NULL;
    call->status = MCP_OK;
    call->result_type = entry->is_stateless ? "task" : NULL;
    write_creation(entry, mcp_call_result(call));
    mcp__reply_render(call);
    bool is_there = call->reply.length > 0;
    if (is_there) {
        peer->http_status = 200;
        peer->fault = MCP_OK;
        peer->answer(peer, &call->reply);
    }
    call->finish = finish;
    call->result_type = NULL;
    return is_there;
}

/* From the top, but with what the client answered already. */
static void rewind_call(mcp_call *call)
{
    const char *kept = call->asking.keep ? call->asking.keep : call->asking.kept;

    mcp__call_reset(call);
    call->asking.kept = kept;
    call->wants_task = false;
    call->loop.deadline_ms = 0;
}

static mcp_status note_task(mcp_call *call, const mcp__task_entry *entry)
{
    call->progress.said = mcp_arena_alloc(call->arena, MCP__TASK_MESSAGE_SIZE);
    if (!call->progress.said)
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

    entry->peer = (mcp__peer){
        .answer = answer, .notify = notify, .is_slow = is_slow, .skip = skip, .lose = lose
    };
    entry->call = call;
    call->as_task = entry;
    call->session = &table->session;
    call->peer = &entry->peer;
    call->notices = &entry->peer;
    call->id = table->call_id;
    if (!entry->is_stateless)
        return;
    call->progress.token = NULL; /* nothing is sent to those who come and look */
    call->log_level = MCP_LEVEL_NONE;
}

mcp_status mcp__task_begin(mcp_call *call)
{
    mcp__task_table *table = call->session->setup.tasks;
    mcp__task_entry *entry = NULL;
    mcp__note *notes = call->notes;
    mcp_status st = mcp__task_table_add(&entry, table, call, call->task_ttl_ms, &call->err);

    if (st != MCP_OK)
        return st;
    st = note_task(call, entry);
    mcp__note *more = call->notes;
    call->notes = notes; /* the message that tells of the task has its id anyhow */
    if (st == MCP_OK && !answer_with_task(call, entry))
        st = mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a task");
    if (st != MCP_OK) {
        call->progress.said = NULL;
        mcp__task_table_remove(entry);
        return st;
    }
    call->notes = more;
    rewind_call(call);
    move(call, entry);
    return MCP_OK;
}

mcp_status mcp_call_as_task(mcp_call *call)
{
    bool knows_tasks = call->session && call->session->setup.tasks &&
                       call->revision > MCP_REVISION_NEWEST_SESSION &&
                       mcp_call_client_can(call, MCP_CLIENT_TASKS);

    if (call->as_task || !knows_tasks || !(call->flags & MCP_TASK_LATER))
        return MCP_OK;
    call->wants_task = true;
    return MCP_E_ASKED;
}

/* ---- asking ----------------------------------------------------------------------------------- */

/* Within a session: to somebody who waits, if anybody does. */
static mcp_status send_questions(mcp__task_entry *entry)
{
    mcp_call *waiting = entry->waiting;
    mcp__session *session = waiting ? waiting->session : entry->session;
    mcp__peer *to = outlet(entry);

    if (!to || entry->is_stateless)
        return MCP_OK;
    mcp_status st = mcp__asking_send(entry->call, session, to);
    if (st != MCP_OK)
        return st;
    entry->asked_on = waiting;
    entry->asked_news = waiting ? NULL : to;
    return MCP_OK;
}

/* Whether they went where somebody may still answer them. */
static bool is_asked(const mcp__task_entry *entry)
{
    return entry->asked_on ||
           (entry->asked_news && entry->session && entry->session->news == entry->asked_news);
}

mcp_status mcp__task_ask(mcp_call *call)
{
    mcp__task_entry *entry = call->as_task;
    mcp_status st = entry->is_stateless ? mcp__asking_name(call) : MCP_OK;

    if (st == MCP_OK)
        set_status(entry, MCP__TASK_INPUT_REQUIRED);
    if (st == MCP_OK)
        mcp__task_tell(entry);
    return st == MCP_OK ? send_questions(entry) : st;
}

void mcp__task_resume(mcp_call *call)
{
    call->as_task->asked_on = NULL;
    call->as_task->asked_news = NULL;
    set_status(call->as_task, MCP__TASK_WORKING);
    mcp__task_tell(call->as_task);
}

/* ---- waiting for its end ---------------------------------------------------------------------- */

void mcp__task_await(mcp_call *call)
{
    mcp__task_entry *entry = call->awaits;
    mcp_call **at = &entry->waiting;
    mcp_status st = MCP_OK;

    while (*at)
        at = &(*at)->loop.next_awaiting;
    call->loop.next_awaiting = NULL;
    *at = call;
    if (entry->status == MCP__TASK_INPUT_REQUIRED && !is_asked(entry))
        st = send_questions(entry);
    if (st != MCP_OK)
        mcp__dispatch_end(entry->call, st);
}

void mcp__task_forget(mcp_call *call)
{
    mcp__task_entry *entry = call->awaits;
    mcp_call **at = &entry->waiting;

    while (*at && *at != call)
        at = &(*at)->loop.next_awaiting;
    if (*at)
        *at = call->loop.next_awaiting;
    call->awaits = NULL;
    if (entry->asked_on != call)
        return;
    entry->asked_on = NULL;
    if (entry->waiting)
        (void)send_questions(entry); /* where that fails, to the next who comes */
}

/* ---- stopping --------------------------------------------------------------------------------- */

static void stop(mcp__task_entry *entry, const char *message, const char *error)
{
    mcp_call *call = entry->call;

    mcp__dispatch_close(call);
    (void)snprintf(entry->message, sizeof(entry->message), "%s", message);
    keep_constant(entry, error);
    end(entry, MCP__TASK_CANCELLED);
}

void mcp__task_cancel(mcp__task_entry *entry)
{
    stop(entry, "The task was cancelled.",
         "{\"code\":-32603,\"message\":\"the task was cancelled\"}");
}

void mcp__task_leave(mcp__task_table *table, const mcp__session *session)
{
    mcp__task_entry *next;

    for (mcp__task_entry *entry = table->newest; entry; entry = next) {
        next = entry->older;
        if (entry->call && entry->call->asking.session == session)
            mcp__asking_unsend(entry->call);
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

bool mcp__task_all_idle(const mcp__task_table *table)
{
    return mcp__dispatch_is_idle(&table->session);
}

/* One that waits for answers when its time is over will not get them. */
static void expire(mcp__task_table *table, int64_t now_ms)
{
    mcp__task_entry *next;

    table->due_ms = INT64_MAX;
    for (mcp__task_entry *entry = table->newest; entry; entry = next) {
        next = entry->older;
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

int64_t mcp__task_tick(mcp__task_table *table, int64_t now_ms)
{
    (void)mcp__dispatch_tick(&table->session, now_ms);
    if (table->due_ms <= now_ms)
        expire(table, now_ms);
    return mcp__task_due_ms(table);
}

int64_t mcp__task_due_ms(const mcp__task_table *table)
{
    int64_t calls_ms = table->session.calls.due_ms;

    return table->due_ms < calls_ms ? table->due_ms : calls_ms;
}

void mcp__task_stop_all(mcp__task_table *table, mcp_stop why)
{
    for (mcp__task_entry *entry = table->newest; entry; entry = entry->older)
        if (!mcp__task_is_over(entry) && (why == MCP_STOP_CANCELLED || !entry->waiting))
            mcp__task_cancel(entry);
    mcp__dispatch_stop(&table->session, why);
}

void mcp__task_abandon(mcp__task_table *table)
{
    mcp__dispatch_abandon(&table->session);
}
