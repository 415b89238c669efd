/*
 * test_constraints.c - rules about generic constraints, one broken at a time.
 */
#include "broken.h"

#define REFERENCE COBRE_KIND_MISSING_REFERENCE
#define RANGE COBRE_KIND_OUT_OF_RANGE
#define PHYSICAL COBRE_KIND_PHYSICAL_CONSTRAINT

#define CONSTRAINTS "constraints/generic_constraints.json"
#define BOUNDS "constraints/generic_constraint_bounds.parquet"

static const base_file good[] = {
    { CONSTRAINTS, "{'constraints':[{'id':4,'name':'C','expression':'hydro_turbined(1, 1) + "
                   "thermal_generation(5) + line_direct(0) + bus_deficit(1)','sense':'<=',"
                   "'slack':{'enabled':true,'penalty':10}}]}" },
    { BOUNDS, "constraint_id i32: 4 4; stage_id i32: 0 0; bound f64: 90 80; block_id i32: - 1" },
    { NULL, NULL },
};

static void terms_and_bounds(void **state)
{
    static const broken rows[] = {
        { CONSTRAINTS, "hydro_turbined(1, 1)", "hydro_turbined(9, 1)", REFERENCE, 3, 4,
          "expression", NULL, 0 },
        { CONSTRAINTS, "thermal_generation(5)", "thermal_generation(1)", REFERENCE, 3, 4,
          "expression", NULL, 0 },
        { CONSTRAINTS, "line_direct(0)", "line_direct(1)", REFERENCE, 3, 4, "expression", NULL, 0 },
        { CONSTRAINTS, "bus_deficit(1)", "bus_deficit(2)", REFERENCE, 3, 4, "expression", NULL, 0 },
        { CONSTRAINTS, "hydro_turbined(1, 1)", "hydro_turbined(1, 2)", RANGE, 5, 4, "expression",
          NULL, 0 },
        { BOUNDS, "block_id i32: - 1", "block_id i32: - 2", RANGE, 3, 4, "block_id", NULL, 0 },
        { BOUNDS, "block_id i32: - 1", "block_id i32: - -1", RANGE, 3, 4, "block_id", NULL, 0 },
        { BOUNDS, "constraint_id i32: 4 4", "constraint_id i32: 4 5", REFERENCE, 3, 5,
          "constraint_id", NULL, 0 },
        { BOUNDS, "block_id i32: - 1", "block_id i32: 1 1", COBRE_KIND_DUPLICATE_ID, 2, 4,
          "block_id", NULL, 0 },
        { CONSTRAINTS, "hydro_turbined(1, 1) + ", "5 + ", COBRE_KIND_SCHEMA_VIOLATION, 2, 4,
          "expression", NULL, 0 },
        { CONSTRAINTS, "'sense':'<='", "'sense':'<'", COBRE_KIND_INVALID_ENUM, 2, 4, "sense", NULL,
          0 },
        { CONSTRAINTS, "'penalty':10", "'penalty':0", RANGE, 2, 4, "slack.penalty", NULL, 0 },
        { CONSTRAINTS, ",'penalty':10", "", COBRE_KIND_SCHEMA_VIOLATION, 2, 4, "slack.penalty",
          NULL, 0 },
    };

    BROKEN_RUN_ON(*state, good, rows, COBRE_SEVERITY_ERROR);
}

static void terms_without_an_element_warn(void **state)
{
    static const broken rows[] = {
        { CONSTRAINTS, "bus_deficit(1)", "pumping_flow(1)", PHYSICAL, 3, 4, "expression", NULL, 0 },
        { CONSTRAINTS, "bus_deficit(1)", "contract_import(1)", PHYSICAL, 3, 4, "expression", NULL,
          0 },
        { CONSTRAINTS, "bus_deficit(1)", "non_controllable_generation(1)", PHYSICAL, 3, 4,
          "expression", NULL, 0 },
        { BOUNDS, "stage_id i32: 0 0", "stage_id i32: 0 7", REFERENCE, 3, 4, "stage_id", NULL, 0 },
    };

    BROKEN_RUN_ON(*state, good, rows, COBRE_SEVERITY_WARNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_and_bounds),
        cmocka_unit_test(terms_without_an_element_warn),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
