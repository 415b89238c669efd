/*
 * test_bundle.c - bundles: whole ones, and ones of which a byte or a line is another, by our
 * verifier and by examples/portarium/verify_evidence.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "child.h"
#include "evidence/bundle.h"
#include "evidence/entry.h"
#include "evidence/tree.h"
#include "oom.h"
#include "scratch.h"

enum { CHAIN = 7, OTHERS_MAX = 80, LINES = 7 };

#define PAYLOAD "what was sent\n"

static const uint8_t seed[KEYS_SEED_SIZE] = { 4, 2 };

struct world {
    keys_pair *pair;
    portarium_key key;
    portarium_tree *tree;
    mcp_buf entries[CHAIN];
    mcp_buf bundle;
    char payload_hash[KEYS_HEX_SIZE];
};

static mcp_status no_tile(unsigned level, uint64_t number, uint8_t *hashes, void *data,
                          mcp_error *err)
{
    (void)level;
    (void)number;
    (void)hashes;
    (void)data;
    return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no tile");
}

/* An entry of another run, of ours, of ours with a signature, ... */
static mcp_status write_entry(struct world *world, int i, const char *previous, char *hash)
{
    portarium_payload_ref payload = { "Log", "portarium://ws-1/payloads/p1", "text/plain",
                                      world->payload_hash };
    portarium_entry entry = {
        .evidence_id = "ev",
        .workspace_id = "ws-1",
        .correlation_id = "c-1",
        .occurred_at_ms = INT64_C(1767323045000) + i,
        .category = "Action",
        .summary = "Schritt getan: gr\xc3\xbc\xc3\x9f",
        .actor = { .kind = "System" },
        .run_id = i % 2 ? "run-1" : "run-2",
        .payloads = i == 3 ? &payload : NULL,
        .payload_count = i == 3,
    };
    char signature[PORTARIUM_SIGNATURE_SIZE];
    mcp_buf canonical, complete;

    mcp_buf_init(&canonical, 10000);
    mcp_buf_init(&complete, 10000);
    mcp_status st = portarium_entry_write(&canonical, hash, &entry, i ? previous : NULL, NULL);
    if (st == MCP_OK)
        st = portarium_entry_complete(&complete, canonical.data, canonical.length, hash, NULL,
                                      NULL);
    if (st == MCP_OK)
        st = portarium_entry_sign(signature, complete.data, complete.length, world->pair, NULL);
    if (st == MCP_OK)
        st = portarium_entry_complete(&world->entries[i], canonical.data, canonical.length, hash,
                                      i == 5 ? signature : NULL, NULL);
    mcp_buf_clear(&canonical);
    mcp_buf_clear(&complete);
    return st;
}

static mcp_status write_chain(struct world *world, portarium_checkpoint *checkpoint)
{
    portarium_tiles tiles = { .read = no_tile };
    uint8_t digest[MCP_SHA256_SIZE];
    char hash[KEYS_HEX_SIZE] = "";
    mcp_status st = portarium_tree_new(&world->tree, &tiles, 0, NULL);

    for (int i = 0; i < CHAIN && st == MCP_OK; i++) {
        char previous[KEYS_HEX_SIZE];
        memcpy(previous, hash, sizeof previous);
        st = write_entry(world, i, previous, hash);
        if (st != MCP_OK)
            break;
        keys_unhex(digest, hash, strlen(hash));
        st = portarium_tree_append(world->tree, digest, NULL);
    }
    *checkpoint = (portarium_checkpoint){ .origin = "portarium/ws-1", .size = CHAIN };
    memcpy(checkpoint->chain, hash, sizeof hash);
    return st == MCP_OK ? portarium_tree_root(world->tree, CHAIN, checkpoint->root, NULL) : st;
}

static mcp_status collect(const char *bytes, size_t length, void *data, mcp_error *err)
{
    (void)err;
    return mcp_buf_append(data, bytes, length);
}

static mcp_status write_bundle(struct world *world, const mcp_buf *note)
{
    portarium_bundle_options options = {
        .origin = "portarium/ws-1",
        .run_id = "run-1",
        .entries = 3,
        .payloads = 1,
        .checkpoint = note->data,
        .checkpoint_length = note->length,
        .signer = { "plane", world->pair },
        .sink = collect,
        .data = &world->bundle,
    };
    portarium_bundle *bundle = NULL;
    portarium_proof proof;
    mcp_status st = portarium_bundle_new(&bundle, &options, NULL);

    for (int i = 1; i < CHAIN && st == MCP_OK; i += 2) {
        st = portarium_tree_inclusion(world->tree, (uint64_t)i, CHAIN, &proof, NULL);
        if (st == MCP_OK)
            st = portarium_bundle_entry(bundle, world->entries[i].data, world->entries[i].length,
                                        (uint64_t)i, &proof, NULL);
    }
    if (st == MCP_OK)
        st = portarium_bundle_payload(bundle, "portarium://ws-1/payloads/p1", PAYLOAD,
                                      strlen(PAYLOAD), NULL);
    if (st == MCP_OK)
        st = portarium_bundle_end(bundle, NULL);
    portarium_bundle_free(bundle);
    return st;
}

