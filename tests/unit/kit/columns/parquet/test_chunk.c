/*
 * test_chunk.c - the values of every type come back, however they are cut into batches, pages and
 * row groups; and the pages themselves.
 */
#include "../written.h"

#include <sys/stat.h>

/* ---- values --------------------------------------------------------------------------------- */

static void every_type_comes_back_however_it_is_cut(void **state)
{
    static const struct {
        size_t batch, group;
        parquet_codec codec;
        int level;
    } rows[] = {
        { ROWS, 0, PARQUET_ZSTD, 0 },  { ROWS, 0, PARQUET_UNCOMPRESSED, 0 },
        { 7, 1000, PARQUET_ZSTD, 1 },  { 1000, 7, PARQUET_UNCOMPRESSED, 0 },
        { ROWS, 1, PARQUET_ZSTD, 19 }, { 999, 1001, PARQUET_ZSTD, 3 },
    };
    struct world *world = *state;
    columns_column columns[TYPES];
    char condition[100];

    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        size_t group = rows[i / 2].group;
        const parquet_options options = {
            .codec = rows[i / 2].codec,
            .level = rows[i / 2].level,
            .row_group_rows = group,
        };
        const columns_table table = { ROWS, TYPES, columns };
        fill(columns, i % 2);
        write_batches(world, every_type, &table, rows[i / 2].batch, &options);
        expect_same(read_back(world), columns, ROWS);
        snprintf(condition, sizeof condition, "num_rows = %d AND num_row_groups = %zu", ROWS,
                 group ? (ROWS + group - 1) / group : 1);
        expect_rows(world, "parquet_file_metadata", condition);
    }
}

static void values_at_the_limits_come_back(void **state)
{
    static const double doubles[] = { NAN, INFINITY, -INFINITY, -0.0, 0.0, 5e-324, 1.7e308 };
    static const float floats[] = { NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 1e-45f, 3.4e38f };
    static const int64_t i64[] = { INT64_MIN, INT64_MAX, 0, -1, 1, 2, 3 };
    static const uint64_t u64[] = { UINT64_MAX, 0, (uint64_t)1 << 63, 1, 2, 3, 4 };
    static const int32_t i32[] = { INT32_MIN, INT32_MAX, 0, -1, 1, 2, 3 };
    static const uint32_t u32[] = { UINT32_MAX, 0, (uint32_t)1 << 31, 1, 2, 3, 4 };
    static const int8_t i8[] = { INT8_MIN, INT8_MAX, 0, -1, 1, 2, 3 };
    static const int32_t days[] = { -719162, 2932896, 0, -1, 1, 19000, 2 }; /* years 1 to 9999 */
    struct world *world = *state;
    char *longest = malloc((1 << 20) + 1);
    const char *words[] = { "", longest, "\xF0\x9F\x98\x80", "", "a", "\x7F", "" };
    const columns_column columns[] = {
        { "f64", COLUMNS_F64, doubles, NULL }, { "f32", COLUMNS_F32, floats, NULL },
        { "i64", COLUMNS_I64, i64, NULL },     { "u64", COLUMNS_U64, u64, NULL },
        { "i32", COLUMNS_I32, i32, NULL },     { "u32", COLUMNS_U32, u32, NULL },
        { "i8", COLUMNS_I8, i8, NULL },        { "date", COLUMNS_DATE, days, NULL },
        { "text", COLUMNS_TEXT, words, NULL },
    };
    const columns_table table = { 7, sizeof columns / sizeof columns[0], columns };

    memset(longest, 'x', 1 << 20);
    longest[1 << 20] = '\0';
    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    expect_same(read_back(world), columns, 7);
    free(longest);
}

/* Several pages a column, of which some have no null, some nothing else, and some are mixed. */
static void many_pages_follow_one_another(void **state)
{
    enum { MANY = 600000 };
    struct world *world = *state;
    double *numbers = calloc(MANY, sizeof *numbers);
    const char **words = calloc(MANY, sizeof *words);
    uint8_t *flags = calloc(MANY, 1), *some = calloc(MANY, 1);
    const columns_column columns[] = { { "f64", COLUMNS_F64, numbers, some },
                                       { "text", COLUMNS_TEXT, words, some },
                                       { "bool", COLUMNS_BOOL, flags, some },
                                       { "whole", COLUMNS_F64, numbers, NULL } };
    const parquet_column schema[] = { { "f64", COLUMNS_F64, true },
                                      { "text", COLUMNS_TEXT, true },
                                      { "bool", COLUMNS_BOOL, true },
                                      { "whole", COLUMNS_F64, false } };
    const parquet_options options = { .row_group_rows = MANY };
    const columns_table table = { MANY, 4, columns };
    static char room[1000][24];

    for (size_t i = 0; i < 1000; i++)
        snprintf(room[i], sizeof room[i], "the word number %zu", i);
    for (size_t i = 0; i < MANY; i++) {
        some[i] = i < MANY / 3 || (i < 2 * MANY / 3 ? 0 : i % 3 != 0);
        numbers[i] = (double)(i % 5000);
        words[i] = room[i * 31 % 1000];
        flags[i] = i % 5 == 0;
    }
    write_batches(world, schema, &table, 70001, &options);
    expect_same(read_back(world), columns, MANY);
    expect_rows(world, "parquet_file_metadata", "num_row_groups = 1");
    free(numbers);
    free(words);
    free(flags);
    free(some);
}

