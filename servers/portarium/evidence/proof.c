/*
 * proof.c - from a leaf to the root, and from an old root to a new one.
 *
 * In both, `at` is the number of a subtree on its level and `last` that of the rightmost one there.
 * A subtree without a right neighbour moves up unchanged until it is a right child.
 */
#include "evidence/proof.h"

#include <stdbool.h>
#include <string.h>

mcp_status portarium_leaf(keys_digest *digest, uint8_t out[MCP_SHA256_SIZE],
                          const uint8_t hash[MCP_SHA256_SIZE], mcp_error *err)
{
    keys_digest_add(digest, "\0", 1);
    keys_digest_add(digest, hash, MCP_SHA256_SIZE);
    return keys_digest_end(digest, out, err);
}

mcp_status portarium_node(keys_digest *digest, uint8_t out[MCP_SHA256_SIZE],
                          const uint8_t left[MCP_SHA256_SIZE], const uint8_t right[MCP_SHA256_SIZE],
                          mcp_error *err)
{
    keys_digest_add(digest, "\1", 1);
    keys_digest_add(digest, left, MCP_SHA256_SIZE);
    keys_digest_add(digest, right, MCP_SHA256_SIZE);
    return keys_digest_end(digest, out, err);
}

static mcp_status refuse(mcp_error *err, const char *what)
{
    return mcp_error_set(err, MCP_E_DENIED, "%s", what);
}

mcp_status portarium_verify_inclusion(keys_digest *digest, uint64_t index, uint64_t size,
                                      const uint8_t hash[MCP_SHA256_SIZE],
                                      const uint8_t root[MCP_SHA256_SIZE],
                                      const portarium_proof *proof, mcp_error *err)
{
    static const char wrong[] = "the inclusion proof does not lead to the root";
    uint64_t at = index, last = size - 1;
    uint8_t made[MCP_SHA256_SIZE];

    if (index >= size)
        return refuse(err, wrong);
    mcp_status st = portarium_leaf(digest, made, hash, err);
    for (size_t i = 0; i < proof->count && st == MCP_OK; i++) {
        if (last == 0)
            return refuse(err, wrong);
        if (at % 2 == 1 || at == last) {
            st = portarium_node(digest, made, proof->hashes[i], made, err);
            for (; at % 2 == 0 && at != 0; at /= 2)
                last /= 2;
        } else {
            st = portarium_node(digest, made, made, proof->hashes[i], err);
        }
        at /= 2;
        last /= 2;
    }
    if (st != MCP_OK)
        return st;
    return last == 0 && memcmp(made, root, sizeof made) == 0 ? MCP_OK : refuse(err, wrong);
}

/* The two roots that a consistency proof leads to, from the hash that both trees share. */
struct roots {
    uint8_t older[MCP_SHA256_SIZE], newer[MCP_SHA256_SIZE];
};

static mcp_status climb(keys_digest *digest, struct roots *made, uint64_t at, uint64_t *last,
                        const portarium_proof *proof, size_t from, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = from; i < proof->count && st == MCP_OK; i++) {
        const uint8_t *hash = proof->hashes[i];
        if (*last == 0)
            return refuse(err, "the consistency proof is too long");
        if (at % 2 == 1 || at == *last) {
            st = portarium_node(digest, made->older, hash, made->older, err);
            if (st == MCP_OK)
                st = portarium_node(digest, made->newer, hash, made->newer, err);
            for (; at % 2 == 0 && at != 0; at /= 2)
                *last /= 2;
        } else {
            st = portarium_node(digest, made->newer, made->newer, hash, err);
        }
        at /= 2;
        *last /= 2;
    }
    return st;
}

mcp_status portarium_verify_consistency(keys_digest *digest, uint64_t old_size,
                                        const uint8_t old_root[MCP_SHA256_SIZE], uint64_t size,
                                        const uint8_t root[MCP_SHA256_SIZE],
                                        const portarium_proof *proof, mcp_error *err)
{
    static const char wrong[] = "the trees are not consistent";
    uint64_t at = old_size - 1, last = size - 1;
    bool is_whole = old_size > 0 && (old_size & (old_size - 1)) == 0;
    struct roots made;

    if (old_size > size)
        return refuse(err, wrong);
    if (old_size == 0 || old_size == size) {
        bool is_same = old_size == 0 || memcmp(old_root, root, MCP_SHA256_SIZE) == 0;
        return is_same && proof->count == 0 ? MCP_OK : refuse(err, wrong);
    }
    /* An old tree that is one complete subtree is its own first hash, which no proof repeats. */
    if (!is_whole && proof->count == 0)
        return refuse(err, wrong);
    memcpy(made.older, is_whole ? old_root : proof->hashes[0], MCP_SHA256_SIZE);
    memcpy(made.newer, made.older, MCP_SHA256_SIZE);
    for (; at % 2 == 1; at /= 2)
        last /= 2;
    mcp_status st = climb(digest, &made, at, &last, proof, is_whole ? 0 : 1, err);
    if (st != MCP_OK)
        return st;
    bool is_right = last == 0 && memcmp(made.older, old_root, MCP_SHA256_SIZE) == 0 &&
                    memcmp(made.newer, root, MCP_SHA256_SIZE) == 0;
    return is_right ? MCP_OK : refuse(err, wrong);
}
