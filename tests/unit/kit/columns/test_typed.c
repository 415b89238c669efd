/*
 * test_typed.c - the types that only the Parquet writer has: decimals, times, texts with lengths,
 * blobs and labels, as DuckDB reads them, under every codec.
 */
#include "written.h"

__extension__ typedef __int128 wide;

#define MICROS_OF_DAY INT64_C(86400000000)

static const uint8_t half[] = { 1, 0, 1, 1 };

static void expect_found(struct world *world, const char *condition)
{
    expect_rows(world, "read_parquet", condition);
}

static wide power_of_ten(unsigned digits)
{
    wide value = 1;

    while (digits-- > 0)
        value *= 10;
    return value;
}

/* 10^precision - 1 and its negative, in every physical type and at both ends of each. */
static void decimals_keep_every_digit(void **state)
{
    static const uint8_t precisions[] = { 1, 4, 9, 10, 18, 19, 20, 21, 28, 29, 35, 36, 38 };
    enum { COUNT = sizeof precisions };
    struct world *world = *state;
    char names[COUNT][8], condition[400], nines[48];
    wide values[COUNT][4];
    parquet_column schema[COUNT];
    parquet_decimal decimals[COUNT];
    columns_column columns[COUNT];
    const parquet_options options = { .codec = PARQUET_SNAPPY, .decimals = decimals };
    const columns_table table = { 4, COUNT, columns };

    for (size_t i = 0; i < COUNT; i++) {
        wide most = power_of_ten(precisions[i]) - 1;
        const wide some[4] = { most, 7, -most, 0 };
        memcpy(values[i], some, sizeof some);
        snprintf(names[i], sizeof names[i], "d%u", precisions[i]);
        schema[i] = (parquet_column){ names[i], COLUMNS_DECIMAL, true };
        decimals[i] = (parquet_decimal){ precisions[i], precisions[i] / 2 };
        columns[i] = (columns_column){ names[i], COLUMNS_DECIMAL, values[i], half };
    }
    write_batches(world, schema, &table, 3, &options);
    for (size_t i = 0; i < COUNT; i++) {
        int scale = decimals[i].scale, whole = precisions[i] - scale;
        snprintf(nines, sizeof nines, "%.*s%s%.*s", whole, "99999999999999999999", scale ? "." : "",
                 scale, "99999999999999999999");
        snprintf(condition, sizeof condition,
                 "CAST(%s AS VARCHAR) = '%s' AND typeof(%s) = 'DECIMAL(%u,%d)'", names[i], nines,
                 names[i], precisions[i], scale);
        expect_found(world, condition);
        snprintf(condition, sizeof condition, "CAST(%s AS VARCHAR) = '-%s'", names[i], nines);
        expect_found(world, condition);
        snprintf(condition, sizeof condition, "%s IS NULL", names[i]);
        expect_found(world, condition);
        snprintf(condition, sizeof condition, "%s = 0", names[i]);
        expect_found(world, condition);
        snprintf(condition, sizeof condition,
                 "path_in_schema = '%s' AND stats_null_count = 1 AND stats_min_value = '-%s' AND "
                 "stats_max_value = '%s' AND type = '%s'",
                 names[i], nines, nines,
                 precisions[i] <= 9    ? "INT32"
                 : precisions[i] <= 18 ? "INT64"
                                       : "FIXED_LEN_BYTE_ARRAY");
        expect_rows(world, "parquet_metadata", condition);
    }
}

/* Arrays of as few bytes as hold the digits: log10(2^(8 n - 1) - 1), computed apart. */
static void decimals_are_as_short_as_the_format_allows(void **state)
{
    static const struct {
        uint8_t precision;
        int length;
    } rows[] = { { 19, 9 },  { 21, 9 },  { 22, 10 }, { 23, 10 }, { 26, 11 }, { 28, 12 },
                 { 31, 13 }, { 33, 14 }, { 34, 15 }, { 35, 15 }, { 36, 16 }, { 38, 16 } };
    static const wide zero;
    struct world *world = *state;
    char condition[100];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const parquet_decimal type = { rows[i].precision, 0 };
        const parquet_options options = { .decimals = &type };
        const columns_column column = { "x", COLUMNS_DECIMAL, &zero, NULL };
        write_one(world, &column, 1, &options);
        snprintf(condition, sizeof condition,
                 "name = 'x' AND type_length = '%d' AND precision = %u", rows[i].length,
                 rows[i].precision);
        expect_rows(world, "parquet_schema", condition);
    }
}

