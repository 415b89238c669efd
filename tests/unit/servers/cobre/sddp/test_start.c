/*
 * test_start.c - a training that stops, is saved, and continues in another study: the same bits as
 * one that never stopped.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../policy/policy_sample.h"
#include "cases.h"
#include "policy/read.h"
#include "policy/save.h"
#include "scratch_arena.h"
#include "sddp/sddp.h"
#include "sddp/start.h"
#include "sddp/view.h"

static case_kit kit;

/* The toy with 4 openings in place of 10: nothing here depends on its figures. */
static void case_small(void)
{
    case_1dtoy(&kit);
    for (size_t t = 0; t < kit.c.stage_count; t++)
        kit.stages[t].openings = 4;
}

static sddp *new_study(scratch_arena *world, uint32_t iterations)
{
    sddp *study = NULL;

    kit_set_limit(&kit, iterations);
    scratch_arena_expect(world, sddp_new(&study, &kit.c, 2, &world->err));
    return study;
}

static sddp_training train(scratch_arena *world, sddp *study)
{
    sddp_training result;
    sddp_failure failure;

    scratch_arena_expect(world, sddp_train(study, NULL, &result, &failure, &world->err));
    return result;
}

/* At the end of a training the rules have been applied to the last iteration; `means` are those
 * from before. */
static const policy *saved_with(scratch_arena *world, const sddp *study, const double *means)
{
    policy view;
    const policy *read = NULL;
    int fd = -1;

    scratch_arena_expect(world, sddp_view_policy(&view, study, world->arena, &world->err));
    if (means)
        view.means = means;
    view.metadata.cobre_version = "2.0.0";
    view.metadata.created_at = "2030-01-01T00:00:00Z";
    scratch_arena_expect(world, policy_save(world->folder.fd, "policy", &view, NULL, &world->err));
    scratch_arena_expect(world, policy_open(&fd, world->folder.fd, "policy", &world->err));
    scratch_arena_expect(world, policy_read(&read, fd, POLICY_ALL, world->arena, &world->err));
    close(fd);
    return read;
}

static const policy *saved(scratch_arena *world, const sddp *study)
{
    return saved_with(world, study, NULL);
}

/* Times differ, the rest may not. */
static void expect_same_training(const policy *one, const policy *two)
{
    assert_int_equal(one->iteration_count, two->iteration_count);
    for (size_t i = 0; i < one->iteration_count; i++) {
        const policy_iteration *a = &one->iterations[i], *b = &two->iterations[i];
        assert_true(a->lower_bound == b->lower_bound && a->upper_bound == b->upper_bound);
        assert_true(a->upper_bound_std == b->upper_bound_std);
        assert_int_equal(a->cuts_active, b->cuts_active);
        assert_int_equal(a->cuts_removed, b->cuts_removed);
    }
    for (size_t t = 0; t < one->stage_count; t++) {
        expect_same_cuts(one, two, t, true);
        expect_same_bases(&one->stages[t].bases, &two->stages[t].bases);
        assert_int_equal(one->stages[t].state_count, two->stages[t].state_count);
        for (size_t i = 0; i < one->stages[t].state_count; i++)
            assert_memory_equal(policy_state(&one->stages[t], i, one->dimension),
                                policy_state(&two->stages[t], i, two->dimension),
                                one->dimension * sizeof(double));
    }
}

/* Train the kit's case for `whole` iterations at once, and with a stop after each of `stops`. */
static void expect_resumable(scratch_arena *world, uint32_t whole, uint32_t first)
{
    bool is_exact = false;
    sddp *undisturbed = new_study(world, whole);
    train(world, undisturbed);
    const policy *expected = saved(world, undisturbed);
    sddp *study = new_study(world, first);
    train(world, study);

    for (uint32_t limit = first + 1; limit <= whole; limit += 3) {
        const policy *stopped = saved(world, study);
        sddp_free(study);
        study = new_study(world, limit + 2 <= whole ? limit + 2 : whole);
        scratch_arena_expect(world,
                             sddp_start(study, stopped, SDDP_START_RESUME, &is_exact, &world->err));
        assert_true(is_exact);
        train(world, study);
    }
    expect_same_training(expected, saved(world, study));
    sddp_free(study);
    sddp_free(undisturbed);
}

static void a_resumed_training_has_the_same_bits(void **state)
{
    case_small();
    expect_resumable(*state, 15, 5);
    case_small();
    kit.c.config.forward_passes = 3;
    expect_resumable(*state, 14, 1);
    case_wide(&kit, 6, 4);
    kit.c.config.forward_passes = 2;
    expect_resumable(*state, 12, 2);
}

