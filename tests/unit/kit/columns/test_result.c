/*
 * test_result.c - groups, repeated fields, moments and missing values of files that DuckDB writes.
 */
#include "written.h"

/* A file of the rows of a query, read back. */
static const columns_table *table_of(struct world *world, const char *query)
{
    const columns_table *table = NULL;
    duckdb_result result;
    char sql[2000];
    int fd = openat(world->folder.fd, "t.parquet", O_RDWR | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    snprintf(sql, sizeof sql,
             "COPY (%s) TO '/proc/self/fd/%d' (FORMAT parquet, USE_TMP_FILE false)", query, fd);
    expect_ok(world, engine_query(&world->duckdb, &result, sql, MCP_E_PARSE, &world->err));
    world->duckdb.api->destroy_result(&result);
    close(fd);
    fd = openat(world->folder.fd, "t.parquet", O_RDONLY | O_CLOEXEC);
    expect_ok(world, columns_read(&table, world->reader, fd, NULL, world->arena, &world->err));
    close(fd);
    return table;
}

static void expect_text(const columns_table *table, const char *name, size_t row, const char *text)
{
    const columns_column *column = columns_find(table, name);

    if (!column)
        fail_msg("no column %s", name);
    assert_int_equal(column->type, COLUMNS_JSON);
    assert_string_equal(((const char *const *)column->values)[row], text);
}

static void groups_become_columns_of_their_paths(void **state)
{
    const columns_table *table = table_of(
        *state, "SELECT {'ms': 7::INT, 'in': {'x': 1.5::DOUBLE}} AS \"timing\", 3::BIGINT AS last "
                "UNION ALL SELECT NULL, 4 UNION ALL SELECT {'ms': NULL, 'in': NULL}, 5");

    assert_int_equal(table->column_count, 3);
    assert_string_equal(table->columns[0].name, "timing.ms");
    assert_string_equal(table->columns[1].name, "timing.in.x");
    assert_string_equal(table->columns[2].name, "last");
    assert_int_equal(table->columns[0].type, COLUMNS_I32);
    assert_int_equal(((const int32_t *)table->columns[0].values)[0], 7);
    assert_true(((const double *)table->columns[1].values)[0] == 1.5);
    for (size_t row = 1; row < 3; row++) {
        assert_false(columns_is_valid(&table->columns[0], row));
        assert_false(columns_is_valid(&table->columns[1], row));
    }
    assert_true(columns_is_valid(&table->columns[2], 1));
}

static void repeated_fields_become_json(void **state)
{
    const columns_table *table = table_of(
        *state, "SELECT [1, NULL, 3] AS plain, [[1.5::DOUBLE], []] AS nested, "
                "[{'id': 1, 'name': 'a\"b'}, NULL, {'id': NULL, 'name': 'c'}] AS groups, "
                "{'days': [DATE '2000-02-29'], 'on': [true]} AS inner_ "
                "UNION ALL SELECT NULL, [], [], NULL");

    expect_text(table, "plain", 0, "[1,null,3]");
    expect_text(table, "nested", 0, "[[1.5],[]]");
    expect_text(table, "groups.id", 0, "[1,null,null]");
    expect_text(table, "groups.name", 0, "[\"a\\\"b\",null,\"c\"]");
    expect_text(table, "inner_.days", 0, "[\"2000-02-29\"]");
    expect_text(table, "inner_.on", 0, "[true]");
    expect_text(table, "nested", 1, "[]");
    expect_text(table, "groups.id", 1, "[]");
    assert_false(columns_is_valid(columns_find(table, "plain"), 1));
    assert_false(columns_is_valid(columns_find(table, "inner_.days"), 1));
}

static void expect_moment(const columns_table *table, const char *name, columns_type type,
                          const char *text)
{
    const columns_column *column = columns_find(table, name);
    char moment[COLUMNS_MOMENT_SIZE];

    assert_int_equal(column->type, type);
    columns_moment_text(moment, ((const int64_t *)column->values)[0],
                        type == COLUMNS_TIMESTAMP_UTC ? "Z" : "");
    assert_string_equal(moment, text);
}

static void moments_of_every_unit_are_read(void **state)
{
    const columns_table *table = table_of(*state,
                                          "SELECT TIMESTAMP '2030-01-31 08:09:10.5' AS us, "
                                          "TIMESTAMP_MS '1969-12-31 23:59:59.75' AS ms, "
                                          "TIMESTAMP_NS '2000-02-29 00:00:00.000001' AS ns, "
                                          "TIMESTAMPTZ '2030-01-31 08:00:00+02' AS tz");

    expect_moment(table, "us", COLUMNS_TIMESTAMP, "2030-01-31T08:09:10.5");
    expect_moment(table, "ms", COLUMNS_TIMESTAMP, "1969-12-31T23:59:59.75");
    expect_moment(table, "ns", COLUMNS_TIMESTAMP, "2000-02-29T00:00:00.000001");
    expect_moment(table, "tz", COLUMNS_TIMESTAMP_UTC, "2030-01-31T06:00:00Z");
}

static void columns_are_surveyed(void **state)
{
    struct world *world = *state;
    columns_survey survey;

    (void)table_of(world, "SELECT (i % 7)::INT - 2 AS k, CASE WHEN i < 3 THEN i END AS n, "
                          "'x' AS t FROM range(20) r(i)");
    int fd = openat(world->folder.fd, "t.parquet", O_RDONLY | O_CLOEXEC);
    expect_ok(world, columns_look(&survey, world->reader, fd, "k", &world->err));
    assert_int_equal(survey.rows, 20);
    assert_int_equal(survey.distinct, 7);
    assert_int_equal(survey.least, -2);
    assert_int_equal(survey.most, 4);
    expect_ok(world, columns_look(&survey, world->reader, fd, "n", &world->err));
    assert_int_equal(survey.distinct, 3);
    assert_int_equal(columns_look(&survey, world->reader, fd, "t", &world->err), MCP_E_PARSE);
    assert_int_equal(columns_look(&survey, world->reader, fd, "none", &world->err), MCP_E_PARSE);
    close(fd);
    assert_int_equal(columns_look(&survey, world->reader, world->folder.fd, "k", &world->err),
                     MCP_E_PARAMS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(groups_become_columns_of_their_paths),
        TEST(repeated_fields_become_json),
        TEST(moments_of_every_unit_are_read),
        TEST(columns_are_surveyed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
