/**
 * stored.h - credentials that a workspace stores itself, sealed by the host's key.
 *
 * An attempt takes those along that its binding, its adapter or its machine names, sealed; they are
 * opened when it is performed. A credential of the host with the same name comes first
 * (executors/credentials.h).
 */
#ifndef PORTARIUM_ENGINE_STORED_H
#define PORTARIUM_ENGINE_STORED_H

#include "executors/executor.h"
#include "store/tx.h"

/** The longest name: capital letters, digits and '_', a letter first. */
#define PORTARIUM_STORED_NAME_MAX 64

/** Of one workspace. */
#define PORTARIUM_STORED_MAX 100

bool portarium_stored_name_is_valid(const char *name);

/**
 * Store a value, in the place of an older one.
 *
 * @param is_new set: there was none
 * @return MCP_OK; MCP_E_UNSUPPORTED: this server has no key; MCP_E_LIMIT: the workspace has
 *         PORTARIUM_STORED_MAX; statuses of db.h
 */
mcp_status portarium_stored_put(bool *is_new, portarium_tx *tx, const char *name, const char *value,
                                mcp_error *err);

/** Write the member `stored` of an attempt: those of the names that there are, sealed. @param names
 *  PORTARIUM_STORED_NAMES of them; NULL: none */
mcp_status portarium_stored_write(mcp_json_writer *json, portarium_tx *tx, const char *const *names,
                                  mcp_error *err);

/**
 * Open what portarium_stored_write has written. One that was sealed with another key has no value.
 *
 * @param out     PORTARIUM_STORED_NAMES of them, in the arena
 * @param attempt the object with the member
 */
void portarium_stored_open(portarium_stored_credential *out, mcp_arena *arena,
                           const portarium_settings *settings, const char *workspace,
                           const mcp_json *attempt);

#endif
