/*
 * test_dictionary.c - texts that repeat are stored once a row group, and every row comes back,
 * whatever the runs, the widths of the indexes, and the place where the dictionary ends.
 */
#include "../written.h"

#include "columns/parquet/dictionary.h"

enum { MANY = 120000, WORDS = 50000 };

static char room[WORDS][16];
static const char *words[MANY];
static uint8_t some[MANY];

static int make_words(void **state)
{
    for (size_t i = 1; i < WORDS; i++)
        snprintf(room[i], sizeof room[i], "word %zu", i);
    for (size_t i = 0; i < MANY; i++)
        some[i] = i % 7 != 3;
    return set_up(state);
}

/* One row group of the words, with nulls or without. */
static void write_words_by(struct world *world, size_t rows, bool has_nulls, size_t batch,
                           parquet_codec codec)
{
    const parquet_options options = { .codec = codec };
    const columns_column column = { "text", COLUMNS_TEXT, words, has_nulls ? some : NULL };
    const parquet_column schema = { "text", COLUMNS_TEXT, has_nulls };
    const columns_table table = { rows, 1, &column };

    write_batches(world, &schema, &table, batch, &options);
    expect_same(read_back(world), &column, rows);
    expect_rows(world, "parquet_file_metadata", "num_row_groups = 1");
}

static void write_words(struct world *world, size_t rows, bool has_nulls, size_t batch)
{
    write_words_by(world, rows, has_nulls, batch, PARQUET_ZSTD);
}

static void expect_dictionary(struct world *world, bool expected)
{
    expect_rows(world, "parquet_metadata",
                expected ? "encodings LIKE '%RLE_DICTIONARY%' AND dictionary_page_offset < "
                           "data_page_offset"
                         : "encodings NOT LIKE '%DICTIONARY%' AND dictionary_page_offset IS NULL");
}

/* Indexes of every width, at both of its ends. */
static void texts_that_repeat_are_stored_once(void **state)
{
    static const size_t counts[] = { 1, 2, 3, 4, 5, 255, 256, 257, 4096, 4097, 32767, 32768 };
    struct world *world = *state;

    for (size_t i = 0; i < 2 * sizeof counts / sizeof counts[0]; i++) {
        size_t count = counts[i / 2];
        for (size_t row = 0; row < MANY; row++)
            words[row] = room[row * 7919 % (row < MANY / 3 && count > 5000 ? 5000 : count)];
        write_words_by(world, MANY, i % 2, i % 3 ? MANY : 999, (parquet_codec)(i % 3));
        expect_dictionary(world, true);
    }
}

static void the_file_is_the_smaller_for_it(void **state)
{
    struct world *world = *state;

    for (size_t row = 0; row < MANY; row++)
        words[row] = room[row * 7919 % 100];
    write_words(world, MANY, false, MANY);
    /* 120,000 indexes of 7 bits */
    expect_rows(world, "parquet_metadata", "total_uncompressed_size BETWEEN 105000 AND 107000");
    expect_rows(world, "parquet_metadata", "stats_min_value = '' AND stats_max_value = 'word 99'");
}

/* Runs of one index begin and end at every place of a group of eight. */
static void runs_come_back(void **state)
{
    struct world *world = *state;
    size_t rows = 0;

    for (size_t length = 1; length < 40; length++) {
        for (size_t before = 0; before < 20; before++) {
            for (size_t i = 0; i < before; i++)
                words[rows++] = room[i % 5];
            for (size_t i = 0; i < length; i++)
                words[rows++] = room[9];
        }
    }
    for (size_t cut = 0; cut < 20; cut++)
        write_words(world, rows - cut, cut % 2, 1000 + cut);
    expect_dictionary(world, true);
    for (size_t i = 0; i < MANY; i++)
        words[i] = room[3];
    write_words(world, MANY, true, MANY);
    expect_rows(world, "parquet_metadata", "total_uncompressed_size < 16000"); /* of the nulls */
}

static void texts_that_differ_are_plain(void **state)
{
    struct world *world = *state;

    for (size_t row = 0; row < WORDS; row++)
        words[row] = room[row];
    for (size_t i = 0; i < 4; i++) {
        write_words(world, i < 2 ? WORDS : 10, i % 2, WORDS);
        expect_dictionary(world, false);
    }
}

