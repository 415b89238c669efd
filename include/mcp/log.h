/**
 * log.h - where the library's log lines go.
 *
 * The library prints nothing. It hands each line to the sink that the program gave; with none, lines
 * are dropped. mcp_log_stderr is a ready sink for programs.
 */
#ifndef MCP_LOG_H
#define MCP_LOG_H

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How much is logged, rising. */
typedef enum mcp_log_level {
    MCP_LOG_OFF,
    MCP_LOG_ERROR,
    MCP_LOG_WARNING,
    MCP_LOG_INFO,
    MCP_LOG_DEBUG
} mcp_log_level;

/**
 * Takes one line. May run on any thread, several at once; must not call back into the server.
 *
 * @param message one line without its newline; borrowed
 */
typedef void mcp_log_sink(mcp_log_level level, const char *message, void *data);

/** Where log lines go, and which. */
typedef struct mcp_log {
    mcp_log_sink *sink;  /* NULL: nothing is logged */
    void *data;          /* given to the sink */
    mcp_log_level level; /* lines above it are not even formatted; zero means off */
} mcp_log;

/** Format a line and hand it to the sink. `log` may be NULL. Longer than 1000 bytes: cut. */
void mcp_log_write(const mcp_log *log, mcp_log_level level, const char *format, ...)
    MCP_PRINTF(3, 4);

/** "error", "warning", "info", "debug", "off". */
const char *mcp_log_level_name(mcp_log_level level);

/** A sink: one write to standard error a line, "2026-01-17T08:00:00.123Z level=info message". */
void mcp_log_stderr(mcp_log_level level, const char *message, void *data);

#ifdef __cplusplus
}
#endif

#endif
