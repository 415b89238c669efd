/*
 * test_report.c - order, bounds and the written form of findings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "findings/report.h"

static int setup(void **state)
{
    *state = mcp_arena_new(0);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    mcp_arena_free(*state);
    return 0;
}

static cobre_finding at(int layer, const char *file, int64_t id, const char *message)
{
    return (cobre_finding){
        .severity = COBRE_SEVERITY_ERROR,
        .kind = COBRE_KIND_OUT_OF_RANGE,
        .layer = layer,
        .file = file,
        .noun = "hydro",
        .has_entity_id = id >= 0,
        .entity_id = id,
        .message = message,
        .suggestion = "Look.",
    };
}

static void add(cobre_report *report, int layer, const char *file, int64_t id, const char *message)
{
    cobre_finding finding = at(layer, file, id, message);

    cobre_report_add(report, &finding);
}

/* The output of `write`, parsed. */
static const mcp_json *written(mcp_arena *arena, const cobre_report *report)
{
    const mcp_json *value = NULL;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 8 << 20);
    mcp_json_writer_init(&writer, &buf);
    cobre_report_write(report, COBRE_SEVERITY_ERROR, &writer);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_int_equal(mcp_json_read(&value, arena, buf.data, buf.length, NULL), MCP_OK);
    mcp_buf_clear(&buf);
    return value;
}

static void lowest_layer_then_file_then_entity_come_first(void **state)
{
    cobre_report *report = cobre_report_new(*state);
    static const char *const order[] = { "b", "d", "e", "f", "c", "a", "g" };

    add(report, 5, "a.json", 1, "a");
    add(report, 1, "z.json", 1, "b");
    add(report, 3, "b.json", 0, "c");
    add(report, 3, "a.json", -1, "d");
    add(report, 3, "a.json", 2, "e");
    add(report, 3, "a.json", 10, "f");
    add(report, 5, "a.json", 1, "g");
    cobre_report_sort(report);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(cobre_report_finding(report, COBRE_SEVERITY_ERROR, i)->bare, order[i]);
    assert_null(cobre_report_finding(report, COBRE_SEVERITY_ERROR, 7));
    assert_null(cobre_report_finding(report, COBRE_SEVERITY_WARNING, 0));
}

static void record_has_kind_message_context_suggestion(void **state)
{
    static const char *const choices[] = { "a", "b", NULL };
    cobre_report *report = cobre_report_new(*state);
    cobre_finding finding = at(2, "system/hydros.json", 3, "it is wrong");

    finding.entity_name = "Upper";
    finding.field = "generation.model";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("value", "c"), COBRE_LIST("allowed_values", choices),
                                    COBRE_REAL("max", (double)1 / 0.0), COBRE_INT("stage_id", 4));
    cobre_report_add(report, &finding);
    const mcp_json *record = mcp_json_item(written(*state, report), 0);
    assert_string_equal(mcp_json_name(record, 0, NULL), "kind");
    assert_string_equal(mcp_json_get_string(record, "kind"), "OutOfRange");
    assert_string_equal(mcp_json_get_string(record, "message"),
                        "it is wrong (hydro 3 'Upper' in system/hydros.json)");
    assert_string_equal(mcp_json_get_string(record, "suggestion"), "Look.");
    const mcp_json *context = mcp_json_get(record, "context");
    assert_string_equal(mcp_json_get_string(context, "file"), "system/hydros.json");
    assert_string_equal(mcp_json_get_string(context, "entity_name"), "Upper");
    assert_string_equal(mcp_json_get_string(context, "field"), "generation.model");
    assert_string_equal(mcp_json_get_string(context, "internal_kind"), "SchemaViolation");
    assert_int_equal(mcp_json_count(mcp_json_get(context, "allowed_values")), 2);
    assert_true(mcp_json_is_null(mcp_json_get(context, "max"))); /* JSON has no infinity */
    assert_string_equal(
        cobre_finding_line(cobre_report_finding(report, COBRE_SEVERITY_ERROR, 0), *state),
        "[OutOfRange] system/hydros.json (hydro 3 'Upper'): it is wrong");
}