static void selection_looks_back_over_the_stop(void **state)
{
    static const cobre_cut_selection rules[] = {
        { .method = COBRE_SELECTION_LEVEL1, .threshold = 0, .check_frequency = 3 },
        { .method = COBRE_SELECTION_LML1, .memory_window = 3, .check_frequency = 2 },
        { .method = COBRE_SELECTION_DOMINATION, .epsilon = 0.0, .check_frequency = 4 },
        { .method = COBRE_SELECTION_LML1,
          .memory_window = 9,
          .check_frequency = 4,
          .max_active = 7 },
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        case_small();
        kit.c.config.forward_passes = 2;
        kit.c.config.selection = rules[i];
        expect_resumable(*state, 16, 3);
    }
}

/* The stages of a cycle share a node; paths visit it several times. */
static void a_cycle_is_resumed(void **state)
{
    case_small();
    kit.c.is_cyclic = true;
    kit.c.cycle_start = 1;
    kit.c.config.cycle_rounds = 3;
    for (size_t t = 0; t < kit.c.stage_count; t++)
        kit.stages[t].discount = 0.9;
    kit.c.config.forward_passes = 2;
    expect_resumable(*state, 12, 2);
    kit.c.config.selection = (cobre_cut_selection){ .method = COBRE_SELECTION_DOMINATION,
                                                    .epsilon = 0.0,
                                                    .check_frequency = 3 };
    expect_resumable(*state, 12, 2);
}

typedef struct keeper {
    const sddp *study;
    double means[64];
} keeper;

static void keep_means(const sddp_iteration *row, void *data)
{
    keeper *kept = data;
    size_t count = 0;
    const double *means = sddp_view_means(&count, kept->study);

    (void)row;
    assert_true(count > 0 && count <= 64);
    memcpy(kept->means, means, count * sizeof *means);
}

/* The training had ended by a rule when it was killed: what the observer of the last iteration saw
 * lets the rule fire again. */
static void a_finished_training_stays_finished(void **state)
{
    scratch_arena *world = *state;
    bool is_exact = false;

    case_small();
    kit.rules[1] = (cobre_stopping_rule){ .kind = COBRE_RULE_BOUND_STALLING,
                                          .limit = 3,
                                          .tolerance = 1e-1 };
    kit.c.config.rule_count = 2;
    sddp *study = new_study(world, 50);
    keeper kept = { .study = study };
    const sddp_observer observer = { .iteration = keep_means, .data = &kept };
    sddp_training first;
    sddp_failure failure;
    scratch_arena_expect(world, sddp_train(study, &observer, &first, &failure, &world->err));
    assert_int_equal(first.reason, SDDP_BOUND_STALLING);
    const policy *stopped = saved_with(world, study, kept.means);
    sddp *again = new_study(world, 50);
    scratch_arena_expect(world,
                         sddp_start(again, stopped, SDDP_START_RESUME, &is_exact, &world->err));
    sddp_training second = train(world, again);
    assert_int_equal(second.reason, SDDP_BOUND_STALLING);
    assert_int_equal(second.iterations, first.iterations);
    assert_true(second.rows[second.iterations - 1].lower_bound ==
                first.rows[first.iterations - 1].lower_bound);
    sddp_free(study);
    sddp_free(again);
}

/* Without resume.bin, or with other forward passes: the bound begins where it was. The records of
 * the iterations before are kept, and what follows can be resumed exactly again. */
static void cuts_alone_are_enough_to_go_on(void **state)
{
    scratch_arena *world = *state;
    bool is_exact = true;

    case_small();
    sddp *study = new_study(world, 20);
    sddp_training first = train(world, study);
    const policy *stopped = saved(world, study);
    kit.c.config.forward_passes = 2;
    sddp *again = new_study(world, 22);
    scratch_arena_expect(world,
                         sddp_start(again, stopped, SDDP_START_RESUME, &is_exact, &world->err));
    assert_false(is_exact);
    sddp_training second = train(world, again);
    assert_int_equal(second.iterations, 22);
    for (size_t i = 0; i < 20; i++)
        assert_true(second.rows[i].lower_bound == first.rows[i].lower_bound);
    assert_int_equal(second.rows[20].iteration, 21);
    assert_int_equal(second.rows[20].forward_passes, 2);
    assert_true(second.rows[20].lower_bound >= first.rows[19].lower_bound * (1 - 1e-9));
    const policy *after = saved(world, again);
    assert_int_equal(after->metadata.completed_iterations, 22);
    assert_int_equal(after->stages[0].warm_count, 20);
    assert_int_equal(after->stages[0].cut_count, 20 + 2 * 2);
    sddp *third = new_study(world, 24), *whole = new_study(world, 24);
    scratch_arena_expect(world,
                         sddp_start(third, after, SDDP_START_RESUME, &is_exact, &world->err));
    assert_true(is_exact);
    train(world, third);
    scratch_arena_expect(world, sddp_start(whole, stopped, SDDP_START_RESUME, NULL, &world->err));
    train(world, whole);
    expect_same_training(saved(world, whole), saved(world, third));
    sddp_free(whole);
    sddp_free(third);
    sddp_free(study);
    sddp_free(again);
}

