/*
 * visible.c - the verdict on a tool, from the configuration and the copy of the policies; notes of
 * hidden calls.
 */
#include "visible.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "features/tools.h"
#include "gateway/actors.h"
#include "model/identity.h"
#include "store/journal.h"

/* How many notes of hidden calls may be on their way to the database. */
enum { NOTES_MAX = 256, NOTE_ARENA_MAX = 1 << 20 };

/* ---- the verdict ----------------------------------------------------------------------------- */

/* The workspace that a call of the local client is about. */
static const char *local_workspace(const mcp_call *call, const portarium_app *app)
{
    const char *named = app->is_alone
                            ? NULL
                            : mcp_json_get_string(mcp_call_arguments(call), "workspaceId");
    return named ? named : app->workspace;
}

/* The scopes of the client's token; NULL: the caller is the local actor. */
static const char *scopes_of(const mcp_call *call, const portarium_app *app)
{
    return app->is_alone ? NULL : mcp_call_scopes(call);
}

static void caller_of(portarium_caller *out, const mcp_call *call, const portarium_app *app)
{
    const char *scopes = scopes_of(call, app);
    if (scopes) {
        portarium_caller_read(out, scopes);
        return;
    }
    portarium_caller_of(out, &app->local);
    const char *workspace = out->workspace[0] ? NULL : local_workspace(call, app);
    size_t length = workspace ? strnlen(workspace, sizeof out->workspace - 1) : 0;
    if (length > 0)
        memcpy(out->workspace, workspace, length);
}

static bool is_configured(const portarium_app *app, const char *tool)
{
    if (!app->allowed_tools)
        return !portarium_is_extension(tool);
    for (const char *const *name = app->allowed_tools; *name; name++) {
        if (strcmp(*name, tool) == 0)
            return true;
    }
    return false;
}

static bool policies_allow(const mcp_call *call, const portarium_app *app, const char *tool)
{
    portarium_caller caller;
    if (!app->exposures)
        return true;
    caller_of(&caller, call, app);
    return portarium_exposures_allow(app->exposures, caller.workspace, tool, caller.roles,
                                     caller.tier);
}

bool portarium_tool_is_visible(const mcp_call *call, mcp_feature feature, const char *name,
                               void *data)
{
    const portarium_app *app = data;
    return feature != MCP_FEATURE_TOOL ||
           (is_configured(app, name) && policies_allow(call, app, name));
}

mcp_status portarium_allowed_tools_read(const char *const **out, const char *text, mcp_arena *arena,
                                        mcp_error *err)
{
    size_t count = 0, room = text ? strlen(text) / 2 + 2 : 0;
    *out = NULL;
    if (!text)
        return MCP_OK;
    const char **names = mcp_arena_array(arena, room, sizeof *names);
    char *rest = NULL, *list = mcp_arena_strdup(arena, text);
    if (!names || !list)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the allowed tools");
    for (char *name = strtok_r(list, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        if (!portarium_required(name))
            return mcp_error_set(err, MCP_E_PARAMS, "--allowed-tools: there is no tool %.64s",
                                 name);
        names[count++] = name;
    }
    names[count] = NULL;
    *out = names;
    return MCP_OK;
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* The entry of evidence of a hidden call. */
typedef struct note {
    const portarium_app *app;
    mcp_arena *arena;
    portarium_actor actor;
    const char *summary;
} note;

static atomic_int notes_on_their_way;

static void free_note(note *what)
{
    mcp_arena_free(what->arena);
    free(what);
    atomic_fetch_sub(&notes_on_their_way, 1);
}

static mcp_status write_note(portarium_tx *tx, void *data, mcp_error *err)
{
    const note *self = data;
    const portarium_evidence entry = { .category = "PolicyViolation", .summary = self->summary };
    return portarium_evidence_add(tx, &entry, err);
}

static void end_note(mcp_status status, const mcp_error *err, void *data)
{
    note *self = data;
    if (status != MCP_OK)
        mcp_log_write(&self->app->log, MCP_LOG_WARNING,
                      "a call of a hidden tool is not in the evidence: %s", err->message);
    free_note(self);
}

/* The actor's texts, which must outlive the call. */
static bool copy_actor(portarium_actor *out, const portarium_actor *from, mcp_arena *arena)
{
    *out = (portarium_actor){ .roles = from->roles,
                              .subject = mcp_arena_strdup(arena, from->subject),
                              .workspace = mcp_arena_strdup(arena, from->workspace) };
    if (from->agent_id)
        out->agent_id = mcp_arena_strdup(arena, from->agent_id);
    return out->subject && out->workspace;
}

static bool fill_note(note *self, const mcp_call *call, const char *tool)
{
    mcp_error err = MCP_ERROR_INIT;
    portarium_actor actor = self->app->local;
    const char *scopes = scopes_of(call, self->app);
    if (scopes && portarium_actor_read(&actor, scopes, self->arena, &err) != MCP_OK)
        return false;
    if (!actor.workspace)
        actor.workspace = local_workspace(call, self->app);
    if (!actor.workspace || !portarium_id_is_valid(actor.workspace) || !actor.subject)
        return false;
    self->summary = mcp_arena_printf(self->arena, "%s called %s, which a policy hides from them",
                                     actor.subject, tool);
    return self->summary && copy_actor(&self->actor, &actor, self->arena);
}

static note *new_note(const portarium_app *app)
{
    if (atomic_fetch_add(&notes_on_their_way, 1) >= NOTES_MAX) {
        atomic_fetch_sub(&notes_on_their_way, 1);
        return NULL;
    }
    note *self = calloc(1, sizeof *self);
    mcp_arena *arena = self ? mcp_arena_new(NOTE_ARENA_MAX) : NULL;
    if (arena) {
        *self = (note){ .app = app, .arena = arena };
        return self;
    }
    free(self);
    atomic_fetch_sub(&notes_on_their_way, 1);
    return NULL;
}

void portarium_hidden_tool_called(const mcp_call *call, const char *name, mcp_hiding reason,
                                  void *data)
{
    const portarium_app *app = data;
    if (reason != MCP_HIDDEN_BY_SERVER || !app->plane || policies_allow(call, app, name))
        return;
    note *self = new_note(app);
    if (!self)
        return;
    if (!fill_note(self, call, name)) {
        free_note(self);
        return;
    }
    const portarium_tx as = { .arena = self->arena,
                              .workspace = self->actor.workspace,
                              .actor = &self->actor,
                              .correlation_id = "mcp" };
    portarium_plane_submit(app->plane, &as, write_note, end_note, self);
}
