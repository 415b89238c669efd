/**
 * secrets.h - parameters of runs that nobody sees: those that the workflow's schema marks with
 * "writeOnly": true.
 *
 * The run's document has "[secret]" in their place. The parameters themselves are sealed with the
 * host's key (settings.seal_key) and opened only when an attempt begins, for the process that
 * performs it. Conditions, policies, approvals, agents that claim actions, and the engine's own
 * operations see "[secret]".
 */
#ifndef PORTARIUM_ENGINE_SECRETS_H
#define PORTARIUM_ENGINE_SECRETS_H

#include "engine/run.h"

/** In place of a secret. */
#define PORTARIUM_SECRET "[secret]"

/**
 * Take the secrets out of parameters.
 *
 * @param shown  the parameters without them
 * @param sealed text to be stored hidden; NULL: there are no secrets
 * @param run    id of the run, to which the text is bound
 * @return MCP_OK; MCP_E_UNSUPPORTED: the host has no key; MCP_E_SCHEMA: the schema marks something
 *         that is no member of an object by `properties`; statuses of seal.h
 */
mcp_status portarium_secrets_hide(const mcp_json **shown, const char **sealed, portarium_tx *tx,
                                  const char *run, const mcp_json *schema,
                                  const mcp_json *parameters, mcp_error *err);

/** The parameters of a run, with their secrets. @return MCP_OK; MCP_E_DENIED: they were sealed with
 *  another key; MCP_E_UNSUPPORTED: the host has no key */
mcp_status portarium_secrets_reveal(const mcp_json **out, portarium_run *run, portarium_tx *tx,
                                    mcp_error *err);

/** Whether the run has secrets. */
bool portarium_secrets_has(const portarium_run *run);

/** A value without the run's secrets: each text in which one of at least 4 bytes occurs is
 *  replaced. @return as portarium_secrets_reveal */
mcp_status portarium_secrets_redact(const mcp_json **out, portarium_run *run, portarium_tx *tx,
                                    const mcp_json *value, mcp_error *err);

/** A message of at most `size` bytes, in place. It is replaced also when it ends in the first 4 or
 *  more bytes of a secret, as the executor may have cut it there. @return as
 *  portarium_secrets_reveal */
mcp_status portarium_secrets_redact_message(char *message, size_t size, portarium_run *run,
                                            portarium_tx *tx, mcp_error *err);

/* ---- sealed texts ---------------------------------------------------------------------------- */

/* Texts that the database holds encrypted, by the host's key. Each is bound to a name, that of the
 * row and member it is stored in, so it cannot be moved to another one. */

/** The longest text. */
#define PORTARIUM_SEALED_MAX (1 << 20)

/**
 * Seal a text.
 *
 * @param out base64, in the arena
 * @return MCP_OK; MCP_E_UNSUPPORTED: this server has no key; MCP_E_LIMIT; statuses of seal.h
 */
mcp_status portarium_seal(const char **out, mcp_arena *arena, const portarium_settings *settings,
                          const char *name, const char *text, size_t length, mcp_error *err);

/**
 * Open a sealed text.
 *
 * @param out with a NUL behind it, in the arena
 * @return as portarium_seal; MCP_E_DENIED: it was sealed with another key or name, or changed
 */
mcp_status portarium_unseal(const char **out, size_t *length, mcp_arena *arena,
                            const portarium_settings *settings, const char *name,
                            const char *sealed, mcp_error *err);

#endif
