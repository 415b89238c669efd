/*
 * webhooks.c - webhooks: addresses that events are delivered to.
 */
#include <string.h>

#include "engine/sealed/secrets.h"
#include "keys/canonical.h"
#include "mcp/random.h"
#include "model/identity.h"
#include "service/list.h"
#include "service/note.h"
#include "service/operations.h"
#include "service/trail/pump.h"

enum { SECRET_BYTES = 32, WEBHOOKS_MAX = 100 };

/* How deliveries go: columns that the pump writes. */
static mcp_status read_delivery(const mcp_json **out, portarium_tx *tx, const db_rows *rows,
                                mcp_error *err)
{
    portarium_draft draft;
    char at[MCP_CLOCK_UTC_SIZE];
    int64_t failures = db_int_at(rows, 0);
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "consecutiveFailures", failures);
    if (failures > 0) {
        portarium_time_write(at, db_int_at(rows, 1));
        mcp_write_member_string(&draft.json, "nextAttemptAtIso", at);
    }
    if (!db_null_at(rows, 2)) {
        portarium_time_write(at, db_int_at(rows, 2));
        mcp_write_member_object(&draft.json, "lastFailure");
        mcp_write_member_string(&draft.json, "atIso", at);
        mcp_write_member_string(&draft.json, "reason", db_text_at(rows, 3, NULL));
        mcp_write_end(&draft.json);
    }
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status write_webhook(mcp_json_writer *json, portarium_tx *tx,
                                const portarium_record *webhook, mcp_error *err)
{
    db_rows *rows = NULL;
    const mcp_json *delivery = NULL, *whole = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(webhook->id) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT failures, next_at, failed_at, failure FROM webhooks WHERE "
                             "workspace = $1 AND id = $2",
                             values, 2, err);
    if (portarium_next(rows, &st, err))
        st = read_delivery(&delivery, tx, rows, err);
    db_rows_free(rows);
    if (st == MCP_OK)
        st = portarium_merge(tx, &whole, webhook->json, delivery, err);
    if (st == MCP_OK)
        mcp_write_value(json, whole);
    return st;
}

static mcp_status list_webhooks(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_webhooks, request, write_webhook, err);
}

static mcp_status make_secret(const char **out, portarium_tx *tx, mcp_error *err)
{
    uint8_t bytes[SECRET_BYTES];
    char text[2 * SECRET_BYTES + 1];
    mcp_status st = mcp_random_bytes(bytes, sizeof bytes, err);
    if (st != MCP_OK)
        return st;
    keys_hex(text, bytes);
    *out = mcp_arena_printf(tx->arena, "whsec_%s", text);
    return *out ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a secret");
}

static mcp_status check_count(portarium_tx *tx, portarium_reply *reply, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT COUNT(*) FROM webhooks WHERE workspace = $1", values, 1, err);
    bool is_full = portarium_next(rows, &st, err) && db_int_at(rows, 0) >= WEBHOOKS_MAX;
    db_rows_free(rows);
    return st == MCP_OK && is_full
               ? portarium_refuse(reply, tx, err, 409, "The workspace has %d webhooks already.",
                                  WEBHOOKS_MAX)
               : st;
}

/* Events are delivered from the next one on. */
static mcp_status begin_at_head(portarium_tx *tx, const char *id, mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_text(id), db_int(tx->head.event_seq) };
    return db_run(tx->session, NULL,
                  "UPDATE webhooks SET delivered = $3 WHERE workspace = $1 AND id = $2", values, 3,
                  err);
}

static mcp_status document_of(const mcp_json **out, portarium_tx *tx, const mcp_json *body,
                              const char *id, mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "webhookId", id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_value(&draft.json, "url", mcp_json_get(body, "url"));
    if (mcp_json_get(body, "types"))
        mcp_write_member_value(&draft.json, "types", mcp_json_get(body, "types"));
    mcp_write_member_string(&draft.json, "createdAtIso", tx->now);
    return portarium_draft_read(&draft, tx, out, err);
}

/* The hidden document: the secret, sealed. */
static mcp_status hide_secret(const mcp_json **out, portarium_tx *tx, const char *id,
                              const char *secret, mcp_error *err)
{
    const char *sealed = NULL;
    const char *name = portarium_webhook_secret_name(tx->arena, tx->workspace, id);
    mcp_status st = name ? portarium_seal(&sealed, tx->arena, tx->settings, name, secret,
                                          strlen(secret), err)
                         : mcp_error_set(err, MCP_E_NOMEM, "no memory for a secret");
    return st == MCP_OK ? portarium_object(tx, out, err, "sealed", sealed, NULL) : st;
}

