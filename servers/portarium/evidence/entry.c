/*
 * entry.c - writing evidence entries.
 *
 * The members are written in the order of their names, and none of them is a number but the
 * version, so the writer's text is the canonical one; only external references, which come from
 * outside, go through keys_canonical.
 */
#include "evidence/entry.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "keys/base64.h"
#include "mcp/clock.h"

/* ---- what is allowed ------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words)
{
    for (; word && *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool is_of_address(char byte)
{
    return isalnum((unsigned char)byte) || strchr("._%+-", byte) || (unsigned char)byte >= 0x80;
}

/* Whether the '@' has a name before it and a domain of two labels or more after it. */
static bool is_address(const char *text, size_t length, size_t at)
{
    size_t end = at + 1, dot = 0;

    if (at == 0 || !is_of_address(text[at - 1]))
        return false;
    for (; end < length && text[end] && is_of_address(text[end]); end++)
        if (text[end] == '.' && end > at + 1 && end + 2 < length &&
            isalpha((unsigned char)text[end + 1]) && isalpha((unsigned char)text[end + 2]))
            dot = end;
    return dot > 0;
}

static bool has_address(const char *text, size_t length)
{
    for (size_t at = 0; text && at < length; at++)
        if (text[at] == '@' && is_address(text, length, at))
            return true;
    return false;
}

static mcp_status refuse(mcp_error *err, const char *what)
{
    return mcp_error_set(err, MCP_E_PARAMS, "evidence: %s", what);
}

static mcp_status check_payloads(const portarium_entry *entry, mcp_error *err)
{
    static const char *const kinds[] = { "Artifact", "Snapshot", "Diff", "Log", NULL };
    uint8_t digest[MCP_SHA256_SIZE];

    for (size_t i = 0; i < entry->payload_count; i++) {
        const portarium_payload_ref *ref = &entry->payloads[i];
        if (!is_one_of(ref->kind, kinds))
            return refuse(err, "unknown kind of payload");
        if (!ref->uri || !*ref->uri || strpbrk(ref->uri, "?#"))
            return refuse(err, "the URI of a payload is missing or has '?' or '#'");
        if (ref->sha256 && !keys_unhex(digest, ref->sha256, strlen(ref->sha256)))
            return refuse(err, "the hash of a payload has not 64 hexadecimal digits");
    }
    return MCP_OK;
}

static mcp_status check_references(const portarium_entry *entry, mcp_error *err)
{
    if (entry->external_refs && !mcp_json_is_array(entry->external_refs))
        return refuse(err, "external references are not an array");
    for (size_t i = 0; i < mcp_json_count(entry->external_refs); i++) {
        const mcp_json *id = mcp_json_get(mcp_json_item(entry->external_refs, i), "externalId");
        size_t length = 0;
        const char *text = mcp_json_string(id, &length);
        if (has_address(text, length))
            return refuse(err, "an external id is an e-mail address");
    }
    return MCP_OK;
}

static mcp_status check(const portarium_entry *entry, const char *previous_hash, mcp_error *err)
{
    static const char *const kinds[] = { "User", "Machine", "Adapter", "System", NULL };
    static const char *const categories[] = {
        "Plan", "Action", "Approval", "OperatorSurface", "Policy", "PolicyViolation", "System", NULL
    };
    uint8_t digest[MCP_SHA256_SIZE];
    const char *const needed[] = { entry->evidence_id, entry->workspace_id, entry->correlation_id,
                                   entry->summary };

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!needed[i] || !*needed[i])
            return refuse(err,
                          "an entry needs ids of itself, its workspace and its cause, and words");
    if (!is_one_of(entry->category, categories))
        return refuse(err, "unknown category");
    if (!is_one_of(entry->actor.kind, kinds))
        return refuse(err, "unknown kind of actor");
    if (!entry->actor.id != (strcmp(entry->actor.kind, "System") == 0))
        return refuse(err, "every actor but System has an id");
    if (entry->actor.agent_id && strcmp(entry->actor.kind, "Machine") != 0)
        return refuse(err, "an agent is on a machine");
    if (has_address(entry->summary, strlen(entry->summary)))
        return refuse(err, "the summary has an e-mail address");
    if (previous_hash && !keys_unhex(digest, previous_hash, strlen(previous_hash)))
        return refuse(err, "the previous hash has not 64 hexadecimal digits");
    mcp_status st = check_payloads(entry, err);
    return st == MCP_OK ? check_references(entry, err) : st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_optional(mcp_json_writer *writer, const char *name, const char *text)
{
    if (text)
        mcp_write_member_string(writer, name, text);
}