static void row_groups_are_skipped_by_decimals_rightly(void **state)
{
    enum { COUNT = 200 };
    static wide numbers[COUNT];
    static const parquet_decimal type = { 38, 2 };
    const parquet_options options = { .row_group_rows = 10, .decimals = &type };
    const columns_column column = { "x", COLUMNS_DECIMAL, numbers, NULL };
    struct world *world = *state;

    for (size_t i = 0; i < COUNT; i++)
        numbers[i] = ((wide)i - 100) * power_of_ten(30);
    write_one(world, &column, COUNT, &options);
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s) WHERE x < 0"), 100);
    assert_int_equal(
        count_rows(world, "SELECT 1 FROM read_parquet(%s) WHERE x > 5e29::DECIMAL(38,2)"), 49);
    expect_found(world, "x = -1 * 10000000000000000000000000000::DECIMAL(38,2)");
}

static void times_have_their_types(void **state)
{
    static const int64_t moments[] = { 0, 1, -1, INT64_C(253402300799999999) };
    static const int64_t times[] = { 0, 1, MICROS_OF_DAY - 1, INT64_C(45296123456) };
    static const parquet_column schema[] = { { "wall", COLUMNS_TIMESTAMP, true },
                                             { "utc", COLUMNS_TIMESTAMP_UTC, true },
                                             { "time", COLUMNS_TIME, true } };
    static const columns_column columns[] = { { "wall", COLUMNS_TIMESTAMP, moments, half },
                                              { "utc", COLUMNS_TIMESTAMP_UTC, moments, half },
                                              { "time", COLUMNS_TIME, times, half } };
    static const char *const values[] = {
        "wall = '9999-12-31 23:59:59.999999'::TIMESTAMP AND typeof(wall) = 'TIMESTAMP'",
        "wall = '1970-01-01'::TIMESTAMP AND utc = '1970-01-01 00:00:00+00'::TIMESTAMPTZ",
        "utc = '1969-12-31 23:59:59.999999+00'::TIMESTAMPTZ",
        "year(utc) = 9999 AND typeof(utc) = 'TIMESTAMP WITH TIME ZONE'",
        "time = '23:59:59.999999'::TIME AND typeof(time) = 'TIME'",
        "time = '12:34:56.123456'::TIME",
        "wall IS NULL AND utc IS NULL AND time IS NULL",
    };
    static const char *const schemas[] = {
        "name = 'wall' AND type = 'INT64' AND logical_type LIKE 'Timestamp%isAdjustedToUTC=0%' AND "
        "converted_type IS NULL",
        "name = 'utc' AND type = 'INT64' AND logical_type LIKE 'Timestamp%isAdjustedToUTC=1%' AND "
        "converted_type = 'TIMESTAMP_MICROS'",
        "name = 'time' AND type = 'INT64' AND logical_type LIKE 'Time%isAdjustedToUTC=0%'",
    };
    struct world *world = *state;
    const columns_table table = { 4, 3, columns };

    write_batches(world, schema, &table, 4, NULL);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        expect_found(world, values[i]);
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++)
        expect_rows(world, "parquet_schema", schemas[i]);
    expect_rows(world, "parquet_metadata",
                "path_in_schema = 'time' AND stats_min_value = '00:00:00' AND "
                "stats_max_value = '23:59:59.999999'");
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void texts_and_blobs_may_hold_any_byte(void **state)
{
    static const char bytes[] = "a\0b\xC3\xA9"
                                "zz\0\xFF";
    static const uint32_t texts[] = { 0, 3, 3, 3, 7 }, blobs[] = { 7, 9, 9, 9, 9 };
    static const columns_texts strings = { texts, bytes }, raw = { blobs, bytes };
    static const parquet_column schema[] = { { "t", COLUMNS_STRING, true },
                                             { "b", COLUMNS_BLOB, true } };
    static const columns_column columns[] = { { "t", COLUMNS_STRING, &strings, half },
                                              { "b", COLUMNS_BLOB, &raw, half } };
    static const char *const values[] = {
        "t = 'a' || chr(0) || 'b' AND length(t) = 3 AND typeof(t) = 'VARCHAR'",
        "t = '\xC3\xA9zz' AND octet_length(b) = 0",
        "t = '' AND octet_length(b) = 0",
        "b = '\\x00\\xFF'::BLOB AND typeof(b) = 'BLOB'",
        "t IS NULL AND b IS NULL",
    };
    struct world *world = *state;
    const columns_table table = { 4, 2, columns };

    write_batches(world, schema, &table, 4, NULL);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        expect_found(world, values[i]);
}

