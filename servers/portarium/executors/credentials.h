/**
 * credentials.h - where credentials come from. A credential is known for the time of an attempt.
 *
 * A workspace names a credential. Its value is what the host's configuration says for that name
 * (executors/host.h), otherwise the environment variable PORTARIUM_CRED_NAME. Where the host has
 * none for the workspace, it is what the workspace has stored (engine/sealed/stored.h).
 */
#ifndef PORTARIUM_EXECUTORS_CREDENTIALS_H
#define PORTARIUM_EXECUTORS_CREDENTIALS_H

#include "executors/executor.h"
#include "executors/host.h"

/** The longest credential, in bytes. */
#define PORTARIUM_CREDENTIAL_MAX 16384

/** How long what a command printed is kept, so that not each attempt starts it. */
#define PORTARIUM_CREDENTIAL_MS 30000

typedef struct portarium_vault portarium_vault;

/** @param host borrowed. @param out yours, free it with portarium_vault_free */
mcp_status portarium_vault_new(portarium_vault **out, const portarium_host *host, mcp_error *err);

/** What was kept is overwritten. NULL is fine. */
void portarium_vault_free(portarium_vault *self);

/**
 * The name of the credential of a binding: its member `credential`, else the provider's slug in
 * capital letters with '_' for '-'. @return the arena's; NULL: it has none
 */
const char *portarium_credential_name(const mcp_json *binding, const char *provider,
                                      mcp_arena *arena);

/**
 * The value of a credential of the host: one line of text, without the newline at its end.
 *
 * Blocks while a command runs. Any thread.
 *
 * @param out      of the caller, who ends it with portarium_credential_wipe
 * @param until_ms of the monotonic clock
 * @return MCP_OK; MCP_E_DENIED: not for this workspace, a file that others may read, a value with
 *         control characters or of less than 4 bytes; MCP_E_NOT_FOUND: there is none; MCP_E_IO;
 *         MCP_E_TIMEOUT; MCP_E_NOMEM. Messages have the name, never the value.
 */
mcp_status portarium_credential_get(mcp_buf *out, portarium_vault *self, const char *workspace,
                                    const char *name, int64_t until_ms, mcp_error *err);

/** The value of a credential that an attempt names: the host's, or the one that its workspace has
 *  stored. Otherwise as portarium_credential_get. */
mcp_status portarium_credential_of(mcp_buf *out, portarium_vault *self,
                                   const portarium_attempt *attempt, const char *name,
                                   mcp_error *err);

/** Overwrite and free it. */
void portarium_credential_wipe(mcp_buf *value);

#endif
