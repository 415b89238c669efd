/*
 * log.c - formatting log lines and the sink that programs use.
 *
 * A line is formatted on the stack, made one line of well-formed UTF-8 (it may quote a client) and
 * handed over. The sink for standard error issues one write a line, so lines of threads do not mix.
 */
#include "mcp/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "mcp/clock.h"

#define LINE_MAX_BYTES 1000

void mcp_log_write(const mcp_log *log, mcp_log_level level, const char *format, ...)
{
    char line[LINE_MAX_BYTES + 5];
    va_list arguments;

    if (!log || !log->sink || level == MCP_LOG_OFF || level > log->level)
        return;
    va_start(arguments, format);
    int formatted = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (formatted < 0)
        return;
    mcp__utf8_tidy(line, strlen(line), LINE_MAX_BYTES);
    log->sink(level, line, log->data);
}

const char *mcp_log_level_name(mcp_log_level level)
{
    static const char *const names[] = { "off", "error", "warning", "info", "debug" };

    return (size_t)level < sizeof names / sizeof names[0] ? names[level] : "off";
}

void mcp_log_stderr(mcp_log_level level, const char *message, void *data)
{
    char line[LINE_MAX_BYTES + 64];
    char when[MCP_CLOCK_UTC_SIZE];

    (void)data;
    mcp_clock_utc(when, mcp_clock_wall_ms(), 1);
    int length = snprintf(line, sizeof line - 1, "%s level=%s %s", when, mcp_log_level_name(level),
                          message ? message : "");
    if (length < 0)
        return;
    size_t end = strlen(line);
    line[end] = '\n';
    /* Nobody is left to tell when standard error cannot be written. */
    ssize_t written = write(STDERR_FILENO, line, end + 1);
    (void)written;
}
