/*
 * test_dictionaries.c - codes, entities, variables, bounds and the state, in the forms of the
 * output page, section 4.
 */
#include "sample.h"

static size_t lines_of(const char *text)
{
    size_t lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void run_begins(struct world *world)
{
    results_free(begin(world, &sample_options));
}

static void codes_have_their_names(void **state)
{
    struct world *world = *state;

    run_begins(world);
    const mcp_json *json = read_json(world, "training/dictionaries/codes.json");
    expect_pointer_text(json, "/version", "1.0");
    expect_pointer_text(json, "/operative_state/2", "operating");
    expect_pointer_text(json, "/storage_binding/3", "both");
    expect_pointer_text(json, "/entity_type/7", "non_controllable");
    assert_null(mcp_json_pointer(json, "/entity_type/6"));
    expect_pointer_text(json, "/bound_type/9", "flow_max");
    assert_int_equal(mcp_json_count(json), 7);
}

static void entities_are_listed_by_kind(void **state)
{
    struct world *world = *state;

    run_begins(world);
    assert_string_equal(read_text(world, "training/dictionaries/entities.csv"),
                        "entity_type_code,entity_id,name,bus_id,system_id\n"
                        "0,1,upper,10,0\n"
                        "0,2,lower,10,0\n"
                        "1,3,coal,11,0\n"
                        "2,10,South,10,0\n"
                        "2,11,\"North, \"\"far\"\"\",11,0\n"
                        "3,5,tie,-1,0\n");
}

static void variables_are_those_of_all_tables(void **state)
{
    struct world *world = *state;

    run_begins(world);
    const char *text = read_text(world, "training/dictionaries/variables.csv");
    /* The head and the columns of sixteen tables: 26+31+10+11+10+9+8+10+4+5+13+18+8+9+19+5. */
    assert_int_equal(lines_of(text), 1 + 196);
    assert_ptr_equal(strstr(text, "file,column,type,unit,description,nullable\n"
                                  "costs,stage_id,i32,,"),
                     text);
    assert_non_null(strstr(text, "\nbuses,spot_price,f64,$/MWh,Dual of the load balance,false\n"));
    assert_non_null(strstr(text, "\nhydros,evaporation_m3s,f64,m3/s,Evaporation,true\n"));
    assert_non_null(strstr(text, "\nhydros,inflow_m3s,f64,m3/s,\"Incremental inflow, "));
    assert_non_null(strstr(text, "\nsolver_iterations,phase,str,,"));
}

static void bounds_are_listed_by_entity_then_stage(void **state)
{
    struct world *world = *state;

    run_begins(world);
    const columns_table *table = read_table(world, "training/dictionaries/bounds.parquet");
    /* Each hydro 7 a stage, and one more where the outflow has a maximum; thermal and line 2. */
    assert_int_equal(table->rows, 2 * 2 * 7 + 1 + 2 * 2 + 2 * 2);
    expect_number(table, "entity_type_code", 0, 0);
    expect_number(table, "entity_id", 0, 1);
    expect_number(table, "bound_value", 0, 10); /* storage_min of "upper", stage 0 */
    expect_number(table, "stage_id", 7, 1);
    expect_number(table, "entity_id", 14, 2);
    expect_number(table, "bound_type_code", 19, 5); /* outflow_max of "lower", stage 0 */
    expect_number(table, "bound_value", 19, 90);
    expect_number(table, "block_id", 19, NAN);
    expect_number(table, "entity_type_code", 29, 1);
    expect_number(table, "bound_value", 30, 100);
    expect_number(table, "bound_value", 31, 6);
    expect_number(table, "entity_type_code", 33, 3);
    expect_number(table, "bound_value", 33, 0);
    expect_number(table, "bound_value", 36, 26);
}

static void the_state_is_the_storages(void **state)
{
    struct world *world = *state;

    run_begins(world);
    const mcp_json *json = read_json(world, "training/dictionaries/state_dictionary.json");
    assert_int_equal(mcp_json_count(mcp_json_get(json, "state_variables")), 2);
    expect_pointer_text(json, "/state_variables/1/type", "storage");
    expect_pointer_int(json, "/state_variables/1/entity_id", 2);
    expect_pointer_int(json, "/state_variables/1/dimension_index", 1);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(codes_have_their_names),
        EACH(entities_are_listed_by_kind),
        EACH(variables_are_those_of_all_tables),
        EACH(bounds_are_listed_by_entity_then_stage),
        EACH(the_state_is_the_storages),
    };
    (void)sample_training;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
