/*
 * test_refusals.c - the kind and the context of each refusal (errors page, sections 2 and 7).
 */
#include "served.h"

static int setup(void **state)
{
    return served_open(state, true);
}

static int setup_reading(void **state)
{
    return served_open(state, false);
}

static void the_keyword_at_fault_is_the_kind(void **state)
{
    struct served *served = *state;
    static const struct {
        const char *tool, *arguments, *kind, *context;
    } rows[] = {
        { "cobre/validate", "{}", "SchemaViolation", "{'field':'case_dir'}" },
        { "cobre/validate", "{'case_dir':'/x','more':[]}", "SchemaViolation", "{'field':'more'}" },
        { "cobre/validate", "{'case_dir':true}", "TypeMismatch",
          "{'field':'case_dir','expected_type':'string','actual_type':'boolean'}" },
        { "cobre/run", "{'case_dir':'/x','phases':'x'}", "InvalidEnum",
          "{'field':'phases','allowed_values':['training','simulation','both'],'value':'x'}" },
        { "cobre/inspect-policy", "{'policy_dir':'/x','stage':0}", "OutOfRange",
          "{'field':'stage','min':1,'value':0}" },
        { "cobre/query-results",
          "{'output_dir':'/x','entity_type':'costs','filters':{'limit':99999}}", "OutOfRange",
          "{'field':'filters.limit','max':10000,'value':99999}" },
        { "cobre/query-results",
          "{'output_dir':'/x','entity_type':'costs','filters':{'stage_range':[1]}}",
          "SchemaViolation", "{'field':'filters.stage_range','expected':2,'actual':[1]}" },
        { "cobre/query-results",
          "{'output_dir':'/x','entity_type':'costs','filters':{'columns':[0]}}", "TypeMismatch",
          "{'field':'filters.columns.0','expected_type':'string','actual_type':'integer'}" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_at(served_refusal(served, rows[i].tool, rows[i].arguments, rows[i].kind), "/context",
                  rows[i].context, served->arena);
}

/* A value of megabytes is cut, and the record stays valid. */
static void long_values_are_cut(void **state)
{
    struct served *served = *state;
    const size_t size = 3 << 20;
    char *text = mcp_arena_alloc(served->arena, size + 1);

    memset(text, 'x', size);
    char *arguments = mcp_arena_printf(served->arena, "{'case_dir':'/x','phases':'%s'}", text);
    const mcp_json *record = served_refusal(served, "cobre/run", arguments, "InvalidEnum");
    size_t length = 0;
    assert_non_null(mcp_json_string(mcp_json_pointer(record, "/context/value"), &length));
    assert_int_equal(length, 1024);
    arguments = mcp_arena_printf(served->arena, "{'case_dir':'/x','%s':1}", text);
    record = served_refusal(served, "cobre/run", arguments, "SchemaViolation");
    assert_non_null(mcp_json_string(mcp_json_pointer(record, "/context/field"), &length));
    assert_int_equal(length, 1024);
    arguments = mcp_arena_printf(served->arena, "{'case_dir':'/%s'}", text);
    record = served_refusal(served, "cobre/run", arguments, "MissingFile");
    assert_non_null(mcp_json_string(mcp_json_pointer(record, "/context/file"), &length));
    assert_int_equal(length, COBRE_RECORD_TEXT_MAX);
}

static void writing_is_refused_by_its_kind(void **state)
{
    struct served *served = *state;
    static const char *const calls[][2] = {
        { "cobre/run", "{'case_dir':'/x'}" },
        { "cobre/export-results", "{'output_dir':'/x','format':'csv','entity_type':'costs'}" },
    };

    for (size_t i = 0; i < 2; i++) {
        const mcp_json *record = served_refusal(served, calls[i][0], calls[i][1],
                                                "IncompatibleSettings");
        assert_string_equal(mcp_json_get_string(record, "message"), COBRE_WRITES_DISABLED);
        assert_at(record, "/context/settings", "'--allow-write'", served->arena);
        assert_at(record, "/context/file", "null", served->arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_keyword_at_fault_is_the_kind, setup, served_close),
        cmocka_unit_test_setup_teardown(long_values_are_cut, setup, served_close),
        cmocka_unit_test_setup_teardown(writing_is_refused_by_its_kind, setup_reading,
                                        served_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
