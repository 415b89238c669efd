/**
 * installed.h - the plugins that were imported, and the contracts that came with them.
 *
 * A version is bound to the hash that it was first imported with, also after it was removed: what
 * outputs and approvals say of a version must stay true.
 */
#ifndef CASPARIAN_JOBS_PLUGINS_INSTALLED_H
#define CASPARIAN_JOBS_PLUGINS_INSTALLED_H

#include "jobs/store.h"
#include "plugins/plugin.h"

/** What an import stores. */
typedef struct casparian_import {
    const casparian_plugin *plugin; /* with the signer and whether it is unsigned */
    const char *os, *arch;          /* "any" of a Python plugin */
    const char *dir;                /* where it is installed, absolute */
    const char *user;               /* who approves the contracts */
} casparian_import;

/**
 * Puts the files of an import in their place; called inside the transaction that stores it.
 *
 * @return MCP_OK; another status ends the import, with nothing stored
 */
typedef mcp_status casparian_import_place(void *data, mcp_error *err);

/**
 * Store an import as active, and each declared schema as version 1 of its contract.
 *
 * @param arena for texts while it runs
 * @return MCP_OK, also where it was stored before; MCP_E_EXISTS: the version has another hash;
 *         that of `place`; statuses of db.h
 */
mcp_status casparian_installed_store(casparian_store *store, mcp_arena *arena,
                                     const casparian_import *import, casparian_import_place *place,
                                     void *data, mcp_error *err);

/**
 * The hash that an active version was imported with.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: it was never imported, or was removed; statuses of db.h
 */
mcp_status casparian_installed_hash(char out[CASPARIAN_HASH_SIZE], casparian_store *store,
                                    const char *id, const char *version, mcp_error *err);

/** Mark a version as removed. @return MCP_OK, also where it is not there; statuses of db.h */
mcp_status casparian_installed_remove(casparian_store *store, const char *id, const char *version,
                                      mcp_error *err);

#endif
