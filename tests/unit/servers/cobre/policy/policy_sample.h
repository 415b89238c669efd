/*
 * policy_sample.h - a small policy with everything in it, and the comparison of two.
 *
 * Three stages, states of two numbers, two forward passes, three iterations. The first stage has
 * two cuts of an earlier training; the second has cuts by opening; the last has none. Coefficients
 * lie in chunks and by state, as the solver has them.
 */
#ifndef TESTS_POLICY_SAMPLE_H
#define TESTS_POLICY_SAMPLE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policy.h"

enum { SAMPLE_DIMENSION = 2, SAMPLE_STAGES = 3, SAMPLE_CAPACITY = 64, SAMPLE_CHUNK = 4 };

typedef struct sample {
    policy policy;
    policy_stage stages[SAMPLE_STAGES];
    policy_cut cuts[SAMPLE_STAGES][SAMPLE_CAPACITY];
    double coefficients[SAMPLE_STAGES][SAMPLE_DIMENSION * SAMPLE_CAPACITY];
    const double *chunks[SAMPLE_STAGES][SAMPLE_CAPACITY / SAMPLE_CHUNK];
    uint32_t sets[SAMPLE_STAGES][SAMPLE_CAPACITY];
    uint8_t bases[SAMPLE_STAGES][2 * 32];
    double states[SAMPLE_STAGES][12];
    const double *state_chunks[SAMPLE_STAGES][3];
    policy_iteration rows[8];
    double means[SAMPLE_STAGES];
} sample;

static const int32_t sample_hydro_ids[] = { 4, 7 };
static const double sample_floors[SAMPLE_STAGES] = { -0.1 };
static const policy_period sample_periods[SAMPLE_STAGES] = { { true, 1.0 / 7.0 } };

static inline void sample_add_cut(sample *self, size_t t, policy_cut cut)
{
    policy_stage *stage = &self->stages[t];
    size_t i = stage->cut_count++;

    cut.intercept = 100.5 * (double)(t + 1) + (double)i;
    cut.last_active = cut.iteration + 1;
    cut.active_count = (uint32_t)(3 * i + t);
    cut.activity_bits = (uint32_t)(0x80000001u >> i);
    self->cuts[t][i] = cut;
    for (size_t j = 0; j < SAMPLE_DIMENSION; j++)
        self->coefficients[t][(i / SAMPLE_CHUNK * SAMPLE_DIMENSION + j) * SAMPLE_CHUNK +
                              i % SAMPLE_CHUNK] = -0.1 * (double)(i + 1) / (double)(j + t + 1);
}

/* The cuts of `iterations`, in their slots; every fourth is not active. */
static inline void sample_train(sample *self, size_t t, uint32_t iterations)
{
    policy_stage *stage = &self->stages[t];
    uint32_t openings = stage->opening_count ? stage->opening_count : 1;

    for (uint32_t k = 1; k <= iterations; k++)
        for (uint32_t m = 0; m < stage->passes; m++)
            for (uint32_t w = 0; w < openings; w++) {
                uint32_t slot = (uint32_t)policy_slot(stage, k, m, w);
                policy_cut cut = { .id = slot - stage->warm_count,
                                   .slot = slot,
                                   .iteration = k,
                                   .forward_pass = m,
                                   .opening = w,
                                   .is_active = slot % 4 != 1 };
                sample_add_cut(self, t, cut);
            }
}

static inline void sample_fill_bases(sample *self, size_t t)
{
    policy_stage *stage = &self->stages[t];
    policy_bases *bases = &stage->bases;

    for (size_t i = 0; i < stage->cut_count; i += 2)
        self->sets[t][bases->set_count++] = (uint32_t)(stage->cut_count - 1 - i);
    bases->columns = 6 + t;
    bases->rows = 3;
    bases->set = self->sets[t];
    bases->bytes = self->bases[t];
    bases->stride = 32;
    bases->count = 2;
    for (size_t i = 0; i < sizeof self->bases[t]; i++)
        self->bases[t][i] = (uint8_t)((i + t) % 6);
}

