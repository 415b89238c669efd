/*
 * groups.c - cuts the openings of a stage into groups, and keeps the values that their noises give.
 */
#include "sddp/iteration/groups.h"

/* Openings of a group that is solved one by one, about. */
#define GROUP_OPENINGS 10

/* The dual simplex wants one group, since lanes share pivots. Where few scenarios leave threads
 * without work it is cut, while the groups stay this large. */
#define GROUP_TASKS_MOST 4
#define GROUP_LANES_LEAST 32

/* Scenarios of a simulation are walked together as far as this many groups remain for threads, and
 * as far as their results take no more memory, about. */
#define GROUPS_OF_PATHS_LEAST 4
#define GROUP_RESULTS_MOST ((size_t)4 << 20)

static mcp_status out_of_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the openings of a study");
}

static mcp_status make_opening_values(sddp *s, size_t t, mcp_error *err)
{
    size_t openings = s->tree->openings[t], items = s->programs[t].layout.items;
    double *values = mcp_arena_array(s->arena, items, openings * sizeof *values);

    if (!values)
        return out_of_memory(err);
    for (uint32_t w = 0; w < openings; w++)
        items_of_noise(&s->programs[t], tree_noise(s->tree, t, w), values + w, openings);
    s->opening_values[t] = values;
    return MCP_OK;
}

typedef struct group_size {
    size_t lanes, items, gradient, columns, rows;
} group_size;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The largest group and the largest program. */
static group_size most_of(const sddp *s)
{
    group_size most = { .lanes = 1 };

    for (size_t t = 0; t < s->stages; t++) {
        const stage_lp *p = &s->programs[t];
        size_t lanes = 1 + (s->tree->openings[t] - 1) / groups_count(s, t);
        most.lanes = larger(larger(most.lanes, lanes), groups_paths(s));
        most.items = larger(most.items, p->layout.items);
        most.gradient = larger(most.gradient,
                               p->layout.gradients + p->layout.dimension - p->layout.states);
        most.columns = larger(most.columns, (size_t)p->program.columns);
        most.rows = larger(most.rows, (size_t)p->program.rows);
    }
    return most;
}

/* What the workers need for the lanes of a group. */
static mcp_status make_lanes(sddp *s, mcp_error *err)
{
    group_size most = most_of(s);
    size_t tail = s->dimension - s->input->hydro_count, paths = groups_paths(s);

    for (unsigned i = 0; i < s->threads; i++) {
        worker *w = &s->workers[i];
        w->drawn = mcp_arena_array(s->arena, most.items, paths * sizeof(double));
        w->path_states = mcp_arena_array(s->arena, s->dimension, paths * sizeof(double));
        w->path_noises = mcp_arena_array(s->arena, s->tree->dimension, paths * sizeof(double));
        w->lane_values = mcp_arena_array(s->arena, most.items, most.lanes * sizeof(double));
        w->lane_tail = mcp_arena_array(s->arena, tail, most.lanes * sizeof(double));
        w->reduced = mcp_arena_array(s->arena, most.gradient, most.lanes * sizeof(double));
        w->primal = mcp_arena_array(s->arena, most.columns, paths * sizeof(double));
        w->duals = mcp_arena_array(s->arena, most.rows, paths * sizeof(double));
        w->solution_lanes = paths;
        if (!w->drawn || !w->path_states || !w->path_noises || !w->lane_values || !w->lane_tail ||
            !w->reduced || !w->primal || !w->duals)
            return out_of_memory(err);
    }
    return MCP_OK;
}

/* The solver of a stage. */
static mcp_status choose_solver(sddp *s, size_t t, mcp_error *err)
{
    const stage_lp *stage = &s->programs[t];
    cobre_backend backend = s->input->config.backend;

    if (backend == COBRE_BACKEND_CLP ||
        (backend == COBRE_BACKEND_AUTO && !dual_fits(&stage->program, &stage->layout)))
        return MCP_OK;
    return dual_program_new(&s->duals[t], &stage->program, &stage->layout, err);
}

mcp_status groups_prepare(sddp *study, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t t = 0; t < study->stages && st == MCP_OK; t++) {
        st = choose_solver(study, t, err);
        if (st == MCP_OK)
            st = make_opening_values(study, t, err);
    }
    for (unsigned i = 0; i < study->threads && st == MCP_OK; i++)
        st = dual_work_new(&study->workers[i].dual, err);
    return st == MCP_OK ? make_lanes(study, err) : st;
}