/* After a row group whose texts differ, seven have no dictionary; the next one is tried. */
static void a_later_row_group_is_tried_again(void **state)
{
    enum { GROUP = 1000, GROUPS = 10 };
    const parquet_options options = { .row_group_rows = GROUP };
    const columns_column column = { "text", COLUMNS_TEXT, words, NULL };
    struct world *world = *state;

    for (size_t row = 0; row < GROUPS * GROUP; row++)
        words[row] = room[row < GROUP ? row : row % 5];
    write_one(world, &column, GROUPS * GROUP, &options);
    expect_same(read_back(world), &column, GROUPS * GROUP);
    assert_int_equal(count_rows(world, "SELECT 1 FROM parquet_metadata(%s) WHERE (encodings LIKE "
                                       "'%DICTIONARY%') = (row_group_id >= 8)"),
                     GROUPS);
}

/* The first rows repeat; then there are more texts than the dictionary has room for. */
static void a_full_dictionary_is_followed_by_plain_pages(void **state)
{
    struct world *world = *state;

    for (size_t row = 0; row < MANY; row++)
        words[row] = room[row < 60000 ? row % 10 : row % WORDS];
    for (size_t i = 0; i < 2; i++) {
        write_words(world, MANY, i, 1000);
        expect_dictionary(world, true);
        assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s) WHERE text = 'word 3'"),
                         count_rows(world, "SELECT 1 FROM (SELECT count(*) AS c FROM "
                                           "read_parquet(%s) WHERE text = 'word 3'), "
                                           "generate_series(1, c)"));
    }
}

/* Nulls come first, so the first page has no value and needs no dictionary. */
static void nulls_need_no_dictionary(void **state)
{
    enum { NULLS = 1 << 20, ALL = NULLS + 10000 };
    struct world *world = *state;
    const char **values = calloc(ALL, sizeof *values);
    uint8_t *are_valid = calloc(ALL, 1);
    const columns_column column = { "text", COLUMNS_TEXT, values, are_valid };
    const parquet_options options = { .row_group_rows = ALL };

    for (size_t i = NULLS; i < ALL; i++) {
        values[i] = room[i % 3];
        are_valid[i] = 1;
    }
    write_one(world, &column, ALL, &options);
    expect_same(read_back(world), &column, ALL);
    write_one(world, &column, NULLS, &options);
    expect_same(read_back(world), &column, NULLS);
    free(values);
    free(are_valid);
}

static void blobs_have_one_too(void **state)
{
    enum { COUNT = 9000 };
    static const char bytes[] = "\0a\0b\0\0c";
    static uint32_t offsets[COUNT + 1];
    static char all[COUNT * 3];
    const columns_texts blobs = { offsets, all };
    const columns_column column = { "x", COLUMNS_BLOB, &blobs, NULL };
    struct world *world = *state;

    for (size_t i = 0; i < COUNT; i++) {
        size_t length = i % 3 + 1;
        memcpy(all + offsets[i], bytes + i % 3, length);
        offsets[i + 1] = offsets[i] + (uint32_t)length;
    }
    write_one(world, &column, COUNT, NULL);
    expect_dictionary(world, true);
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s) WHERE x = '\\x00'::BLOB"),
                     3000);
    assert_int_equal(
        count_rows(world, "SELECT 1 FROM read_parquet(%s) WHERE x = '\\x00b\\x00'::BLOB"), 3000);
}

/* What the hash of eight bytes gives, turned round: texts whose hash is the same. A search through
 * all of them would take as many steps as there are rows. */
static void texts_of_one_hash_are_refused_soon(void **state)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    struct dictionary dictionary;
    uint64_t inverse = factor; /* of the factor, modulo 2^64: Newton's iteration */
    size_t added = 0;

    (void)state;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    assert_true(inverse * factor == 1);
    dictionary_init(&dictionary);
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t text = ((UINT64_C(7) << 32 | i) * inverse) ^ (sizeof text * factor);
        bool is_new = false;
        added += dictionary_index(&dictionary, (const char *)&text, sizeof text, &is_new) !=
                 UINT32_MAX;
    }
    assert_in_range(added, 1, 100);
    assert_int_equal(dictionary.count, added);
    dictionary_clear(&dictionary);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, make_words, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(texts_that_repeat_are_stored_once),
        EACH(the_file_is_the_smaller_for_it),
        EACH(runs_come_back),
        EACH(texts_that_differ_are_plain),
        EACH(a_later_row_group_is_tried_again),
        EACH(a_full_dictionary_is_followed_by_plain_pages),
        EACH(nulls_need_no_dictionary),
        EACH(blobs_have_one_too),
        cmocka_unit_test(texts_of_one_hash_are_refused_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
