/*
 * log.c - the members of a line about a command.
 */
#include "gateway/log.h"

#include <string.h>

#include "mcp/clock.h"

enum { TEXT_MAX_BYTES = 256 };

const char *const universe_log_parts[] = {
    [UNIVERSE_LOG_MCP] = "mcp-server",
    [UNIVERSE_LOG_SERVICE] = "command-service",
    [UNIVERSE_LOG_GATEWAY] = "command-gateway",
    [UNIVERSE_LOG_DATABASE] = "database",
    [UNIVERSE_LOG_PARTS] = NULL,
};

/* A client's text may be long: cut between characters. */
static void write_client_text(mcp_json_writer *json, const char *name, const char *text)
{
    size_t length = text ? strnlen(text, TEXT_MAX_BYTES) : 0;
    if (!text)
        return;
    if (length == TEXT_MAX_BYTES)
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
            length--;
    mcp_write_name(json, name);
    mcp_write_string_n(json, text, length);
}

static void add_members(mcp_json_writer *json, const void *data)
{
    const universe_logged *what = data;
    int64_t us = (mcp_clock_mono_ns() - what->began_ns) / 1000;
    write_client_text(json, "universeId", what->id);
    write_client_text(json, "type", what->type);
    mcp_write_member_string(json, "outcome", what->outcome);
    mcp_write_member_double(json, "durationMs", (double)us / 1000.0);
    if (!what->trace)
        return;
    mcp_write_member_string(json, "trace_id", what->trace->trace_id);
    mcp_write_member_string(json, "span_id", what->trace->span_id);
}

void universe_log_command(const serve_log *log, universe_log_part part, mcp_log_level level,
                          const universe_logged *what)
{
    if (log)
        serve_log_line(log, part, level, "command", add_members, what);
}
