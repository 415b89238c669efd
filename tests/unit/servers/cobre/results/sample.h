/*
 * sample.h - a small case and its decisions, for the tests of the writers.
 *
 * Two stages: the first has blocks of 100 and 300 hours, the second one of 200. Two hydros, the
 * first above the second and also diverting to it; one thermal; two buses; one line.
 */
#ifndef RESULTS_SAMPLE_H
#define RESULTS_SAMPLE_H

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "results/results.h"
#include "scratch.h"

static const cobre_block first_blocks[] = { { 0, "peak", 100.0 }, { 1, "base", 300.0 } };
static const cobre_block second_blocks[] = { { 0, "all", 200.0 } };
static const cobre_stage sample_stages[] = {
    { .id = 0, .blocks = first_blocks, .block_count = 2, .hours = 400.0, .discount = 0.9 },
    { .id = 1, .blocks = second_blocks, .block_count = 1, .hours = 200.0, .discount = 1.0 },
};
static const cobre_bus sample_buses[] = { { .id = 10, .name = "South" },
                                          { .id = 11, .name = "North, \"far\"" } };
static const cobre_line sample_lines[] = {
    { .id = 5, .name = "tie", .source = 0, .target = 1, .losses_percent = 10.0 }
};
static const cobre_thermal sample_thermals[] = { { .id = 3, .name = "coal", .bus = 1 } };
static const cobre_hydro sample_hydros[] = {
    { .id = 1,
      .name = "upper",
      .bus = 0,
      .downstream = 1,
      .diversion_downstream = 1,
      .productivity = 0.5,
      .inflow_nonnegativity_cost = 7.0 },
    { .id = 2,
      .name = "lower",
      .bus = 0,
      .downstream = COBRE_NONE,
      .diversion_downstream = COBRE_NONE,
      .productivity = 2.0 },
};
static const cobre_hydro_stage sample_hydro_stages[] = {
    { .min_storage = 10,
      .max_storage = 50,
      .max_turbined = 40,
      .max_outflow = INFINITY,
      .max_generation = 20,
      .spillage_cost = 0.5,
      .diversion_cost = 0.25,
      .turbined_below_cost = 2,
      .outflow_below_cost = 3,
      .outflow_above_cost = 4,
      .generation_below_cost = 5,
      .withdrawal_pos_cost = 6,
      .withdrawal_neg_cost = 8 },
    { .min_storage = 20,
      .max_storage = 20,
      .max_turbined = 30,
      .max_outflow = 90,
      .max_generation = 60,
      .spillage_cost = 0.125 },
    { .min_storage = 0, .max_storage = 50, .max_outflow = INFINITY },
    { .min_storage = 0, .max_storage = 30, .max_outflow = INFINITY },
};
static const cobre_thermal_stage sample_thermal_stages[] = {
    { .min_mw = 5, .max_mw = 100, .cost_per_mwh = 30.0 },
    { .min_mw = 6, .max_mw = 90, .cost_per_mwh = 40.0 }
};
static const cobre_line_stage sample_line_stages[] = {
    { .direct_mw = 25, .reverse_mw = 15, .exchange_cost = 0.5 },
    { .direct_mw = 26, .reverse_mw = 16, .exchange_cost = 0.5 },
};
static const cobre_bus_stage sample_bus_stages[] = {
    { .excess_cost = 2.0 },
    { .excess_cost = 1.0 },
    { .excess_cost = 0.0 },
    { .excess_cost = 0.0 },
};
static const cobre_stopping_rule sample_rules[] = {
    { .kind = COBRE_RULE_TIME_LIMIT, .seconds = 60 },
    { .kind = COBRE_RULE_ITERATION_LIMIT, .limit = 128 }
};

static const cobre_case sample_case = {
    .name = "sample",
    .config = { .forward_passes = 4,
                .rules = sample_rules,
                .rule_count = 2,
                .has_tree_seed = true,
                .tree_seed = -42 },
    .stages = sample_stages,
    .stage_count = 2,
    .buses = sample_buses,
    .bus_count = 2,
    .lines = sample_lines,
    .line_count = 1,
    .hydros = sample_hydros,
    .hydro_count = 2,
    .thermals = sample_thermals,
    .thermal_count = 1,
    .hydro_stages = sample_hydro_stages,
    .thermal_stages = sample_thermal_stages,
    .line_stages = sample_line_stages,
    .bus_stages = sample_bus_stages,
};

static const results_options sample_options = {
    .version = "2.0.0",
    .solver = "clp",
    .solver_version = "1.17",
    .threads = 2,
    .trains = true,
};

