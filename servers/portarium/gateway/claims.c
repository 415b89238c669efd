/*
 * claims.c - claims and the development token as actors.
 */
#include "gateway/claims.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/hash.h"
#include "model/identity.h"

/* ---- JWTs ------------------------------------------------------------------------------------ */

static mcp_status read_roles(portarium_roles *out, const mcp_json *list, mcp_error *err)
{
    *out = 0;
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        const char *name = mcp_json_string(mcp_json_item(list, i), NULL);
        if (!name || !portarium_roles_add(out, name))
            return mcp_error_set(err, MCP_E_DENIED,
                                 "The token's roles have one that is unknown or there twice.");
    }
    return *out ? MCP_OK : mcp_error_set(err, MCP_E_DENIED, "The token has no roles.");
}

/* A claim that may be absent, but must be an id when it is there. */
static mcp_status read_id(const char **out, const mcp_json *claims, const char *name,
                          mcp_error *err)
{
    const mcp_json *value = mcp_json_get(claims, name);
    *out = mcp_json_string(value, NULL);
    if (!value || (*out && portarium_id_is_valid(*out)))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_DENIED, "The token's %s is not an id.", name);
}

static mcp_status read_actor(portarium_actor *out, const mcp_json *claims, mcp_error *err)
{
    const char *tenant = NULL;
    portarium_tier tier;
    mcp_status st = read_id(&out->subject, claims, "sub", err);
    if (st == MCP_OK)
        st = read_id(&out->workspace, claims, "workspaceId", err);
    if (st == MCP_OK)
        st = read_id(&tenant, claims, "tenantId", err);
    if (st == MCP_OK)
        st = read_id(&out->agent_id, claims, "agentId", err);
    if (st == MCP_OK)
        st = read_id(&out->machine_id, claims, "machineId", err);
    if (st == MCP_OK)
        st = read_id(&out->owner, claims, "ownerUserId", err);
    if (st == MCP_OK)
        st = read_roles(&out->roles, mcp_json_get(claims, "roles"), err);
    if (st != MCP_OK)
        return st;
    out->workspace = out->workspace ? out->workspace : tenant;
    out->tier = mcp_json_get_string(claims, "executionTier");
    if (out->tier && !portarium_tier_read(&tier, out->tier))
        return mcp_error_set(err, MCP_E_DENIED, "The token's executionTier is not a tier.");
    return out->subject && out->workspace
               ? MCP_OK
               : mcp_error_set(err, MCP_E_DENIED, "The token has no sub or no workspaceId.");
}

mcp_status portarium_read_claims(mcp_principal *out, const mcp_json *claims, mcp_arena *arena,
                                 void *data, mcp_error *err)
{
    portarium_actor actor = { .expires_ms = out->expires_ms };
    (void)data;
    mcp_status st = read_actor(&actor, claims, err);
    return st == MCP_OK ? portarium_actor_principal(out, &actor, arena, err) : st;
}

mcp_status portarium_issuers_check(const char *trusted, const char *issuer, mcp_error *err)
{
    while (trusted && *trusted) {
        trusted += strspn(trusted, ", ");
        size_t length = strcspn(trusted, ", ");
        bool is_ours = issuer && strlen(issuer) == length && memcmp(trusted, issuer, length) == 0;
        if (length > 0 && !is_ours)
            return mcp_error_set(err, MCP_E_UNSUPPORTED,
                                 "PORTARIUM_JWT_TRUSTED_ISSUERS names %.*s: tokens of one issuer "
                                 "are accepted, that of PORTARIUM_JWT_ISSUER",
                                 (int)(length < 128 ? length : 128), trusted);
        trusted += length;
    }
    return MCP_OK;
}

/* ---- development ----------------------------------------------------------------------------- */

mcp_status portarium_dev_read(portarium_dev *out, const char *environment, mcp_error *err)
{
    const char *enabled = getenv("ENABLE_DEV_AUTH"), *user = getenv("PORTARIUM_DEV_USER_ID");
    *out = (portarium_dev){ .token = NULL };
    if (!enabled || strcmp(enabled, "true") != 0)
        return MCP_OK;
    if (!environment || (strcmp(environment, "dev") != 0 && strcmp(environment, "test") != 0))
        return mcp_error_set(err, MCP_E_DENIED,
                             "ENABLE_DEV_AUTH requires PORTARIUM_ENVIRONMENT dev or test");
    out->token = getenv("PORTARIUM_DEV_TOKEN");
    out->actor = (portarium_actor){ .subject = user && *user ? user : "dev-user",
                                    .workspace = getenv("PORTARIUM_DEV_WORKSPACE_ID"),
                                    .roles = PORTARIUM_ROLE(ADMIN) };
    if (!out->token || !*out->token || !out->actor.workspace || !*out->actor.workspace)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "ENABLE_DEV_AUTH requires PORTARIUM_DEV_TOKEN and "
                             "PORTARIUM_DEV_WORKSPACE_ID");
    return MCP_OK;
}

bool portarium_dev_is(const portarium_dev *dev, const char *token)
{
    uint8_t ours[MCP_SHA256_SIZE], theirs[MCP_SHA256_SIZE];
    return dev->token && mcp_sha256(ours, dev->token, strlen(dev->token), NULL) == MCP_OK &&
           mcp_sha256(theirs, token, strlen(token), NULL) == MCP_OK &&
           mcp_hash_equal(ours, theirs, sizeof ours);
}
