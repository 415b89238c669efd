/*
 * loop.c - walks a study's stages with a solver's own models.
 */
#include "support/loop.h"

#include <stdlib.h>

#include "lp/scale.h"
#include "mcp/alloc.h"
#include "sddp/program/items.h"
#include "sddp/study.h"
#include "support/program.h"

typedef struct stage_model {
    void *model;
    double *column_scale, objective_scale;
    size_t cuts; /* that are rows */
} stage_model;

struct loop {
    sddp *study;
    const loop_solver *solver;
    stage_model *stages;
    double *value;           /* by element of a cut */
    double *random, *values; /* by item of a program (items.h) */
    int *column;
    double gradient; /* the sum of all, so that none is left out */
};

static void *must(void *memory)
{
    if (!memory)
        bench_give_up("no memory for a loop");
    return memory;
}

/* ---- loading --------------------------------------------------------------------------------- */

static void scale(lp_program *out, const lp_program *p, stage_model *to, const double *row_scale)
{
    size_t n = (size_t)p->columns, m = (size_t)p->rows, elements = (size_t)p->start[n];
    double *lower = must(mcp_alloc((3 * n + 2 * m + elements) * sizeof *lower));
    double *upper = lower + n, *cost = upper + n, *value = cost + n;
    double *row_lower = value + elements, *row_upper = row_lower + m;

    for (size_t j = 0; j < n; j++) {
        double by = to->column_scale[j];
        lower[j] = p->lower[j] <= -LP_INFINITY ? p->lower[j] : p->lower[j] / by;
        upper[j] = p->upper[j] >= LP_INFINITY ? p->upper[j] : p->upper[j] / by;
        cost[j] = p->cost[j] * by * to->objective_scale;
        for (int e = p->start[j]; e < p->start[j + 1]; e++)
            value[e] = p->value[e] * by * row_scale[p->row[e]];
    }
    for (size_t i = 0; i < m; i++) {
        row_lower[i] = p->row_lower[i] <= -LP_INFINITY ? p->row_lower[i]
                                                       : p->row_lower[i] * row_scale[i];
        row_upper[i] = p->row_upper[i] >= LP_INFINITY ? p->row_upper[i]
                                                      : p->row_upper[i] * row_scale[i];
    }
    *out = (lp_program){ p->columns, p->rows, p->start, p->row,    value,
                         lower,      upper,   cost,     row_lower, row_upper };
}

static void load(stage_model *out, const lp_program *program, const loop_solver *solver)
{
    double *row_scale = must(mcp_alloc((size_t)program->rows * sizeof *row_scale));
    lp_program scaled;

    out->column_scale = must(mcp_alloc((size_t)program->columns * sizeof *out->column_scale));
    lp_scale_program(program, out->column_scale, row_scale, &out->objective_scale);
    scale(&scaled, program, out, row_scale);
    out->model = solver->load(&scaled);
    free((void *)scaled.lower);
    free(row_scale);
}

void loop_new(loop **out, const sddp *study, const loop_solver *solver)
{
    loop *it = must(mcp_alloc_zeroed(1, sizeof *it));
    size_t hydros = study->input->hydro_count;

    if (study->dimension != hydros)
        bench_give_up("a loop knows no lags");
    it->study = (sddp *)study;
    it->solver = solver;
    it->stages = must(mcp_alloc_zeroed(study->stages, sizeof *it->stages));
    size_t items = 0;
    for (size_t t = 0; t < study->stages; t++)
        if (study->programs[t].layout.items > items)
            items = study->programs[t].layout.items;
    it->value = must(mcp_alloc((hydros + 1 + 2 * items) * sizeof *it->value));
    it->random = it->value + hydros + 1;
    it->values = it->random + items;
    it->column = must(mcp_alloc((hydros + 1) * sizeof *it->column));
    for (size_t t = 0; t < study->stages; t++)
        load(&it->stages[t], &study->programs[t].program, solver);
    *out = it;
}

void loop_free(loop *it)
{
    if (!it)
        return;
    for (size_t t = 0; t < it->study->stages; t++) {
        it->solver->free(it->stages[t].model);
        free(it->stages[t].column_scale);
    }
    free(it->stages);
    free(it->value);
    free(it->column);
    free(it);
}

