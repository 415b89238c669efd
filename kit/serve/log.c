/*
 * log.c - lines of the log, assembled in a bounded buffer and written by one write each, so that
 * lines of threads do not mix. A line that cannot be written is dropped: there is nowhere to report
 * it.
 */
#include "serve/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp/buf.h"
#include "mcp/clock.h"

#define LINE_MAX_BYTES 16384
#define PREFIX_LENGTH 3 /* "<4>" */

const char *const serve_log_levels[] = { "off",  "fatal", "error", "warn", "warning",
                                         "info", "debug", "trace", NULL };

static mcp_log_level level_of(const char *name)
{
    static const mcp_log_level levels[] = { MCP_LOG_OFF,     MCP_LOG_ERROR,   MCP_LOG_ERROR,
                                            MCP_LOG_WARNING, MCP_LOG_WARNING, MCP_LOG_INFO,
                                            MCP_LOG_DEBUG,   MCP_LOG_DEBUG };

    for (size_t i = 0; serve_log_levels[i]; i++)
        if (strcmp(serve_log_levels[i], name) == 0)
            return levels[i];
    return MCP_LOG_INFO;
}

/* Whether $JOURNAL_STREAM names standard error, "device:inode": else it is of another program. */
static bool is_journal(void)
{
    const char *text = getenv("JOURNAL_STREAM");
    unsigned long long device = 0, inode = 0;
    struct stat about;
    char end = '\0';

    return text && sscanf(text, "%llu:%llu%c", &device, &inode, &end) == 2 &&
           fstat(STDERR_FILENO, &about) == 0 && about.st_dev == device && about.st_ino == inode;
}

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

mcp_status serve_log_open(serve_log *log, const char *level, const char *path,
                          const char *const *parts, mcp_error *err)
{
    *log = (serve_log){
        .level = level_of(level), .file = -1, .path = path, .is_journal = is_journal()
    };
    log->channels[0].log = log;
    for (size_t i = 0; parts && i < SERVE_LOG_PARTS_MAX && parts[i]; i++)
        log->channels[i] = (serve_log_channel){ log, parts[i] };
    if (path)
        log->file = open_file(path);
    if (path && log->file < 0)
        return mcp_error_errno(err, errno, "%s cannot be opened for the log", path);
    return MCP_OK;
}

mcp_status serve_log_reopen(const serve_log *log, mcp_error *err)
{
    if (!log->path)
        return MCP_OK;
    int file = open_file(log->path);
    /* The descriptor keeps its number, so that threads that write meanwhile need no lock. */
    if (file < 0 || dup3(file, log->file, O_CLOEXEC) < 0)
        return mcp_error_errno(err, errno, "%s cannot be opened for the log", log->path);
    (void)close(file);
    return MCP_OK;
}

void serve_log_close(serve_log *log)
{
    if (log && log->file >= 0)
        close(log->file);
    if (log)
        log->file = -1;
}

/* The levels of syslog(3). */
static const char *journal_prefix(mcp_log_level level)
{
    switch (level) {
    case MCP_LOG_ERROR:
        return "<3>";
    case MCP_LOG_WARNING:
        return "<4>";
    case MCP_LOG_INFO:
        return "<6>";
    default:
        return "<7>";
    }
}

static void begin_line(mcp_buf *line, const serve_log *log, mcp_log_level level)
{
    mcp_buf_init(line, LINE_MAX_BYTES);
    mcp_buf_puts(line, log->is_journal ? journal_prefix(level) : "");
}

/* Ends, writes and frees the line. */
static void write_line(mcp_buf *line, const serve_log *log)
{
    size_t prefix = log->is_journal ? PREFIX_LENGTH : 0;

    if (mcp_buf_putc(line, '\n') == MCP_OK) {
        ssize_t written = write(STDERR_FILENO, line->data, line->length);
        if (log->file >= 0)
            written = write(log->file, line->data + prefix, line->length - prefix);
        (void)written;
    }
    mcp_buf_clear(line);
}

static void write_json(const serve_log_channel *channel, mcp_log_level level, const char *message,
                       void (*add)(mcp_json_writer *json, const void *data), const void *data)
{
    char when[MCP_CLOCK_UTC_SIZE];
    mcp_json_writer json;
    mcp_buf line;

    mcp_clock_utc(when, mcp_clock_wall_ms(), 1);
    begin_line(&line, channel->log, level);
    mcp_json_writer_init(&json, &line);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "time", when);
    mcp_write_member_string(&json, "level", mcp_log_level_name(level));
    mcp_write_member_string(&json, "component", channel->part);
    mcp_write_member_string(&json, "message", message);
    if (add)
        add(&json, data);
    mcp_write_end(&json);
    write_line(&line, channel->log);
}

/* An mcp_log_sink. */
static void take_line(mcp_log_level level, const char *message, void *data)
{
    const serve_log_channel *channel = data;
    char when[MCP_CLOCK_UTC_SIZE];
    mcp_buf line;

    if (channel->part) {
        write_json(channel, level, message, NULL, NULL);
        return;
    }
    mcp_clock_utc(when, mcp_clock_wall_ms(), 1);
    begin_line(&line, channel->log, level);
    mcp_buf_printf(&line, "%s level=%s %s", when, mcp_log_level_name(level), message);
    write_line(&line, channel->log);
}

mcp_log serve_log_of(const serve_log *log, unsigned part)
{
    /* Only read. NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return (mcp_log){ take_line, (void *)(uintptr_t)&log->channels[part], log->level };
}

void serve_log_line(const serve_log *log, unsigned part, mcp_log_level level, const char *message,
                    void (*add)(mcp_json_writer *json, const void *data), const void *data)
{
    if (level <= log->level)
        write_json(&log->channels[part], level, message, add, data);
}
