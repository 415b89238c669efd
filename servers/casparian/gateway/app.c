/*
 * app.c - from a command line to an open home.
 */
#include "gateway/app.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "gateway/work.h"
#include "sinks/uri.h"

#define CLIENTS_MAX 10000

/* The budget of a client that was silent is larger than what a minute gives at once. */
#define BURST 240
#define EXPENSIVE_BURST 60

/* All that is in the home. */
#define NEEDS_HOME                                                                                 \
    (CASPARIAN_NEEDS_HOME | CASPARIAN_NEEDS_AUDIT | CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_ROOTS)

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the settings");
}

/* ---- the home -------------------------------------------------------------------------------- */

static const char *absolute(const char *path, mcp_arena *arena)
{
    char cwd[PATH_MAX] = "";
    if (!path || path[0] == '/')
        return path;
    return getcwd(cwd, sizeof cwd) ? mcp_arena_printf(arena, "%s/%s", cwd, path) : NULL;
}

/* --home or its variable, else .casparian_flow of the user, else of the current folder. */
static const char *home_of(const cli_line *line, mcp_arena *arena)
{
    const char *named = cli_string(line, "home");
    const char *user = getenv("HOME");
    if (!named)
        named = user && *user ? mcp_arena_printf(arena, "%s/.casparian_flow", user)
                              : ".casparian_flow";
    return absolute(named, arena);
}

const char *casparian_home_path(const casparian_app *app, const char *relative)
{
    return mcp_arena_printf(app->arena, "%s/%s", app->home, relative);
}

/* Its parents, too, which get the same mode. */
static mcp_status make_folder(const char *path, mcp_error *err)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return mcp_error_set(err, MCP_E_PARAMS, "the path of the home is too long");
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        char kept = part[i];
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return mcp_error_set(err, MCP_E_IO, "the home '%.150s' cannot be made: %s", path,
                                 strerrordesc_np(errno));
        part[i] = kept;
    }
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return mcp_error_set(err, MCP_E_IO, "the home '%.150s' is not a directory", path);
    return MCP_OK;
}

static mcp_status open_home(casparian_app *app, mcp_error *err)
{
    mcp_status st = make_folder(app->home, err);
    if (st == MCP_OK && access(app->home, R_OK | W_OK | X_OK) != 0)
        return mcp_error_errno(err, errno, "the home '%.150s' cannot be written", app->home);
    return st;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* [quarantine] dir without "." and "..", as the locations of outputs are. */
static mcp_status place_quarantine(casparian_app *app, mcp_error *err)
{
    const char *dir = app->config->work.quarantine.dir;
    char folder[PATH_MAX];
    casparian_sink_uri uri;
    if (strstr(dir, "://"))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "quarantine.dir: '%.200s' is a sink, and a directory is required: its "
                             "tables have the format of their outputs",
                             dir);
    if (!getcwd(folder, sizeof folder))
        return mcp_error_set(err, MCP_E_IO, "the current directory cannot be found");
    mcp_status st = casparian_sink_uri_read(&uri, app->arena, dir, folder, err);
    if (st == MCP_OK)
        app->quarantine = uri.path;
    return st;
}

static mcp_status open_config(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *named = cli_string(line, "config");
    app->config_path = named ? named : casparian_home_path(app, "config.toml");
    if (!app->config_path)
        return no_memory(err);
    mcp_status st = casparian_config_open(&app->config, app->config_path,
                                          named ? 0 : CONFIG_OPTIONAL, line, err);
    return st == MCP_OK && app->config->work.quarantine.dir ? place_quarantine(app, err) : st;
}

static mcp_status open_audit(casparian_app *app, mcp_error *err)
{
    const char *path = app->config->audit.path;
    if (!path)
        path = casparian_home_path(app, "mcp_audit.ndjson");
    if (!path)
        return no_memory(err);
    mcp_status st = casparian_audit_open(&app->audit, path, &app->config->audit, &app->log, err);
    if (st == MCP_OK || app->config->audit.is_required)
        return st;
    mcp_log_write(&app->log, MCP_LOG_ERROR, "audit: %s",
                  err ? err->message : "it cannot be opened");
    return MCP_OK;
}

