/*
 * test_databases.c - queries over tables of DuckDB files, which have other tables, too.
 */
#include "asking.h"

#include "columns/engine.h"

static const int64_t ids[] = { 1, 2, 3, 4 };
static const char *const names[] = { "a", "b", "c", "d" };
static const char *const sources[] = { "h1", "h1", "h2", "h3" };

/* Written by DuckDB itself. */
static void make_database(world *self, const char *name)
{
    struct engine engine = { 0 };
    duckdb_database database = NULL;
    duckdb_connection connection = NULL;

    assert_int_equal(engine_load(&engine, &self->err), MCP_OK);
    assert_int_equal(engine.api->open_ext(scratch_path(&self->folder, name), &database, NULL, NULL),
                     DuckDBSuccess);
    assert_int_equal(engine.api->connect(database, &connection), DuckDBSuccess);
    assert_int_equal(engine.api->query(connection,
                                       "CREATE TABLE \"events__schema_aaaaaaaa\" AS SELECT * FROM "
                                       "(VALUES (1, 'h1', '7'), (2, 'h2', '7'), (3, 'h3', '8'), "
                                       "(4, 'h4', '9')) AS v(id, _cf_source_hash, _cf_job_id); "
                                       "CREATE TABLE salaries AS SELECT 1 AS ssn; "
                                       "CREATE VIEW of_others AS SELECT 2 AS pin; "
                                       "CREATE TYPE mood AS ENUM ('happy', 'secret'); "
                                       "CREATE MACRO abs(x) AS (SELECT max(ssn) FROM salaries); "
                                       "CHECKPOINT",
                                       NULL),
                     DuckDBSuccess);
    engine.api->disconnect(&connection);
    engine.api->close(&database);
}

static void tables_of_a_database_are_read_by_job(void **state)
{
    static const char *const superseded[] = { "h1" };
    world *self = *state;

    make_database(self, "sink.duckdb");
    for (int job = 7; job <= 8; job++)
        add_file(self, "events", "duckdb", "sink.duckdb", job)->table = "events__schema_aaaaaaaa";
    expect_rows(self, "SELECT id FROM events ORDER BY id", "[[1],[2],[3]]");
    self->files[0].superseded_hashes = superseded;
    self->files[0].superseded_count = 1;
    self->catalog.version++;
    expect_rows(self, "SELECT id FROM events ORDER BY id", "[[2],[3]]");
    add_rows(self, "events", 10, 1, ids + 3, names, sources);
    expect_rows(self, "SELECT id, name FROM events ORDER BY id", "[[2,null],[3,null],[4,\"a\"]]");
}

/* A file of the user has other tables, too: queries see what casparian has committed. */
static void other_tables_of_a_database_are_not_seen(void **state)
{
    static const char *const hidden[] = {
        "SELECT count(*) FROM sqlite_master WHERE name IN ('salaries', 'of_others', 'mood', 'abs') "
        "OR sql LIKE '%ssn%'",
        "SELECT count(*) FROM information_schema.tables WHERE table_name IN ('salaries', "
        "'of_others')",
        "SELECT count(*) FROM information_schema.columns WHERE column_name IN ('ssn', 'pin')",
        "SELECT count(*) FROM information_schema.schemata WHERE catalog_name LIKE 'sink%'",
    };
    static const char *const refused[] = {
        "SELECT * FROM sink_0.main.salaries",
        "SELECT * FROM sink_0.salaries",
        "SELECT enum_range(NULL::sink_0.main.mood)",
        "SELECT 'happy'::sink_0.mood",
        "SELECT sink_0.main.abs(-1)",
        "SELECT sink_0.abs(-1)",
    };
    world *self = *state;

    make_database(self, "sink.duckdb");
    add_file(self, "events", "duckdb", "sink.duckdb", 7)->table = "events__schema_aaaaaaaa";
    add_rows(self, "plain", 10, 1, ids + 3, names, sources);
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        expect_rows(self, hidden[i], "[[0]]");
    expect_rows(self,
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'events' "
                "ORDER BY ordinal_position",
                "[[\"id\"],[\"_cf_source_hash\"],[\"_cf_job_id\"]]");
    expect_rows(self, "SELECT count(*) FROM sqlite_master WHERE name = 'events'", "[[1]]");
    expect_rows(self,
                "SELECT count(*) FROM plain, information_schema.tables WHERE table_name = 'plain'",
                "[[1]]");
    assert_int_not_equal(ask(self, "SELECT count(*) FROM events, sqlite_master"), MCP_OK);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        self->catalog.version++;
        assert_int_not_equal(ask(self, refused[i]), MCP_OK);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables_of_a_database_are_read_by_job),
        TEST(other_tables_of_a_database_are_not_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
