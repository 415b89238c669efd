/**
 * chain.h - verifying a chain of evidence entries, one after the other.
 *
 * A chain holds no entry, so its length does not matter. One thread at a time.
 */
#ifndef PORTARIUM_CHAIN_H
#define PORTARIUM_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keys/canonical.h"
#include "keys/sign.h"
#include "mcp/error.h"
#include "mcp/json.h"

/** What is wrong with an entry. */
typedef struct portarium_flaw {
    const char *reason; /* a constant, one of those below; NULL: nothing is wrong */
    uint64_t index;     /* of the entry, from 0 */
    char expected[96];  /* "" where nothing is to be said */
    char actual[96];    /* the same; also where it is longer than anything legal */
} portarium_flaw;

/* The reasons, in the order in which an entry is checked. */
#define PORTARIUM_FLAW_TIMESTAMP "timestamp_not_monotonic"
#define PORTARIUM_FLAW_UNEXPECTED_PREVIOUS "unexpected_previous_hash"
#define PORTARIUM_FLAW_PREVIOUS "previous_hash_mismatch"
#define PORTARIUM_FLAW_HASH "hash_mismatch"
#define PORTARIUM_FLAW_SIGNATURE "signature_invalid"

/* Of a workspace, not of an entry: its head names another last entry than there is. */
#define PORTARIUM_FLAW_HEAD "head_mismatch"

/** How signatures are judged. */
typedef struct portarium_chain_options {
    const uint8_t *key; /* the public one of KEYS_PUBLIC_SIZE bytes, copied; NULL: no signature is
                         * looked at */
    bool all_signed;    /* an entry without a signature is PORTARIUM_FLAW_SIGNATURE */
} portarium_chain_options;

/** A chain up to its last verified entry. */
typedef struct portarium_chain portarium_chain;

/** Begin before the first entry. @param out yours, free it with portarium_chain_free
 *  @param options NULL for none. @return MCP_OK; MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto) */
mcp_status portarium_chain_new(portarium_chain **out, const portarium_chain_options *options,
                               mcp_error *err);

/**
 * Begin behind an entry that is taken as it is, instead of before the first.
 *
 * @param index of that entry, from 0
 * @return MCP_OK; MCP_E_PARSE: it is no entry with a time and a hash; MCP_E_NOMEM
 */
mcp_status portarium_chain_resume(portarium_chain *self, uint64_t index, const char *entry,
                                  size_t length, mcp_error *err);

/** NULL is fine. */
void portarium_chain_free(portarium_chain *self);

/**
 * Verify the next entry: its time, which is not before that of the entry before (and is written as
 * 2026-01-02T03:04:05.000Z); its previous hash; its own hash; its signature.
 *
 * @param flaw  set when the status is MCP_E_SCHEMA
 * @param entry JSON, as portarium_entry_complete writes it; in any layout
 * @return MCP_OK; MCP_E_SCHEMA (the first flaw, see `flaw`; the chain does not move on);
 *         MCP_E_PARSE: it is no JSON object, or not I-JSON (the message has its index); MCP_E_LIMIT
 *         (longer than PORTARIUM_ENTRY_MAX); MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto)
 */
mcp_status portarium_chain_add(portarium_chain *self, portarium_flaw *flaw, const char *entry,
                               size_t length, mcp_error *err);

/** How many entries were verified. */
uint64_t portarium_chain_size(const portarium_chain *self);

/** The hash of the last one, as 64 hexadecimal digits; "" before the first. */
const char *portarium_chain_head(const portarium_chain *self);

/** Write {"ok":false,"index","reason","expected"?,"actual"?}, or {"ok":true} without a reason. */
void portarium_flaw_write(mcp_json_writer *writer, const portarium_flaw *flaw);

#endif
