/*
 * progress.c - reports and log messages from a handler to its client, as many as the client can
 * use.
 *
 *     worker: mcp_call_progress -> formats -> [list in the call] -> posts one node -> loop: deliver
 *
 * A handler may report a million times a second and must never wait. So a report that is not marked
 * `every` takes the place of one that has not left yet, and the loop lets one leave every 20 ms, or
 * 16 at once after a silence: a report that is held leaves in one write with the answer, and then
 * clients drop it. Those marked `every` are kept in line, up to 64; they are thinned only while the
 * client does not read.
 *
 * Log messages stand in the same line, marked `every`, so that they keep their place among the
 * reports.
 *
 * The loop delivers again when the table says that a report is due, or when a slow client has taken
 * something. The newest report always leaves before the answer, and none after it.
 *
 * `lock` guards the list; it is never held while something is formatted, posted or sent.
 */
#include "mcp/core/call/call_int.h"
#include "mcp/core/call/suspend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "mcp/clock.h"
#include "mcp/core/response.h"

#define SPACING_MS 20
#define BURST_MS (15 * SPACING_MS) /* as many reports may leave at once after a silence */
#define REPORTS_MAX 64
#define REPORT_MAX_BYTES ((size_t)64 * 1024)
#define LOG_TEXT_SIZE 4096

struct mcp__report {
    TAILQ_ENTRY(mcp__report) line;
    mcp_buf message;
    bool every;
};

static void report_free(struct mcp__report *report)
{
    if (!report)
        return;
    mcp_buf_clear(&report->message);
    free(report);
}

/* ---- on the worker --------------------------------------------------------------------------- */

/* Begin a report: its params are open. NULL: there is no memory. */
static struct mcp__report *report_begin(mcp_json_writer *writer, const char *method, bool every)
{
    struct mcp__report *report = mcp_alloc_zeroed(1, sizeof *report);

    if (!report)
        return NULL;
    report->every = every;
    mcp__notification_begin(writer, &report->message, REPORT_MAX_BYTES, method);
    mcp_write_member_object(writer, "params");
    return report;
}

/* Put the report in line, or in the place of the last one. Returns whether the loop must be
 * told. */
static bool enqueue(mcp__progress *progress, struct mcp__report *report)
{
    pthread_mutex_lock(&progress->lock);
    struct mcp__report *last = TAILQ_LAST(&progress->reports, mcp__reports);
    bool replaces = last && ((!last->every && !report->every) || progress->count >= REPORTS_MAX);
    if (replaces)
        TAILQ_REMOVE(&progress->reports, last, line);
    else
        progress->count++;
    TAILQ_INSERT_TAIL(&progress->reports, report, line);
    bool post = !progress->is_posted;
    progress->is_posted = true;
    pthread_mutex_unlock(&progress->lock);
    report_free(replaces ? last : NULL);
    return post;
}

/* End the report and send it on its way. Takes it. */
static mcp_status report_end(mcp_call *call, struct mcp__report *report, mcp_json_writer *writer)
{
    mcp_write_end(writer);
    mcp_write_end(writer);
    mcp_status st = mcp_json_writer_status(writer);
    if (st != MCP_OK)
        report_free(report);
    else if (enqueue(&call->progress, report))
        mcp__call_post(call, &call->progress.node);
    return st;
}

/* A handler's text is read, so that nothing but one JSON value can leave. */
static mcp_status read_text(const mcp_json **out, mcp_arena **arena, const char *text)
{
    *arena = mcp_arena_new(0);
    return *arena ? mcp_json_read(out, *arena, text, strlen(text), NULL) : MCP_E_NOMEM;
}

/* Notifications of a task have its note. */
static void write_meta(mcp_json_writer *writer, const char *key, const mcp_json *metadata,
                       const mcp__note *notes)
{
    if (!key && !notes)
        return;
    mcp_write_member_object(writer, "_meta");
    if (key)
        mcp_write_member_value(writer, key, metadata);
    mcp__call_write_notes(notes, writer);
    mcp_write_end(writer);
}

static mcp_status push_progress(mcp_call *call, const mcp_progress *progress,
                                const mcp_json *metadata)
{
    mcp_json_writer writer;
    struct mcp__report *report = report_begin(&writer, "notifications/progress", progress->every);

    if (!report)
        return MCP_E_NOMEM;
    mcp_write_member_value(&writer, "progressToken", call->progress.token);
    mcp_write_member_double(&writer, "progress", progress->progress);
    if (progress->total != 0)
        mcp_write_member_double(&writer, "total", progress->total);
    if (progress->message)
        mcp_write_member_string(&writer, "message", progress->message);
    if (metadata)
        mcp_write_member_value(&writer, "metadata", metadata);
    write_meta(&writer, metadata ? progress->meta_key : NULL, metadata, call->answer.notes);
    return report_end(call, report, &writer);
}

