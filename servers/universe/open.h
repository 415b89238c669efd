/*
 * open.h - the database that a command of the program works on, and the service on it.
 */
#ifndef UNIVERSE_OPEN_H
#define UNIVERSE_OPEN_H

#include "cli/cli.h"
#include "mcp/buf.h"
#include "service/service.h"

/* The row for a table of cli_option. */
/* clang-format off */
#define UNIVERSE_DATABASE_OPTION                                                                   \
    { .name = "db", .type = CLI_STRING, .argument = "URL",                                         \
      .help = "sqlite:PATH, postgres://USER@HOST/NAME or memory (default sqlite:universe.db)" }
/* clang-format on */

/**
 * The database's URL: --db, else what DB_PROVIDER and DATABASE_URL say, else sqlite:universe.db.
 *
 * @return MCP_OK; MCP_E_PARAMS: an unknown provider, or one that its URL does not belong to
 */
mcp_status universe_database_url(const char **out, const cli_line *line, mcp_error *err);

/** What a command that works and ends has open. */
typedef struct universe_work {
    universe_service *service;
    db *database;
    mcp_arena *arena;
    mcp_error err;
} universe_work;

/**
 * Open the database and the service on it; from now on SIGINT and SIGTERM ask to stop.
 *
 * @param work      the caller's; universe_work_end ends it, whatever is returned
 * @param rules     of what is accepted
 * @param read_only the database must be there, and nothing is changed
 * @return MCP_OK, or what work->err says
 */
mcp_status universe_work_begin(universe_work *work, const cli_line *line,
                               const universe_rules *rules, bool read_only);

/** The same without a database, for a command that needs none. */
mcp_status universe_work_begin_alone(universe_work *work);

/** Close all, and tell the failure where `st` is one. @return the exit status */
int universe_work_end(universe_work *work, const cli_line *line, mcp_status st);

/** Print a JSON text as a line of standard output; the text is cleared. */
mcp_status universe_work_print(const cli_line *line, mcp_buf *text, mcp_status st, mcp_error *err);

/** What the program exits with after a command that ended with `status`. */
int universe_exit_of(mcp_status status);

/** Whether a signal has asked to stop; the second one ends the program. */
bool universe_is_stopped(void);

#endif
