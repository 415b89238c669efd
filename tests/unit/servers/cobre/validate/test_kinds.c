/*
 * test_kinds.c - each of the 14 kinds of validation errors, provoked from a broken copy of a good
 * case, has the context that the errors page, section 2.1, lists for it.
 */
#include "broken.h"

static const struct provoked {
    broken how;
    const char *keys;     /* of the context, after `file` */
    const char *internal; /* the original's kind, 2.3 */
} provoked[] = {
    { { STAGES, NULL, NULL, COBRE_KIND_MISSING_FILE, 1, NONE, NULL, NULL, 0 }, "", "FileNotFound" },
    { { BUSES, "]}]}", "]}]", COBRE_KIND_PARSE_ERROR, 2, NONE, NULL, NULL, 0 },
      "line detail",
      "ParseError" },
    { { THERMALS, "'cost_per_mwh':150,", "", COBRE_KIND_SCHEMA_VIOLATION, 2, 6, "cost_per_mwh",
        NULL, 0 },
      "entity_id field expected actual",
      "SchemaViolation" },
    { { THERMALS, "'cost_per_mwh':150,", "'cost_per_mwh':'150',", COBRE_KIND_TYPE_MISMATCH, 2, 6,
        "cost_per_mwh", NULL, 0 },
      "entity_id field expected_type actual_type",
      "SchemaViolation" },
    { { THERMALS, "'cost_per_mwh':150,", "'cost_per_mwh':-1,", COBRE_KIND_OUT_OF_RANGE, 2, 6,
        "cost_per_mwh", NULL, 0 },
      "entity_id field value min max",
      "SchemaViolation" },
    { { HYDROS, "'model':'constant_productivity'", "'model':'constant'", COBRE_KIND_INVALID_ENUM, 2,
        2, "generation.model", NULL, 0 },
      "entity_id field value allowed_values",
      "SchemaViolation" },
    { { THERMALS, "'id':6", "'id':5", COBRE_KIND_DUPLICATE_ID, 2, 5, "id", NULL, 0 },
      "entity_id registry",
      "SchemaViolation" },
    { { THERMALS, "'bus_id':1", "'bus_id':7", COBRE_KIND_MISSING_REFERENCE, 3, 6, "bus_id", NULL,
        0 },
      "entity_id field referenced_value referenced_registry",
      "InvalidReference" },
    { { LOAD, NULL,
        "bus_id i32: 1 1 1 0 0; stage_id i32: 0 1 2 0 1; mean_mw f64: 1 1 1 1 1;"
        "std_mw f64: 0 0 0 0 0",
        COBRE_KIND_COVERAGE_MISMATCH, 4, 0, "stage_id", NULL, 0 },
      "entity_id missing_dimension expected_coverage",
      "DimensionMismatch" },
    { { THERMALS, "'bus_id':1", "'bus_id':1,'entry_stage_id':2,'exit_stage_id':2",
        COBRE_KIND_STAGE_MISMATCH, 5, 6, "entry_stage_id", NULL, 0 },
      "entity_id stage_id detail",
      "InvalidValue" },
    { { CONFIG, "'stopping_mode':'any'", "'cut_selection':{'enabled':true}",
        COBRE_KIND_INCOMPATIBLE_SETTINGS, 5, NONE, "training.cut_selection.method", NULL, 0 },
      "settings detail",
      "BusinessRuleViolation" },
    { { HYDROS, "'downstream_id':null", "'downstream_id':2", COBRE_KIND_PHYSICAL_CONSTRAINT, 5, 2,
        "downstream_id", NULL, 0 },
      "entity_id rule detail",
      "CycleDetected" },
    { { THERMALS, "'min_mw':5", "'min_mw':31", COBRE_KIND_CAPACITY_VIOLATION, 5, 6,
        "generation.min_mw", NULL, 0 },
      "entity_id field_min value_min field_max value_max",
      "InvalidValue" },
    { { COSTS, "'storage_violation_below_cost':2000", "'storage_violation_below_cost':3000",
        COBRE_KIND_PENALTY_CONSISTENCY, 5, 1, "filling_target_violation_cost", NULL, 0 },
      "entity_id penalty_field value violated_rule",
      "ModelQuality" },
};

static void check_context(const loaded *result, const struct provoked *row, cobre_severity severity)
{
    const cobre_finding *finding = NULL;
    const mcp_json *record = NULL;
    mcp_json_writer writer;
    char keys[128], *rest = NULL;
    mcp_buf buf;

    for (size_t i = 0; !finding || !broken_is(&row->how, finding); i++) {
        finding = cobre_report_finding(result->report, severity, i);
        assert_non_null(finding);
    }
    mcp_buf_init(&buf, 1 << 16);
    mcp_json_writer_init(&writer, &buf);
    cobre_finding_write(finding, &writer);
    assert_int_equal(mcp_json_read(&record, result->arena, buf.data, buf.length, NULL), MCP_OK);
    assert_string_equal(mcp_json_get_string(record, "kind"), cobre_kind_name(row->how.kind));
    assert_true(strlen(mcp_json_get_string(record, "suggestion")) > 5);
    const mcp_json *context = mcp_json_get(record, "context");
    assert_string_equal(mcp_json_get_string(context, "internal_kind"), row->internal);
    snprintf(keys, sizeof keys, "file %s", row->keys);
    for (char *key = strtok_r(keys, " ", &rest); key; key = strtok_r(NULL, " ", &rest)) {
        if (!mcp_json_get(context, key))
            fail_msg("the context of %s has no %s: %s", cobre_kind_name(row->how.kind), key,
                     buf.data);
    }
    mcp_buf_clear(&buf);
}

static void each_kind_has_its_context(void **state)
{
    scratch folder;

    scratch_open(&folder);
    base_write_all(&folder);
    for (size_t i = 0; i < sizeof provoked / sizeof provoked[0]; i++) {
        bool is_warning = provoked[i].how.kind == COBRE_KIND_PENALTY_CONSISTENCY;
        cobre_severity severity = is_warning ? COBRE_SEVERITY_WARNING : COBRE_SEVERITY_ERROR;
        assert_int_equal(provoked[i].how.kind, i); /* all of them, in the order of the enum */
        broken_apply(&folder, &provoked[i].how);
        loaded result = base_load_at(*state, folder.fd, "kinds");
        assert_int_equal(result.status, MCP_OK);
        broken_check(&provoked[i].how, &result, severity);
        check_context(&result, &provoked[i], severity);
        loaded_free(&result);
        broken_restore(&folder, provoked[i].how.file);
    }
    assert_int_equal(sizeof provoked / sizeof provoked[0], 14);
    scratch_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_context),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
