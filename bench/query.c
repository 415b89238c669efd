/*
 * query.c - how soon a question about a large simulation is answered: 2,000 scenarios of 120 stages
 * and 160 hydros, 38 million rows, of which one hydro and twelve stages are asked for.
 *
 * The files are written by the writer of the results with made-up decisions, then read once to fill
 * the page cache. Each round gives the first 1,000 rows and the count of all, from one pass; the
 * median of the times on the clock counts. The files are in TMPDIR, by default /tmp. Meaningful in
 * Release, and on a machine that does nothing else.
 */
#define KIT_STAGES 120
#define KIT_ENTITIES 160

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../tests/unit/servers/cobre/sddp/cases.h"
#include "guard/paths.h"
#include "query/rows.h"
#include "results/results.h"
#include "support/figures.h"
#include "support/program.h"
#include "support/scale.h"

enum { ROUNDS = BENCH(5, 1), SCENARIOS = BENCH(2000, 3), STAGES = BENCH(120, 14) };
enum { HYDROS = BENCH(160, 4), ROWS_SHOWN = 1000, STAGES_ASKED = 12, ARRAYS = 8 };

static case_kit kit;
static char folder[256];
static double values[STAGES][ARRAYS][HYDROS]; /* made up for each scenario */
static const double zeros[HYDROS];
static sddp_stage_result decisions[STAGES];

static void must(mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK)
        bench_give_up("query: %s", err->message);
}

/* From 0 to 256 by sixteenths, as plants work at few levels. */
static double next_value(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 52) / 16.0;
}

static void make_decisions(void)
{
    static const column_region regions[] = { REGION_TURBINED, REGION_SPILLED, REGION_INFLOW,
                                             REGION_INCOMING, REGION_STORAGE };

    for (size_t t = 0; t < STAGES; t++) {
        sddp_stage_result *did = &decisions[t];
        *did = (sddp_stage_result){ .stage = t, .blocks = 1, .discount = 1.0 };
        for (size_t r = 0; r < REGION_COUNT; r++) {
            did->value[r] = zeros;
            did->width[r] = 1;
        }
        for (size_t i = 0; i < sizeof regions / sizeof regions[0]; i++)
            did->value[regions[i]] = values[t][i];
        did->generation_mw = values[t][5];
        did->water_value = values[t][6];
        did->load_mw = did->spot_price = did->available_mw = values[t][7];
    }
}

static void write_scenarios(int out_fd)
{
    const results_options options = { .version = "bench", .solver = "none", .threads = 1 };
    const sddp_simulation end = { .scenarios_total = SCENARIOS, .scenarios_completed = SCENARIOS };
    results *run = NULL;
    mcp_error err = MCP_ERROR_INIT;

    must(results_begin(&run, &kit.c, out_fd, &options, &err), &err);
    must(results_begin_simulation(run, &err), &err);
    for (uint32_t i = 0; i < SCENARIOS; i++) {
        const sddp_scenario scenario = { .scenario = i,
                                         .stages = decisions,
                                         .stage_count = STAGES };
        for (size_t v = 0; v < sizeof values / sizeof(double); v++)
            ((double *)values)[v] = next_value();
        must(results_write_scenario(run, &scenario, &err), &err);
    }
    must(results_end_simulation(run, &end, false, &err), &err);
    results_free(run);
}

static mcp_status count_rows(const columns_table *rows, void *data, mcp_error *err)
{
    (void)err;
    *(uint64_t *)data += rows->rows;
    return MCP_OK;
}

/* Milliseconds of one answer; adds its processor time to `cpu_seconds`. */
static double ask(columns *engine, int out_fd, double *cpu_seconds)
{
    static const int64_t hydro = HYDROS / 2;
    const char *names[QUERY_COLUMNS_MAX];
    const query_table *table = query_table_find("hydros");
    uint64_t shown = 0;
    const query_sink sink = { .take = count_rows, .data = &shown };
    const query_question question = { .table = table,
                                      .names = names,
                                      .name_count = query_columns_all(names, table),
                                      .ids = &hydro,
                                      .id_count = 1,
                                      .stages = { true, 1, STAGES_ASKED },
                                      .rows_max = ROWS_SHOWN };
    mcp_arena *arena = mcp_arena_new(0);
    query_answer answer;
    mcp_error err = MCP_ERROR_INIT;
    double cpu_begin = bench_cpu_seconds();
    int64_t begin = bench_now_ns();

    must(query_rows(&answer, engine, out_fd, &question, &sink, arena, &err), &err);
    double elapsed = (double)(bench_now_ns() - begin) * 1e-6;
    *cpu_seconds += bench_cpu_seconds() - cpu_begin;
    uint64_t matching = (uint64_t)SCENARIOS * STAGES_ASKED;
    if (answer.total != matching || shown != (matching < ROWS_SHOWN ? matching : ROWS_SHOWN))
        bench_give_up("query: %llu rows of %llu", (unsigned long long)shown,
                      (unsigned long long)answer.total);
    mcp_arena_free(arena);
    return elapsed;
}

int main(void)
{
    const char *place = getenv("TMPDIR");
    columns *engine = NULL;
    double times[ROUNDS], cpu_first = 0.0, cpu = 0.0;
    mcp_error err = MCP_ERROR_INIT;

    snprintf(folder, sizeof folder, "%s/bench-query-XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(folder))
        bench_give_up("query: no folder %s", folder);
    int out_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(columns_open(&engine, &err), &err);
    kit_begin(&kit, STAGES, HYDROS, 0, 1, 0);
    make_decisions();
    write_scenarios(out_fd);
    double first = ask(engine, out_fd, &cpu_first);
    for (int i = 0; i < ROUNDS; i++)
        times[i] = ask(engine, out_fd, &cpu);
    figures_sort(times, ROUNDS);
    printf("query: one hydro and %d stages of %.1f million rows in %d files\n", STAGES_ASKED,
           (double)SCENARIOS * STAGES * HYDROS * 1e-6, SCENARIOS);
    printf("  first %.0f ms, then %.0f ms (%.0f to %.0f); processor time %.0f ms\n", first,
           figures_at(times, ROUNDS, 0.5), times[0], times[ROUNDS - 1], 1e3 * cpu / ROUNDS);
    columns_close(engine);
    guard_remove_tree(out_fd, "simulation", NULL);
    close(out_fd);
    rmdir(folder);
    return 0;
}
