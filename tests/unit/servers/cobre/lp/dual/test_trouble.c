/*
 * test_trouble.c - the dual simplex, built so that its inverse is spoiled every few pivots, or so
 * that it may take few: answers stay right, or the call says that it fails; retries count.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lp_instance.h"

static void assert_answers(const instance *in, const answers *a)
{
    for (size_t l = 0; l < in->group.lanes; l++) {
        double expected = 0.0;
        assert_int_equal(oracle(in, l, &expected), 0);
        if (!(fabs(a->objective[l] - expected) <= 1e-9 * (1.0 + fabs(expected))))
            fail_msg("lane %zu: %.17g is not %.17g", l, a->objective[l], expected);
    }
}

static void answers_stay_right(void **state)
{
    int64_t retries = 0, fallbacks = 0, solves = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        chance c = { .state = seed };
        instance *in = instance_new();
        answers *a = answers_new();
        dual_program *program = NULL;
        dual_work *work = NULL;
        make_brazil(in, 20, 100, &c);
        assert_int_equal(dual_program_new(&program, &in->program, &in->layout, NULL), MCP_OK);
        assert_int_equal(dual_work_new(&work, NULL), MCP_OK);
        if (dual_solve(program, work, &in->group, &a->out) == LP_OPTIMAL)
            assert_answers(in, a);
        retries += dual_work_totals(work)->retries;
        fallbacks += dual_work_totals(work)->fallbacks;
        solves += dual_work_totals(work)->solves;
        assert_int_equal(fallbacks + solves, 20 * seed);
        dual_program_free(program);
        dual_work_free(work);
        free(in);
        free(a);
    }
    assert_true(retries > 0);
#ifdef LP_DUAL_FEW_PIVOTS
    assert_true(fallbacks > 0);
#else
    assert_true(solves > 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_stay_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
