/*
 * log.h - lines of the log about commands (kit/serve/log.h has the others). Never a state, never a
 * token.
 *
 *     {"time":"2026-01-17T08:00:00.123Z","level":"debug","component":"command-gateway",
 *      "message":"command","universeId":"u-1","type":"addStar","outcome":"applied",
 *      "durationMs":2.1,"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331"}
 */
#ifndef UNIVERSE_LOG_H
#define UNIVERSE_LOG_H

#include <stdint.h>

#include "mcp/call.h"
#include "serve/log.h"

/** The parts of the program that log: indices of universe_log_parts. */
typedef enum universe_log_part {
    UNIVERSE_LOG_MCP,      /* "mcp-server": the server, and commands through MCP */
    UNIVERSE_LOG_SERVICE,  /* "command-service": commits, snapshots, the log in the database */
    UNIVERSE_LOG_GATEWAY,  /* "command-gateway": commands through REST */
    UNIVERSE_LOG_DATABASE, /* "database" */
    UNIVERSE_LOG_PARTS
} universe_log_part;

/** Their names, for serve_server. */
extern const char *const universe_log_parts[];

/** A command that was judged. */
typedef struct universe_logged {
    const char *id;         /* of the universe; may be NULL */
    const char *type;       /* of the command, "batch", ...; may be NULL */
    const char *outcome;    /* "applied", "rejected", "conflict", or a status's words */
    int64_t began_ns;       /* mcp_clock_mono_ns */
    const mcp_trace *trace; /* of its call; NULL: none */
} universe_logged;

/** Log a command. Any thread. `log` may be NULL. */
void universe_log_command(const serve_log *log, universe_log_part part, mcp_log_level level,
                          const universe_logged *what);

#endif
