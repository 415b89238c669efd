/*
 * session.c - operations of the shell, run in this process.
 */
#include "shell/session.h"

#include <stdlib.h>
#include <string.h>

#include "db/probe.h"
#include "gateway/app.h"
#include "local/local.h"

enum { ARENA_MAX = 256 << 20 };

/* Without --workspace it is the only one that there is. */
static mcp_status find_workspace(portarium_session *self, mcp_error *err)
{
    const mcp_json *found = NULL;
    mcp_status st = portarium_session_run(self, "listWorkspaces", NULL, NULL, NULL, err);
    if (st == MCP_OK)
        st = mcp_json_read(&found, self->arena, self->reply.text, self->reply.length, err);
    if (st != MCP_OK)
        return st;
    const mcp_json *items = mcp_json_get(found, "items");
    if (mcp_json_count(items) == 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND,
                             "the database has no workspace: portarium admin apply makes one");
    if (mcp_json_count(items) > 1)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--workspace (or PORTARIUM_WORKSPACE_ID) is required: portarium "
                             "workspaces list shows those that there are");
    self->workspace = mcp_json_get_string(mcp_json_item(items, 0), "workspaceId");
    return MCP_OK;
}

static mcp_status open_session(portarium_session *out, const cli_line *line, const char *url,
                               bool must_exist, mcp_error *err)
{
    bool has_key = cli_has(line, "evidence-key");
    const portarium_plane_options options = { .url = url,
                                              .evidence_key = has_key
                                                                  ? cli_string(line, "evidence-key")
                                                                  : NULL,
                                              .files = portarium_files,
                                              .has_no_engine = true,
                                              .must_exist = must_exist };
    *out = (portarium_session){ .line = line, .arena = mcp_arena_new(ARENA_MAX) };
    if (!out->arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the command");
    out->actor = (portarium_actor){ .subject = mcp_arena_printf(out->arena, "local:%s",
                                                                local_user()),
                                    .roles = PORTARIUM_ROLE(ADMIN) };
    mcp_status st = portarium_plane_open(&out->plane, &options, err);
    if (st != MCP_OK)
        portarium_session_close(out);
    return st;
}

mcp_status portarium_session_open(portarium_session *out, const cli_line *line, mcp_error *err)
{
    const char *url = cli_string(line, "db");
    if (!db_is_there(url))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no database %s: name one by --db",
                             strchr(url, ':') ? strchr(url, ':') + 1 : url);
    mcp_status st = open_session(out, line, url, true, err);
    if (st != MCP_OK || !cli_has(line, "workspace"))
        return st;
    out->workspace = cli_string(line, "workspace");
    st = out->workspace ? MCP_OK : find_workspace(out, err);
    if (st != MCP_OK)
        portarium_session_close(out);
    return st;
}

mcp_status portarium_session_make(portarium_session *out, const cli_line *line, const char *url,
                                  mcp_error *err)
{
    return open_session(out, line, url, false, err);
}

void portarium_session_close(portarium_session *self)
{
    portarium_plane_close(self->plane);
    mcp_arena_free(self->arena);
    *self = (portarium_session){ .plane = NULL };
}

static mcp_status status_of(int http)
{
    switch (http) {
    case 404:
        return MCP_E_NOT_FOUND;
    case 409:
        return MCP_E_EXISTS;
    case 403:
        return MCP_E_DENIED;
    case 501:
        return MCP_E_UNSUPPORTED;
    default:
        return http >= 500 ? MCP_E_IO : MCP_E_PARAMS;
    }
}

mcp_status portarium_session_run(portarium_session *self, const char *operation,
                                 const char *workspace, const mcp_json *arguments,
                                 const mcp_json *body, mcp_error *err)
{
    const portarium_request request = { .actor = &self->actor,
                                        .workspace = workspace,
                                        .arguments = arguments,
                                        .body = body,
                                        .correlation_id = "shell" };
    const portarium_reply *reply = &self->reply;
    portarium_plane_run(self->plane, portarium_operation_find(operation), &request, self->arena,
                        &self->reply);
    if (reply->status < 400)
        return MCP_OK;
    if (reply->fields.count > 0)
        return mcp_error_set(err, status_of(reply->status), "%s: %s", reply->fields.items[0].field,
                             reply->fields.items[0].message);
    return mcp_error_set(err, status_of(reply->status), "%s", reply->detail);
}
