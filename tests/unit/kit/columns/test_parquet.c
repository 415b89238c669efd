/*
 * test_parquet.c - types, statistics and row groups of a file, as DuckDB reads them; and what is
 * left when a file cannot be completed.
 */
#include "written.h"

#include <signal.h>
#include <sys/resource.h>

#include "oom.h"

/* ---- types and statistics -------------------------------------------------------------------- */

static void types_and_annotations_are_those_of_the_format(void **state)
{
    static const char *const expected[] = {
        "name = 'bool' AND type = 'BOOLEAN' AND converted_type IS NULL AND logical_type IS NULL",
        "name = 'i8' AND type = 'INT32' AND converted_type = 'INT_8' AND "
        "logical_type LIKE '%bitWidth=%' AND logical_type LIKE '%isSigned=1%'",
        "name = 'i16' AND type = 'INT32' AND converted_type = 'INT_16'",
        "name = 'i32' AND type = 'INT32' AND converted_type IS NULL AND logical_type IS NULL",
        "name = 'i64' AND type = 'INT64' AND converted_type IS NULL AND logical_type IS NULL",
        "name = 'u8' AND type = 'INT32' AND converted_type = 'UINT_8'",
        "name = 'u16' AND type = 'INT32' AND converted_type = 'UINT_16'",
        "name = 'u32' AND type = 'INT32' AND converted_type = 'UINT_32' AND "
        "logical_type LIKE '%isSigned=0%'",
        "name = 'u64' AND type = 'INT64' AND converted_type = 'UINT_64'",
        "name = 'f32' AND type = 'FLOAT' AND converted_type IS NULL",
        "name = 'f64' AND type = 'DOUBLE' AND converted_type IS NULL",
        "name = 'date' AND type = 'INT32' AND converted_type = 'DATE' AND logical_type LIKE 'Date%'",
        "name = 'text' AND type = 'BYTE_ARRAY' AND converted_type = 'UTF8' AND "
        "logical_type LIKE 'String%' AND repetition_type = 'OPTIONAL'",
        "name = 'whole' AND type = 'INT64' AND repetition_type = 'REQUIRED'",
    };
    struct world *world = *state;
    columns_column columns[TYPES];
    const columns_table table = { ROWS, TYPES, columns };

    fill(columns, true);
    write_batches(world, every_type, &table, ROWS, NULL);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        expect_rows(world, "parquet_schema", expected[i]);
}

