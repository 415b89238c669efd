/*
 * task_result.c - a task on the wire, in both eras.
 *
 *     2025-11-25     a Task; its result by tasks/result; notifications/tasks/status to its session; everything
 *                    else that a task sends says in _meta which one it belongs to
 *     2026-07-28     a Task with other names for its durations, and its input requests or its result inside;
 *                    notifications/tasks to the subscribers of its id
 */
#include <string.h>

#include "mcp/clock.h"
#include "mcp/core/call/result.h"
#include "mcp/core/response.h"
#include "mcp/core/session/input_responses.h"
#include "mcp/core/subscriptions/subscribe.h"
#include "mcp/core/task/task.h"

#define POLL_MS 500
#define MESSAGE_MAX ((size_t)16 * 1024 * 1024)

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

const mcp__call_kind mcp__task_outcome_kind = { .render = render_outcome };

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
    mcp_write_end(&writer);
    mcp__notification_send(session->listener, &writer, &message);
}

static bool is_visible(const void *data, const mcp_call *call)
{
    return mcp__task_table_is_of(data, call);
}

static void write_detailed(const void *data, mcp_json_writer *writer)
{
    mcp__task_write_detailed(data, writer);
}

void mcp__task_notify(const mcp__task_entry *entry)
{
    mcp__subscribed_task task = { .is_visible = is_visible,
                                  .write = write_detailed,
                                  .data = entry };

    if (!entry->is_stateless)
        notify_session(entry);
    else if (entry->table->subscriptions)
        mcp__subscribe_notify_task(entry->table->subscriptions, entry->id, &task);
}
