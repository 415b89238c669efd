/*
 * inner_bound.c - walks back over the stages and values their vertices.
 *
 * One pass a stage, with a task for every vertex of the stage before: it solves the stage's
 * openings in their order, each from the basis of the one before, the first from a basis that all
 * tasks share. So the bound has the same bits for any number of threads. The last stage of a finite
 * horizon has no vertices: its program with the cuts of a boundary, if there are any, is exact.
 *
 * In a cycle the last stage needs the values of its own vertices. From any v the values T(v) of one
 * round back to the same vertices give some that are not too low: T(v + k) <= v + k where
 * (1 - d) * k is the most that T(v) exceeds v by and d discounts one round, so the value of
 * entering the cycle is at most T(v + k) = T(v) + d * k (MacQueen, 1966). Some rounds tighten it.
 */
#include "sddp/iteration/inner_bound.h"

#include <math.h>
#include <string.h>

#include "sddp/iteration/groups.h"
#include "sddp/pass.h"
#include "sddp/program/inner_lp.h"
#include "sddp/risk.h"

/* Rounds of a cycle, and the relative change from which on no more are made. */
#define ROUNDS_MAX 8
#define ROUND_TOLERANCE 1e-9

/* The vertices of one node. */
typedef struct node_vertices {
    const double **state;
    double *value; /* thousands */
    size_t count;
} node_vertices;

typedef struct evaluation {
    const iteration_run *run;
    sddp *study;
    mcp_arena *arena;
    node_vertices *nodes;    /* by the node's first stage */
    program_context context; /* the study's, with one theta a stage */
} evaluation;

/* The solves of one stage at some states. */
typedef struct step {
    size_t stage;
    const inner_lp *program; /* NULL: the stage's own, with its cuts */
    const double *const *states;
    double *objectives; /* [state * openings + opening] */
    lp **models;        /* by worker; NULL until it has one */
    uint8_t *basis;     /* where each task starts */
} step;

static mcp_status out_of_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the upper bound");
}

/* ---- vertices -------------------------------------------------------------------------------- */

