/*
 * tree.c - the Merkle tree in tiles.
 *
 * Every hash that a root or a proof needs is that of a complete subtree, or of the range at the
 * right edge, which is put together from complete ones. A complete subtree of 2^k leaves is made of
 * 2^(k mod 8) hashes of one tile on level k/8, from memory or from the store; the tile that was
 * read last on each level is kept.
 */
#include "evidence/tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"

enum { LEVELS = 5, TILE_BITS = 8 };

#define NO_TILE UINT64_MAX

typedef uint8_t tile[PORTARIUM_TILE_HASHES][MCP_SHA256_SIZE];

struct portarium_tree {
    portarium_tiles tiles;
    keys_digest *digest;
    uint64_t size;
    tile edge[LEVELS];        /* the tile at the right edge of each level */
    tile read[LEVELS];        /* the full tile read last */
    uint64_t is_read[LEVELS]; /* its number, or NO_TILE */
};

/* The hashes on a level of the whole tree. */
static uint64_t count_on(const portarium_tree *self, unsigned level)
{
    return self->size >> (TILE_BITS * level);
}

/* The hash of 2^depth neighbouring ones, which must be more than none. */
static mcp_status fold(portarium_tree *self, uint8_t out[MCP_SHA256_SIZE], const uint8_t *hashes,
                       unsigned depth, mcp_error *err)
{
    uint8_t left[MCP_SHA256_SIZE], right[MCP_SHA256_SIZE];

    if (depth == 0) {
        memcpy(out, hashes, MCP_SHA256_SIZE);
        return MCP_OK;
    }
    mcp_status st = fold(self, left, hashes, depth - 1, err);
    if (st == MCP_OK)
        st = fold(self, right, hashes + ((size_t)MCP_SHA256_SIZE << (depth - 1)), depth - 1, err);
    return st == MCP_OK ? portarium_node(self->digest, out, left, right, err) : st;
}

/* ---- open and append ------------------------------------------------------------------------- */

static mcp_status read_tile(portarium_tree *self, unsigned level, uint64_t number, mcp_error *err)
{
    if (self->is_read[level] == number)
        return MCP_OK;
    self->is_read[level] = NO_TILE;
    mcp_status st = self->tiles.read(level, number, &self->read[level][0][0], self->tiles.data,
                                     err);
    if (st == MCP_OK)
        self->is_read[level] = number;
    return st;
}

/* The edge of each level above the first has the hashes of full tiles below. */
static mcp_status restore(portarium_tree *self, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (unsigned level = 1; level < LEVELS; level++) {
        uint64_t count = count_on(self, level), first = count & ~UINT64_C(255);
        for (uint64_t number = first; number < count && st == MCP_OK; number++) {
            st = read_tile(self, level - 1, number, err);
            if (st == MCP_OK)
                st = fold(self, self->edge[level][number - first], self->read[level - 1][0],
                          TILE_BITS, err);
        }
    }
    return st;
}

