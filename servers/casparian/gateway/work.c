/*
 * work.c - opens the registry of plugins, the driver of jobs, and the engine of queries.
 */
#include "gateway/work.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/plugins/installed.h"

/* Where shipped plugins are, from the folder of the program. */
#define SHIPPED "../share/casparian/plugins"

/* The folder of the program; NULL: it cannot be found. */
static const char *program_folder(mcp_arena *arena)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return mcp_arena_strdup(arena, path);
}

/* NULL: nothing is shipped. */
static const char *shipped_folder(mcp_arena *arena)
{
    const char *folder = program_folder(arena);
    struct stat about;
    const char *path = folder ? mcp_arena_printf(arena, "%s/" SHIPPED, folder) : NULL;
    return path && stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? path : NULL;
}

/* Commands of the shell are a person's, who may run what he names. */
static bool is_shell(const casparian_app *app)
{
    return !app->tools;
}

/* casparian_imported, of a store. A state that cannot be read has imported nothing. */
static bool was_imported(void *data, char hash[CASPARIAN_HASH_SIZE], const char *id,
                         const char *version)
{
    return casparian_installed_hash(hash, data, id, version, NULL) == MCP_OK;
}

static mcp_status open_registry(casparian_app *app, mcp_error *err)
{
    const casparian_trust_settings *trust = &app->config->trust;
    const casparian_plugins_settings *plugins = &app->config->work.plugins;
    const casparian_registry_options options = {
        .home = app->home,
        .shipped = shipped_folder(app->arena),
        .dev_paths = plugins->dev_paths,
        .dev_path_count = plugins->dev_path_count,
        .python = plugins->python,
        .allow_unsigned_python = trust->allow_unsigned_python,
        .allow_unsigned_native = trust->allow_unsigned_native,
        .allow_dev_plugins = trust->allow_dev_plugins || is_shell(app),
        .signers = trust->signers,
        .signer_count = trust->signer_count,
        .settings = plugins->each,
        .setting_count = plugins->count,
        .imported = was_imported,
        .data = app->store,
    };
    return casparian_registry_new(&app->registry, &options, err);
}

static mcp_status open_driver(casparian_app *app, mcp_error *err)
{
    const char *key = app->config->trust.signing_key;
    mcp_status st = open_registry(app, err);
    if (st == MCP_OK && key)
        st = keys_pair_read(&app->signing_key, key, err);
    const casparian_driver_options options = { .store = app->store,
                                               .registry = app->registry,
                                               .roots = app->roots,
                                               .redaction = &app->config->redaction,
                                               .signing_key = app->signing_key,
                                               .program = "casparian " CAUSEWAY_VERSION };
    return st == MCP_OK ? casparian_driver_new(&app->driver, &options, err) : st;
}

static mcp_status open_query(casparian_app *app, mcp_error *err)
{
    const char *cache = casparian_home_path(app, "cache");
    casparian_query_settings settings = app->config->query;
    settings.cache_dir = cache;
#ifdef __SANITIZE_ADDRESS__
    settings.is_unlimited_memory = true; /* the shadow of AddressSanitizer has no room in a limit */
#endif
    if (!cache)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the settings");
    if (mkdir(cache, 0700) != 0 && access(cache, W_OK | X_OK) != 0)
        return mcp_error_set(err, MCP_E_IO, "the folder '%.200s' cannot be made", cache);
    return casparian_query_open(&app->query, &settings, err);
}

mcp_status casparian_work_open(casparian_app *app, unsigned parts, mcp_error *err)
{
    mcp_status st = parts & CASPARIAN_NEEDS_DRIVER ? open_driver(app, err) : MCP_OK;
    if (st == MCP_OK && (parts & CASPARIAN_NEEDS_QUERY))
        st = open_query(app, err);
    return st;
}

void casparian_work_close(casparian_app *app)
{
    casparian_query_close(app->query);
    casparian_driver_free(app->driver);
    casparian_registry_free(app->registry);
    keys_pair_free(app->signing_key);
}
