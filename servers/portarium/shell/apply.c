/*
 * apply.c - portarium admin apply: workspaces and what they have, from a file.
 *
 *     {"workspaces": [{"workspaceId": "ws-1", "name": "First", "users": [...], "machines": [...],
 *       "agents": [...], "adapters": [...], "policies": [...], "workflows": [...],
 *       "toolExposure": {...}}]}
 *
 * What exists already stays as it is, except workflows, policies and the exposure of tools, which
 * get a new version where the file has another content; so a file may be applied again.
 */
#include "shell/apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"
#include "service/workspaces.h"
#include "shell/line.h"
#include "shell/session.h"

enum { FILE_MAX = 16 << 20 };

/* A list of a workspace in the file. */
static const struct {
    const char *member;
    const char *create; /* operation */
    const char *update; /* NULL: none, as the next */
    const char *get;
    const char *id;
    bool stays; /* what exists stays; an agent is refused by createAgent where it is another */
} lists[] = {
    { "users", "createUser", "updateUser", "getUser", "userId", false },
    { "machines", "createMachine", NULL, NULL, "machineId", true },
    { "agents", "createAgent", NULL, NULL, "agentId", false },
    { "adapters", "createAdapter", "updateAdapter", "getAdapter", "adapterId", false },
    { "policies", "createPolicy", "updatePolicy", "getPolicy", "policyId", false },
    { "workflows", "createWorkflow", "updateWorkflow", "getWorkflow", "workflowId", false },
};

/* The work, and its counts. */
typedef struct application {
    portarium_session *session;
    portarium_applied done;
} application;

static mcp_status read_file(const mcp_json **out, mcp_arena *arena, const char *path,
                            mcp_error *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    mcp_buf text;
    mcp_error why = MCP_ERROR_INIT;
    char chunk[16384];
    size_t count = 1;
    if (!file)
        return mcp_error_errno(err, errno, "%s cannot be opened", path);
    mcp_buf_init(&text, FILE_MAX);
    while (count > 0 && text.status == MCP_OK) {
        count = fread(chunk, 1, sizeof chunk, file);
        mcp_buf_append(&text, chunk, count);
    }
    mcp_status st = text.status;
    if (ferror(file))
        st = mcp_error_errno(err, errno, "%s cannot be read", path);
    else if (st != MCP_OK)
        mcp_error_set(err, st, "%s: %s", path, mcp_status_words(st));
    else if (mcp_json_read(out, arena, text.data ? text.data : "", text.length, &why) != MCP_OK)
        st = mcp_error_set(err, MCP_E_PARAMS, "%s is not JSON: %s", path, why.message);
    if (file != stdin)
        fclose(file);
    mcp_buf_clear(&text);
    return st;
}

/* ---- one object ------------------------------------------------------------------------------ */

static mcp_status arguments_of(const mcp_json **out, mcp_arena *arena, const char *name,
                               const char *id, mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    mcp_buf_init(&text, 4096);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, name, id);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = mcp_json_read(out, arena, text.data, text.length, err);
    mcp_buf_clear(&text);
    return st;
}

static mcp_status run_and_read(const mcp_json **out, portarium_session *session,
                               const char *operation, const char *workspace,
                               const mcp_json *arguments, const mcp_json *body, mcp_error *err)
{
    mcp_status st = portarium_session_run(session, operation, workspace, arguments, body, err);
    return st == MCP_OK
               ? mcp_json_read(out, session->arena, session->reply.text, session->reply.length, err)
               : st;
}

static mcp_status apply_one(application *self, size_t list, const char *workspace,
                            const mcp_json *body, mcp_error *err)
{
    portarium_session *session = self->session;
    const mcp_json *arguments = NULL, *before = NULL, *after = NULL;
    const char *id = mcp_json_get_string(body, lists[list].id);
    if (!portarium_operation_find(lists[list].create))
        return mcp_error_set(err, MCP_E_UNSUPPORTED, "%s cannot be applied", lists[list].member);
    mcp_status st = portarium_session_run(session, lists[list].create, workspace, NULL, body, err);
    if (st == MCP_E_EXISTS && lists[list].stays)
        st = MCP_OK;
    if (st == MCP_OK && session->reply.status == 201)
        self->done.created++;
    else if (st == MCP_OK)
        self->done.unchanged++;
    if (st != MCP_E_EXISTS || !id || !lists[list].update)
        return st;
    st = arguments_of(&arguments, session->arena, lists[list].id, id, err);
    if (st == MCP_OK)
        st = run_and_read(&before, session, lists[list].get, workspace, arguments, NULL, err);
    if (st == MCP_OK)
        st = run_and_read(&after, session, lists[list].update, workspace, arguments, body, err);
    if (st != MCP_OK)
        return st;
    if (mcp_json_equal(before, after))
        self->done.unchanged++;
    else
        self->done.changed++;
    return MCP_OK;
}

/* ---- the exposure of tools ------------------------------------------------------------------- */

/* Whether the workspace has that exposure: the stored one has members of the plane, too. */
static bool has_exposure(portarium_session *session, const char *workspace, const mcp_json *body)
{
    static const char *const members[] = { "rules", "toolClasses", "defaultEffect" };
    const mcp_json *stored = NULL;
    if (portarium_session_run(session, "getToolExposure", workspace, NULL, NULL, NULL) != MCP_OK ||
        mcp_json_read(&stored, session->arena, session->reply.text, session->reply.length, NULL) !=
            MCP_OK)
        return false;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const mcp_json *one = mcp_json_get(stored, members[i]),
                       *other = mcp_json_get(body, members[i]);
        if (!one != !other || (one && !mcp_json_equal(one, other)))
            return false;
    }
    return true;
}