static void write_actor(mcp_json_writer *writer, const portarium_evidence_actor *actor)
{
    bool is_user = strcmp(actor->kind, "User") == 0;

    mcp_write_member_object(writer, "actor");
    if (strcmp(actor->kind, "Adapter") == 0)
        mcp_write_member_string(writer, "adapterId", actor->id);
    write_optional(writer, "agentId", actor->agent_id);
    mcp_write_member_string(writer, "kind", actor->kind);
    if (strcmp(actor->kind, "Machine") == 0)
        mcp_write_member_string(writer, "machineId", actor->id);
    if (is_user)
        mcp_write_member_string(writer, "userId", actor->id);
    mcp_write_end(writer);
}

/* @param references the canonical JSON of the external ones, or nothing */
static void write_links(mcp_json_writer *writer, const portarium_entry *entry,
                        const mcp_buf *references)
{
    if (!entry->approval_id && !entry->plan_id && !entry->run_id && !entry->work_item_id &&
        references->length == 0)
        return;
    mcp_write_member_object(writer, "links");
    write_optional(writer, "approvalId", entry->approval_id);
    if (references->length > 0) {
        mcp_write_name(writer, "externalRefs");
        mcp_write_raw(writer, references->data, references->length);
    }
    write_optional(writer, "planId", entry->plan_id);
    write_optional(writer, "runId", entry->run_id);
    write_optional(writer, "workItemId", entry->work_item_id);
    mcp_write_end(writer);
}