/* Fill in a policy after that many iterations, at most 8. */
static inline void sample_init(sample *self, uint32_t iterations)
{
    memset(self, 0, sizeof *self);
    for (size_t t = 0; t < SAMPLE_STAGES; t++) {
        policy_stage *stage = &self->stages[t];
        stage->passes = 2;
        stage->cuts = self->cuts[t];
        for (size_t i = 0; i < SAMPLE_CAPACITY / SAMPLE_CHUNK; i++)
            self->chunks[t][i] = self->coefficients[t] + i * SAMPLE_CHUNK * SAMPLE_DIMENSION;
        stage->coefficients = self->chunks[t];
        stage->cuts_a_chunk = SAMPLE_CHUNK;
        stage->cut_stride = 1;
        stage->state_stride = SAMPLE_CHUNK;
    }
    self->stages[0].warm_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        policy_cut warm = {
            .id = 41 + i, .slot = i, .iteration = 20, .forward_pass = i, .is_active = true
        };
        sample_add_cut(self, 0, warm);
    }
    self->stages[1].opening_count = 3;
    sample_train(self, 0, iterations);
    sample_train(self, 1, iterations);
    for (size_t t = 0; t < SAMPLE_STAGES; t++) {
        sample_fill_bases(self, t);
        for (size_t i = 0; i < 12; i++)
            self->states[t][i] = (double)i / 3 + (double)t;
        for (size_t i = 0; i < 3; i++)
            self->state_chunks[t][i] = self->states[t] + i * 2 * SAMPLE_DIMENSION;
        self->stages[t].states = self->state_chunks[t];
        self->stages[t].states_a_chunk = 2;
        self->stages[t].state_count = t == 1 ? 6 : 0;
        self->means[t] = 1e6 / (double)(t + 3);
    }
    for (uint32_t i = 0; i < iterations; i++)
        self->rows[i] = (policy_iteration){
            .iteration = (int32_t)i + 1,
            .lower_bound = 1e6 + i,
            .upper_bound = 1.1e6 / (i + 3),
            .upper_bound_std = 17.25,
            .ci_95 = 3.5,
            .gap = -0.25,
            .cuts_added = 8,
            .cuts_removed = (int32_t)i,
            .cuts_active = (int64_t)1 << 40,
            .time_forward_ms = 11,
            .time_backward_ms = 12,
            .time_total_ms = 30,
            .wall_time_ms = 30 * (i + 1),
            .lower_bound_ms = 5,
            .overhead_ms = 2,
            .forward_passes = 2,
            .lp_solves = 1234567,
            .has_inner_bound = i % 2 == 1,
            .inner_upper_bound = i % 2 == 1 ? 1.5e6 : 0.0,
        };
    self->policy = (policy){
        .metadata = { .cobre_version = "2.0.0",
                      .created_at = "2030-01-02T03:04:05Z",
                      .completed_iterations = iterations,
                      .final_lower_bound = 1e6 + 0.1,
                      .best_upper_bound = NAN,
                      .max_iterations = 8,
                      .forward_passes = 2,
                      .rng_seed = UINT64_MAX,
                      .hydro_ids = sample_hydro_ids,
                      .hydro_count = 2,
                      .case_digest = "00c0ffee00c0ffee",
                      .floors = sample_floors,
                      .periods = sample_periods },
        .dimension = SAMPLE_DIMENSION,
        .stages = self->stages,
        .stage_count = SAMPLE_STAGES,
        .is_exact = true,
        .iterations = self->rows,
        .iteration_count = iterations,
        .means = self->means,
        .mean_count = SAMPLE_STAGES,
        .elapsed_ns = 123456789012345,
    };
}

static inline void expect_same_cuts(const policy *a, const policy *b, size_t t, bool exact)
{
    const policy_stage *one = &a->stages[t], *two = &b->stages[t];

    assert_int_equal(one->warm_count, two->warm_count);
    assert_int_equal(one->opening_count, two->opening_count);
    assert_int_equal(one->cut_count, two->cut_count);
    for (size_t i = 0; i < one->cut_count; i++) {
        policy_cut left = one->cuts[i], right = two->cuts[i];
        if (!exact) /* these are of resume.bin */
            left.last_active = left.active_count = left.activity_bits = 0;
        assert_true(left.id == right.id && left.slot == right.slot);
        assert_int_equal(left.iteration, right.iteration);
        assert_int_equal(left.forward_pass, right.forward_pass);
        assert_int_equal(left.opening, right.opening);
        assert_int_equal(left.is_active, right.is_active);
        assert_true(left.intercept == right.intercept);
        assert_int_equal(left.last_active, right.last_active);
        assert_int_equal(left.active_count, right.active_count);
        assert_int_equal(left.activity_bits, right.activity_bits);
        for (size_t j = 0; j < a->dimension; j++)
            assert_true(policy_coefficient(one, i, j) == policy_coefficient(two, i, j));
    }
}

