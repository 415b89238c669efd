/*
 * engine.c - finding DuckDB, opening it and locking it down.
 *
 * The library is 60 MB and takes 13 ms to load, so it is opened when it is first needed. It is
 * never closed: it has threads and destructors of its own. A program opens it at a path relative to
 * its own folder; an absolute path of the build would let any user who can create that path run
 * code here.
 *
 * An instance is in memory, or has one database file. It scans the files of a selection with up to
 * THREADS_MAX threads. Before the first file it is confined to its database and to
 * /proc/self/fd/N, paths of this process's own descriptors; extensions, configuration and all other
 * files are disabled. Its cache of file contents must be off: the cache goes by path and time, and
 * /proc/self/fd/7 is another file in each call.
 */
#include "columns/engine.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_ROOM (PATH_MAX + 256)
#define THREADS_MAX 4

static const struct {
    const char *symbol;
    size_t offset;
} functions[] = {
#define X(name) { "duckdb_" #name, offsetof(struct engine_api, name) },
    ENGINE_FUNCTIONS(X)
#undef X
};

static const char *const settings[][2] = {
    { "memory_limit", "2GB" },
    { "enable_external_file_cache", "false" },
    { "autoinstall_known_extensions", "false" },
    { "autoload_known_extensions", "false" },
};

/* The order matters: after enable_external_access earlier settings can no longer be changed. */
static const char *const lockdown[] = {
    "SET temp_directory = ''",
    "SET allowed_directories = ['/proc/self/fd/']",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
};

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static struct engine_api loaded_api;
static bool is_loaded;

/* The library in its place next to the program; "" when the program's folder is not known. */
static void installed_path(char out[PATH_ROOM])
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    out[0] = '\0';
    if (length <= 0)
        return;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash)
        snprintf(out, PATH_ROOM, "%.*s/%s", (int)(slash - program), program, DUCKDB_INSTALL_PATH);
}

static mcp_status find_functions(void *library, const char *path, mcp_error *err)
{
    struct engine_api api;

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *symbol = dlsym(library, functions[i].symbol);
        if (!symbol)
            return mcp_error_set(err, MCP_E_UNSUPPORTED, "the DuckDB library %s has no %s", path,
                                 functions[i].symbol);
        /* POSIX lets dlsym() give functions; C does not let a void * be assigned to one. */
        memcpy((char *)&api + functions[i].offset, &symbol, sizeof symbol);
    }
    loaded_api = api;
    is_loaded = true;
    return MCP_OK;
}

static mcp_status load_from(const char *path, mcp_error *err)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return mcp_error_set(err, MCP_E_UNSUPPORTED, "the DuckDB library cannot be opened: %s",
                             dlerror());
    mcp_status st = find_functions(library, path, err);
    if (st != MCP_OK)
        dlclose(library);
    return st;
}

static mcp_status load(mcp_error *err)
{
    const char *named = secure_getenv("CAUSEWAY_DUCKDB");
    char installed[PATH_ROOM];

    if (is_loaded)
        return MCP_OK;
    if (named && named[0])
        return load_from(named, err);
    installed_path(installed);
    if (installed[0])
        return load_from(installed, err);
    return mcp_error_set(err, MCP_E_UNSUPPORTED,
                         "the folder of the program is not known; CAUSEWAY_DUCKDB names DuckDB");
}

static mcp_status load_once(mcp_error *err)
{
    pthread_mutex_lock(&loading);
    mcp_status st = load(err);
    pthread_mutex_unlock(&loading);
    return st;
}

mcp_status engine_version(const char **out, const void **code, mcp_error *err)
{
    mcp_status st = load_once(err);
    if (st != MCP_OK)
        return st;
    *out = loaded_api.library_version();
    memcpy(code, &loaded_api.library_version, sizeof *code);
    return MCP_OK;
}

static bool set_threads(const struct engine_api *api, duckdb_config config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char text[8];

    snprintf(text, sizeof text, "%d",
             cores < 1             ? 1
             : cores < THREADS_MAX ? (int)cores
                                   : THREADS_MAX);
    return api->set_config(config, "threads", text) == DuckDBSuccess;
}

static mcp_status say_closed(const char *path, const char *words, mcp_error *err)
{
    if (!path)
        return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB does not start: %s", words);
    if (strstr(words, "set lock on file")) /* and not "block" */
        return mcp_error_set(err, MCP_E_BUSY, "another program has the database '%.150s' open",
                             path);
    return mcp_error_set(err, MCP_E_IO, "DuckDB cannot open '%.80s': %.*s", path,
                         (int)strcspn(words, "\n"), words);
}

