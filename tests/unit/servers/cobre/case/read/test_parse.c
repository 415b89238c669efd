/*
 * test_parse.c - from texts to a case without a file system: memory that runs out, arenas too
 * small, texts too deep.
 */
#include "../base_case.h"

#include "case/build/assemble.h"
#include "case/read/parse.h"
#include "oom.h"
#include "validate/layers.h"

static const int32_t hydros[] = { 1, 1, 1, 2, 2, 2 }, stages[] = { 0, 1, 2, 0, 1, 2 };
static const double values[] = { 1, 2, 3, 4, 5, 6 };
static const columns_column inflow_columns[] = {
    { "hydro_id", COLUMNS_I32, hydros, NULL },
    { "stage_id", COLUMNS_I32, stages, NULL },
    { "mean_m3s", COLUMNS_F64, values, NULL },
    { "std_m3s", COLUMNS_F64, values, NULL },
};
static const columns_table inflow = { 6, 4, inflow_columns };

static const char load_factors[] = "{\"load_factors\":[{\"bus_id\":0,\"stage_id\":0,"
                                   "\"block_factors\":[{\"block_id\":0,\"factor\":2}]}]}";

static cobre_file_id file_of(const char *path)
{
    for (size_t i = 0; i < COBRE_FILE_COUNT; i++) {
        if (strcmp(cobre_files_known[i].path, path) == 0)
            return (cobre_file_id)i;
    }
    fail_msg("%s is no path of the format", path);
    return COBRE_FILE_COUNT;
}

static mcp_status parse_all(cobre_input *input, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < BASE_FILE_COUNT && st == MCP_OK; i++) {
        cobre_file_id id = file_of(base_files[i].path);
        if (cobre_files_known[id].table)
            continue;
        char *text = base_quoted(base_files[i].text);
        st = cobre_parse_json(input, id, text, strlen(text), err);
        free(text);
    }
    if (st == MCP_OK)
        st = cobre_parse_table(input, COBRE_FILE_INFLOW_STATS, &inflow, err);
    if (st == MCP_OK)
        st = cobre_parse_json(input, COBRE_FILE_LOAD_FACTORS, load_factors, sizeof load_factors - 1,
                              err);
    return st;
}

static mcp_status build(mcp_arena *arena, mcp_error *err)
{
    cobre_input *input = mcp_arena_alloc(arena, sizeof *input);
    cobre_report *report = cobre_report_new(arena);
    cobre_case *built = NULL;

    if (!input || !report)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory");
    input->arena = arena;
    input->report = report;
    mcp_status st = parse_all(input, err);
    if (st == MCP_OK)
        cobre_check_layers(input);
    if (st == MCP_OK)
        st = cobre_report_status(report);
    if (st == MCP_OK)
        st = cobre_assemble(&built, input, "dir", err);
    if (st == MCP_OK)
        assert_int_equal(cobre_report_count(report, COBRE_SEVERITY_ERROR), 0);
    return st;
}

static mcp_status build_once(void *data)
{
    mcp_arena *arena = mcp_arena_new(*(const size_t *)data);
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = arena ? build(arena, &err) : MCP_E_NOMEM;

    mcp_arena_free(arena);
    return st;
}

static void memory_that_runs_out(void **state)
{
    size_t bound = 16 << 20;

    (void)state;
    oom_walk(build_once, &bound);
}

/* An arena's bound gives a status, never an incomplete case or an abort. */
static void arenas_of_any_bound(void **state)
{
    bool enough = false;

    (void)state;
    for (size_t bound = 1000; !enough; bound += 997) {
        mcp_status st = build_once(&bound);
        assert_true(st == MCP_OK || st == MCP_E_NOMEM || st == MCP_E_LIMIT);
        enough = st == MCP_OK;
        assert_true(bound < (1 << 20));
    }
}

static void texts_too_deep_are_parse_errors(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    cobre_report *report = cobre_report_new(arena);
    const mcp_json *root = NULL;
    char text[201];

    (void)state;
    memset(text, '[', 100);
    memset(text + 100, ']', 100);
    text[200] = '\0';
    assert_int_equal(cobre_parse_text(&root, "config.json", text, 200, report, arena, NULL),
                     MCP_OK);
    assert_null(root);
    assert_int_equal(cobre_report_finding(report, COBRE_SEVERITY_ERROR, 0)->kind,
                     COBRE_KIND_PARSE_ERROR);
    mcp_arena_free(arena);
}

static void parse_errors_name_the_line(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    cobre_report *report = cobre_report_new(arena);
    const mcp_json *root = NULL;
    static const char text[] = "{\n\n  \"a\": 1,\n  \"b\" 2\n}\n";

    (void)state;
    assert_int_equal(
        cobre_parse_text(&root, "config.json", text, sizeof text - 1, report, arena, NULL), MCP_OK);
    const cobre_finding *finding = cobre_report_finding(report, COBRE_SEVERITY_ERROR, 0);
    assert_non_null(finding);
    assert_string_equal(finding->members[0].name, "line");
    assert_int_equal(finding->members[0].number, 4);
    mcp_arena_free(arena);
}

static void repeated_keys_are_named_with_their_object(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        { "{\"a\":1,\"a\":2}", "config.json is not valid JSON: the key \"a\" occurs twice" },
        { "{\"x\":[{},{\"y\":{\"a\":1,\"a\":2}}]}",
          "config.json is not valid JSON: the key \"a\" occurs twice in x[1].y" },
        { "{\"x\":[[0],[{\"a\":1,\"a\":2}]]}",
          "config.json is not valid JSON: the key \"a\" occurs twice in x[1][0]" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        cobre_report *report = cobre_report_new(arena);
        const mcp_json *root = NULL;
        assert_int_equal(cobre_parse_text(&root, "config.json", rows[i].text, strlen(rows[i].text),
                                          report, arena, NULL),
                         MCP_OK);
        assert_null(root);
        assert_string_equal(cobre_report_finding(report, COBRE_SEVERITY_ERROR, 0)->message,
                            rows[i].message);
        mcp_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_runs_out),
        cmocka_unit_test(arenas_of_any_bound),
        cmocka_unit_test(texts_too_deep_are_parse_errors),
        cmocka_unit_test(parse_errors_name_the_line),
        cmocka_unit_test(repeated_keys_are_named_with_their_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
