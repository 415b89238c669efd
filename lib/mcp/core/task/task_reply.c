/*
 * task_reply.c - what clients are told of a task, in both eras.
 *
 *     2025-11-25     a Task; its result by tasks/result; notifications/tasks/status to its session; whatever
 *                    else a task sends says in _meta which one it belongs to
 *     2026-07-28     a Task with other names for its durations, and what it waits for or ended with inside;
 *                    notifications/tasks to those who listen to its id
 */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "mcp/clock.h"
#include "mcp/core/call/reply.h"
#include "mcp/core/news/subscribe.h"
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

const char *mcp__task_id(const mcp_call *call)
{
    return call->as_task && !call->as_task->is_stateless ? call->as_task->id : NULL;
}

void mcp__task_write_related(mcp_json_writer *writer, const char *id)
{
    mcp_write_member_object(writer, "io.modelcontextprotocol/related-task");
    mcp_write_member_string(writer, "taskId", id);
    mcp_write_end(writer);
}

/* ---- how far it is ---------------------------------------------------------------------------- */

void mcp__task_note(mcp_call *call, const char *message)
{
    mcp__progress *progress = &call->progress;
    char tidy[MCP__TASK_MESSAGE_SIZE];

    if (!progress->said || !message)
        return;
    (void)snprintf(tidy, sizeof(tidy), "%s", message);
    mcp__utf8_tidy(tidy, strlen(tidy), sizeof(tidy) - 1);
    pthread_mutex_lock(&progress->lock);
    memcpy(progress->said, tidy, sizeof(tidy));
    progress->said_wall_ms = mcp_clock_wall_ms();
    pthread_mutex_unlock(&progress->lock);
}

/* What its handler said last, or, where it is over, what is to be said of that. */
static void read_message(const mcp__task_entry *entry, char out[MCP__TASK_MESSAGE_SIZE],
                         int64_t *updated_wall_ms)
{
    mcp__progress *progress = entry->call ? &entry->call->progress : NULL;

    *updated_wall_ms = entry->updated_wall_ms;
    if (!progress) {
        memcpy(out, entry->message, MCP__TASK_MESSAGE_SIZE);
        return;
    }
    pthread_mutex_lock(&progress->lock);
    memcpy(out, progress->said, MCP__TASK_MESSAGE_SIZE);
    if (progress->said_wall_ms > *updated_wall_ms)
        *updated_wall_ms = progress->said_wall_ms;
    pthread_mutex_unlock(&progress->lock);
}

/* ---- a Task ----------------------------------------------------------------------------------- */

static void write_time(mcp_json_writer *writer, const char *name, int64_t wall_ms)
{
    char text[MCP_CLOCK_UTC_SIZE];

    mcp_clock_utc(text, wall_ms, 1);
    mcp_write_member_string(writer, name, text);
}

void mcp__task_write(const mcp__task_entry *entry, mcp_json_writer *writer)
{
    const struct names *named = &names[entry->is_stateless];
    char message[MCP__TASK_MESSAGE_SIZE];
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
        mcp__asking_write_open(entry->call, writer);
        mcp_write_end(writer);
    } else if (entry->status == MCP__TASK_COMPLETED || entry->status == MCP__TASK_FAILED) {
        mcp_write_name(writer, entry->is_error ? "error" : "result");
        mcp_write_raw(writer, entry->outcome, entry->outcome_length);
    }
}

void mcp__task_render_outcome(mcp_call *call)
{
    const mcp__task_entry *entry = call->awaits;
    mcp_json_writer writer;

    if (call->status != MCP_OK || !mcp__task_is_over(entry)) {
        mcp__reply_render(call);
        return;
    }
    mcp_json_writer_init(&writer, &call->reply);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "jsonrpc", "2.0");
    mcp_write_member_value(&writer, "id", call->id);
    mcp_write_name(&writer, entry->is_error ? "error" : "result");
    mcp_write_raw(&writer, entry->outcome, entry->outcome_length);
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        return;
    mcp_buf_clear(&call->reply);
    call->status = mcp_error_set(&call->err, mcp_json_writer_status(&writer),
                                 "the task's result cannot be written");
    mcp__reply_render(call);
}

/* ---- news of it ------------------------------------------------------------------------------- */

static void tell_session(mcp__task_entry *entry)
{
    mcp__session *session = entry->session;
    mcp_json_writer writer;
    mcp_buf message;

    if (!session || !session->news || session->revision != MCP_2025_11_25)
        return;
    mcp_buf_init(&message, MESSAGE_MAX);
    mcp_json_writer_init(&writer, &message);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "jsonrpc", "2.0");
    mcp_write_member_string(&writer, "method", "notifications/tasks/status");
    mcp_write_member_object(&writer, "params");
    mcp__task_write(entry, &writer);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        session->news->notify(session->news, &message);
    mcp_buf_clear(&message);
}

void mcp__task_tell(mcp__task_entry *entry)
{
    if (!entry->is_stateless)
        tell_session(entry);
    else
        mcp__subscribe_tell_task(entry);
}
