/*
 * test_csv.c - the bytes of CSV files, and that DuckDB reads the values back.
 */
#include "sink_rig.h"

#define TYPES                                                                                      \
    "{\"output_name\":\"events\",\"columns\":["                                                    \
    "{\"name\":\"b\",\"type\":\"boolean\"},{\"name\":\"f\",\"type\":\"float64\"},"                 \
    "{\"name\":\"d\",\"type\":\"decimal(18,4)\"},{\"name\":\"s\",\"type\":\"string\"},"            \
    "{\"name\":\"x\",\"type\":\"binary\"},{\"name\":\"day\",\"type\":\"date\"},"                   \
    "{\"name\":\"at\",\"type\":{\"kind\":\"timestamp_tz\",\"timezone\":\"Europe/Berlin\"}},"       \
    "{\"name\":\"t\",\"type\":\"time\"},{\"name\":\"span\",\"type\":\"duration\"}]}"

#define LINEAGE "," HASH_A ",42," AT ",1.2.0\n"

static const uint8_t some[] = { 0x0F };
static const uint8_t bools[] = { 1, 0, 1, 0, 0 };
static const double floats[] = { 0.1, NAN, -INFINITY, 1e300, 0 };
static const int32_t days[] = { 0, -1, 19857, 2932896, 0 };
static const int64_t moments[] = { 0, 1, INT64_C(1719835200000000), -1, 0 };
static const int64_t times[] = { 0, 1, INT64_C(45296500000), INT64_C(86399999999), 0 };
static const int64_t spans[] = { 0, 1, INT64_C(-90000000), INT64_C(3600000000), 0 };

/* Texts: empty, with quote and delimiter, with a blank in front, with lines. */
static const char texts[] = "a\"b,c x\ny\xC3\xA9";
static const uint32_t offsets[] = { 0, 0, 5, 7, 11, 11 }, blobs[] = { 0, 0, 1, 3, 6, 6 };