static void a_line_names_its_file_once(void **state)
{
    static const char *const lines[][2] = {
        { "a.json cannot be read", "[OutOfRange] a.json: cannot be read" },
        { "a.json: too long", "[OutOfRange] a.json: too long" },
        { "a.jsonl is not a.json", "[OutOfRange] a.json: a.jsonl is not a.json" },
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        cobre_report *report = cobre_report_new(*state);
        cobre_finding finding = at(2, "a.json", 3, lines[i][0]);
        finding.noun = NULL;
        cobre_report_add(report, &finding);
        const cobre_finding *kept = cobre_report_finding(report, COBRE_SEVERITY_ERROR, 0);
        assert_string_equal(cobre_finding_line(kept, *state), lines[i][1]);
    }
}

static void what_is_not_kept_is_counted(void **state)
{
    cobre_report *report = cobre_report_new(*state);
    mcp_json_writer writer;
    const mcp_json *summary = NULL;
    mcp_buf buf;

    for (int64_t i = 0; i < COBRE_FINDINGS_MAX + 37; i++)
        add(report, 3, "a.json", i, cobre_report_text(report, "number %lld", (long long)i));
    assert_int_equal(cobre_report_count(report, COBRE_SEVERITY_ERROR), COBRE_FINDINGS_MAX + 37);
    const mcp_json *list = written(*state, report);
    assert_int_equal(mcp_json_count(list), COBRE_FINDINGS_MAX + 1);
    const char *last = mcp_json_get_string(mcp_json_item(list, COBRE_FINDINGS_MAX), "message");
    assert_string_equal(last, "37 further errors are not listed");

    mcp_buf_init(&buf, 4096);
    mcp_json_writer_init(&writer, &buf);
    cobre_report_set_coverage(report, &(cobre_coverage){ 3, 24, 456 });
    cobre_report_write_summary(report, &writer);
    assert_int_equal(mcp_json_read(&summary, *state, buf.data, buf.length, NULL), MCP_OK);
    const mcp_json *expected = NULL;
    static const char text[] = "{\"files_checked\":24,\"entities_validated\":456,"
                               "\"layers_completed\":3,\"error_count\":1037,\"warning_count\":0}";
    assert_int_equal(mcp_json_read(&expected, *state, text, sizeof text - 1, NULL), MCP_OK);
    assert_true(mcp_json_equal(summary, expected));
    mcp_buf_clear(&buf);
}

/* Long texts are cut, and a cut within a character does not spoil the record. */
static void cut_texts_stay_utf8(void **state)
{
    cobre_report *report = cobre_report_new(*state);
    char name[2001];

    memset(name, 0, sizeof name);
    for (size_t i = 0; i + 3 < sizeof name; i += 3)
        memcpy(name + i, "\xE2\x82\xAC", 3);
    for (int precision = 600; precision < 660; precision++)
        add(report, 2, "\xFF.json", 1,
            cobre_report_text(report, "%.*s and the rest", precision, name));
    assert_int_equal(mcp_json_count(written(*state, report)), 60);
    assert_int_equal(cobre_report_status(report), MCP_OK);
}

static void memory_that_runs_out_is_remembered(void **state)
{
    mcp_arena *small = mcp_arena_new(8192);
    cobre_report *report = cobre_report_new(small);

    (void)state;
    assert_non_null(report);
    for (int64_t i = 0; i < 200; i++)
        add(report, 3, "a.json", i, "a message that takes its place in the arena");
    assert_int_equal(cobre_report_status(report), MCP_E_NOMEM);
    assert_int_equal(cobre_report_count(report, COBRE_SEVERITY_ERROR), 200);
    mcp_arena_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lowest_layer_then_file_then_entity_come_first, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(record_has_kind_message_context_suggestion, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_line_names_its_file_once, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_kept_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(cut_texts_stay_utf8, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_that_runs_out_is_remembered, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