/* Batches that end within pages and groups, nulls and lengths of all kinds. The table is computed
 * again by DuckDB. */
static void many_texts_come_back(void **state)
{
    enum { MANY = 300000, PART = 7919 };
    static const parquet_codec codecs[] = { PARQUET_SNAPPY, PARQUET_ZSTD, PARQUET_UNCOMPRESSED };
    struct world *world = *state;
    char *bytes = calloc(MANY, 40);
    uint32_t *offsets = calloc(MANY + 1, sizeof *offsets);
    uint8_t *some = calloc(MANY, 1);
    static const parquet_column schema[] = { { "n", COLUMNS_STRING, true },
                                             { "every", COLUMNS_STRING, false } };

    for (size_t i = 0; i < MANY; i++) {
        some[i] = i % 7 != 3;
        int length = snprintf(bytes + offsets[i], 40, "%zu%.*s", i, (int)(i % 20),
                              "-------------------");
        offsets[i + 1] = offsets[i] + (uint32_t)length;
    }
    for (size_t c = 0; c < sizeof codecs / sizeof codecs[0]; c++) {
        const parquet_options options = { .codec = codecs[c], .row_group_rows = 100000 };
        parquet_writer *writer = NULL;
        expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, schema, 2,
                                             &options, &world->err));
        for (size_t first = 0; first < MANY; first += PART) {
            const columns_texts part = { offsets + first, bytes };
            const columns_column columns[] = { { "n", COLUMNS_STRING, &part, some + first },
                                               { "every", COLUMNS_STRING, &part, NULL } };
            const columns_table table = { MANY - first < PART ? MANY - first : PART, 2, columns };
            expect_ok(world, parquet_writer_append(writer, &table, &world->err));
        }
        expect_ok(world, parquet_writer_close(writer, &world->err));
        assert_int_equal(count_rows(world,
                                    "SELECT 1 FROM (SELECT n, every, row_number() OVER () - 1 AS i "
                                    "FROM read_parquet(%s)) WHERE every = i::VARCHAR || "
                                    "repeat('-', (i % 20)::INT) AND n IS NOT DISTINCT FROM "
                                    "CASE WHEN i % 7 = 3 THEN NULL ELSE every END"),
                         MANY);
        expect_rows(world, "parquet_file_metadata", "num_row_groups = 3 AND num_rows = 300000");
        expect_rows(
            world, "parquet_metadata",
            codecs[c] == PARQUET_SNAPPY
                ? "compression = 'SNAPPY' AND row_group_id = 0 AND path_in_schema = 'n'"
            : codecs[c] == PARQUET_ZSTD
                ? "compression = 'ZSTD' AND row_group_id = 0 AND path_in_schema = 'n'"
                : "compression = 'UNCOMPRESSED' AND row_group_id = 0 AND path_in_schema = 'n'");
    }
    free(bytes);
    free(offsets);
    free(some);
}

static void a_long_text_has_a_page_of_its_own(void **state)
{
    enum { LONG = 3 << 20 };
    char *bytes = calloc(1, LONG + 2);
    const uint32_t offsets[] = { 0, 1, 1 + LONG, 2 + LONG, 2 + LONG };
    const columns_texts texts = { offsets, bytes };
    const columns_column column = { "t", COLUMNS_STRING, &texts, NULL };
    const parquet_options options = { .codec = PARQUET_SNAPPY };
    struct world *world = *state;

    memset(bytes, 'x', LONG + 2);
    write_one(world, &column, 4, &options);
    expect_found(world, "length(t) = 3145728 AND t = repeat('x', 3145728)");
    expect_found(world, "t = ''");
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s) WHERE t = 'x'"), 2);
    free(bytes);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Appends of one label each; labels come back, and there are more of them than 8 bits count. */
