/*
 * actors.c - actors as scopes, and back.
 */
#include "gateway/actors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/claims.h"
#include "store/tokens.h"

enum { SCOPES_MAX = 8192 };

/* ---- writing --------------------------------------------------------------------------------- */

static void put(mcp_buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    mcp_buf_printf(out, "%s%s:", out->length > 0 ? " " : "", name);
    for (; *value; value++) {
        unsigned char byte = (unsigned char)*value;
        if (byte > ' ' && byte < 0x7f && byte != '%')
            mcp_buf_putc(out, *value);
        else
            mcp_buf_printf(out, "%%%02X", byte);
    }
}

const char *portarium_actor_scopes(const portarium_actor *actor, mcp_arena *arena)
{
    mcp_buf out;
    char expiry[24];
    mcp_buf_init(&out, SCOPES_MAX);
    put(&out, "sub", actor->subject);
    put(&out, "ws", actor->workspace);
    for (int i = 0; i < PORTARIUM_COUNT(PORTARIUM_ROLE_NAME_MAP); i++) {
        if (actor->roles & (1u << i))
            put(&out, "role", portarium_role_name_text((portarium_role_name)i));
    }
    put(&out, "agent", actor->agent_id);
    put(&out, "machine", actor->machine_id);
    put(&out, "owner", actor->owner);
    put(&out, "tier", actor->tier);
    put(&out, "token", actor->token_id);
    if (actor->expires_ms > 0) {
        snprintf(expiry, sizeof expiry, "%lld", (long long)actor->expires_ms);
        put(&out, "exp", expiry);
    }
    put(&out, "key", actor->token_hash);
    const char *text = out.status == MCP_OK ? mcp_arena_strndup(arena, out.data, out.length) : NULL;
    mcp_buf_clear(&out);
    return text;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int digit_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : 0;
}

/* The value of a scope, cut where it is too long. */
static void decode_into(char *out, size_t size, const char *text, size_t length)
{
    size_t at = 0;
    for (size_t i = 0; i < length && at + 1 < size; i++) {
        if (text[i] == '%' && i + 2 < length) {
            out[at++] = (char)(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2]));
            i += 2;
        } else {
            out[at++] = text[i];
        }
    }
    out[at] = '\0';
}

static const char *decode(mcp_arena *arena, const char *text, size_t length)
{
    char *out = mcp_arena_alloc(arena, length + 1);
    if (out)
        decode_into(out, length + 1, text, length);
    return out;
}

static void take(portarium_actor *out, const char *name, size_t length, const char *value)
{
    const struct {
        const char *name;
        const char **place;
    } members[] = {
        { "sub", &out->subject },        { "ws", &out->workspace },   { "agent", &out->agent_id },
        { "machine", &out->machine_id }, { "owner", &out->owner },    { "tier", &out->tier },
        { "key", &out->token_hash },     { "token", &out->token_id },
    };
    if (length == 3 && memcmp(name, "exp", 3) == 0) {
        out->expires_ms = strtoll(value, NULL, 10);
        return;
    }
    if (length == 4 && memcmp(name, "role", 4) == 0) {
        portarium_roles_add(&out->roles, value);
        return;
    }
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (strlen(members[i].name) == length && memcmp(members[i].name, name, length) == 0)
            *members[i].place = value;
    }
}

mcp_status portarium_actor_read(portarium_actor *out, const char *scopes, mcp_arena *arena,
                                mcp_error *err)
{
    *out = (portarium_actor){ .subject = NULL };
    for (const char *at = scopes; *at;) {
        size_t length = strcspn(at, " ");
        const char *colon = memchr(at, ':', length);
        if (colon) {
            size_t name = (size_t)(colon - at);
            const char *value = decode(arena, colon + 1, length - name - 1);
            if (!value)
                return mcp_error_set(err, MCP_E_NOMEM, "no memory for the actor");
            take(out, at, name, value);
        }
        at += length + (at[length] == ' ');
    }
    return out->subject && out->workspace
               ? MCP_OK
               : mcp_error_set(err, MCP_E_DENIED, "The token has no subject or workspace.");
}

mcp_status portarium_actor_of(portarium_actor *out, mcp_call *call, const portarium_app *app,
                              mcp_error *err)
{
    const char *scopes = mcp_call_scopes(call);
    if (scopes)
        return portarium_actor_read(out, scopes, mcp_call_arena(call), err);
    if (!app->has_local)
        return mcp_error_set(err, MCP_E_DENIED, "A token is required.");
    *out = app->local;
    return MCP_OK;
}

