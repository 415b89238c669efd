/*
 * test_simulation_rule.c - trainings that a simulation of the policy ends.
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

/* One cut makes the policy of d02 exact, since water is worth the same in all of the range that
 * counts: the bound is stable over two at the second iteration, whose simulation is the first; that
 * of the fourth equals it. */
static void the_simulation_rule_converges(void **state)
{
    sddp_training result;

    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        case_d02(&kit);
        kit.rules[1] = (cobre_stopping_rule){ .kind = COBRE_RULE_SIMULATION,
                                              .limit = 2,
                                              .tolerance = 1e-9,
                                              .replications = 5,
                                              .period = 2,
                                              .distance_tolerance = 1e-9 };
        kit.c.config.rule_count = 2;
        sddp *study = train(threads, NULL, &result);
        assert_int_equal(result.reason, SDDP_SIMULATION);
        assert_true(result.converged);
        assert_int_equal(result.iterations, 4);
        sddp_free(study);
    }
}

/* A simulation between iterations leaves the training as it is. */
static void the_simulation_rule_changes_no_bits(void **state)
{
    sddp_training plain, watched;

    (void)state;
    case_wide(&kit, 4, 5);
    kit_set_limit(&kit, 6);
    sddp *study = train(1, NULL, &plain);
    kit.rules[1] = (cobre_stopping_rule){ .kind = COBRE_RULE_SIMULATION,
                                          .limit = 2,
                                          .tolerance = 1e9,
                                          .replications = 7,
                                          .period = 1,
                                          .distance_tolerance = 0.0 };
    kit.c.config.rule_count = 2;
    sddp *other = train(2, NULL, &watched);
    assert_int_equal(watched.iterations, 6);
    for (size_t i = 0; i < 6; i++)
        assert_true(plain.rows[i].lower_bound == watched.rows[i].lower_bound);
    sddp_free(study);
    sddp_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_simulation_rule_converges),
        cmocka_unit_test(the_simulation_rule_changes_no_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
