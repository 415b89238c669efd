/*
 * test_inspect.c - the inspection of whole and of half-built directories.
 */
#include "../base_case.h"

#include "case/read/inspect.h"

struct seen {
    mcp_arena *arena;
    cobre_report *report;
    cobre_inspection inspection;
    scratch folder;
};

static void open_base(struct seen *seen)
{
    *seen = (struct seen){ .arena = mcp_arena_new(0) };
    seen->report = cobre_report_new(seen->arena);
    scratch_open(&seen->folder);
    base_write_all(&seen->folder);
}

static void inspect(struct seen *seen)
{
    mcp_error err = MCP_ERROR_INIT;

    if (cobre_case_inspect(&seen->inspection, seen->folder.fd, seen->report, seen->arena, &err) !=
        MCP_OK)
        fail_msg("%s", err.message);
}

static void close_seen(struct seen *seen)
{
    scratch_close(&seen->folder);
    mcp_arena_free(seen->arena);
}

static void whole_case(void **state)
{
    struct seen seen;

    (void)state;
    open_base(&seen);
    inspect(&seen);
    const cobre_inspection *look = &seen.inspection;
    assert_true(look->hydros == 2 && look->thermals == 2 && look->buses == 2 && look->lines == 1);
    assert_int_equal(look->stages, 3);
    assert_string_equal(look->scenario_source, "par");
    assert_int_equal(look->file_count, 10);
    assert_string_equal(look->files_present[0], "config.json");
    assert_string_equal(look->files_present[3], "scenarios/inflow_seasonal_stats.parquet");
    assert_null(mcp_json_get(look->config, "exports")); /* no defaults filled in */
    assert_non_null(mcp_json_get(look->config, "training"));
    close_seen(&seen);
}

static void half_a_case(void **state)
{
    struct seen seen;

    (void)state;
    open_base(&seen);
    base_write(&seen.folder, "config.json",
               "{'training':{'scenario_source':{'inflow':{'scheme':'external'}}},'odd':1}");
    unlinkat(seen.folder.fd, "system/hydros.json", 0);
    unlinkat(seen.folder.fd, "stages.json", 0);
    base_write(&seen.folder, "system/lines.json", "{'lines':[{},{},{}]}");
    inspect(&seen);
    assert_true(seen.inspection.hydros == 0 && seen.inspection.stages == 0);
    assert_int_equal(seen.inspection.lines, 3); /* counted, not validated */
    assert_string_equal(seen.inspection.scenario_source, "external");
    assert_int_equal(seen.inspection.file_count, 8);
    close_seen(&seen);
}

static void negative_stage_ids_are_no_study_stages(void **state)
{
    struct seen seen;

    (void)state;
    open_base(&seen);
    base_write(&seen.folder, "stages.json", "{'stages':[{'id':-1},{'id':0},{},7]}");
    inspect(&seen);
    assert_int_equal(seen.inspection.stages, 1);
    close_seen(&seen);
}

static void expect(struct seen *seen, cobre_kind kind, const char *file)
{
    const cobre_finding *finding = cobre_report_finding(seen->report, COBRE_SEVERITY_ERROR, 0);

    assert_int_equal(cobre_report_count(seen->report, COBRE_SEVERITY_ERROR), 1);
    assert_int_equal(finding->kind, kind);
    assert_string_equal(finding->file, file);
    assert_null(seen->inspection.config);
}

static void without_a_configuration(void **state)
{
    struct seen seen;

    (void)state;
    open_base(&seen);
    unlinkat(seen.folder.fd, "config.json", 0);
    inspect(&seen);
    expect(&seen, COBRE_KIND_MISSING_FILE, "config.json");
    close_seen(&seen);
}

static void with_files_that_do_not_parse(void **state)
{
    static const char *const paths[] = { "config.json",        "stages.json",
                                         "system/buses.json",  "system/lines.json",
                                         "system/hydros.json", "system/thermals.json" };

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct seen seen;
        open_base(&seen);
        base_write(&seen.folder, paths[i], "{'a':1,}");
        inspect(&seen);
        expect(&seen, COBRE_KIND_PARSE_ERROR, paths[i]);
        close_seen(&seen);
    }
}

static void configuration_that_is_no_object(void **state)
{
    struct seen seen;

    (void)state;
    open_base(&seen);
    base_write(&seen.folder, "config.json", "[1]");
    inspect(&seen);
    expect(&seen, COBRE_KIND_PARSE_ERROR, "config.json");
    close_seen(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_case),
        cmocka_unit_test(half_a_case),
        cmocka_unit_test(negative_stage_ids_are_no_study_stages),
        cmocka_unit_test(without_a_configuration),
        cmocka_unit_test(with_files_that_do_not_parse),
        cmocka_unit_test(configuration_that_is_no_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