static mcp_status open_store(casparian_app *app, const cli_line *line, unsigned parts,
                             mcp_error *err)
{
    const casparian_store_options options = {
        .home = app->home,
        .path = cli_has(line, "state-store") ? cli_string(line, "state-store") : NULL,
        .files = app->files,
        .settings = &app->config->work,
        .audit = casparian_audit_file(app->audit),
        .is_audit_required = app->config->audit.is_required,
        .has_waits = parts & CASPARIAN_NEEDS_WAITS,
        .is_over = app->is_over,
        .log = app->log,
    };
    return casparian_store_open(&app->store, &options, err);
}

/* "/" and the user's whole home are too much to allow by mistake. */
static mcp_status check_breadth(const char *root, mcp_error *err)
{
    char path[PATH_MAX], home[PATH_MAX];
    const char *user = getenv("HOME");
    if (!realpath(root, path))
        return MCP_OK; /* guard_new tells */
    bool is_home = user && realpath(user, home) && strcmp(path, home) == 0;
    if (!is_home && strcmp(path, "/") != 0)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_PARAMS,
                         "the allowed path '%.100s' is %s; --allow-broad-root permits that", root,
                         is_home ? "the whole home of the user" : "the whole machine");
}

static mcp_status open_roots(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const casparian_mcp_settings *mcp = &app->config->mcp;
    bool is_broad = cli_has(line, "allow-broad-root") && cli_flag(line, "allow-broad-root");
    size_t count = mcp->allowed_path_count;
    const char **roots = mcp_arena_array(app->arena, count + 2, sizeof *roots);
    mcp_status st = roots ? make_folder(app->output, err) : no_memory(err);
    if (st == MCP_OK && app->quarantine)
        st = make_folder(app->quarantine, err);
    if (st == MCP_OK && app->quarantine)
        st = check_breadth(app->quarantine, err);
    for (size_t i = 0; st == MCP_OK && i < mcp->allowed_path_count; i++) {
        roots[i] = mcp->allowed_paths[i];
        st = is_broad ? MCP_OK : check_breadth(roots[i], err);
    }
    if (st != MCP_OK)
        return st;
    roots[count++] = app->output;
    if (app->quarantine)
        roots[count++] = app->quarantine;
    return guard_new_without(&app->roots, roots, count, &app->home, 1, err);
}

static mcp_status open_rate(guard_rate **out, int64_t a_minute, double burst, mcp_error *err)
{
    guard_rate_limit limit = { .per_second = (double)a_minute / 60,
                               .burst = (double)a_minute < burst ? (double)a_minute : burst };
    return a_minute == 0 ? MCP_OK : guard_rate_new(out, limit, CLIENTS_MAX, err);
}

mcp_status casparian_app_open(casparian_app *app, const cli_line *line, unsigned parts,
                              mcp_error *err)
{
    app->arena = mcp_arena_new(0);
    app->home = app->arena ? home_of(line, app->arena) : NULL;
    const char *output = cli_has(line, "output") ? cli_string(line, "output") : NULL;
    if (app->home)
        app->output = output ? absolute(output, app->arena) : casparian_home_path(app, "output");
    mcp_status st = app->output ? open_config(app, line, err) : no_memory(err);
    if (st == MCP_OK && (parts & NEEDS_HOME))
        st = open_home(app, err);
    if (st == MCP_OK && (parts & CASPARIAN_NEEDS_AUDIT))
        st = open_audit(app, err);
    if (st == MCP_OK && (parts & CASPARIAN_NEEDS_STORE))
        st = open_store(app, line, parts, err);
    if (st == MCP_OK && (parts & CASPARIAN_NEEDS_ROOTS))
        st = open_roots(app, line, err);
    if (st == MCP_OK && (parts & CASPARIAN_NEEDS_RATES))
        st = open_rate(&app->rate, app->config->mcp.rate_limit_rpm, BURST, err);
    if (st == MCP_OK && (parts & CASPARIAN_NEEDS_RATES))
        st = open_rate(&app->expensive_rate, app->config->mcp.expensive_rpm, EXPENSIVE_BURST, err);
    return st == MCP_OK ? casparian_work_open(app, parts, err) : st;
}

void casparian_app_close(casparian_app *app)
{
    casparian_work_close(app);
    guard_rate_free(app->expensive_rate);
    guard_rate_free(app->rate);
    guard_free(app->roots);
    casparian_store_close(app->store);
    casparian_audit_close(app->audit);
    casparian_config_free(app->config);
    mcp_arena_free(app->arena);
}
