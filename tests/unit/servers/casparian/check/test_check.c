/*
 * test_check.c - the validation of an output: modes with missing and extra columns, quarantined
 * rows with their reasons, the figures of files that were kept and of files that failed, and the
 * contexts of violations. Expected values are those of the data page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "check/text.h"
#include "rows.h"

static mcp_arena *arena;
static casparian_redaction_settings settings;
static casparian_redaction redaction;
static casparian_definition definition;

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    settings = casparian_redaction_defaults;
    settings.mode = CASPARIAN_REDACTION_NONE;
    casparian_redaction_read(&redaction, &settings, NULL, NULL);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

/* Tests write JSON with ' for ". */
static const mcp_json *json_of(const char *text)
{
    const mcp_json *json = NULL;
    mcp_error err = MCP_ERROR_INIT;
    char *copy = mcp_arena_strdup(arena, text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    if (mcp_json_read(&json, arena, copy, strlen(copy), &err) != MCP_OK)
        fail_msg("%s: %s", copy, err.message);
    return json;
}

static casparian_check *check_of(const char *schema)
{
    casparian_check *check = NULL;
    mcp_error err = MCP_ERROR_INIT;
    if (casparian_definition_read(&definition, arena, json_of(schema), NULL, NULL, &err) != MCP_OK)
        fail_msg("%s: %s", schema, err.message);
    const casparian_check_options options = { .output = definition.output,
                                              .definition = &definition,
                                              .redaction = &redaction };
    assert_int_equal(casparian_check_new(&check, &options, &err), MCP_OK);
    return check;
}

static casparian_checked rows_in(casparian_check *check, const char *rows)
{
    casparian_checked checked;
    casparian_batch batch = batch_of(json_of(rows), arena);
    mcp_error err = MCP_ERROR_INIT;
    if (casparian_check_batch(check, &checked, &batch, arena, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return checked;
}

/* Check the rows of one file. */
static casparian_checked file_of(casparian_check *check, const char *path, const char *rows)
{
    mcp_error err = MCP_ERROR_INIT;
    assert_int_equal(casparian_check_begin(check, path, &err), MCP_OK);
    casparian_checked checked = rows_in(check, rows);
    casparian_check_end(check, true);
    return checked;
}

/* The rows of a batch as JSON, one object after the other. */
static const char *text_of(const casparian_batch *batch)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&json, &text);
    mcp_write_array(&json);
    for (size_t row = 0; row < batch->rows; row++) {
        mcp_write_object(&json);
        for (size_t i = 0; i < batch->count; i++) {
            casparian_cell cell = casparian_vector_cell(&batch->columns[i], row);
            mcp_write_name(&json, batch->columns[i].name);
            casparian_text_json(&json, &cell, NULL);
        }
        mcp_write_end(&json);
    }
    mcp_write_end(&json);
    assert_int_equal(mcp_json_writer_status(&json), MCP_OK);
    char *copy = mcp_arena_strndup(arena, text.data, text.length);
    mcp_buf_clear(&text);
    return copy;
}

static void assert_rows(const casparian_batch *batch, const char *expected)
{
    const mcp_json *seen = NULL;
    const char *text = text_of(batch);
    assert_int_equal(mcp_json_read(&seen, arena, text, strlen(text), NULL), MCP_OK);
    if (!mcp_json_equal(seen, json_of(expected)))
        fail_msg("rows are %s, and not %s", text, expected);
}

static const mcp_json *result_of(const casparian_check *check)
{
    const mcp_json *json = NULL;
    mcp_json_writer out;
    mcp_buf text;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&out, &text);
    mcp_write_object(&out);
    casparian_check_write(check, &out);
    mcp_write_end(&out);
    assert_int_equal(mcp_json_writer_status(&out), MCP_OK);
    if (mcp_json_read(&json, arena, text.data, text.length, &err) != MCP_OK)
        fail_msg("%s", err.message);
    mcp_buf_clear(&text);
    return json;
}

static void assert_json(const mcp_json *json, const char *pointer, const char *expected)
{
    const mcp_json *found = mcp_json_pointer(json, pointer);
    mcp_json_writer out;
    mcp_buf text;
    if (mcp_json_equal(found, json_of(expected)))
        return;
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&out, &text);
    mcp_write_value(&out, found);
    fail_msg("%s is %s, and not %s", pointer, found ? text.data : "absent", expected);
}

