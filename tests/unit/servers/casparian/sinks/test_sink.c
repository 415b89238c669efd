/*
 * test_sink.c - rows through a sink into Parquet, as DuckDB reads it: values of every type, nulls,
 * lineage; which source files' rows are there; quarantine; what is refused.
 */
#include "sink_rig.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "sinks/write/spool.h"

#define EVERY_TYPE                                                                                 \
    "{\"output_name\":\"events\",\"columns\":["                                                    \
    "{\"name\":\"b\",\"type\":\"boolean\"},{\"name\":\"i\",\"type\":\"int64\"},"                   \
    "{\"name\":\"f\",\"type\":\"float64\"},{\"name\":\"d\",\"type\":\"decimal(38,10)\"},"          \
    "{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"x\",\"type\":\"binary\"},"                   \
    "{\"name\":\"day\",\"type\":\"date\"},{\"name\":\"wall\",\"type\":\"timestamp\"},"             \
    "{\"name\":\"at\",\"type\":{\"kind\":\"timestamp_tz\",\"timezone\":\"Europe/Berlin\"}},"       \
    "{\"name\":\"t\",\"type\":\"time\"},{\"name\":\"span\",\"type\":\"duration\"},"                \
    "{\"name\":\"small\",\"type\":\"decimal(5,2)\"}]}"

/* Rows 0 and 2 have values, row 1 has none. */
static const uint8_t some[] = { 5 };
static const uint8_t bools[] = { 1, 0, 0 };
static const int64_t ints[] = { INT64_MAX, 0, INT64_MIN };
static const double floats[] = { 0.1, 0, NAN };
static const int32_t days[] = { 2932896, 0, -719162 };
static const int64_t walls[] = { INT64_C(253402300799999999), 0, -1 };
static const int64_t times[] = { 0, 0, INT64_C(86399999999) };
static const int64_t spans[] = { -1, 0, INT64_C(90000000) };
static const char bytes[] = "a\0b\xC3\xA9";
static const uint32_t texts[] = { 0, 3, 3, 5 }, blobs[] = { 1, 3, 3, 3 };

