/*
 * test_entities.c - the rows of the entities that the sample case lacks, and the memory of a
 * scenario.
 */
#include "sample.h"

#include "../sddp/cases.h"

#define PLACES 64

/* Two stages: blocks of 100 and 300 hours, then one of 200. Two hydros. */
static case_kit kit;
static double zeros[PLACES];
static double values[REGION_COUNT][PLACES]; /* of the first stage */
static double generation[PLACES], available[PLACES];
static sddp_stage_result did[2];
static const hydro_model sample_models[] = {
    { .productivity = 0.5 }, { .is_fpha = true }, { .is_fpha = true }, { .productivity = 0.25 }
};
static const hydro_models models = { .at = sample_models };

static void begin_case(void)
{
    static const double first[] = { 100, 300 }, second[] = { 200 };

    kit_begin(&kit, 2, 2, 0, 1, 0);
    kit_set_blocks(&kit, 0, 2, first);
    kit_set_blocks(&kit, 1, 1, second);
    memset(values, 0, sizeof values);
    for (size_t t = 0; t < 2; t++) {
        did[t] = (sddp_stage_result){ .stage = t, .blocks = kit.stages[t].block_count };
        did[t].generation_mw = t == 0 ? generation : zeros;
        did[t].available_mw = t == 0 ? available : zeros;
        did[t].load_mw = did[t].spot_price = did[t].water_value = zeros;
        for (size_t r = 0; r < REGION_COUNT; r++) {
            did[t].width[r] = r == REGION_GENERIC_BELOW || r == REGION_GENERIC_ABOVE
                                  ? 1
                                  : did[t].blocks;
            did[t].value[r] = t == 0 ? values[r] : zeros;
        }
    }
}