#define VECTOR(name_, kind_, values_)                                                              \
    {                                                                                              \
        .name = name_, .type = { .kind = CASPARIAN_KIND_##kind_ }, .valid = some,                  \
        .values = values_                                                                          \
    }

static void write_types(rig *rig, const char *uri)
{
    static const casparian_int128 decimals[] = { 0, 125000, -1, INT64_C(999999999999999999), 0 };
    const casparian_vector columns[] = {
        VECTOR("b", BOOLEAN, bools),
        VECTOR("f", FLOAT64, floats),
        { .name = "d",
          .type = { CASPARIAN_KIND_DECIMAL, { 18, 4 }, NULL },
          .valid = some,
          .values = decimals },
        { .name = "s",
          .type = { .kind = CASPARIAN_KIND_STRING },
          .valid = some,
          .offsets = offsets,
          .bytes = texts },
        { .name = "x",
          .type = { .kind = CASPARIAN_KIND_BINARY },
          .valid = some,
          .offsets = blobs,
          .bytes = texts },
        VECTOR("day", DATE, days),
        VECTOR("at", TIMESTAMP_TZ, moments),
        VECTOR("t", TIME, times),
        VECTOR("span", DURATION, spans),
    };
    const casparian_batch batch = { 5, sizeof columns / sizeof columns[0], columns };
    casparian_definition definition = definition_of(rig, TYPES);
    casparian_sink *sink = open_sink(rig, uri);
    casparian_sink_output *output = add_table(rig, sink, &definition, 0);
    casparian_sink_file *file = begin_file(rig, sink);

    MUST(rig, casparian_sink_append(file, output, &batch, &rig->err));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    commit_all(rig, sink);
}

/* Texts as in casparian's data model, 1.3; quotes as in RFC 4180; NaN and infinities are null. */
static void values_have_their_texts(void **state)
{
    static const char expected[] =
        "b,f,d,s,x,day,at,t,span,_cf_source_hash,_cf_job_id,_cf_processed_at,_cf_parser_version\n"
        "true,0.1,0.0000,\"\",\"\",1970-01-01,1970-01-01T01:00:00+01:00,00:00:00,PT0S" LINEAGE
        "false,,12.5000,\"a\"\"b,c\",YQ==,1969-12-31,1970-01-01T01:00:00.000001+01:00,"
        "00:00:00.000001,PT0.000001S" LINEAGE
        "true,,-0.0001,\" x\",ImI=,2024-05-14,2024-07-01T14:00:00+02:00,12:34:56.500000,"
        "-PT90S" LINEAGE "false,1e+300,99999999999999.9999,\"\ny\xC3\xA9\",LGMg,9999-12-31,"
        "1970-01-01T00:59:59.999999+01:00,23:59:59.999999,PT3600S" LINEAGE ",,,,,,,," LINEAGE;
    rig *rig = *state;

    write_types(rig, "csv://.");
    assert_string_equal(text_of(rig, EVENTS ".csv"), expected);
}

static void duckdb_reads_it(void **state)
{
    rig *rig = *state;

    write_types(rig, "csv://.");
    assert_int_equal(ask(rig, EVENTS ".csv",
                         "SELECT count(*) FROM read_csv(%s, header = true, columns = {'b': "
                         "'BOOLEAN', 'f': 'DOUBLE', 'd': 'DECIMAL(18,4)', 's': 'VARCHAR', 'x': "
                         "'VARCHAR', 'day': 'DATE', 'at': 'TIMESTAMPTZ', 't': 'TIME', 'span': "
                         "'VARCHAR', 'h': 'VARCHAR', 'j': 'VARCHAR', 'p': 'VARCHAR', 'v': "
                         "'VARCHAR'}) WHERE (d = 12.5 AND s = 'a\"b,c' AND f IS NULL) OR (s = '\ny"
                         "\xC3\xA9' AND from_base64(x) = ',c '::BLOB AND f = 1e300) OR (b IS NULL "
                         "AND s IS NULL AND day IS NULL AND j = '42') OR (\"at\" = '2024-07-01 "
                         "12:00:00+00' AND t = '12:34:56.5' AND s = ' x')"),
                     4);
}

/* A delimiter that numbers and times have: they are quoted. No header. */
static void delimiters_are_free(void **state)
{
    rig *rig = *state;

    write_types(rig, "csv://.?delimiter=:&header=false");
    const char *text = text_of(rig, EVENTS ".csv");
    static const char first[] = "true:0.1:0.0000:\"\":\"\":1970-01-01:\"1970-01-01T01:00:00+01:00\""
                                ":\"00:00:00\":PT0S:" HASH_A ":42:\"" AT "\":1.2.0\n";
    assert_memory_equal(text, first, sizeof first - 1);
}

static void many_rows_are_many_lines(void **state)
{
    rig *rig = *state;

    write_job(rig, "csv://.", "42", 0, 50000);
    assert_int_equal(ask(rig, EVENTS ".csv",
                         "SELECT count(*) FROM read_csv(%s, nullstr = '') WHERE note IS NOT "
                         "DISTINCT FROM CASE WHEN id % 3 = 0 THEN NULL ELSE 'note ' || id END AND "
                         "_cf_source_hash = '" HASH_A "'"),
                     50000);
}

static void an_output_without_rows_has_its_header(void **state)
{
    rig *rig = *state;
    casparian_sink *sink = open_sink(rig, "csv://.");

    add_table(rig, sink, &rig->events, 0);
    commit_all(rig, sink);
    assert_string_equal(text_of(rig, EVENTS ".csv"),
                        "id,note,_cf_source_hash,_cf_job_id,_cf_processed_at,_cf_parser_version\n");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
    const struct CMUnitTest tests[] = {
        CASE(values_have_their_texts),
        CASE(duckdb_reads_it),
        CASE(delimiters_are_free),
        CASE(many_rows_are_many_lines),
        CASE(an_output_without_rows_has_its_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
