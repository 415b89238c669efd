/*
 * test_simulation.c - the files of each entity, and that the costs add up.
 */
#include "sample.h"

#include "../sddp/cases.h"

/* ---- a made-up scenario ---------------------------------------------------------------------- */

static const double zeros[8];

static const double turbined[] = { 10, 20, 5, 15 }, spilled[] = { 1, 0, 0, 2 };
static const double diverted[] = { 3, 1, 0, 0 };
static const double outflow_below[] = { 2, 0, 0, 0 }, outflow_above[] = { 0, 1, 0, 0 };
static const double turbined_below[] = { 0, 4, 0, 0 }, generation_below[] = { 1, 0, 0, 0 };
static const double thermal_mw[] = { 50, 40 }, direct_mw[] = { 10, 0 }, reverse_mw[] = { 0, 20 };
static const double deficit_mw[] = { 0, 1, 2, 0 };
static const double excess_mw[] = { 4, 0, 0, 5 };
static const double load_mw[] = { 60, 70, 80, 90 }, spot_price[] = { 30, 500, 501, 30.5 };
static const double storage_initial[] = { 30, 20 }, storage_final[] = { 10.0000001, 20 };
static const double inflow[] = { 12, 6 }, inflow_slack[] = { 2, 0 };
static const double withdrawal_below[] = { 1, 0 }, withdrawal_above[] = { 3, 0 };
static const double evaporation[] = { 0.5, 0 }, evaporation_above[] = { 0.25, 0 };
static const double storage_below[] = { 0, 1.5 }, filling_below[] = { 2, 0 };
static const double water_value[] = { -100, -50 };
/* 0.5 MW per m3/s, and 2 */
static const double generation_mw[] = { 5, 10, 10, 30 };

/* 30*(50*100+40*300) + 250000 + 2300 + 15100 + 5600 + 275 + 3500, parts as tested below. */
#define IMMEDIATE 786775.0

/* clang-format off */
#define WIDTHS(blocks)                                                                             \
    { [REGION_STORAGE] = 1, [REGION_INFLOW] = 1, [REGION_INCOMING] = 1, [REGION_INFLOW_SLACK] = 1, \
      [REGION_EVAPORATION] = 1, [REGION_EVAPORATION_BELOW] = 1, [REGION_EVAPORATION_ABOVE] = 1,    \
      [REGION_WITHDRAWAL_BELOW] = 1, [REGION_WITHDRAWAL_ABOVE] = 1, [REGION_STORAGE_BELOW] = 1,    \
      [REGION_FILLING_BELOW] = 1, [REGION_FILLING_TARGET] = 1,                                     \
      [REGION_TURBINED] = (blocks), [REGION_SPILLED] = (blocks), [REGION_DIVERTED] = (blocks),     \
      [REGION_THERMAL] = (blocks), [REGION_DIRECT] = (blocks), [REGION_REVERSE] = (blocks),        \
      [REGION_DEFICIT] = (blocks), [REGION_EXCESS] = (blocks), [REGION_OUTFLOW_BELOW] = (blocks),  \
      [REGION_OUTFLOW_ABOVE] = (blocks), [REGION_TURBINED_BELOW] = (blocks),                       \
      [REGION_GENERATION_BELOW] = (blocks) }
/* clang-format on */

