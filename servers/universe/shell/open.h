/*
 * open.h - the database that a command of the program works on, and the service on it.
 */
#ifndef UNIVERSE_OPEN_H
#define UNIVERSE_OPEN_H

#include "cli/cli.h"
#include "mcp/buf.h"
#include "service/service.h"

/* The database where none is named. */
#define UNIVERSE_STANDARD_URL "sqlite:universe.db"

/* The row for a table of cli_option. */
/* clang-format off */
#define UNIVERSE_DATABASE_OPTION                                                                   \
    { .name = "db", .type = CLI_STRING, .argument = "URL", .env = "UNIVERSE_DB",                   \
      .help = "sqlite:PATH, postgres://USER@HOST/NAME or memory (default sqlite:universe.db)" }
/* clang-format on */

/**
 * The database's URL: --db, else what DB_PROVIDER and DATABASE_URL say.
 *
 * @param out NULL: none is named
 * @return MCP_OK; MCP_E_PARAMS: an unknown provider, or one that its URL does not belong to
 */
mcp_status universe_database_url(const char **out, const cli_line *line, mcp_error *err);

/**
 * The rules of --validation, --default-dt and --no-negative-dt.
 *
 * @return MCP_OK; MCP_E_PARAMS: --default-dt is no number other than 0
 */
mcp_status universe_rules_read(universe_rules *out, const cli_line *line, mcp_error *err);

/** How a database is opened. */
typedef struct universe_opening {
    universe_rules rules; /* of what is accepted */
    bool read_only;       /* the database must exist, and nothing is changed */
    const char *url;      /* NULL: that of the line, else sqlite:universe.db */
    mcp_log database_log, service_log;
} universe_opening;

/**
 * Open the database of the line and the service on it, within the limits that the line has options
 * for.
 *
 * @param database the caller's to close after the service, also on an error
 * @param service  the caller's to close; untouched on an error
 */
mcp_status universe_open(db **database, universe_service **service, const cli_line *line,
                         const universe_opening *how, mcp_error *err);

/** The resources of a command that works and ends. */
typedef struct universe_work {
    universe_service *service;
    db *database;
    mcp_arena *arena;
    mcp_error err;
} universe_work;

/**
 * Open the database and the service on it; from now on the first SIGINT or SIGTERM asks to stop.
 *
 * @param work      the caller's; universe_work_end ends it, whatever is returned
 * @param rules     of what is accepted
 * @param read_only the database must exist, and nothing is changed
 * @return MCP_OK, or as work->err
 */
mcp_status universe_work_begin(universe_work *work, const cli_line *line,
                               const universe_rules *rules, bool read_only);

/** The same without a database, for a command that needs none. */
mcp_status universe_work_begin_alone(universe_work *work);

/** Close everything, and report the failure where `st` is one. @return the exit status */
int universe_work_end(universe_work *work, const cli_line *line, mcp_status st);

/** Print a JSON text as a line of standard output; the text is cleared. */
mcp_status universe_work_print(const cli_line *line, mcp_buf *text, mcp_status st, mcp_error *err);

/** Whether a signal has asked to stop; the second one ends the program. */
bool universe_is_stopped(void);

#endif
