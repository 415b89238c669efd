/*
 * workspaces.c - workspaces and their users.
 */
#include <string.h>

#include "model/identity.h"
#include "service/list.h"
#include "service/operations.h"
#include "service/workspaces.h"
#include "store/journal.h"
#include "store/tokens.h"

static mcp_status list_workspaces(portarium_tx *tx, const portarium_request *request,
                                  portarium_reply *reply, mcp_error *err)
{
    tx->workspace = request->actor->workspace;
    return portarium_reply_list(reply, tx, &portarium_workspaces, request, NULL, err);
}

static mcp_status get_workspace(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    portarium_record workspace;
    mcp_status st = portarium_record_get(&workspace, tx, &portarium_workspaces, request->workspace,
                                         err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, workspace.json, err) : st;
}

mcp_status portarium_workspace_create(portarium_tx *tx, const char *id, const char *name,
                                      mcp_error *err)
{
    const mcp_json *json = NULL;
    db_value values[] = { db_text(id) };
    tx->workspace = id;
    tx->head = (portarium_head){ .has_changed = true };
    mcp_status st = portarium_object(tx, &json, err, "workspaceId", id, "tenantId", id, "name",
                                     name, "createdAtIso", tx->now, NULL);
    if (st == MCP_OK)
        st = portarium_record_insert(NULL, tx, &portarium_workspaces, id, json, NULL, err);
    if (st == MCP_OK)
        st = db_run(tx->session, NULL,
                    "INSERT INTO heads (workspace, evidence_seq, evidence_at, event_seq, frozen) "
                    "VALUES ($1, 0, 0, 0, 0)",
                    values, 1, err);
    const portarium_evidence entry = { .category = "System", .summary = "Workspace created" };
    return st == MCP_OK ? portarium_evidence_add(tx, &entry, err) : st;
}

/* ---- users ----------------------------------------------------------------------------------- */

static mcp_status list_users(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_users, request, NULL, err);
}

static mcp_status get_user(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_record user;
    mcp_status st = portarium_record_get(&user, tx, &portarium_users,
                                         portarium_argument(request, "userId"), err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, user.json, err) : st;
}

static mcp_status note_user(portarium_tx *tx, const char *what, const char *id, mcp_error *err)
{
    const portarium_evidence entry = {
        .category = "OperatorSurface",
        .summary = mcp_arena_printf(tx->arena, "User %s %s", id, what),
    };
    tx->after.changes_policies = true;
    return portarium_evidence_add(tx, &entry, err);
}

static bool is_active(const mcp_json *user)
{
    bool out = true;
    mcp_json_bool(mcp_json_get(user, "active"), &out);
    return out;
}

/* The feed ends the user's streams when it reads this. */
static mcp_status note_activity(portarium_tx *tx, const char *id, bool was_active,
                                const mcp_json *user, mcp_error *err)
{
    const portarium_event event = { .type = "UserDeactivated", .kind = "user", .id = id };
    portarium_tokens_forget(tx);
    return was_active && !is_active(user) ? portarium_event_add(tx, &event, err) : MCP_OK;
}

/* Two users of a workspace have no e-mail address in common, whatever its case. */
static mcp_status check_email(portarium_tx *tx, const char *id, const char *email,
                              portarium_reply *reply, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(id), db_text(email) };
    mcp_status st = email ? db_query(&rows, tx->session,
                                     "SELECT 1 FROM users WHERE workspace = $1 AND id <> $2 AND "
                                     "LOWER(email) = LOWER($3)",
                                     values, 3, err)
                          : MCP_OK;
    bool is_taken = email && portarium_next(rows, &st, err);
    db_rows_free(rows);
    return is_taken ? portarium_refuse(reply, tx, err, 409, "Another user has the e-mail address.")
                    : st;
}

