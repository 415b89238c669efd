/**
 * bundle.h - a run's evidence in one file, which verifies without the rest of the chain.
 *
 * A bundle is lines of canonical JSON (RFC 8785), each ended by a newline:
 *
 *     {"bundle":1,"entries":N,"origin":"portarium/WORKSPACE","payloads":M,"runId":"RUN"}
 *     {"checkpoint":NOTE}                             the tree that the proofs lead to (note.h)
 *     {"entry":{...},"index":I,"proof":[BASE64,...]}  N lines, by rising index
 *     {"payload":BASE64,"sha256":HEX,"uri":URI}       M lines: the payloads that remain
 *     {"seal":NOTE}                                   "ORIGIN/bundle", the number of lines above and
 *                                                     the base64 of the SHA-256 of their bytes
 *
 * Both notes are signed by the same key. Every byte is in one of them, so each change is found; it
 * is located by the first line that contradicts what is above it. (A changed first line may be
 * found below: its members say what has to come.) Signatures of entries are verified by that key,
 * too. One thread at a time.
 */
#ifndef PORTARIUM_BUNDLE_H
#define PORTARIUM_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/note.h"
#include "evidence/proof.h"
#include "mcp/error.h"

/** The largest payload, and the longest line. */
#define PORTARIUM_PAYLOAD_MAX ((size_t)1 << 20)
#define PORTARIUM_LINE_MAX ((size_t)2 << 20)

/* ---- writing --------------------------------------------------------------------------------- */

/** Takes the next bytes of a bundle; its failure ends the bundle. */
typedef mcp_status portarium_sink(const char *bytes, size_t length, void *data, mcp_error *err);

/** What a bundle will have. Texts are borrowed until the bundle is freed. */
typedef struct portarium_bundle_options {
    const char *origin, *run_id;
    uint64_t entries, payloads;
    const char *checkpoint; /* a note of portarium_checkpoint_sign */
    size_t checkpoint_length;
    portarium_signer signer;
    portarium_sink *sink;
    void *data; /* the sink's */
} portarium_bundle_options;

typedef struct portarium_bundle portarium_bundle;

/** Begin, with the first two lines. @param out yours, free it with portarium_bundle_free
 *  @return MCP_OK; MCP_E_PARAMS; MCP_E_LIMIT; MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto); as the
 *  sink */
mcp_status portarium_bundle_new(portarium_bundle **out, const portarium_bundle_options *options,
                                mcp_error *err);

/** NULL is fine. */
void portarium_bundle_free(portarium_bundle *self);

/** Write an entry. @param entry canonical, of portarium_entry_complete. @return as
 *  portarium_bundle_new */
mcp_status portarium_bundle_entry(portarium_bundle *self, const char *entry, size_t length,
                                  uint64_t index, const portarium_proof *proof, mcp_error *err);

/** Write a payload, to which an entry refers. @return as portarium_bundle_new */
mcp_status portarium_bundle_payload(portarium_bundle *self, const char *uri, const void *bytes,
                                    size_t length, mcp_error *err);

/** Write the seal. @return as portarium_bundle_new; MCP_E_PARAMS: there were not as many entries
 *  and payloads as the options say */
mcp_status portarium_bundle_end(portarium_bundle *self, mcp_error *err);

/* ---- verifying ------------------------------------------------------------------------------- */

/** What was found. */
typedef struct portarium_verdict {
    const char *reason;         /* why the bundle is refused, a constant; NULL: it is genuine */
    uint64_t line;              /* the first wrong line, from 1 */
    uint64_t entries, payloads; /* that were genuine */
    portarium_checkpoint checkpoint;
} portarium_verdict;

/* The reasons. */
#define PORTARIUM_BAD_CUT "cut"            /* it ends before its seal, or within a line */
#define PORTARIUM_BAD_TRAILING "trailing"  /* there is more after the seal */
#define PORTARIUM_BAD_FORM "not_canonical" /* a line is not canonical JSON */
#define PORTARIUM_BAD_HEADER "bad_header"
#define PORTARIUM_BAD_CHECKPOINT "bad_checkpoint"
#define PORTARIUM_BAD_ENTRY "bad_entry" /* the line has not the members of an entry's line */
#define PORTARIUM_BAD_PLACE "bad_place" /* the index does not rise, or is beyond the tree */
#define PORTARIUM_BAD_HASH "hash_mismatch"
#define PORTARIUM_BAD_SIGNATURE "signature_invalid"
#define PORTARIUM_BAD_RUN "other_run" /* the entry is of another run or workspace */
#define PORTARIUM_BAD_PROOF "not_included"
#define PORTARIUM_BAD_PAYLOAD "bad_payload" /* its bytes, or no entry refers to them */
#define PORTARIUM_BAD_SEAL "bad_seal"

/** A bundle that is verified line by line. */
typedef struct portarium_checker portarium_checker;

/** @param out yours, free it with portarium_checker_free. @return MCP_OK; MCP_E_PARAMS (the key's
 *  name); MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto) */
mcp_status portarium_checker_new(portarium_checker **out, const portarium_key *key, mcp_error *err);

/** NULL is fine. */
void portarium_checker_free(portarium_checker *self);

/**
 * Verify the next line.
 *
 * @param line with its newline
 * @return MCP_OK; MCP_E_SCHEMA: it is refused, see portarium_checker_end; MCP_E_LIMIT (the payloads
 *         that entries refer to take more than 64 MiB); MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto)
 */
mcp_status portarium_checker_line(portarium_checker *self, const char *line, size_t length,
                                  mcp_error *err);

/** The verdict after the last line. @return MCP_OK: it is genuine; MCP_E_SCHEMA: it is not */
mcp_status portarium_checker_end(portarium_checker *self, portarium_verdict *out, mcp_error *err);

/** All in one, for a bundle in memory. @return as the functions above */
mcp_status portarium_bundle_verify(portarium_verdict *out, const char *bundle, size_t length,
                                   const portarium_key *key, mcp_error *err);

#endif