/* Warm cuts keep their names, in the first slots; iterations begin at 1. */
static void a_warm_start_begins_with_the_cuts(void **state)
{
    scratch_arena *world = *state;
    bool is_exact = true;

    case_small();
    sddp *study = new_study(world, 30);
    sddp_training first = train(world, study);
    const policy *stopped = saved(world, study);
    sddp *again = new_study(world, 2);
    scratch_arena_expect(world,
                         sddp_start(again, stopped, SDDP_START_WARM, &is_exact, &world->err));
    assert_false(is_exact);
    sddp_training second = train(world, again);
    assert_int_equal(second.rows[0].iteration, 1);
    assert_true(second.rows[0].lower_bound >= first.rows[29].lower_bound * (1 - 1e-9));
    const policy *after = saved(world, again);
    const policy_stage *stage = &after->stages[1];
    assert_int_equal(stage->warm_count, 30);
    assert_int_equal(stage->cut_count, 32);
    for (uint32_t i = 0; i < 30; i++) {
        assert_int_equal(stage->cuts[i].slot, i);
        assert_true(stage->cuts[i].id == stopped->stages[1].cuts[i].id);
        assert_int_equal(stage->cuts[i].iteration, i + 1);
    }
    assert_int_equal(stage->cuts[30].iteration, 1);
    assert_int_equal(stage->cuts[30].slot, 30 + 1);
    sddp_free(study);
    sddp_free(again);
}

/* A warm-started training that is killed continues with the same bits, too. */
static void a_warm_started_training_is_resumed(void **state)
{
    scratch_arena *world = *state;
    bool is_exact = false;

    case_small();
    sddp *study = new_study(world, 6);
    train(world, study);
    const policy *warm = saved(world, study);
    sddp *whole = new_study(world, 8), *half = new_study(world, 4);
    kit_set_limit(&kit, 8);
    scratch_arena_expect(world, sddp_start(whole, warm, SDDP_START_WARM, &is_exact, &world->err));
    train(world, whole);
    kit_set_limit(&kit, 4);
    scratch_arena_expect(world, sddp_start(half, warm, SDDP_START_WARM, &is_exact, &world->err));
    train(world, half);
    const policy *stopped = saved(world, half);
    sddp *rest = new_study(world, 8);
    scratch_arena_expect(world,
                         sddp_start(rest, stopped, SDDP_START_RESUME, &is_exact, &world->err));
    assert_true(is_exact);
    train(world, rest);
    expect_same_training(saved(world, whole), saved(world, rest));
    sddp_free(study);
    sddp_free(whole);
    sddp_free(half);
    sddp_free(rest);
}

static void another_state_is_refused(void **state)
{
    scratch_arena *world = *state;
    bool is_exact = false;

    case_small();
    sddp *study = new_study(world, 2);
    train(world, study);
    const policy *stopped = saved(world, study);
    sddp_free(study);
    case_wide(&kit, 4, 3);
    study = new_study(world, 2);
    assert_int_equal(sddp_start(study, stopped, SDDP_START_WARM, &is_exact, &world->err),
                     MCP_E_PARAMS);
    assert_non_null(strstr(world->err.message, "1 state entries"));
    sddp_free(study);
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, scratch_arena_set_up, scratch_arena_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_resumed_training_has_the_same_bits),
        TEST(selection_looks_back_over_the_stop),
        TEST(a_cycle_is_resumed),
        TEST(a_finished_training_stays_finished),
        TEST(cuts_alone_are_enough_to_go_on),
        TEST(a_warm_start_begins_with_the_cuts),
        TEST(a_warm_started_training_is_resumed),
        TEST(another_state_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
