/*
 * simulate.c - simulates the trained policy over new scenarios.
 *
 * Scenarios run in batches of a few per thread. The next batch reuses the slots of their results;
 * between batches the observer is called in scenario order. Working sets and bases are frozen, so a
 * scenario's result depends on its number alone, whatever the size of a batch. Draws are those of
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

#define SLOTS_PER_THREAD 4

typedef struct slot {
    double **memory; /* by stage: of its result (result.h) */
    double cost;
    solve_work work;
} slot;

typedef struct simulation {
    slot *slots;
    size_t slot_count;
    size_t first;              /* scenario of the batch's first slot */
    sddp_stage_result *stages; /* of the scenario that is reported */
    double *costs;             /* by scenario */
    double *zeros;             /* result_zeros of them */
} simulation;

static mcp_status play_stage(pass *p, worker *w, size_t t, slot *place, sddp_failure *where,
                             mcp_error *err)
{
    sddp *s = p->study;
    size_t scenario = (size_t)where->scenario;
    study_path path = study_simulation_path(s, scenario, s->input->config.simulation_scenarios);
    const double *noise = study_draw(s, w, &path, t, w->state, &where->opening);
    solve_input in = groups_path_input(s, w, t, noise, study_basis(s, t, 0));
    double objective;
    solve_output out = { .objective = &objective };

    in.work = &place->work;
    mcp_status st = pass_solve(&out, p, w, &in, where, err);
    if (st != MCP_OK)
        return st;
    double cost = result_write(place->memory[t], s, t, &out, w->state, noise);
    place->cost += s->discount[t] * cost;
    solve_leave(w, &in, &out, w->state);
    return MCP_OK;
}

static mcp_status play(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    simulation *sim = p->data;
    slot *place = &sim->slots[index];
    mcp_status st = MCP_OK;

    where->scenario = (int32_t)(sim->first + index);
    place->cost = 0.0;
    place->work = (solve_work){ .solves = 0 };
    study_path path = study_simulation_path(s, (size_t)where->scenario,
                                            s->input->config.simulation_scenarios);
    study_begin_path(s, &path, w->state);
    for (size_t t = 0; t < s->stages && st == MCP_OK; t++)
        st = play_stage(p, w, t, place, where, err);
    return st;
}

static void list_outputs(const pass *p, size_t begin, size_t end, spans *all)
{
    const sddp *s = p->study;
    const simulation *sim = p->data;

    for (size_t i = begin; i < end; i++) {
        slot *place = &sim->slots[i];
        for (size_t t = 0; t < s->stages; t++)
            spans_add(all, place->memory[t], result_length(s, t) * sizeof **place->memory);
        spans_add(all, &place->cost, sizeof place->cost);
        spans_add(all, &place->work, sizeof place->work);
    }
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
    mcp_status st = MCP_OK;

    sim->slot_count = (size_t)s->all_threads * SLOTS_PER_THREAD;
    if (sim->slot_count > scenarios)
        sim->slot_count = scenarios;
    sim->slots = mcp_arena_array(arena, sim->slot_count, sizeof *sim->slots);
    sim->stages = mcp_arena_array(arena, s->stages, sizeof *sim->stages);
    sim->costs = mcp_arena_array(arena, scenarios, 2 * sizeof *sim->costs);
    sim->zeros = mcp_arena_array(arena, result_zeros(s), sizeof *sim->zeros);
    if (!sim->slots || !sim->stages || !sim->costs || !sim->zeros)
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

    recorder_report_scenario(p->observer, number, &place->work);
    for (size_t t = 0; t < s->stages; t++)
        result_read(&sim->stages[t], place->memory[t], s, t, sim->zeros);
    return p->observer->scenario ? p->observer->scenario(&scenario, p->observer->data, err)
                                 : MCP_OK;
}

/* The first rank has the results of all. */
static mcp_status take_batch(const pass *p, const simulation *sim, size_t count, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (ranks_own(p->study->ranks) > 0)
        return MCP_OK;
    for (size_t i = 0; i < count; i++)
        sim->costs[sim->first + i] = sim->slots[i].cost;
    for (size_t i = 0; i < count && st == MCP_OK; i++)
        st = report_scenario(p, sim, i, err);
    return st;
}

/* All scenarios, batch by batch; `first` ends as the number of scenarios completed and reported. */
static mcp_status play_all(pass *p, simulation *sim, size_t scenarios, sddp_failure *failure,
                           mcp_error *err)
{
    mcp_status st = MCP_OK;

    while (sim->first < scenarios && st == MCP_OK) {
        size_t count = scenarios - sim->first;
        if (count > sim->slot_count)
            count = sim->slot_count;
        st = pass_run(p, play, count, failure, err);
        if (st == MCP_OK)
            st = take_batch(p, sim, count, err);
        if (st == MCP_OK)
            sim->first += count;
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
