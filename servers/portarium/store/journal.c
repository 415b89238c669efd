/*
 * journal.c - evidence, events and payloads of a transaction.
 */
#include "store/journal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "evidence/entry.h"
#include "keys/canonical.h"
#include "model/identity.h"
#include "model/vocabulary.h"
#include "store/tx/pending.h"

enum { PAYLOADS = 4 };

static const portarium_rows evidence_rows = {
    "evidence",
    "workspace, seq, id, occurred_at, category, run_id, plan_id, work_item_id, approval_id, hash, "
    "json",
    11
};
static const portarium_rows event_rows = {
    "outbox", "workspace, seq, type, kind, aggregate, run_id, json, created_at", 8
};
static const portarium_rows link_rows = { "work_item_links", "workspace, kind, ref, work_item_id",
                                          4 };
static const portarium_rows payload_rows = {
    "payloads", "workspace, id, run_id, sha256, media, class, bytes, created_at", 8
};

/* ---- evidence -------------------------------------------------------------------------------- */

/* Evidence must not have e-mail addresses: an `@` between two words is replaced. A summary that was
 * cut ends with a whole character, since an entry is UTF-8. */
static const char *without_addresses(mcp_arena *arena, const char *text)
{
    char *out = mcp_arena_strndup(arena, text, portarium_text_whole(text, strlen(text)));
    for (char *at = out ? strchr(out, '@') : NULL; at; at = strchr(at + 1, '@')) {
        if (at > out && at[-1] != ' ' && at[1] && at[1] != ' ')
            *at = ' ';
    }
    return out;
}

static portarium_evidence_actor actor_of(const portarium_tx *tx, const portarium_evidence *entry)
{
    const portarium_actor *actor = tx->actor;
    bool is_system = entry->by == PORTARIUM_BY_SYSTEM || !actor ||
                     strncmp(actor->subject, "system:", 7) == 0;
    if (entry->by == PORTARIUM_BY_ADAPTER)
        return (portarium_evidence_actor){ .kind = "Adapter", .id = entry->adapter_id };
    if (is_system)
        return (portarium_evidence_actor){ .kind = "System" };
    if (!actor->agent_id)
        return (portarium_evidence_actor){ .kind = "User", .id = actor->subject };
    return (portarium_evidence_actor){ .kind = "Machine",
                                       .id = actor->machine_id ? actor->machine_id : "unknown",
                                       .agent_id = actor->agent_id };
}

static const char payload_media[] = "application/json";

/* What the entry refers to, with its hash: mostly what was stored just now. */
static mcp_status read_payload(portarium_payload_ref *out, portarium_tx *tx, const char *id,
                               mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(id) };
    *out = (portarium_payload_ref){
        .kind = "Snapshot",
        .uri = mcp_arena_printf(tx->arena, "portarium://%s/payloads/%s", tx->workspace, id),
        .sha256 = tx->payload.sha256,
        .content_type = payload_media,
    };
    if (tx->payload.id && strcmp(tx->payload.id, id) == 0)
        return MCP_OK;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT sha256, media FROM payloads WHERE workspace = $1 AND id = $2",
                             values, 2, err);
    bool found = portarium_next(rows, &st, err);
    out->sha256 = found ? mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL)) : NULL;
    out->content_type = found ? mcp_arena_strdup(tx->arena, db_text_at(rows, 1, NULL)) : NULL;
    db_rows_free(rows);
    return st;
}