static inline void expect_same_bases(const policy_bases *one, const policy_bases *two)
{
    size_t length = one->columns + one->rows + one->set_count;

    assert_int_equal(one->columns, two->columns);
    assert_int_equal(one->rows, two->rows);
    assert_int_equal(one->set_count, two->set_count);
    assert_int_equal(one->count, two->count);
    assert_memory_equal(one->set, two->set, one->set_count * sizeof *one->set);
    for (size_t i = 0; i < one->count; i++)
        assert_memory_equal(one->bytes + i * one->stride, two->bytes + i * two->stride, length);
}

static inline void expect_same_metadata(const policy *a, const policy *b)
{
    const policy_metadata *one = &a->metadata, *two = &b->metadata;

    assert_string_equal(one->cobre_version, two->cobre_version);
    assert_string_equal(one->created_at, two->created_at);
    assert_int_equal(one->completed_iterations, two->completed_iterations);
    assert_memory_equal(&one->final_lower_bound, &two->final_lower_bound, sizeof(double));
    assert_int_equal(isnan(one->best_upper_bound), isnan(two->best_upper_bound));
    assert_int_equal(one->max_iterations, two->max_iterations);
    assert_int_equal(one->forward_passes, two->forward_passes);
    assert_true(one->rng_seed == two->rng_seed);
    assert_int_equal(one->hydro_count, two->hydro_count);
    assert_memory_equal(one->hydro_ids, two->hydro_ids, one->hydro_count * sizeof *one->hydro_ids);
    assert_int_equal(a->dimension, b->dimension);
    assert_int_equal(a->stage_count, b->stage_count);
    assert_string_equal(one->case_digest, two->case_digest);
    for (size_t t = 0; t < a->stage_count; t++) {
        assert_true(one->floors[t] == two->floors[t]);
        assert_int_equal(one->periods[t].is_last, two->periods[t].is_last);
        assert_true(one->periods[t].spill == two->periods[t].spill);
    }
}

static inline void expect_same_row(const policy_iteration *one, const policy_iteration *two)
{
    assert_int_equal(one->iteration, two->iteration);
    assert_true(one->lower_bound == two->lower_bound && one->upper_bound == two->upper_bound);
    assert_true(one->upper_bound_std == two->upper_bound_std && one->ci_95 == two->ci_95);
    assert_true(one->gap == two->gap && one->cuts_active == two->cuts_active);
    assert_true(one->cuts_added == two->cuts_added && one->cuts_removed == two->cuts_removed);
    assert_true(one->time_forward_ms == two->time_forward_ms);
    assert_true(one->time_backward_ms == two->time_backward_ms);
    assert_true(one->time_total_ms == two->time_total_ms);
    assert_true(one->wall_time_ms == two->wall_time_ms);
    assert_true(one->lower_bound_ms == two->lower_bound_ms);
    assert_true(one->overhead_ms == two->overhead_ms && one->lp_solves == two->lp_solves);
    assert_int_equal(one->forward_passes, two->forward_passes);
    assert_int_equal(one->has_inner_bound, two->has_inner_bound);
    assert_true(one->inner_upper_bound == two->inner_upper_bound);
}

/* The second was read: with resume.bin when `exact`. */
static inline void expect_same_policy(const policy *a, const policy *b, bool exact)
{
    expect_same_metadata(a, b);
    for (size_t t = 0; t < a->stage_count; t++)
        expect_same_cuts(a, b, t, exact);
    assert_int_equal(b->is_exact, exact);
    if (!exact)
        return;
    for (size_t t = 0; t < a->stage_count; t++) {
        const policy_stage *one = &a->stages[t], *two = &b->stages[t];
        expect_same_bases(&one->bases, &two->bases);
        assert_int_equal(one->state_count, two->state_count);
        for (size_t i = 0; i < one->state_count; i++)
            assert_memory_equal(policy_state(one, i, a->dimension),
                                policy_state(two, i, a->dimension), a->dimension * sizeof(double));
    }
    assert_int_equal(a->iteration_count, b->iteration_count);
    for (size_t i = 0; i < a->iteration_count; i++)
        expect_same_row(&a->iterations[i], &b->iterations[i]);
    assert_int_equal(a->mean_count, b->mean_count);
    assert_memory_equal(a->means, b->means, a->mean_count * sizeof(double));
    assert_true(a->elapsed_ns == b->elapsed_ns);
}

#endif
