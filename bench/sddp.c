/*
 * sddp.c - how fast the solver works: the case 1dtoy, 128 iterations, one thread (or the number
 * given as argument).
 *
 * Prints LP solves per second, counted as the original counts them (5632 stage programs; one that
 * is solved again because a cut was violated counts once), and the share of the threads' time that
 * was spent inside the LP solver. The best of several runs counts; meaningful in Release.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mcp/clock.h"

#include "../tests/unit/servers/cobre/sddp/cases.h"
#include "lp/lp.h"
#include "sddp/sddp.h"
#include "support/scale.h"

enum { RUNS = BENCH(5, 1) };

typedef struct measurement {
    double seconds, solver_seconds, lower_bound;
    int64_t stage_solves;
} measurement;

static int run_once(measurement *out, const cobre_case *input, unsigned threads)
{
    sddp *study = NULL;
    sddp_training training;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    mcp_status st = sddp_new(&study, input, threads, &err);
    int64_t begin = mcp_clock_mono_ns();
    if (st == MCP_OK)
        st = sddp_train(study, NULL, &training, &failure, &err);
    if (st != MCP_OK) {
        fprintf(stderr, "sddp: %s\n", err.message);
        sddp_free(study);
        return 1;
    }
    out->seconds = (double)(mcp_clock_mono_ns() - begin) * 1e-9;
    out->solver_seconds = (double)training.solve_time_us * 1e-6;
    out->stage_solves = training.lp_solves;
    out->lower_bound = training.rows[training.iterations - 1].lower_bound;
    sddp_free(study);
    return 0;
}

int main(int argc, char **argv)
{
    static case_kit kit;
    long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    measurement best = { .seconds = 1e30 };

    if (threads < 1 || threads > 1024)
        threads = 1;
    case_1dtoy(&kit);
    for (int i = 0; i < RUNS; i++) {
        measurement now;
        if (run_once(&now, &kit.c, (unsigned)threads))
            return 1;
        if (now.seconds < best.seconds)
            best = now;
    }
    printf("sddp: 1dtoy, 128 iterations, %ld thread%s, solver %s %s\n", threads,
           threads == 1 ? "" : "s", lp_solver_name(), lp_solver_version());
    printf("  %lld LP solves in %.1f ms: %.0f per second\n", (long long)best.stage_solves,
           best.seconds * 1e3, (double)best.stage_solves / best.seconds);
    printf("  inside the LP solver: %.1f %% of wall time x threads\n",
           100.0 * best.solver_seconds / best.seconds / (double)threads);
    printf("  lower bound %.6f\n", best.lower_bound);
    return 0;
}