static mcp_status apply_exposure(application *self, const char *workspace, const mcp_json *body,
                                 mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    if (!body)
        return MCP_OK;
    if (has_exposure(self->session, workspace, body)) {
        self->done.unchanged++;
        return MCP_OK;
    }
    mcp_status st = portarium_session_run(self->session, "setToolExposure", workspace, NULL, body,
                                          &why);
    self->done.changed += st == MCP_OK;
    return st == MCP_OK ? st
                        : mcp_error_set(err, st, "%s: toolExposure: %s", workspace, why.message);
}

/* ---- one workspace --------------------------------------------------------------------------- */

typedef struct naming {
    const char *id, *name;
} naming;

static mcp_status make_workspace(portarium_tx *tx, void *data, mcp_error *err)
{
    const naming *names = data;
    return portarium_workspace_create(tx, names->id, names->name, err);
}

/* A member of another name, or a list that is none, would be left out without a word, and with a
 * policy the gate that it is. */
static mcp_status check_members(const mcp_json *what, mcp_error *err)
{
    for (size_t i = 0; i < mcp_json_count(what); i++) {
        const char *name = mcp_json_name(what, i, NULL);
        size_t list = 0, count = sizeof lists / sizeof lists[0];
        while (list < count && strcmp(name, lists[list].member) != 0)
            list++;
        bool is_list = list < count;
        bool is_other = strcmp(name, "workspaceId") == 0 || strcmp(name, "name") == 0 ||
                        strcmp(name, "toolExposure") == 0;
        if (!is_list && !is_other)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "%.64s: there is no such member; a workspace has workspaceId, "
                                 "name, users, machines, agents, adapters, policies, workflows and "
                                 "toolExposure",
                                 name);
        if (is_list && !mcp_json_is_array(mcp_json_item(what, i)))
            return mcp_error_set(err, MCP_E_PARAMS, "%s must be a list", name);
    }
    return MCP_OK;
}

static mcp_status apply_workspace(application *self, const mcp_json *what, mcp_error *err)
{
    portarium_session *session = self->session;
    naming names = { mcp_json_get_string(what, "workspaceId"), mcp_json_get_string(what, "name") };
    mcp_error why_not = MCP_ERROR_INIT;
    if (!names.id || !names.name)
        return mcp_error_set(err, MCP_E_PARAMS, "a workspace needs workspaceId and name");
    if (check_members(what, &why_not) != MCP_OK)
        return mcp_error_set(err, MCP_E_PARAMS, "%.128s: %s", names.id, why_not.message);
    mcp_status st = portarium_plane_write(session->plane, NULL, session->arena, make_workspace,
                                          &names, err);
    self->done.created += st == MCP_OK;
    if (st == MCP_E_EXISTS)
        st = MCP_OK;
    for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++) {
        const mcp_json *items = mcp_json_get(what, lists[list].member);
        for (size_t i = 0; st == MCP_OK && i < mcp_json_count(items); i++) {
            mcp_error why = MCP_ERROR_INIT;
            st = apply_one(self, list, names.id, mcp_json_item(items, i), &why);
            if (st != MCP_OK)
                mcp_error_set(err, st, "%s: %s[%zu]: %s", names.id, lists[list].member, i,
                              why.message);
        }
    }
    return st == MCP_OK ? apply_exposure(self, names.id, mcp_json_get(what, "toolExposure"), err)
                        : st;
}

mcp_status portarium_apply(portarium_applied *out, portarium_session *session,
                           const mcp_json *document, mcp_error *err)
{
    application self = { .session = session, .done = *out };
    const mcp_json *workspaces = mcp_json_get(document, "workspaces");
    mcp_status st = MCP_OK;
    if (!mcp_json_is_array(workspaces))
        return mcp_error_set(err, MCP_E_PARAMS, "there is no list \"workspaces\"");
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(workspaces); i++)
        st = apply_workspace(&self, mcp_json_item(workspaces, i), err);
    *out = self.done;
    return st;
}

int portarium_line_apply(const cli_line *line, void *data)
{
    portarium_session session;
    portarium_applied done = { .created = 0 };
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *file = NULL;
    (void)data;
    mcp_status st = portarium_session_make(&session, line, cli_string(line, "db"), &err);
    if (st != MCP_OK)
        return serve_fail(line, st, &err);
    st = read_file(&file, session.arena, cli_argument(line, 0), &err);
    if (st == MCP_OK)
        st = portarium_apply(&done, &session, file, &err);
    if (st == MCP_OK && cli_flag(line, "json"))
        fprintf(cli_out(line), "{\"created\":%d,\"changed\":%d,\"unchanged\":%d}\n", done.created,
                done.changed, done.unchanged);
    else if (st == MCP_OK)
        fprintf(cli_out(line), "%d created, %d changed, %d unchanged\n", done.created, done.changed,
                done.unchanged);
    int status = st == MCP_OK ? SERVE_EXIT_DONE : serve_fail(line, st, &err);
    portarium_session_close(&session);
    return status;
}
