/*
 * test_identities.c - what must hold in the results of any case: read from the files of a run of
 * each case of examples/cases, at every stage and block.
 *
 * The parts of a stage's cost add up (output page, 5.1), water is conserved at every plant, power
 * at every bus, and the scenarios' costs give the summary.
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/paths.h"
#include "mcp/json.h"
#include "run/run.h"
#include "scratch.h"

#define HM3_PER_M3S_HOUR 0.0036
#define TOLERANCE 1e-6  /* of the largest number of a sum */
#define SCENARIOS_MAX 5 /* of a case that are looked at */

struct world {
    scratch folder;
    mcp_arena *arena;
    columns *engine;
    int case_fd, out_fd;
    const char *name; /* of the case */
    const cobre_case *input;
    uint32_t scenarios;
    double *costs; /* by scenario */
};

static mcp_status open_output(int *fd, const char **path, mcp_arena *arena, void *data,
                              mcp_error *err)
{
    struct world *world = data;

    (void)arena;
    *path = "/the/output";
    return guard_make_dir(fd, world->case_fd, "output", err);
}

static void run_case(struct world *world, const char *name)
{
    const cobre_run_order order = {
        .case_dir = "/the/case",
        .open_output = open_output,
        .output_data = world,
        .output_name = "/the/output",
        .phases = COBRE_PHASES_BOTH,
        .threads = 2,
        .engine = world->engine,
    };
    const char *source = getenv("CAUSEWAY_SOURCE");
    cobre_run_order mine = order;
    cobre_run_result result;
    mcp_error err = MCP_ERROR_INIT;
    char path[512];

    snprintf(path, sizeof path, "%s/examples/cases/%s", source ? source : ".", name);
    scratch_copy(&world->folder, name, path);
    world->case_fd = openat(world->folder.fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(world->case_fd >= 0);
    mine.case_fd = world->case_fd;
    if (cobre_run(&result, &mine, world->arena, &err) != MCP_OK)
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(result.end, COBRE_RUN_COMPLETED);
    assert_true(result.has_simulation);
    world->name = name;
    world->input = result.input;
    world->scenarios = result.simulation.scenarios_completed;
    world->costs = mcp_arena_array(world->arena, world->scenarios, sizeof *world->costs);
    assert_int_equal(guard_open_subdir(&world->out_fd, world->case_fd, "output", &err), MCP_OK);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const columns_table *read_rows(struct world *world, const char *entity, uint32_t scenario)
{
    const columns_table *table = NULL;
    mcp_error err = MCP_ERROR_INIT;
    char path[128];

    snprintf(path, sizeof path, "simulation/%s/scenario_id=%04u/data.parquet", entity, scenario);
    int fd = openat(world->out_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail_msg("%s: %s is not there", world->name, path);
    if (columns_read(&table, world->engine, fd, NULL, world->arena, &err) != MCP_OK)
        fail_msg("%s: %s: %s", world->name, path, err.message);
    close(fd);
    return table;
}

static double number(const columns_table *table, const char *name, size_t row)
{
    const columns_column *column = columns_find(table, name);

    if (!column || !columns_is_valid(column, row))
        fail_msg("no %s in row %zu", name, row);
    if (column->type == COLUMNS_I32)
        return ((const int32_t *)column->values)[row];
    assert_int_equal(column->type, COLUMNS_F64);
    return ((const double *)column->values)[row];
}

static size_t index_in(const columns_table *table, const char *name, size_t row)
{
    return (size_t)number(table, name, row);
}

/* Sums by cell, and the largest magnitude that went into each. */
struct sums {
    double *total, *size;
    size_t count;
};

static struct sums no_sums(struct world *world, size_t count)
{
    struct sums sums = { mcp_arena_array(world->arena, count, sizeof(double)),
                         mcp_arena_array(world->arena, count, sizeof(double)), count };

    assert_true(sums.total && sums.size);
    return sums;
}

static void add(struct sums *sums, size_t cell, double value)
{
    assert_true(cell < sums->count);
    sums->total[cell] += value;
    sums->size[cell] = fmax(sums->size[cell], fabs(value));
}

static void assert_zeros(const struct world *world, const struct sums *sums, const char *what,
                         uint32_t scenario)
{
    for (size_t i = 0; i < sums->count; i++)
        if (!(fabs(sums->total[i]) <= TOLERANCE * fmax(1.0, sums->size[i])))
            fail_msg("%s, scenario %u: %s: cell %zu is off by %.12g", world->name, scenario, what,
                     i, sums->total[i]);
}

#define INDEX_OF(registry, count, wanted)                                                          \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (count); i_++)                                                    \
            if ((registry)[i_].id == (wanted))                                                     \
                return i_;                                                                         \
        fail_msg("no entity %d", (int)(wanted));                                                   \
        return 0;                                                                                  \
    } while (0)

static size_t hydro_of(const struct world *world, const columns_table *table, size_t row)
{
    INDEX_OF(world->input->hydros, world->input->hydro_count, number(table, "hydro_id", row));
}

static size_t thermal_of(const struct world *world, const columns_table *table, size_t row)
{
    INDEX_OF(world->input->thermals, world->input->thermal_count, number(table, "thermal_id", row));
}

static size_t line_of(const struct world *world, const columns_table *table, size_t row)
{
    INDEX_OF(world->input->lines, world->input->line_count, number(table, "line_id", row));
}

static size_t bus_of(const struct world *world, const columns_table *table, size_t row)
{
    INDEX_OF(world->input->buses, world->input->bus_count, number(table, "bus_id", row));
}

static size_t source_of(const struct world *world, const columns_table *table, size_t row)
{
    INDEX_OF(world->input->sources, world->input->source_count,
             number(table, "non_controllable_id", row));
}

static size_t station_of(const struct world *world, const columns_table *table, size_t row)
{
    INDEX_OF(world->input->stations, world->input->station_count,
             number(table, "pumping_station_id", row));
}

static size_t contract_of(const struct world *world, const columns_table *table, size_t row)
{
    INDEX_OF(world->input->contracts, world->input->contract_count,
             number(table, "contract_id", row));
}

/* ---- costs ----------------------------------------------------------------------------------- */

static const char *const parts[] = {
    "thermal_cost",           "contract_cost",       "deficit_cost",         "excess_cost",
    "storage_violation_cost", "filling_target_cost", "hydro_violation_cost", "inflow_penalty_cost",
    "generic_violation_cost", "spillage_cost",       "fpha_turbined_cost",   "curtailment_cost",
    "exchange_cost",          "pumping_cost",
};
static const char *const violations[] = {
    "outflow_violation_below_cost", "outflow_violation_above_cost", "turbined_violation_cost",
    "generation_violation_cost",    "evaporation_violation_cost",   "withdrawal_violation_cost",
};

/* The objective has a negative price on the power of sources, the file the cost of curtailing. */
static void add_available(struct world *world, struct sums *sums, uint32_t scenario)
{
    const cobre_case *in = world->input;

    if (in->source_count == 0)
        return;
    const columns_table *table = read_rows(world, "non_controllables", scenario);
    for (size_t row = 0; row < table->rows; row++) {
        size_t t = index_in(table, "stage_id", row), k = index_in(table, "block_id", row);
        double price = in->source_stages[t * in->source_count + source_of(world, table, row)]
                           .curtailment_cost;
        add(sums, t, -price * number(table, "available_mw", row) * in->stages[t].blocks[k].hours);
    }
}

static void costs_add_up(struct world *world, uint32_t scenario)
{
    const columns_table *table = read_rows(world, "costs", scenario);
    struct sums sums = no_sums(world, table->rows), of_hydros = no_sums(world, table->rows);

    assert_int_equal(table->rows, world->input->stage_count);
    for (size_t row = 0; row < table->rows; row++) {
        double immediate = number(table, "immediate_cost", row);
        assert_int_equal(number(table, "stage_id", row), row);
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            add(&sums, row, number(table, parts[i], row));
        add(&sums, row, -immediate);
        for (size_t i = 0; i < sizeof violations / sizeof violations[0]; i++)
            add(&of_hydros, row, number(table, violations[i], row));
        add(&of_hydros, row, -number(table, "hydro_violation_cost", row));
        world->costs[scenario] += number(table, "discount_factor", row) * immediate;
    }
    add_available(world, &sums, scenario);
    assert_zeros(world, &sums, "the parts of immediate_cost", scenario);
    assert_zeros(world, &of_hydros, "the parts of hydro_violation_cost", scenario);
}

/* ---- water ----------------------------------------------------------------------------------- */

/* What the whole stage brings and takes, from its first block's row. */
static void add_stage_water(const struct world *world, struct sums *sums, size_t cell,
                            const columns_table *table, size_t row)
{
    const cobre_hydro_stage *at = &world->input->hydro_stages[cell];
    size_t t = cell / world->input->hydro_count;
    double volume = HM3_PER_M3S_HOUR * world->input->stages[t].hours;
    double withdrawal = at->phase == COBRE_HYDRO_ABSENT ? 0.0 : at->withdrawal;

    add(sums, cell, number(table, "storage_initial_hm3", row));
    add(sums, cell, -number(table, "storage_final_hm3", row));
    add(sums, cell, volume * number(table, "inflow_m3s", row));
    add(sums, cell, volume * number(table, "inflow_nonnegativity_slack_m3s", row));
    add(sums, cell, -volume * number(table, "evaporation_m3s", row));
    add(sums, cell, -volume * withdrawal);
    add(sums, cell, volume * number(table, "water_withdrawal_violation_neg_m3s", row));
    add(sums, cell, -volume * number(table, "water_withdrawal_violation_pos_m3s", row));
}

static void add_pumping(struct world *world, struct sums *sums, uint32_t scenario)
{
    const cobre_case *in = world->input;

    if (in->station_count == 0)
        return;
    const columns_table *table = read_rows(world, "pumping_stations", scenario);
    for (size_t row = 0; row < table->rows; row++) {
        size_t first = index_in(table, "stage_id", row) * in->hydro_count;
        const cobre_station *station = &in->stations[station_of(world, table, row)];
        double volume = number(table, "pumped_volume_hm3", row);
        add(sums, first + station->source, -volume);
        add(sums, first + station->destination, volume);
    }
}

static void water_is_conserved(struct world *world, uint32_t scenario)
{
    const cobre_case *in = world->input;

    if (in->hydro_count == 0)
        return;
    const columns_table *table = read_rows(world, "hydros", scenario);
    struct sums sums = no_sums(world, in->stage_count * in->hydro_count);
    for (size_t row = 0; row < table->rows; row++) {
        size_t t = index_in(table, "stage_id", row), k = index_in(table, "block_id", row);
        size_t cell = t * in->hydro_count + hydro_of(world, table, row);
        double volume = HM3_PER_M3S_HOUR * in->stages[t].blocks[k].hours;
        if (k == 0)
            add_stage_water(world, &sums, cell, table, row);
        add(&sums, cell, -volume * number(table, "outflow_m3s", row));
        add(&sums, cell, -volume * number(table, "diverted_outflow_m3s", row));
    }
    add_pumping(world, &sums, scenario);
    assert_zeros(world, &sums, "the water balance", scenario);
}

/* ---- power ----------------------------------------------------------------------------------- */

/* The cell of a bus in the stage and block of a row. */
static size_t place_of(const struct world *world, const columns_table *table, size_t row,
                       size_t bus)
{
    size_t t = index_in(table, "stage_id", row), k = index_in(table, "block_id", row), blocks = 0;

    for (size_t before = 0; before < t; before++)
        blocks += world->input->stages[before].block_count;
    return (blocks + k) * world->input->bus_count + bus;
}

static void add_exchanges(struct world *world, struct sums *sums, uint32_t scenario)
{
    const cobre_case *in = world->input;

    if (in->line_count == 0)
        return;
    const columns_table *table = read_rows(world, "exchanges", scenario);
    for (size_t row = 0; row < table->rows; row++) {
        const cobre_line *line = &in->lines[line_of(world, table, row)];
        double share = in->config.original_arithmetic ? 1 : 1 - line->losses_percent / 100;
        double direct = number(table, "direct_flow_mw", row);
        double reverse = number(table, "reverse_flow_mw", row);
        add(sums, place_of(world, table, row, line->source), share * reverse - direct);
        add(sums, place_of(world, table, row, line->target), share * direct - reverse);
    }
}

static void add_plants(struct world *world, struct sums *sums, uint32_t scenario)
{
    const cobre_case *in = world->input;

    if (in->thermal_count > 0) {
        const columns_table *table = read_rows(world, "thermals", scenario);
        for (size_t row = 0; row < table->rows; row++)
            add(sums, place_of(world, table, row, in->thermals[thermal_of(world, table, row)].bus),
                number(table, "generation_mw", row));
    }
    if (in->hydro_count > 0) {
        const columns_table *table = read_rows(world, "hydros", scenario);
        for (size_t row = 0; row < table->rows; row++)
            add(sums, place_of(world, table, row, in->hydros[hydro_of(world, table, row)].bus),
                number(table, "generation_mw", row));
    }
    if (in->source_count > 0) {
        const columns_table *table = read_rows(world, "non_controllables", scenario);
        for (size_t row = 0; row < table->rows; row++)
            add(sums, place_of(world, table, row, in->sources[source_of(world, table, row)].bus),
                number(table, "generation_mw", row));
    }
}

static void add_trade(struct world *world, struct sums *sums, uint32_t scenario)
{
    const cobre_case *in = world->input;

    if (in->contract_count > 0) {
        const columns_table *table = read_rows(world, "contracts", scenario);
        for (size_t row = 0; row < table->rows; row++) {
            const cobre_contract *contract = &in->contracts[contract_of(world, table, row)];
            double power = number(table, "power_mw", row);
            add(sums, place_of(world, table, row, contract->bus),
                contract->is_export ? -power : power);
        }
    }
    if (in->station_count > 0) {
        const columns_table *table = read_rows(world, "pumping_stations", scenario);
        for (size_t row = 0; row < table->rows; row++)
            add(sums, place_of(world, table, row, in->stations[station_of(world, table, row)].bus),
                -number(table, "power_consumption_mw", row));
    }
}

static void power_is_conserved(struct world *world, uint32_t scenario)
{
    const columns_table *table = read_rows(world, "buses", scenario);
    struct sums sums = no_sums(world, table->rows);

    for (size_t row = 0; row < table->rows; row++) {
        size_t cell = place_of(world, table, row, bus_of(world, table, row));
        add(&sums, cell, -number(table, "load_mw", row));
        add(&sums, cell, number(table, "deficit_mw", row));
        add(&sums, cell, -number(table, "excess_mw", row));
    }
    add_plants(world, &sums, scenario);
    add_exchanges(world, &sums, scenario);
    add_trade(world, &sums, scenario);
    assert_zeros(world, &sums, "the load balance", scenario);
}

/* ---- every case ------------------------------------------------------------------------------ */

static void the_summary_is_that_of_the_scenarios(struct world *world)
{
    const mcp_json *json = NULL;
    char text[4096] = "";
    double mean = 0, sum = 0;

    int fd = openat(world->out_fd, "simulation/metadata.json", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    assert_int_equal(mcp_json_read(&json, world->arena, text, strlen(text), NULL), MCP_OK);
    assert_true(mcp_json_double(mcp_json_pointer(json, "/cost_summary/mean"), &mean));
    for (uint32_t i = 0; i < world->scenarios; i++)
        sum += world->costs[i];
    assert_true(fabs(mean - sum / world->scenarios) <= 1e-9 * fmax(1, fabs(mean)));
}

static void check_case(const char *name)
{
    struct world world = { .case_fd = -1, .out_fd = -1 };

    scratch_open(&world.folder);
    world.arena = mcp_arena_new((size_t)2 << 30);
    assert_non_null(world.arena);
    assert_int_equal(columns_open(&world.engine, NULL), MCP_OK);
    run_case(&world, name);
    for (uint32_t i = 0; i < world.scenarios && i < SCENARIOS_MAX; i++) {
        costs_add_up(&world, i);
        water_is_conserved(&world, i);
        power_is_conserved(&world, i);
    }
    if (world.scenarios <= SCENARIOS_MAX)
        the_summary_is_that_of_the_scenarios(&world);
    close(world.out_fd);
    close(world.case_fd);
    columns_close(world.engine);
    mcp_arena_free(world.arena);
    scratch_close(&world.folder);
}

static void the_identities_hold_in_every_case(void **state)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char path[512];
    size_t cases = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/examples/cases", source ? source : ".");
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (strchr(entry->d_name, '.'))
            continue;
        check_case(entry->d_name);
        cases++;
    }
    closedir(folder);
    assert_true(cases >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_identities_hold_in_every_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