/* ---- solving --------------------------------------------------------------------------------- */

/* theta - slope . storage >= intercept, its largest element about one. */
static void append_cut(loop *it, size_t t, size_t cut)
{
    const stage_lp *program = &it->study->programs[t];
    const cut_pool *pool = study_pool(it->study, t);
    stage_model *at = &it->stages[t];
    int count = 0;

    for (size_t j = 0; j < pool->dimension; j++) {
        it->column[count] = stage_lp_storage(program, j);
        it->value[count] = -cuts_slope(pool, cut, j);
        count += it->value[count] != 0.0;
    }
    it->column[count] = program->theta;
    it->value[count++] = 1.0;
    double by = lp_scale_row(count, it->column, it->value, at->column_scale);
    for (int e = 0; e < count; e++)
        it->value[e] *= by * at->column_scale[it->column[e]];
    it->solver->append(at->model, pool->intercept[cut] * by, count, it->column, it->value);
}

/* The cuts of a stage that were made up to an iteration. */
static void bring_cuts(loop *it, size_t t, uint32_t iteration)
{
    const cut_pool *pool = study_pool(it->study, t);
    stage_model *at = &it->stages[t];

    while (at->cuts < pool->count && pool->record[at->cuts].iteration <= iteration)
        append_cut(it, t, at->cuts++);
}

static double solve(loop *it, size_t t, const double *state, const double *noise)
{
    const stage_lp *program = &it->study->programs[t];
    stage_model *at = &it->stages[t];
    int incoming = program->first[REGION_INCOMING], inflow = program->first[REGION_INFLOW];

    const double *inflows = it->values + items_inflow(program);
    items_of_noise(program, noise, it->random, 1);
    items_of_state(program, state, &(item_lanes){ 1, it->random, 1, 0 }, it->values);
    for (int h = 0; h < (int)it->study->dimension; h++) {
        it->solver->fix(at->model, incoming + h, state[h] / at->column_scale[incoming + h]);
        it->solver->fix(at->model, inflow + h, inflows[h] / at->column_scale[inflow + h]);
    }
    return it->solver->solve(at->model) / at->objective_scale;
}

static void take_gradient(loop *it, size_t t)
{
    int incoming = it->study->programs[t].first[REGION_INCOMING];

    for (int h = 0; h < (int)it->study->dimension; h++)
        it->gradient += it->solver->reduced_cost(it->stages[t].model, incoming + h);
}

static int64_t walk_forward(loop *it, uint32_t iteration)
{
    sddp *s = it->study;
    int32_t opening;

    for (size_t m = 0; m < s->scenarios; m++) {
        study_path path = study_training_path(s, iteration, m);
        for (size_t t = 0; t < s->stages; t++) {
            const double *state = study_trial(s, t, m);
            solve(it, t, state, study_draw(s, &s->workers[0], &path, t, state, &opening));
        }
    }
    return (int64_t)(s->scenarios * s->stages);
}

/* The openings of a stage at each trial state; the mean of their objectives. */
static double solve_openings(loop *it, size_t t, size_t states, int64_t *solves)
{
    sddp *s = it->study;
    uint32_t openings = s->tree->openings[t];
    double sum = 0.0;

    for (size_t m = 0; m < states; m++)
        for (uint32_t w = 0; w < openings; w++) {
            sum += solve(it, t, study_trial(s, t, m), tree_noise(s->tree, t, w));
            if (t > 0)
                take_gradient(it, t);
        }
    *solves += (int64_t)(states * openings);
    return sum / (double)(states * openings);
}

int64_t loop_run(loop *it, double *bound)
{
    const sddp *s = it->study;
    uint32_t iteration = s->completed;

    for (size_t t = 0; t < s->stages; t++)
        bring_cuts(it, t, iteration - 1);
    int64_t solves = walk_forward(it, iteration);
    for (size_t t = s->stages - 1; t > 0; t--) {
        bring_cuts(it, t, iteration);
        solve_openings(it, t, s->scenarios, &solves);
    }
    bring_cuts(it, 0, iteration);
    double mean = solve_openings(it, 0, 1, &solves) * COST_SCALE;
    if (bound)
        *bound = mean;
    return solves;
}
