/*
 * plugin_ref.c - from the words of a command line to references and files.
 */
#include "shell/plugin_ref.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/buf.h"
#include "shell/shell.h"

enum { REF_MAX = 16384, SCHEMAS_MAX = 1 << 20 };

static bool is_path(const char *text)
{
    size_t length = strlen(text);
    return strchr(text, '/') || (length > 3 && strcmp(text + length - 3, ".py") == 0);
}

mcp_status casparian_shell_plugin_ref(const mcp_json **ref, const char **path, const char *text,
                                      mcp_arena *arena, mcp_error *err)
{
    char real[PATH_MAX];
    mcp_json_writer json;
    mcp_buf written;
    *path = NULL;
    if (is_path(text)) {
        if (!realpath(text, real))
            return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no plugin '%.200s'", text);
        *path = mcp_arena_strdup(arena, real);
    }
    mcp_buf_init(&written, REF_MAX);
    mcp_json_writer_init(&json, &written);
    if (*path) {
        mcp_write_object(&json);
        mcp_write_member_string(&json, "path", *path);
        mcp_write_end(&json);
    } else {
        mcp_write_string(&json, text);
    }
    mcp_status st = mcp_json_writer_status(&json);
    st = st == MCP_OK ? mcp_json_read(ref, arena, written.data, written.length, err)
                      : mcp_error_set(err, st, "the name of the plugin: %s", mcp_status_words(st));
    mcp_buf_clear(&written);
    return st;
}

mcp_status casparian_shell_plugin_failed(casparian_app *app,
                                         const casparian_plugin_problem *problem, mcp_status st,
                                         const mcp_error *err)
{
    if (st == MCP_OK || !problem->code)
        return st;
    *app->failure = (casparian_shell_failure){
        .code = casparian_code_find(problem->code),
        .message = mcp_arena_strdup(app->arena, err->message),
        .suggestions = { st == MCP_E_NOT_FOUND && !problem->nearest[0] ? "casparian plugin list"
                         : problem->nearest[0]
                             ? mcp_arena_printf(app->arena, "%.60s, the nearest name",
                                                problem->nearest[0])
                             : problem->suggestion },
    };
    return st;
}

mcp_status casparian_shell_plugin(casparian_plugin *out, casparian_app *app, const char *text,
                                  mcp_error *err)
{
    casparian_plugin_problem problem = { .code = NULL };
    casparian_plugin_ref ref;
    const mcp_json *json = NULL;
    const char *path = NULL;
    mcp_status st = casparian_shell_plugin_ref(&json, &path, text, app->arena, err);
    if (st == MCP_OK)
        st = casparian_plugin_ref_read(&ref, app->arena, json, err);
    if (st == MCP_OK)
        st = casparian_registry_resolve(out, &problem, app->arena, app->registry, &ref, path, err);
    return casparian_shell_plugin_failed(app, &problem, st, err);
}

mcp_status casparian_shell_read_json(const mcp_json **out, const char *path, size_t max_bytes,
                                     mcp_arena *arena, mcp_error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return mcp_error_set(err, errno == ENOENT ? MCP_E_NOT_FOUND : MCP_E_IO, "%.200s: %s", path,
                             strerror(errno));
    char *text = mcp_arena_alloc(arena, max_bytes + 1);
    size_t length = text ? fread(text, 1, max_bytes + 1, file) : 0;
    bool has_failed = ferror(file) != 0;
    fclose(file);
    if (!text)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %.200s", path);
    if (has_failed)
        return mcp_error_set(err, MCP_E_IO, "%.200s cannot be read", path);
    if (length > max_bytes)
        return mcp_error_set(err, MCP_E_LIMIT, "%.200s is longer than %zu bytes", path, max_bytes);
    return mcp_json_read(out, arena, text, length, err);
}

mcp_status casparian_shell_read_schemas(casparian_schemas *out, const char *path, mcp_arena *arena,
                                        mcp_error *err)
{
    casparian_definition *one = mcp_arena_array(arena, 1, sizeof *one);
    const mcp_json *json = NULL;
    if (!one)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for schemas");
    mcp_status st = casparian_shell_read_json(&json, path, SCHEMAS_MAX, arena, err);
    if (st != MCP_OK || !mcp_json_is_array(mcp_json_get(json, "columns")))
        return st == MCP_OK ? casparian_schemas_read(out, arena, json, NULL, NULL, err) : st;
    *out = (casparian_schemas){ 1, one };
    return casparian_definition_read(one, arena, json, NULL, NULL, err);
}
