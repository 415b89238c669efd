/*
 * serve.c - the command serve: cobre as an MCP server, made from its options.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "errors.h"
#include "listen/listen.h"
#include "run/run.h"
#include "tools.h"

/* The first SIGTERM lets the running iteration end, which may take minutes on a large case, and no
 * grace time cuts that short (method page, 10); who cannot wait sends the second. */
#define GRACE_MS (24 * 3600 * 1000)

#define ROOTS_MAX 256

/* The allowed directories: the option's, by commas; else the variable's, by colons; else here. An
 * option that names none is a mistake, and no reason to open the current directory. */
static mcp_status open_guard(cobre_app *app, const cli_line *line, mcp_arena *arena, mcp_error *err)
{
    const char *roots[ROOTS_MAX];
    size_t count = 0;
    const char *given = cli_string(line, "allowed-dirs");
    const char *separator = ",";
    if (!given) {
        given = getenv("COBRE_MCP_ALLOWED_DIRS");
        given = given && *given ? given : ".";
        separator = ":";
    }
    char *list = mcp_arena_strdup(arena, given);
    if (!list)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    for (char *next = list; next;) {
        const char *root = strsep(&next, separator);
        if (!*root)
            continue;
        if (count == ROOTS_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "more than %d allowed directories", ROOTS_MAX);
        roots[count++] = root;
    }
    return guard_new(&app->guard, roots, count, err);
}

static mcp_log_level log_level(const char *name)
{
    mcp_log_level level = MCP_LOG_DEBUG;
    while (level > MCP_LOG_OFF && strcmp(mcp_log_level_name(level), name) != 0)
        level--;
    return level;
}

static mcp_tool_names tool_names(const char *name)
{
    if (strcmp(name, "safe") == 0)
        return MCP_NAMES_SAFE;
    return strcmp(name, "auto") == 0 ? MCP_NAMES_AUTO : MCP_NAMES_CANONICAL;
}

/* One large case always fits; several at once where the machine has the memory for them. Half of it stays for
 * the engine, the solver and the rest of the machine. */
static size_t calls_max_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    size_t half = pages > 0 && page > 0 ? (size_t)pages / 2 * (size_t)page : 0;
    return half > COBRE_CASE_ARENA_MAX ? half : COBRE_CASE_ARENA_MAX;
}

/* Failures that the command line, a file or an address is to blame for. */
static int exit_status_of(mcp_status st)
{
    switch ((int)st) {
    case MCP_OK:
        return COBRE_EXIT_DONE;
    case MCP_E_PARAMS:
    case MCP_E_PARSE:
    case MCP_E_DENIED:
    case MCP_E_NOT_FOUND:
    case MCP_E_IO:
    case MCP_E_LIMIT:
    case MCP_E_UNSUPPORTED:
        return COBRE_EXIT_FILES;
    default:
        return COBRE_EXIT_INTERNAL;
    }
}

static const listen_service service = { .name = "cobre-mcp" };

static mcp_status serve_app(cobre_app *app, const cli_line *line, mcp_error *err)
{
    mcp_server *server = NULL;
    mcp_revision pinned = mcp_revision_find(cli_string(line, "revision"));
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    options.name = "cobre-mcp";
    options.version = COBRE_VERSION;
    options.title = "COBRE hydrothermal dispatch";
    options.description = "Validates, trains and simulates hydrothermal cases by SDDP";
    options
        .instructions = "Validate a case directory before running it. cobre/run may take minutes "
                        "to hours: ask for progress. Query results by their output directory.";
    options.oldest = pinned;
    options.newest = pinned;
    options.strict_version = cli_flag(line, "strict-version");
    options.tool_names = tool_names(cli_string(line, "tool-names"));
    options.allow_write = cli_flag(line, "allow-write");
    options.write_note = COBRE_WRITES_DISABLED;
    options.says_success = true; /* as every example of the contract has it */
    options.refuse = cobre_refuse_call;
    options.fit = cobre_fit_arguments;
    options.data = app;
    options.arena_max_bytes = COBRE_CASE_ARENA_MAX;
    options.calls_max_bytes = calls_max_bytes();
    options.grace_ms = GRACE_MS;
    options.log = (mcp_log){ mcp_log_stderr, NULL, log_level(cli_string(line, "log-level")) };

    const mcp_features features = { .files = cobre_files, .tools = cobre_tools, .data = app };
    mcp_status st = mcp_server_new(&server, &options, err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, err);
    if (st == MCP_OK)
        st = listen_serve(server, line, &service, err);
    mcp_server_free(server);
    return st;
}

int cobre_command_serve(const cli_line *line, void *data)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cobre_app app = { .run_lock = PTHREAD_MUTEX_INITIALIZER };
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(0);
    *(bool *)data = true;
    app.threads = (unsigned)cli_int(line, "threads", cores > 0 ? cores : 1);
    mcp_status st = arena ? listen_check(line, &service, &err)
                          : mcp_error_set(&err, MCP_E_NOMEM, "out of memory");
    if (st == MCP_OK)
        st = open_guard(&app, line, arena, &err);
    if (st == MCP_OK)
        st = columns_open(&app.engine, &err);
    if (st == MCP_OK)
        st = serve_app(&app, line, &err);
    if (st != MCP_OK)
        fprintf(cli_err(line), "error: %s\n", err.message);
    columns_close(app.engine);
    guard_free(app.guard);
    mcp_arena_free(arena);
    return exit_status_of(st);
}