static void labels_are_runs(void **state)
{
    static const parquet_column schema[] = { { "l", COLUMNS_LABEL, false },
                                             { "n", COLUMNS_I64, false } };
    static int64_t numbers[1000];
    struct world *world = *state;
    parquet_writer *writer = NULL;
    char text[24];

    for (size_t i = 0; i < 1000; i++)
        numbers[i] = (int64_t)i;
    expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, schema, 2, NULL,
                                         &world->err));
    for (size_t i = 0; i < 3000; i++) {
        size_t rows = i % 5 + (i == 2000 ? 900 : 0);
        snprintf(text, sizeof text, "label %zu", i / 2 % 600);
        const columns_label label = { text, strlen(text) };
        const columns_column columns[] = { { "l", COLUMNS_LABEL, &label, NULL },
                                           { "n", COLUMNS_I64, numbers, NULL } };
        const columns_table table = { rows, 2, columns };
        expect_ok(world, parquet_writer_append(writer, &table, &world->err));
    }
    expect_ok(world, parquet_writer_close(writer, &world->err));
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s)"), 6900);
    assert_int_equal(count_rows(world, "SELECT DISTINCT l FROM read_parquet(%s)"), 600);
    /* Appends 844 and 845, 2044 and 2045: 4 + 0 rows each time. */
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s) WHERE l = 'label 422'"), 8);
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s) WHERE l = 'label 400'"),
                     902);
    expect_rows(world, "parquet_metadata",
                "path_in_schema = 'l' AND encodings LIKE '%RLE_DICTIONARY%' AND "
                "stats_min_value = 'label 0' AND stats_max_value = 'label 99' AND "
                "total_compressed_size < 20000");
}

static void one_label_is_enough(void **state)
{
    static const columns_label label = { "only", 4 };
    const columns_column column = { "l", COLUMNS_LABEL, &label, NULL };
    struct world *world = *state;

    write_one(world, &column, 200000, NULL);
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s) WHERE l = 'only'"), 200000);
    expect_rows(world, "parquet_file_metadata", "num_row_groups = 2");
}

/* Each label is one row: a group ends before its dictionary is searched for long. */
static void many_labels_end_a_row_group(void **state)
{
    static const parquet_column schema = { "l", COLUMNS_LABEL, false };
    struct world *world = *state;
    parquet_writer *writer = NULL;
    char text[24];

    expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1, NULL,
                                         &world->err));
    for (size_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "%zu", i);
        const columns_label label = { text, strlen(text) };
        const columns_column column = { "l", COLUMNS_LABEL, &label, NULL };
        const columns_table table = { 1, 1, &column };
        expect_ok(world, parquet_writer_append(writer, &table, &world->err));
    }
    expect_ok(world, parquet_writer_close(writer, &world->err));
    assert_int_equal(count_rows(world, "SELECT DISTINCT l FROM read_parquet(%s)"), 5000);
    expect_rows(world, "parquet_file_metadata", "num_row_groups = 5");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void a_finished_file_waits_for_its_name(void **state)
{
    static const parquet_column schema = { "n", COLUMNS_I32, false };
    const columns_column column = { "n", COLUMNS_I32, i32s, NULL };
    const columns_table table = { 10, 1, &column };
    struct world *world = *state;
    parquet_writer *writer = NULL;

    expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1, NULL,
                                         &world->err));
    expect_ok(world, parquet_writer_append(writer, &table, &world->err));
    expect_ok(world, parquet_writer_finish(writer, &world->err));
    assert_int_equal(faccessat(world->folder.fd, FILE_NAME, F_OK, 0), -1);
    assert_int_equal(renameat(world->folder.fd, FILE_NAME ".tmp", world->folder.fd, FILE_NAME), 0);
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s)"), 10);
}

static void wrong_decimals_are_refused(void **state)
{
    static const parquet_decimal wrong[] = { { 0, 0 }, { 39, 0 }, { 5, 6 } };
    static const parquet_column schema = { "x", COLUMNS_DECIMAL, false };
    struct world *world = *state;
    parquet_writer *writer = NULL;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const parquet_options options = { .decimals = &wrong[i] };
        assert_int_equal(parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1,
                                             &options, &world->err),
                         MCP_E_PARAMS);
    }
    assert_int_equal(
        parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1, NULL, &world->err),
        MCP_E_PARAMS);
    assert_int_equal(open_files(world), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(decimals_keep_every_digit),
        CASE(decimals_are_as_short_as_the_format_allows),
        CASE(row_groups_are_skipped_by_decimals_rightly),
        CASE(times_have_their_types),
        CASE(texts_and_blobs_may_hold_any_byte),
        CASE(many_texts_come_back),
        CASE(a_long_text_has_a_page_of_its_own),
        CASE(labels_are_runs),
        CASE(one_label_is_enough),
        CASE(many_labels_end_a_row_group),
        CASE(a_finished_file_waits_for_its_name),
        CASE(wrong_decimals_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