#define TWO "'columns':[{'name':'a','type':'int64','nullable':false},{'name':'b','type':'string'}]"

/* Rows with a and b, without b, with c, with c and without b, with b and c and without a. */
static const char shapes[] = "[{'a':1,'b':'x'},{'a':2},{'a':3,'b':'x','c':1},{'a':4,'c':1},"
                             "{'b':'x','c':1}]";

static void rows_without_and_with_other_columns(void **state)
{
    static const struct {
        const char *mode, *valid, *reasons;
    } modes[] = {
        { "strict", "[{'a':1,'b':'x'}]",
          "[[{'column':'b','type':'column_count_mismatch'}],"
          "[{'column':'c','type':'column_count_mismatch'}],"
          "[{'column':'b','type':'column_name_mismatch'},"
          "{'column':'c','type':'column_name_mismatch'}],"
          "[{'column':'a','type':'column_name_mismatch'},"
          "{'column':'c','type':'column_name_mismatch'}]]" },
        { "allow_extra", "[{'a':1,'b':'x'},{'a':3,'b':'x'}]",
          "[[{'column':'b','type':'column_count_mismatch'}],"
          "[{'column':'b','type':'column_name_mismatch'}],"
          "[{'column':'a','type':'column_name_mismatch'}]]" },
        { "allow_missing_optional", "[{'a':1,'b':'x'},{'a':2,'b':null}]",
          "[[{'column':'c','type':'column_count_mismatch'}],"
          "[{'column':'c','type':'column_name_mismatch'}],"
          "[{'column':'a','type':'column_name_mismatch'},"
          "{'column':'c','type':'column_name_mismatch'}]]" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char schema[256];
        snprintf(schema, sizeof schema, "{'output_name':'o','mode':'%s'," TWO "}", modes[i].mode);
        casparian_check *check = check_of(schema);
        casparian_checked checked = file_of(check, "f", shapes);
        const mcp_json *reasons = json_of(modes[i].reasons);
        assert_rows(&checked.valid, modes[i].valid);
        assert_int_equal(checked.invalid.rows, mcp_json_count(reasons));
        const casparian_vector *column = casparian_batch_find(&checked.invalid, "_violations");
        for (size_t row = 0; row < checked.invalid.rows; row++) {
            casparian_cell cell = casparian_vector_cell(column, row);
            const mcp_json *seen = NULL;
            assert_int_equal(mcp_json_read(&seen, arena, cell.text.bytes, cell.text.length, NULL),
                             MCP_OK);
            if (!mcp_json_equal(seen, mcp_json_item(reasons, row)))
                fail_msg("%s, row %zu: %.*s", modes[i].mode, row, (int)cell.text.length,
                         cell.text.bytes);
        }
        casparian_check_free(check);
    }
}

static void columns_that_are_dropped_are_counted_and_named(void **state)
{
    (void)state;
    casparian_check *check = check_of("{'output_name':'o','mode':'allow_extra'," TWO "}");
    file_of(check, "f", "[{'a':1,'b':'x','c':1,'d':2},{'a':2,'b':'y','d':3}]");
    const mcp_json *result = result_of(check);
    assert_json(result, "/extra_columns_dropped", "3");
    assert_json(result, "/extra_columns", "['c','d']");
    assert_json(result, "/violations", "[]");
    assert_json(result, "/rows_valid", "2");
    casparian_check_free(check);
}

static void quarantined_rows_say_why_and_from_where(void **state)
{
    (void)state;
    casparian_check *check = check_of(
        "{'output_name':'o','columns':[{'name':'n','type':'int64','nullable':false},"
        "{'name':'d','type':'date','format':'%d/%m/%Y'},"
        "{'name':'p','type':'decimal(5,2)'}]}");
    mcp_error err = MCP_ERROR_INIT;
    assert_int_equal(casparian_check_begin(check, "in/a.csv", &err), MCP_OK);
    rows_in(check, "[{'n':1,'d':'31/01/2024','p':'1.5'}]");
    casparian_checked checked = rows_in(
        check, "[{'n':null,'d':'2024-01-31','p':'1.234','__cf_row_id':7},"
               "{'n':2,'d':'31/01/2024','p':'2','_cf_row_error':'line is short'},"
               "{'n':'x','d':null,'p':'0.5','_cf_row_error':''}]");
    casparian_check_end(check, true);
    assert_rows(
        &checked.invalid,
        "[{'n':null,'d':null,'p':null,'_error_msg':'schema: null not allowed in \\u0027n\\u0027; schema: "
        "value does not match format \\u0027%d/%m/%Y\\u0027 for \\u0027d\\u0027; schema: value does not match "
        "decimal(5, 2) for \\u0027p\\u0027','_violation_type':'null_not_allowed',"
        "'_violations':'[{\\'column\\':\\'n\\',\\'type\\':\\'null_not_allowed\\'},"
        "{\\'column\\':\\'d\\',\\'type\\':\\'format_mismatch\\'},"
        "{\\'column\\':\\'p\\',\\'type\\':\\'type_mismatch\\'}]',"
        "'_source_row':7,'_output_row_index':null,'_source_path':'in/a.csv',"
        "'_raw_row':'{\\'n\\':null,\\'d\\':\\'2024-01-31\\',\\'p\\':\\'1.234\\',"
        "\\'__cf_row_id\\':7}'},"
        "{'n':2,'d':'2024-01-31','p':'2.00','_error_msg':'line is short','_violation_type':'parser',"
        "'_violations':'[]','_source_row':null,'_output_row_index':2,'_source_path':'in/a.csv',"
        "'_raw_row':'{\\'n\\':2,\\'d\\':\\'31/01/2024\\',\\'p\\':\\'2\\',"
        "\\'_cf_row_error\\':\\'line is short\\'}'},"
        "{'n':null,'d':null,'p':'0.50','_error_msg':'schema: value does not match type int64 for "
        "\\u0027n\\u0027','_violation_type':'type_mismatch','_violations':'[{\\'column\\':\\'n\\',\\'type"
        "\\':\\'type_mismatch\\'}]','_source_row':null,'_output_row_index':3,"
        "'_source_path':'in/a.csv','_raw_row':'{\\'n\\':\\'x\\',\\'d\\':null,\\'p\\':\\'0.5\\',"
        "\\'_cf_row_error\\':\\'\\'}'}]");
    casparian_check_free(check);
}

static void a_file_that_failed_was_never_seen(void **state)
{
    (void)state;
    casparian_check *check = check_of("{'output_name':'o'," TWO "}");
    casparian_check_counts counts;
    casparian_violation_count top[2];
    mcp_error err = MCP_ERROR_INIT;
    file_of(check, "first", "[{'a':1,'b':'x'},{'a':'q','b':'x'}]");
    assert_int_equal(casparian_check_begin(check, "second", &err), MCP_OK);
    rows_in(check, "[{'a':'w','b':'x'},{'a':'q','b':'x'},{'a':null,'b':'y'}]");
    casparian_check_count(check, &counts);
    assert_int_equal(counts.rows_emitted, 5);
    assert_int_equal(counts.rows_quarantined, 4);
    assert_int_equal(casparian_check_top(check, top, 2), 2);
    assert_int_equal(top[0].count, 3);
    assert_int_equal(top[0].violation, CASPARIAN_VIOLATION_TYPE_MISMATCH);
    casparian_check_end(check, false);
    file_of(check, "third", "[{'a':'w','b':'x'},{'a':'q','b':'x'}]");
    const mcp_json *result = result_of(check);
    assert_json(result, "/rows_emitted", "4");
    assert_json(result, "/rows_valid", "1");
    assert_json(result, "/pass_rate", "0.25");
    assert_json(result, "/quarantine_pct", "75");
    assert_json(result, "/violations/0/count", "3");
    assert_json(result, "/violations/0/pct_of_rows", "75");
    assert_json(result, "/violations/0/samples", "['q','w']");
    assert_json(result, "/violations/0/value_distribution", "{'q':2,'w':1}");
    assert_json(result, "/violations/0/first_seen", "{'file':'first','row':1}");
    assert_null(mcp_json_pointer(result, "/violations/1"));
    casparian_check_free(check);
}

static void a_context_shows_values_as_the_policy_allows(void **state)
{
    (void)state;
    settings.mode = CASPARIAN_REDACTION_HASH;
    casparian_redaction_read(&redaction, &settings, NULL, NULL);
    casparian_check *check = check_of("{'output_name':'o'," TWO "}");
    file_of(check, "f",
            "[{'a':'sensitive-data-12345','b':null},{'a':'N/A','b':''},{'a':123.5,'b':null}]");
    const mcp_json *result = result_of(check);
    assert_json(result, "/violations/0/samples", "['[hash:75740b32]','[hash:e2f79e5b]','123.5']");
    /* Keys are strings, so numbers are hashed there. */
    assert_json(result, "/violations/0/value_distribution",
                "{'[hash:75740b32]':1,'[hash:e2f79e5b]':1,'[hash:99de02da]':1}");
    assert_json(result, "/violations/0/sample_patterns", "['a{9}-aaaa-9{5}','A/A','999.9']");
    assert_json(result, "/violations/0/sentinels", "['N/A']");
    casparian_check_free(check);
}

static void contexts_are_in_the_order_of_count_column_and_type(void **state)
{
    (void)state;
    casparian_check *check = check_of(
        "{'output_name':'o','columns':[{'name':'a','type':'int64','nullable':false},"
        "{'name':'b','type':'date','nullable':false},{'name':'c','type':'int64'}]}");
    file_of(check, "f",
            "[{'a':'x','b':'y','c':'z'},{'a':null,'b':1,'c':'z'},{'a':1,'b':'2024-01-01','c':1}]");
    const mcp_json *result = result_of(check);
    static const char *const order[][2] = {
        { "'c'", "'type_mismatch'" },    { "'a'", "'type_mismatch'" },
        { "'a'", "'null_not_allowed'" }, { "'b'", "'type_mismatch'" },
        { "'b'", "'format_mismatch'" },
    };
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        char place[64];
        snprintf(place, sizeof place, "/violations/%zu/column", i);
        assert_json(result, place, order[i][0]);
        snprintf(place, sizeof place, "/violations/%zu/violation_type", i);
        assert_json(result, place, order[i][1]);
    }
    assert_json(result, "/violations/2/samples", "[]");
    assert_null(mcp_json_pointer(result, "/violations/5"));
    casparian_check_free(check);
}

