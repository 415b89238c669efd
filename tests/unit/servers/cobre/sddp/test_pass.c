/*
 * test_pass.c - parallel passes: every task once, the lowest failure reported, stops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "sddp/iteration/groups.h"
#include "sddp/pass.h"

enum { TASKS = 500 };

static case_kit kit;
static sddp *study;
static pass_pace pace;
static _Atomic int runs[TASKS];

static int begin(void **state)
{
    (void)state;
    case_d01(&kit);
    for (int i = 0; i < TASKS; i++)
        runs[i] = 0;
    return sddp_new(&study, &kit.c, 3, NULL);
}

static int end(void **state)
{
    (void)state;
    sddp_free(study);
    return 0;
}

static mcp_status count_task(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err)
{
    const bool *fails = p->data;

    (void)w;
    runs[index]++;
    if (!fails || !fails[index])
        return MCP_OK;
    where->opening = (int32_t)index;
    return mcp_error_set(err, MCP_E_INTERNAL, "task %zu", index);
}

static const sddp_observer nobody = { .data = NULL };

static void every_task_once(void **state)
{
    pass p = {
        .study = study, .observer = &nobody, .phase = "forward", .iteration = 1, .pace = &pace
    };
    sddp_failure failure;

    (void)state;
    assert_int_equal(pass_run(&p, count_task, TASKS, &failure, NULL), MCP_OK);
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(runs[i], 1);
}

static void lowest_failure_is_reported(void **state)
{
    static bool fails[TASKS];
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    for (int round = 0; round < 50; round++) {
        pass p = { .study = study,
                   .observer = &nobody,
                   .phase = "backward",
                   .iteration = 7,
                   .pace = &pace,
                   .data = fails };
        for (int i = 0; i < TASKS; i++)
            fails[i] = i == 40 + round || i == 41 + round || i == 300;
        assert_int_equal(pass_run(&p, count_task, TASKS, &failure, &err), MCP_E_INTERNAL);
        assert_int_equal(failure.opening, 40 + round);
        assert_string_equal(failure.phase, "backward");
        assert_int_equal(failure.iteration, 7);
        assert_null(failure.solver_status);
        for (int i = 0; i <= 40; i++)
            assert_true(runs[i] > round);
    }
}

static sddp_stop answer(void *data)
{
    return *(const sddp_stop *)data;
}

static mcp_status solve_task(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err)
{
    solve_input in = groups_path_input(study, w, 1, NULL, study_basis(study, 1, 0));
    double objective;
    solve_output out = { .objective = &objective };

    (void)index;
    return pass_solve(&out, p, w, &in, where, err);
}

static mcp_status run_with(sddp_stop stop, sddp_stop halts_at)
{
    sddp_observer observer = { .should_stop = answer, .data = &stop };
    pass p = { .study = study,
               .observer = &observer,
               .phase = "forward",
               .iteration = 1,
               .halts_at = halts_at,
               .pace = &pace };
    sddp_failure failure;

    return pass_run(&p, solve_task, 20, &failure, NULL);
}

static void which_stops_halt(void **state)
{
    (void)state;
    assert_int_equal(run_with(SDDP_STOP_NONE, SDDP_STOP_AFTER_ITERATION), MCP_OK);
    assert_int_equal(run_with(SDDP_STOP_AFTER_ITERATION, SDDP_STOP_NOW), MCP_OK);
    assert_int_equal(run_with(SDDP_STOP_NOW, SDDP_STOP_NOW), MCP_E_STOPPED);
    assert_int_equal(run_with(SDDP_STOP_AFTER_ITERATION, SDDP_STOP_AFTER_ITERATION), MCP_E_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_task_once, begin, end),
        cmocka_unit_test_setup_teardown(lowest_failure_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(which_stops_halt, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
