/*
 * tokens.c - the table of API tokens.
 */
#include "store/tokens.h"

#include <stdio.h>
#include <string.h>

#include "mcp/hash.h"
#include "mcp/random.h"
#include "store/journal.h"
#include "store/tx/held.h"

static const char prefix[] = "ptm_";
enum { PREFIX = 4, SECRET_BYTES = 32, TOKENS_MAX = 200 };
enum { ACTIVE = 11 }; /* column behind TOKEN_COLUMNS */

#define TOKEN_COLUMNS                                                                              \
    "id, workspace, subject, roles, tier, agent_id, machine_id, owner, created_at, expires_at, "   \
    "revoked_at"

static void hex_of(char *out, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

bool portarium_token_hash(char out[65], const char *secret)
{
    uint8_t digest[MCP_SHA256_SIZE];
    size_t length = strlen(secret);
    if (length != PORTARIUM_TOKEN_SIZE - 1 || memcmp(secret, prefix, PREFIX) != 0)
        return false;
    if (mcp_sha256(digest, secret, length, NULL) != MCP_OK)
        return false;
    hex_of(out, digest, sizeof digest);
    return true;
}

const char *portarium_roles_text(mcp_arena *arena, portarium_roles roles)
{
    char text[64] = "";
    size_t at = 0;
    for (int i = 0; i < PORTARIUM_COUNT(PORTARIUM_ROLE_NAME_MAP); i++) {
        if (roles & (1u << i))
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? " " : "",
                                   portarium_role_name_text((portarium_role_name)i));
    }
    return mcp_arena_strdup(arena, text);
}

static portarium_roles read_roles(const char *text)
{
    portarium_roles roles = 0;
    char copy[64];
    char *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        portarium_roles_add(&roles, name);
    return roles;
}