static void write_payloads(mcp_json_writer *writer, const portarium_entry *entry)
{
    if (entry->payload_count == 0)
        return;
    mcp_write_member_array(writer, "payloadRefs");
    for (size_t i = 0; i < entry->payload_count; i++) {
        const portarium_payload_ref *ref = &entry->payloads[i];
        mcp_write_object(writer);
        write_optional(writer, "contentType", ref->content_type);
        mcp_write_member_string(writer, "kind", ref->kind);
        write_optional(writer, "sha256", ref->sha256);
        mcp_write_member_string(writer, "uri", ref->uri);
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
}

static mcp_status write_entry(mcp_buf *out, const portarium_entry *entry, const char *previous_hash,
                              const mcp_buf *references)
{
    char time[MCP_CLOCK_UTC_SIZE];
    mcp_json_writer writer;

    mcp_clock_utc(time, entry->occurred_at_ms, 1);
    mcp_json_writer_init(&writer, out);
    mcp_write_object(&writer);
    write_actor(&writer, &entry->actor);
    mcp_write_member_string(&writer, "category", entry->category);
    mcp_write_member_string(&writer, "correlationId", entry->correlation_id);
    mcp_write_member_string(&writer, "evidenceId", entry->evidence_id);
    write_links(&writer, entry, references);
    mcp_write_member_string(&writer, "occurredAtIso", time);
    write_payloads(&writer, entry);
    write_optional(&writer, "previousHash", previous_hash);
    mcp_write_member_int(&writer, "schemaVersion", 1);
    mcp_write_member_string(&writer, "summary", entry->summary);
    write_optional(&writer, "traceparent", entry->traceparent);
    mcp_write_member_string(&writer, "workspaceId", entry->workspace_id);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

mcp_status portarium_entry_write(mcp_buf *out, char hash[KEYS_HEX_SIZE],
                                 const portarium_entry *entry, const char *previous_hash,
                                 mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    size_t before = out->length;
    mcp_buf references;
    mcp_status st = check(entry, previous_hash, err);

    if (st != MCP_OK)
        return st;
    mcp_buf_init(&references, PORTARIUM_ENTRY_MAX);
    if (mcp_json_count(entry->external_refs) > 0)
        st = keys_canonical(&references, entry->external_refs, err);
    if (st == MCP_OK) {
        st = write_entry(out, entry, previous_hash, &references);
        if (st == MCP_OK && out->length - before > PORTARIUM_ENTRY_MAX / 2)
            st = MCP_E_LIMIT;
        if (st != MCP_OK)
            mcp_error_set(err, st, "evidence: %s",
                          st == MCP_E_PARAMS ? "a text is not UTF-8" : mcp_status_words(st));
    }
    mcp_buf_clear(&references);
    if (st == MCP_OK)
        st = mcp_sha256(digest, out->data + before, out->length - before, err);
    if (st == MCP_OK)
        keys_hex(hash, digest);
    return st;
}

/* ---- hash and signature ---------------------------------------------------------------------- */

struct addition {
    const char *name, *value;
};

/* Where the string ends that begins at `at`: behind its quotation mark; NULL: nowhere. */
static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : NULL;
}

/* Where the member ends that begins at `at`: at the comma or brace behind it; NULL: nowhere. */
static const char *member_end(const char *at, const char *end)
{
    int depth = 0;

    while (at && at < end) {
        if (depth == 0 && (*at == ',' || *at == '}'))
            return at;
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at = *at == '"' ? string_end(at, end) : at + 1;
    }
    return NULL;
}

/* Compare the name of the member that begins at `at` with another, as canonical JSON sorts them. */
static int compare(const char *at, const char *end, const char *name)
{
    size_t length = strlen(name), rest = (size_t)(end - at) - 1;
    int order = strncmp(at + 1, name, length < rest ? length : rest);

    return order == 0 ? length < rest && at[length + 1] != '"' : order;
}

/* The canonical text with other members between its own, each in its place by name; none of them
 * is the last. It is a text of ours, so it is not parsed.
 * @return false: it is no such text */
static bool insert(mcp_buf *out, const char *text, size_t length, const struct addition *additions,
                   size_t count)
{
    const char *at = text + 1, *from = text, *end = text + length;
    size_t next = 0;

    if (length < 2 || text[0] != '{' || end[-1] != '}')
        return false;
    while (at && at < end && *at == '"' && next < count) {
        int order = compare(at, end, additions[next].name);
        if (order == 0)
            return false;
        if (order > 0) {
            mcp_buf_append(out, from, (size_t)(at - from));
            mcp_buf_printf(out, "\"%s\":\"%s\",", additions[next].name, additions[next].value);
            from = at;
            next++;
            continue;
        }
        at = member_end(at, end);
        at = at ? at + 1 : NULL;
    }
    mcp_buf_append(out, from, (size_t)(end - from));
    return next == count;
}

mcp_status portarium_entry_complete(mcp_buf *out, const char *canonical, size_t length,
                                    const char *hash, const char *signature, mcp_error *err)
{
    const struct addition additions[] = { { "hashSha256", hash },
                                          { "signatureBase64", signature } };

    if (!insert(out, canonical, length, additions, signature ? 2 : 1))
        return mcp_error_set(err, MCP_E_PARSE, "evidence: this is no entry without a hash");
    return out->status == MCP_OK
               ? MCP_OK
               : mcp_error_set(err, out->status, "evidence: %s", mcp_status_words(out->status));
}

mcp_status portarium_entry_sign(char out[PORTARIUM_SIGNATURE_SIZE], const char *complete,
                                size_t length, const keys_pair *pair, mcp_error *err)
{
    uint8_t signature[KEYS_SIGNATURE_SIZE];
    mcp_buf text;
    mcp_status st = keys_sign(signature, pair, complete, length, err);

    if (st != MCP_OK)
        return st;
    mcp_buf_init(&text, PORTARIUM_SIGNATURE_SIZE);
    st = keys_base64(&text, signature, sizeof signature);
    if (st == MCP_OK)
        memcpy(out, text.data, text.length + 1);
    else
        mcp_error_set(err, st, "evidence: %s", mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}