static const sddp_stage_result sample_did[] = {
    { .stage = 0,
      .blocks = 2,
      .objective = IMMEDIATE + 1000,
      .future_cost = 1000,
      .discount = 1,
      .width = WIDTHS(2),
      .value = { [REGION_TURBINED] = turbined,
                 [REGION_SPILLED] = spilled,
                 [REGION_DIVERTED] = diverted,
                 [REGION_OUTFLOW_BELOW] = outflow_below,
                 [REGION_OUTFLOW_ABOVE] = outflow_above,
                 [REGION_TURBINED_BELOW] = turbined_below,
                 [REGION_GENERATION_BELOW] = generation_below,
                 [REGION_THERMAL] = thermal_mw,
                 [REGION_DIRECT] = direct_mw,
                 [REGION_REVERSE] = reverse_mw,
                 [REGION_DEFICIT] = deficit_mw,
                 [REGION_EXCESS] = excess_mw,
                 [REGION_INCOMING] = storage_initial,
                 [REGION_STORAGE] = storage_final,
                 [REGION_INFLOW] = inflow,
                 [REGION_INFLOW_SLACK] = inflow_slack,
                 [REGION_EVAPORATION] = evaporation,
                 [REGION_EVAPORATION_BELOW] = zeros,
                 [REGION_EVAPORATION_ABOVE] = evaporation_above,
                 [REGION_STORAGE_BELOW] = storage_below,
                 [REGION_FILLING_BELOW] = filling_below,
                 [REGION_FILLING_TARGET] = zeros,
                 [REGION_WITHDRAWAL_BELOW] = withdrawal_below,
                 [REGION_WITHDRAWAL_ABOVE] = withdrawal_above },
      .cost = { [COST_THERMAL] = 30 * (50 * 100 + 40 * 300),
                [COST_DEFICIT] = 250000,
                [COST_EXCESS] = 4 * 100 * 2 + 5 * 300 * 1,
                [COST_OUTFLOW_BELOW] = 2 * 3 * 100,
                [COST_OUTFLOW_ABOVE] = 1 * 4 * 300,
                [COST_TURBINED] = 4 * 2 * 300,
                [COST_GENERATION] = 1 * 5 * 100,
                [COST_WITHDRAWAL] = 400 * (1 * 8 + 3 * 6),
                [COST_INFLOW] = 400 * 2 * 7,
                [COST_SPILLAGE] = 100 * (0.5 + 0.75) + 300 * 0.25 + 300 * 2 * 0.125,
                [COST_EXCHANGE] = 0.5 * (10 * 100 + 20 * 300) },
      .generation_mw = generation_mw,
      .load_mw = load_mw,
      .spot_price = spot_price,
      .water_value = water_value },
    { .stage = 1,
      .blocks = 1,
      .objective = 5,
      .future_cost = 0,
      .discount = 0.9,
      .width = WIDTHS(1),
      .value = { [REGION_TURBINED] = zeros,
                 [REGION_SPILLED] = zeros,
                 [REGION_DIVERTED] = zeros,
                 [REGION_OUTFLOW_BELOW] = zeros,
                 [REGION_OUTFLOW_ABOVE] = zeros,
                 [REGION_TURBINED_BELOW] = zeros,
                 [REGION_GENERATION_BELOW] = zeros,
                 [REGION_THERMAL] = zeros,
                 [REGION_DIRECT] = zeros,
                 [REGION_REVERSE] = zeros,
                 [REGION_DEFICIT] = zeros,
                 [REGION_EXCESS] = zeros,
                 [REGION_INFLOW] = zeros,
                 [REGION_INFLOW_SLACK] = zeros,
                 [REGION_EVAPORATION] = zeros,
                 [REGION_EVAPORATION_BELOW] = zeros,
                 [REGION_EVAPORATION_ABOVE] = zeros,
                 [REGION_STORAGE_BELOW] = zeros,
                 [REGION_FILLING_BELOW] = zeros,
                 [REGION_FILLING_TARGET] = zeros,
                 [REGION_WITHDRAWAL_BELOW] = zeros,
                 [REGION_WITHDRAWAL_ABOVE] = zeros,
                 [REGION_INCOMING] = storage_final,
                 [REGION_STORAGE] = storage_initial },
      .generation_mw = zeros,
      .load_mw = zeros,
      .spot_price = zeros,
      .water_value = zeros },
};

static const sddp_scenario sample_scenario = {
    .scenario = 12,
    .cost = IMMEDIATE + 4.5,
    .stages = sample_did,
    .stage_count = 2,
};

static const sddp_simulation sample_simulation = {
    .scenarios_total = 1,
    .scenarios_completed = 1,
    .mean = 10,
    .std = 2,
    .min = 8,
    .max = 12,
    .cvar = 11.5,
};

