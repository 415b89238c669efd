/*
 * log.c - lines of the log: put together in a bounded buffer and written by one write each, so that lines of
 * threads do not mix. A line that cannot be written is lost: nobody is left to tell.
 */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "mcp/buf.h"
#include "mcp/clock.h"
#include "mcp/json.h"

enum { LINE_MAX_BYTES = 16384, TEXT_MAX_BYTES = 256 };

const char *const universe_log_levels[] = { "off",  "fatal", "error", "warn", "warning",
                                            "info", "debug", "trace", NULL };

static const char *const components[UNIVERSE_LOG_COMPONENTS] = { "command-service",
                                                                 "command-gateway", "mcp-server",
                                                                 "database" };

static mcp_log_level level_of(const char *name)
{
    static const mcp_log_level levels[] = { MCP_LOG_OFF,     MCP_LOG_ERROR,   MCP_LOG_ERROR,
                                            MCP_LOG_WARNING, MCP_LOG_WARNING, MCP_LOG_INFO,
                                            MCP_LOG_DEBUG,   MCP_LOG_DEBUG };
    for (size_t i = 0; universe_log_levels[i]; i++) {
        if (strcmp(universe_log_levels[i], name) == 0)
            return levels[i];
    }
    return MCP_LOG_INFO;
}

mcp_status universe_logger_open(universe_logger *logger, const char *level, const char *path,
                                mcp_error *err)
{
    *logger = (universe_logger){ .level = level_of(level), .file = -1 };
    for (int i = 0; i < UNIVERSE_LOG_COMPONENTS; i++)
        logger->channels[i] = (universe_log_channel){ logger, components[i] };
    if (!path)
        return MCP_OK;
    logger->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (logger->file < 0)
        return mcp_error_errno(err, errno, "%s cannot be opened for the log", path);
    return MCP_OK;
}

void universe_logger_close(universe_logger *logger)
{
    if (logger->file >= 0)
        close(logger->file);
    logger->file = -1;
}

static void begin_line(mcp_json_writer *json, mcp_buf *line, mcp_log_level level,
                       const char *component, const char *message)
{
    char when[MCP_CLOCK_UTC_SIZE];
    mcp_clock_utc(when, mcp_clock_wall_ms(), 1);
    mcp_buf_init(line, LINE_MAX_BYTES);
    mcp_json_writer_init(json, line);
    mcp_write_object(json);
    mcp_write_member_string(json, "time", when);
    mcp_write_member_string(json, "level", mcp_log_level_name(level));
    mcp_write_member_string(json, "component", component);
    mcp_write_member_string(json, "message", message);
}

static void end_line(mcp_json_writer *json, mcp_buf *line, int file)
{
    mcp_write_end(json);
    if (mcp_json_writer_status(json) == MCP_OK && mcp_buf_putc(line, '\n') == MCP_OK) {
        ssize_t written = write(STDERR_FILENO, line->data, line->length);
        if (file >= 0)
            written = write(file, line->data, line->length);
        (void)written;
    }
    mcp_buf_clear(line);
}

static void sink(mcp_log_level level, const char *message, void *data)
{
    const universe_log_channel *channel = data;
    mcp_json_writer json;
    mcp_buf line;
    begin_line(&json, &line, level, channel->component, message);
    end_line(&json, &line, channel->logger->file);
}

mcp_log universe_log_of(const universe_logger *logger, universe_component who)
{
    return (mcp_log){ sink, (void *)(uintptr_t)&logger->channels[who], logger->level };
}

/* What a client chose may be long, and ends up cut between characters. */
static void write_client_text(mcp_json_writer *json, const char *name, const char *text)
{
    size_t length = text ? strnlen(text, TEXT_MAX_BYTES) : 0;
    if (!text)
        return;
    while (length == TEXT_MAX_BYTES && length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    mcp_write_name(json, name);
    mcp_write_string_n(json, text, length);
}

void universe_log_command(const universe_logger *logger, universe_component who,
                          mcp_log_level level, const universe_logged *what)
{
    mcp_json_writer json;
    mcp_buf line;
    if (!logger || level > logger->level)
        return;
    begin_line(&json, &line, level, logger->channels[who].component, "command");
    write_client_text(&json, "universeId", what->id);
    write_client_text(&json, "type", what->type);
    mcp_write_member_string(&json, "outcome", what->outcome);
    mcp_write_member_double(&json, "durationMs",
                            (double)((mcp_clock_mono_ns() - what->began_ns) / 1000) / 1000.0);
    end_line(&json, &line, logger->file);
}
