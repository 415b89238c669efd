/**
 * tree.h - the Merkle tree over the entries of a workspace (RFC 6962, section 2.1).
 *
 * A leaf is SHA-256(0x00 followed by the 32 bytes of `hashSha256`), a node SHA-256(0x01 followed by
 * the left and the right hash). Hashes are kept in tiles of 256: tile N of level L has the hashes
 * of the complete subtrees of 256^L leaves from 256^(L+1) * N on. A full tile is handed to the
 * store, which keeps it; those at the right edge are in memory and can be made again from the store
 * and from the last entries. One thread at a time.
 */
#ifndef PORTARIUM_TREE_H
#define PORTARIUM_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "evidence/proof.h"
#include "mcp/error.h"

#define PORTARIUM_TILE_HASHES 256
#define PORTARIUM_TILE_SIZE (PORTARIUM_TILE_HASHES * MCP_SHA256_SIZE)

/** The most leaves of a tree. */
#define PORTARIUM_TREE_MAX (UINT64_C(1) << 39)

/** Where full tiles are kept. A failure of either function is returned by the tree's. */
typedef struct portarium_tiles {
    /** Keep a full tile of PORTARIUM_TILE_SIZE bytes. The same may come again after a failure. */
    mcp_status (*write)(unsigned level, uint64_t number, const uint8_t *hashes, void *data,
                        mcp_error *err);
    /** Read a full tile. */
    mcp_status (*read)(unsigned level, uint64_t number, uint8_t *hashes, void *data,
                       mcp_error *err);
    void *data;
} portarium_tiles;

typedef struct portarium_tree portarium_tree;

/**
 * Open a tree at its last full tile.
 *
 * @param out   yours, free it with portarium_tree_free; about 90 KiB
 * @param tiles copied
 * @param size  of the tree that was stored, rounded down to a multiple of PORTARIUM_TILE_HASHES;
 *              then append the entries from that one on again
 * @return MCP_OK; MCP_E_PARAMS (`size`); MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto); as `read`
 */
mcp_status portarium_tree_new(portarium_tree **out, const portarium_tiles *tiles, uint64_t size,
                              mcp_error *err);

/** NULL is fine. */
void portarium_tree_free(portarium_tree *self);

/** How many leaves it has. */
uint64_t portarium_tree_size(const portarium_tree *self);

/**
 * Append an entry.
 *
 * @param hash the 32 bytes of its `hashSha256`
 * @return MCP_OK; MCP_E_LIMIT (PORTARIUM_TREE_MAX); MCP_E_INTERNAL (libcrypto); as `write`: then
 *         the tree must be opened again
 */
mcp_status portarium_tree_append(portarium_tree *self, const uint8_t hash[MCP_SHA256_SIZE],
                                 mcp_error *err);

/**
 * The root of the tree as it was with `size` leaves. Without a leaf it is the SHA-256 of nothing.
 *
 * @return MCP_OK; MCP_E_PARAMS (`size` is beyond the tree's); MCP_E_INTERNAL; as `read`
 */
mcp_status portarium_tree_root(portarium_tree *self, uint64_t size, uint8_t out[MCP_SHA256_SIZE],
                               mcp_error *err);

/** The proof that entry `index` is in the tree of `size` leaves. @return as portarium_tree_root;
 *  MCP_E_PARAMS also when `index` is not below `size` */
mcp_status portarium_tree_inclusion(portarium_tree *self, uint64_t index, uint64_t size,
                                    portarium_proof *out, mcp_error *err);

/** The proof that the tree of `old_size` leaves is the beginning of that of `size`. @return as
 *  portarium_tree_root; MCP_E_PARAMS also when `old_size` is beyond `size` */
mcp_status portarium_tree_consistency(portarium_tree *self, uint64_t old_size, uint64_t size,
                                      portarium_proof *out, mcp_error *err);

#endif