/* Write one scenario and end; the run is the caller's to free. */
static results *simulate(struct world *world, const sddp_simulation *end, bool failed)
{
    results *run = begin(world, &sample_options);

    assert_int_equal(results_begin_simulation(run, &world->err), MCP_OK);
    if (results_write_scenario(run, &sample_scenario, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
    assert_int_equal(results_end_simulation(run, end, failed, &world->err), MCP_OK);
    return run;
}

static const columns_table *entity_table(struct world *world, const char *entity)
{
    char path[100];

    results_free(simulate(world, &sample_simulation, false));
    snprintf(path, sizeof path, "simulation/%s/scenario_id=0012/data.parquet", entity);
    return read_table(world, path);
}

static void costs_have_a_column_a_category(void **state)
{
    static const struct {
        const char *name;
        double value;
    } expected[] = {
        { "stage_id", 0 },
        { "block_id", NAN },
        { "total_cost", IMMEDIATE + 1000 },
        { "immediate_cost", IMMEDIATE },
        { "future_cost", 1000 },
        { "discount_factor", 1 },
        { "thermal_cost", 30 * (50 * 100 + 40 * 300) },
        { "deficit_cost", 250000 },
        { "excess_cost", 4 * 100 * 2 + 5 * 300 * 1 },
        { "outflow_violation_below_cost", 2 * 3 * 100 },
        { "outflow_violation_above_cost", 1 * 4 * 300 },
        { "turbined_violation_cost", 4 * 2 * 300 },
        { "generation_violation_cost", 1 * 5 * 100 },
        { "withdrawal_violation_cost", 400 * (1 * 8 + 3 * 6) },
        { "hydro_violation_cost", 600 + 1200 + 2400 + 500 + 10400 },
        { "inflow_penalty_cost", 400 * 2 * 7 },
        { "spillage_cost", 100 * (0.5 + 0.75) + 300 * 0.25 + 300 * 2 * 0.125 },
        { "exchange_cost", 0.5 * (10 * 100 + 20 * 300) },
        { "pumping_cost", 0 },
    };
    struct world *world = *state;
    const columns_table *table = entity_table(world, "costs");

    assert_int_equal(table->rows, 2);
    assert_int_equal(table->column_count, 26);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        expect_number(table, expected[i].name, 0, expected[i].value);
    expect_number(table, "stage_id", 1, 1);
    expect_number(table, "immediate_cost", 1, 5);
    expect_number(table, "discount_factor", 1, 0.9);
}

static void hydros_have_a_row_a_block(void **state)
{
    struct world *world = *state;
    const columns_table *table = entity_table(world, "hydros");

    assert_int_equal(table->rows, 2 * 2 + 2);
    assert_int_equal(table->column_count, 31);
    expect_number(table, "hydro_id", 1, 1);
    expect_number(table, "block_id", 1, 1);
    expect_number(table, "hydro_id", 2, 2);
    expect_number(table, "stage_id", 4, 1);
    expect_number(table, "outflow_m3s", 0, 11);
    expect_number(table, "diverted_outflow_m3s", 0, 3);
    expect_number(table, "diverted_inflow_m3s", 2, 3);
    expect_number(table, "diverted_inflow_m3s", 3, 1);
    expect_number(table, "incremental_inflow_m3s", 3, 6);
    /* 6 and the mean of 10+1+3 over 100 h and 20+0+1 over 300 h, on every block's row. */
    expect_number(table, "inflow_m3s", 2, 6 + (14.0 * 100 + 21.0 * 300) / 400);
    expect_number(table, "inflow_m3s", 3, 25.25);
    expect_number(table, "inflow_m3s", 0, 12);
    expect_number(table, "generation_mw", 1, 20 * 0.5);
    expect_number(table, "generation_mwh", 1, 20 * 0.5 * 300);
    expect_number(table, "productivity_mw_per_m3s", 3, 2);
    expect_number(table, "spillage_cost", 0, 125);
    expect_number(table, "water_value_per_hm3", 1, -100);
    expect_number(table, "storage_binding_code", 0, 1);
    expect_number(table, "storage_binding_code", 2, 3);
    expect_number(table, "storage_binding_code", 4, 0); /* 30 of 0 to 50 */
    expect_number(table, "operative_state_code", 0, 2);
    expect_number(table, "outflow_slack_below_m3s", 0, 2);
    expect_number(table, "outflow_slack_above_m3s", 1, 1);
    expect_number(table, "turbined_slack_m3s", 1, 4);
    expect_number(table, "generation_slack_mw", 0, 1);
    expect_number(table, "evaporation_m3s", 0, 0.5);
    expect_number(table, "evaporation_violation_pos_m3s", 1, 0.25);
    expect_number(table, "evaporation_violation_neg_m3s", 1, 0);
    expect_number(table, "storage_violation_below_hm3", 2, 1.5);
    expect_number(table, "filling_target_violation_hm3", 0, 2);
    expect_number(table, "inflow_nonnegativity_slack_m3s", 1, 2);
    expect_number(table, "water_withdrawal_violation_pos_m3s", 0, 3);
    expect_number(table, "water_withdrawal_violation_neg_m3s", 0, 1);
}

static void thermals_exchanges_and_buses_follow(void **state)
{
    struct world *world = *state;
    const columns_table *thermals = entity_table(world, "thermals");
    const columns_table *exchanges = entity_table(world, "exchanges");
    const columns_table *buses = entity_table(world, "buses");

    assert_int_equal(thermals->rows, 3);
    expect_number(thermals, "thermal_id", 0, 3);
    expect_number(thermals, "generation_mwh", 1, 40 * 300);
    expect_number(thermals, "generation_cost", 1, 40 * 300 * 30);
    expect_number(thermals, "is_gnl", 1, 0);
    expect_number(thermals, "gnl_committed_mw", 1, NAN);
    assert_int_equal(exchanges->rows, 3);
    expect_number(exchanges, "net_flow_mw", 1, -20);
    expect_number(exchanges, "net_flow_mwh", 1, -6000);
    expect_number(exchanges, "losses_mw", 1, 2);
    expect_number(exchanges, "losses_mwh", 1, 600);
    expect_number(exchanges, "exchange_cost", 1, 3000);
    assert_int_equal(buses->rows, 6);
    expect_number(buses, "bus_id", 2, 11);
    expect_number(buses, "load_mwh", 3, 27000);
    expect_number(buses, "deficit_mwh", 2, 200);
    expect_number(buses, "excess_mwh", 3, 1500);
    expect_number(buses, "spot_price", 2, 501);
}

/* ---- the phase ------------------------------------------------------------------------------- */

static void a_complete_simulation_is_marked(void **state)
{
    struct world *world = *state;

    results_free(simulate(world, &sample_simulation, false));
    assert_true(is_there(world, "simulation/_SUCCESS"));
    const mcp_json *json = read_json(world, "simulation/metadata.json");
    expect_pointer_text(json, "/status", "complete");
    expect_pointer_int(json, "/scenarios/total", 1);
    expect_pointer_int(json, "/scenarios/completed", 1);
    expect_pointer_int(json, "/scenarios/failed", 0);
    double number = 0;
    assert_true(mcp_json_double(mcp_json_pointer(json, "/cost_summary/cvar"), &number));
    assert_true(number == 11.5);
    assert_true(mcp_json_double(mcp_json_pointer(json, "/cost_summary/cvar_alpha"), &number));
    assert_true(number == 0.95);
    expect_pointer_text(json, "/distribution/backend", "local");
}

static void a_broken_one_is_not(void **state)
{
    struct world *world = *state;
    sddp_simulation two = sample_simulation;

    two.scenarios_total = 2;
    results_free(simulate(world, &two, false));
    assert_false(is_there(world, "simulation/_SUCCESS"));
    expect_pointer_text(read_json(world, "simulation/metadata.json"), "/status", "partial");
    results_free(simulate(world, &sample_simulation, true));
    assert_false(is_there(world, "simulation/_SUCCESS"));
    expect_pointer_text(read_json(world, "simulation/metadata.json"), "/status", "failed");
}

static void old_scenarios_are_cleared(void **state)
{
    struct world *world = *state;

    scratch_write(&world->folder, "simulation/costs/scenario_id=0099/data.parquet", "old", 3);
    scratch_write(&world->folder, "simulation/hydros/scenario_id=0001/data.parquet", "old", 3);
    results_free(simulate(world, &sample_simulation, false));
    assert_false(is_there(world, "simulation/costs/scenario_id=0099"));
    assert_false(is_there(world, "simulation/hydros/scenario_id=0001"));
    assert_true(is_there(world, "simulation/hydros/scenario_id=0012/data.parquet"));
    assert_false(is_there(world, "simulation/hydros/scenario_id=0012/data.parquet.tmp"));
}

static void a_file_that_cannot_be_written_fails_the_simulation(void **state)
{
    struct world *world = *state;
    results *run = begin(world, &sample_options);

    assert_int_equal(results_begin_simulation(run, &world->err), MCP_OK);
    scratch_write(&world->folder, "simulation/buses/scenario_id=0012", "no folder", 9);
    assert_int_equal(results_write_scenario(run, &sample_scenario, &world->err), MCP_OK);
    assert_int_equal(results_end_simulation(run, &sample_simulation, false, &world->err),
                     MCP_E_NOT_FOUND);
    assert_non_null(strstr(world->err.message, "scenario 12: 'scenario_id=0012'"));
    const mcp_json *json = read_json(world, "simulation/metadata.json");
    expect_pointer_text(json, "/status", "failed");
    expect_pointer_int(json, "/scenarios/failed", 1);
    assert_null(mcp_json_get(json, "cost_summary"));
    assert_false(is_there(world, "simulation/_SUCCESS"));
    results_free(run);
}

/* ---- a real study ---------------------------------------------------------------------------- */

#define SCENARIOS 12

/* Everything that can cost something does: too little water and too much, minima out of reach,
 * withdrawals, negative inflows, diversion, a line, deficits and thermal minima above the load. */
static void fill_hard_case(case_kit *k)
{
    static const double hours[] = { 100.0, 600.0 };

    kit_begin(k, 3, 3, 2, 2, 1);
    kit_set_limit(k, 6);
    k->c.config.inflow_method = COBRE_INFLOW_PENALTY;
    k->c.config.simulation_enabled = true;
    k->c.config.simulation_scenarios = SCENARIOS;
    k->hydros[0].downstream = 1;
    k->hydros[0].diversion_downstream = 1;
    k->hydros[0].diversion_max_m3s = 5.0;
    k->lines[0] = (cobre_line){ .name = "L", .source = 0, .target = 1 };
    k->hydros[2].bus = 1;
    for (size_t h = 0; h < 3; h++) {
        kit_set_hydro(k, h, 20.0, 30.0, 25.0, 70.0);
        k->hydros[h].inflow_nonnegativity_cost = 5000.0;
    }
    k->hydros[1].initial_storage_hm3 = 200.0; /* must spill */
    for (size_t i = 0; i < 2; i++) {
        kit_set_thermal(k, i, 40.0, 20.0 + 30.0 * (double)i);
        k->thermals[i].bus = i;
    }
    for (size_t t = 0; t < 3; t++) {
        kit_set_blocks(k, t, 2, hours);
        k->stages[t].openings = 5;
        k->stages[t].discount = 0.95;
        *kit_line(k, t, 0) = (cobre_line_stage){ .direct_mw = 10.0,
                                                 .reverse_mw = 10.0,
                                                 .exchange_cost = 0.5 };
        kit_thermal(k, t, 0)->min_mw = 30.0;
        kit_bus(k, t, 0)->load_mean = t == 1 ? 5.0 : 60.0;
        kit_bus(k, t, 1)->load_mean = 150.0;
        for (size_t h = 0; h < 3; h++) {
            cobre_hydro_stage *at = kit_hydro(k, t, h);
            at->inflow_mean = h == 1 ? 30.0 : 2.0;
            at->inflow_std = 6.0;
            at->min_outflow = h == 0 ? 20.0 : 0.0;
            at->min_turbined = h == 2 ? 22.0 : 0.0;
            at->min_generation = h == 2 ? 23.0 : 0.0;
            at->withdrawal = h == 2 ? 9.0 : 0.0;
            at->outflow_below_cost = 50.0;
            at->turbined_below_cost = 60.0;
            at->generation_below_cost = 65.0;
            at->withdrawal_neg_cost = 4000.0;
            at->withdrawal_pos_cost = 4500.0;
        }
    }
}

struct playing {
    struct world *world;
    results *run;
    double costs[SCENARIOS];
    double available; /* what curtailing all sources would cost, each stage */
    double seen[26];  /* sum of each column's absolute values */
};

static const char *const parts[] = {
    "thermal_cost",        "deficit_cost",           "excess_cost",   "hydro_violation_cost",
    "inflow_penalty_cost", "generic_violation_cost", "spillage_cost", "fpha_turbined_cost",
    "exchange_cost",       "curtailment_cost",       "contract_cost", "pumping_cost",
    "filling_target_cost", "storage_violation_cost",
};

static mcp_status on_scenario(const sddp_scenario *scenario, void *data, mcp_error *err)
{
    struct playing *playing = data;

    assert_true(scenario->scenario < SCENARIOS);
    playing->costs[scenario->scenario] = scenario->cost;
    return results_write_scenario(playing->run, scenario, err);
}

/* The identity of the output page, 5.1, on each row; and the scenario's cost from its stages. */
static void check_scenario(struct playing *playing, unsigned scenario, size_t stages)
{
    char path[100];
    double cost = 0.0;

    snprintf(path, sizeof path, "simulation/costs/scenario_id=%04u/data.parquet", scenario);
    const columns_table *table = read_table(playing->world, path);
    assert_int_equal(table->rows, stages);
    for (size_t row = 0; row < table->rows; row++) {
        double immediate = number_at(table, "immediate_cost", row), sum = -playing->available;
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            sum += number_at(table, parts[i], row);
        if (fabs(sum - immediate) > 1e-7 * fmax(1.0, fabs(immediate)))
            fail_msg("scenario %u, stage %zu: the parts are %.12g, the stage costs %.12g", scenario,
                     row, sum, immediate);
        cost += number_at(table, "discount_factor", row) * immediate;
        for (size_t i = 2; i < 26; i++)
            playing->seen[i] += fabs(number_at(table, table->columns[i].name, row));
    }
    assert_true(fabs(cost - playing->costs[scenario]) <= 1e-9 * fmax(1.0, fabs(cost)));
}

/* The columns of costs that must_occur names are not zero throughout. */
static void check_study(struct world *world, const case_kit *kit, double available,
                        const int *must_occur, size_t count)
{
    struct playing playing = { .world = world, .available = available };
    const sddp_observer observer = { .scenario = on_scenario, .data = &playing };
    sddp_failure failure;
    sddp_training training;
    sddp_simulation simulation;
    sddp *study = NULL;

    assert_int_equal(
        results_begin(&playing.run, &kit->c, world->folder.fd, &sample_options, &world->err),
        MCP_OK);
    assert_int_equal(sddp_new(&study, &kit->c, 1, &world->err), MCP_OK);
    if (sddp_train(study, &observer, &training, &failure, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
    assert_int_equal(results_write_training(playing.run, &training, &world->err), MCP_OK);
    assert_int_equal(results_begin_simulation(playing.run, &world->err), MCP_OK);
    if (sddp_simulate(study, &observer, &simulation, &failure, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
    assert_int_equal(results_end_simulation(playing.run, &simulation, false, &world->err), MCP_OK);
    assert_true(is_there(world, "training/_SUCCESS"));
    assert_true(is_there(world, "simulation/_SUCCESS"));
    for (unsigned i = 0; i < SCENARIOS; i++)
        check_scenario(&playing, i, kit->c.stage_count);
    for (size_t i = 0; i < count; i++)
        if (playing.seen[must_occur[i]] == 0.0)
            fail_msg("the case never pays for column %d of costs", must_occur[i]);
    results_free(playing.run);
    sddp_free(study);
}

static void the_costs_of_a_real_study_add_up(void **state)
{
    static const int must_occur[] = { 4, 6, 8, 9, 12, 13, 14, 15, 16, 18, 19, 21, 24 };
    static case_kit kit;

    fill_hard_case(&kit);
    check_study(*state, &kit, 0.0, must_occur, sizeof must_occur / sizeof must_occur[0]);
}

/* The hard case with what the table of regions has besides: a source with too much wind, contracts,
 * pumping against the stream, a limit on a thermal that its plant exceeds, a production function, a
 * soft storage above what is there, and evaporation. */
static void fill_rich_case(case_kit *k)
{
    static const cobre_source sources[] = { { .id = 1, .name = "W", .bus = 0, .max_mw = 40 } };
    static const cobre_source_stage source_stages[] = {
        { .available_mw = 40, .curtailment_cost = 5 },
        { .available_mw = 40, .curtailment_cost = 5 },
        { .available_mw = 40, .curtailment_cost = 5 },
    };
    static const cobre_contract contracts[] = { { .id = 1, .name = "I", .bus = 1 },
                                                { .id = 2, .name = "E", .is_export = true } };
    static const cobre_contract_stage contract_stages[] = {
        { 0, 10, 45, false }, { 0, 5, -10, false }, { 0, 10, 45, false },
        { 0, 5, -10, false }, { 0, 10, 45, false }, { 0, 5, -10, false },
    };
    static const cobre_station stations[] = {
        { .id = 1, .name = "P", .bus = 0, .source = 1, .destination = 0, .consumption = 0.2 }
    };
    static const cobre_station_stage station_stages[] = { { 1, 3, false },
                                                          { 1, 3, false },
                                                          { 1, 3, false } };
    static const cobre_term terms[] = { { COBRE_VAR_THERMAL_GENERATION, 0, COBRE_NONE, 1.0 } };
    static const cobre_constraint constraints[] = { { .id = 1,
                                                      .name = "C",
                                                      .sense = COBRE_SENSE_LE,
                                                      .has_slack = true,
                                                      .penalty = 7,
                                                      .terms = terms,
                                                      .term_count = 1 } };
    static const cobre_constraint_row rows[] = {
        { 0, 0, 0, 25 }, { 0, 0, 1, 25 }, { 1, 0, 0, 25 },
        { 1, 0, 1, 25 }, { 2, 0, 0, 25 }, { 2, 0, 1, 25 }
    };
    static const cobre_hyperplane planes[] = {
        { COBRE_NONE, 0, 0, 0.01, 0.9, 0, 1 },
        { COBRE_NONE, 1, 8, 0.02, 0.4, -0.01, 1 },
    };
    static const cobre_fpha_fit precomputed = { .is_computed = false };
    static const cobre_geometry lake[] = { { 0, 0, 2 }, { 40, 0, 9 } };

    fill_hard_case(k);
    k->c.sources = sources;
    k->c.source_count = 1;
    k->c.source_stages = source_stages;
    k->c.contracts = contracts;
    k->c.contract_count = 2;
    k->c.contract_stages = contract_stages;
    k->c.stations = stations;
    k->c.station_count = 1;
    k->c.station_stages = station_stages;
    k->c.constraints = constraints;
    k->c.constraint_count = 1;
    k->c.constraint_rows = rows;
    k->c.constraint_row_count = 6;
    k->lines[0].losses_percent = 4.0;
    k->hydros[2].planes = planes;
    k->hydros[2].plane_count = 2;
    k->hydros[0].evaporates = true;
    k->hydros[0].geometry = lake;
    k->hydros[0].geometry_count = 2;
    for (uint32_t t = 0; t < 3; t++) {
        cobre_hydro_stage *at = kit_hydro(k, t, 2);
        at->is_fpha = true;
        at->fit = &precomputed;
        at->fpha_turbined_cost = 0.5;
        at->withdrawal = 0.0;
        kit_bus(k, t, 0)->excess_cost = 20.0; /* dearer than curtailing */
        k->stages[t].has_season = true;
        k->stages[t].season_id = t;
        k->hydros[0].evaporation_mm[t] = 120.0;
        k->hydros[0].evaporation_reference[t] = 15.0;
        at = kit_hydro(k, t, 0);
        at->min_storage = 25.0;
        at->is_soft = true;
        at->storage_below_cost = 900.0;
        at->evaporation_neg_cost = at->evaporation_pos_cost = 20.0;
    }
}

static void the_costs_of_a_rich_study_add_up(void **state)
{
    static const int must_occur[] = { 4, 6, 7, 8, 10, 12, 20, 21, 22, 23, 24 };
    static case_kit kit;

    fill_rich_case(&kit);
    check_study(*state, &kit, 40.0 * 700.0 * 5.0, must_occur,
                sizeof must_occur / sizeof must_occur[0]);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(costs_have_a_column_a_category),
        EACH(hydros_have_a_row_a_block),
        EACH(thermals_exchanges_and_buses_follow),
        EACH(a_complete_simulation_is_marked),
        EACH(a_broken_one_is_not),
        EACH(old_scenarios_are_cleared),
        EACH(a_file_that_cannot_be_written_fails_the_simulation),
        EACH(the_costs_of_a_real_study_add_up),
        EACH(the_costs_of_a_rich_study_add_up),
    };
    (void)sample_training;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