/* For the status of a task. */
static void keep_text(mcp__progress *progress, const char *message)
{
    char tidy[MCP__PROGRESS_TEXT_SIZE];

    if (!progress->text || !message)
        return;
    (void)snprintf(tidy, sizeof tidy, "%s", message);
    mcp__utf8_tidy(tidy, strlen(tidy), sizeof tidy - 1);
    pthread_mutex_lock(&progress->lock);
    memcpy(progress->text, tidy, sizeof tidy);
    progress->text_wall_ms = mcp_clock_wall_ms();
    pthread_mutex_unlock(&progress->lock);
}

mcp_status mcp_call_progress(mcp_call *call, const mcp_progress *report)
{
    mcp__progress *progress = &call->progress;
    const mcp_json *metadata = NULL;
    mcp_arena *arena = NULL;
    mcp_status st = MCP_OK;

    if (!report)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "a progress report is missing");
    keep_text(progress, report->message);
    if (!progress->token || (progress->has_last && !(report->progress > progress->last)))
        return MCP_OK;
    if (report->metadata)
        st = read_text(&metadata, &arena, report->metadata);
    if (metadata && !mcp_json_is_object(metadata))
        st = MCP_E_PARAMS;
    if (st == MCP_OK)
        st = push_progress(call, report, metadata);
    mcp_arena_free(arena);
    if (st != MCP_OK)
        return mcp_error_set(&call->err, st, "a progress report cannot be written");
    progress->last = report->progress;
    progress->has_last = true;
    return MCP_OK;
}

/* ---- log messages ---------------------------------------------------------------------------- */

static bool wants_log(const mcp_call *call, mcp_level level)
{
    return call->context->options->logging && call->request.log_level != MCP_LEVEL_NONE &&
           level >= call->request.log_level;
}

static mcp_status push_log(mcp_call *call, mcp_level level, const char *logger, const char *text,
                           const mcp_json *data)
{
    const char *level_name = mcp_level_name(level);
    mcp_json_writer writer;

    if (level_name[0] == '\0')
        return mcp_error_set(&call->err, MCP_E_PARAMS, "there is no level %d of log messages",
                             (int)level);
    struct mcp__report *report = report_begin(&writer, "notifications/message", true);
    if (!report)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a log message");
    mcp_write_member_string(&writer, "level", level_name);
    if (logger)
        mcp_write_member_string(&writer, "logger", logger);
    if (data)
        mcp_write_member_value(&writer, "data", data);
    else
        mcp_write_member_string(&writer, "data", text);
    write_meta(&writer, NULL, NULL, call->answer.notes);
    mcp_status st = report_end(call, report, &writer);
    if (st != MCP_OK)
        return mcp_error_set(&call->err, st, "a log message cannot be written");
    return MCP_OK;
}

mcp_status mcp_call_log(mcp_call *call, mcp_level level, const char *logger, const char *format,
                        ...)
{
    char text[LOG_TEXT_SIZE];
    va_list arguments;

    if (!wants_log(call, level))
        return MCP_OK;
    va_start(arguments, format);
    int formatted = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (formatted < 0)
        text[0] = '\0';
    mcp__utf8_tidy(text, strlen(text), sizeof text - 1);
    return push_log(call, level, logger, text, NULL);
}

mcp_status mcp_call_log_json(mcp_call *call, mcp_level level, const char *logger, const char *json)
{
    const mcp_json *data = NULL;
    mcp_arena *arena = NULL;

    if (!json)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "a log message has no data");
    if (!wants_log(call, level))
        return MCP_OK;
    mcp_status st = read_text(&data, &arena, json);
    if (st == MCP_OK)
        st = push_log(call, level, logger, NULL, data);
    else
        st = mcp_error_set(&call->err, st, "the data of a log message is not JSON");
    mcp_arena_free(arena);
    return st;
}

bool mcp_call_wants_progress(const mcp_call *call)
{
    return call->progress.token || call->progress.text;
}

/* ---- on the loop ----------------------------------------------------------------------------- */

