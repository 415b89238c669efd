/*
 * log.h - the program's log while it serves: one JSON object a line, on standard error and, where LOG_FILE
 * names one, in a file as well. Never a state, never a token.
 *
 *     {"time":"2026-01-17T08:00:00.123Z","level":"debug","component":"command-gateway",
 *      "message":"command","universeId":"u-1","type":"addStar","outcome":"applied","durationMs":2.1}
 */
#ifndef UNIVERSE_LOG_H
#define UNIVERSE_LOG_H

#include <stdint.h>

#include "mcp/error.h"
#include "mcp/log.h"

/** Who speaks. */
typedef enum universe_component {
    UNIVERSE_LOG_SERVICE,  /* "command-service": commits, snapshots, the log in the database */
    UNIVERSE_LOG_GATEWAY,  /* "command-gateway": commands through REST */
    UNIVERSE_LOG_MCP,      /* "mcp-server": the server, and commands through MCP */
    UNIVERSE_LOG_DATABASE, /* "database" */
    UNIVERSE_LOG_COMPONENTS
} universe_component;

typedef struct universe_logger universe_logger;

/** One component's way to the log. */
typedef struct universe_log_channel {
    const universe_logger *logger;
    const char *component;
} universe_log_channel;

/** The log; read-only while serving. */
struct universe_logger {
    mcp_log_level level;
    int file; /* -1: none */
    universe_log_channel channels[UNIVERSE_LOG_COMPONENTS];
};

/** The names that --log-level and LOG_LEVEL may have, ended by NULL. */
extern const char *const universe_log_levels[];

/**
 * Open the log.
 *
 * @param logger the caller's; stays where it is until universe_logger_close
 * @param level  one of universe_log_levels
 * @param path   a file that lines are appended to; NULL: none
 * @return MCP_OK; MCP_E_IO: the file cannot be opened
 */
mcp_status universe_logger_open(universe_logger *logger, const char *level, const char *path,
                                mcp_error *err);
void universe_logger_close(universe_logger *logger);

/** The log as the library knows it, under a component's name. */
mcp_log universe_log_of(const universe_logger *logger, universe_component who);

/** A command that was judged. Any thread. */
typedef struct universe_logged {
    const char *id;      /* of the universe; may be NULL */
    const char *type;    /* of the command, "batch", ...; may be NULL */
    const char *outcome; /* "applied", "rejected", "conflict", or a status's words */
    int64_t began_ns;    /* mcp_clock_mono_ns */
} universe_logged;

void universe_log_command(const universe_logger *logger, universe_component who,
                          mcp_log_level level, const universe_logged *what);

#endif