static void columns_may_be_all_null(void **state)
{
    static const uint8_t none[100];
    struct world *world = *state;
    const columns_column columns[] = { { "a", COLUMNS_TEXT, texts, none },
                                       { "b", COLUMNS_F64, f64s, none },
                                       { "c", COLUMNS_BOOL, bools, none } };
    const columns_table table = { 100, 3, columns };

    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    expect_same(read_back(world), columns, 100);
    expect_rows(world, "parquet_metadata",
                "path_in_schema = 'b' AND stats_null_count = 100 AND stats_min_value IS NULL");
}

/* ---- pages ---------------------------------------------------------------------------------- */

static void numbers_that_no_codec_shortens_are_not_compressed(void **state)
{
    static int64_t ones[ROWS];
    const columns_column columns[] = { { "any", COLUMNS_I64, i64s, NULL },
                                       { "zeros", COLUMNS_I64, ones, NULL } };
    const columns_table table = { ROWS, 2, columns };
    columns_column filled[TYPES];
    struct world *world = *state;

    fill(filled, false);
    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    expect_same(read_back(world), columns, ROWS);
    expect_rows(world, "parquet_metadata",
                "path_in_schema = 'any' AND compression = 'UNCOMPRESSED'");
    expect_rows(world, "parquet_metadata",
                "path_in_schema = 'zeros' AND compression = 'ZSTD' AND "
                "total_compressed_size < 100 AND "
                "total_uncompressed_size > 24000");
}

/* A varint in zigzag order of a page header's field, which has the type i32. */
static int64_t header_field(const uint8_t **at)
{
    uint64_t value = 0;

    assert_int_equal(**at & 0x0F, 5);
    (*at)++;
    for (unsigned shift = 0;; shift += 7) {
        value |= (uint64_t)(**at & 0x7F) << shift;
        if (*(*at)++ < 0x80)
            break;
    }
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* One column, so that its pages follow the magic; the headers are walked until the footer. */
static void pages_are_about_a_mebibyte(void **state)
{
    enum { MANY = 600000 };
    struct world *world = *state;
    double *numbers = calloc(MANY, sizeof *numbers);
    const columns_column column = { "x", COLUMNS_F64, numbers, NULL };
    const parquet_options options = { .codec = PARQUET_UNCOMPRESSED, .row_group_rows = MANY };
    struct stat about;

    write_one(world, &column, MANY, &options);
    int fd = openat(world->folder.fd, FILE_NAME, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &about), 0);
    uint8_t *bytes = malloc((size_t)about.st_size);
    assert_int_equal(read(fd, bytes, (size_t)about.st_size), about.st_size);
    close(fd);
    const uint8_t *at = bytes + 4;
    size_t values = 0;
    assert_memory_equal(bytes, "PAR1", 4);
    while (values < MANY) {
        assert_int_equal(header_field(&at), 0); /* DATA_PAGE */
        int64_t unpacked = header_field(&at), packed = header_field(&at);
        assert_in_range(unpacked, 8, 1 << 20);
        assert_int_equal(packed, unpacked);
        assert_int_equal(*at++, 0x2C); /* field 5, a struct */
        values += (size_t)header_field(&at);
        for (int i = 0; i < 3; i++)
            header_field(&at);
        at += 2 + packed; /* the ends of two structs, and the page */
    }
    assert_int_equal(values, MANY);
    assert_memory_equal(bytes + about.st_size - 4, "PAR1", 4);
    free(bytes);
    free(numbers);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(every_type_comes_back_however_it_is_cut),
        EACH(values_at_the_limits_come_back),
        EACH(many_pages_follow_one_another),
        EACH(columns_may_be_all_null),
        EACH(numbers_that_no_codec_shortens_are_not_compressed),
        EACH(pages_are_about_a_mebibyte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
