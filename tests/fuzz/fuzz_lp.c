/*
 * fuzz_lp.c - any bytes as a small program with items, cuts and lanes, for the dual simplex.
 *
 * An optimum must be Clp's, and a lane that it calls infeasible or unbounded must be so there. It
 * may fail, since its callers then take Clp. The kept basis must be as good a start as none.
 */
#include <stdlib.h>

#include "lp_instance.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 4096 };

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static lp_status try_group(const instance *in, answers *a, dual_program *program, dual_work *work)
{
    double expected = 0.0;
    lp_status end = dual_solve(program, work, &in->group, &a->out);

    if (end == LP_INFEASIBLE || end == LP_UNBOUNDED)
        must(oracle(in, a->out.failed, &expected) != 0);
    for (size_t l = 0; end == LP_OPTIMAL && l < in->group.lanes; l++) {
        must(oracle(in, l, &expected) == 0);
        must(fabs(a->objective[l] - expected) <= 1e-8 * (1.0 + fabs(expected)));
    }
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > INPUT_MAX)
        return 0;
    chance c = { 0, data, size };
    instance *in = instance_new();
    answers *a = answers_new();
    dual_program *program = NULL;
    dual_work *work = NULL;

    random_group(in, &c);
    must(dual_program_new(&program, &in->program, &in->layout, NULL) == MCP_OK);
    must(dual_work_new(&work, NULL) == MCP_OK);
    if (try_group(in, a, program, work) == LP_OPTIMAL) {
        in->group.basis = a->keep;
        must(try_group(in, a, program, work) == LP_OPTIMAL);
    }
    dual_program_free(program);
    dual_work_free(work);
    free(in);
    free(a);
    return 0;
}