static void statistics_are_in_the_order_of_the_type(void **state)
{
    static const uint8_t some[] = { 1, 1, 1, 0 };
    static const uint32_t u32[] = { 5, UINT32_MAX, 7, 0 };
    static const uint64_t u64[] = { 5, UINT64_MAX, 7, 0 };
    static const int8_t i8[] = { 5, -128, 127, 0 };
    static const int64_t i64[] = { INT64_MIN, 3, -1, 0 };
    static const double f64[] = { 0.5, 2.5, -1.5, -9 }, zeros[] = { 0.0, -0.0, 0.0, 0.0 };
    static const double nans[] = { 1, NAN, 2, 3 };
    static const float f32[] = { -2.5f, -0.0f, -7.25f, 1 };
    static const uint8_t flags[] = { 1, 0, 1, 1 };
    static const int32_t days[] = { 0, 365, -1, 9999 };
    static const char *const words[] = { "b", "\xC3\xA9", "aa", NULL };
    static const char *const long_words[] = {
        "0123456789012345678901234567890123456789012345678901234567890123456789", "1", "2", NULL
    };
    static const columns_column columns[] = {
        { "u32", COLUMNS_U32, u32, some },      { "u64", COLUMNS_U64, u64, some },
        { "i8", COLUMNS_I8, i8, some },         { "i64", COLUMNS_I64, i64, some },
        { "f64", COLUMNS_F64, f64, some },      { "zeros", COLUMNS_F64, zeros, some },
        { "nans", COLUMNS_F64, nans, some },    { "f32", COLUMNS_F32, f32, some },
        { "flags", COLUMNS_BOOL, flags, some }, { "days", COLUMNS_DATE, days, some },
        { "words", COLUMNS_TEXT, words, some }, { "long", COLUMNS_TEXT, long_words, some },
        { "required", COLUMNS_I64, i64, NULL },
    };
    static const char *const expected[] = {
        "'u32' AND stats_min_value = '5' AND stats_max_value = '4294967295'",
        "'u64' AND stats_min_value = '5' AND stats_max_value = '18446744073709551615'",
        "'i8' AND stats_min_value = '-128' AND stats_max_value = '127'",
        "'i64' AND stats_min_value = '-9223372036854775808' AND stats_max_value = '3'",
        "'f64' AND stats_min_value = '-1.5' AND stats_max_value = '2.5'",
        "'zeros' AND stats_min_value = '-0.0' AND stats_max_value = '0.0'",
        "'nans' AND stats_min_value IS NULL AND stats_max_value IS NULL",
        "'f32' AND stats_min_value = '-7.25' AND stats_max_value = '0.0'",
        "'flags' AND stats_min_value = 'false' AND stats_max_value = 'true'",
        "'days' AND stats_min_value = '1969-12-31' AND stats_max_value = '1971-01-01'",
        "'words' AND stats_min_value = 'aa' AND stats_max_value = '\xC3\xA9'",
        "'long' AND stats_min_value IS NULL AND stats_max_value = '2'",
        "'required' AND stats_min_value = '-9223372036854775808' AND stats_max_value = '3'",
    };
    struct world *world = *state;
    const columns_table table = { 4, sizeof columns / sizeof columns[0], columns };
    char condition[200];

    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        snprintf(condition, sizeof condition,
                 "path_in_schema = %s AND stats_null_count = %d AND num_values = 4", expected[i],
                 strstr(expected[i], "'required'") ? 0 : 1);
        expect_rows(world, "parquet_metadata", condition);
    }
}

/* Row groups of ten rows, so that a bound that is wrong would hide rows. */
static void filters_give_the_rows_that_are_there(void **state)
{
    static const struct {
        const char *condition;
        size_t rows;
    } queries[] = {
        { "u64 >= 9223372036854775808", 50 },
        { "u64 < 50", 50 },
        { "u64 = 18446744073709551615", 1 },
        { "u32 > 4294967190", 100 },
        { "i8 < -20", 30 },
        { "f64 > 1e300", 3 },
        { "isnan(f64)", 2 },
        { "f64 < -1e300", 1 },
        { "zero = 0", 100 },
        { "zero < 0", 0 },
        { "text > 'z'", 100 },
        { "text = 'zz 42'", 1 },
        { "text < 'z'", 0 },
        { "maybe IS NULL", 50 },
        { "maybe > 90", 25 },
        { "u64 > 20 AND u64 < 40", 19 },
    };
    static uint64_t u64[100];
    static uint32_t u32[100];
    static int8_t i8[100];
    static double f64[100], zero[100];
    static uint8_t some[100];
    static const char *words[100];
    static char room[100][8];
    static const columns_column columns[] = {
        { "u64", COLUMNS_U64, u64, NULL },     { "u32", COLUMNS_U32, u32, NULL },
        { "i8", COLUMNS_I8, i8, NULL },        { "f64", COLUMNS_F64, f64, NULL },
        { "zero", COLUMNS_F64, zero, NULL },   { "maybe", COLUMNS_U64, u64, some },
        { "text", COLUMNS_TEXT, words, NULL },
    };
    static const parquet_column schema[] = {
        { "u64", COLUMNS_U64, false },   { "u32", COLUMNS_U32, false },
        { "i8", COLUMNS_I8, false },     { "f64", COLUMNS_F64, false },
        { "zero", COLUMNS_F64, false },  { "maybe", COLUMNS_U64, true },
        { "text", COLUMNS_TEXT, false },
    };
    const parquet_options options = { .row_group_rows = 10 };
    const columns_table table = { 100, sizeof columns / sizeof columns[0], columns };
    struct world *world = *state;
    char query[200];

    for (size_t i = 0; i < 100; i++) {
        u64[i] = i < 50 ? i : UINT64_MAX - (99 - i);
        u32[i] = UINT32_MAX - (uint32_t)i;
        i8[i] = (int8_t)(i < 70 ? (int)i : -(int)i);
        f64[i] = i % 40 == 5 ? (i == 5 ? NAN : i == 45 ? NAN : INFINITY) : (double)i;
        zero[i] = i % 2 ? -0.0 : 0.0;
        some[i] = i % 2;
        snprintf(room[i], sizeof room[i], "zz %zu", i);
        words[i] = room[i];
    }
    f64[61] = -INFINITY;
    write_batches(world, schema, &table, 33, &options);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        snprintf(query, sizeof query, "SELECT 1 FROM read_parquet(%%s) WHERE %s",
                 queries[i].condition);
        size_t rows = count_rows(world, query);
        if (rows != queries[i].rows)
            fail_msg("%zu rows where %s", rows, queries[i].condition);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static void an_empty_table_has_its_columns(void **state)
{
    struct world *world = *state;
    columns_column columns[TYPES];
    const columns_table table = { 0, TYPES, columns };

    fill(columns, true);
    write_batches(world, every_type, &table, 1, NULL);
    expect_same(read_back(world), columns, 0);
    expect_rows(world, "parquet_file_metadata", "num_row_groups = 0");
}

static void tables_may_be_wide(void **state)
{
    static char names[PARQUET_COLUMNS_MAX + 1][8];
    static columns_column columns[PARQUET_COLUMNS_MAX + 1];
    static const int32_t numbers[] = { 1, 2, 3 };
    struct world *world = *state;
    columns_table table = { 3, PARQUET_COLUMNS_MAX, columns };

    for (size_t i = 0; i <= PARQUET_COLUMNS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "c%zu", i);
        columns[i] = (columns_column){ names[i], COLUMNS_I32, numbers, NULL };
    }
    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    assert_int_equal(read_back(world)->column_count, PARQUET_COLUMNS_MAX);
    table.column_count++;
    assert_int_equal(columns_write(world->folder.fd, FILE_NAME, &table, &world->err), MCP_E_PARAMS);
}