mcp_status groups_replace_program(sddp *study, size_t stage, mcp_error *err)
{
    dual_program_free(study->duals[stage]);
    study->duals[stage] = NULL;
    return choose_solver(study, stage, err);
}

void groups_free(sddp *study)
{
    for (size_t t = 0; study->duals && t < study->stages; t++)
        dual_program_free(study->duals[t]);
    for (unsigned i = 0; study->workers && i < study->threads; i++)
        dual_work_free(study->workers[i].dual);
}

int64_t study_own_fallbacks(const sddp *study)
{
    int64_t total = 0;

    for (unsigned i = 0; i < study->threads; i++)
        total += dual_work_totals(study->workers[i].dual)->fallbacks;
    return total;
}

int64_t study_fallbacks(const sddp *study)
{
    return study_own_fallbacks(study) + study->elsewhere_fallbacks;
}

const char *sddp_solver(const sddp *study)
{
    size_t own = 0;

    for (size_t t = 0; t < study->stages; t++)
        own += study->duals[t] != NULL;
    if (own == 0)
        return "clp";
    return own == study->stages ? "own" : "own, clp";
}

solve_input groups_path_input(const sddp *study, worker *w, size_t stage, const double *noise,
                              const uint8_t *basis)
{
    items_of_noise(&study->programs[stage], noise, w->drawn, 1);
    return (solve_input){ .program = &study->programs[stage],
                          .dual = study->duals[stage],
                          .pool = study_pool(study, stage),
                          .state = w->state,
                          .lanes = { 1, w->drawn, 1, 0 },
                          .basis = basis,
                          .wants_solution = true };
}

/* Lane by lane, solves gain nothing from one another. */
size_t groups_paths(const sddp *study)
{
    size_t scenarios = study->input->config.simulation_scenarios, bytes = 1;
    size_t most = scenarios / GROUPS_OF_PATHS_LEAST;

    for (size_t t = 0; t < study->stages; t++) {
        if (!study->duals[t])
            return 1;
        const lp_program *program = &study->programs[t].program;
        bytes += ((size_t)(program->columns + program->rows) + study->dimension) * sizeof(double);
    }
    if (most > GROUP_PATHS_MOST)
        most = GROUP_PATHS_MOST;
    if (most > GROUP_RESULTS_MOST / bytes)
        most = GROUP_RESULTS_MOST / bytes;
    if (most <= 1)
        return 1;
    size_t groups = (scenarios + most - 1) / most;
    return (scenarios + groups - 1) / groups;
}

double *groups_path_state(const sddp *study, const worker *w, size_t path)
{
    return w->path_states + path * study->dimension;
}

double *groups_path_noise(const sddp *study, const worker *w, size_t path)
{
    return w->path_noises + path * study->tree->dimension;
}

solve_input groups_paths_input(const sddp *study, worker *w, size_t stage, size_t paths,
                               const uint8_t *basis)
{
    for (size_t i = 0; i < paths; i++)
        items_of_noise(&study->programs[stage], groups_path_noise(study, w, i), w->drawn + i,
                       paths);
    return (solve_input){ .program = &study->programs[stage],
                          .dual = study->duals[stage],
                          .pool = study_pool(study, stage),
                          .state = w->path_states,
                          .lanes = { paths, w->drawn, paths, study->dimension },
                          .basis = basis,
                          .wants_solution = true };
}

size_t groups_count(const sddp *study, size_t stage)
{
    size_t openings = study->tree->openings[stage];

    if (!study->duals[stage])
        return (openings + GROUP_OPENINGS - 1) / GROUP_OPENINGS;
    size_t tasks = GROUP_TASKS_MOST / study->scenarios, groups = openings / GROUP_LANES_LEAST;
    if (groups > tasks)
        groups = tasks;
    return groups > 0 ? groups : 1;
}

opening_group groups_get(const sddp *study, size_t stage, size_t group)
{
    size_t openings = study->tree->openings[stage], groups = groups_count(study, stage);
    size_t first = openings * group / groups;

    return (opening_group){ first, openings * (group + 1) / groups - first };
}

solve_input groups_input(const sddp *study, size_t stage, const double *state,
                         const opening_group *group, const uint8_t *basis)
{
    const double *values = study->opening_values[stage] + group->first;

    return (solve_input){ .program = &study->programs[stage],
                          .dual = study->duals[stage],
                          .pool = study_pool(study, stage),
                          .state = state,
                          .lanes = { group->count, values, study->tree->openings[stage], 0 },
                          .basis = basis };
}
