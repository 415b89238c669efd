/*
 * simulate.c - simulates the trained policy over new scenarios.
 *
 * Consecutive scenarios are walked together: a stage of theirs is one group of solves, whose lanes
 * differ in their incoming states too. How many, the case alone decides (groups.h). These groups
 * run in batches of a few per thread. The next batch reuses the slots of their results; between
 * batches the observer is called in scenario order. Working sets and bases are frozen, so a
 * scenario's result depends on the case alone, whatever the size of a batch. Draws are those of
 * iteration 0 and scenario numbers from 2^31 - 1 up, which training never uses. Method page, 9.
 */
#include <math.h>
#include <string.h>

#include "mcp/clock.h"

#include "sddp/iteration/groups.h"
#include "sddp/iteration/recorder.h"
#include "sddp/pass.h"
#include "sddp/ranks/ranks.h"
#include "sddp/result.h"
#include "sddp/statistics.h"

/* Of a batch: scenarios walked one by one, or groups of them. */
#define SLOTS_PER_THREAD 4
#define GROUPS_PER_THREAD 2

typedef struct slot {
    double **memory; /* by stage: of its result (result.h) */
    double cost;
} slot;

typedef struct simulation {
    slot *slots;
    solve_work *work; /* by slot */
    size_t slot_count;
    size_t together;           /* scenarios of a group */
    size_t first;              /* scenario of the batch's first slot */
    size_t count;              /* scenarios of the batch */
    sddp_stage_result *stages; /* of the scenario that is reported */
    double *costs;             /* by scenario */
    double *zeros;             /* result_zeros of them */
} simulation;

/* The slots of a task. */
typedef struct slot_range {
    size_t first, count;
} slot_range;

static size_t first_slot(const simulation *sim, size_t task)
{
    size_t first = task * sim->together;

    return first < sim->count ? first : sim->count;
}

static slot_range slots_of(const simulation *sim, size_t task)
{
    size_t first = first_slot(sim, task);

    return (slot_range){ first, first_slot(sim, task + 1) - first };
}

static study_path path_of(const sddp *s, const simulation *sim, size_t at)
{
    return study_simulation_path(s, sim->first + at, s->input->config.simulation_scenarios);
}

/* The noises of a stage, each of which may depend on the path's state. */
static void draw(sddp *s, worker *w, const simulation *sim, const slot_range *range, size_t t,
                 int32_t *openings)
{
    for (size_t i = 0; i < range->count; i++) {
        study_path path = path_of(s, sim, range->first + i);
        const double *noise = study_draw(s, w, &path, t, groups_path_state(s, w, i), &openings[i]);
        memcpy(groups_path_noise(s, w, i), noise, s->tree->dimension * sizeof *noise);
    }
}

static void take_results(sddp *s, worker *w, const solve_input *in, const solve_output *out,
                         slot *slots)
{
    size_t t = in->program->stage;

    for (size_t i = 0; i < in->lanes.count; i++) {
        double *state = groups_path_state(s, w, i);
        const solve_output one = { .objective = out->objective + i,
                                   .primal = solve_primal(in, out, i),
                                   .duals = solve_duals(in, out, i) };
        double cost = result_write(slots[i].memory[t], s, t, &one, state,
                                   groups_path_noise(s, w, i));
        slots[i].cost += s->discount[t] * cost;
        solve_leave(w, in, out, i, state);
    }
}

static mcp_status play_stage(pass *p, worker *w, size_t t, const slot_range *range,
                             sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    const simulation *sim = p->data;
    int32_t openings[GROUP_PATHS_MOST];
    double objectives[GROUP_PATHS_MOST];
    solve_output out = { .objective = objectives };

    draw(s, w, sim, range, t, openings);
    solve_input in = groups_paths_input(s, w, t, range->count, study_basis(s, t, 0));
    in.work = sim->work + range->first;
    mcp_status st = pass_solve(&out, p, w, &in, where, err);
    if (st == MCP_E_INTERNAL) {
        where->scenario = (int32_t)(sim->first + range->first + w->failed);
        where->opening = openings[w->failed];
    }
    if (st == MCP_OK)
        take_results(s, w, &in, &out, sim->slots + range->first);
    return st;
}