static void the_file_says_who_wrote_it_and_what_it_is_given(void **state)
{
    static const parquet_pair pairs[] = { { "case", "1dtoy" }, { "empty", "" }, { "flag", NULL } };
    const parquet_options options = { .metadata = pairs, .metadata_count = 3 };
    const columns_column column = { "x", COLUMNS_I32, i32s, NULL };
    struct world *world = *state;

    write_one(world, &column, 10, &options);
    expect_rows(world, "parquet_file_metadata",
                "created_by = 'causeway version " CAUSEWAY_VERSION "'");
    expect_rows(world, "parquet_kv_metadata", "key = 'case'::BLOB AND value = '1dtoy'::BLOB");
    assert_int_equal(count_rows(world, "SELECT 1 FROM parquet_kv_metadata(%s)"), 3);
}

/* 200 MiB of texts do not wait in memory for the rows of a row group. */
static void long_texts_end_a_row_group_early(void **state)
{
    enum { LENGTH = 1 << 20, COUNT = 200 };
    struct world *world = *state;
    const parquet_column schema = { "text", COLUMNS_TEXT, false };
    const parquet_options options = { .codec = PARQUET_UNCOMPRESSED };
    parquet_writer *writer = NULL;
    char *text = malloc(LENGTH + 1);
    const char *values[10];
    const columns_column column = { "text", COLUMNS_TEXT, values, NULL };
    const columns_table table = { 10, 1, &column };

    memset(text, 't', LENGTH);
    text[LENGTH] = '\0';
    for (size_t i = 0; i < 10; i++)
        values[i] = text;
    expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1, &options,
                                         &world->err));
    for (int i = 0; i < COUNT / 10; i++)
        expect_ok(world, parquet_writer_append(writer, &table, &world->err));
    expect_ok(world, parquet_writer_close(writer, &world->err));
    free(text);
    expect_rows(world, "parquet_file_metadata",
                "num_rows = 200 AND num_row_groups BETWEEN 3 AND 4");
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s) "
                                       "WHERE text = repeat('t', 1048576)"),
                     COUNT);
}