/* The place of a state among the vertices, which are in the order of bytes; `found`: it is one. */
static size_t place_of(const node_vertices *node, const double *state, size_t size, bool *found)
{
    size_t low = 0, high = node->count;

    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = size > 0 ? memcmp(node->state[middle], state, size) : 0;
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Paths often visit the same state: it is one vertex. */
static void add_states(const sddp *s, node_vertices *node, const double *states)
{
    size_t size = s->dimension * sizeof *states;

    for (size_t m = 0; m < s->scenarios; m++) {
        bool is_known;
        size_t at = place_of(node, states + m * s->dimension, size, &is_known);
        if (is_known)
            continue;
        memmove(node->state + at + 1, node->state + at, (node->count - at) * sizeof *node->state);
        node->state[at] = states + m * s->dimension;
        node->count++;
    }
}

static mcp_status collect(evaluation *e, size_t t, mcp_error *err)
{
    const sddp *s = e->study;
    node_vertices *node = &e->nodes[t];
    size_t visits = study_node_visits(s, t), length = s->scenarios * s->dimension;
    size_t most = (s->visited.count + 1) * visits * s->scenarios;

    node->state = mcp_arena_array(e->arena, most + 1, sizeof *node->state);
    if (!node->state)
        return out_of_memory(err);
    for (size_t v = 0; v < visits; v++) {
        size_t first = (t + 1 + v * study_node_stride(s)) * length;
        for (size_t i = 0; i < s->visited.count; i++)
            add_states(s, node, s->visited.blocks[i] + first);
        add_states(s, node, s->trial + first);
    }
    node->value = mcp_arena_array(e->arena, node->count, sizeof *node->value);
    return node->value ? MCP_OK : out_of_memory(err);
}

/* ---- solves of a stage ----------------------------------------------------------------------- */

static mcp_status solve_inner(pass *p, worker *w, lp *model, const double *state, size_t opening,
                              double *objective, sddp_failure *where, mcp_error *err)
{
    const step *at = p->data;
    const stage_lp *program = at->program->stage;
    const opening_group one = { opening, 1 };
    const solve_input in = groups_input(p->study, at->stage, state, &one, NULL);
    const double *inflow = w->lane_values + items_inflow(program);
    mcp_status st = pass_go_on(p, err);

    if (st != MCP_OK)
        return st;
    items_of_state(program, state, &in.lanes, w->lane_values);
    state_advance(&program->context->state, at->stage, state, 0, inflow, 1,
                  w->outgoing + program->layout.states);
    items_enter(program, model, w->lane_values, 1);
    inner_lp_enter(at->program, model, w->outgoing);
    lp_status end = lp_solve(model);
    if (end == LP_OPTIMAL) {
        *objective = lp_objective(model);
        return MCP_OK;
    }
    where->stage = (int32_t)at->stage;
    where->solver_status = lp_status_name(end);
    return mcp_error_set(err, end == LP_NO_MEMORY ? MCP_E_NOMEM : MCP_E_INTERNAL,
                         "the upper bound's LP of stage %zu has no optimum: %s", at->stage,
                         lp_status_name(end));
}

static mcp_status solve_with_cuts(pass *p, worker *w, const double *state, double *objectives,
                                  sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    const step *at = p->data;
    mcp_status st = MCP_OK;

    for (size_t g = 0; g < groups_count(s, at->stage) && st == MCP_OK; g++) {
        opening_group group = groups_get(s, at->stage, g);
        solve_input in = groups_input(s, at->stage, state, &group, study_basis(s, at->stage, 0));
        solve_output out = { .objective = objectives + group.first };
        where->opening = (int32_t)group.first;
        st = pass_solve(&out, p, w, &in, where, err);
        if (st == MCP_OK)
            w->solves -= (int64_t)group.count; /* they count for no step of the training */
    }
    return st;
}

static mcp_status solve_state(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    const step *at = p->data;
    size_t openings = s->tree->openings[at->stage];
    double *objectives = at->objectives + index * openings;
    lp **model = at->models + (w - s->workers);
    mcp_status st = MCP_OK;

    if (!at->program)
        return solve_with_cuts(p, w, at->states[index], objectives, where, err);
    if (!*model)
        st = lp_new(model, &at->program->program, err);
    if (st == MCP_OK && at->program)
        lp_set_basis(*model, at->basis);
    for (size_t i = 0; i < openings && st == MCP_OK; i++) {
        where->opening = (int32_t)i;
        st = solve_inner(p, w, *model, at->states[index], i, &objectives[i], where, err);
    }
    return st;
}

static void list_objectives(const pass *p, size_t begin, size_t end, spans *all)
{
    const step *at = p->data;
    size_t openings = p->study->tree->openings[at->stage];

    spans_add(all, at->objectives + begin * openings, (end - begin) * openings * sizeof(double));
}

static size_t basis_length(const step *at)
{
    return (size_t)at->program->program.columns + (size_t)at->program->program.rows;
}

/* The basis of the first state, which is near those of the others. */
static mcp_status find_basis(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err)
{
    step *at = p->data;
    lp **model = at->models + (w - p->study->workers);
    mcp_status st = lp_new(model, &at->program->program, err);

    where->opening = 0;
    if (st == MCP_OK)
        st = solve_inner(p, w, *model, at->states[index], 0, at->objectives, where, err);
    if (st == MCP_OK)
        memcpy(at->basis, lp_basis(*model), basis_length(at));
    return st;
}

static void list_basis(const pass *p, size_t begin, size_t end, spans *all)
{
    const step *at = p->data;

    if (end > begin)
        spans_add(all, at->basis, basis_length(at));
}

/* One pass of `task`. */
static mcp_status run_pass(const evaluation *e, step *at, pass_task *task, pass_outputs *outputs,
                           size_t tasks, mcp_error *err)
{
    pass_pace pace = { .together_ns = 0.0 };
    pass p = { .study = e->study,
               .observer = e->run->observer,
               .phase = "upper_bound",
               .iteration = (int32_t)e->run->iteration,
               .halts_at = SDDP_STOP_NOW,
               .pace = &pace,
               .outputs = outputs,
               .data = at };

    return pass_run(&p, task, tasks, e->run->failure, err);
}

static mcp_status solve_states(const evaluation *e, step *at, size_t count, mcp_arena *arena,
                               mcp_error *err)
{
    sddp *s = e->study;
    mcp_status st = MCP_OK;

    at->models = mcp_arena_array(arena, s->threads, sizeof(lp *));
    at->objectives = mcp_arena_array(arena, count, s->tree->openings[at->stage] * sizeof(double));
    at->basis = mcp_arena_alloc(arena, at->program ? basis_length(at) : 1);
    if (!at->models || !at->objectives || !at->basis)
        return out_of_memory(err);
    if (at->program)
        st = run_pass(e, at, find_basis, list_basis, 1, err);
    if (st == MCP_OK)
        st = run_pass(e, at, solve_state, list_objectives, count, err);
    for (unsigned i = 0; i < s->threads; i++)
        lp_free(at->models[i]);
    if (!at->program)
        study_forget_notes(s, at->stage);
    return st;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The program of a stage under the vertices of its future cost. */
static mcp_status build_inner(const evaluation *e, inner_lp *out, size_t t, mcp_arena *arena,
                              mcp_error *err)
{
    const node_vertices *node = &e->nodes[e->study->node[t]];
    const inner_vertices vertices = { node->count, node->state, node->value };
    const stage_lp *stage = &e->study->programs[t];
    mcp_status st = MCP_OK;

    if (e->study->is_multi_cut) {
        stage_lp *single = mcp_arena_alloc(arena, sizeof *single);
        if (!single)
            return out_of_memory(err);
        st = stage_lp_build(single, arena, &e->context, t, err);
        stage = single;
    }
    return st == MCP_OK ? inner_lp_build(out, arena, stage, &vertices, e->study->steepest, err)
                        : st;
}

/* The risk of a stage's openings at each of some states, by the measure of the stage `owner`. */
static mcp_status value_in(const evaluation *e, size_t t, size_t owner, const double *const *states,
                           size_t count, double *values, mcp_arena *arena, mcp_error *err)
{
    sddp *s = e->study;
    size_t openings = s->tree->openings[t];
    bool has_vertices = t + 1 < s->stages || s->cycle_start != COBRE_NONE;
    inner_lp program;
    step at = { .stage = t, .program = has_vertices ? &program : NULL, .states = states };
    mcp_status st = MCP_OK;

    if (has_vertices)
        st = build_inner(e, &program, t, arena, err);
    if (st == MCP_OK)
        st = solve_states(e, &at, count, arena, err);
    for (size_t i = 0; i < count && st == MCP_OK; i++) {
        const double *objectives = at.objectives + i * openings;
        risk_weights(s->weights, &s->input->stages[owner], false, objectives, openings, s->order);
        values[i] = 0.0;
        for (size_t w = 0; w < openings; w++)
            values[i] += s->weights[w] * objectives[w];
    }
    return st;
}

static mcp_status value(const evaluation *e, size_t t, size_t owner, const double *const *states,
                        size_t count, double *values, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(study_most_bytes());
    mcp_status st = arena ? value_in(e, t, owner, states, count, values, arena, err)
                          : out_of_memory(err);

    mcp_arena_free(arena);
    return st;
}

static mcp_status value_node(const evaluation *e, size_t t, size_t node, double *values,
                             mcp_error *err)
{
    const node_vertices *at = &e->nodes[node];

    return value(e, t, node, at->state, at->count, values, err);
}

/* The vertices of the stages `first` to `end` - 1, from the last back. */
static mcp_status value_stages(const evaluation *e, size_t first, size_t end, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t t = end; t-- > first && st == MCP_OK;)
        st = value_node(e, t + 1, t, e->nodes[t].value, err);
    return st;
}

/* One round: from the values of the vertices after the last stage to new ones; the largest
 * relative change of them. */
static mcp_status go_round(const evaluation *e, double *next, double *change, mcp_error *err)
{
    const sddp *s = e->study;
    size_t start = s->cycle_start, ring = s->node[s->stages - 1];
    node_vertices *last = &e->nodes[ring];
    double left = 1.0, most = -INFINITY;
    mcp_status st = value_stages(e, start, s->stages - 1, err);

    if (st == MCP_OK)
        st = value_node(e, start, ring, next, err);
    if (st != MCP_OK)
        return st;
    for (size_t t = start; t < s->stages; t++)
        left *= s->input->stages[t].discount;
    for (size_t i = 0; i < last->count; i++)
        most = fmax(most, next[i] - last->value[i]);
    *change = 0.0;
    for (size_t i = 0; i < last->count; i++) {
        double found = next[i] + left / (1.0 - left) * most;
        *change = fmax(*change, fabs(found - last->value[i]) / fmax(1.0, fabs(found)));
        last->value[i] = found;
    }
    return MCP_OK;
}

static mcp_status value_cycle(const evaluation *e, mcp_error *err)
{
    const sddp *s = e->study;
    const node_vertices *last = &e->nodes[s->node[s->stages - 1]];
    double *next = mcp_arena_array(e->arena, last->count, sizeof *next);
    double change = INFINITY;
    mcp_status st = next ? MCP_OK : out_of_memory(err);

    for (size_t i = 0; i < ROUNDS_MAX && st == MCP_OK && change > ROUND_TOLERANCE; i++)
        st = go_round(e, next, &change, err);
    if (st == MCP_OK)
        st = value_stages(e, s->cycle_start, s->stages - 1, err);
    return st;
}

/* ---- the bound ------------------------------------------------------------------------------- */

static mcp_status evaluate(evaluation *e, double *out, mcp_error *err)
{
    sddp *s = e->study;
    const double *initial = s->initial;
    size_t end = s->stages - 1;
    mcp_status st = MCP_OK;

    for (size_t t = 0; t < s->stages && st == MCP_OK; t++)
        if (study_node_visits(s, t) > 0)
            st = collect(e, t, err);
    if (st == MCP_OK && s->cycle_start != COBRE_NONE) {
        st = value_cycle(e, err);
        /* The stage before the cycle shares its vertices with the last one, or has its own. */
        end = s->cycle_start;
        if (end > 0 && !study_leads_node(s, s->stages - 1))
            end--;
    }
    if (st == MCP_OK)
        st = value_stages(e, 0, end, err);
    if (st == MCP_OK)
        st = value(e, 0, 0, &initial, 1, out, err);
    *out *= COST_SCALE;
    return st;
}

bool inner_bound_is_due(const sddp *study, uint32_t iteration)
{
    const cobre_inner_bound *config = &study->input->config.inner_bound;

    return config->enabled && iteration >= config->first_iteration &&
           (iteration - config->first_iteration) % config->interval == 0;
}

mcp_status inner_bound_run(const iteration_run *run, double *out, mcp_error *err)
{
    sddp *s = run->study;
    evaluation e = {
        .run = run, .study = s, .arena = mcp_arena_new(study_most_bytes()), .context = s->context
    };
    double bound = 0.0;
    mcp_status st = MCP_OK;

    e.context.openings = NULL;
    if (e.arena)
        e.nodes = mcp_arena_array(e.arena, s->stages, sizeof *e.nodes);
    if (e.nodes)
        st = evaluate(&e, &bound, err);
    else
        st = out_of_memory(err);
    mcp_arena_free(e.arena);
    if (st == MCP_OK)
        *out = bound;
    return st;
}
