/*
 * test_share.c - ranks without MPI: studies in threads of one process, which exchange bytes through
 * memory. Same bits as one process, same failures, same stops; ranks that end or differ are heard.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../cases.h"
#include "sddp/pass.h"
#include "sddp/ranks/share.h"
#include "sddp/sddp.h"

enum { RANKS_MOST = 3, ROWS = 6, SCENARIOS = 11, NUMBERS = 4096 };

/* ---- an exchange in memory ------------------------------------------------------------------- */

typedef struct meeting {
    pthread_barrier_t barrier;
    unsigned size;
    const char *own[RANKS_MOST];
} meeting;

typedef struct seat {
    meeting *at;
    unsigned rank;
} seat;

static mcp_status gather(void *all, const void *own, const size_t *first, bool for_all, void *data,
                         mcp_error *err)
{
    seat *me = data;

    (void)err;
    me->at->own[me->rank] = own;
    pthread_barrier_wait(&me->at->barrier);
    for (unsigned i = 0; (for_all || me->rank == 0) && i < me->at->size; i++)
        if (first[i + 1] > first[i])
            memcpy((char *)all + first[i], me->at->own[i], first[i + 1] - first[i]);
    pthread_barrier_wait(&me->at->barrier);
    return MCP_OK;
}

/* ---- what a rank ends with ------------------------------------------------------------------- */

typedef struct outcome {
    mcp_status status;
    sddp_failure failure;
    mcp_error err;
    size_t rows, scenarios, numbers;
    sddp_reason reason;
    double bounds[ROWS][4];
    int64_t solves, fallbacks;
    double number[NUMBERS]; /* cuts, active counts, trial states; on the first rank the scenarios */
    int exit_status;
} outcome;

/* One rank, and what it does differently. */
typedef struct member {
    seat seat;
    case_kit kit;
    unsigned threads;
    size_t stops_after; /* iterations; 0: not */
    size_t halts_after; /* questions whether to stop; 0: not */
    size_t asked;
    bool ends_early, ends_later;
    outcome out;
    size_t records, ranks; /* times that records came; the rank rows in them */
    int64_t solver_rows, rank_rows,
        scenarios; /* sums: of solves by row; of solves and paths by rank */
    bool is_in_order;
} member;

static void add_number(outcome *out, double value)
{
    if (out->numbers < NUMBERS)
        out->number[out->numbers++] = value;
}

static void keep_policy(outcome *out, const sddp *s)
{
    for (size_t t = 0; t < s->stages; t++) {
        const cut_pool *pool = &s->pools[t];
        add_number(out, (double)pool->set_count);
        for (uint32_t c = 0; c < pool->count; c++) {
            add_number(out, pool->intercept[c]);
            for (size_t j = 0; j < s->dimension; j++)
                add_number(out, cuts_slope(pool, c, j));
        }
    }
    for (size_t i = 0; i < s->trials * s->scenarios * s->dimension; i++)
        add_number(out, s->trial[i]);
}

static mcp_status note_scenario(const sddp_scenario *result, void *data, mcp_error *err)
{
    member *me = data;

    (void)err;
    assert_int_equal(me->seat.rank, 0);
    assert_int_equal(result->scenario, me->out.scenarios);
    me->out.scenarios++;
    add_number(&me->out, result->cost);
    for (size_t t = 0; t < result->stage_count; t++) {
        const sddp_stage_result *r = &result->stages[t];
        add_number(&me->out, r->objective);
        add_number(&me->out, r->spot_price[0]);
        add_number(&me->out, r->value[REGION_STORAGE][0]);
        add_number(&me->out, r->water_value[0]);
    }
    return MCP_OK;
}

static void count_row(const sddp_iteration *row, void *data)
{
    member *me = data;

    if (me->out.rows == ROWS)
        return;
    double *bounds = me->out.bounds[me->out.rows++];
    bounds[0] = row->lower_bound;
    bounds[1] = row->upper_bound;
    bounds[2] = (double)row->cuts_active;
    bounds[3] = row->inner_upper_bound;
    me->out.solves += row->lp_solves;
}

static bool follows(const sddp_solver_row *row, const sddp_solver_row *before)
{
    if (row->phase != before->phase)
        return row->phase > before->phase;
    if (row->phase == SDDP_PHASE_FORWARD)
        return row->stage == before->stage + 1;
    return row->stage < before->stage || row->rank > before->rank || row->worker > before->worker ||
           row->opening > before->opening;
}