/* The text of an entry, with its hash. */
static mcp_status write_text(mcp_buf *out, char hash[KEYS_HEX_SIZE], portarium_tx *tx,
                             const char *id, int64_t at, const portarium_evidence *entry,
                             mcp_error *err)
{
    portarium_payload_ref payloads[PAYLOADS];
    mcp_buf canonical;
    portarium_entry whole = { .evidence_id = id,
                              .workspace_id = tx->workspace,
                              .correlation_id = tx->correlation_id,
                              .traceparent = tx->trace.parent,
                              .occurred_at_ms = at,
                              .category = entry->category,
                              .summary = without_addresses(tx->arena, entry->summary),
                              .actor = actor_of(tx, entry),
                              .run_id = entry->run_id,
                              .plan_id = entry->plan_id,
                              .work_item_id = entry->work_item_id,
                              .approval_id = entry->approval_id,
                              .payloads = payloads };
    mcp_status st = MCP_OK;
    for (; st == MCP_OK && whole.payload_count < PAYLOADS; whole.payload_count++) {
        const char *payload = entry->payloads[whole.payload_count];
        if (!payload)
            break;
        st = read_payload(&payloads[whole.payload_count], tx, payload, err);
    }
    mcp_buf_init(&canonical, PORTARIUM_ENTRY_MAX);
    if (st == MCP_OK)
        st = portarium_entry_write(&canonical, hash, &whole,
                                   tx->head.evidence_seq > 0 ? tx->head.evidence_hash : NULL, err);
    if (st == MCP_OK)
        st = portarium_entry_complete(out, canonical.data, canonical.length, hash, NULL, err);
    mcp_buf_clear(&canonical);
    return st;
}

/* Store an entry, and make it the head. */
static mcp_status append(portarium_tx *tx, const char *id, int64_t at,
                         const portarium_evidence *entry, const char *hash, const mcp_buf *text,
                         mcp_error *err)
{
    portarium_head *head = &tx->head;
    if (entry->id)
        *entry->id = id;
    db_value values[] = { db_text(tx->workspace),
                          db_int(head->evidence_seq + 1),
                          db_text(id),
                          db_int(at),
                          db_text(entry->category),
                          db_text(entry->run_id),
                          db_text(entry->plan_id),
                          db_text(entry->work_item_id),
                          db_text(entry->approval_id),
                          db_text(hash),
                          db_text_n(text->data, text->length) };
    mcp_status st = portarium_pending_row(tx, &evidence_rows, values, err);
    if (st == MCP_OK && entry->work_item_id)
        st = portarium_link_add(tx, entry->work_item_id, "evidence", id, err);
    head->evidence_seq++;
    head->evidence_at = at;
    head->has_changed = true;
    memcpy(head->evidence_hash, hash, sizeof head->evidence_hash);
    return st;
}

