/*
 * test_uri.c - sinks: their forms, what is refused, and one normal form of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sinks/uri.h"

#define BASE "/srv/here"

static casparian_sink_uri read_one(mcp_arena *arena, const char *text)
{
    casparian_sink_uri uri = { .path = NULL };
    mcp_error err = MCP_ERROR_INIT;

    if (casparian_sink_uri_read(&uri, arena, text, BASE, &err) != MCP_OK)
        fail_msg("%s: %s", text, err.message);
    return uri;
}

static void sinks_have_one_normal_form(void **state)
{
    static const struct {
        const char *text, *normal, *dir;
        casparian_sink_kind kind;
    } rows[] = {
        { "parquet://./output/", "parquet:///srv/here/output", "/srv/here/output",
          CASPARIAN_SINK_PARQUET },
        { "./output", "parquet:///srv/here/output", "/srv/here/output", CASPARIAN_SINK_PARQUET },
        { "what?is=this", "parquet:///srv/here/what?is=this", "/srv/here/what?is=this",
          CASPARIAN_SINK_PARQUET },
        { "parquet:///data//a/./b/../out", "parquet:///data/a/out", "/data/a/out",
          CASPARIAN_SINK_PARQUET },
        { "parquet:///../..", "parquet:///", "/", CASPARIAN_SINK_PARQUET },
        { "parquet://out?compression=snappy", "parquet:///srv/here/out", "/srv/here/out",
          CASPARIAN_SINK_PARQUET },
        { "parquet://out?compression=zstd", "parquet:///srv/here/out?compression=zstd",
          "/srv/here/out", CASPARIAN_SINK_PARQUET },
        { "csv://out?delimiter=%09&header=false", "csv:///srv/here/out?header=false&delimiter=%09",
          "/srv/here/out", CASPARIAN_SINK_CSV },
        { "csv://out?header=true&delimiter=;", "csv:///srv/here/out?delimiter=%3B", "/srv/here/out",
          CASPARIAN_SINK_CSV },
        { "duckdb://x.db?mode=replace&table=t1", "duckdb:///srv/here/x.db?table=t1&mode=replace",
          "/srv/here", CASPARIAN_SINK_DUCKDB },
        { "duckdb:///x.db?mode=append", "duckdb:///x.db", "/", CASPARIAN_SINK_DUCKDB },
        { "file:///a/x.parquet", "parquet:///a", "/a", CASPARIAN_SINK_PARQUET },
        { "file:///x.csv?delimiter=|", "csv:///?delimiter=%7C", "/", CASPARIAN_SINK_CSV },
        { "file://x.duckdb", "duckdb:///srv/here/x.duckdb", "/srv/here", CASPARIAN_SINK_DUCKDB },
        { "file:///a/x.db?table=T", "duckdb:///a/x.db?table=T", "/a", CASPARIAN_SINK_DUCKDB },
    };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        casparian_sink_uri uri = read_one(arena, rows[i].text);
        assert_int_equal(uri.kind, rows[i].kind);
        assert_string_equal(uri.text, rows[i].normal);
        assert_string_equal(uri.dir, rows[i].dir);
        /* The normal form is that of itself. */
        if (!strchr(uri.path, '?'))
            assert_string_equal(read_one(arena, uri.text).text, rows[i].normal);
    }
    mcp_arena_free(arena);
}