static void on_posted(mcp__node *node)
{
    mcp_call *call = (mcp_call *)((char *)node - offsetof(mcp_call, progress.node));
    mcp__progress *progress = &call->progress;

    pthread_mutex_lock(&progress->lock);
    progress->is_posted = false;
    pthread_mutex_unlock(&progress->lock);
    mcp__call_table_due(call->context->calls, mcp__progress_deliver(call, mcp_clock_mono_ms()));
}

void mcp__progress_init(mcp__progress *progress)
{
    *progress = (mcp__progress){ .sent_ms = INT64_MIN / 2 };
    TAILQ_INIT(&progress->reports);
    pthread_mutex_init(&progress->lock, NULL);
    progress->node.run = on_posted;
}

/* With the lock held; there is one. */
static struct mcp__report *pop(mcp__progress *progress)
{
    struct mcp__report *report = TAILQ_FIRST(&progress->reports);

    TAILQ_REMOVE(&progress->reports, report, line);
    progress->count--;
    return report;
}

/* Free all but the newest `keep`. */
static void drop(mcp__progress *progress, size_t keep)
{
    struct mcp__report *report;

    do {
        pthread_mutex_lock(&progress->lock);
        report = progress->count > keep ? pop(progress) : NULL;
        pthread_mutex_unlock(&progress->lock);
        report_free(report);
    } while (report);
}

void mcp__progress_clear(mcp__progress *progress)
{
    drop(progress, 0);
    pthread_mutex_destroy(&progress->lock);
}

/* The next report that may leave now, or NULL. *due_ms: when one may, if it has to wait. */
static struct mcp__report *next_report(mcp__progress *progress, int64_t now_ms, int64_t *due_ms)
{
    struct mcp__report *report = NULL;

    *due_ms = INT64_MAX;
    pthread_mutex_lock(&progress->lock);
    const struct mcp__report *first = TAILQ_FIRST(&progress->reports);
    if (first && (first->every || now_ms - progress->sent_ms >= SPACING_MS))
        report = pop(progress);
    else if (first)
        *due_ms = progress->sent_ms + SPACING_MS;
    pthread_mutex_unlock(&progress->lock);
    return report;
}

static void send(mcp_call *call, struct mcp__report *report, int64_t now_ms)
{
    int64_t next_ms = call->progress.sent_ms + SPACING_MS;
    int64_t earliest_ms = now_ms - BURST_MS;

    call->progress.sent_ms = next_ms > earliest_ms ? next_ms : earliest_ms;
    call->notification_peer->notify(call->notification_peer, &report->message);
    report_free(report);
}

int64_t mcp__progress_deliver(mcp_call *call, int64_t now_ms)
{
    struct mcp__report *report;
    int64_t due_ms = INT64_MAX;

    if (mcp__call_state_of(call) == MCP__CALL_CLOSED) {
        drop(&call->progress, 0);
        return INT64_MAX;
    }
    for (;;) {
        if (call->notification_peer->is_slow(call->notification_peer)) {
            drop(&call->progress, 1);
            call->context->calls->has_held_reports = true;
            return INT64_MAX;
        }
        report = next_report(&call->progress, now_ms, &due_ms);
        if (!report)
            return due_ms;
        send(call, report, now_ms);
    }
}

void mcp__progress_finish(mcp_call *call)
{
    struct mcp__report *report;
    int64_t due_ms;

    if (call->notification_peer->is_slow(call->notification_peer))
        drop(&call->progress, 1);
    for (report = next_report(&call->progress, INT64_MAX / 2, &due_ms); report != NULL;
         report = next_report(&call->progress, INT64_MAX / 2, &due_ms))
        send(call, report, INT64_MIN / 2);
}

/* ---- the connection of the client ------------------------------------------------------------ */

struct reconnect {
    mcp__node node; /* first */
    mcp_call *call;
};

static void on_reconnect(mcp__node *node)
{
    mcp_call *call = ((struct reconnect *)node)->call;
    mcp__peer *peer = call->notification_peer;

    if (mcp__call_state_of(call) != MCP__CALL_CLOSED && peer->reconnect)
        peer->reconnect(peer);
}

/* Only the peer knows whether its client can come back. The message is the call's memory: what a
 * worker posts is run before its call is done. */
void mcp_call_close_stream(mcp_call *call)
{
    struct reconnect *message = mcp_arena_alloc(call->arena, sizeof *message);

    if (!message) /* the client keeps its connection, that is all */
        return;
    *message = (struct reconnect){ .node.run = on_reconnect, .call = call };
    mcp__call_post(call, &message->node);
}
