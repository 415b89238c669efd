/*
 * backend_seam.c - lets a test force the solver of the stage programs whose case leaves the choice
 * to `auto`.
 *
 * The linker puts __wrap_dual_fits into the place of dual_fits, the rule of size by which `auto`
 * chooses, and __wrap_dual_solve into that of dual_solve (tests/CMakeLists.txt). COBRE_TEST_BACKEND
 * is `own`, `clp`, `fallback` (the dual simplex is given a number that it refuses in each group, so
 * that Clp has to answer all of them), or unset: nothing is forced.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lp/dual/dual.h"

enum { VALUES_MAX = 100000 };

bool __real_dual_fits(const lp_program *program, const lp_layout *layout);
bool __wrap_dual_fits(const lp_program *program, const lp_layout *layout);
lp_status __real_dual_solve(const dual_program *program, dual_work *work, const lp_group *group,
                            lp_answers *answers);
lp_status __wrap_dual_solve(const dual_program *program, dual_work *work, const lp_group *group,
                            lp_answers *answers);

static bool is_forced(const char *what)
{
    const char *backend = getenv("COBRE_TEST_BACKEND");

    return backend && strcmp(backend, what) == 0;
}

bool __wrap_dual_fits(const lp_program *program, const lp_layout *layout)
{
    if (is_forced("clp"))
        return false;
    return is_forced("own") || is_forced("fallback") || __real_dual_fits(program, layout);
}

static double refused[VALUES_MAX];

static void spoil(void)
{
    for (size_t i = 0; i < VALUES_MAX; i++)
        refused[i] = NAN;
}

lp_status __wrap_dual_solve(const dual_program *program, dual_work *work, const lp_group *group,
                            lp_answers *answers)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    lp_group bad = *group;

    if (!is_forced("fallback"))
        return __real_dual_solve(program, work, group, answers);
    pthread_once(&once, spoil);
    bad.values = refused;
    return __real_dual_solve(program, work, &bad, answers);
}