static void a_context_is_at_most_8_kib(void **state)
{
    (void)state;
    casparian_check *check = check_of("{'output_name':'o'," TWO "}");
    mcp_buf rows;
    mcp_buf_init(&rows, 1 << 20);
    mcp_buf_putc(&rows, '[');
    for (int i = 0; i < 12; i++)
        mcp_buf_printf(&rows, "%s{'a':'%01000d','b':'x'}", i ? "," : "", i + 1000);
    mcp_buf_printf(&rows, ",{'a':'short','b':'x'}]");
    file_of(check, "f", rows.data);
    mcp_buf_clear(&rows);
    const mcp_json *context = mcp_json_pointer(result_of(check), "/violations/0");
    mcp_json_writer out;
    mcp_buf_init(&rows, 1 << 20);
    mcp_json_writer_init(&out, &rows);
    mcp_write_value(&out, context);
    assert_in_range(rows.length, 5000, 8 << 10);
    assert_int_equal(mcp_json_count(mcp_json_get(context, "samples")), 5);
    mcp_buf_clear(&rows);
    casparian_check_free(check);
}

static void columns_as_declared_are_not_copied(void **state)
{
    (void)state;
    casparian_check *check = check_of("{'output_name':'o'," TWO "}");
    mcp_error err = MCP_ERROR_INIT;
    casparian_batch batch = batch_of(json_of("[{'b':'x','a':1},{'b':null,'a':2}]"), arena);
    casparian_checked checked;
    assert_int_equal(casparian_check_begin(check, "f", &err), MCP_OK);
    assert_int_equal(casparian_check_batch(check, &checked, &batch, arena, &err), MCP_OK);
    assert_ptr_equal(checked.valid.columns[0].values, casparian_batch_find(&batch, "a")->values);
    assert_ptr_equal(checked.valid.columns[1].bytes, casparian_batch_find(&batch, "b")->bytes);
    assert_rows(&checked.valid, "[{'a':1,'b':'x'},{'a':2,'b':null}]");
    assert_int_equal(checked.invalid.rows, 0);
    assert_int_equal(checked.invalid.count, 9);
    casparian_check_free(check);
}

