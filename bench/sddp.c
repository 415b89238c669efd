/*
 * sddp.c - how fast the solver trains: LP solves per second of processor time, one thread, compared
 * with the training over Clp alone, and with bare loops over the same programs.
 *
 * The two trainings run in turns, an iteration each, and each chooses its own trial states. A loop
 * (support/loop.h) follows the first one: after some of its iterations it solves the same programs
 * again, so load on the machine and the number of cuts are the same for both, and only these
 * iterations are compared. It warms up with the iteration before. Each lower bound of a loop must
 * be the training's. A solve is counted as the original counts it: a program that is solved again
 * because a cut was violated counts once. The share left to Clp is of the first training's solves.
 * Each row is a process of its own; the peak of its memory has the second training and the loops in
 * it where there are any. An argument chooses the rows whose names contain it. Meaningful in
 * Release.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcp/clock.h"

#include "sddp/sddp.h"
#include "support/loop.h"
#include "support/program.h"
#include "support/scale.h"
#include "support/studies.h"

enum { EARLY = 25, LOOPS_MAX = 2, PATHS = 2 };

/* What the training solves with: the case's default, by the size of a program, and Clp alone. */
static const cobre_backend paths[PATHS] = { COBRE_BACKEND_AUTO, COBRE_BACKEND_CLP };

typedef struct row {
    const char *name;
    study_maker *make;
    study_shape shape;
    uint32_t passes;
    uint32_t unmeasured, measured; /* iterations */
    uint32_t every;                /* which of the measured ones the loops follow; 0: none */
    bool has_clp;                  /* trained over Clp alone as well */
    int rounds;
    const char *page; /* the prototype's rates on the page of the dual simplex, and those of Clp and
                         GLPK there; NULL: the page has no such row */
} row;

/* clang-format off */
static const row rows[] = {
    /* name                                    make            stages hydros thermals buses openings blocks lags */
    { "1dtoy, 128 iterations",                 study_toy,      { 0 },
      1, 0, BENCH(128, 3), 1, true, BENCH(10, 1),
      "1,100,000; Clp 26,000, GLPK 88,000" },
    { "4 reservoirs, 60 x 82, 30 iterations",  study_brazil,   { BENCH(60, 3), 4, 95, 5, BENCH(82, 2), 1, 0 },
      1, 0, BENCH(30, 3), BENCH(10, 2), true, 1,
      "730,000 to 1,010,000; Clp 21,000 to 24,000, GLPK 41,000 to 49,000" },
    { "4 reservoirs, 60 x 82, 120 iterations", study_brazil,   { BENCH(60, 3), 4, 95, 5, BENCH(82, 2), 1, 0 },
      1, 0, BENCH(120, 3), 0, false, 1,
      "640,000; Clp 12,400, GLPK 29,800" },
    { "4 reservoirs, 60 x 82, 400 iterations", study_brazil,   { BENCH(60, 3), 4, 95, 5, BENCH(82, 2), 1, 0 },
      1, 0, BENCH(400, 3), 0, false, 1,
      "320,000 to 350,000" },
    { "5 hydros, 60 x 20, 200 iterations",     study_cascades, { BENCH(60, 3), 5, 10, 2, BENCH(20, 2), 1, 0 },
      1, 0, BENCH(200, 4), BENCH(40, 2), true, 1,
      "390,000 to 607,000; Clp 23,000, GLPK 60,000" },
    { "5 hydros, 60 x 20, 400 iterations",     study_cascades, { BENCH(60, 3), 5, 10, 2, BENCH(20, 2), 1, 0 },
      1, 0, BENCH(400, 4), 0, false, 1, NULL },
    { "10 hydros, 12 x 20, 40 iterations",     study_cascades, { BENCH(12, 3), 10, 10, 2, BENCH(20, 2), 1, 0 },
      1, 0, BENCH(40, 4), BENCH(20, 2), true, 1,
      "143,000 to 215,000; Clp 16,500, GLPK 30,000 to 41,000" },
    { "20 hydros, 12 x 20, 40 iterations",     study_cascades, { BENCH(12, 3), 20, 10, 2, BENCH(20, 2), 1, 0 },
      1, 0, BENCH(40, 4), BENCH(20, 2), true, 1,
      "51,000 to 80,000; Clp 6,000 to 7,000, GLPK 13,000" },
    { "20 hydros, 3 blocks, 40 iterations",    study_cascades, { BENCH(12, 3), 20, 10, 2, BENCH(20, 2), 3, 0 },
      1, 0, BENCH(40, 4), BENCH(20, 2), true, 1,
      "13,500 to 19,500; Clp 3,700, GLPK 3,900" },
    { "50 hydros, 3 blocks, 10 iterations",    study_cascades, { BENCH(12, 3), BENCH(50, 4), 10, 2, BENCH(20, 2), 3, 0 },
      1, 0, BENCH(10, 4), BENCH(5, 2), true, 1,
      "3,400 to 5,000; Clp 1,600 to 2,200, GLPK 1,600" },
    { "100 hydros, 3 blocks, 10 iterations",   study_cascades, { BENCH(12, 3), BENCH(100, 4), 10, 2, BENCH(20, 2), 3, 0 },
      1, 0, BENCH(10, 4), BENCH(5, 2), true, 1,
      "650; Clp 536, GLPK 318" },
    { "160 hydros, 3 blocks, 450 cuts",        study_cascades, { 3, BENCH(160, 4), BENCH(80, 2), 5, BENCH(5, 2), 3, 0 },
      15, BENCH(30, 1), 1, 1, false, 1, NULL },
    { "160 hydros, 3 blocks, PAR(6)",          study_cascades, { 3, BENCH(160, 4), BENCH(80, 2), 5, BENCH(5, 2), 3, 6 },
      15, BENCH(30, 1), 1, 0, false, 1, NULL },
    { "160 hydros, 60 stages, PAR(6)",         study_cascades, { BENCH(60, 3), BENCH(160, 4), BENCH(80, 2), 5, 2, 3, 6 },
      1, 0, BENCH(6, 2), 0, false, 1, NULL },
};
/* clang-format on */

