/*
 * test_note.c - signed notes and checkpoints. The first note is the example of Go's package
 * golang.org/x/mod/sumdb/note.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/note.h"
#include "keys/base64.h"
#include "oom.h"

#define SPOKEN                                                                                     \
    "If you think cryptography is the answer to your problem,\n"                                   \
    "then you don't know what your problem is.\n"
#define SIGNATURE                                                                                   \
    "\n\xe2\x80\x94 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgK" \
    "vqfqdngotpRZb6KE6RyyBwJnAM=\n"
#define HASH "dcf9e9af8d05eaf54a7297b4d7668d3453436cd0cc5475a274d6a3d4e5e0feba"

static void a_note_of_another_program(void **state)
{
    static const char note[] = SPOKEN SIGNATURE;
    portarium_key key = { .name = "PeterNeumann" };
    uint8_t bytes[33];
    size_t length = 0;

    (void)state;
    assert_true(keys_unbase64_exact(bytes, sizeof bytes,
                                    "ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", 44));
    memcpy(key.bytes, bytes + 1, sizeof key.bytes); /* after the number of the algorithm */
    assert_int_equal(portarium_note_open(&length, note, strlen(note), &key, NULL), MCP_OK);
    assert_int_equal(length, strlen(SPOKEN));
    key.name = "OtherName";
    assert_int_equal(portarium_note_open(&length, note, strlen(note), &key, NULL), MCP_E_NOT_FOUND);
}

struct plane {
    keys_pair *pair;
    portarium_signer signer;
    portarium_key key;
    mcp_buf note;
    portarium_checkpoint checkpoint;
};

static int set_up(void **state)
{
    static struct plane plane;
    static const uint8_t seed[KEYS_SEED_SIZE] = { 9 };

    plane = (struct plane){ .key.name = "plane", .checkpoint = { .origin = "portarium/ws-1" } };
    assert_int_equal(keys_pair_new(&plane.pair, seed, NULL), MCP_OK);
    keys_pair_public(plane.pair, plane.key.bytes);
    plane.signer = (portarium_signer){ "plane", plane.pair };
    plane.checkpoint.size = 2;
    memset(plane.checkpoint.root, 7, sizeof plane.checkpoint.root);
    memcpy(plane.checkpoint.chain, HASH, sizeof HASH);
    mcp_buf_init(&plane.note, 8192);
    *state = &plane;
    return 0;
}

static int tear_down(void **state)
{
    struct plane *plane = *state;

    keys_pair_free(plane->pair);
    mcp_buf_clear(&plane->note);
    return 0;
}

static void a_checkpoint_has_its_lines(void **state)
{
    static const char text[] = "portarium/ws-1\n2\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n"
                               "chain " HASH "\n\n\xe2\x80\x94 plane ";
    struct plane *plane = *state;
    portarium_checkpoint read;

    assert_int_equal(
        portarium_checkpoint_sign(&plane->note, &plane->checkpoint, &plane->signer, NULL), MCP_OK);
    assert_memory_equal(plane->note.data, text, sizeof text - 1);
    assert_int_equal(
        portarium_checkpoint_open(&read, plane->note.data, plane->note.length, &plane->key, NULL),
        MCP_OK);
    assert_string_equal(read.origin, "portarium/ws-1");
    assert_int_equal(read.size, 2);
    assert_memory_equal(read.root, plane->checkpoint.root, sizeof read.root);
    assert_string_equal(read.chain, HASH);
    mcp_buf_reset(&plane->note);
    plane->checkpoint.size = 0; /* an empty tree has no last entry */
    assert_int_equal(
        portarium_checkpoint_sign(&plane->note, &plane->checkpoint, &plane->signer, NULL), MCP_OK);
    assert_null(strstr(plane->note.data, "chain"));
    assert_int_equal(
        portarium_checkpoint_open(&read, plane->note.data, plane->note.length, &plane->key, NULL),
        MCP_OK);
}

static void every_changed_byte_is_found(void **state)
{
    struct plane *plane = *state;
    portarium_checkpoint read;

    assert_int_equal(
        portarium_checkpoint_sign(&plane->note, &plane->checkpoint, &plane->signer, NULL), MCP_OK);
    for (size_t at = 0; at < plane->note.length; at++) {
        for (int bit = 1; bit < 256; bit *= 2) {
            plane->note.data[at] ^= (char)bit;
            assert_int_not_equal(portarium_checkpoint_open(&read, plane->note.data,
                                                           plane->note.length, &plane->key, NULL),
                                 MCP_OK);
            plane->note.data[at] ^= (char)bit;
        }
        assert_int_not_equal(
            portarium_checkpoint_open(&read, plane->note.data, at, &plane->key, NULL), MCP_OK);
    }
    mcp_buf_putc(&plane->note, '\n');
    assert_int_not_equal(
        portarium_checkpoint_open(&read, plane->note.data, plane->note.length, &plane->key, NULL),
        MCP_OK);
}