static void count_records(const sddp_records *records, void *data)
{
    member *me = data;

    if (records->worker_count == 0) /* of a scenario */
        return;
    me->is_in_order = me->records++ == 0 || me->is_in_order;
    me->ranks += records->rank_count;
    for (size_t i = 0; i < records->solver_count; i++) {
        me->solver_rows += records->solver[i].solves;
        if (i > 0 && !follows(&records->solver[i], &records->solver[i - 1]))
            me->is_in_order = false;
    }
    for (size_t i = 0; i < records->rank_count; i++) {
        me->rank_rows += records->ranks[i].lp_solves;
        me->scenarios += records->ranks[i].scenarios;
        if (records->ranks[i].rank != (int32_t)i)
            me->is_in_order = false;
    }
}

static sddp_stop ask(void *data)
{
    member *me = data;

    if (me->halts_after > 0 && ++me->asked > me->halts_after)
        return SDDP_STOP_NOW;
    return me->stops_after > 0 && me->out.rows >= me->stops_after ? SDDP_STOP_AFTER_ITERATION
                                                                  : SDDP_STOP_NONE;
}

static void work(member *me, ranks *all)
{
    const sddp_observer observer = { .iteration = count_row,
                                     .records = count_records,
                                     .scenario = note_scenario,
                                     .should_stop = ask,
                                     .data = me };
    outcome *out = &me->out;
    sddp_training training = { .iterations = 0 };
    sddp_simulation simulation;
    sddp *study = NULL;

    out->status = sddp_new(&study, &me->kit.c, me->threads, &out->err);
    if (out->status == MCP_OK && !me->ends_early)
        out->status = sddp_join(study, all, &out->err);
    if (out->status == MCP_OK && !me->ends_early)
        out->status = sddp_train(study, &observer, &training, &out->failure, &out->err);
    out->reason = training.reason;
    out->fallbacks = training.fallbacks;
    if (out->status == MCP_OK && !me->ends_early && !me->ends_later) {
        keep_policy(out, study);
        if (training.reason != SDDP_SHUTDOWN)
            out->status = sddp_simulate(study, &observer, &simulation, &out->failure, &out->err);
    }
    sddp_free(study);
}

static void *run_member(void *data)
{
    member *me = data;
    const rank_exchange port = { me->seat.rank, me->seat.at->size, gather, &me->seat };
    ranks *all = NULL;

    me->out.status = ranks_new(&all, &port, &me->out.err);
    if (me->out.status != MCP_OK)
        return NULL;
    work(me, all);
    if (me->ends_early || me->ends_later)
        ranks_explain(all, "it had enough");
    me->out.exit_status = ranks_end(all, me->ends_early || me->ends_later ? 2 : 0);
    ranks_free(all);
    return NULL;
}

static member members[RANKS_MOST];

static void set_out(unsigned size, unsigned threads)
{
    memset(members, 0, sizeof members);
    for (unsigned i = 0; i < size; i++) {
        case_wide(&members[i].kit, 4, 5);
        kit_set_limit(&members[i].kit, ROWS);
        members[i].kit.c.config.forward_passes = 4;
        members[i].kit.c.config.selection = (cobre_cut_selection){ .method = COBRE_SELECTION_LEVEL1,
                                                                   .check_frequency = 2,
                                                                   .activity_tolerance = 1e-6 };
        members[i].kit.c.config.inner_bound = (cobre_inner_bound){
            .enabled = true, .first_iteration = 2, .interval = 2, .fallback = NAN, .scale = 1
        };
        members[i].threads = threads;
    }
}

static void run_together(unsigned size)
{
    meeting at = { .size = size };
    pthread_t thread[RANKS_MOST];

    assert_int_equal(pthread_barrier_init(&at.barrier, NULL, size), 0);
    for (unsigned i = 0; i < size; i++) {
        members[i].seat = (seat){ &at, i };
        assert_int_equal(pthread_create(&thread[i], NULL, run_member, &members[i]), 0);
    }
    for (unsigned i = 0; i < size; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&at.barrier);
}