/* @param path of the database; NULL: in memory */
static mcp_status open_instance(struct engine *engine, const char *path, bool is_read_only,
                                mcp_error *err)
{
    const struct engine_api *api = engine->api;
    duckdb_config config = NULL;
    char *words = NULL;
    mcp_status st = MCP_OK;

    if (api->create_config(&config) != DuckDBSuccess)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for DuckDB");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (api->set_config(config, settings[i][0], settings[i][1]) != DuckDBSuccess)
            st = mcp_error_set(err, MCP_E_UNSUPPORTED, "DuckDB has no setting %s", settings[i][0]);
    if (st == MCP_OK && !set_threads(api, config))
        st = mcp_error_set(err, MCP_E_UNSUPPORTED, "DuckDB has no setting threads");
    if (st == MCP_OK && is_read_only)
        api->set_config(config, "access_mode", "READ_ONLY");
    if (st == MCP_OK && api->open_ext(path, &engine->database, config, &words) != DuckDBSuccess)
        st = say_closed(path, words ? words : "", err);
    if (words)
        api->free(words);
    api->destroy_config(&config);
    if (st == MCP_OK && api->connect(engine->database, &engine->connection) != DuckDBSuccess)
        st = mcp_error_set(err, MCP_E_INTERNAL, "DuckDB takes no connection");
    return st;
}

mcp_status engine_load(struct engine *engine, mcp_error *err)
{
    mcp_status st = load_once(err);

    if (st == MCP_OK)
        engine->api = &loaded_api;
    return st;
}

static mcp_status open_locked(struct engine *engine, const char *path, bool is_read_only,
                              mcp_error *err)
{
    duckdb_result result;

    if (engine->connection)
        return MCP_OK;
    mcp_status st = engine_load(engine, err);
    if (st != MCP_OK)
        return st;
    st = open_instance(engine, path, is_read_only, err);
    for (size_t i = 0; st == MCP_OK && i < sizeof lockdown / sizeof lockdown[0]; i++) {
        st = engine_query(engine, &result, lockdown[i], MCP_E_INTERNAL, err);
        if (st == MCP_OK)
            engine->api->destroy_result(&result);
    }
    if (st != MCP_OK)
        engine_close(engine);
    return st;
}

mcp_status engine_open(struct engine *engine, mcp_error *err)
{
    return open_locked(engine, NULL, false, err);
}

mcp_status engine_open_file(struct engine *engine, const char *path, bool is_read_only,
                            mcp_error *err)
{
    return open_locked(engine, path, is_read_only, err);
}

void engine_close(struct engine *engine)
{
    if (engine->connection)
        engine->api->disconnect(&engine->connection);
    if (engine->database)
        engine->api->close(&engine->database);
    engine->connection = NULL;
    engine->database = NULL;
}

/* The engine's first line without the path of the descriptor, which has no meaning to a reader:
 * "Invalid Input Error: No magic bytes found at end of file '/proc/self/fd/7'". */
static void say(mcp_error *err, mcp_status st, const char *words)
{
    int length = (int)strcspn(words, "\n");
    const char *path = strstr(words, "'/proc/self/fd/");
    const char *end = path ? strchr(path + 1, '\'') : NULL;

    if (!end || end - words >= length) {
        mcp_error_set(err, st, "%.*s", length, words);
        return;
    }
    int before = (int)(path - words);
    if (before > 0 && words[before - 1] == ' ')
        before--;
    mcp_error_set(err, st, "%.*s%.*s", before, words, length - (int)(end + 1 - words), end + 1);
}

/* The error of a result; ends the result. */
static mcp_status failure_of(struct engine *engine, duckdb_result *result, mcp_status refused,
                             mcp_error *err)
{
    const char *words = engine->api->result_error(result);
    duckdb_error_type type = engine->api->result_error_type(result);
    mcp_status st = refused;

    if (type == DUCKDB_ERROR_OUT_OF_MEMORY)
        st = MCP_E_NOMEM;
    say(err, st, words ? words : "DuckDB gives no reason");
    engine->api->destroy_result(result);
    if (type == DUCKDB_ERROR_FATAL || type == DUCKDB_ERROR_INTERNAL)
        engine_close(engine);
    return st;
}

mcp_status engine_query(struct engine *engine, duckdb_result *result, const char *sql,
                        mcp_status refused, mcp_error *err)
{
    if (engine->api->query(engine->connection, sql, result) == DuckDBSuccess)
        return MCP_OK;
    return failure_of(engine, result, refused, err);
}

mcp_status engine_prepare(struct engine *engine, duckdb_prepared_statement *statement,
                          const char *sql, mcp_status refused, mcp_error *err)
{
    if (engine->api->prepare(engine->connection, sql, statement) == DuckDBSuccess)
        return MCP_OK;
    const char *words = engine->api->prepare_error(*statement);
    say(err, refused, words ? words : "DuckDB gives no reason");
    engine->api->destroy_prepare(statement);
    return refused;
}

mcp_status engine_execute(struct engine *engine, duckdb_result *result,
                          duckdb_prepared_statement statement, mcp_status refused, mcp_error *err)
{
    if (engine->api->execute_prepared(statement, result) == DuckDBSuccess)
        return MCP_OK;
    return failure_of(engine, result, refused, err);
}
