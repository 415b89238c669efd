/*
 * install.c - casparian plugin import, verify and remove.
 *
 * An import copies the bundle into a hidden folder of the home first, and everything is decided of
 * the copy: what is written to the source meanwhile is not installed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "gateway/user.h"
#include "jobs/plugins/installed.h"
#include "plugins/trust.h"
#include "shell/author/author.h"
#include "shell/commands.h"
#include "shell/plugin_ref.h"
#include "shell/print.h"
#include "shell/shell.h"

/* An import in progress. */
typedef struct install {
    casparian_app *app;
    casparian_inspected found;
    char *staged;       /* the copy */
    const char *target; /* where it is installed */
    const char *os, *arch;
} install;

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for a plugin");
}

/* ---- answers --------------------------------------------------------------------------------- */

static void write_found(mcp_json_writer *json, const casparian_inspected *found)
{
    const casparian_plugin *plugin = &found->plugin;
    mcp_write_member_string(json, "plugin", plugin->id);
    mcp_write_member_string(json, "version", plugin->version);
    mcp_write_member_string(json, "runtime", casparian_runtime_text(plugin->runtime));
    mcp_write_member_string(json, "artifact_hash", plugin->artifact_hash);
    if (plugin->signer)
        mcp_write_member_string(json, "signer", plugin->signer);
    mcp_write_member_bool(json, "trusted", plugin->is_trusted);
    mcp_write_member_string(json, "trust_reason", plugin->reason);
    mcp_write_member_int(json, "file_count", (int64_t)found->bundle.file_count);
    mcp_write_member_array(json, "contracts");
    for (size_t i = 0; i < plugin->schemas.count; i++)
        mcp_write_string(json, plugin->schemas.items[i].output);
    mcp_write_end(json);
}

static mcp_status answer_found(const casparian_inspected *found, const char *dir,
                               casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    casparian_shell_answer_begin(&out);
    write_found(&out.json, found);
    if (dir)
        mcp_write_member_string(&out.json, "path", dir);
    mcp_status st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), answer);
    return st;
}

/* A plugin that could not run is not installed. */
static mcp_status check_trust(const casparian_plugin *plugin, mcp_error *err)
{
    if (plugin->has_incomplete_metadata)
        return mcp_error_set(err, MCP_E_STOPPED,
                             "%s@%s: %s; name, version, topics and outputs are literals",
                             plugin->id, plugin->version,
                             plugin->import_warning_count ? plugin->import_warnings[0]
                                                          : "a declaration is no literal");
    if (plugin->is_trusted)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_DENIED, "%s@%s may not run. %s %s", plugin->id, plugin->version,
                         plugin->reason, casparian_trust_suggestion(plugin));
}

/* ---- import ---------------------------------------------------------------------------------- */

static mcp_status stage(install *self, const char *path, mcp_error *err)
{
    casparian_inspected source;
    mcp_arena *arena = self->app->arena;
    const char *plugins = casparian_home_path(self->app, "plugins");
    char *staged = plugins ? mcp_arena_printf(arena, "%s/.new-XXXXXX", plugins) : NULL;
    if (!staged)
        return no_memory(err);
    mcp_status st = casparian_author_inspect(&source, self->app, path, err);
    if (st == MCP_OK && mkdir(plugins, 0700) != 0 && errno != EEXIST)
        st = mcp_error_errno(err, errno, "%s", plugins);
    if (st == MCP_OK && !mkdtemp(staged))
        st = mcp_error_errno(err, errno, "%s", plugins);
    if (st != MCP_OK)
        return st;
    self->staged = staged;
    st = casparian_author_copy(arena, &source.bundle, staged, err);
    return st == MCP_OK ? casparian_author_inspect(&self->found, self->app, staged, err) : st;
}

/* Fills os, arch, target, and the entrypoint as it will be. */
static mcp_status aim(install *self, mcp_error *err)
{
    struct utsname host;
    mcp_arena *arena = self->app->arena;
    casparian_plugin *plugin = &self->found.plugin;
    const char *plugins = casparian_home_path(self->app, "plugins");
    self->os = "any";
    self->arch = "any";
    if (plugin->runtime == CASPARIAN_NATIVE) {
        char *os = uname(&host) == 0 ? mcp_arena_strdup(arena, host.sysname) : NULL;
        for (char *c = os; c && *c; c++)
            *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
        self->os = os;
        self->arch = os ? mcp_arena_strdup(arena, host.machine) : NULL;
    }
    if (!plugins || !self->os || !self->arch)
        return no_memory(err);
    self->target = mcp_arena_printf(arena, "%s/%s/%s/%s/%s", plugins, plugin->id, plugin->version,
                                    self->os, self->arch);
    plugin->entrypoint = mcp_arena_printf(arena, "%s%s", self->target ? self->target : "",
                                          plugin->entrypoint + strlen(self->found.bundle.dir));
    return self->target && plugin->entrypoint ? MCP_OK : no_memory(err);
}