static mcp_status open_world(struct world *world)
{
    portarium_signer signer = { "plane", NULL };
    portarium_checkpoint checkpoint;
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_buf note;

    *world = (struct world){ .key.name = "plane" };
    mcp_buf_init(&note, 8192);
    mcp_buf_init(&world->bundle, 100000);
    for (int i = 0; i < CHAIN; i++)
        mcp_buf_init(&world->entries[i], 10000);
    mcp_status st = mcp_sha256(digest, PAYLOAD, strlen(PAYLOAD), NULL);
    if (st == MCP_OK)
        st = keys_pair_new(&world->pair, seed, NULL);
    if (st == MCP_OK) {
        keys_hex(world->payload_hash, digest);
        keys_pair_public(world->pair, world->key.bytes);
        st = write_chain(world, &checkpoint);
    }
    signer.pair = world->pair;
    if (st == MCP_OK)
        st = portarium_checkpoint_sign(&note, &checkpoint, &signer, NULL);
    if (st == MCP_OK)
        st = write_bundle(world, &note);
    mcp_buf_clear(&note);
    return st;
}

static void close_world(struct world *world)
{
    portarium_tree_free(world->tree);
    keys_pair_free(world->pair);
    mcp_buf_clear(&world->bundle);
    for (int i = 0; i < CHAIN; i++)
        mcp_buf_clear(&world->entries[i]);
}

static int set_up(void **state)
{
    static struct world world;

    *state = &world;
    return open_world(&world) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    close_world(*state);
    return 0;
}

static mcp_status verify(const struct world *world, portarium_verdict *verdict, const char *text,
                         size_t length)
{
    return portarium_bundle_verify(verdict, text, length, &world->key, NULL);
}

static void a_whole_bundle_is_genuine(void **state)
{
    struct world *world = *state;
    portarium_verdict verdict;

    assert_int_equal(verify(world, &verdict, world->bundle.data, world->bundle.length), MCP_OK);
    assert_null(verdict.reason);
    assert_int_equal(verdict.entries, 3);
    assert_int_equal(verdict.payloads, 1);
    assert_int_equal(verdict.checkpoint.size, CHAIN);
    world->key.name = "other";
    assert_int_equal(verify(world, &verdict, world->bundle.data, world->bundle.length),
                     MCP_E_SCHEMA);
    assert_string_equal(verdict.reason, PORTARIUM_BAD_CHECKPOINT);
    world->key.name = "plane";
    world->key.bytes[0] ^= 1;
    assert_int_equal(verify(world, &verdict, world->bundle.data, world->bundle.length),
                     MCP_E_SCHEMA);
    assert_int_equal(verdict.line, 2);
}

static void every_changed_byte_is_located(void **state)
{
    struct world *world = *state;
    portarium_verdict verdict;
    uint64_t line = 1;

    for (size_t at = 0; at < world->bundle.length; at++) {
        for (int change = 1; change < 256; change *= 32) {
            world->bundle.data[at] ^= (char)change;
            mcp_status st = verify(world, &verdict, world->bundle.data, world->bundle.length);
            world->bundle.data[at] ^= (char)change;
            assert_int_equal(st, MCP_E_SCHEMA);
            if (verdict.line != line && line > 1)
                fail_msg("byte %zu of line %llu: found in line %llu", at, (unsigned long long)line,
                         (unsigned long long)verdict.line);
        }
        line += world->bundle.data[at] == '\n';
    }
    assert_int_equal(line, LINES + 1);
}

static void a_cut_or_longer_bundle_is_refused(void **state)
{
    struct world *world = *state;
    portarium_verdict verdict;

    for (size_t length = 0; length < world->bundle.length; length++) {
        assert_int_equal(verify(world, &verdict, world->bundle.data, length), MCP_E_SCHEMA);
        assert_string_equal(verdict.reason, PORTARIUM_BAD_CUT);
    }
    mcp_buf_puts(&world->bundle, "{}\n");
    assert_int_equal(verify(world, &verdict, world->bundle.data, world->bundle.length),
                     MCP_E_SCHEMA);
    assert_string_equal(verdict.reason, PORTARIUM_BAD_TRAILING);
    assert_int_equal(verdict.line, LINES + 1);
}

/* The lines of the bundle in this order. */
static void compose(const struct world *world, mcp_buf *out, const int *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *line = world->bundle.data;
        for (int skip = order[i]; skip > 0; skip--)
            line = strchr(line, '\n') + 1;
        mcp_buf_append(out, line, (size_t)(strchr(line, '\n') - line) + 1);
    }
}

