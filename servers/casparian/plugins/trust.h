/**
 * trust.h - whether a plugin may run, and what a human can do where it may not.
 */
#ifndef CASPARIAN_PLUGINS_TRUST_H
#define CASPARIAN_PLUGINS_TRUST_H

#include "keys/sign.h"
#include "plugins/bundle.h"

/** A key that signs plugins. */
typedef struct casparian_signer {
    const char *name;
    uint8_t key[KEYS_PUBLIC_SIZE];
} casparian_signer;

/** What a human has allowed. */
typedef struct casparian_trust {
    bool allow_unsigned_python, allow_unsigned_native, allow_dev_plugins;
    const casparian_signer *signers;
    size_t signer_count;
} casparian_trust;

/**
 * Fill is_trusted, is_unsigned, reason and signer of a plugin.
 *
 * @param pinned of a shipped plugin: its files in the index, a list; NULL: it is not there
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status casparian_trust_decide(casparian_plugin *plugin, mcp_arena *arena,
                                  const casparian_trust *trust, const casparian_bundle *bundle,
                                  const mcp_json *pinned, mcp_error *err);

/** What a human can set, where is_trusted is false; a sentence. */
const char *casparian_trust_suggestion(const casparian_plugin *plugin);

#endif
