/*
 * test_tree.c - the Merkle tree and its proofs, against RFC 6962's definition, written out naively.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/tree.h"
#include "keys/canonical.h"
#include "mcp/alloc.h"
#include "oom.h"

enum { LEAVES = 66000, KEPT_MAX = 300 };

/* Tiles in memory. */
struct store {
    struct {
        unsigned level;
        uint64_t number;
        uint8_t hashes[PORTARIUM_TILE_SIZE];
    } kept[KEPT_MAX];
    size_t count;
    uint64_t fails_at; /* a write of this number on level 0 fails; 0: none */
};

static mcp_status keep(unsigned level, uint64_t number, const uint8_t *hashes, void *data,
                       mcp_error *err)
{
    struct store *store = data;

    if (level == 0 && number > 0 && number == store->fails_at)
        return mcp_error_set(err, MCP_E_STORAGE, "the disk is full");
    assert_true(store->count < KEPT_MAX);
    store->kept[store->count].level = level;
    store->kept[store->count].number = number;
    memcpy(store->kept[store->count++].hashes, hashes, PORTARIUM_TILE_SIZE);
    return MCP_OK;
}

static mcp_status fetch(unsigned level, uint64_t number, uint8_t *hashes, void *data,
                        mcp_error *err)
{
    struct store *store = data;

    for (size_t i = 0; i < store->count; i++) {
        if (store->kept[i].level == level && store->kept[i].number == number) {
            memcpy(hashes, store->kept[i].hashes, PORTARIUM_TILE_SIZE);
            return MCP_OK;
        }
    }
    return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no such tile");
}

static struct store *store_new(portarium_tiles *tiles)
{
    struct store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    *tiles = (portarium_tiles){ .write = keep, .read = fetch, .data = store };
    return store;
}

static void hash_of_entry(uint8_t out[MCP_SHA256_SIZE], uint64_t index)
{
    assert_int_equal(mcp_sha256(out, &index, sizeof index, NULL), MCP_OK);
}

/* RFC 6962, section 2.1, word for word: MTH(D[start:start+size]). */
static void naive(uint8_t out[MCP_SHA256_SIZE], uint64_t start, uint64_t size)
{
    uint8_t bytes[1 + 2 * MCP_SHA256_SIZE] = { 0 };
    uint64_t k = 1;

    if (size == 0) {
        assert_int_equal(mcp_sha256(out, "", 0, NULL), MCP_OK);
        return;
    }
    if (size == 1) {
        hash_of_entry(bytes + 1, start);
        assert_int_equal(mcp_sha256(out, bytes, 1 + MCP_SHA256_SIZE, NULL), MCP_OK);
        return;
    }
    while (k * 2 < size)
        k *= 2;
    bytes[0] = 1;
    naive(bytes + 1, start, k);
    naive(bytes + 1 + MCP_SHA256_SIZE, start + k, size - k);
    assert_int_equal(mcp_sha256(out, bytes, sizeof bytes, NULL), MCP_OK);
}

static void grow(portarium_tree *tree, uint64_t size)
{
    uint8_t hash[MCP_SHA256_SIZE];

    while (portarium_tree_size(tree) < size) {
        hash_of_entry(hash, portarium_tree_size(tree));
        assert_int_equal(portarium_tree_append(tree, hash, NULL), MCP_OK);
    }
}

static void expect_root(portarium_tree *tree, uint64_t size)
{
    uint8_t root[MCP_SHA256_SIZE], wanted[MCP_SHA256_SIZE];

    naive(wanted, 0, size);
    assert_int_equal(portarium_tree_root(tree, size, root, NULL), MCP_OK);
    assert_memory_equal(root, wanted, sizeof root);
}