static void lost_swapped_and_added_lines_are_located(void **state)
{
    static const struct {
        int order[LINES + 1];
        size_t count;
        uint64_t line;
        const char *reason;
    } rows[] = {
        { { 1, 2, 3, 4, 5, 6 }, 6, 1, PORTARIUM_BAD_HEADER },
        { { 0, 2, 3, 4, 5, 6 }, 6, 2, PORTARIUM_BAD_CHECKPOINT },
        { { 0, 1, 3, 4, 5, 6 }, 6, 5, PORTARIUM_BAD_ENTRY },
        { { 0, 1, 2, 4, 5, 6 }, 6, 5, PORTARIUM_BAD_ENTRY },
        { { 0, 1, 3, 2, 4, 5, 6 }, 7, 4, PORTARIUM_BAD_PLACE },
        { { 0, 1, 2, 2, 3, 4, 5, 6 }, 8, 4, PORTARIUM_BAD_PLACE },
        { { 0, 1, 2, 3, 4, 6 }, 6, 6, PORTARIUM_BAD_PAYLOAD },
        { { 0, 1, 2, 3, 4, 5, 5, 6 }, 8, 7, PORTARIUM_BAD_SEAL },
        { { 0, 1, 2, 3, 4, 5 }, 6, 7, PORTARIUM_BAD_CUT },
        { { 0, 1, 2, 3, 4, 5, 6, 6 }, 8, 8, PORTARIUM_BAD_TRAILING },
    };
    struct world *world = *state;
    portarium_verdict verdict;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_buf text;
        mcp_buf_init(&text, 100000);
        compose(world, &text, rows[i].order, rows[i].count);
        assert_int_equal(verify(world, &verdict, text.data, text.length), MCP_E_SCHEMA);
        assert_string_equal(verdict.reason, rows[i].reason);
        assert_int_equal(verdict.line, rows[i].line);
        mcp_buf_clear(&text);
    }
}

/* ---- the second verifier --------------------------------------------------------------------- */

static void write_key(const struct world *world, const scratch *folder)
{
    mcp_buf pem;

    mcp_buf_init(&pem, 1000);
    assert_int_equal(keys_public_pem(&pem, world->key.bytes, NULL), MCP_OK);
    scratch_write(folder, "key.pem", pem.data, pem.length);
    mcp_buf_clear(&pem);
}

/* What ours says of a text, as the other program words it. */
static void expected(char *out, size_t size, const struct world *world, const char *path,
                     const char *text, size_t length)
{
    portarium_verdict verdict;

    if (verify(world, &verdict, text, length) == MCP_OK)
        snprintf(out, size, "%s: genuine: 3 entries and 1 payloads of a tree of 7", path);
    else
        snprintf(out, size, "%s: line %llu: %s", path, (unsigned long long)verdict.line,
                 verdict.reason);
}

/* The bundle itself, and others with changed bytes, cut ends and lost lines. */
static void python_says_the_same(void **state)
{
    struct world *world = *state;
    static char paths[OTHERS_MAX][SCRATCH_PATH_MAX], wanted[OTHERS_MAX][SCRATCH_PATH_MAX + 100];
    const char *arguments[OTHERS_MAX + 6] = { "/usr/bin/env", "python3",
                                              "examples/portarium/verify_evidence.py" };
    char key_path[SCRATCH_PATH_MAX];
    scratch folder;
    child program = { 0 };
    size_t length = 0, step = world->bundle.length / (OTHERS_MAX - 10);
    const char *line = NULL;

    scratch_open(&folder);
    write_key(world, &folder);
    snprintf(key_path, sizeof key_path, "%s", scratch_path(&folder, "key.pem"));
    arguments[3] = key_path;
    arguments[4] = "plane";
    for (int i = 0; i < OTHERS_MAX; i++) {
        char name[32];
        size_t at = (size_t)i * step, size = world->bundle.length;
        bool is_changed = i > 0 && at < size;
        snprintf(name, sizeof name, "bundle-%d", i);
        if (is_changed)
            world->bundle.data[at] ^= 1;
        if (!is_changed && i > 0)
            size -= (size_t)(i % 7) * 100 + 1;
        scratch_write(&folder, name, world->bundle.data, size);
        snprintf(paths[i], sizeof paths[i], "%s", scratch_path(&folder, name));
        expected(wanted[i], sizeof wanted[i], world, paths[i], world->bundle.data, size);
        arguments[5 + i] = paths[i];
        if (is_changed)
            world->bundle.data[at] ^= 1;
    }
    child_start(&program, (char *const *)arguments);
    for (int i = 0; i < OTHERS_MAX; i++) {
        assert_true(child_next(&program, &line, &length));
        assert_int_equal(length, strlen(wanted[i]));
        if (memcmp(line, wanted[i], length) != 0)
            fail_msg("%.*s, but ours: %s", (int)length, line, wanted[i]);
    }
    assert_int_equal(child_end(&program), 1);
    child_clear(&program);
    scratch_close(&folder);
}

static mcp_status make_once(void *data)
{
    struct world world;
    portarium_verdict verdict;
    mcp_status st = open_world(&world);

    (void)data;
    if (st == MCP_OK)
        st = verify(&world, &verdict, world.bundle.data, world.bundle.length);
    close_world(&world);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    oom_walk(make_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_bundle_is_genuine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_changed_byte_is_located, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_or_longer_bundle_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_swapped_and_added_lines_are_located, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(python_says_the_same, set_up, tear_down),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
