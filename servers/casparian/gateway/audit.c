/*
 * audit.c - lines of calls, written at once by workers, and by a thread of its own for the loop,
 * which must not wait for a disk or for another process.
 */
#include "gateway/audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "guard/redact.h"
#include "mcp/alloc.h"
#include "mcp/hash.h"
#include "thread/thread.h"

#define WAITING_MAX 1024 /* lines that the loop has left; further ones are dropped and counted */
#define LINE_MAX_BYTES (GUARD_AUDIT_LINE_MAX - 256) /* less the members of kit/guard */

typedef struct waiting_line {
    STAILQ_ENTRY(waiting_line) next;
    size_t length;
    char text[];
} waiting_line;

struct casparian_audit {
    guard_audit *file;
    const casparian_audit_settings *settings;
    mcp_log log;
    pthread_mutex_t lock; /* of the queue */
    thread_worker worker;
    STAILQ_HEAD(, waiting_line) lines;
    size_t line_count, dropped;
};

/* ---- the file -------------------------------------------------------------------------------- */

static mcp_status put(casparian_audit *self, const mcp_buf *line, mcp_error *err)
{
    if (line->status != MCP_OK)
        return mcp_error_set(err, line->status, "a line of the audit log: %s",
                             mcp_status_words(line->status));
    return guard_audit_write(self->file, line->data, line->length, false, err);
}

static void put_or_log(casparian_audit *self, const mcp_buf *line)
{
    mcp_error err = MCP_ERROR_INIT;
    if (put(self, line, &err) != MCP_OK)
        mcp_log_write(&self->log, MCP_LOG_ERROR, "audit: %s", err.message);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static waiting_line *take_line(casparian_audit *self)
{
    waiting_line *line = STAILQ_FIRST(&self->lines);
    if (!line)
        return NULL;
    STAILQ_REMOVE_HEAD(&self->lines, next);
    self->line_count--;
    return line;
}

static void write_waiting(casparian_audit *self, waiting_line *line)
{
    mcp_error err = MCP_ERROR_INIT;
    if (guard_audit_write(self->file, line->text, line->length, false, &err) != MCP_OK)
        mcp_log_write(&self->log, MCP_LOG_ERROR, "audit: %s", err.message);
    free(line);
}

/* Until it is stopped, and then until no line waits. */
static void run(void *data)
{
    casparian_audit *self = data;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        waiting_line *line = take_line(self);
        if (!line && self->worker.is_stopping)
            break;
        if (!line) {
            thread_worker_wait(&self->worker, THREAD_FOREVER);
            continue;
        }
        pthread_mutex_unlock(&self->lock);
        write_waiting(self, line);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}

static void put_later(casparian_audit *self, const mcp_buf *text)
{
    waiting_line *line = text->status == MCP_OK ? mcp_alloc(sizeof *line + text->length) : NULL;
    if (line) {
        line->length = text->length;
        memcpy(line->text, text->data, text->length);
    }
    pthread_mutex_lock(&self->lock);
    bool is_full = self->line_count >= WAITING_MAX;
    if (line && !is_full) {
        STAILQ_INSERT_TAIL(&self->lines, line, next);
        self->line_count++;
        thread_worker_wake(&self->worker);
        line = NULL;
    } else {
        self->dropped++;
    }
    pthread_mutex_unlock(&self->lock);
    if (is_full)
        mcp_log_write(&self->log, MCP_LOG_ERROR, "audit: a line is lost, %d wait", WAITING_MAX);
    free(line);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The seed calls the log mcp_audit.log. */
static void link_old_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char link[4096];
    if (strcmp(name, "mcp_audit.ndjson") != 0)
        return;
    int length = snprintf(link, sizeof link, "%.*smcp_audit.log", (int)(name - path), path);
    if (length > 0 && (size_t)length < sizeof link)
        (void)!symlink(name, link); /* there is one already, or none is needed */
}

mcp_status casparian_audit_open(casparian_audit **out, const char *path,
                                const casparian_audit_settings *settings, const mcp_log *log,
                                mcp_error *err)
{
    casparian_audit *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the audit log");
    self->settings = settings;
    self->log = *log;
    STAILQ_INIT(&self->lines);
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->worker, &self->lock);
    mcp_status st = guard_audit_open(&self->file, path, &settings->file, err);
    if (st == MCP_OK)
        st = thread_worker_start(&self->worker, run, self, err);
    if (st != MCP_OK) {
        casparian_audit_close(self);
        return st;
    }
    link_old_name(path);
    *out = self;
    return MCP_OK;
}

void casparian_audit_close(casparian_audit *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->worker);
    guard_audit_close(self->file);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