/* Solves, and the processor time that they took. */
typedef struct work {
    double solves, seconds;
} work;

/* What a row came to. */
typedef struct outcome {
    work training, early;
    work clp; /* the training over Clp alone */
    double wall_us, solver_us;
    int64_t fallbacks;
    const char *solver;
    work followed[LOOPS_MAX]; /* by the loop: the training's part */
    work loops[LOOPS_MAX];
} outcome;

/* A study under measurement. */
typedef struct run {
    const row *row;
    case_kit *kits[PATHS];
    sddp *studies[PATHS]; /* the second: NULL where it is not wanted */
    const loop_solver *solvers[LOOPS_MAX];
    loop *loops[LOOPS_MAX];
    size_t loop_count;
    outcome *out;
} run;

static void add(work *sum, double solves, double seconds)
{
    sum->solves += solves;
    sum->seconds += seconds;
}

static double rate(const work *of)
{
    return of->seconds > 0.0 ? of->solves / of->seconds : 0.0;
}

/* The next iteration of a study. */
static sddp_training train_once(const run *it, size_t path, work *took)
{
    sddp_training training;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    it->kits[path]->rules[0].limit++;
    it->kits[path]->c.config.max_iterations++;
    double begin = bench_cpu_seconds();
    if (sddp_train(it->studies[path], NULL, &training, &failure, &err) != MCP_OK)
        bench_give_up("sddp: %s: %s", it->row->name, err.message);
    *took = (work){ (double)training.lp_solves, bench_cpu_seconds() - begin };
    return training;
}

static void follow(run *it, double bound, const work *took, bool is_measured)
{
    for (size_t i = 0; i < it->loop_count; i++) {
        double own = 0.0, begin = bench_cpu_seconds();
        double solves = (double)loop_run(it->loops[i], &own);
        double seconds = bench_cpu_seconds() - begin;
        if (fabs(own - bound) > 1e-7 * (1.0 + fabs(bound)))
            bench_give_up("sddp: %s: the loop over %s has the lower bound %.12g, the training "
                          "%.12g",
                          it->row->name, it->solvers[i]->name, own, bound);
        if (!is_measured)
            continue;
        add(&it->out->loops[i], solves, seconds);
        add(&it->out->followed[i], took->solves, took->seconds);
    }
}

static void count(run *it, uint32_t at, const work *took, const sddp_training *training,
                  int64_t wall_ns)
{
    outcome *out = it->out;

    add(&out->training, took->solves, took->seconds);
    if (at <= EARLY)
        add(&out->early, took->solves, took->seconds);
    out->solver_us += (double)training->solve_time_us;
    out->wall_us += (double)wall_ns * 1e-3;
    out->fallbacks += training->fallbacks;
}