static void the_vector(void **state)
{
    static const char *const entries[] = {
        "225a56728c0ff558097eb05e0ff8ecd420799607da0b587b242aec10b036a294",
        "dcf9e9af8d05eaf54a7297b4d7668d3453436cd0cc5475a274d6a3d4e5e0feba",
    };
    portarium_tiles tiles;
    struct store *store = store_new(&tiles);
    portarium_tree *tree = NULL;
    keys_digest *digest = NULL;
    uint8_t hash[MCP_SHA256_SIZE];
    char hex[KEYS_HEX_SIZE];

    (void)state;
    assert_int_equal(keys_digest_new(&digest, NULL), MCP_OK);
    assert_int_equal(portarium_tree_new(&tree, &tiles, 0, NULL), MCP_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(keys_unhex(hash, entries[i], 64));
        assert_int_equal(portarium_tree_append(tree, hash, NULL), MCP_OK);
        assert_int_equal(portarium_leaf(digest, hash, hash, NULL), MCP_OK);
        keys_hex(hex, hash);
        assert_memory_equal(hex, i ? "40dbac91" : "607a38c6", 8);
        assert_string_equal(hex + 58, i ? "cf4d3d" : "7df5b2");
    }
    assert_int_equal(portarium_tree_root(tree, 2, hash, NULL), MCP_OK);
    keys_hex(hex, hash);
    assert_string_equal(hex, "d1023b22d2c161f823461559a29194160e2970d7c468993f90422daa8bb6f5cd");
    assert_int_equal(portarium_tree_root(tree, 3, hash, NULL), MCP_E_PARAMS);
    keys_digest_free(digest);
    portarium_tree_free(tree);
    free(store);
}

static void roots_are_those_of_the_definition(void **state)
{
    static const uint64_t sizes[] = { 255, 256, 257, 511, 512, 513, 1000, 65535, 65536, 65537 };
    portarium_tiles tiles;
    struct store *store = store_new(&tiles);
    portarium_tree *tree = NULL;

    (void)state;
    assert_int_equal(portarium_tree_new(&tree, &tiles, 0, NULL), MCP_OK);
    for (uint64_t size = 0; size <= 40; size++) {
        grow(tree, size);
        expect_root(tree, size);
    }
    grow(tree, LEAVES);
    for (uint64_t size = 0; size <= 40; size++)
        expect_root(tree, size); /* those of old sizes, too */
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        expect_root(tree, sizes[i]);
    expect_root(tree, LEAVES);

    portarium_tree *again = NULL; /* as after a restart */
    assert_int_equal(portarium_tree_new(&again, &tiles, LEAVES / 256 * 256, NULL), MCP_OK);
    grow(again, LEAVES);
    expect_root(again, LEAVES);
    expect_root(again, 1000);
    portarium_tree_free(again);
    portarium_tree_free(tree);
    free(store);
}

struct prover {
    portarium_tree *tree;
    keys_digest *digest;
};

static void check_inclusion(struct prover *p, uint64_t index, uint64_t size)
{
    uint8_t root[MCP_SHA256_SIZE], hash[MCP_SHA256_SIZE];
    portarium_proof proof;

    hash_of_entry(hash, index);
    assert_int_equal(portarium_tree_root(p->tree, size, root, NULL), MCP_OK);
    assert_int_equal(portarium_tree_inclusion(p->tree, index, size, &proof, NULL), MCP_OK);
    assert_int_equal(portarium_verify_inclusion(p->digest, index, size, hash, root, &proof, NULL),
                     MCP_OK);
    assert_int_equal(
        portarium_verify_inclusion(p->digest, index + 1, size, hash, root, &proof, NULL),
        MCP_E_DENIED);
    hash[0] ^= 1;
    assert_int_equal(portarium_verify_inclusion(p->digest, index, size, hash, root, &proof, NULL),
                     MCP_E_DENIED);
    hash[0] ^= 1;
    for (size_t i = 0; i < proof.count; i++) {
        proof.hashes[i][31] ^= 1;
        assert_int_equal(
            portarium_verify_inclusion(p->digest, index, size, hash, root, &proof, NULL),
            MCP_E_DENIED);
        proof.hashes[i][31] ^= 1;
    }
    memcpy(proof.hashes[proof.count++], root, sizeof root);
    assert_int_equal(portarium_verify_inclusion(p->digest, index, size, hash, root, &proof, NULL),
                     MCP_E_DENIED);
    if (proof.count < 2)
        return;
    proof.count -= 2;
    assert_int_equal(portarium_verify_inclusion(p->digest, index, size, hash, root, &proof, NULL),
                     MCP_E_DENIED);
}