static void run_alone(unsigned threads)
{
    set_out(1, threads);
    work(&members[0], NULL);
    assert_int_equal(members[0].out.status, MCP_OK);
    assert_int_equal(members[0].out.scenarios, SCENARIOS);
    assert_in_range(members[0].out.numbers, 100, NUMBERS - 1);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void same_bits_with_any_ranks(void **state)
{
    static outcome one;

    (void)state;
    run_alone(1);
    one = members[0].out;
    size_t policy = one.numbers - SCENARIOS * (1 + 4 * 4);
    for (unsigned size = 1; size <= RANKS_MOST; size++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            set_out(size, threads);
            run_together(size);
            assert_memory_equal(&members[0].out, &one, sizeof one);
            for (unsigned i = 1; i < size; i++) {
                assert_int_equal(members[i].out.status, MCP_OK);
                assert_int_equal(members[i].out.solves, one.solves);
                assert_int_equal(members[i].out.numbers, policy);
                assert_memory_equal(members[i].out.bounds, one.bounds, sizeof one.bounds);
                assert_memory_equal(members[i].out.number, one.number, policy * sizeof(double));
            }
        }
}

/* The first rank has the records of all: each solve once, by stage and rank. */
static void records_of_all_ranks(void **state)
{
    (void)state;
    for (unsigned size = 1; size <= RANKS_MOST; size++) {
        set_out(size, 2);
        run_together(size);
        const member *first = &members[0];
        assert_int_equal(first->records, ROWS);
        assert_int_equal(first->ranks, ROWS * size);
        assert_true(first->is_in_order);
        assert_int_equal(first->solver_rows, first->out.solves);
        assert_int_equal(first->rank_rows, first->out.solves);
        assert_int_equal(first->scenarios, ROWS * 4);
    }
}

/* What the dual simplex has left to Clp on any rank: nothing, or all where the seam forces it
 * (backend_seam.c); but for the inner bound, whose programs are Clp's. */
static void fallbacks_of_all_ranks(void **state)
{
    const char *backend = getenv("COBRE_TEST_BACKEND");
    bool is_forced = backend && strcmp(backend, "fallback") == 0;

    (void)state;
    for (unsigned size = 1; size <= RANKS_MOST; size++) {
        set_out(size, 2);
        for (unsigned i = 0; i < size; i++)
            members[i].kit.c.config.inner_bound.enabled = false;
        run_together(size);
        for (unsigned i = 0; i < size; i++)
            assert_int_equal(members[i].out.fallbacks, is_forced ? members[i].out.solves : 0);
    }
}

/* The simulation of a stopping rule is shared as well: it stops at the same iteration. */
static void same_bits_with_a_simulation_rule(void **state)
{
    static outcome one;

    (void)state;
    for (unsigned size = 1; size <= 2; size++) {
        set_out(size, 1);
        for (unsigned i = 0; i < size; i++) {
            members[i].kit.rules[1] = (cobre_stopping_rule){ .kind = COBRE_RULE_SIMULATION,
                                                             .limit = 2,
                                                             .tolerance = 10.0,
                                                             .period = 1,
                                                             .replications = 7,
                                                             .distance_tolerance = 10.0 };
            members[i].kit.c.config.rule_count = 2;
        }
        if (size == 1) {
            work(&members[0], NULL);
            one = members[0].out;
            assert_int_equal(one.reason, SDDP_SIMULATION);
        } else {
            run_together(size);
            assert_memory_equal(&members[0].out, &one, sizeof one);
            assert_int_equal(members[1].out.reason, SDDP_SIMULATION);
        }
    }
}

/* No scenario can fill the reservoir: the first is named, though each rank fails. */
static void a_failure_is_every_rank_s(void **state)
{
    (void)state;
    for (unsigned size = 1; size <= RANKS_MOST; size++) {
        set_out(size, 1);
        for (unsigned i = 0; i < size; i++) {
            cobre_hydro_stage *at = kit_hydro(&members[i].kit, 2, 0);
            at->min_storage = at->max_storage = 1e6;
        }
        run_together(size);
        for (unsigned i = 0; i < size; i++) {
            const outcome *out = &members[i].out;
            assert_int_equal(out->status, MCP_E_INTERNAL);
            assert_string_equal(out->failure.phase, "forward");
            assert_string_equal(out->failure.solver_status, "infeasible");
            assert_int_equal(out->failure.stage, 2);
            assert_int_equal(out->failure.scenario, 0);
            assert_int_equal(out->failure.iteration, 1);
            assert_int_equal(out->failure.hydro_count, 1);
            assert_int_equal(out->failure.hydros[0], 0);
            assert_string_equal(out->err.message, members[0].out.err.message);
        }
    }
}

static void a_stop_of_one_rank_stops_all(void **state)
{
    (void)state;
    set_out(3, 1);
    members[2].stops_after = 2;
    run_together(3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(members[i].out.status, MCP_OK);
        assert_int_equal(members[i].out.reason, SDDP_SHUTDOWN);
        assert_int_equal(members[i].out.rows, 2);
    }
}

/* Between two solves of one rank: all drop the iteration, and have the policy of the one before. */
static void a_halt_of_one_rank_halts_all(void **state)
{
    static outcome halted[3];

    (void)state;
    for (size_t asked = 60; asked < 160; asked += 13) {
        set_out(3, 1);
        members[1].halts_after = asked;
        run_together(3);
        for (unsigned i = 0; i < 3; i++)
            halted[i] = members[i].out;
        set_out(1, 1);
        members[0].stops_after = halted[0].rows;
        work(&members[0], NULL);
        const outcome *alone = &members[0].out;
        assert_in_range(alone->rows, 1, ROWS - 1);
        size_t trials = 4 * 4 * 5; /* an abandoned forward pass has its own */
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(halted[i].status, MCP_OK);
            assert_int_equal(halted[i].reason, SDDP_SHUTDOWN);
            assert_int_equal(halted[i].numbers, alone->numbers);
            assert_memory_equal(halted[i].bounds, alone->bounds, sizeof alone->bounds);
            assert_memory_equal(halted[i].number, alone->number,
                                (alone->numbers - trials) * sizeof(double));
        }
    }
}