static mcp_status create_user(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *json = NULL, *body = request->body;
    const mcp_json *active = mcp_json_get(body, "active");
    const char *id = portarium_body_string(request, "userId");
    mcp_status st = id ? MCP_OK : portarium_id_new(&id, "user-", tx->arena, err);
    if (st == MCP_OK)
        st = check_email(tx, id, mcp_json_get_string(body, "email"), reply, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "userId", id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_string(&draft.json, "email", mcp_json_get_string(body, "email"));
    if (mcp_json_get(body, "displayName"))
        mcp_write_member_value(&draft.json, "displayName", mcp_json_get(body, "displayName"));
    mcp_write_member_value(&draft.json, "roles", mcp_json_get(body, "roles"));
    mcp_write_name(&draft.json, "active");
    if (active)
        mcp_write_value(&draft.json, active);
    else
        mcp_write_bool(&draft.json, true);
    mcp_write_member_string(&draft.json, "createdAtIso", tx->now);
    st = portarium_draft_read(&draft, tx, &json, err);
    if (st == MCP_OK)
        st = portarium_record_insert(NULL, tx, &portarium_users, id, json, NULL, err);
    if (st == MCP_OK)
        st = note_activity(tx, id, true, json, err);
    if (st == MCP_OK)
        st = note_user(tx, "created", id, err);
    portarium_reply_location(reply, tx, "users", id);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 201, json, err) : st;
}

/* The members of the body that a user has; all others are ignored. */
static mcp_status patch_of(portarium_tx *tx, const mcp_json **out, const mcp_json *body,
                           mcp_error *err)
{
    static const char *const members[] = { "email", "displayName", "roles", "active" };
    portarium_draft draft;
    portarium_draft_object(&draft);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (mcp_json_get(body, members[i]))
            mcp_write_member_value(&draft.json, members[i], mcp_json_get(body, members[i]));
    }
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status patch_user(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    portarium_record user;
    const mcp_json *changed = NULL, *patch = NULL;
    const char *id = portarium_argument(request, "userId");
    mcp_status st = portarium_record_get(&user, tx, &portarium_users, id, err);
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, user.json, err);
    if (st == MCP_OK)
        st = patch_of(tx, &patch, request->body, err);
    if (st == MCP_OK)
        st = portarium_merge(tx, &changed, user.json, patch, err);
    if (st == MCP_OK && mcp_json_equal(changed, user.json))
        return portarium_reply_json(reply, tx, 200, user.json, err);
    if (st == MCP_OK)
        st = check_email(tx, id, mcp_json_get_string(request->body, "email"), reply, err);
    bool was_active = st == MCP_OK && is_active(user.json);
    if (st == MCP_OK)
        st = portarium_record_patch(&user, tx, &portarium_users, patch, NULL, err);
    if (st == MCP_OK)
        st = note_activity(tx, id, was_active, user.json, err);
    if (st == MCP_OK)
        st = note_user(tx, "changed", id, err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, user.json, err) : st;
}

static mcp_status delete_user(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    portarium_record user;
    const char *id = portarium_argument(request, "userId");
    mcp_status st = portarium_record_get(&user, tx, &portarium_users, id, err);
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, user.json, err);
    if (st == MCP_OK)
        st = portarium_record_delete(tx, &portarium_users, id, err);
    portarium_tokens_forget(tx);
    if (st == MCP_OK)
        st = portarium_tokens_revoke(tx, id, err);
    if (st == MCP_OK)
        st = note_user(tx, "deleted", id, err);
    return st == MCP_OK ? portarium_reply_none(reply) : st;
}

/* clang-format off */
const portarium_operation portarium_workspace_operations[] = {
    { "listWorkspaces", "GET", "/v1/workspaces", PORTARIUM_MAY_READ, PORTARIUM_GLOBAL,
      PORTARIUM_NO_BODY, "Workspace", "the workspaces of the token", list_workspaces },
    { "getWorkspace", "GET", "", PORTARIUM_MAY_READ, PORTARIUM_ETAG,
      PORTARIUM_NO_BODY, "Workspace", "one workspace", get_workspace },
    { "listUsers", "GET", "/users", PORTARIUM_MAY_READ, 0,
      PORTARIUM_NO_BODY, "User", "the users of the workspace", list_users },
    { "createUser", "POST", "/users", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_UserCreate, "User", "add a user", create_user },
    { "getUser", "GET", "/users/{userId}", PORTARIUM_MAY_READ, PORTARIUM_ETAG,
      PORTARIUM_NO_BODY, "User", "one user", get_user },
    { "updateUser", "PATCH", "/users/{userId}", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND | PORTARIUM_IF_MATCH,
      PORTARIUM_SHAPE_UserPatch, "User", "change a user", patch_user },
    { "deleteUser", "DELETE", "/users/{userId}", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND | PORTARIUM_IF_MATCH,
      PORTARIUM_NO_BODY, NULL, "delete a user", delete_user },
    { 0 },
};
/* clang-format on */