/* Iteration `number`, from 1. */
static void iterate(run *it, uint32_t number)
{
    const row *row = it->row;
    uint32_t every = row->every, at = number - row->unmeasured; /* wraps around before */
    bool is_measured = number > row->unmeasured;
    bool is_followed = is_measured && every > 0 && at % every == 0;
    bool warms_up = every > 0 && number + 1 > row->unmeasured && (at + 1) % every == 0;
    int64_t begin = mcp_clock_mono_ns();
    work took, clp;
    sddp_training training = train_once(it, 0, &took);

    if (is_measured)
        count(it, at, &took, &training, mcp_clock_mono_ns() - begin);
    if (is_followed || warms_up)
        follow(it, training.rows[training.iterations - 1].lower_bound, &took, is_followed);
    if (!it->studies[1])
        return;
    train_once(it, 1, &clp);
    if (is_measured)
        add(&it->out->clp, clp.solves, clp.seconds);
}

static void begin(run *it)
{
    const row *row = it->row;
    mcp_error err = MCP_ERROR_INIT;

    for (size_t i = 0; i < (row->has_clp ? PATHS : 1); i++) {
        case_kit *kit = it->kits[i];
        row->make(kit, &row->shape);
        kit->c.config.forward_passes = row->passes;
        kit->c.config.backend = paths[i];
        kit_set_limit(kit, 0);
        if (sddp_new(&it->studies[i], &kit->c, 1, &err) != MCP_OK)
            bench_give_up("sddp: %s: %s", row->name, err.message);
    }
    it->out->solver = sddp_solver(it->studies[0]);
    if (row->every > 0)
        it->solvers[it->loop_count++] = &loop_clp;
    if (row->every > 0 && loop_glpk)
        it->solvers[it->loop_count++] = loop_glpk;
    for (size_t i = 0; i < it->loop_count; i++)
        loop_new(&it->loops[i], it->studies[0], it->solvers[i]);
}

static void measure(outcome *out, const row *row)
{
    static case_kit kits[PATHS];
    run it = { .row = row, .kits = { &kits[0], &kits[1] }, .out = out };

    begin(&it);
    for (uint32_t i = 1; i <= row->unmeasured + row->measured; i++)
        iterate(&it, i);
    for (size_t i = 0; i < it.loop_count; i++)
        loop_free(it.loops[i]);
    for (size_t i = 0; i < PATHS; i++)
        sddp_free(it.studies[i]);
}

/* A rate, and how many times it the training's is. */
static void print_other(const work *other, const work *training)
{
    if (other->solves > 0.0)
        printf("  %9.0f /s %6.2f x", rate(other), rate(training) / rate(other));
    else
        printf("  %21s", "");
}

static void print(const row *row, const outcome *found)
{
    printf("  %-38s %-4s %9.0f /s  %5.1f %%  %5.0f MiB", row->name, found->solver,
           rate(&found->training), 100.0 * found->solver_us / found->wall_us, bench_peak_mib());
    print_other(&found->clp, &found->training);
    for (size_t i = 0; i < LOOPS_MAX; i++)
        print_other(&found->loops[i], &found->followed[i]);
    if (row->measured > EARLY)
        printf("  first %d iterations %.0f /s", EARLY, rate(&found->early));
    printf("  %.4f %% left to Clp", 100.0 * (double)found->fallbacks / found->training.solves);
    printf("\n");
    if (row->page)
        printf("  %-38s      %s (/s, one machine)\n", "  the page", row->page);
    fflush(stdout);
}

/* In a process of its own, whose peak of memory is the row's. */
static void run_row(const row *row)
{
    outcome found = { 0 };
    int status = 0;
    pid_t child = fork();

    if (child < 0)
        bench_give_up("sddp: no process");
    if (child == 0) {
        for (int i = 0; i < row->rounds; i++)
            measure(&found, row);
        print(row, &found);
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        bench_give_up("sddp: %s ended with %d", row->name, status);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";

    printf("sddp: LP solves per second of processor time (%s %s)\n", lp_solver_name(),
           lp_solver_version());
    printf("  %-43s %12s  %7s  %9s  %12s %8s  %12s %8s  %12s\n", "", "training", "in LPs", "peak",
           "over Clp", "", "Clp loop", "", loop_glpk ? "GLPK loop" : "");
    fflush(stdout);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strstr(rows[i].name, part))
            run_row(&rows[i]);
    return 0;
}