static void check_end(unsigned ended, int others)
{
    for (unsigned i = 0; i < 3; i++) {
        char words[64];
        if (i == ended)
            continue;
        snprintf(words, sizeof words, "rank %u has ended: it had enough", ended);
        assert_int_equal(members[i].out.status, MCP_E_INTERNAL);
        assert_string_equal(members[i].out.err.message, words);
        assert_int_equal(members[i].out.exit_status, others);
    }
}

static void a_rank_that_ends_is_heard(void **state)
{
    (void)state;
    for (unsigned ended = 0; ended < 3; ended++) {
        set_out(3, 1);
        members[ended].ends_early = true;
        run_together(3);
        check_end(ended, ended == 0 ? 2 : 4);
        assert_int_equal(members[ended].out.exit_status, ended == 0 ? 2 : 4);

        set_out(3, 1);
        members[ended].ends_later = true; /* the others simulate */
        run_together(3);
        check_end(ended, ended == 0 ? 2 : 4);
    }
}

static void another_study_is_refused(void **state)
{
    (void)state;
    set_out(2, 1);
    kit_set_thermal(&members[1].kit, 0, 60.0, 20.000001);
    run_together(2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(members[i].out.status, MCP_E_INTERNAL);
        assert_non_null(strstr(members[i].out.err.message, "rank 1"));
        assert_int_equal(members[i].out.rows, 0);
        assert_int_equal(members[i].out.exit_status, 4);
    }
}

/* Tasks in order, each once, in parts that differ by one at most. */
static void parts_of_the_tasks(void **state)
{
    meeting at = { .size = 3 };
    seat me = { &at, 0 };
    const rank_exchange port = { 0, 3, gather, &me };
    ranks *all = NULL;

    (void)state;
    assert_int_equal(ranks_first_task(NULL, 7, 0), 0);
    assert_int_equal(ranks_first_task(NULL, 7, 1), 7);
    assert_int_equal(ranks_new(&all, &port, NULL), MCP_OK);
    const size_t first_of_7[] = { 0, 3, 5, 7 }, first_of_2[] = { 0, 1, 2, 2 };
    for (unsigned i = 0; i <= 3; i++) {
        assert_int_equal(ranks_first_task(all, 7, i), first_of_7[i]);
        assert_int_equal(ranks_first_task(all, 2, i), first_of_2[i]);
    }
    ranks_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_the_tasks),
        cmocka_unit_test(same_bits_with_any_ranks),
        cmocka_unit_test(records_of_all_ranks),
        cmocka_unit_test(fallbacks_of_all_ranks),
        cmocka_unit_test(same_bits_with_a_simulation_rule),
        cmocka_unit_test(a_failure_is_every_rank_s),
        cmocka_unit_test(a_stop_of_one_rank_stops_all),
        cmocka_unit_test(a_halt_of_one_rank_halts_all),
        cmocka_unit_test(a_rank_that_ends_is_heard),
        cmocka_unit_test(another_study_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
