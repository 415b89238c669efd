/*
 * load.c - how long a case takes from its files to its stage programs: loaded, validated, built.
 * 4 hydros, 120 thermals, 60 stages, with DuckDB open.
 *
 * The case directory is in TMPDIR, by default /tmp. The processor times of each round are added up,
 * those of DuckDB's threads included; the median counts. Meaningful in Release.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns/columns.h"
#include "guard/paths.h"
#include "sddp/sddp.h"
#include "support/figures.h"
#include "support/program.h"
#include "support/scale.h"
#include "validate/load.h"

enum { ROUNDS = BENCH(15, 1), STAGES = BENCH(60, 3), HYDROS = 4, THERMALS = BENCH(120, 3) };

static char folder[256];
static int case_fd = -1;

static void must(mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK)
        bench_give_up("load: %s", err->message);
}

/* ---- the files ------------------------------------------------------------------------------- */

static FILE *begin(const char *name)
{
    int fd = openat(case_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (!file)
        bench_give_up("load: %s/%s cannot be written", folder, name);
    return file;
}

static void write_text(const char *name, const char *text)
{
    FILE *file = begin(name);

    fputs(text, file);
    fclose(file);
}

static void write_small_files(void)
{
    write_text("config.json", "{\"training\": {\"tree_seed\": 7, \"forward_passes\": 1, "
                              "\"stopping_rules\": [{\"type\": \"iteration_limit\", "
                              "\"limit\": 10}]}}");
    write_text("penalties.json",
               "{\"bus\": {\"deficit_segments\": [{\"depth_mw\": null, \"cost\": 4800.0}], "
               "\"excess_cost\": 0.01}, \"line\": {\"exchange_cost\": 0.5}, \"hydro\": {"
               "\"spillage_cost\": 0.01, \"diversion_cost\": 0.01, \"fpha_turbined_cost\": 0.01, "
               "\"storage_violation_below_cost\": 9000.0, "
               "\"filling_target_violation_cost\": 12000.0, "
               "\"turbined_violation_below_cost\": 100.0, "
               "\"outflow_violation_below_cost\": 100.0, "
               "\"outflow_violation_above_cost\": 100.0, "
               "\"generation_violation_below_cost\": 100.0, "
               "\"evaporation_violation_cost\": 100.0, "
               "\"water_withdrawal_violation_cost\": 100.0}, "
               "\"non_controllable_source\": {\"curtailment_cost\": 0.005}}");
    write_text("system/buses.json", "{\"buses\": [{\"id\": 0, \"name\": \"Grid\"}]}");
    write_text("system/lines.json", "{\"lines\": []}");
}

/* Months from 2027 on. */
static void write_stages(void)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    FILE *file = begin("stages.json");

    fputs("{\"policy_graph\": {\"type\": \"finite_horizon\", \"annual_discount_rate\": 0.1}, "
          "\"stages\": [",
          file);
    for (int t = 0; t < STAGES; t++) {
        int year = 2027 + t / 12, month = t % 12, length = days[month];
        if (month == 1 && year % 4 == 0)
            length++;
        fprintf(file,
                "%s{\"id\": %d, \"start_date\": \"%d-%02d-01\", \"end_date\": \"%d-%02d-01\", "
                "\"blocks\": [{\"id\": 0, \"name\": \"ALL\", \"hours\": %d}], "
                "\"num_scenarios\": 20}",
                t > 0 ? ", " : "", t, year, month + 1, month == 11 ? year + 1 : year,
                (month + 1) % 12 + 1, 24 * length);
    }
    fputs("]}", file);
    fclose(file);
}

static void write_plants(void)
{
    FILE *file = begin("system/hydros.json");

    fputs("{\"hydros\": [", file);
    for (int h = 0; h < HYDROS; h++)
        fprintf(file,
                "%s{\"id\": %d, \"name\": \"Lake %d\", \"bus_id\": 0, \"downstream_id\": null, "
                "\"reservoir\": {\"min_storage_hm3\": 0.0, \"max_storage_hm3\": 600.0}, "
                "\"outflow\": {\"min_outflow_m3s\": 0.0, \"max_outflow_m3s\": null}, "
                "\"generation\": {\"model\": \"constant_productivity\", "
                "\"productivity_mw_per_m3s\": 0.9, \"min_turbined_m3s\": 0.0, "
                "\"max_turbined_m3s\": 80.0, \"min_generation_mw\": 0.0, "
                "\"max_generation_mw\": 72.0}}",
                h > 0 ? ", " : "", h, h);
    fputs("]}", file);
    fclose(file);
    file = begin("system/thermals.json");
    fputs("{\"thermals\": [", file);
    for (int i = 0; i < THERMALS; i++)
        fprintf(file,
                "%s{\"id\": %d, \"name\": \"Gas %d\", \"bus_id\": 0, \"cost_per_mwh\": %d, "
                "\"generation\": {\"min_mw\": 0.0, \"max_mw\": 30.0}}",
                i > 0 ? ", " : "", i, i, 20 + 7 * i);
    fputs("]}", file);
    fclose(file);
    file = begin("initial_conditions.json");
    fputs("{\"storage\": [", file);
    for (int h = 0; h < HYDROS; h++)
        fprintf(file, "%s{\"hydro_id\": %d, \"value_hm3\": 160.0}", h > 0 ? ", " : "", h);
    fputs("], \"filling_storage\": []}", file);
    fclose(file);
}

