/*
 * credentials.c - credentials of the workspace. Their values go in and never out.
 */
#include "engine/sealed/stored.h"
#include "service/note.h"
#include "service/operations.h"

static mcp_status list_credentials(portarium_tx *tx, const portarium_request *request,
                                   portarium_reply *reply, mcp_error *err)
{
    db_rows *rows = NULL;
    portarium_draft draft;
    db_value values[] = { db_text(tx->workspace) };
    (void)request;
    portarium_draft_object(&draft);
    mcp_write_member_array(&draft.json, "items");
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT name, created_at FROM credentials WHERE workspace = $1 "
                             "ORDER BY name",
                             values, 1, err);
    while (portarium_next(rows, &st, err)) {
        char at[MCP_CLOCK_UTC_SIZE];
        mcp_clock_utc(at, db_int_at(rows, 1), true);
        mcp_write_object(&draft.json);
        mcp_write_member_string(&draft.json, "name", db_text_at(rows, 0, NULL));
        mcp_write_member_string(&draft.json, "storedAtIso", at);
        mcp_write_end(&draft.json);
    }
    db_rows_free(rows);
    mcp_write_end(&draft.json);
    if (st == MCP_OK)
        return portarium_reply_draft(reply, tx, 200, &draft, err);
    portarium_draft_clear(&draft);
    return st;
}

static mcp_status put_credential(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    bool is_new = false;
    const mcp_json *json = NULL;
    const char *name = portarium_argument(request, "credentialName");
    if (!portarium_stored_name_is_valid(name))
        return portarium_refuse(reply, tx, err, 422,
                                "The name of a credential is 1 to %d capital letters, digits and "
                                "'_', a letter first.",
                                PORTARIUM_STORED_NAME_MAX);
    mcp_status st = portarium_stored_put(&is_new, tx, name, portarium_body_string(request, "value"),
                                         err);
    if (st == MCP_E_LIMIT)
        return portarium_refuse(reply, tx, err, 409, "The workspace has %d credentials already.",
                                PORTARIUM_STORED_MAX);
    if (st == MCP_OK)
        st = portarium_note(tx, NULL, err, "Credential %s stored", name);
    if (st == MCP_OK)
        st = portarium_object(tx, &json, err, "name", name, "storedAtIso", tx->now, NULL);
    return st == MCP_OK ? portarium_reply_json(reply, tx, is_new ? 201 : 200, json, err) : st;
}

static mcp_status delete_credential(portarium_tx *tx, const portarium_request *request,
                                    portarium_reply *reply, mcp_error *err)
{
    int64_t changed = 0;
    const char *name = portarium_argument(request, "credentialName");
    db_value values[] = { db_text(tx->workspace), db_text(name) };
    mcp_status st = db_run(tx->session, &changed,
                           "DELETE FROM credentials WHERE workspace = $1 AND name = $2", values, 2,
                           err);
    if (st == MCP_OK && changed == 0)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "Credential %.64s not found.", name);
    if (st == MCP_OK)
        st = portarium_note(tx, NULL, err, "Credential %s deleted", name);
    return st == MCP_OK ? portarium_reply_none(reply) : st;
}

/* clang-format off */
const portarium_operation portarium_credential_operations[] = {
    { "listCredentials", "GET", "/credentials", PORTARIUM_MAY_ADMINISTER, 0,
      PORTARIUM_NO_BODY, "Credentials", "the names of the credentials, without their values",
      list_credentials },
    { "putCredential", "PUT", "/credentials/{credentialName}", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_Credential, "Credential", "store a credential, sealed", put_credential },
    { "deleteCredential", "DELETE", "/credentials/{credentialName}", PORTARIUM_MAY_ADMINISTER,
      PORTARIUM_COMMAND, PORTARIUM_NO_BODY, NULL, "delete a credential", delete_credential },
    { 0 },
};
/* clang-format on */