mcp_status portarium_token_create(char secret[PORTARIUM_TOKEN_SIZE], portarium_tx *tx,
                                  const portarium_token *token, mcp_error *err)
{
    uint8_t bytes[SECRET_BYTES];
    char hash[65];
    mcp_status st = mcp_random_bytes(bytes, sizeof bytes, err);
    if (st != MCP_OK)
        return st;
    memcpy(secret, prefix, PREFIX);
    hex_of(secret + PREFIX, bytes, sizeof bytes);
    if (!portarium_token_hash(hash, secret))
        return mcp_error_set(err, MCP_E_INTERNAL, "the token cannot be hashed");
    const char *roles = portarium_roles_text(tx->arena, token->roles);
    if (!roles)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a token");
    db_value values[] = { db_text(hash),
                          db_text(tx->workspace),
                          db_text(token->id),
                          db_text(token->subject),
                          db_text(roles),
                          db_text(token->tier),
                          db_text(token->agent_id),
                          db_text(token->machine_id),
                          db_text(token->owner),
                          db_int(tx->now_ms),
                          token->expires_ms > 0 ? db_int(token->expires_ms) : db_null() };
    portarium_held_drop(tx, prefix);
    return db_run(tx->session, NULL,
                  "INSERT INTO api_tokens (hash, workspace, id, subject, roles, tier, agent_id, "
                  "machine_id, owner, created_at, expires_at) "
                  "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                  values, sizeof values / sizeof values[0], err);
}

/* @param ok set to false when there is no memory: a token without its agent would be a person's */
static const char *copy(portarium_tx *tx, const db_rows *rows, int column, bool *ok)
{
    const char *text = db_text_at(rows, column, NULL);
    const char *out = mcp_arena_strdup(tx->arena, text);
    *ok = *ok && (out || !text);
    return out;
}

static mcp_status read_row(portarium_token *out, portarium_tx *tx, const db_rows *rows,
                           mcp_error *err)
{
    bool ok = true;
    const char *roles = db_text_at(rows, 3, NULL);
    *out = (portarium_token){ .id = copy(tx, rows, 0, &ok),
                              .workspace = copy(tx, rows, 1, &ok),
                              .subject = copy(tx, rows, 2, &ok),
                              .roles = read_roles(roles ? roles : ""),
                              .tier = copy(tx, rows, 4, &ok),
                              .agent_id = copy(tx, rows, 5, &ok),
                              .machine_id = copy(tx, rows, 6, &ok),
                              .owner = copy(tx, rows, 7, &ok),
                              .created_ms = db_int_at(rows, 8),
                              .expires_ms = db_int_at(rows, 9),
                              .revoked_ms = db_int_at(rows, 10) };
    return ok && out->id && out->workspace && out->subject
               ? MCP_OK
               : mcp_error_set(err, MCP_E_NOMEM, "no memory for a token");
}

static mcp_status find(portarium_token *out, portarium_tx *tx, const char *hash, mcp_error *err)
{
    db_rows *rows = NULL;
    bool found = false;
    db_value values[] = { db_text(hash) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT " TOKEN_COLUMNS ", (SELECT active FROM users WHERE "
                             "users.workspace = api_tokens.workspace AND users.id = "
                             "api_tokens.subject) FROM api_tokens WHERE hash = $1",
                             values, 1, err);
    if (st == MCP_OK)
        st = db_next(rows, &found, err);
    if (st == MCP_OK && found)
        st = read_row(out, tx, rows, err);
    if (st == MCP_OK && found)
        out->is_inactive = !db_null_at(rows, ACTIVE) && db_int_at(rows, ACTIVE) == 0;
    db_rows_free(rows);
    return st == MCP_OK && !found ? mcp_error_set(err, MCP_E_DENIED, "The token is unknown.") : st;
}

/* Revoking locks the workspace, so while it is locked here, a token is as it was read. */
static mcp_status find_kept(portarium_token *out, portarium_tx *tx, const char *hash,
                            mcp_error *err)
{
    portarium_tx reader = portarium_held_reader(tx);
    const portarium_token *kept = portarium_held_get(tx, prefix, hash);
    mcp_status st = MCP_OK;
    if (kept) {
        *out = *kept;
        return MCP_OK;
    }
    st = find(out, &reader, hash, err);
    if (st == MCP_OK && tx->workspace && strcmp(out->workspace, tx->workspace) == 0)
        portarium_held_keep(tx, &reader, prefix, hash, out, sizeof *out);
    return st;
}

mcp_status portarium_token_read(portarium_token *out, portarium_tx *tx, const char *hash,
                                mcp_error *err)
{
    mcp_status st = find_kept(out, tx, hash, err);
    if (st != MCP_OK)
        return st;
    if (out->revoked_ms > 0)
        return mcp_error_set(err, MCP_E_DENIED, "The token was revoked.");
    if (out->expires_ms > 0 && out->expires_ms <= tx->now_ms)
        return mcp_error_set(err, MCP_E_DENIED, "The token has expired.");
    return out->is_inactive
               ? mcp_error_set(err, MCP_E_DENIED, "The user of the token is not active.")
               : MCP_OK;
}

mcp_status portarium_token_require(portarium_tx *tx, const char *hash, mcp_error *err)
{
    db_value values[] = { db_text(hash), db_int(tx->now_ms) };
    return db_defer(tx->session, MCP_E_DENIED,
                    "SELECT 1 FROM api_tokens WHERE hash = $1 AND revoked_at IS NULL AND "
                    "(expires_at IS NULL OR expires_at > $2) AND NOT EXISTS (SELECT 1 FROM users "
                    "WHERE users.workspace = api_tokens.workspace AND users.id = "
                    "api_tokens.subject AND users.active = 0)",
                    values, 2, err);
}

static const char subjects[] = "subject";

static mcp_status find_inactive(bool *out, portarium_tx *tx, const char *subject, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(subject) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT 1 FROM users WHERE workspace = $1 AND id = $2 AND active = 0",
                             values, 2, err);
    *out = portarium_next(rows, &st, err);
    db_rows_free(rows);
    return st;
}

/* A change of a user locks the workspace, as for tokens. */
mcp_status portarium_subject_check(portarium_tx *tx, const char *subject, mcp_error *err)
{
    bool is_inactive = false;
    const bool *kept = portarium_held_get(tx, subjects, subject);
    mcp_status st = MCP_OK;
    if (kept) {
        is_inactive = *kept;
    } else {
        const portarium_tx reader = portarium_held_reader(tx);
        st = find_inactive(&is_inactive, tx, subject, err);
        if (st == MCP_OK)
            portarium_held_keep(tx, &reader, subjects, subject, &is_inactive, sizeof is_inactive);
    }
    return is_inactive ? mcp_error_set(err, MCP_E_DENIED, "The user of the token is not active.")
                       : st;
}

void portarium_tokens_forget(const portarium_tx *tx)
{
    portarium_held_drop(tx, prefix);
    portarium_held_drop(tx, subjects);
}

mcp_status portarium_token_revoke(portarium_tx *tx, const char *id, mcp_error *err)
{
    int64_t changed = 0;
    db_value values[] = { db_text(tx->workspace), db_text(id), db_int(tx->now_ms) };
    portarium_held_drop(tx, prefix);
    mcp_status st = db_run(tx->session, &changed,
                           "UPDATE api_tokens SET revoked_at = COALESCE(revoked_at, $3) "
                           "WHERE workspace = $1 AND id = $2",
                           values, 3, err);
    if (st == MCP_OK && changed == 0)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "Token %.128s not found.", id);
    const portarium_event event = { .type = "TokenRevoked", .kind = "token", .id = id };
    return st == MCP_OK ? portarium_event_add(tx, &event, err) : st;
}

/* The first token of a subject behind an id that is not revoked. @param out NULL: there is none */
static mcp_status find_live(const char **out, portarium_tx *tx, const char *subject,
                            const char *after, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(subject), db_text(after) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT id FROM api_tokens WHERE workspace = $1 AND subject = $2 AND "
                             "id > $3 AND revoked_at IS NULL ORDER BY id LIMIT 1",
                             values, 3, err);
    bool found = portarium_next(rows, &st, err);
    *out = found ? mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL)) : NULL;
    db_rows_free(rows);
    return found && !*out ? mcp_error_set(err, MCP_E_NOMEM, "no memory for a token") : st;
}

mcp_status portarium_tokens_revoke(portarium_tx *tx, const char *subject, mcp_error *err)
{
    const char *id = "";
    mcp_status st = MCP_OK;
    while (st == MCP_OK && id) {
        st = find_live(&id, tx, subject, id, err);
        if (st == MCP_OK && id)
            st = portarium_token_revoke(tx, id, err);
    }
    return st;
}

mcp_status portarium_token_list(portarium_token **out, size_t *count, portarium_tx *tx,
                                mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_int(TOKENS_MAX) };
    *count = 0;
    *out = mcp_arena_array(tx->arena, TOKENS_MAX, sizeof **out);
    if (!*out)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a list of tokens");
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT " TOKEN_COLUMNS " FROM api_tokens WHERE workspace = $1 "
                             "ORDER BY created_at DESC, id DESC LIMIT $2",
                             values, 2, err);
    while (portarium_next(rows, &st, err))
        st = read_row(&(*out)[(*count)++], tx, rows, err);
    db_rows_free(rows);
    return st;
}
