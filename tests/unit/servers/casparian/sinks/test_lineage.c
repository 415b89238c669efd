/*
 * test_lineage.c - whether an output has the row whose origin is asked for, in every kind of sink.
 *
 * Two sources of one job: one has the rows of lines 5 to 7, the other that of line 5; and line 9 of
 * the first is in quarantine. So the output has 4 rows, and its line numbers are beyond that.
 */
#include "sink_rig.h"

#include "sinks/lineage.h"

static const casparian_manifest_input inputs[] = {
    { "/in/a.csv", 10, 1700000000, HASH_A, "ok", 4 },
    { "/in/b.csv", 10, 1700000000, HASH_B, "ok", 1 },
};

static void append_lines(rig *rig, casparian_sink_file *file, casparian_sink_output *output,
                         const char *column, int64_t first, size_t rows)
{
    int64_t lines[8];
    const casparian_vector columns[] = {
        { .name = column, .type = { .kind = CASPARIAN_KIND_INT64 }, .values = lines },
    };
    const casparian_batch batch = { rows, 1, columns };

    for (size_t i = 0; i < rows; i++)
        lines[i] = first + (int64_t)i;
    MUST(rig, casparian_sink_append(file, output, &batch, &rig->err));
}

static void write_lines(rig *rig, const char *uri, const char *column)
{
    casparian_manifest_facts facts = plain_facts;
    casparian_commit *commit = NULL;
    char text[200];

    snprintf(text, sizeof text,
             "{\"output_name\":\"lines\",\"columns\":[{\"name\":\"%s\",\"type\":\"int64\"}]}",
             column);
    casparian_definition *definition = mcp_arena_alloc(rig->arena, sizeof *definition);
    *definition = definition_of(rig, text);
    casparian_sink *sink = open_sink(rig, uri);
    casparian_sink_output *output = add_table(rig, sink, definition, 0);
    casparian_sink_output *bad = add_table(rig, sink, definition, CASPARIAN_SINK_QUARANTINE);
    casparian_sink_file *file = begin_file(rig, sink);
    append_lines(rig, file, output, column, 5, 3);
    append_lines(rig, file, bad, "_source_row", 9, 1);
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    file = begin_file(rig, sink);
    append_lines(rig, file, output, column, 5, 1);
    MUST(rig, casparian_sink_file_commit(file, HASH_B, &rig->err));
    facts.inputs = inputs;
    facts.input_count = 2;
    MUST(rig, casparian_commit_prepare(&commit, sink, &facts, &rig->err));
    MUST(rig, casparian_commit_apply(commit, &rig->err));
    casparian_commit_free(commit);
}

static casparian_lineage find(rig *rig, const char *output, const char *source, int64_t line)
{
    const casparian_lineage_row row = { output, "42", source, line };
    casparian_lineage found;

    MUST(rig, casparian_lineage_find(&found, rig->folder.fd, &row, rig->arena, &rig->err));
    return found;
}

static void expect(rig *rig, const char *output, const char *source, int64_t line,
                   casparian_row_check check)
{
    casparian_lineage found = find(rig, output, source, line);

    if (found.check != check)
        fail_msg("%s, %.1s, line %d: %d, %s", output, source, (int)line, (int)found.check,
                 found.unchecked ? found.unchecked : "checked");
}

static void rows_are_there_or_not(rig *rig, const char *uri)
{
    write_lines(rig, uri, "__cf_row_id");
    expect(rig, "lines", HASH_A, 5, CASPARIAN_ROW_FOUND);
    expect(rig, "lines", HASH_A, 7, CASPARIAN_ROW_FOUND);
    expect(rig, "lines", HASH_A, 3, CASPARIAN_ROW_ABSENT); /* fewer than 4, and no line */
    expect(rig, "lines", HASH_A, 8, CASPARIAN_ROW_ABSENT);
    expect(rig, "lines", HASH_B, 5, CASPARIAN_ROW_FOUND);
    expect(rig, "lines", HASH_B, 6, CASPARIAN_ROW_ABSENT);
    expect(rig, "lines", HASH_B, -1, CASPARIAN_ROW_FOUND);
    expect(rig, "lines_quarantine", HASH_A, 9, CASPARIAN_ROW_FOUND);
    expect(rig, "lines_quarantine", HASH_A, 5, CASPARIAN_ROW_ABSENT);
    expect(rig, "lines_quarantine", HASH_B, -1, CASPARIAN_ROW_ABSENT);
    casparian_lineage found = find(rig, "lines", HASH_A, 100);
    assert_int_equal(found.rows, 4);
    assert_int_equal(found.source_rows, 3);
    assert_true(found.has_row_ids);
}

static void of_parquet(void **state)
{
    rows_are_there_or_not(*state, ".");
}

static void of_csv(void **state)
{
    rows_are_there_or_not(*state, "csv://.");
}

static void of_csv_with_another_delimiter(void **state)
{
    rows_are_there_or_not(*state, "csv://.?delimiter=;");
}

static void of_a_database(void **state)
{
    rows_are_there_or_not(*state, "duckdb://x.db");
}

static void an_output_without_line_numbers(void **state)
{
    rig *rig = *state;

    write_lines(rig, ".", "number");
    expect(rig, "lines", HASH_A, -1, CASPARIAN_ROW_FOUND);
    expect(rig, "lines", HASH_A, 5, CASPARIAN_ROW_ABSENT);
    assert_false(find(rig, "lines", HASH_A, 5).has_row_ids);
}

/* The manifest still leads to the source. */
static void what_cannot_be_read_is_not_checked(void **state)
{
    rig *rig = *state;

    write_lines(rig, "csv://.?header=false", "__cf_row_id");
    casparian_lineage found = find(rig, "lines", HASH_A, 5);
    assert_int_equal(found.check, CASPARIAN_ROW_UNCHECKED);
    assert_non_null(strstr(found.unchecked, "has no header"));
    assert_string_equal(found.paths[0], "/in/a.csv");
    unlinkat(rig->folder.fd, found.file, 0);
    assert_int_equal(find(rig, "lines", HASH_A, 5).check, CASPARIAN_ROW_UNCHECKED);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_open, rig_close)
    const struct CMUnitTest tests[] = {
        CASE(of_parquet),
        CASE(of_csv),
        CASE(of_csv_with_another_delimiter),
        CASE(of_a_database),
        CASE(an_output_without_line_numbers),
        CASE(what_cannot_be_read_is_not_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