mcp_status portarium_actor_principal(mcp_principal *out, const portarium_actor *actor,
                                     mcp_arena *arena, mcp_error *err)
{
    out->name = mcp_arena_printf(arena, "%s/%s", actor->workspace, actor->subject);
    out->scopes = portarium_actor_scopes(actor, arena);
    out->expires_ms = actor->expires_ms;
    return out->name && out->scopes ? MCP_OK
                                    : mcp_error_set(err, MCP_E_NOMEM, "no memory for the actor");
}

/* ---- callers --------------------------------------------------------------------------------- */

void portarium_caller_read(portarium_caller *out, const char *scopes)
{
    char value[sizeof out->workspace];
    *out = (portarium_caller){ .tier = PORTARIUM_TIER_HUMAN_APPROVE };
    for (const char *at = scopes; *at;) {
        size_t length = strcspn(at, " ");
        const char *colon = memchr(at, ':', length);
        size_t name = colon ? (size_t)(colon - at) : length;
        if (colon)
            decode_into(value, sizeof value, colon + 1, length - name - 1);
        if (colon && name == 2 && memcmp(at, "ws", 2) == 0)
            memcpy(out->workspace, value, sizeof value);
        else if (colon && name == 4 && memcmp(at, "role", 4) == 0)
            portarium_roles_add(&out->roles, value);
        else if (colon && name == 4 && memcmp(at, "tier", 4) == 0)
            portarium_tier_read(&out->tier, value);
        at += length + (at[length] == ' ');
    }
}

void portarium_caller_of(portarium_caller *out, const portarium_actor *actor)
{
    *out = (portarium_caller){ .roles = actor->roles, .tier = PORTARIUM_TIER_HUMAN_APPROVE };
    size_t length = actor->workspace ? strnlen(actor->workspace, sizeof out->workspace - 1) : 0;
    if (length > 0)
        memcpy(out->workspace, actor->workspace, length);
    if (actor->tier)
        portarium_tier_read(&out->tier, actor->tier);
}

/* ---- API tokens ------------------------------------------------------------------------------ */

/* The agent's own tier counts more than its token's. An agent need not be registered yet. */
static mcp_status read_tier(portarium_actor *actor, portarium_tx *tx, mcp_error *err)
{
    portarium_record agent;
    portarium_tx in = *tx;
    in.workspace = actor->workspace;
    mcp_status st = portarium_record_get(&agent, &in, &portarium_agents, actor->agent_id, err);
    if (st == MCP_OK && mcp_json_get_string(agent.json, "policyTier"))
        actor->tier = mcp_json_get_string(agent.json, "policyTier");
    return st == MCP_E_NOT_FOUND ? MCP_OK : st;
}

static mcp_status read_token(portarium_tx *tx, void *data, mcp_error *err)
{
    portarium_actor *out = data;
    portarium_token token;
    mcp_status st = portarium_token_read(&token, tx, out->token_hash, err);
    if (st == MCP_OK)
        *out = (portarium_actor){ .subject = token.subject,
                                  .workspace = token.workspace,
                                  .roles = token.roles,
                                  .agent_id = token.agent_id,
                                  .machine_id = token.machine_id,
                                  .owner = token.owner,
                                  .tier = token.tier,
                                  .token_id = token.id,
                                  .expires_ms = token.expires_ms,
                                  .token_hash = out->token_hash };
    return st == MCP_OK && out->agent_id ? read_tier(out, tx, err) : st;
}

mcp_status portarium_verify_token(mcp_principal *out, const char *token, mcp_arena *arena,
                                  void *data, mcp_error *err)
{
    const portarium_app *app = data;
    char hash[65];
    if (portarium_dev_is(&app->dev, token))
        return portarium_actor_principal(out, &app->dev.actor, arena, err);
    if (!portarium_token_hash(hash, token))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "The token is unknown.");
    portarium_actor actor = { .token_hash = mcp_arena_strdup(arena, hash) };
    mcp_status st = portarium_plane_read(app->plane, NULL, arena, read_token, &actor, err);
    return st == MCP_OK ? portarium_actor_principal(out, &actor, arena, err) : st;
}

portarium_trace portarium_trace_of(const mcp_call *call)
{
    const mcp_trace *trace = mcp_call_trace(call);
    return trace ? (portarium_trace){ trace->traceparent, trace->tracestate }
                 : (portarium_trace){ .parent = NULL };
}