mcp_status portarium_tree_new(portarium_tree **out, const portarium_tiles *tiles, uint64_t size,
                              mcp_error *err)
{
    if (size % PORTARIUM_TILE_HASHES != 0 || size > PORTARIUM_TREE_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a tree is opened at a full tile");
    portarium_tree *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a tree");
    self->tiles = *tiles;
    self->size = size;
    for (unsigned level = 0; level < LEVELS; level++)
        self->is_read[level] = NO_TILE;
    mcp_status st = keys_digest_new(&self->digest, err);
    if (st == MCP_OK)
        st = restore(self, err);
    if (st != MCP_OK) {
        portarium_tree_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_tree_free(portarium_tree *self)
{
    if (!self)
        return;
    keys_digest_free(self->digest);
    free(self);
}

uint64_t portarium_tree_size(const portarium_tree *self)
{
    return self->size;
}

mcp_status portarium_tree_append(portarium_tree *self, const uint8_t hash[MCP_SHA256_SIZE],
                                 mcp_error *err)
{
    uint64_t number = self->size;

    if (self->size == PORTARIUM_TREE_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a tree is full");
    mcp_status st = portarium_leaf(self->digest, self->edge[0][number & 255], hash, err);
    for (unsigned level = 0; level < LEVELS && st == MCP_OK && (number & 255) == 255; level++) {
        st = self->tiles.write(level, number >> TILE_BITS, &self->edge[level][0][0],
                               self->tiles.data, err);
        number >>= TILE_BITS;
        if (st == MCP_OK && level + 1 < LEVELS)
            st = fold(self, self->edge[level + 1][number & 255], self->edge[level][0], TILE_BITS,
                      err);
    }
    if (st == MCP_OK)
        self->size++;
    return st;
}

/* ---- hashes of ranges ------------------------------------------------------------------------ */

/* The subtree of 2^depth leaves that begins at `start`, a multiple of that. */
static mcp_status subtree(portarium_tree *self, uint8_t out[MCP_SHA256_SIZE], uint64_t start,
                          unsigned depth, mcp_error *err)
{
    unsigned level = depth / TILE_BITS;
    uint64_t first = start >> (TILE_BITS * level), number = first >> TILE_BITS;
    tile *from = &self->edge[level];
    mcp_status st = MCP_OK;

    if (number < count_on(self, level) >> TILE_BITS) {
        st = read_tile(self, level, number, err);
        from = &self->read[level];
    }
    if (st != MCP_OK)
        return st;
    return fold(self, out, (*from)[first & 255], depth % TILE_BITS, err);
}

/* The largest power of two below `size`, which is at least 2: its exponent. */
static unsigned split_depth(uint64_t size)
{
    return 63 - (unsigned)__builtin_clzll(size - 1);
}

/* RFC 6962, MTH(D[start:start+size]); `start` is a multiple of a power of two not below size. */
static mcp_status range(portarium_tree *self, uint8_t out[MCP_SHA256_SIZE], uint64_t start,
                        uint64_t size, mcp_error *err)
{
    uint8_t right[MCP_SHA256_SIZE];

    if ((size & (size - 1)) == 0)
        return subtree(self, out, start, (unsigned)__builtin_ctzll(size), err);
    unsigned depth = split_depth(size);
    uint64_t half = UINT64_C(1) << depth;
    mcp_status st = range(self, right, start + half, size - half, err);
    if (st == MCP_OK)
        st = subtree(self, out, start, depth, err);
    return st == MCP_OK ? portarium_node(self->digest, out, out, right, err) : st;
}

static mcp_status out_of_tree(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_PARAMS, "there are not so many entries in the tree");
}

mcp_status portarium_tree_root(portarium_tree *self, uint64_t size, uint8_t out[MCP_SHA256_SIZE],
                               mcp_error *err)
{
    if (size > self->size)
        return out_of_tree(err);
    if (size == 0)
        return keys_digest_end(self->digest, out, err);
    return range(self, out, 0, size, err);
}

/* ---- proofs ---------------------------------------------------------------------------------- */

/* Proofs are made from the root downwards and read from the leaf upwards. */
static void turn(portarium_proof *proof)
{
    uint8_t moving[MCP_SHA256_SIZE];

    for (size_t i = 0, j = proof->count; i + 1 < j; i++, j--) {
        memcpy(moving, proof->hashes[i], sizeof moving);
        memcpy(proof->hashes[i], proof->hashes[j - 1], sizeof moving);
        memcpy(proof->hashes[j - 1], moving, sizeof moving);
    }
}

static mcp_status add_range(portarium_tree *self, portarium_proof *proof, uint64_t start,
                            uint64_t size, mcp_error *err)
{
    return range(self, proof->hashes[proof->count++], start, size, err);
}

mcp_status portarium_tree_inclusion(portarium_tree *self, uint64_t index, uint64_t size,
                                    portarium_proof *out, mcp_error *err)
{
    uint64_t start = 0;
    mcp_status st = MCP_OK;

    if (size > self->size || index >= size)
        return out_of_tree(err);
    out->count = 0;
    while (size > 1 && st == MCP_OK) {
        uint64_t half = UINT64_C(1) << split_depth(size);
        bool is_left = index - start < half;
        st = is_left ? add_range(self, out, start + half, size - half, err)
                     : add_range(self, out, start, half, err);
        size = is_left ? half : size - half;
        start += is_left ? 0 : half;
    }
    turn(out);
    return st;
}

/* RFC 6962, SUBPROOF(m, D[n], b): the old tree ends where the range that is left is complete. */
mcp_status portarium_tree_consistency(portarium_tree *self, uint64_t old_size, uint64_t size,
                                      portarium_proof *out, mcp_error *err)
{
    uint64_t start = 0, left = old_size;
    bool is_whole = true; /* the range is the old tree itself */
    mcp_status st = MCP_OK;

    if (size > self->size || old_size > size)
        return out_of_tree(err);
    out->count = 0;
    if (old_size == 0 || old_size == size)
        return MCP_OK;
    while (left != size && st == MCP_OK) {
        uint64_t half = UINT64_C(1) << split_depth(size);
        if (left <= half) {
            st = add_range(self, out, start + half, size - half, err);
            size = half;
        } else {
            st = add_range(self, out, start, half, err);
            start += half;
            left -= half;
            size -= half;
            is_whole = false;
        }
    }
    if (st == MCP_OK && !is_whole)
        st = add_range(self, out, start, size, err);
    turn(out);
    return st;
}
