/**
 * log.h - the log of a program while it serves: lines on standard error and, with --log-file, in a
 * file.
 *
 * A program without parts logs text, as mcp_log_stderr does. A program with parts logs JSON:
 *
 *     {"time":"2026-01-17T08:00:00.123Z","level":"debug","component":"database","message":"..."}
 *
 * Where standard error is the journal of systemd ($JOURNAL_STREAM), a line there begins with its
 * level as the journal reads it (sd-daemon(3)): "<4>".
 */
#ifndef SERVE_LOG_H
#define SERVE_LOG_H

#include "mcp/error.h"
#include "mcp/json.h"
#include "mcp/log.h"

/** How many parts a program may have. */
#define SERVE_LOG_PARTS_MAX 8

typedef struct serve_log serve_log;

/** One part's channel to the log. */
typedef struct serve_log_channel {
    const serve_log *log;
    const char *part; /* NULL: text */
} serve_log_channel;

/** The log; never changes while the program serves, so threads may share it. */
struct serve_log {
    mcp_log_level level;
    int file; /* -1: none */
    const char *path;
    bool is_journal; /* standard error */
    serve_log_channel channels[SERVE_LOG_PARTS_MAX];
};

/** The choices of --log-level, ending with NULL. */
extern const char *const serve_log_levels[];

/**
 * Open the log.
 *
 * @param log   the caller's; stays in place until serve_log_close
 * @param level one of serve_log_levels
 * @param path  a file that lines are appended to, borrowed; NULL: none
 * @param parts names, ending with NULL; NULL: lines are text
 * @return MCP_OK; MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO: the file cannot be opened
 */
mcp_status serve_log_open(serve_log *log, const char *level, const char *path,
                          const char *const *parts, mcp_error *err);

/** Open the file again under its path, after it was renamed for rotation. After an error the
 *  earlier one is written to. Any thread. @return as serve_log_open */
mcp_status serve_log_reopen(const serve_log *log, mcp_error *err);

/** NULL and a log that is zero but for `file` -1 are fine. */
void serve_log_close(serve_log *log);

/** The log of the part with this index, for the library and the kit. */
mcp_log serve_log_of(const serve_log *log, unsigned part);

/**
 * Write one line with further members, where the level is logged. Only for a log with parts. Any
 * thread.
 *
 * @param add writes the members
 */
void serve_log_line(const serve_log *log, unsigned part, mcp_log_level level, const char *message,
                    void (*add)(mcp_json_writer *json, const void *data), const void *data);

#endif