static const sddp_iteration sample_rows[] = {
    { .iteration = 1,
      .lower_bound = -5.0,
      .upper_bound = 120.0,
      .upper_bound_std = 10.0,
      .gap = 125.0 / 120.0,
      .cuts_added = 3,
      .cuts_active = 3,
      .time_forward_ms = 4,
      .time_backward_ms = 5,
      .time_total_ms = 10,
      .wall_time_ms = 10,
      .lower_bound_ms = 1,
      .overhead_ms = 2,
      .forward_passes = 4,
      .lp_solves = 77 },
    { .iteration = 2,
      .lower_bound = 90.0,
      .upper_bound = 100.0,
      .upper_bound_std = 0.0,
      .gap = 0.1,
      .cuts_added = 3,
      .cuts_removed = 1,
      .cuts_active = 5,
      .time_forward_ms = 6,
      .time_backward_ms = 7,
      .time_total_ms = 15,
      .wall_time_ms = 25,
      .lower_bound_ms = 3,
      .overhead_ms = 4,
      .forward_passes = 4,
      .lp_solves = 78 },
};

static const sddp_training sample_training = {
    .rows = sample_rows,
    .iterations = 2,
    .reason = SDDP_ITERATION_LIMIT,
    .total_cuts = 6,
    .active_cuts = 5,
    .peak_active_cuts = 6,
    .wall_time_ms = 25,
    .lp_solves = 155,
};

struct world {
    scratch folder;
    columns *engine;
    mcp_arena *arena;
    mcp_error err;
};

static int set_up(void **state)
{
    static struct world world;

    scratch_open(&world.folder);
    world.arena = mcp_arena_new(0);
    *state = &world;
    return columns_open(&world.engine, &world.err) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    columns_close(world->engine);
    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    return 0;
}

/* Begin a run; a failure ends the test. */
static inline results *begin(struct world *world, const results_options *options)
{
    results *run = NULL;
    mcp_status st = results_begin(&run, &sample_case, world->folder.fd, options, &world->err);

    if (st != MCP_OK)
        fail_msg("%s", world->err.message);
    return run;
}

static inline bool is_there(const struct world *world, const char *relative)
{
    return faccessat(world->folder.fd, relative, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline const columns_table *read_table(struct world *world, const char *relative)
{
    const columns_table *table = NULL;
    int fd = openat(world->folder.fd, relative, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        fail_msg("%s is not there", relative);
    mcp_status st = columns_read(&table, world->engine, fd, NULL, world->arena, &world->err);
    if (st != MCP_OK)
        fail_msg("%s: %s", relative, world->err.message);
    close(fd);
    return table;
}

static inline const char *read_text(struct world *world, const char *relative)
{
    char *text = mcp_arena_alloc(world->arena, 65536);
    int fd = openat(world->folder.fd, relative, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        fail_msg("%s is not there", relative);
    assert_true(read(fd, text, 65535) >= 0);
    close(fd);
    return text;
}

static inline const mcp_json *read_json(struct world *world, const char *relative)
{
    const char *text = read_text(world, relative);
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, world->arena, text, strlen(text), &world->err), MCP_OK);
    return value;
}

/* A number of a table, whatever its type; NAN where it is null. */
static inline double number_at(const columns_table *table, const char *name, size_t row)
{
    const columns_column *column = columns_find(table, name);

    if (!column || row >= table->rows)
        fail_msg("no column %s or no row %zu", name, row);
    if (!columns_is_valid(column, row))
        return NAN;
    switch (column->type) {
    case COLUMNS_I8:
        return ((const int8_t *)column->values)[row];
    case COLUMNS_BOOL:
        return ((const uint8_t *)column->values)[row];
    case COLUMNS_I32:
        return ((const int32_t *)column->values)[row];
    case COLUMNS_I64:
        return (double)((const int64_t *)column->values)[row];
    case COLUMNS_U32:
        return ((const uint32_t *)column->values)[row];
    case COLUMNS_U64:
        return (double)((const uint64_t *)column->values)[row];
    default:
        return ((const double *)column->values)[row];
    }
}

static inline void expect_number(const columns_table *table, const char *name, size_t row,
                                 double expected)
{
    double got = number_at(table, name, row);

    if (isnan(expected) ? !isnan(got) : !(fabs(got - expected) <= 1e-9 * fmax(1.0, fabs(expected))))
        fail_msg("%s in row %zu is %.17g and not %.17g", name, row, got, expected);
}

static inline void expect_pointer_int(const mcp_json *json, const char *pointer, int64_t expected)
{
    int64_t got = 0;

    if (!mcp_json_int(mcp_json_pointer(json, pointer), &got) || got != expected)
        fail_msg("%s is %lld and not %lld", pointer, (long long)got, (long long)expected);
}

static inline void expect_pointer_text(const mcp_json *json, const char *pointer,
                                       const char *expected)
{
    const char *got = mcp_json_string(mcp_json_pointer(json, pointer), NULL);

    if (!got || strcmp(got, expected) != 0)
        fail_msg("%s is %s and not %s", pointer, got ? got : "absent", expected);
}

#endif