static void check_consistency(struct prover *p, uint64_t old_size, uint64_t size)
{
    uint8_t old_root[MCP_SHA256_SIZE], root[MCP_SHA256_SIZE];
    portarium_proof proof;

    assert_int_equal(portarium_tree_root(p->tree, old_size, old_root, NULL), MCP_OK);
    assert_int_equal(portarium_tree_root(p->tree, size, root, NULL), MCP_OK);
    assert_int_equal(portarium_tree_consistency(p->tree, old_size, size, &proof, NULL), MCP_OK);
    assert_int_equal(
        portarium_verify_consistency(p->digest, old_size, old_root, size, root, &proof, NULL),
        MCP_OK);
    if (old_size == 0)
        return;
    old_root[5] ^= 1;
    assert_int_equal(
        portarium_verify_consistency(p->digest, old_size, old_root, size, root, &proof, NULL),
        MCP_E_DENIED);
    old_root[5] ^= 1;
    for (size_t i = 0; i < proof.count; i++) {
        proof.hashes[i][0] ^= 1;
        assert_int_equal(
            portarium_verify_consistency(p->digest, old_size, old_root, size, root, &proof, NULL),
            MCP_E_DENIED);
        proof.hashes[i][0] ^= 1;
    }
    memcpy(proof.hashes[proof.count++], root, sizeof root);
    assert_int_equal(
        portarium_verify_consistency(p->digest, old_size, old_root, size, root, &proof, NULL),
        MCP_E_DENIED);
}

static void proofs_verify_and_altered_ones_do_not(void **state)
{
    static const uint64_t places[] = { 0, 1, 255, 256, 300, 511, 512, 700, 998, 999 };
    portarium_tiles tiles;
    struct store *store = store_new(&tiles);
    struct prover p = { NULL, NULL };
    portarium_proof proof;

    (void)state;
    assert_int_equal(keys_digest_new(&p.digest, NULL), MCP_OK);
    assert_int_equal(portarium_tree_new(&p.tree, &tiles, 0, NULL), MCP_OK);
    grow(p.tree, 1000);
    for (uint64_t size = 1; size <= 33; size++) {
        for (uint64_t at = 0; at < size; at++)
            check_inclusion(&p, at, size);
        for (uint64_t old = 0; old <= size; old++)
            check_consistency(&p, old, size);
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        check_inclusion(&p, places[i], 1000);
        check_consistency(&p, places[i], 1000);
    }
    assert_int_equal(portarium_tree_inclusion(p.tree, 10, 10, &proof, NULL), MCP_E_PARAMS);
    assert_int_equal(portarium_tree_inclusion(p.tree, 10, 1001, &proof, NULL), MCP_E_PARAMS);
    assert_int_equal(portarium_tree_consistency(p.tree, 11, 10, &proof, NULL), MCP_E_PARAMS);
    keys_digest_free(p.digest);
    portarium_tree_free(p.tree);
    free(store);
}

static void a_store_that_fails_is_reported(void **state)
{
    portarium_tiles tiles;
    struct store *store = store_new(&tiles);
    portarium_tree *tree = NULL;
    uint8_t hash[MCP_SHA256_SIZE];

    (void)state;
    store->fails_at = 1;
    assert_int_equal(portarium_tree_new(&tree, &tiles, 0, NULL), MCP_OK);
    grow(tree, 511);
    hash_of_entry(hash, 511);
    assert_int_equal(portarium_tree_append(tree, hash, NULL), MCP_E_STORAGE);
    assert_int_equal(portarium_tree_size(tree), 511);
    portarium_tree_free(tree);
    store->fails_at = 0;
    assert_int_equal(portarium_tree_new(&tree, &tiles, 256, NULL), MCP_OK);
    grow(tree, 600);
    expect_root(tree, 600);
    portarium_tree_free(tree);
    assert_int_equal(portarium_tree_new(&tree, &tiles, 1024, NULL), MCP_E_NOT_FOUND);
    assert_int_equal(portarium_tree_new(&tree, &tiles, 257, NULL), MCP_E_PARAMS);
    portarium_tree_free(NULL);
    free(store);
}

static mcp_status make_once(void *data)
{
    portarium_tree *tree = NULL;
    mcp_status st = portarium_tree_new(&tree, data, 0, NULL);

    portarium_tree_free(tree);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    portarium_tiles tiles = { .write = keep, .read = fetch };

    (void)state;
    oom_walk(make_once, &tiles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vector),
        cmocka_unit_test(roots_are_those_of_the_definition),
        cmocka_unit_test(proofs_verify_and_altered_ones_do_not),
        cmocka_unit_test(a_store_that_fails_is_reported),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