mcp_status portarium_evidence_add(portarium_tx *tx, const portarium_evidence *entry, mcp_error *err)
{
    const char *id = NULL;
    char hash[KEYS_HEX_SIZE];
    mcp_buf text;
    int64_t at = tx->now_ms > tx->head.evidence_at ? tx->now_ms : tx->head.evidence_at;
    mcp_status st = portarium_id_new(&id, "ev-", tx->arena, err);
    mcp_buf_init(&text, PORTARIUM_ENTRY_MAX);
    if (st == MCP_OK)
        st = write_text(&text, hash, tx, id, at, entry, err);
    if (st == MCP_OK)
        st = append(tx, id, at, entry, hash, &text, err);
    mcp_buf_clear(&text);
    return st;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void write_member_if(mcp_json_writer *json, const char *name, const char *value)
{
    if (value)
        mcp_write_member_string(json, name, value);
}

static mcp_status write_event(portarium_tx *tx, portarium_draft *draft, const char *id,
                              const portarium_event *event)
{
    mcp_json_writer *json = &draft->json;
    const portarium_actor *actor = tx->actor;
    mcp_write_member_string(json, "specversion", "1.0");
    mcp_write_member_string(json, "id", id);
    mcp_write_member_string(json, "source",
                            mcp_arena_printf(tx->arena, "portarium://%s", tx->settings->instance));
    mcp_write_member_string(
        json, "type", mcp_arena_printf(tx->arena, "com.portarium.%s.%s", event->kind, event->type));
    mcp_write_member_string(json, "subject",
                            mcp_arena_printf(tx->arena, "%ss/%s", event->kind, event->id));
    mcp_write_member_string(json, "time", tx->now);
    mcp_write_member_string(json, "datacontenttype", "application/json");
    mcp_write_member_string(json, "tenantid", tx->workspace);
    mcp_write_member_string(json, "correlationid", tx->correlation_id);
    write_member_if(json, "runid", event->run_id);
    write_member_if(json, "actionid", event->action_id);
    portarium_trace_write(json, &tx->trace);
    mcp_write_member_object(json, "data");
    mcp_write_member_int(json, "schemaVersion", 1);
    mcp_write_member_string(json, "eventId", id);
    mcp_write_member_string(json, "eventType", event->type);
    mcp_write_member_string(json, "aggregateKind", event->kind);
    mcp_write_member_string(json, "aggregateId", event->id);
    mcp_write_member_string(json, "occurredAtIso", tx->now);
    mcp_write_member_string(json, "workspaceId", tx->workspace);
    mcp_write_member_string(json, "correlationId", tx->correlation_id);
    write_member_if(json, "actorUserId", actor ? actor->subject : NULL);
    if (event->data)
        mcp_write_member_value(json, "payload", event->data);
    mcp_write_end(json);
    mcp_write_end(json);
    return mcp_json_writer_status(json);
}

mcp_status portarium_event_add(portarium_tx *tx, const portarium_event *event, mcp_error *err)
{
    portarium_draft draft;
    const char *id = NULL;
    portarium_head *head = &tx->head;
    portarium_event_type known;
    assert(portarium_event_type_read(&known, event->type)); /* webhooks name types of the map */
    (void)known;
    mcp_status st = portarium_id_new(&id, "evt-", tx->arena, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    st = write_event(tx, &draft, id, event);
    db_value values[] = { db_text(tx->workspace),
                          db_int(head->event_seq + 1),
                          db_text(event->type),
                          db_text(event->kind),
                          db_text(event->id),
                          db_text(event->run_id),
                          db_text_n(draft.buf.data, draft.buf.length),
                          db_int(tx->now_ms) };
    st = st == MCP_OK
             ? portarium_pending_row(tx, &event_rows, values, err)
             : mcp_error_set(err, st, "an event cannot be written: %s", mcp_status_words(st));
    portarium_draft_clear(&draft);
    head->event_seq++;
    head->has_changed = true;
    tx->after.has_events = true;
    return st;
}

/* ---- links ----------------------------------------------------------------------------------- */

mcp_status portarium_link_add(portarium_tx *tx, const char *item, const char *kind, const char *ref,
                              mcp_error *err)
{
    const db_value values[] = { db_text(tx->workspace), db_text(kind), db_text(ref),
                                db_text(item) };
    return portarium_pending_row(tx, &link_rows, values, err);
}

/* ---- payloads -------------------------------------------------------------------------------- */

mcp_status portarium_payload_add(portarium_tx *tx, const char **id, const char *run_id,
                                 const char *class, const mcp_json *value, mcp_error *err)
{
    mcp_buf buf;
    uint8_t digest[MCP_SHA256_SIZE];
    char hash[KEYS_HEX_SIZE];
    mcp_buf_init(&buf, PORTARIUM_STORED_PAYLOAD_MAX);
    mcp_status st = keys_canonical(&buf, value, err);
    if (st == MCP_E_LIMIT)
        mcp_error_set(err, st, "a payload is longer than 1 MiB");
    if (st == MCP_OK)
        st = mcp_sha256(digest, buf.data, buf.length, err);
    if (st == MCP_OK)
        st = portarium_id_new(id, "pl-", tx->arena, err);
    if (st == MCP_OK) {
        keys_hex(hash, digest);
        db_value values[] = { db_text(tx->workspace),
                              db_text(*id),
                              db_text(run_id),
                              db_text(hash),
                              db_text(payload_media),
                              db_text(class),
                              db_blob(buf.data, buf.length),
                              db_int(tx->now_ms) };
        st = portarium_pending_row(tx, &payload_rows, values, err);
    }
    mcp_buf_clear(&buf);
    if (st != MCP_OK)
        return st;
    tx->payload.id = *id;
    tx->payload.sha256 = mcp_arena_strdup(tx->arena, hash);
    return tx->payload.sha256 ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a payload");
}