/* Mean and deviation of each entity at each stage. */
static void write_statistics(const char *name, const char *const names[4], int entities,
                             double mean, double deviation)
{
    int32_t ids[STAGES * HYDROS], stages[STAGES * HYDROS];
    double means[STAGES * HYDROS], deviations[STAGES * HYDROS];
    size_t rows = 0;
    mcp_error err = MCP_ERROR_INIT;

    for (int e = 0; e < entities; e++)
        for (int t = 0; t < STAGES; t++, rows++) {
            ids[rows] = e;
            stages[rows] = t;
            means[rows] = mean + t % 12;
            deviations[rows] = deviation;
        }
    const columns_column columns[] = {
        { .name = names[0], .type = COLUMNS_I32, .values = ids },
        { .name = names[1], .type = COLUMNS_I32, .values = stages },
        { .name = names[2], .type = COLUMNS_F64, .values = means },
        { .name = names[3], .type = COLUMNS_F64, .values = deviations },
    };
    int fd = openat(case_fd, "scenarios", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(columns_write(fd, name, &(columns_table){ rows, 4, columns }, &err), &err);
    close(fd);
}

static void write_case(void)
{
    static const char *const inflow[] = { "hydro_id", "stage_id", "mean_m3s", "std_m3s" };
    static const char *const load[] = { "bus_id", "stage_id", "mean_mw", "std_mw" };

    if (mkdirat(case_fd, "system", 0755) != 0 || mkdirat(case_fd, "scenarios", 0755) != 0)
        bench_give_up("load: no folders in %s", folder);
    write_small_files();
    write_stages();
    write_plants();
    write_statistics("inflow_seasonal_stats.parquet", inflow, HYDROS, 50.0, 12.0);
    write_statistics("load_seasonal_stats.parquet", load, 1, 900.0, 0.0);
}

static void remove_case(void)
{
    static const char *const files[] = { "config.json", "penalties.json", "stages.json",
                                         "initial_conditions.json" };

    guard_remove_tree(case_fd, "system", NULL);
    guard_remove_tree(case_fd, "scenarios", NULL);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlinkat(case_fd, files[i], 0);
    close(case_fd);
    rmdir(folder);
}

/* ---- the measurement ------------------------------------------------------------------------- */

typedef struct times {
    double load, build; /* seconds of processor time */
} times;

static times measure(columns *engine)
{
    mcp_arena *arena = mcp_arena_new((size_t)256 << 20);
    cobre_report *report = cobre_report_new(arena);
    const cobre_case *input = NULL;
    sddp *study = NULL;
    mcp_error err = MCP_ERROR_INIT;

    double start = bench_cpu_seconds();
    must(cobre_case_load(&input, case_fd, folder, engine, report, arena, &err), &err);
    if (!input)
        bench_give_up("load: %s", cobre_report_finding(report, COBRE_SEVERITY_ERROR, 0)->message);
    double loaded = bench_cpu_seconds();
    must(sddp_new(&study, input, 1, &err), &err);
    double built = bench_cpu_seconds();
    sddp_free(study);
    mcp_arena_free(arena);
    return (times){ loaded - start, built - loaded };
}

int main(void)
{
    const char *place = getenv("TMPDIR");
    columns *engine = NULL;
    double loads[ROUNDS], builds[ROUNDS], sums[ROUNDS];
    mcp_error err = MCP_ERROR_INIT;

    snprintf(folder, sizeof folder, "%s/bench-load-XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(folder))
        bench_give_up("load: no folder %s", folder);
    case_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_case();
    must(columns_open(&engine, &err), &err);
    measure(engine); /* opens DuckDB */
    for (int i = 0; i < ROUNDS; i++) {
        times now = measure(engine);
        loads[i] = now.load * 1e3;
        builds[i] = now.build * 1e3;
        sums[i] = loads[i] + builds[i];
    }
    figures_sort(loads, ROUNDS);
    figures_sort(builds, ROUNDS);
    figures_sort(sums, ROUNDS);
    printf("load: a case of %d hydros, %d thermals and %d stages: %.1f ms of processor time\n",
           HYDROS, THERMALS, STAGES, figures_at(sums, ROUNDS, 0.5));
    printf("  loaded and validated %.1f ms, built %.1f ms\n", figures_at(loads, ROUNDS, 0.5),
           figures_at(builds, ROUNDS, 0.5));
    columns_close(engine);
    remove_case();
    return 0;
}