static void a_text_without_a_bound_is_refused(void **state)
{
    struct world *world = *state;
    char *text = malloc(PARQUET_ROW_TEXT_MAX + 2);
    const char *values[] = { "short", text };
    const columns_column column = { "text", COLUMNS_TEXT, values, NULL };
    const columns_table table = { 2, 1, &column };

    memset(text, 't', PARQUET_ROW_TEXT_MAX + 1);
    text[PARQUET_ROW_TEXT_MAX + 1] = '\0';
    assert_int_equal(columns_write(world->folder.fd, FILE_NAME, &table, &world->err), MCP_E_LIMIT);
    assert_non_null(strstr(world->err.message, "row 1"));
    assert_int_equal(open_files(world), 0);
    free(text);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void wrong_columns_are_refused(void **state)
{
    static const parquet_column wrong[][2] = {
        { { "a", COLUMNS_OTHER, false }, { "b", COLUMNS_I32, false } },
        { { "a", COLUMNS_I32, false }, { "a", COLUMNS_F64, false } },
        { { "a", COLUMNS_I32, false }, { "", COLUMNS_F64, false } },
    };
    static const parquet_column right = { "a", COLUMNS_I32, false };
    const parquet_options levels[] = { { .level = 99 }, { .level = -3 } };
    struct world *world = *state;
    parquet_writer *writer = NULL;
    int fd = world->folder.fd;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(
            parquet_writer_open(&writer, fd, FILE_NAME, wrong[i], 2, NULL, &world->err),
            MCP_E_PARAMS);
    assert_int_equal(parquet_writer_open(&writer, fd, FILE_NAME, &right, 0, NULL, &world->err),
                     MCP_E_PARAMS);
    assert_int_equal(parquet_writer_open(&writer, fd, "a/b", &right, 1, NULL, &world->err),
                     MCP_E_PARAMS);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(
            parquet_writer_open(&writer, fd, FILE_NAME, &right, 1, &levels[i], &world->err),
            MCP_E_PARAMS);
    assert_null(writer);
    assert_int_equal(open_files(world), 0);
}

/* A batch that does not fit ends the file: it comes to nothing, and the cause stays. */
static void a_batch_that_does_not_fit_is_refused(void **state)
{
    static const int32_t numbers[] = { 1, 2 };
    static const uint8_t half[] = { 1, 0 };
    static const char *const none[] = { "x", NULL };
    static const columns_column batches[][2] = {
        { { "n", COLUMNS_I64, i64s, NULL }, { "t", COLUMNS_TEXT, texts, NULL } },
        { { "m", COLUMNS_I32, numbers, NULL }, { "t", COLUMNS_TEXT, texts, NULL } },
        { { "n", COLUMNS_I32, numbers, half }, { "t", COLUMNS_TEXT, texts, NULL } },
        { { "n", COLUMNS_I32, NULL, NULL }, { "t", COLUMNS_TEXT, texts, NULL } },
        { { "n", COLUMNS_I32, numbers, NULL }, { "t", COLUMNS_TEXT, none, NULL } },
    };
    static const parquet_column schema[] = { { "n", COLUMNS_I32, false },
                                             { "t", COLUMNS_TEXT, true } };
    const columns_column right[] = { { "n", COLUMNS_I32, numbers, NULL },
                                     { "t", COLUMNS_TEXT, none, half } };
    columns_column filled[TYPES];
    struct world *world = *state;

    fill(filled, false);
    for (size_t i = 0; i < 1 + sizeof batches / sizeof batches[0]; i++) {
        const columns_table good = { 2, 2, right };
        const columns_table bad = { 2, i == 0 ? 1 : 2, i == 0 ? right : batches[i - 1] };
        parquet_writer *writer = NULL;
        expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, schema, 2, NULL,
                                             &world->err));
        expect_ok(world, parquet_writer_append(writer, &good, &world->err));
        assert_int_equal(parquet_writer_append(writer, &bad, &world->err), MCP_E_PARAMS);
        mcp_error again = MCP_ERROR_INIT;
        assert_int_equal(parquet_writer_append(writer, &good, &again), MCP_E_PARAMS);
        assert_string_equal(again.message, world->err.message);
        assert_int_equal(parquet_writer_close(writer, &again), MCP_E_PARAMS);
        assert_string_equal(again.message, world->err.message);
        assert_int_equal(open_files(world), 0);
    }
}

