/*
 * open.c - what all commands of the program do at their beginning and end: which database, how to stop, and
 * how failures become exit statuses.
 */
#include "open.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "mcp/buf.h"
#include "mcp/json.h"
#include "shell/line.h"

#define STANDARD_URL "sqlite:universe.db"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool is_postgres(const char *url)
{
    return begins(url, "postgres://") || begins(url, "postgresql://");
}

static mcp_status url_of_provider(const char **out, const char *provider, const char *url,
                                  mcp_error *err)
{
    if (strcmp(provider, "memory") == 0 || strcmp(provider, "noop") == 0) {
        *out = "memory";
        return MCP_OK;
    }
    if (strcmp(provider, "sqlite") == 0) {
        *out = url && begins(url, "sqlite:") ? url : STANDARD_URL;
        return MCP_OK;
    }
    if (strcmp(provider, "postgres") != 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "DB_PROVIDER is sqlite, postgres, memory or noop, not \"%.64s\"",
                             provider);
    if (!url || !is_postgres(url))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "DB_PROVIDER=postgres needs DATABASE_URL=postgres://...");
    *out = url;
    return MCP_OK;
}

mcp_status universe_database_url(const char **out, const cli_line *line, mcp_error *err)
{
    const char *given = cli_string(line, "db");
    const char *provider = variable("DB_PROVIDER"), *url = variable("DATABASE_URL");

    if (!given && provider)
        return url_of_provider(out, provider, url, err);
    *out = given ? given : url ? url : STANDARD_URL;
    return MCP_OK;
}

static mcp_status open_all(universe_work *work, const cli_line *line, const universe_rules *rules,
                           bool read_only, mcp_error *err)
{
    const mcp_log log = { mcp_log_stderr, NULL, MCP_LOG_WARNING };
    const db_options how = { .read_only = read_only, .log = log };
    universe_service_options options = {
        .files = universe_files, .rules = *rules, .read_only = read_only, .log = log
    };
    const char *url = NULL;

    mcp_status st = universe_database_url(&url, line, err);
    if (st == MCP_OK)
        st = db_open(&work->database, url, &how, err);
    if (st != MCP_OK)
        return st;
    options.db = work->database;
    return universe_service_open(&work->service, &options, err);
}

int universe_exit_of(mcp_status status)
{
    switch ((int)status) {
    case MCP_OK:
        return UNIVERSE_EXIT_DONE;
    case MCP_E_PARSE:
    case MCP_E_PARAMS:
    case MCP_E_SCHEMA:
    case MCP_E_LIMIT:
    case MCP_E_EXISTS:
    case MCP_E_RESOURCE:
        return UNIVERSE_EXIT_INVALID;
    case MCP_E_NOT_FOUND:
    case MCP_E_DENIED:
    case MCP_E_IO:
    case MCP_E_BUSY:
    case MCP_E_TIMEOUT:
    case MCP_E_UNSUPPORTED:
        return UNIVERSE_EXIT_FILES;
    default:
        return UNIVERSE_EXIT_INTERNAL;
    }
}

/* ---- stopping --------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped_by;

static void on_signal(int number)
{
    stopped_by = number;
}

static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool universe_is_stopped(void)
{
    return stopped_by != 0;
}

static int tell_failure(const cli_line *line, mcp_status status, const mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf text;

    fprintf(cli_err(line), "error: %s\n", err->message);
    if (cli_flag(line, "json")) {
        mcp_buf_init(&text, 1 << 16);
        mcp_json_writer_init(&json, &text);
        mcp_write_object(&json);
        mcp_write_member_string(&json, "error", err->message);
        mcp_write_member_string(&json, "status", mcp_status_name(status));
        mcp_write_end(&json);
        fprintf(cli_out(line), "%s\n", text.data ? text.data : "{}");
        mcp_buf_clear(&text);
    }
    if (status == MCP_E_STOPPED && stopped_by)
        return 128 + stopped_by;
    return universe_exit_of(status);
}

/* ---- beginning and ending --------------------------------------------------------------------- */

mcp_status universe_work_begin_alone(universe_work *work)
{
    *work = (universe_work){ .err = MCP_ERROR_INIT };
    catch_signals();
    work->arena = mcp_arena_new((size_t)1 << 30);
    return work->arena ? MCP_OK : mcp_error_set(&work->err, MCP_E_NOMEM, "out of memory");
}

mcp_status universe_work_begin(universe_work *work, const cli_line *line,
                               const universe_rules *rules, bool read_only)
{
    mcp_status st = universe_work_begin_alone(work);
    return st == MCP_OK ? open_all(work, line, rules, read_only, &work->err) : st;
}

int universe_work_end(universe_work *work, const cli_line *line, mcp_status st)
{
    universe_service_close(work->service);
    db_close(work->database);
    mcp_arena_free(work->arena);
    return st == MCP_OK ? UNIVERSE_EXIT_DONE : tell_failure(line, st, &work->err);
}

mcp_status universe_work_print(const cli_line *line, mcp_buf *text, mcp_status st, mcp_error *err)
{
    if (st == MCP_OK)
        fprintf(cli_out(line), "%s\n", text->data);
    else
        mcp_error_set(err, st, "writing the answer: %s", mcp_status_words(st));
    mcp_buf_clear(text);
    return st;
}
