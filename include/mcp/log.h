/**
 * log.h - the library's log output.
 *
 * The library prints nothing. It passes each log line to the sink that the program set; without a
 * sink, lines are dropped. mcp_log_stderr is a ready-made sink for programs.
 */
#ifndef MCP_LOG_H
#define MCP_LOG_H

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Log levels, in order of increasing detail. */
typedef enum mcp_log_level {
    MCP_LOG_OFF,
    MCP_LOG_ERROR,
    MCP_LOG_WARNING,
    MCP_LOG_INFO,
    MCP_LOG_DEBUG
} mcp_log_level;

/**
 * Receives one log line. Runs on any thread, several at once; must not call into the server.
 *
 * @param message one line without its newline; borrowed
 */
typedef void mcp_log_sink(mcp_log_level level, const char *message, void *data);

/** Destination and level of log lines. */
typedef struct mcp_log {
    mcp_log_sink *sink;  /* NULL: nothing is logged */
    void *data;          /* passed to the sink */
    mcp_log_level level; /* more detailed lines are not even formatted; 0: off */
} mcp_log;

/** Format a line and pass it to the sink, cut at 1000 bytes. `log` may be NULL. */
void mcp_log_write(const mcp_log *log, mcp_log_level level, const char *format, ...)
    MCP_PRINTF(3, 4);

/** The name of a level: "error", "warning", "info", "debug" or "off". */
const char *mcp_log_level_name(mcp_log_level level);

/** A sink that writes each line to standard error in one write: 
 *  "2026-01-17T08:00:00.123Z level=info message". */
void mcp_log_stderr(mcp_log_level level, const char *message, void *data);

#ifdef __cplusplus
}
#endif

#endif
