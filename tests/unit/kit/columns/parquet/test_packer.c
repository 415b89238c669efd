/*
 * test_packer.c - what is worth compressing, and that it comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "columns/parquet/packer.h"

#define SIZE ((size_t)200000)

static uint8_t bytes[SIZE], back[SIZE];

static uint64_t next_bits(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 24;
}

static void expect_back(const struct packer *packer, size_t length)
{
    assert_int_equal(ZSTD_decompress(back, SIZE, packer->packed.data, packer->packed.length),
                     length);
    assert_memory_equal(back, bytes, length);
}

/* In each: whether it pays, for a page that is looked at first and for one that is not. */
static void only_what_becomes_shorter_pays(void **state)
{
    static const size_t lengths[] = { 1920, SIZE };
    static const struct {
        uint64_t mask; /* of each eight bytes */
        size_t repeat; /* each is there so often */
        bool pays;
    } rows[] = {
        { 0, 1, true },                  /* zeros */
        { UINT64_MAX >> 24, 1, true },   /* integers of five bytes */
        { 0x0F0F0F0F0F0F0F0F, 1, true }, /* no value twice, but few different bytes */
        { UINT64_MAX, 4, true },         /* every byte, but values repeat */
        { UINT64_MAX, 1, false },
    };
    struct packer packer;
    bool pays = false;

    (void)state;
    assert_int_equal(packer_open(&packer, PACKER_ZSTD, 3, NULL), MCP_OK);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        uint64_t value = 0;
        for (size_t at = 0; at < SIZE / 8; at++) {
            if (at % rows[i / 2].repeat == 0)
                value = (next_bits() ^ next_bits() << 32) & rows[i / 2].mask;
            memcpy(bytes + at * 8, &value, 8);
        }
        assert_int_equal(packer_try(&pays, &packer, bytes, lengths[i % 2], NULL), MCP_OK);
        assert_int_equal(pays, rows[i / 2].pays);
        if (pays)
            expect_back(&packer, lengths[i % 2]);
        assert_int_equal(packer_pack(&packer, bytes, lengths[i % 2], NULL), MCP_OK);
        expect_back(&packer, lengths[i % 2]);
    }
    assert_int_equal(packer_try(&pays, &packer, bytes, 0, NULL), MCP_OK);
    assert_false(pays);
    packer_close(&packer);
}

static void without_a_codec_nothing_pays(void **state)
{
    struct packer packer;
    bool pays = true;

    (void)state;
    assert_int_equal(packer_open(&packer, PACKER_NONE, 0, NULL), MCP_OK);
    memset(bytes, 0, SIZE);
    assert_int_equal(packer_try(&pays, &packer, bytes, SIZE, NULL), MCP_OK);
    assert_false(pays);
    packer_close(&packer);
}

static void levels_have_bounds(void **state)
{
    static const int wrong[] = { -1, 23, 1000 };
    struct packer packer;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(packer_open(&packer, PACKER_ZSTD, wrong[i], &err), MCP_E_PARAMS);
        assert_non_null(strstr(err.message, "1 to 22"));
        packer_close(&packer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_becomes_shorter_pays),
        cmocka_unit_test(without_a_codec_nothing_pays),
        cmocka_unit_test(levels_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