static void an_aborted_file_leaves_the_old_one(void **state)
{
    const columns_column column = { "x", COLUMNS_I32, i32s, NULL };
    const parquet_column schema = { "x", COLUMNS_I32, false };
    const columns_table table = { 10, 1, &column };
    struct world *world = *state;
    parquet_writer *writer = NULL;

    write_one(world, &column, 5, NULL);
    size_t before = scratch_open_descriptors();
    expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1, NULL,
                                         &world->err));
    expect_ok(world, parquet_writer_append(writer, &table, &world->err));
    assert_int_equal(open_files(world), 2);
    parquet_writer_abort(writer);
    parquet_writer_abort(NULL);
    assert_int_equal(scratch_open_descriptors(), before);
    assert_int_equal(open_files(world), 1);
    assert_int_equal(read_back(world)->rows, 5);
}

/* A limit of file sizes stands for a disk that is full: some bytes are written, then no more. */
static void a_full_disk_leaves_no_file_and_its_cause(void **state)
{
    static double numbers[300000];
    const columns_column column = { "x", COLUMNS_F64, numbers, NULL };
    const parquet_column schema = { "x", COLUMNS_F64, false };
    const columns_table table = { 300000, 1, &column };
    const parquet_options options = { .codec = PARQUET_UNCOMPRESSED, .row_group_rows = 100000 };
    static const rlim_t limits[] = { 0, 100, 1000000, 2400000 };
    struct world *world = *state;
    struct rlimit before, now;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    size_t descriptors = scratch_open_descriptors();
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        parquet_writer *writer = NULL;
        mcp_error err = MCP_ERROR_INIT;
        now = (struct rlimit){ limits[i], before.rlim_max };
        assert_int_equal(
            parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1, &options, &err),
            MCP_OK);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
        mcp_status appended = parquet_writer_append(writer, &table, &err);
        mcp_status st = parquet_writer_close(writer, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(appended, limits[i] < 2400000 ? MCP_E_IO : MCP_OK);
        assert_int_equal(st, MCP_E_IO);
        assert_non_null(strstr(err.message, "File too large"));
        assert_non_null(strstr(err.message, FILE_NAME));
        assert_int_equal(open_files(world), 0);
    }
    signal(SIGXFSZ, handler);
    assert_int_equal(scratch_open_descriptors(), descriptors);
}

static mcp_status write_everything(void *data)
{
    static const parquet_pair pair = { "key", "value" };
    const parquet_options options = { .row_group_rows = 100, .metadata = &pair, 1 };
    struct world *world = data;
    parquet_writer *writer = NULL;
    columns_column columns[TYPES];
    const columns_table table = { 250, TYPES, columns };

    fill(columns, true);
    mcp_status st = parquet_writer_open(&writer, world->folder.fd, FILE_NAME, every_type, TYPES,
                                        &options, &world->err);
    if (st == MCP_OK)
        st = parquet_writer_append(writer, &table, &world->err);
    if (st == MCP_OK)
        return parquet_writer_close(writer, &world->err);
    parquet_writer_abort(writer);
    assert_int_equal(open_files(world), 0);
    return st;
}

static void memory_may_run_out_anywhere(void **state)
{
    struct world *world = *state;

    oom_walk(write_everything, world);
    assert_int_equal(read_back(world)->rows, 250);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(types_and_annotations_are_those_of_the_format),
        EACH(statistics_are_in_the_order_of_the_type),
        EACH(filters_give_the_rows_that_are_there),
        EACH(an_empty_table_has_its_columns),
        EACH(tables_may_be_wide),
        EACH(the_file_says_who_wrote_it_and_what_it_is_given),
        EACH(long_texts_end_a_row_group_early),
        EACH(a_text_without_a_bound_is_refused),
        EACH(wrong_columns_are_refused),
        EACH(a_batch_that_does_not_fit_is_refused),
        EACH(an_aborted_file_leaves_the_old_one),
        EACH(a_full_disk_leaves_no_file_and_its_cause),
        EACH(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
