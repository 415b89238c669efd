/**
 * claims.h - actors that are not in the database: of the claims of JWTs, and of the token for
 * development.
 */
#ifndef PORTARIUM_GATEWAY_CLAIMS_H
#define PORTARIUM_GATEWAY_CLAIMS_H

#include "auth/auth.h"
#include "gateway/actors.h"

/**
 * kit/auth's auth_claims_reader: `sub`, `workspaceId` or `tenantId`, `roles` (at least one, each
 * once), and what may be there: `agentId`, `machineId`, `ownerUserId`, `executionTier`. `data` is
 * not used.
 */
mcp_status portarium_read_claims(mcp_principal *out, const mcp_json *claims, mcp_arena *arena,
                                 void *data, mcp_error *err);

/**
 * Read the development token from the environment: ENABLE_DEV_AUTH, PORTARIUM_DEV_TOKEN,
 * PORTARIUM_DEV_WORKSPACE_ID, PORTARIUM_DEV_USER_ID. Without ENABLE_DEV_AUTH=true there is none.
 *
 * @param environment "dev", "test" or another; NULL: not stated
 * @return MCP_OK; MCP_E_DENIED: the environment is neither dev nor test; MCP_E_PARAMS: there is no
 *         token or no workspace
 */
mcp_status portarium_dev_read(portarium_dev *out, const char *environment, mcp_error *err);

/** Whether the text is the development token; takes the same time for every text. */
bool portarium_dev_is(const portarium_dev *dev, const char *token);

/**
 * Check PORTARIUM_JWT_TRUSTED_ISSUERS: only the one issuer may be in it.
 *
 * @param trusted names between commas; NULL: none
 * @param issuer  NULL: none
 * @return MCP_OK; MCP_E_UNSUPPORTED: it names another
 */
mcp_status portarium_issuers_check(const char *trusted, const char *issuer, mcp_error *err);

#endif
