/**
 * proof.h - verifying proofs about a Merkle tree without the tree (RFC 9162, sections 2.1.3.2 and
 * 2.1.4.2, which give the algorithms for the proofs of RFC 6962). Any thread.
 */
#ifndef PORTARIUM_PROOF_H
#define PORTARIUM_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "keys/digest.h"
#include "mcp/error.h"

/** The most hashes of a proof. */
#define PORTARIUM_PROOF_MAX 64

/** A proof: hashes from the leaf upwards. */
typedef struct portarium_proof {
    size_t count;
    uint8_t hashes[PORTARIUM_PROOF_MAX][MCP_SHA256_SIZE];
} portarium_proof;

/** The hash of a leaf, from an entry's hash. @return MCP_OK; MCP_E_INTERNAL (libcrypto) */
mcp_status portarium_leaf(keys_digest *digest, uint8_t out[MCP_SHA256_SIZE],
                          const uint8_t hash[MCP_SHA256_SIZE], mcp_error *err);

/** The hash of a node. `out` may be one of the others. @return as portarium_leaf */
mcp_status portarium_node(keys_digest *digest, uint8_t out[MCP_SHA256_SIZE],
                          const uint8_t left[MCP_SHA256_SIZE], const uint8_t right[MCP_SHA256_SIZE],
                          mcp_error *err);

/**
 * Verify that an entry is at a place of a tree.
 *
 * @param hash the entry's
 * @return MCP_OK; MCP_E_DENIED: the proof does not lead to the root; MCP_E_INTERNAL (libcrypto)
 */
mcp_status portarium_verify_inclusion(keys_digest *digest, uint64_t index, uint64_t size,
                                      const uint8_t hash[MCP_SHA256_SIZE],
                                      const uint8_t root[MCP_SHA256_SIZE],
                                      const portarium_proof *proof, mcp_error *err);

/**
 * Verify that a tree is the beginning of a larger one, so that nothing in it was changed or cut.
 *
 * @return as portarium_verify_inclusion
 */
mcp_status portarium_verify_consistency(keys_digest *digest, uint64_t old_size,
                                        const uint8_t old_root[MCP_SHA256_SIZE], uint64_t size,
                                        const uint8_t root[MCP_SHA256_SIZE],
                                        const portarium_proof *proof, mcp_error *err);

#endif
