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

/* The sample case with a pumping station, two contracts and a source. */
static const cobre_station stations[] = { { .id = 8, .name = "lift", .bus = 1 } };
static const cobre_contract contracts[] = { { .id = 2, .name = "buy" },
                                            { .id = 4, .name = "sell" } };
static const cobre_source sources[] = { { .id = 6, .name = "wind", .bus = 1 } };
static const cobre_station_stage station_stages[] = { { 1, 2, false }, { 3, 4, false } };
static const cobre_contract_stage contract_stages[] = {
    { 5, 6, 70, false }, { 0, 9, -1, false }, { 7, 8, 70, false }, { 0, 10, -1, false }
};

static void run_begins_with_more(struct world *world, const inflow_model *inflow,
                                 const state_table *state)
{
    static cobre_case input;
    results_options options = sample_options;
    results *run = NULL;

    input = sample_case;
    input.stations = stations;
    input.station_count = 1;
    input.station_stages = station_stages;
    input.contracts = contracts;
    input.contract_count = 2;
    input.contract_stages = contract_stages;
    input.sources = sources;
    input.source_count = 1;
    options.inflow = inflow;
    options.state = state;
    if (results_begin(&run, &input, world->folder.fd, &options, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
    results_free(run);
}

static void further_kinds_follow(void **state)
{
    struct world *world = *state;

    run_begins_with_more(world, NULL, NULL);
    assert_non_null(strstr(read_text(world, "training/dictionaries/entities.csv"),
                           "\n3,5,tie,-1,0\n"
                           "4,8,lift,11,0\n"
                           "5,2,buy,10,0\n"
                           "5,4,sell,10,0\n"
                           "7,6,wind,11,0\n"));
    const columns_table *table = read_table(world, "training/dictionaries/bounds.parquet");
    /* entity kind and id, stage, bound, value: after the 37 rows of the kinds before */
    static const double expected[][5] = {
        { 4, 8, 0, 8, 1 }, { 4, 8, 0, 9, 2 }, { 4, 8, 1, 8, 3 }, { 4, 8, 1, 9, 4 },
        { 5, 2, 0, 8, 5 }, { 5, 2, 0, 9, 6 }, { 5, 2, 1, 8, 7 }, { 5, 2, 1, 9, 8 },
        { 5, 4, 0, 8, 0 }, { 5, 4, 0, 9, 9 }, { 5, 4, 1, 8, 0 }, { 5, 4, 1, 9, 10 },
    };
    static const char *const names[] = { "entity_type_code", "entity_id", "stage_id",
                                         "bound_type_code", "bound_value" };
    assert_int_equal(table->rows, 37 + 12);
    for (size_t row = 0; row < 12; row++)
        for (size_t i = 0; i < 5; i++)
            expect_number(table, names[i], 37 + row, expected[row][i]);
}

/* Two lags in the model. The first plant uses both at the second stage, the second plant none. */
static void lags_follow_the_storages(void **state)
{
    static const uint32_t order[] = { 1, 0, 2, 0 };
    static const inflow_model inflow = { .stages = 2, .hydros = 2, .lags = 2, .order = order };
    struct world *world = *state;

    run_begins_with_more(world, &inflow, NULL);
    const mcp_json *json = read_json(world, "training/dictionaries/state_dictionary.json");
    assert_int_equal(mcp_json_count(mcp_json_get(json, "state_variables")), 4);
    expect_pointer_text(json, "/state_variables/2/type", "inflow_lag");
    expect_pointer_int(json, "/state_variables/2/entity_id", 1);
    expect_pointer_int(json, "/state_variables/2/lag_index", 1);
    expect_pointer_text(json, "/state_variables/2/unit", "m3/s");
    expect_pointer_int(json, "/state_variables/2/dimension_index", 2);
    expect_pointer_int(json, "/state_variables/3/lag_index", 2);
    expect_pointer_int(json, "/state_variables/3/dimension_index",
                       4); /* 2 storages, 2 first lags */
    assert_null(mcp_json_pointer(json, "/state_variables/0/lag_index"));
}

/* One lag, and stages that are parts of a period: the sums come last. */
static void sums_follow_the_lags(void **state)
{
    static const uint32_t order[] = { 1, 1, 1, 1 };
    static const inflow_model inflow = { .stages = 2, .hydros = 2, .lags = 1, .order = order };
    static const state_entry entries[] = { { STATE_STORAGE, 0, 0 }, { STATE_STORAGE, 1, 0 },
                                           { STATE_LAG, 0, 1 },     { STATE_LAG, 1, 1 },
                                           { STATE_SUM, 0, 0 },     { STATE_SUM, 1, 0 },
                                           { STATE_SUM, 1, 1 } };
    static const state_table table = { .hydros = 2, .dimension = 7, .entries = entries };
    struct world *world = *state;

    run_begins_with_more(world, &inflow, &table);
    const mcp_json *json = read_json(world, "training/dictionaries/state_dictionary.json");
    assert_int_equal(mcp_json_count(mcp_json_get(json, "state_variables")), 7);
    expect_pointer_text(json, "/state_variables/5/type", "inflow_sum");
    expect_pointer_text(json, "/state_variables/5/unit", "m3/s");
    expect_pointer_int(json, "/state_variables/5/entity_id", 2);
    expect_pointer_int(json, "/state_variables/5/dimension_index", 5);
    assert_null(mcp_json_pointer(json, "/state_variables/5/lag_index"));
    expect_pointer_int(json, "/state_variables/6/lag_index", 1);
    expect_pointer_int(json, "/state_variables/6/dimension_index", 6);
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
        EACH(further_kinds_follow),
        EACH(lags_follow_the_storages),
        EACH(sums_follow_the_lags),
        EACH(variables_are_those_of_all_tables),
        EACH(bounds_are_listed_by_entity_then_stage),
        EACH(the_state_is_the_storages),
    };
    (void)sample_training;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