static mcp_status play(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    simulation *sim = p->data;
    slot_range range = slots_of(sim, index);
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < range.count; i++) {
        study_path path = path_of(s, sim, range.first + i);
        study_begin_path(s, &path, groups_path_state(s, w, i));
        sim->slots[range.first + i].cost = 0.0;
        sim->work[range.first + i] = (solve_work){ .solves = 0 };
    }
    for (size_t t = 0; t < s->stages && st == MCP_OK; t++)
        st = play_stage(p, w, t, &range, where, err);
    return st;
}

static void list_outputs(const pass *p, size_t begin, size_t end, spans *all)
{
    const sddp *s = p->study;
    const simulation *sim = p->data;
    size_t from = first_slot(sim, begin), to = first_slot(sim, end);

    for (size_t i = from; i < to; i++) {
        slot *place = &sim->slots[i];
        for (size_t t = 0; t < s->stages; t++)
            spans_add(all, place->memory[t], result_length(s, t) * sizeof **place->memory);
        spans_add(all, &place->cost, sizeof place->cost);
    }
    spans_add(all, sim->work + from, (to - from) * sizeof *sim->work);
}

static mcp_status make_slot(slot *place, sddp *s, mcp_arena *arena, mcp_error *err)
{
    place->memory = mcp_arena_array(arena, s->stages, sizeof *place->memory);
    for (size_t t = 0; place->memory && t < s->stages; t++) {
        place->memory[t] = mcp_arena_array(arena, result_length(s, t), sizeof **place->memory);
        if (!place->memory[t])
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for simulation results");
    }
    if (!place->memory)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for simulation results");
    return MCP_OK;
}

static mcp_status make_slots(simulation *sim, sddp *s, mcp_arena *arena, size_t scenarios,
                             mcp_error *err)
{
    size_t a_thread = SLOTS_PER_THREAD;
    mcp_status st = MCP_OK;

    sim->together = groups_paths(s);
    if (sim->together > 1)
        a_thread = GROUPS_PER_THREAD * sim->together;
    sim->slot_count = (size_t)s->all_threads * a_thread;
    if (sim->slot_count > scenarios)
        sim->slot_count = scenarios;
    sim->slots = mcp_arena_array(arena, sim->slot_count, sizeof *sim->slots);
    sim->work = mcp_arena_array(arena, sim->slot_count, sizeof *sim->work);
    sim->stages = mcp_arena_array(arena, s->stages, sizeof *sim->stages);
    sim->costs = mcp_arena_array(arena, scenarios, 2 * sizeof *sim->costs);
    sim->zeros = mcp_arena_array(arena, result_zeros(s), sizeof *sim->zeros);
    if (!sim->slots || !sim->work || !sim->stages || !sim->costs || !sim->zeros)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu scenarios", scenarios);
    for (size_t i = 0; i < sim->slot_count && st == MCP_OK; i++)
        st = make_slot(&sim->slots[i], s, arena, err);
    return st;
}

static mcp_status report_scenario(const pass *p, const simulation *sim, size_t index,
                                  mcp_error *err)
{
    const sddp *s = p->study;
    const slot *place = &sim->slots[index];
    uint32_t number = (uint32_t)(sim->first + index);
    const sddp_scenario scenario = { number, place->cost, sim->stages, s->stages };

    recorder_report_scenario(p->observer, number, &sim->work[index]);
    for (size_t t = 0; t < s->stages; t++)
        result_read(&sim->stages[t], place->memory[t], s, t, sim->zeros);
    return p->observer->scenario ? p->observer->scenario(&scenario, p->observer->data, err)
                                 : MCP_OK;
}

/* The first rank has the results of all. */
static mcp_status take_batch(const pass *p, const simulation *sim, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (ranks_own(p->study->ranks) > 0)
        return MCP_OK;
    for (size_t i = 0; i < sim->count; i++)
        sim->costs[sim->first + i] = sim->slots[i].cost;
    for (size_t i = 0; i < sim->count && st == MCP_OK; i++)
        st = report_scenario(p, sim, i, err);
    return st;
}

