/*
 * simulation.c - what it costs to write the results of a simulation: 1,000 scenarios of 60 stages,
 * 5 hydros, 10 thermals and 2 buses.
 *
 * The same policy is simulated in turns without a word to the disk and with all its files, on one
 * thread. Times are processor times of the process, the writing thread included, so other load on
 * the machine does not count. Each round gives a ratio of the writing to the time inside the LP
 * solver; the median counts. The files are in TMPDIR, by default /tmp. Those of a round stay until
 * the end: ext4 makes new files slowly where others were just deleted. Meaningful in Release.
 */
#define KIT_STAGES 60

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tests/unit/servers/cobre/sddp/cases.h"
#include "guard/paths.h"
#include "results/results.h"
#include "sddp/sddp.h"
#include "support/figures.h"
#include "support/program.h"
#include "support/scale.h"

enum { ROUNDS = BENCH(3, 1), STAGES = BENCH(60, 3), SCENARIOS = BENCH(1000, 3) };
enum { ITERATIONS = BENCH(20, 2), OPENINGS = BENCH(20, 3), HYDROS = 5, THERMALS = 10 };

static case_kit kit;
static char folder[256];
static int out_fd = -1;

static void must(mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK)
        bench_give_up("simulation: %s", err->message);
}

static void make_case(void)
{
    kit_begin(&kit, STAGES, HYDROS, THERMALS, 2, 1);
    kit_set_limit(&kit, ITERATIONS);
    kit.c.config.inflow_method = COBRE_INFLOW_TRUNCATION;
    kit.c.config.simulation_enabled = true;
    kit.c.config.simulation_scenarios = SCENARIOS;
    kit.lines[0] = (cobre_line){ .name = "L", .source = 0, .target = 1 };
    for (size_t h = 0; h < HYDROS; h++) {
        double size = 40.0 + 13.0 * (double)h;
        kit.hydros[h].downstream = h % 2 == 0 && h + 1 < HYDROS ? h + 1 : COBRE_NONE;
        kit.hydros[h].bus = h % 2;
        kit_set_hydro(&kit, h, 2.0 * size, 6.0 * size, size, 300.0);
    }
    for (size_t i = 0; i < THERMALS; i++) {
        kit_set_thermal(&kit, i, 20.0 + 5.0 * (double)i, 20.0 + 11.0 * (double)i);
        kit.thermals[i].bus = i % 2;
    }
    for (size_t t = 0; t < STAGES; t++) {
        kit.stages[t].openings = OPENINGS;
        kit.stages[t].discount = 0.99;
        *kit_line(&kit, t, 0) = (cobre_line_stage){ 30.0, 30.0, 0.5, NULL, NULL, false };
        for (size_t b = 0; b < 2; b++)
            kit_bus(&kit, t, b)->load_mean = 190.0 + 3.0 * (double)((t + b) % 12);
        for (size_t h = 0; h < HYDROS; h++) {
            kit_hydro(&kit, t, h)->inflow_mean = 18.0 + (double)((h * 7 + t * 5) % 11);
            kit_hydro(&kit, t, h)->inflow_std = 8.0;
        }
    }
}

static mcp_status on_scenario(const sddp_scenario *scenario, void *data, mcp_error *err)
{
    return results_write_scenario(data, scenario, err);
}

static void on_records(const sddp_records *records, void *data)
{
    mcp_error err = MCP_ERROR_INIT;

    must(results_add_records(data, records, &err), &err);
}

/* Processor seconds of a simulation; `run` may be NULL. */
static double simulate(sddp *study, results *run, sddp_simulation *out)
{
    const sddp_observer writer = { .records = on_records, .scenario = on_scenario, .data = run };
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    double begin = bench_cpu_seconds();
    if (run)
        must(results_begin_simulation(run, &err), &err);
    must(sddp_simulate(study, run ? &writer : NULL, out, &failure, &err), &err);
    if (run)
        must(results_end_simulation(run, out, false, &err), &err);
    return bench_cpu_seconds() - begin;
}

static sddp *trained(void)
{
    sddp *study = NULL;
    sddp_training training;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    must(sddp_new(&study, &kit.c, 1, &err), &err);
    must(sddp_train(study, NULL, &training, &failure, &err), &err);
    return study;
}

static void measure(sddp *study, results *run)
{
    double ratios[ROUNDS], writing[ROUNDS], solving[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        char kept[32];
        sddp_simulation plain, written;
        double alone = simulate(study, NULL, &plain), both = simulate(study, run, &written);
        snprintf(kept, sizeof kept, "round-%d", i);
        if (renameat(out_fd, "simulation", out_fd, kept) != 0)
            bench_give_up("simulation: %s cannot be kept: %s", kept, strerror(errno));
        writing[i] = both - alone;
        /* Of one thread's time, as much as of the time on the clock. */
        solving[i] = alone * (double)plain.solve_time_us * 1e-3 / (double)plain.wall_time_ms;
        ratios[i] = writing[i] / solving[i];
    }
    figures_sort(ratios, ROUNDS);
    figures_sort(writing, ROUNDS);
    figures_sort(solving, ROUNDS);
    printf("simulation: %d scenarios, %d stages, %d hydros, %d thermals, 2 buses\n", SCENARIOS,
           STAGES, HYDROS, THERMALS);
    printf("  solving %.3f s, writing %.3f s, ratio %.2f (%.2f to %.2f)\n",
           figures_at(solving, ROUNDS, 0.5), figures_at(writing, ROUNDS, 0.5),
           figures_at(ratios, ROUNDS, 0.5), ratios[0], ratios[ROUNDS - 1]);
}

int main(void)
{
    const char *place = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    const results_options options = { .version = "bench", .solver = "clp", .threads = 1 };
    results *run = NULL;
    mcp_error err = MCP_ERROR_INIT;

    snprintf(folder, sizeof folder, "%s/bench-simulation-XXXXXX", place);
    if (!mkdtemp(folder))
        bench_give_up("simulation: no folder %s", folder);
    out_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make_case();
    sddp *study = trained();
    must(results_begin(&run, &kit.c, out_fd, &options, &err), &err);
    measure(study, run);
    results_free(run);
    sddp_free(study);
    close(out_fd);
    int parent = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    guard_remove_tree(parent, strrchr(folder, '/') + 1, NULL);
    close(parent);
    return 0;
}