static void queries_say_how_to_write(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    casparian_sink_uri csv = read_one(arena, "csv://x");
    assert_true(csv.has_header);
    assert_int_equal(csv.delimiter, ',');
    csv = read_one(arena, "csv://x?header=false&delimiter=%09");
    assert_false(csv.has_header);
    assert_int_equal(csv.delimiter, '\t');
    assert_int_equal(read_one(arena, "x").compression, CASPARIAN_SNAPPY);
    assert_int_equal(read_one(arena, "parquet://x?compression=none").compression,
                     CASPARIAN_UNCOMPRESSED);
    casparian_sink_uri duckdb = read_one(arena, "duckdb://x.db?mode=error&table=Trades_1");
    assert_int_equal(duckdb.mode, CASPARIAN_SINK_ERROR);
    assert_string_equal(duckdb.table, "Trades_1");
    assert_int_equal(read_one(arena, "duckdb://x.db").mode, CASPARIAN_SINK_APPEND);
    assert_null(read_one(arena, "duckdb://x.db").warning);
    assert_non_null(strstr(read_one(arena, "file://a/x.parquet").warning, "'x.parquet'"));
    mcp_arena_free(arena);
}

static void what_is_no_sink_is_refused(void **state)
{
    static const struct {
        const char *text, *named;
    } rows[] = {
        { "", "no path" },
        { "parquet://", "no path" },
        { "s3://bucket/x", "'s3'" },
        { "Parquet://x", "'Parquet'" },
        { "parquet://a\nb", "control" },
        { "parquet://x?header=true", "a parquet sink has no 'header'" },
        { "csv://x?compression=zstd", "a csv sink has no 'compression'" },
        { "csv://x?color=red", "'color'" },
        { "parquet://x?mode=replace", "'mode'" },
        { "parquet://x?compression=gzip", "snappy or zstd or none" },
        { "csv://x?header=yes", "'yes'" },
        { "csv://x?delimiter=", "delimiter" },
        { "csv://x?delimiter=ab", "delimiter" },
        { "csv://x?delimiter=%22", "delimiter" },
        { "csv://x?delimiter=a", "delimiter" },
        { "csv://x?delimiter=%0A", "delimiter" },
        { "csv://x?delimiter=%2", "key=value" },
        { "csv://x?delimiter=%00", "key=value" },
        { "csv://x?header", "key=value" },
        { "duckdb://x.db?table=a-b", "table" },
        { "duckdb://x.db?table=1a", "table" },
        { "duckdb://x.db?table=__cf_x", "table" },
        { "duckdb://x.db?mode=merge", "append or replace or error" },
        { "duckdb:///", "no database" },
        { "file:///a/x.txt", "'x.txt'" },
        { "file:///a/x", "'x'" },
    };
    mcp_arena *arena = mcp_arena_new(0);
    casparian_sink_uri uri = { .path = "untouched" };
    char text[CASPARIAN_SINK_URI_MAX + 2];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(casparian_sink_uri_read(&uri, arena, rows[i].text, BASE, &err),
                         MCP_E_PARAMS);
        if (!strstr(err.message, rows[i].named))
            fail_msg("'%s' is refused by: %s", rows[i].text, err.message);
    }
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(casparian_sink_uri_read(&uri, arena, text, BASE, NULL), MCP_E_LIMIT);
    assert_string_equal(uri.path, "untouched");
    mcp_arena_free(arena);
}

static void sinks_may_be_moved(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    casparian_sink_uri uri = read_one(arena, "parquet://link?compression=none");
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(casparian_sink_uri_move(&uri, arena, &uri, "/real/place", &err), MCP_OK);
    assert_string_equal(uri.text, "parquet:///real/place?compression=none");
    assert_string_equal(uri.dir, "/real/place");
    uri = read_one(arena, "duckdb://link/x.db?mode=error");
    assert_int_equal(casparian_sink_uri_move(&uri, arena, &uri, "/real", &err), MCP_OK);
    assert_string_equal(uri.text, "duckdb:///real/x.db?mode=error");
    assert_string_equal(uri.path, "/real/x.db");
    assert_int_equal(casparian_sink_uri_move(&uri, arena, &uri, "real", &err), MCP_E_PARAMS);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sinks_have_one_normal_form),
        cmocka_unit_test(queries_say_how_to_write),
        cmocka_unit_test(what_is_no_sink_is_refused),
        cmocka_unit_test(sinks_may_be_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