/* The answer shows the secret, once: a repeated request gets the document without it. */
static mcp_status reply_created(portarium_reply *reply, portarium_tx *tx, const char *id,
                                const mcp_json *json, const char *secret, mcp_error *err)
{
    const mcp_json *shown = NULL, *answer = NULL;
    mcp_status st = portarium_object(tx, &shown, err, "secret", secret, NULL);
    if (st == MCP_OK)
        st = portarium_merge(tx, &answer, json, shown, err);
    if (st == MCP_OK)
        st = portarium_reply_json(reply, tx, 201, json, err);
    reply->repeated = reply->text;
    if (st == MCP_OK)
        st = portarium_reply_json(reply, tx, 201, answer, err);
    portarium_reply_location(reply, tx, "webhooks", id);
    return st;
}

/* The schema has the types of events, too; it does not say where to look for them. */
static mcp_status judge_body(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    const mcp_json *types = mcp_json_get(request->body, "types");
    portarium_event_type known;
    for (size_t i = 0; mcp_json_is_array(types) && i < mcp_json_count(types); i++) {
        const char *type = mcp_json_string(mcp_json_item(types, i), NULL);
        if (type && !portarium_event_type_read(&known, type))
            portarium_fields_add(&reply->fields,
                                 portarium_fields_index(&reply->fields, "/types", i),
                                 "no event has the type %.64s: GET /v1/openapi.json has the types, "
                                 "in components.schemas.EventType",
                                 type);
    }
    mcp_status st = portarium_fields_status(&reply->fields, err);
    return st == MCP_OK ? portarium_shape_check(tx->settings->shapes, PORTARIUM_SHAPE_Webhook,
                                                request->body, &reply->fields, err)
                        : st;
}

static mcp_status create_webhook(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    const mcp_json *json = NULL, *hidden = NULL;
    const char *id = NULL, *secret = NULL;
    mcp_status st = judge_body(tx, request, reply, err);
    if (st == MCP_OK)
        st = check_count(tx, reply, err);
    if (st == MCP_OK)
        st = portarium_pump_judge(tx->settings->pump, portarium_body_string(request, "url"),
                                  &reply->fields, err);
    if (st == MCP_OK)
        st = portarium_id_new(&id, "wh-", tx->arena, err);
    if (st == MCP_OK)
        st = make_secret(&secret, tx, err);
    if (st == MCP_OK)
        st = document_of(&json, tx, request->body, id, err);
    if (st == MCP_OK)
        st = hide_secret(&hidden, tx, id, secret, err);
    if (st == MCP_OK)
        st = portarium_record_insert(NULL, tx, &portarium_webhooks, id, json, hidden, err);
    if (st == MCP_OK)
        st = begin_at_head(tx, id, err);
    if (st == MCP_OK)
        st = portarium_note(tx, NULL, err, "Webhook %s created", id);
    return st == MCP_OK ? reply_created(reply, tx, id, json, secret, err) : st;
}

static mcp_status delete_webhook(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    portarium_record webhook;
    const char *id = portarium_argument(request, "webhookId");
    mcp_status st = portarium_record_get(&webhook, tx, &portarium_webhooks, id, err);
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, webhook.json, err);
    if (st == MCP_OK)
        st = portarium_record_delete(tx, &portarium_webhooks, id, err);
    if (st == MCP_OK)
        st = portarium_note(tx, NULL, err, "Webhook %s deleted", id);
    return st == MCP_OK ? portarium_reply_none(reply) : st;
}

/* clang-format off */
const portarium_operation portarium_webhook_operations[] = {
    { "listWebhooks", "GET", "/webhooks", PORTARIUM_MAY_ADMINISTER, 0,
      PORTARIUM_NO_BODY, "Webhook", "the webhooks, without their secrets", list_webhooks },
    { "createWebhook", "POST", "/webhooks", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND | PORTARIUM_JUDGES_BODY,
      PORTARIUM_SHAPE_Webhook, "Webhook", "have events delivered to an address", create_webhook },
    { "deleteWebhook", "DELETE", "/webhooks/{webhookId}", PORTARIUM_MAY_ADMINISTER,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH, PORTARIUM_NO_BODY, NULL, "end the delivery", delete_webhook },
    { 0 },
};
/* clang-format on */
