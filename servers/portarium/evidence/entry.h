/**
 * entry.h - an evidence entry: its canonical JSON, its hash, and the text with both.
 *
 * `hashSha256` is the SHA-256 of the canonical JSON (RFC 8785) of the entry without `hashSha256`
 * and `signatureBase64`; `previousHash` is part of it. The signature covers the canonical JSON of
 * all but `signatureBase64`. Any thread.
 */
#ifndef PORTARIUM_ENTRY_H
#define PORTARIUM_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "keys/canonical.h"
#include "keys/sign.h"
#include "mcp/buf.h"
#include "mcp/error.h"
#include "mcp/json.h"

/** The longest text of an entry, with hash and signature. */
#define PORTARIUM_ENTRY_MAX ((size_t)256 << 10)

/** Room for a signature as base64, with its NUL. */
#define PORTARIUM_SIGNATURE_SIZE 89

/** What an entry refers to and does not contain. */
typedef struct portarium_payload_ref {
    const char *kind;         /* "Artifact", "Snapshot", "Diff" or "Log" */
    const char *uri;          /* without '?' and '#' */
    const char *content_type; /* NULL: none */
    const char *sha256;       /* 64 hexadecimal digits; NULL: unknown */
} portarium_payload_ref;

/** Who did it. */
typedef struct portarium_evidence_actor {
    const char *kind;     /* "User", "Machine", "Adapter" or "System" */
    const char *id;       /* of the user, machine or adapter; NULL for System */
    const char *agent_id; /* of an agent on a machine; else NULL */
} portarium_evidence_actor;

/** An entry. All texts are borrowed and UTF-8; those marked so may be NULL. */
typedef struct portarium_entry {
    const char *evidence_id, *workspace_id, *correlation_id;
    int64_t occurred_at_ms; /* since 1970, in UTC */
    const char *category;   /* Plan Action Approval OperatorSurface Policy PolicyViolation System */
    const char *summary;    /* without an e-mail address */
    const char *traceparent; /* of what caused it (W3C Trace Context); NULL: it was not traced */
    portarium_evidence_actor actor;
    const char *run_id, *plan_id, *work_item_id, *approval_id; /* each may be NULL */
    const mcp_json *external_refs; /* an array; NULL: none; no externalId is an e-mail address */
    const portarium_payload_ref *payloads;
    size_t payload_count;
} portarium_entry;

/**
 * Append an entry's canonical JSON, without its hash, and give the hash.
 *
 * @param previous_hash the hash of the entry before, NULL for the first of a chain
 * @return MCP_OK; MCP_E_PARAMS: a member is missing or not allowed (the message names it);
 *         MCP_E_LIMIT (the buffer, or PORTARIUM_ENTRY_MAX); MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto)
 */
mcp_status portarium_entry_write(mcp_buf *out, char hash[KEYS_HEX_SIZE],
                                 const portarium_entry *entry, const char *previous_hash,
                                 mcp_error *err);

/**
 * Append the canonical JSON of an entry with its hash, and its signature if there is one.
 *
 * @param canonical what portarium_entry_write appended
 * @param signature base64; NULL: none
 * @return MCP_OK; MCP_E_PARSE: `canonical` is no such text; as portarium_entry_write
 */
mcp_status portarium_entry_complete(mcp_buf *out, const char *canonical, size_t length,
                                    const char *hash, const char *signature, mcp_error *err);

/**
 * Sign an entry.
 *
 * @param complete what portarium_entry_complete appended, without a signature
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto)
 */
mcp_status portarium_entry_sign(char out[PORTARIUM_SIGNATURE_SIZE], const char *complete,
                                size_t length, const keys_pair *pair, mcp_error *err);

#endif
