/*
 * completions.c - suggestions for variables of templates and arguments of prompts.
 *
 * Directories are suggested below the one that is typed so far, if that is allowed; the allowed
 * directories themselves are not told. Entities and metrics depend on what was chosen before.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "features/resources.h"
#include "gateway/directory.h"
#include "query/entities.h"
#include "query/registry.h"
#include "query/tables.h"

enum { LOOKED_AT_MAX = 10000 };

static mcp_status suggest_directories(mcp_call *call, void *data);
static mcp_status suggest_registries(mcp_call *call, void *data);
static mcp_status suggest_tables(mcp_call *call, void *data);
static mcp_status suggest_types(mcp_call *call, void *data);
static mcp_status suggest_metrics(mcp_call *call, void *data);
static mcp_status suggest_entities(mcp_call *call, void *data);

const mcp_completion cobre_completions[] = {
    { COBRE_URI_CONFIG, "case_dir", suggest_directories },
    { COBRE_URI_ENTITIES, "case_dir", suggest_directories },
    { COBRE_URI_ENTITIES, "entity_type", suggest_registries },
    { COBRE_URI_SCENARIOS, "case_dir", suggest_directories },
    { COBRE_URI_SCENARIOS, "entity_id", suggest_entities },
    { COBRE_URI_CONVERGENCE, "output_dir", suggest_directories },
    { COBRE_URI_RESULTS, "output_dir", suggest_directories },
    { COBRE_URI_RESULTS, "entity_type", suggest_tables },
    { COBRE_URI_POLICY, "output_dir", suggest_directories },
    { COBRE_PROMPT_DIAGNOSE, "output_dir", suggest_directories },
    { COBRE_PROMPT_EXPLAIN, "output_dir", suggest_directories },
    { COBRE_PROMPT_EXPLAIN, "entity_type", suggest_types },
    { COBRE_PROMPT_EXPLAIN, "metric", suggest_metrics },
    { 0 },
};

static mcp_status suggest(mcp_call *call, const char *value)
{
    const char *typed = mcp_call_completion_value(call);

    return strncmp(value, typed, strlen(typed)) == 0 ? mcp_call_add_completion(call, value)
                                                     : MCP_OK;
}

/* ---- directories ----------------------------------------------------------------------------- */

static bool is_directory(int folder_fd, const char *name)
{
    struct stat about;

    return fstatat(folder_fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(about.st_mode);
}

/* The directories in `parent`, which ends in a slash, that begin with `typed`; takes `fd`. */
static mcp_status list_directories(mcp_call *call, int fd, const char *parent, const char *typed)
{
    DIR *folder = fdopendir(fd);
    int looked_at = 0;
    mcp_status st = MCP_OK;

    if (!folder) {
        close(fd);
        return MCP_OK;
    }
    for (struct dirent *entry = readdir(folder); entry && st == MCP_OK && looked_at < LOOKED_AT_MAX;
         entry = readdir(folder), looked_at++) {
        const char *name = entry->d_name;
        if (name[0] == '.' || strncmp(name, typed, strlen(typed)) != 0 || !is_directory(fd, name))
            continue;
        const char *path = mcp_arena_printf(mcp_call_arena(call), "%s%s", parent, name);
        st = path ? mcp_call_add_completion(call, path) : MCP_E_NOMEM;
    }
    closedir(folder);
    return st;
}

static mcp_status suggest_directories(mcp_call *call, void *data)
{
    const cobre_app *app = data;
    const char *typed = mcp_call_completion_value(call);
    const char *slash = strrchr(typed, '/');
    int fd = -1;

    if (!slash)
        return MCP_OK;
    const char *parent = mcp_arena_strndup(mcp_call_arena(call), typed,
                                           (size_t)(slash + 1 - typed));
    if (!parent)
        return MCP_E_NOMEM;
    /* Outside and absent look alike: nothing is suggested. */
    if (guard_open_dir(&fd, NULL, app->guard, parent, mcp_call_arena(call), NULL) != MCP_OK)
        return MCP_OK;
    return list_directories(call, fd, parent, slash + 1);
}

/* ---- types, metrics, entities ---------------------------------------------------------------- */

static mcp_status suggest_registries(mcp_call *call, void *data)
{
    mcp_status st = MCP_OK;

    (void)data;
    for (size_t i = 0; st == MCP_OK && query_registries[i].name; i++)
        st = suggest(call, query_registries[i].name);
    return st;
}

static mcp_status suggest_tables(mcp_call *call, void *data)
{
    mcp_status st = MCP_OK;

    (void)data;
    for (size_t i = 0; st == MCP_OK && query_tables[i].name; i++)
        if (query_tables[i].folder)
            st = suggest(call, query_tables[i].name);
    return st;
}

static mcp_status suggest_types(mcp_call *call, void *data)
{
    static const char *const types[] = { "hydros", "thermals", "buses", "costs" };
    mcp_status st = MCP_OK;

    (void)data;
    for (size_t i = 0; st == MCP_OK && i < sizeof types / sizeof types[0]; i++)
        st = suggest(call, types[i]);
    return st;
}

/* Columns of the type that was chosen before; else the metrics that the contract names. */
static mcp_status suggest_metrics(mcp_call *call, void *data)
{
    static const char *const usual[] = { "storage", "generation", "marginal_cost", "deficit" };
    const char *type = mcp_arg_string(call, "entity_type");
    const query_table *table = type ? query_table_find(type) : NULL;
    const char *names[QUERY_COLUMNS_MAX];
    size_t count = table ? query_columns_all(names, table) : 0;
    mcp_status st = MCP_OK;

    (void)data;
    for (size_t i = 0; st == MCP_OK && i < sizeof usual / sizeof usual[0]; i++)
        st = suggest(call, usual[i]);
    for (size_t i = 0; st == MCP_OK && i < count; i++)
        st = suggest(call, names[i]);
    return st;
}

static mcp_status suggest_names(mcp_call *call, int case_fd)
{
    const query_registry *registry = query_registry_find("hydros");
    const mcp_json *root = NULL;
    mcp_status st = MCP_OK;

    if (query_case_json(&root, case_fd, registry->file, mcp_call_arena(call), NULL) != MCP_OK)
        return MCP_OK;
    const mcp_json *entities = mcp_json_get(root, registry->member);
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(entities); i++) {
        const char *name = mcp_json_get_string(mcp_json_item(entities, i), "name");
        if (name)
            st = suggest(call, name);
    }
    return st;
}

/* The names of the hydros of the case that was chosen before. */
static mcp_status suggest_entities(mcp_call *call, void *data)
{
    const cobre_app *app = data;
    const char *path = mcp_arg_string(call, "case_dir");
    int fd = -1;

    if (!path || guard_open_dir(&fd, NULL, app->guard, path, mcp_call_arena(call), NULL) != MCP_OK)
        return MCP_OK;
    mcp_status st = suggest_names(call, fd);
    close(fd);
    return st;
}
