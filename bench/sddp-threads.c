/*
 * sddp-threads.c - what a second thread brings to the training, on a machine that does nothing else
 * and on one whose processors two endless loops want as well.
 *
 * The same study is trained by one thread and by two in turns, and the lower bounds must have the
 * same bits. Times are those on the clock, so the first figure means nothing where other programs
 * run; each is the median of the rounds. Meaningful in Release.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sddp/sddp.h"
#include "support/figures.h"
#include "support/program.h"
#include "support/scale.h"
#include "support/studies.h"

enum { ROUNDS = BENCH(5, 1), LOOPS = 2 };

typedef struct row {
    const char *name;
    study_maker *make;
    study_shape shape;
    uint32_t passes, iterations;
} row;

/* clang-format off */
static const row rows[] = {
    /* name                             make            stages hydros thermals buses openings blocks lags */
    { "4 reservoirs, 82 openings",      study_brazil,   { BENCH(60, 3), 4, 95, 5, BENCH(82, 2), 1, 0 }, 1, BENCH(5, 2) },
    { "5 hydros, 20 openings, 4 passes", study_cascades, { BENCH(60, 3), 5, 10, 2, BENCH(20, 2), 1, 0 }, 4, BENCH(5, 2) },
    { "5 hydros, 20 openings, 1 pass",  study_cascades, { BENCH(60, 3), 5, 10, 2, BENCH(20, 2), 1, 0 }, 1, BENCH(20, 2) },
};
/* clang-format on */

/* Seconds on the clock; `bound` receives the lower bound. */
static double train(double *bound, case_kit *kit, unsigned threads)
{
    sddp *study = NULL;
    sddp_training training;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_new(&study, &kit->c, threads, &err) != MCP_OK)
        bench_give_up("threads: %s", err.message);
    int64_t begin = bench_now_ns();
    if (sddp_train(study, NULL, &training, &failure, &err) != MCP_OK)
        bench_give_up("threads: %s", err.message);
    double seconds = (double)(bench_now_ns() - begin) * 1e-9;
    *bound = training.rows[training.iterations - 1].lower_bound;
    sddp_free(study);
    return seconds;
}

/* One thread's time over that of two. */
static double gain(case_kit *kit)
{
    double ratios[ROUNDS], bounds[2];

    for (int i = 0; i < ROUNDS; i++) {
        double one = train(&bounds[0], kit, 1);
        ratios[i] = one / train(&bounds[1], kit, 2);
        if (memcmp(&bounds[0], &bounds[1], sizeof bounds[0]) != 0)
            bench_give_up("threads: the lower bounds %.17g and %.17g differ", bounds[0], bounds[1]);
    }
    figures_sort(ratios, ROUNDS);
    return figures_at(ratios, ROUNDS, 0.5);
}

/* Until it is killed, or this program ends. */
static _Noreturn void spin(void)
{
    volatile unsigned turns = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        turns++;
}

static void begin_loops(pid_t loops[LOOPS])
{
    for (int i = 0; i < LOOPS; i++) {
        loops[i] = fork();
        if (loops[i] < 0)
            bench_give_up("threads: no process");
        if (loops[i] == 0)
            spin();
    }
}

static void end_loops(const pid_t loops[LOOPS])
{
    for (int i = 0; i < LOOPS; i++) {
        kill(loops[i], SIGKILL);
        waitpid(loops[i], NULL, 0);
    }
}

int main(void)
{
    static case_kit kit;
    pid_t loops[LOOPS];

    printf("threads: one thread's time over that of two (%ld processors)\n",
           sysconf(_SC_NPROCESSORS_ONLN));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rows[i].make(&kit, &rows[i].shape);
        kit.c.config.forward_passes = rows[i].passes;
        kit_set_limit(&kit, rows[i].iterations);
        double quiet = gain(&kit);
        begin_loops(loops);
        double busy = gain(&kit);
        end_loops(loops);
        printf("  %-34s %5.2f, with two endless loops %5.2f\n", rows[i].name, quiet, busy);
        fflush(stdout);
    }
    return 0;
}
