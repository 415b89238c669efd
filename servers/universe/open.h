/*
 * open.h - the database that a command of the program works on, and the service on it.
 */
#ifndef UNIVERSE_OPEN_H
#define UNIVERSE_OPEN_H

#include "cli/cli.h"
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

/**
 * Open the database and the service on it, for a command that works and ends.
 *
 * @param rules     of what is accepted
 * @param read_only the database must be there, and nothing is changed
 */
mcp_status universe_line_open(universe_service **service, db **database, const cli_line *line,
                              const universe_rules *rules, bool read_only, mcp_error *err);

/** What the program exits with after a command that ended with `status`. */
int universe_exit_of(mcp_status status);

/** Tell the failure: on standard error, and with --json as one object on standard output. */
int universe_line_failed(const cli_line *line, mcp_status status, const mcp_error *err);

/** From now on SIGINT and SIGTERM ask a command to stop, the second time they end it. */
void universe_catch_signals(void);

/** Whether one has asked. */
bool universe_is_stopped(void);

#endif