/* Write the scenario; the table of one entity. */
static const columns_table *written(struct world *world, const results_options *options,
                                    const char *entity)
{
    const sddp_scenario scenario = { .scenario = 3, .stages = did, .stage_count = 2 };
    const sddp_simulation end = { .scenarios_total = 1, .scenarios_completed = 1 };
    results *run = NULL;
    char path[100];

    if (results_begin(&run, &kit.c, world->folder.fd, options, &world->err) != MCP_OK ||
        results_begin_simulation(run, &world->err) != MCP_OK ||
        results_write_scenario(run, &scenario, &world->err) != MCP_OK ||
        results_end_simulation(run, &end, false, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
    results_free(run);
    snprintf(path, sizeof path, "simulation/%s/scenario_id=0003/data.parquet", entity);
    return read_table(world, path);
}

/* Of 20 MW for 100 h the first source generates 12: 800 MWh are curtailed, at 3 each. The second is
 * not there in the first stage. */
static void sources_have_rows_where_they_are(void **state)
{
    static const cobre_source sources[] = { { .id = 7, .name = "wind" },
                                            { .id = 9, .name = "sun" } };
    static const cobre_source_stage at[] = { { .curtailment_cost = 3 },
                                             { .is_absent = true },
                                             { .curtailment_cost = 3 },
                                             { .curtailment_cost = 5 } };

    begin_case();
    kit.c.sources = sources;
    kit.c.source_count = 2;
    kit.c.source_stages = at;
    values[REGION_SOURCE][0] = 12;
    available[0] = 20;
    available[1] = 0;
    const columns_table *table = written(*state, &sample_options, "non_controllables");
    assert_int_equal(table->rows, 2 + 2);
    assert_int_equal(table->column_count, 10);
    expect_number(table, "non_controllable_id", 1, 7);
    expect_number(table, "non_controllable_id", 3, 9);
    expect_number(table, "stage_id", 3, 1);
    expect_number(table, "generation_mw", 0, 12);
    expect_number(table, "generation_mwh", 0, 1200);
    expect_number(table, "available_mw", 0, 20);
    expect_number(table, "curtailment_mw", 0, 8);
    expect_number(table, "curtailment_mwh", 0, 800);
    expect_number(table, "curtailment_cost", 0, 2400);
    expect_number(table, "operative_state_code", 0, 2);
}

/* 10 m3/s for 300 h are 10.8 hm3; at 2 MW per m3/s they take 20 MW and 6000 MWh. */
static void stations_pump(void **state)
{
    static const cobre_station stations[] = { { .id = 4, .name = "up", .consumption = 2 } };
    static const cobre_station_stage at[] = { { .max_m3s = 10 }, { .is_absent = true } };

    begin_case();
    kit.c.stations = stations;
    kit.c.station_count = 1;
    kit.c.station_stages = at;
    values[REGION_PUMPED][1] = 10;
    const columns_table *table = written(*state, &sample_options, "pumping_stations");
    assert_int_equal(table->rows, 3);
    assert_int_equal(table->column_count, 9);
    expect_number(table, "pumping_station_id", 0, 4);
    expect_number(table, "block_id", 1, 1);
    expect_number(table, "pumped_flow_m3s", 1, 10);
    expect_number(table, "pumped_volume_hm3", 1, 10.8);
    expect_number(table, "power_consumption_mw", 1, 20);
    expect_number(table, "energy_consumption_mwh", 1, 6000);
    expect_number(table, "pumping_cost", 1, 0);
    expect_number(table, "operative_state_code", 1, 2);
    expect_number(table, "operative_state_code", 2, 0); /* not there */
}

/* An export that earns 20 per MWh has the price -20. */
static void contracts_cost_their_price(void **state)
{
    static const cobre_contract contracts[] = { { .id = 6, .name = "in" },
                                                { .id = 8, .name = "out", .is_export = true } };
    static const cobre_contract_stage at[] = { { .max_mw = 9, .price_per_mwh = 35 },
                                               { .max_mw = 9, .price_per_mwh = -20 },
                                               { .max_mw = 9, .price_per_mwh = 36 },
                                               { .max_mw = 9, .price_per_mwh = -20 } };

    begin_case();
    kit.c.contracts = contracts;
    kit.c.contract_count = 2;
    kit.c.contract_stages = at;
    values[REGION_CONTRACT][0] = 1;
    values[REGION_CONTRACT][3] = 5; /* the second contract in the second block */
    const columns_table *table = written(*state, &sample_options, "contracts");
    assert_int_equal(table->rows, 6);
    assert_int_equal(table->column_count, 8);
    expect_number(table, "contract_id", 3, 8);
    expect_number(table, "power_mw", 3, 5);
    expect_number(table, "energy_mwh", 3, 1500);
    expect_number(table, "price_per_mwh", 3, -20);
    expect_number(table, "total_cost", 3, -30000);
    expect_number(table, "total_cost", 0, 3500);
    expect_number(table, "price_per_mwh", 4, 36);
}

/* Rows: an upper limit exceeded by 2, a lower one missed by 3, an equality missed by 4 and one
 * exceeded by 5; a limit in the second stage. */
static void violations_have_a_row_a_constraint_row(void **state)
{
    static const cobre_constraint constraints[] = {
        { .id = 1, .sense = COBRE_SENSE_LE, .has_slack = true, .penalty = 10 },
        { .id = 2, .sense = COBRE_SENSE_GE, .has_slack = true, .penalty = 100 },
        { .id = 3, .sense = COBRE_SENSE_EQ, .has_slack = true, .penalty = 1000 },
    };
    static const cobre_constraint_row rows[] = {
        { 0, 0, 1, 50 }, { 0, 1, 0, 50 }, { 0, 2, 0, 50 }, { 0, 2, 1, 50 }, { 1, 0, 0, 50 },
    };

    begin_case();
    kit.c.constraints = constraints;
    kit.c.constraint_count = 3;
    kit.c.constraint_rows = rows;
    kit.c.constraint_row_count = 5;
    values[REGION_GENERIC_ABOVE][0] = 2;
    values[REGION_GENERIC_BELOW][1] = 3;
    values[REGION_GENERIC_BELOW][2] = 4;
    values[REGION_GENERIC_ABOVE][3] = 5;
    const columns_table *table = written(*state, &sample_options, "violations/generic");
    assert_int_equal(table->rows, 5);
    assert_int_equal(table->column_count, 5);
    static const double expected[][5] = {
        { 0, 1, 1, 2, 2 * 10 * 300 },
        { 0, 0, 2, 3, 3 * 100 * 100 },
        { 0, 0, 3, 4, 4 * 1000 * 100 },
        { 0, 1, 3, -5, 5 * 1000 * 300 },
        { 1, 0, 1, 0, 0 },
    };
    static const char *const names[] = { "stage_id", "block_id", "constraint_id", "slack_value",
                                         "slack_cost" };
    for (size_t row = 0; row < 5; row++)
        for (size_t i = 0; i < 5; i++)
            expect_number(table, names[i], row, expected[row][i]);
}

/* By hydro, then lag, counted from 1; the solver's order is lag-major. */
static void lags_are_written_by_hydro(void **state)
{
    static const double first[] = { 11, 21, 12, 22, 13, 23 }, second[] = { 10, 20, 11, 21, 12, 22 };
    static const inflow_model inflow = { .lags = 3 };
    results_options options = sample_options;

    begin_case();
    options.inflow = &inflow;
    did[0].lags = first;
    did[1].lags = second;
    const columns_table *table = written(*state, &options, "inflow_lags");
    assert_int_equal(table->rows, 12);
    assert_int_equal(table->column_count, 4);
    for (size_t row = 0; row < 6; row++) {
        expect_number(table, "stage_id", row, 0);
        expect_number(table, "hydro_id", row, (double)(row / 3));
        expect_number(table, "lag_index", row, (double)(row % 3 + 1));
        expect_number(table, "inflow_m3s", row,
                      10.0 * (double)(row / 3 + 1) + (double)(row % 3) + 1);
    }
    expect_number(table, "inflow_m3s", 6, 10);
}

static void without_lags_there_is_no_such_folder(void **state)
{
    struct world *world = *state;

    begin_case();
    written(world, &sample_options, "hydros");
    assert_false(is_there(world, "simulation/inflow_lags"));
    assert_false(is_there(world, "simulation/violations"));
    assert_false(is_there(world, "simulation/contracts"));
}

/* A production function has no productivity; a plant that is not there is deactivated. */
static void hydros_follow_their_model(void **state)
{
    results_options options = sample_options;

    begin_case();
    options.hydros = &models;
    kit_hydro(&kit, 1, 0)->phase = COBRE_HYDRO_ABSENT;
    kit_hydro(&kit, 1, 1)->phase = COBRE_HYDRO_FILLING;
    generation[2] = 33;
    const columns_table *table = written(*state, &options, "hydros");
    expect_number(table, "productivity_mw_per_m3s", 0, 0.5);
    expect_number(table, "productivity_mw_per_m3s", 2, NAN);
    expect_number(table, "productivity_mw_per_m3s", 4, NAN);
    expect_number(table, "productivity_mw_per_m3s", 5, 0.25);
    expect_number(table, "generation_mw", 2, 33);
    expect_number(table, "generation_mwh", 2, 3300);
    expect_number(table, "operative_state_code", 3, 2);
    expect_number(table, "operative_state_code", 4, 0);
    expect_number(table, "operative_state_code", 5, 2);
}

/* The sheets of a scenario cannot be had: neither at once nor at a second try. */
static void no_memory_for_a_scenario_stays_an_error(void **state)
{
    struct world *world = *state;
    results_options options = sample_options;
    results *run = NULL;

    begin_case();
    options.trains = false;
    scratch_write(&world->folder, "training/dictionaries/entities.csv", "kept", 4);
    kit.c.bus_count = (size_t)1 << 40;
    assert_int_equal(results_begin(&run, &kit.c, world->folder.fd, &options, &world->err), MCP_OK);
    assert_int_equal(results_begin_simulation(run, &world->err), MCP_E_NOMEM);
    assert_int_equal(results_begin_simulation(run, &world->err), MCP_E_NOMEM);
    results_free(run);
}

#define ENTITY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENTITY_TEST(sources_have_rows_where_they_are),
        ENTITY_TEST(stations_pump),
        ENTITY_TEST(contracts_cost_their_price),
        ENTITY_TEST(violations_have_a_row_a_constraint_row),
        ENTITY_TEST(lags_are_written_by_hydro),
        ENTITY_TEST(without_lags_there_is_no_such_folder),
        ENTITY_TEST(hydros_follow_their_model),
        ENTITY_TEST(no_memory_for_a_scenario_stays_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