static void other_signatures_are_passed_over(void **state)
{
    struct plane *plane = *state;
    size_t length = 0;

    mcp_buf_puts(&plane->note, SPOKEN SIGNATURE);
    assert_int_equal(
        portarium_note_open(&length, plane->note.data, plane->note.length, &plane->key, NULL),
        MCP_E_NOT_FOUND);
    mcp_buf own;
    mcp_buf_init(&own, 8192);
    assert_int_equal(portarium_note_sign(&own, SPOKEN, strlen(SPOKEN), &plane->signer, NULL),
                     MCP_OK);
    mcp_buf_puts(&plane->note, own.data + strlen(SPOKEN) + 1);
    assert_int_equal(
        portarium_note_open(&length, plane->note.data, plane->note.length, &plane->key, NULL),
        MCP_OK);
    for (int i = 0; i < PORTARIUM_NOTE_SIGNATURES; i++)
        mcp_buf_puts(&plane->note, &SIGNATURE[1]);
    assert_int_equal(
        portarium_note_open(&length, plane->note.data, plane->note.length, &plane->key, NULL),
        MCP_E_PARSE);
    mcp_buf_clear(&own);
}

/* Signed by the right key, but not as a checkpoint is written. */
static void a_checkpoint_has_one_spelling(void **state)
{
#define ROOT "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n"
    static const char *const wrong[] = {
        "portarium/ws-1\n02\n" ROOT "chain " HASH "\n",
        "portarium/ws-1\n+2\n" ROOT "chain " HASH "\n",
        "portarium/ws-1\n2\n" ROOT,
        "portarium/ws-1\n2\n" ROOT "chain " HASH "\nmore\n",
        "portarium/ws-1\n2\n" ROOT "chain  " HASH "\n",
        "portarium/ws-1\n0\n" ROOT "chain " HASH "\n",
        "portarium/ws-1\n2\nBwc=\nchain " HASH "\n",
        "portarium/ws-1\n99999999999999999999\n" ROOT "chain " HASH "\n",
        "portarium/ws-1\n",
    };
    struct plane *plane = *state;
    portarium_checkpoint read;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mcp_buf_reset(&plane->note);
        assert_int_equal(
            portarium_note_sign(&plane->note, wrong[i], strlen(wrong[i]), &plane->signer, NULL),
            MCP_OK);
        assert_int_equal(portarium_checkpoint_open(&read, plane->note.data, plane->note.length,
                                                   &plane->key, NULL),
                         MCP_E_PARSE);
    }
}

static void what_is_no_note_is_not_signed(void **state)
{
    static const char *const wrong[] = { "", "\n", "a", "a\n\nb\n", "\na\n", "a\tb\n", "a\r\n" };
    struct plane *plane = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(
            portarium_note_sign(&plane->note, wrong[i], strlen(wrong[i]), &plane->signer, NULL),
            MCP_E_PARAMS);
    plane->signer.name = "a b";
    assert_int_equal(portarium_note_sign(&plane->note, "a\n", 2, &plane->signer, NULL),
                     MCP_E_PARAMS);
    plane->signer.name = "";
    assert_int_equal(portarium_note_sign(&plane->note, "a\n", 2, &plane->signer, NULL),
                     MCP_E_PARAMS);
}

static mcp_status make_once(void *data)
{
    struct plane *plane = data;
    portarium_checkpoint read;
    mcp_buf note;

    mcp_buf_init(&note, 8192);
    mcp_status st = portarium_checkpoint_sign(&note, &plane->checkpoint, &plane->signer, NULL);
    if (st == MCP_OK)
        st = portarium_checkpoint_open(&read, note.data, note.length, &plane->key, NULL);
    mcp_buf_clear(&note);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    oom_walk(make_once, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_note_of_another_program),
        cmocka_unit_test_setup_teardown(a_checkpoint_has_its_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_changed_byte_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_signatures_are_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_checkpoint_has_one_spelling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_note_is_not_signed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_is_a_status, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