/* casparian_import_place: the copy takes the place of what may be there, which was altered or left
 * by an import that was killed. */
static mcp_status place_files(void *data, mcp_error *err)
{
    install *self = data;
    mcp_arena *arena = self->app->arena;
    const char *old = mcp_arena_printf(arena, "%s.old", self->staged);
    mcp_status st = old ? casparian_author_folders(arena, self->target, err) : no_memory(err);
    if (st == MCP_OK && rename(self->target, old) != 0 && errno != ENOENT)
        st = mcp_error_errno(err, errno, "%s", self->target);
    if (st == MCP_OK && (chmod(self->staged, 0755) != 0 || rename(self->staged, self->target) != 0))
        st = mcp_error_errno(err, errno, "%s", self->target);
    return st == MCP_OK ? casparian_author_remove(old, err) : st;
}

static mcp_status store(install *self, mcp_error *err)
{
    const casparian_import import = { .plugin = &self->found.plugin,
                                      .os = self->os,
                                      .arch = self->arch,
                                      .dir = self->target,
                                      .user = casparian_local_user(self->app->arena) };
    if (!import.user)
        return no_memory(err);
    return casparian_installed_store(self->app->store, self->app->arena, &import, place_files, self,
                                     err);
}

static mcp_status import(casparian_app *app, const cli_line *line, mcp_error *err)
{
    install self = { .app = app };
    mcp_status st = stage(&self, cli_argument(line, 0), err);
    if (st == MCP_OK)
        st = check_trust(&self.found.plugin, err);
    if (st == MCP_OK)
        st = aim(&self, err);
    if (st == MCP_OK)
        st = store(&self, err);
    if (self.staged)
        casparian_author_remove(self.staged, NULL); /* nothing, where it has its place */
    return st == MCP_OK ? answer_found(&self.found, self.target, app, line, err) : st;
}

int casparian_command_plugin_import(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, import);
}

/* ---- verify ---------------------------------------------------------------------------------- */

static mcp_status verify(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_inspected found;
    mcp_status st = casparian_author_inspect(&found, app, cli_argument(line, 0), err);
    if (st == MCP_OK)
        st = check_trust(&found.plugin, err);
    return st == MCP_OK ? answer_found(&found, NULL, app, line, err) : st;
}

int casparian_command_plugin_verify(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, verify);
}

/* ---- remove ---------------------------------------------------------------------------------- */

/* The installed version that a reference names; "NAME" has to name the only one. */
static mcp_status find_installed(const casparian_plugin **out, casparian_app *app, const char *text,
                                 mcp_error *err)
{
    casparian_plugin_list all;
    casparian_plugin_ref ref;
    const mcp_json *json = NULL;
    const char *path = NULL;
    size_t count = 0;
    mcp_status st = casparian_shell_plugin_ref(&json, &path, text, app->arena, err);
    if (st == MCP_OK)
        st = casparian_plugin_ref_read(&ref, app->arena, json, err);
    if (st == MCP_OK)
        st = casparian_registry_list(&all, app->arena, app->registry, false, err);
    for (size_t i = 0; st == MCP_OK && ref.id && i < all.count; i++) {
        const casparian_plugin *one = &all.items[i];
        if (one->origin != CASPARIAN_INSTALLED || strcmp(one->id, ref.id) != 0 ||
            (ref.version && strcmp(one->version, ref.version) != 0))
            continue;
        *out = one;
        count++;
    }
    if (st == MCP_OK && count == 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "no plugin '%.100s' is installed", text);
    if (st == MCP_OK && count > 1)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "%zu versions of %.60s are installed; name one, as in %.60s@%s", count,
                             ref.id, ref.id, (*out)->version);
    return st;
}

static mcp_status remove_plugin(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const casparian_plugin *plugin = NULL;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = find_installed(&plugin, app, cli_argument(line, 0), err);
    if (st == MCP_OK)
        st = casparian_installed_remove(app->store, plugin->id, plugin->version, err);
    if (st == MCP_OK)
        st = casparian_author_remove(plugin->dir, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "removed", plugin->display);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), answer);
    return st;
}

int casparian_command_plugin_remove(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, remove_plugin);
}