/* All scenarios, batch by batch; `first` ends as the number of scenarios completed and reported. */
static mcp_status play_all(pass *p, simulation *sim, size_t scenarios, sddp_failure *failure,
                           mcp_error *err)
{
    mcp_status st = MCP_OK;

    while (sim->first < scenarios && st == MCP_OK) {
        sim->count = scenarios - sim->first;
        if (sim->count > sim->slot_count)
            sim->count = sim->slot_count;
        size_t tasks = (sim->count + sim->together - 1) / sim->together;
        st = pass_run(p, play, tasks, failure, err);
        if (st == MCP_OK)
            st = take_batch(p, sim, err);
        if (st == MCP_OK)
            sim->first += sim->count;
    }
    return st;
}

static void summarise(sddp_simulation *result, const simulation *sim, size_t scenarios)
{
    size_t n = sim->first;
    statistics costs = statistics_of(sim->costs, n);

    result->scenarios_completed = (uint32_t)n;
    result->mean = costs.mean;
    result->std = costs.std;
    result->ci_95 = costs.half_width;
    result->cvar = statistics_cvar95(sim->costs, n, sim->costs + scenarios);
    for (size_t i = 0; i < n; i++) {
        result->min = i == 0 ? sim->costs[i] : fmin(result->min, sim->costs[i]);
        result->max = i == 0 ? sim->costs[i] : fmax(result->max, sim->costs[i]);
    }
}

/* The simulation, with an arena of its own. */
static mcp_status simulate(pass *p, sddp_simulation *result, size_t scenarios,
                           sddp_failure *failure, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(study_most_bytes());
    simulation sim = { .first = 0 };

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the simulation");
    p->data = &sim;
    mcp_status st = make_slots(&sim, p->study, arena, scenarios, err);
    if (st == MCP_OK) {
        mcp_error trouble = MCP_ERROR_INIT;
        st = play_all(p, &sim, scenarios, failure, &trouble);
        summarise(result, &sim, scenarios);
        if (st == MCP_E_STOPPED && atomic_load(&p->is_halted)) {
            result->stopped = true;
            st = MCP_OK;
        }
        if (st != MCP_OK)
            mcp_error_set(err, st, "%s", trouble.message);
    }
    p->data = NULL; /* the pass outlives `sim` */
    mcp_arena_free(arena);
    return st;
}

mcp_status sddp_simulate(sddp *study, const sddp_observer *observer, sddp_simulation *result,
                         sddp_failure *failure, mcp_error *err)
{
    static const sddp_observer nobody = { .data = NULL };
    pass p = { .study = study,
               .observer = observer ? observer : &nobody,
               .phase = "simulation",
               .iteration = -1,
               .halts_at = SDDP_STOP_AFTER_ITERATION,
               .pace = &study->simulation_pace,
               .outputs = list_outputs,
               .for_first_rank = true };
    size_t scenarios = study->input->config.simulation_scenarios;
    int64_t begin = mcp_clock_mono_ns();
    int64_t solver_before = study_solver_ns(study), solves_before = study_solves(study);
    int64_t fallbacks_before = study_fallbacks(study);
    mcp_status st = MCP_OK;

    *failure = (sddp_failure){
        .phase = "simulation", .stage = -1, .iteration = -1, .opening = -1, .scenario = -1
    };
    *result = (sddp_simulation){ .scenarios_total = (uint32_t)scenarios };
    if (scenarios > 0)
        st = simulate(&p, result, scenarios, failure, err);
    result->wall_time_ms = (mcp_clock_mono_ns() - begin + 500000) / 1000000;
    result->solve_time_us = (study_solver_ns(study) - solver_before) / 1000;
    result->lp_solves = study_solves(study) - solves_before;
    result->fallbacks = study_fallbacks(study) - fallbacks_before;
    result->solver = sddp_solver(study);
    return st;
}
