/*
 * test_recorder.c - the records of iterations: their rows, and sums that the case tells.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../cases.h"
#include "sddp/sddp.h"

static case_kit kit;

static sddp *train(unsigned threads, const sddp_observer *observer, sddp_training *result)
{
    sddp *study = NULL;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_new(&study, &kit.c, threads, &err) != MCP_OK ||
        sddp_train(study, observer, result, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return study;
}

typedef struct seen {
    int32_t iterations;
    int64_t solves[3], failures;
    size_t selection_rows;
} seen;

/* Two workers, 4 stages of 10 openings, one pass. */
static void check_records(const sddp_records *records, void *data)
{
    seen *all = data;
    uint32_t by_opening[4][10] = { { 0 } };

    assert_int_equal(records->number, ++all->iterations);
    assert_int_equal(records->worker_count, 2);
    for (size_t i = 0; i < records->solver_count; i++) {
        const sddp_solver_row *row = &records->solver[i];
        assert_int_equal(row->first_try + row->retried, row->solves);
        uint32_t ended = 0;
        for (size_t level = 0; level < SDDP_RETRY_LEVELS; level++)
            ended += row->levels[level];
        assert_int_equal(row->retried, ended);
        all->solves[row->phase] += row->solves;
        all->failures += row->failed;
        if (row->phase == SDDP_PHASE_BACKWARD)
            by_opening[row->stage][row->opening] += row->solves;
        else
            assert_int_equal(row->worker, SDDP_NO_INDEX);
    }
    for (size_t t = 1; t < 4; t++)
        for (size_t w = 0; w < 10; w++)
            assert_int_equal(by_opening[t][w], 1);
    for (size_t i = 0; i < records->selection_count; i++) {
        const sddp_selection_row *row = &records->selection[i];
        assert_true(row->stage == 1 || row->stage == 2);
        assert_int_equal(row->populated, records->number);
        assert_int_equal(row->active_after, row->active_before - row->deactivated);
        assert_false(row->has_budget);
    }
    all->selection_rows += records->selection_count;
}

static void records_of_iterations(void **state)
{
    seen all = { .iterations = 0 };
    sddp_observer observer = { .records = check_records, .data = &all };
    sddp_training result;

    (void)state;
    case_1dtoy(&kit);
    kit_set_limit(&kit, 20);
    kit.c.config.selection = (cobre_cut_selection){ .method = COBRE_SELECTION_LEVEL1,
                                                    .check_frequency = 5 };
    sddp *study = train(2, &observer, &result);
    assert_int_equal(all.iterations, 20);
    assert_int_equal(all.solves[SDDP_PHASE_FORWARD], 20 * 4);
    assert_int_equal(all.solves[SDDP_PHASE_BACKWARD], 20 * 30);
    assert_int_equal(all.solves[SDDP_PHASE_LOWER_BOUND], 20 * 10);
    assert_int_equal(all.failures, 0);
    assert_int_equal(all.selection_rows, 4 * 2);
    sddp_free(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