guard_audit *casparian_audit_file(const casparian_audit *self)
{
    return self ? self->file : NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void begin(mcp_json_writer *json, mcp_buf *line, const char *type)
{
    mcp_buf_init(line, LINE_MAX_BYTES);
    mcp_json_writer_init(json, line);
    mcp_write_object(json);
    mcp_write_member_string(json, "type", type);
}

/* At most `max` bytes of UTF-8, without half a character. */
static size_t cut(const char *text, size_t length, size_t max)
{
    if (length <= max)
        return length;
    length = max;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return length;
}

static void write_cut(mcp_json_writer *json, const char *name, const char *text, size_t length,
                      size_t max)
{
    mcp_write_name(json, name);
    mcp_write_string_n(json, text, cut(text, length, max));
}

/* The arguments as JSON with secret members masked; NULL with a status without memory. */
static void write_arguments(mcp_buf *out, const mcp_json *arguments)
{
    mcp_json_writer json;
    mcp_buf_init(out, (size_t)8 << 20);
    mcp_json_writer_init(&json, out);
    guard_redact_write(&json, arguments, NULL);
}

static void write_arguments_hash(mcp_json_writer *json, const mcp_json *arguments)
{
    uint8_t digest[MCP_SHA256_SIZE];
    char hex[2 * MCP_SHA256_SIZE + 1];
    mcp_json_writer plain;
    mcp_buf text;
    mcp_buf_init(&text, (size_t)8 << 20);
    mcp_json_writer_init(&plain, &text);
    mcp_write_value(&plain, arguments);
    if (text.status == MCP_OK && mcp_sha256(digest, text.data, text.length, NULL) == MCP_OK) {
        for (size_t i = 0; i < sizeof digest; i++)
            snprintf(hex + 2 * i, 3, "%02x", digest[i]);
        mcp_write_member_string(json, "args_sha256", hex);
    }
    mcp_buf_clear(&text);
}

static void make_request(mcp_buf *line, const casparian_audit_call *call)
{
    mcp_json_writer json;
    mcp_buf arguments;
    begin(&json, line, "request");
    mcp_write_member_value(&json, "id", call->id);
    mcp_write_member_string(&json, "method", "tools/call");
    mcp_write_member_string(&json, "tool", call->tool);
    write_arguments(&arguments, call->arguments);
    if (arguments.data)
        write_cut(&json, "params_summary", arguments.data, arguments.length,
                  CASPARIAN_AUDIT_PARAMS_MAX);
    mcp_buf_clear(&arguments);
    mcp_write_end(&json);
}

static void make_tool_call(mcp_buf *line, const casparian_audit_call *call)
{
    mcp_json_writer json;
    begin(&json, line, "tool_call");
    mcp_write_member_value(&json, "id", call->id);
    mcp_write_member_string(&json, "tool", call->tool);
    mcp_write_member_bool(&json, "success", !call->error_code);
    mcp_write_member_int(&json, "duration_ms", call->duration_ms);
    write_arguments_hash(&json, call->arguments);
    if (call->error_code)
        mcp_write_member_string(&json, "error_code", call->error_code);
    mcp_write_member_int(&json, "response_bytes", (int64_t)call->response_bytes);
    if (call->rows >= 0)
        mcp_write_member_int(&json, "rows", call->rows);
    if (call->redaction)
        mcp_write_member_string(&json, "redaction_mode", call->redaction);
    mcp_write_end(&json);
}

static void make_response(mcp_buf *line, const casparian_audit_call *call)
{
    mcp_json_writer json;
    begin(&json, line, "response");
    mcp_write_member_value(&json, "id", call->id);
    mcp_write_member_bool(&json, "success", true);
    mcp_write_member_bool(&json, "tool_is_error", call->error_code != NULL);
    if (call->error_code)
        mcp_write_member_string(&json, "error_code", call->error_code);
    if (call->preview)
        write_cut(&json, "tool_content_preview", call->preview, call->preview_length,
                  CASPARIAN_AUDIT_PREVIEW_MAX);
    mcp_write_end(&json);
}

mcp_status casparian_audit_request(casparian_audit *self, const casparian_audit_call *call,
                                   mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_buf line;
    if (!self)
        return MCP_OK;
    make_request(&line, call);
    mcp_status st = put(self, &line, &cause);
    mcp_buf_clear(&line);
    if (st == MCP_OK)
        return MCP_OK;
    mcp_log_write(&self->log, MCP_LOG_ERROR, "audit: %s", cause.message);
    return self->settings->is_required
               ? mcp_error_set(err, st, "%s; [audit] required lets no call pass without it",
                               cause.message)
               : MCP_OK;
}

void casparian_audit_response(casparian_audit *self, const casparian_audit_call *call)
{
    mcp_buf line;
    if (!self)
        return;
    make_tool_call(&line, call);
    put_or_log(self, &line);
    mcp_buf_clear(&line);
    make_response(&line, call);
    put_or_log(self, &line);
    mcp_buf_clear(&line);
}

void casparian_audit_refused(casparian_audit *self, const casparian_audit_call *call)
{
    mcp_buf line;
    if (!self)
        return;
    make_request(&line, call);
    put_later(self, &line);
    mcp_buf_clear(&line);
    make_tool_call(&line, call);
    put_later(self, &line);
    mcp_buf_clear(&line);
    make_response(&line, call);
    put_later(self, &line);
    mcp_buf_clear(&line);
}

void casparian_audit_security(casparian_audit *self, const char *rule, const char *tool,
                              const char *detail)
{
    mcp_json_writer json;
    mcp_buf line;
    if (!self)
        return;
    begin(&json, &line, "security");
    mcp_write_member_string(&json, "rule", rule);
    mcp_write_member_string(&json, "tool", tool);
    write_cut(&json, "detail", detail, strlen(detail), CASPARIAN_AUDIT_PARAMS_MAX);
    mcp_write_end(&json);
    put_or_log(self, &line);
    mcp_buf_clear(&line);
}

void casparian_audit_server(casparian_audit *self, const char *action,
                            void (*add)(mcp_json_writer *json, const void *data), const void *data)
{
    mcp_json_writer json;
    mcp_buf line;
    if (!self)
        return;
    begin(&json, &line, "server");
    mcp_write_member_string(&json, "action", action);
    if (add)
        add(&json, data);
    mcp_write_end(&json);
    put_or_log(self, &line);
    mcp_buf_clear(&line);
}