static void parser_errors_are_apart(void **state)
{
    (void)state;
    settings.mode = CASPARIAN_REDACTION_HASH;
    casparian_redaction_read(&redaction, &settings, NULL, NULL);
    casparian_check *check = check_of("{'output_name':'o'," TWO "}");
    file_of(check, "f",
            "[{'a':1,'b':'x','_cf_row_error':'bad field \\u002742\\u0027'},{'a':2,'b':'y'}]");
    const mcp_json *result = result_of(check);
    assert_json(result, "/parser_errors/count", "1");
    assert_json(result, "/violations", "[]");
    assert_json(result, "/rows_quarantined", "1");
    const char *sample = mcp_json_string(mcp_json_pointer(result, "/parser_errors/samples/0"),
                                         NULL);
    assert_non_null(sample);
    assert_string_equal(sample, "aaa a{5} '[hash:73475cb4]'"); /* no word of a plugin is known */
    casparian_check_free(check);
}

/* A batch of one column of texts, each of which is a number; `prefix` stands in front. */
static casparian_batch many_texts(size_t rows, const char *prefix)
{
    casparian_vector *column = mcp_arena_alloc(arena, sizeof *column);
    uint32_t *offsets = mcp_arena_array(arena, rows + 1, sizeof *offsets);
    char *bytes = mcp_arena_array(arena, rows, 16);
    for (size_t row = 0; row < rows; row++)
        offsets[row + 1] = offsets[row] +
                           (uint32_t)snprintf(bytes + offsets[row], 16, "%s%zu", prefix, row);
    *column = (casparian_vector){
        .name = "a", .type = { .kind = CASPARIAN_KIND_STRING }, .offsets = offsets, .bytes = bytes
    };
    return (casparian_batch){ rows, 1, column };
}

