/**
 * verify.h - whether the outputs of a folder are those that its manifests name: offline, without
 * the home of casparian.
 *
 * Source: casparian's data model, 9.6.
 */
#ifndef CASPARIAN_SINKS_VERIFY_H
#define CASPARIAN_SINKS_VERIFY_H

#include "sinks/manifest.h"

/** What is wrong with a file. */
/* clang-format off */
#define CASPARIAN_FINDING_MAP(X) \
    X(CHANGED, "changed") X(MISSING, "missing") X(UNLISTED, "unlisted") \
    X(DAMAGED, "damaged") X(CHAIN, "chain") X(SIGNATURE, "signature") X(UNSIGNED, "unsigned") \
    X(UNCHECKED, "unchecked")
/* clang-format on */

typedef enum casparian_finding_kind {
#define CASPARIAN_FINDING_VALUE(name, text) CASPARIAN_FINDING_##name,
    CASPARIAN_FINDING_MAP(CASPARIAN_FINDING_VALUE)
#undef CASPARIAN_FINDING_VALUE
} casparian_finding_kind;

/** "changed", and so on. */
const char *casparian_finding_text(casparian_finding_kind kind);

/**
 * Receives a finding.
 *
 * CHANGED, MISSING: an output of a manifest. UNLISTED: a file of the folder that no manifest names.
 * DAMAGED: a manifest that is no manifest, was changed (and has no signature), or has the name of
 * another job. CHAIN: a manifest whose `previous` is not there, or is that of another one.
 * SIGNATURE: a signature that is wrong, or of another key than the expected one. UNSIGNED: no
 * signature, and a key is expected, or manifests that were made before have one. UNCHECKED: the
 * table of a database, whose rows could not be counted; it is no failure.
 *
 * @param file relative to the folder; borrowed
 * @param why  one line; borrowed
 */
typedef void casparian_finding_report(void *data, casparian_finding_kind kind, const char *file,
                                      const char *why);

/** What was looked at. */
typedef struct casparian_verified {
    size_t manifests, outputs;
    uint64_t bytes;  /* that were hashed */
    size_t failures; /* findings other than UNCHECKED */
} casparian_verified;

/**
 * Verify a sink's folder.
 *
 * @param dir_fd the folder
 * @param key    whose signature every manifest must have; NULL: those that are signed must agree
 *               with their own key
 * @param report called for each finding, on this thread; may be NULL
 * @return MCP_OK, with whatever findings; MCP_E_IO; MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status casparian_verify(casparian_verified *out, int dir_fd,
                            const uint8_t key[KEYS_PUBLIC_SIZE], casparian_finding_report *report,
                            void *data, mcp_error *err);

#endif