#define VECTOR(name_, kind_, values_)                                                              \
    {                                                                                              \
        .name = name_, .type = { .kind = CASPARIAN_KIND_##kind_ }, .valid = some,                  \
        .values = values_                                                                          \
    }
#define TEXTS(name_, kind_, offsets_)                                                              \
    {                                                                                              \
        .name = name_, .type = { .kind = CASPARIAN_KIND_##kind_ }, .valid = some,                  \
        .offsets = offsets_, .bytes = bytes                                                        \
    }

static void every_type_comes_back(void **state)
{
    static const char *const found[] = {
        "b AND i = 9223372036854775807 AND f = 0.1::DOUBLE",
        "NOT b AND i = -9223372036854775808 AND isnan(f)",
        "d::VARCHAR = '9999999999999999999999999999.9999999999' AND typeof(d) = 'DECIMAL(38,10)'",
        "d::VARCHAR = '-0.0000000001' AND small::VARCHAR = '-999.99'",
        "s = 'a' || chr(0) || 'b' AND x = '\\x00b'::BLOB",
        "s = '\xC3\xA9' AND octet_length(x) = 0 AND typeof(x) = 'BLOB'",
        "day = '9999-12-31' AND wall = '9999-12-31 23:59:59.999999' AND typeof(day) = 'DATE'",
        "day = '0001-01-01' AND wall = '1969-12-31 23:59:59.999999' AND typeof(wall) = 'TIMESTAMP'",
        "\"at\" = '1969-12-31 23:59:59.999999+00'::TIMESTAMPTZ AND t = '23:59:59.999999'",
        "span = -1 AND t = '00:00:00' AND typeof(t) = 'TIME'",
        "b IS NULL AND i IS NULL AND f IS NULL AND d IS NULL AND s IS NULL AND x IS NULL",
        "day IS NULL AND wall IS NULL AND \"at\" IS NULL AND t IS NULL AND span IS NULL",
    };
    rig *rig = *state;
    casparian_int128 decimals[3] = { 0, 0, -1 }, small[3] = { 0, 0, -99999 };
    const char *nines = "9999999999999999999999999999.9999999999";

    assert_true(casparian_decimal_parse(&decimals[0], nines, strlen(nines),
                                        (casparian_decimal_type){ 38, 10 }));
    const casparian_vector columns[] = {
        /* Out of order: they are bound by name. */
        VECTOR("span", DURATION, spans),
        VECTOR("b", BOOLEAN, bools),
        VECTOR("i", INT64, ints),
        VECTOR("f", FLOAT64, floats),
        { .name = "d",
          .type = { CASPARIAN_KIND_DECIMAL, { 38, 10 }, NULL },
          .valid = some,
          .values = decimals },
        TEXTS("s", STRING, texts),
        TEXTS("x", BINARY, blobs),
        VECTOR("day", DATE, days),
        VECTOR("wall", TIMESTAMP, walls),
        VECTOR("at", TIMESTAMP_TZ, walls),
        VECTOR("t", TIME, times),
        { .name = "small",
          .type = { CASPARIAN_KIND_DECIMAL, { 5, 2 }, NULL },
          .valid = some,
          .values = small },
    };
    const casparian_batch batch = { 3, sizeof columns / sizeof columns[0], columns };
    casparian_definition definition = definition_of(rig, EVERY_TYPE);
    casparian_sink *sink = open_sink(rig, ".");
    casparian_sink_output *output = add_table(rig, sink, &definition, 0);
    casparian_sink_file *file = begin_file(rig, sink);

    MUST(rig, casparian_sink_append(file, output, &batch, &rig->err));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    commit_all(rig, sink);
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
        if (count_where(rig, EVENTS ".parquet", found[i]) != 1)
            fail_msg("no row, or more than one: %s", found[i]);
    assert_int_equal(ask(rig, EVENTS ".parquet",
                         "SELECT count(*) FROM parquet_schema(%s) WHERE name = 'i' AND "
                         "repetition_type = 'OPTIONAL'"),
                     1);
}

static void lineage_and_metadata_are_there(void **state)
{
    rig *rig = *state;
    char condition[400];

    write_job(rig, ".", "42", 1, 20000);
    snprintf(condition, sizeof condition,
             "_cf_source_hash = '%s' AND _cf_job_id = '42' AND _cf_processed_at = '%s' AND "
             "_cf_parser_version = '1.2.0' AND note IS NOT DISTINCT FROM CASE WHEN id %% 3 = 0 "
             "THEN NULL ELSE 'note ' || id END",
             HASH_A, AT);
    assert_int_equal(count_where(rig, EVENTS ".parquet", condition), 20000);
    assert_int_equal(ask(rig, EVENTS ".parquet",
                         "SELECT string_agg(name, ',') = "
                         "'schema,id,note,_cf_source_hash,_cf_job_id,_cf_processed_at,"
                         "_cf_parser_version' FROM parquet_schema(%s)"),
                     1);
    assert_int_equal(ask(rig, EVENTS ".parquet",
                         "SELECT count(*) FROM parquet_metadata(%s) WHERE "
                         "path_in_schema = 'note' AND compression = 'SNAPPY'"),
                     1);
    snprintf(condition, sizeof condition,
             "SELECT count(*) FROM parquet_kv_metadata(%%s) WHERE "
             "(key = 'casparian.schema_hash' AND value = '%s') OR (key = 'casparian.job_id' AND "
             "value = '42') OR (key = 'casparian.plugin' AND value = 'demo@1.2.0') OR (key = "
             "'casparian.schema' AND decode(value) LIKE '{\"columns\":[{\"name\":\"id\"%%')",
             rig->events.hash);
    assert_int_equal(ask(rig, EVENTS ".parquet", condition), 4);
}

/* ---- source files ---------------------------------------------------------------------------- */

static void only_files_that_succeed_have_rows(void **state)
{
    rig *rig = *state;
    casparian_sink *sink = open_sink(rig, ".");
    casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
    casparian_sink_file *good = begin_file(rig, sink), *bad = begin_file(rig, sink);
    casparian_sink_file *late = begin_file(rig, sink);

    MUST(rig, append_events(rig, good, output, 0, 100));
    MUST(rig, append_events(rig, bad, output, 1000, 100));
    MUST(rig, append_events(rig, late, output, 2000, 10));
    MUST(rig, append_events(rig, good, output, 100, 100));
    assert_int_equal(casparian_sink_rows(output), 0);
    MUST(rig, casparian_sink_file_commit(late, HASH_B, &rig->err));
    casparian_sink_file_discard(bad);
    MUST(rig, casparian_sink_file_commit(good, HASH_A, &rig->err));
    assert_int_equal(casparian_sink_rows(output), 210);
    commit_all(rig, sink);
    assert_int_equal(count_where(rig, EVENTS ".parquet", "true"), 210);
    assert_int_equal(
        count_where(rig, EVENTS ".parquet", "id < 200 AND _cf_source_hash = '" HASH_A "'"), 200);
    assert_int_equal(
        count_where(rig, EVENTS ".parquet", "id >= 2000 AND _cf_source_hash = '" HASH_B "'"), 10);
}

/* So little memory that most batches wait on disk: the rows are the same, in the same order. */
static void rows_wait_on_disk(void **state)
{
    rig *rig = *state;
    casparian_sink *sink = open_sink_of(rig, ".", "42", false, 100000);
    casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
    casparian_sink_file *file = begin_file(rig, sink), *bad = begin_file(rig, sink);

    for (int64_t i = 0; i < 40; i++) {
        MUST(rig, append_events(rig, file, output, i * 5000, 5000));
        MUST(rig, append_events(rig, bad, output, -1, 5000));
    }
    casparian_sink_file_discard(bad);
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    commit_all(rig, sink);
    assert_int_equal(ask(rig, EVENTS ".parquet",
                         "SELECT count(*) FROM (SELECT *, row_number() OVER () - 1 AS n FROM "
                         "read_parquet(%s)) WHERE id = n AND note IS NOT DISTINCT FROM CASE WHEN "
                         "id % 3 = 0 THEN NULL ELSE 'note ' || id END"),
                     200000);
}

/* Of one file the rows need not wait, once its hash is known. */
static void a_single_file_is_written_at_once(void **state)
{
    rig *rig = *state;
    casparian_commit *commit = NULL;
    casparian_sink *sink = open_sink_of(rig, ".", "42", true, 1);
    casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
    casparian_sink_file *file = begin_file(rig, sink);

    MUST(rig, append_events(rig, file, output, 0, 10));
    MUST(rig, append_events(rig, file, output, 10, 10));
    MUST(rig, casparian_sink_file_identify(file, HASH_A, &rig->err));
    MUST(rig, append_events(rig, file, output, 20, 10));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    commit_all(rig, sink);
    assert_int_equal(count_where(rig, EVENTS ".parquet", "_cf_source_hash = '" HASH_A "'"), 30);

    sink = open_sink_of(rig, ".", "43", true, 0);
    output = add_table(rig, sink, &rig->events, 0);
    file = begin_file(rig, sink);
    MUST(rig, casparian_sink_file_identify(file, HASH_A, &rig->err));
    MUST(rig, append_events(rig, file, output, 0, 10));
    casparian_sink_file_discard(file);
    assert_int_equal(casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err),
                     MCP_E_STOPPED);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void an_output_without_rows_has_its_schema(void **state)
{
    rig *rig = *state;
    casparian_sink *sink = open_sink(rig, ".");

    add_table(rig, sink, &rig->events, 0);
    add_table(rig, sink, &rig->events, CASPARIAN_SINK_QUARANTINE);
    commit_all(rig, sink);
    assert_int_equal(count_where(rig, EVENTS ".parquet", "true"), 0);
    assert_int_equal(ask(rig, EVENTS ".parquet",
                         "SELECT count(*) FROM parquet_schema(%s) WHERE name IN "
                         "('id', 'note', '_cf_job_id')"),
                     3);
    assert_false(has_file(rig, "events_quarantine_73475cb40a568e8d.parquet"));
}

/* Columns that are missing or of no type are null; the seven of quarantine are in their order. */
static void quarantine_has_its_own_columns(void **state)
{
    static const char reason[] = "schema: null not allowed in 'id'";
    static const uint32_t offsets[] = { 0, sizeof reason - 1 };
    static const int64_t row = 17;
    const casparian_vector columns[] = {
        { .name = "id", .type = { .kind = CASPARIAN_KIND_NULL } },
        { .name = "_error_msg",
          .type = { .kind = CASPARIAN_KIND_STRING },
          .offsets = offsets,
          .bytes = reason },
        { .name = "_source_row", .type = { .kind = CASPARIAN_KIND_INT64 }, .values = &row },
    };
    const casparian_batch batch = { 1, 3, columns };
    rig *rig = *state;
    casparian_sink *sink = open_sink_of(rig, ".", "42", false, 1);
    casparian_sink_output *good = add_table(rig, sink, &rig->events, 0);
    casparian_sink_output *bad = add_table(rig, sink, &rig->events, CASPARIAN_SINK_QUARANTINE);
    casparian_sink_file *file = begin_file(rig, sink);

    assert_ptr_equal(casparian_sink_find(sink, "events", false), good);
    assert_ptr_equal(casparian_sink_find(sink, "events", true), bad);
    assert_null(casparian_sink_find(sink, "event", false));
    /* The second waits on disk. */
    MUST(rig, casparian_sink_append(file, bad, &batch, &rig->err));
    MUST(rig, casparian_sink_append(file, bad, &batch, &rig->err));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    commit_all(rig, sink);
    assert_int_equal(count_where(rig, "events_quarantine_73475cb40a568e8d.parquet",
                                 "id IS NULL AND note IS NULL AND _source_row = 17 AND "
                                 "_error_msg = 'schema: null not allowed in ''id''' AND "
                                 "_raw_row IS NULL AND _cf_job_id = '42'"),
                     2);
    assert_int_equal(ask(rig, "events_quarantine_73475cb40a568e8d.parquet",
                         "SELECT string_agg(name, ',') = 'schema,id,note,_error_msg,"
                         "_violation_type,_violations,_source_row,_output_row_index,_source_path,"
                         "_raw_row,_cf_source_hash,_cf_job_id,_cf_processed_at,"
                         "_cf_parser_version' FROM parquet_schema(%s)"),
                     1);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static size_t files_of(const rig *rig)
{
    size_t count = 0;
    DIR *dir = opendir(rig->folder.path);

    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        count += entry->d_type == DT_REG;
    closedir(dir);
    return count;
}

static void rows_that_do_not_fit_are_refused(void **state)
{
    static const int64_t ids[] = { 1, 2 };
    static const double number = 1;
    static const uint8_t first[] = { 1 };
    static const casparian_odd odd = { 0, { .kind = CASPARIAN_KIND_BOOLEAN } };
    static const struct {
        casparian_vector vector;
        const char *named;
    } rows[] = {
        { { .name = "id", .type = { .kind = CASPARIAN_KIND_FLOAT64 }, .values = &number },
          "'id' of 'events' is no int64" },
        { { .name = "id", .type = { .kind = CASPARIAN_KIND_INT64 }, .valid = first, .values = ids },
          "must not be null" },
        { { .name = "id", .type = { .kind = CASPARIAN_KIND_NULL } }, "must not be null" },
        { { .name = "no", .type = { .kind = CASPARIAN_KIND_INT64 }, .values = ids },
          "must not be null" },
        { { .name = "id",
            .type = { .kind = CASPARIAN_KIND_INT64 },
            .values = ids,
            .odds = &odd,
            .odd_count = 1 },
          "'id'" },
    };
    rig *rig = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        casparian_sink *sink = open_sink(rig, ".");
        casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
        casparian_sink_file *file = begin_file(rig, sink);
        casparian_commit *commit = NULL;
        const casparian_batch batch = { i == 0 ? 1 : 2, 1, &rows[i].vector };
        assert_int_equal(casparian_sink_append(file, output, &batch, &rig->err), MCP_E_PARAMS);
        assert_non_null(strstr(rig->err.message, rows[i].named));
        casparian_sink_file_discard(file);
        /* The job is over. */
        assert_int_equal(casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err),
                         MCP_E_PARAMS);
        assert_non_null(strstr(rig->err.message, rows[i].named));
        assert_int_equal(files_of(rig), 0);
    }
}

static void files_of_others_are_left_alone(void **state)
{
    rig *rig = *state;
    casparian_sink_output *output = NULL;

    scratch_write(&rig->folder, EVENTS ".parquet", "theirs", 6);
    casparian_sink *sink = open_sink(rig, ".");
    assert_int_equal(casparian_sink_add(&output, sink, 0, &rig->events, 0, &rig->err),
                     MCP_E_EXISTS);
    assert_non_null(strstr(rig->err.message, EVENTS ".parquet"));
    casparian_sink_abort(sink);
    assert_string_equal(text_of(rig, EVENTS ".parquet"), "theirs");
    assert_int_equal(files_of(rig), 1);
}

static void an_aborted_sink_leaves_nothing(void **state)
{
    rig *rig = *state;
    size_t before = scratch_open_descriptors();
    casparian_sink *sink = open_sink_of(rig, ".", "42", false, 1000);
    casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
    casparian_sink_file *file = begin_file(rig, sink);

    for (int64_t i = 0; i < 10; i++)
        MUST(rig, append_events(rig, file, output, i, 1000));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    file = begin_file(rig, sink);
    MUST(rig, append_events(rig, file, output, 1, 1000));
    MUST(rig, append_events(rig, file, output, 1, 1000));
    casparian_sink_abort(sink);
    assert_int_equal(files_of(rig), 0);
    assert_int_equal(scratch_open_descriptors(), before);
}

/* A limit of the size of files stands for a full disk. */
static void a_full_disk_ends_the_job(void **state)
{
    static const char *const kinds[] = { "parquet://.", "csv://.", "duckdb://x.db" };
    rig *rig = *state;
    struct rlimit before, small;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (size_t i = 0; i < 3; i++) {
        casparian_sink *sink = open_sink_of(rig, kinds[i], "42", false, 100000);
        casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
        casparian_sink_file *file = begin_file(rig, sink);
        casparian_commit *commit = NULL;
        MUST(rig, append_events(rig, file, output, 0, 50000));
        small = (struct rlimit){ 65536, before.rlim_max };
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        /* Written later, by the thread: at the latest the commit says so. */
        casparian_sink_file_commit(file, HASH_A, &rig->err);
        mcp_status st = casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(st, MCP_E_IO);
        assert_non_null(strstr(rig->err.message, "File too large"));
        assert_int_equal(files_of(rig), 0);
    }
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* 2000 columns, those of quarantine and of lineage; the batch has one of them. */
static void the_widest_schema_is_written(void **state)
{
    static const int64_t ids[] = { 7, 8 };
    const casparian_vector id = { .name = "c1234",
                                  .type = { .kind = CASPARIAN_KIND_INT64 },
                                  .values = ids };
    const casparian_batch batch = { 2, 1, &id };
    rig *rig = *state;
    mcp_buf text;

    mcp_buf_init(&text, 1 << 20);
    mcp_buf_puts(&text, "{\"output_name\":\"events\",\"columns\":[");
    for (int i = 0; i < CASPARIAN_COLUMNS_MAX; i++)
        mcp_buf_printf(&text, "%s{\"name\":\"c%d\",\"type\":\"int64\"}", i ? "," : "", i);
    mcp_buf_puts(&text, "]}");
    casparian_definition definition = definition_of(rig, text.data);
    mcp_buf_clear(&text);
    casparian_sink *sink = open_sink(rig, ".");
    casparian_sink_output *output = add_table(rig, sink, &definition, CASPARIAN_SINK_QUARANTINE);
    casparian_sink_file *file = begin_file(rig, sink);
    MUST(rig, casparian_sink_append(file, output, &batch, &rig->err));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    commit_all(rig, sink);
    assert_int_equal(count_where(rig, "events_quarantine_73475cb40a568e8d.parquet",
                                 "c1234 IN (7, 8) AND c0 IS NULL AND c1999 IS NULL"),
                     2);
}

static void a_job_has_200_outputs_at_most(void **state)
{
    rig *rig = *state;
    casparian_sink *sink = open_sink(rig, "csv://.");
    casparian_sink_output *output = NULL;

    for (int i = 0; i <= CASPARIAN_SINK_OUTPUTS_MAX; i++) {
        casparian_definition definition = rig->events;
        casparian_definition *kept = mcp_arena_alloc(rig->arena, sizeof *kept);
        definition.output = mcp_arena_printf(rig->arena, "events_%d", i);
        *kept = definition;
        assert_int_equal(casparian_sink_add(&output, sink, 0, kept, 0, &rig->err),
                         i < CASPARIAN_SINK_OUTPUTS_MAX ? MCP_OK : MCP_E_LIMIT);
    }
    assert_non_null(strstr(rig->err.message, "200"));
    casparian_sink_abort(sink);
    assert_int_equal(files_of(rig), 0);
}

static mcp_status add_place(size_t *out, rig *rig, casparian_sink *sink, const char *text)
{
    casparian_sink_uri uri;

    MUST(rig, casparian_sink_uri_read(&uri, rig->arena, text, rig->folder.path, &rig->err));
    return casparian_sink_add_place(out, sink, &uri, rig->folder.fd, &rig->err);
}

static void a_job_has_16_places_at_most(void **state)
{
    rig *rig = *state;
    casparian_sink *sink = open_sink(rig, "csv://.");
    size_t place = 99;

    MUST(rig, add_place(&place, rig, sink, "csv://."));
    assert_int_equal(place, 0); /* it has that one */
    for (size_t i = 1; i <= CASPARIAN_SINK_PLACES_MAX; i++) {
        const char *text = mcp_arena_printf(rig->arena, "duckdb://x.db?table=t%zu", i);
        assert_int_equal(add_place(&place, rig, sink, text),
                         i < CASPARIAN_SINK_PLACES_MAX ? MCP_OK : MCP_E_LIMIT);
        if (i < CASPARIAN_SINK_PLACES_MAX)
            assert_int_equal(place, i);
    }
    assert_non_null(strstr(rig->err.message, "16"));
    casparian_sink_abort(sink);
}

static void two_databases_are_refused(void **state)
{
    rig *rig = *state;
    casparian_sink *sink = open_sink(rig, "duckdb://x.db");
    size_t place = 0;

    MUST(rig, add_place(&place, rig, sink, "duckdb://x.db?table=mine"));
    MUST(rig, add_place(&place, rig, sink, "csv://."));
    assert_int_equal(add_place(&place, rig, sink, "duckdb://y.db"), MCP_E_PARAMS);
    assert_non_null(strstr(rig->err.message, "/x.db"));
    assert_non_null(strstr(rig->err.message, "/y.db"));
    casparian_sink_abort(sink);
}

static void rows_on_disk_are_bounded(void **state)
{
    static const int64_t ids[] = { 7, 8 };
    const casparian_vector id = { .name = "id",
                                  .type = { .kind = CASPARIAN_KIND_INT64 },
                                  .values = ids };
    const casparian_batch batch = { 2, 1, &id };
    rig *rig = *state;
    write_spool spool;
    write_rows *rows = NULL;

    /* A frame: 8 bytes, then CFB1: 16, a descriptor of 12 and 2 (32 with its padding), and 16. */
    write_spool_init(&spool, 3 * 56);
    for (size_t i = 0; i < 3; i++)
        MUST(rig, write_spool_add(&spool, rig->folder.fd, i, &batch, &rig->err));
    assert_int_equal(spool.length, 3 * 56);
    assert_int_equal(write_spool_add(&spool, rig->folder.fd, 3, &batch, &rig->err), MCP_E_LIMIT);
    for (size_t i = 0; i < 3; i++) {
        MUST(rig, write_spool_next(&spool, &rows, &rig->err));
        assert_int_equal(rows->table, i);
        assert_int_equal(((const int64_t *)rows->batch.columns[0].values)[1], 8);
        write_rows_free(rows);
    }
    MUST(rig, write_spool_next(&spool, &rows, &rig->err));
    assert_null(rows);
    assert_int_equal(files_of(rig), 0);
    write_spool_clear(&spool);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
    const struct CMUnitTest tests[] = {
        CASE(every_type_comes_back),
        CASE(lineage_and_metadata_are_there),
        CASE(only_files_that_succeed_have_rows),
        CASE(rows_wait_on_disk),
        CASE(a_single_file_is_written_at_once),
        CASE(an_output_without_rows_has_its_schema),
        CASE(quarantine_has_its_own_columns),
        CASE(rows_that_do_not_fit_are_refused),
        CASE(files_of_others_are_left_alone),
        CASE(an_aborted_sink_leaves_nothing),
        CASE(a_full_disk_ends_the_job),
        CASE(the_widest_schema_is_written),
        CASE(a_job_has_200_outputs_at_most),
        CASE(a_job_has_16_places_at_most),
        CASE(two_databases_are_refused),
        CASE(rows_on_disk_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