#define ONE "{'output_name':'o','columns':[{'name':'a','type':'int64'}]}"

static void values_beyond_4096_are_summed(void **state)
{
    (void)state;
    casparian_check *check = check_of(ONE);
    casparian_batch batch = many_texts(5000, "x");
    casparian_checked checked;
    mcp_error err = MCP_ERROR_INIT;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(casparian_check_begin(check, "f", &err), MCP_OK);
        assert_int_equal(casparian_check_batch(check, &checked, &batch, arena, &err), MCP_OK);
        casparian_check_end(check, true);
    }
    const mcp_json *result = result_of(check);
    assert_json(result, "/violations/0/count", "10000");
    assert_json(result, "/violations/0/value_distribution/(other)", "1808"); /* 2 x (5000 - 4096) */
    assert_json(result, "/violations/0/value_distribution/x0", "2");
    casparian_check_free(check);
}

static void only_the_first_rows_are_profiled(void **state)
{
    (void)state;
    casparian_check *check = check_of(ONE);
    casparian_batch numbers = many_texts(50000, ""), words = many_texts(1000, "x");
    casparian_checked checked;
    mcp_error err = MCP_ERROR_INIT;
    assert_int_equal(casparian_check_begin(check, "f", &err), MCP_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(casparian_check_batch(check, &checked, &numbers, arena, &err), MCP_OK);
    assert_int_equal(casparian_check_batch(check, &checked, &words, arena, &err), MCP_OK);
    casparian_check_end(check, true);
    const mcp_json *result = result_of(check);
    assert_json(result, "/profiled_rows", "100000");
    assert_json(result, "/rows_quarantined", "1000");
    assert_null(mcp_json_pointer(result, "/violations/0/suggested_fix")); /* no word was profiled */
    casparian_check_free(check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_without_and_with_other_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_that_are_dropped_are_counted_and_named, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(quarantined_rows_say_why_and_from_where, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_failed_was_never_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_context_shows_values_as_the_policy_allows, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(contexts_are_in_the_order_of_count_column_and_type, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_context_is_at_most_8_kib, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_as_declared_are_not_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parser_errors_are_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_beyond_4096_are_summed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_the_first_rows_are_profiled, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
