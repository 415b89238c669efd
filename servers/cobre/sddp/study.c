/*
 * study.c - creates and frees a study, and keeps programs, cuts and bases consistent.
 *
 * All memory but the solver's own comes from one bounded arena; its size is estimated before
 * anything is built, so that an oversized case is refused at once.
 *
 * A working set changes between passes only. Bases follow it at once (study_follow), the workers'
 * programs when they are next used. A basis can be shortened only by basic rows; else it is
 * replaced by the slack basis. That happens only after a dropped iteration, since rows leave the
 * set after being basic in every solve of several iterations.
 */
#include "sddp/study.h"

#include <stdlib.h>
#include <string.h>

#include "case/memory.h"
#include "sddp/iteration/groups.h"
#include "sddp/program/steepest.h"

/* Bytes an LP solver keeps by column or row and by element; measured, rounded up. */
#define SOLVER_BYTES_BY_LINE 250.0
#define SOLVER_BYTES_BY_ELEMENT 40.0
#define FIRST_SET_CAPACITY 64
#define FIRST_ROWS 64

#define COLUMNS_MAX 1e7 /* of a stage; the same for rows, ten times that for elements */

static mcp_status out_of_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the study");
}

static mcp_status too_many_columns(size_t t, double columns, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_LIMIT,
                         "the program of stage %zu would have %.0f columns or more; the limit is "
                         "10 million columns, 10 million rows and 100 million elements",
                         t, columns);
}

size_t study_most_bytes(void)
{
    return cobre_memory_most();
}

/* ---- how large it would be ------------------------------------------------------------------- */

/* The programs, once in the study and once in each worker. */
static mcp_status programs_bytes(double *total, const sddp *s, mcp_error *err)
{
    for (size_t t = 0; t < s->stages; t++) {
        double size[3];
        mcp_status st = stage_lp_size(&s->context, t, size, err);
        if (st != MCP_OK)
            return st;
        double lines = size[0] + size[1];
        *total += lines * 40.0 + size[2] * 36.0;
        *total += s->threads * (lines * SOLVER_BYTES_BY_LINE + size[2] * SOLVER_BYTES_BY_ELEMENT);
        *total += (lines + FIRST_SET_CAPACITY) * (double)s->scenarios;
        if (size[0] > COLUMNS_MAX || size[1] > COLUMNS_MAX || size[2] > 10.0 * COLUMNS_MAX)
            return too_many_columns(t, size[0], err);
    }
    return MCP_OK;
}

static double states_bytes(const cobre_case *input, size_t dimension)
{
    double openings = 0.0, passes = input->config.forward_passes, n = (double)dimension;

    for (size_t t = 0; t < input->stage_count; t++)
        if (tree_openings_most(input, t) > openings)
            openings = tree_openings_most(input, t);
    return sizeof(double) * passes * (n * (double)input->stage_count + openings * (n + 1.0));
}

/* Each scenario's cost, and its rank; each stage's cost of the paths of a stopping rule. */
static double simulation_bytes(const cobre_case *input)
{
    const cobre_config *config = &input->config;
    double bytes = config->simulation_enabled ? 2.0 * config->simulation_scenarios : 0.0;

    for (size_t i = 0; i < config->rule_count; i++)
        if (config->rules[i].kind == COBRE_RULE_SIMULATION)
            bytes += (double)config->rules[i].replications * (double)input->stage_count;
    return sizeof(double) * bytes;
}

static mcp_status check_bytes(double bytes, mcp_error *err)
{
    if (bytes <= (double)study_most_bytes())
        return MCP_OK;
    return mcp_error_set(err, MCP_E_LIMIT,
                         "the study would need %.1f GiB of memory; the limit is %.1f GiB: lower "
                         "forward_passes and replications in config.json, num_scenarios, or the "
                         "number of threads",
                         bytes / 0x1p30, (double)study_most_bytes() / 0x1p30);
}

/* What the counts of the case alone tell, before anything is built. */
static mcp_status check_counts(const cobre_case *input, mcp_error *err)
{
    for (size_t t = 0; t < input->stage_count; t++) {
        double least = stage_lp_least_columns(input, t);
        if (least > COLUMNS_MAX)
            return too_many_columns(t, least, err);
    }
    return check_bytes(
        tree_bytes(input) + states_bytes(input, input->hydro_count) + simulation_bytes(input), err);
}

static mcp_status check_size(const sddp *s, mcp_error *err)
{
    double bytes = tree_bytes(s->input) + states_bytes(s->input, s->dimension) +
                   simulation_bytes(s->input);
    mcp_status st = programs_bytes(&bytes, s, err);

    return st == MCP_OK ? check_bytes(bytes, err) : st;
}

static mcp_status check_case(const cobre_case *input, mcp_error *err)
{
    if (input->stage_count < 2)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "a study needs at least two stages; the case has %zu",
                             input->stage_count);
    if (input->config.forward_passes == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "training.forward_passes must be at least 1");
    for (size_t t = 0; t < input->stage_count; t++)
        if (tree_openings_most(input, t) == 0)
            return mcp_error_set(err, MCP_E_PARAMS, "stage %d has no openings (num_scenarios 0)",
                                 (int)input->stages[t].id);
    return MCP_OK;
}

/* ---- making ---------------------------------------------------------------------------------- */

static mcp_status make_arrays(sddp *s, mcp_error *err)
{
    mcp_arena *a = s->arena;
    size_t n = s->dimension, outcomes = s->scenarios * s->openings_max;

    s->programs = mcp_arena_array(a, s->stages, sizeof *s->programs);
    s->duals = mcp_arena_array(a, s->stages, sizeof(dual_program *));
    s->pools = mcp_arena_array(a, s->stages, sizeof *s->pools);
    s->node = mcp_arena_array(a, s->stages, sizeof *s->node);
    s->basis_stores = mcp_arena_array(a, s->stages, sizeof *s->basis_stores);
    s->slack_basis = mcp_arena_array(a, s->stages, sizeof *s->slack_basis);
    s->workers = mcp_arena_array(a, s->threads, sizeof *s->workers);
    s->initial = mcp_arena_array(a, n, sizeof *s->initial);
    s->discount = mcp_arena_array(a, s->positions, sizeof *s->discount);
    s->trial = mcp_arena_array(a, s->trials * s->scenarios, n * sizeof *s->trial);
    s->path_cost = mcp_arena_array(a, s->scenarios, sizeof *s->path_cost);
    s->outcome.objective = mcp_arena_array(a, outcomes, sizeof *s->outcome.objective);
    s->outcome.which = mcp_arena_array(a, outcomes, sizeof *s->outcome.which);
    s->outcome.gradient = mcp_arena_array(a, outcomes, n * sizeof *s->outcome.gradient);
    s->opening_values = mcp_arena_array(a, s->stages, sizeof *s->opening_values);
    s->weights = mcp_arena_array(a, s->openings_max, sizeof *s->weights);
    s->objectives = mcp_arena_array(a, s->openings_max, sizeof *s->objectives);
    s->order = mcp_arena_array(a, s->openings_max, sizeof *s->order);
    s->slope = mcp_arena_array(a, n, sizeof *s->slope);
    s->loaded = mcp_arena_array(a, s->stages, sizeof *s->loaded);
    if (!s->programs || !s->duals || !s->pools || !s->node || !s->basis_stores || !s->slack_basis ||
        !s->workers || !s->initial || !s->discount || !s->trial || !s->path_cost ||
        !s->outcome.objective || !s->outcome.which || !s->outcome.gradient || !s->opening_values ||
        !s->weights || !s->objectives || !s->order || !s->slope || !s->loaded)
        return out_of_memory(err);
    return MCP_OK;
}

/* The last stage of a cycle and the one before its first lead to the same stage; their future cost
 * is the same where their risk measures are. */
static bool may_share(const sddp *s)
{
    const cobre_stage *last = &s->input->stages[s->stages - 1];
    const cobre_stage *before = &s->input->stages[s->cycle_start - 1];

    if (last->is_cvar != before->is_cvar)
        return false;
    return !last->is_cvar ||
           (last->cvar_alpha == before->cvar_alpha && last->cvar_lambda == before->cvar_lambda);
}

static void set_starting_values(sddp *s)
{
    s->discount[0] = 1.0;
    for (size_t p = 1; p < s->positions; p++)
        s->discount[p] = s->discount[p - 1] * s->input->stages[study_stage_at(s, p - 1)].discount;
    state_start(&s->context.state, s->input, s->initial);
    for (size_t t = 0; t < s->stages; t++) {
        size_t next = program_next_stage(s->input, t);
        bool is_multi = s->is_multi_cut && next != COBRE_NONE;
        s->node[t] = t;
        cuts_init(&s->pools[t], s->dimension, is_multi ? s->tree->openings[next] : 1);
    }
    if (s->cycle_start != COBRE_NONE && s->cycle_start > 0 && may_share(s))
        s->node[s->stages - 1] = s->cycle_start - 1;
    for (size_t m = 0; m < s->scenarios && s->dimension > 0; m++)
        memcpy(study_trial(s, 0, m), s->initial, s->dimension * sizeof *s->initial);
}

static mcp_status make_workers(sddp *s, mcp_error *err)
{
    size_t n = s->dimension, hydros = s->input->hydro_count, row = ROW_BATCH * (hydros + 1);

    for (unsigned i = 0; i < s->threads; i++) {
        worker *w = &s->workers[i];
        w->workspaces = mcp_arena_array(s->arena, s->stages, sizeof *w->workspaces);
        w->row_column = mcp_arena_array(s->arena, row, sizeof *w->row_column);
        w->row_value = mcp_arena_array(s->arena, row, sizeof *w->row_value);
        w->state = mcp_arena_array(s->arena, n, sizeof *w->state);
        w->outgoing = mcp_arena_array(s->arena, n, sizeof *w->outgoing);
        w->by_inflow = mcp_arena_array(s->arena, hydros, sizeof *w->by_inflow);
        w->limits = mcp_arena_array(s->arena, s->openings_max, sizeof *w->limits);
        w->noise = mcp_arena_array(s->arena, s->tree->dimension, sizeof *w->noise);
        w->stage_work = mcp_arena_array(s->arena, s->stages, sizeof *w->stage_work);
        w->opening_work = mcp_arena_array(s->arena, s->openings_max, sizeof *w->opening_work);
        if (!w->workspaces || !w->row_column || !w->row_value || !w->state || !w->outgoing ||
            !w->by_inflow || !w->limits || !w->noise || !w->stage_work || !w->opening_work)
            return out_of_memory(err);
    }
    return MCP_OK;
}

/* The first basis: rows basic, columns at a finite bound. */
static mcp_status make_slack_basis(sddp *s, size_t t, mcp_error *err)
{
    const lp_program *p = &s->programs[t].program;
    uint8_t *basis = mcp_arena_alloc(s->arena, stage_lp_lines(&s->programs[t]));

    if (!basis)
        return out_of_memory(err);
    for (int j = 0; j < p->columns; j++) {
        basis[j] = LP_AT_LOWER;
        if (p->lower[j] <= -LP_INFINITY)
            basis[j] = p->upper[j] < LP_INFINITY ? LP_AT_UPPER : LP_FREE;
    }
    memset(basis + p->columns, LP_BASIC, (size_t)p->rows);
    s->slack_basis[t] = basis;
    return MCP_OK;
}

/* How often a path walks the cycle. */
static size_t rounds_of(const sddp *s)
{
    return 1 + (s->positions - s->stages) / (s->stages - s->cycle_start);
}

static mcp_status make_basis_store(sddp *s, size_t t, mcp_error *err)
{
    size_t length = stage_lp_lines(&s->programs[t]);
    basis_store *store = &s->basis_stores[t];

    store->stride = length + FIRST_SET_CAPACITY;
    store->slots = s->scenarios * (t >= s->cycle_start ? rounds_of(s) : 1);
    store->bytes = mcp_arena_array(s->arena, store->slots, store->stride);
    if (!store->bytes)
        return out_of_memory(err);
    for (size_t i = 0; i < store->slots; i++)
        memcpy(study_basis(s, t, i), s->slack_basis[t], length);
    return MCP_OK;
}

static mcp_status make_stages(sddp *s, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t t = 0; t < s->stages && st == MCP_OK; t++) {
        st = stage_lp_build(&s->programs[t], s->arena, &s->context, t, err);
        if (st == MCP_OK)
            st = make_slack_basis(s, t, err);
        if (st == MCP_OK)
            st = make_basis_store(s, t, err);
    }
    if (st == MCP_OK)
        st = groups_prepare(s, err);
    for (size_t t = 0; t < s->stages && st == MCP_OK; t++)
        st = study_reserve_cuts(s, t, 1, err);
    return st;
}

mcp_status study_lower_floors(sddp *s, double least, mcp_error *err)
{
    mcp_status st = program_context_lower_floors(&s->context, s->arena, least, err);

    for (size_t t = 0; t < s->stages && st == MCP_OK; t++) {
        st = stage_lp_build(&s->programs[t], s->arena, &s->context, t, err);
        if (st == MCP_OK)
            st = groups_replace_program(s, t, err);
    }
    return st;
}

/* Models, openings and samplers: all that is random. */
static mcp_status make_noise(sddp *s, mcp_error *err)
{
    const cobre_config *config = &s->input->config;
    mcp_status st = program_models_build(&s->models, s->arena, s->input, err);

    if (st == MCP_OK)
        st = tree_sample(&s->tree, s->arena, s->input, &s->models.inflow, err);
    if (st == MCP_OK)
        st = sampler_new(&s->training_sampler, s->arena, s->input, &config->training_source,
                         &s->models.inflow, s->tree, err);
    if (st == MCP_OK)
        st = sampler_new(&s->simulation_sampler, s->arena, s->input, &config->simulation_source,
                         &s->models.inflow, s->tree, err);
    for (size_t t = 0; st == MCP_OK && t < s->stages; t++)
        if (s->tree->openings[t] > s->openings_max)
            s->openings_max = s->tree->openings[t];
    return st;
}

/* What the upper bound needs of the case: it is missed here, before the training begins. */
static mcp_status make_slopes(sddp *s, mcp_error *err)
{
    if (!s->input->config.inner_bound.enabled)
        return MCP_OK;
    s->steepest = mcp_arena_array(s->arena, s->dimension, sizeof *s->steepest);
    return s->steepest ? steepest_slopes(s->steepest, &s->context, err) : out_of_memory(err);
}

static mcp_status make(sddp *s, mcp_error *err)
{
    mcp_status st = make_noise(s, err);

    s->is_multi_cut = s->input->config.is_multi_cut && !s->input->config.original_arithmetic;
    if (st == MCP_OK)
        st = program_context_make(&s->context, s->arena, s->input, &s->models,
                                  s->is_multi_cut ? s->tree->openings : NULL, err);
    if (st != MCP_OK)
        return st;
    s->dimension = s->context.state.dimension;
    st = check_size(s, err);
    if (st == MCP_OK)
        st = make_arrays(s, err);
    if (st == MCP_OK)
        st = make_workers(s, err);
    if (st == MCP_OK)
        st = make_slopes(s, err);
    if (st != MCP_OK)
        return st;
    set_starting_values(s);
    return make_stages(s, err);
}

/* The positions of a training path. */
static void set_path(sddp *s)
{
    const cobre_case *in = s->input;
    bool is_cyclic = in->is_cyclic && !in->config.original_arithmetic;
    size_t rounds = in->config.cycle_rounds > 0 ? in->config.cycle_rounds : 1;

    s->cycle_start = is_cyclic ? in->cycle_start : COBRE_NONE;
    s->positions = s->stages;
    if (is_cyclic)
        s->positions += (rounds - 1) * (s->stages - s->cycle_start);
    s->trials = s->positions + is_cyclic;
}

mcp_status sddp_new(sddp **out, const cobre_case *input, unsigned threads, mcp_error *err)
{
    mcp_status st = check_case(input, err);

    if (threads == 0)
        threads = 1;
    if (st == MCP_OK)
        st = check_counts(input, err);
    if (st != MCP_OK)
        return st;
    mcp_arena *arena = mcp_arena_new(study_most_bytes());
    sddp *made = arena ? mcp_arena_alloc(arena, sizeof *made) : NULL;
    if (!made) {
        mcp_arena_free(arena);
        return out_of_memory(err);
    }
    made->arena = arena;
    made->input = input;
    made->stages = input->stage_count;
    made->scenarios = input->config.forward_passes;
    set_path(made);
    st = thread_team_new(&made->team, threads, err);
    if (st == MCP_OK) {
        made->threads = made->all_threads = thread_team_size(made->team);
        st = make(made, err);
    }
    if (st != MCP_OK) {
        sddp_free(made);
        return st;
    }
    *out = made;
    return MCP_OK;
}

void sddp_free(sddp *study)
{
    if (!study)
        return;
    for (unsigned i = 0; study->workers && i < study->threads; i++)
        for (size_t t = 0; study->workers[i].workspaces && t < study->stages; t++)
            lp_free(study->workers[i].workspaces[t].model);
    groups_free(study);
    thread_team_free(study->team);
    mcp_arena_free(study->arena);
}

const double *sddp_opening(const sddp *study, size_t stage, uint32_t opening, size_t *dimension)
{
    *dimension = study->tree->dimension;
    return tree_noise(study->tree, stage, opening);
}

const state_table *sddp_state(const sddp *study)
{
    return &study->context.state;
}

/* ---- cuts and bases -------------------------------------------------------------------------- */

size_t study_stage_at(const sddp *study, size_t position)
{
    if (position < study->stages)
        return position;
    return study->cycle_start + (position - study->stages) % (study->stages - study->cycle_start);
}

cut_pool *study_pool(const sddp *study, size_t stage)
{
    return &study->pools[study->node[stage]];
}

bool study_leads_node(const sddp *study, size_t stage)
{
    return study->node[stage] == stage;
}

size_t study_node_stride(const sddp *study)
{
    return study->cycle_start == COBRE_NONE ? 0 : study->stages - study->cycle_start;
}

size_t study_node_visits(const sddp *study, size_t stage)
{
    if (!study_leads_node(study, stage) || stage + 1 >= study->trials)
        return 0;
    if (study->cycle_start == COBRE_NONE || stage + 1 < study->cycle_start)
        return 1;
    if (stage + 1 == study->cycle_start && study_leads_node(study, study->stages - 1))
        return 1;
    return 1 + (study->trials - 2 - stage) / study_node_stride(study);
}

bool study_has_future(const sddp *study, size_t stage)
{
    const stage_lp *program = &study->programs[stage];

    return program->program.upper[program->theta] > 0.0;
}

uint8_t *study_basis(const sddp *study, size_t stage, size_t slot)
{
    return study->basis_stores[stage].bytes + slot * study->basis_stores[stage].stride;
}

/* The state after the last position uses the bases of its stage's last round. */
uint8_t *study_basis_at(const sddp *study, size_t position, size_t scenario)
{
    size_t stage = study_stage_at(study, position), round = 0;

    if (position >= study->positions)
        position -= study->stages - study->cycle_start;
    if (position >= study->stages)
        round = 1 + (position - study->stages) / (study->stages - study->cycle_start);
    return study_basis(study, stage, round * study->scenarios + scenario);
}

double *study_trial(const sddp *study, size_t position, size_t scenario)
{
    return study->trial + (position * study->scenarios + scenario) * study->dimension;
}

study_path study_training_path(const sddp *study, uint32_t iteration, size_t scenario)
{
    sampler_path at = { iteration, (uint32_t)scenario, (uint32_t)study->scenarios };

    return (study_path){ study->training_sampler, at };
}

study_path study_simulation_path(const sddp *study, size_t scenario, size_t scenarios)
{
    sampler_path at = { 0, (uint32_t)scenario, (uint32_t)scenarios };

    return (study_path){ study->simulation_sampler, at };
}

void study_begin_path(const sddp *study, const study_path *path, double *state)
{
    if (study->dimension > 0)
        memcpy(state, study->initial, study->dimension * sizeof *state);
    sampler_initial_lags(path->sampler, &path->at, state + study->input->hydro_count);
}

const double *study_draw(const sddp *study, worker *w, const study_path *path, size_t position,
                         const double *state, int32_t *opening)
{
    *opening = sampler_draw(path->sampler, &path->at, study_stage_at(study, position), position,
                            state + study->input->hydro_count, w->noise);
    return w->noise;
}

static mcp_status grow_workspace(sddp *s, workspace *ws, size_t old, size_t capacity,
                                 mcp_error *err)
{
    uint32_t *rows = mcp_arena_array(s->arena, capacity, sizeof *rows);
    uint32_t *hits = mcp_arena_array(s->arena, capacity, sizeof *hits);
    uint8_t *tight = mcp_arena_alloc(s->arena, capacity);

    if (!rows || !hits || !tight)
        return out_of_memory(err);
    if (old > 0) {
        memcpy(rows, ws->rows, old * sizeof *rows);
        memcpy(hits, ws->hits, old * sizeof *hits);
        memcpy(tight, ws->tight, old);
    }
    ws->rows = rows;
    ws->hits = hits;
    ws->tight = tight;
    return MCP_OK;
}

static mcp_status grow_scratch(sddp *s, worker *w, size_t capacity, mcp_error *err)
{
    double *values = mcp_arena_array(s->arena, capacity, 3 * sizeof *values);
    int *gone = mcp_arena_array(s->arena, capacity, sizeof *gone);

    if (!values || !gone)
        return out_of_memory(err);
    w->values = values;
    w->shared = values + capacity;
    w->fixed = values + 2 * capacity;
    w->gone = gone;
    w->cut_capacity = capacity;
    return MCP_OK;
}

static mcp_status grow_basis_rows(sddp *s, basis_store *store, size_t capacity, mcp_error *err)
{
    uint32_t *rows = mcp_arena_array(s->arena, capacity, sizeof *rows);

    if (!rows)
        return out_of_memory(err);
    if (store->row_count > 0)
        memcpy(rows, store->rows, store->row_count * sizeof *rows);
    store->rows = rows;
    return MCP_OK;
}

/* What the solves of a stage need for a pool of `capacity` cuts. */
static mcp_status grow_stage(sddp *s, size_t stage, size_t capacity, mcp_error *err)
{
    size_t old = study_pool(s, stage)->capacity;
    mcp_status st = MCP_OK;

    for (unsigned i = 0; i < s->threads && st == MCP_OK; i++) {
        worker *w = &s->workers[i];
        st = grow_workspace(s, &w->workspaces[stage], old, capacity, err);
        if (st == MCP_OK && capacity > w->cut_capacity)
            st = grow_scratch(s, w, capacity, err);
    }
    return st == MCP_OK ? grow_basis_rows(s, &s->basis_stores[stage], capacity, err) : st;
}

mcp_status study_reserve_cuts(sddp *study, size_t stage, size_t extra, mcp_error *err)
{
    cut_pool *pool = study_pool(study, stage);
    size_t capacity = cuts_capacity_for(pool, extra);
    mcp_status st = MCP_OK;

    for (size_t t = 0; capacity > pool->capacity && t < study->stages && st == MCP_OK; t++)
        if (study_pool(study, t) == pool)
            st = grow_stage(study, t, capacity, err);
    return st == MCP_OK ? cuts_reserve(pool, study->arena, extra, err) : st;
}

static mcp_status widen_basis_store(sddp *s, size_t t, size_t needed, mcp_error *err)
{
    basis_store *store = &s->basis_stores[t];
    size_t stride = store->stride;

    if (needed <= stride)
        return MCP_OK;
    while (stride < needed)
        stride += stride / 2;
    uint8_t *bytes = mcp_arena_array(s->arena, store->slots, stride);
    if (!bytes)
        return out_of_memory(err);
    for (size_t i = 0; i < store->slots; i++)
        memcpy(bytes + i * stride, store->bytes + i * store->stride, store->stride);
    store->bytes = bytes;
    store->stride = stride;
    return MCP_OK;
}

/* Remove the bytes of the deleted rows from a basis. False: one of the rows was not basic. */
static bool shorten(uint8_t *rows, size_t count, const int *gone, size_t gone_count)
{
    size_t kept = 0, next = 0;
    bool is_sound = true;

    for (size_t i = 0; i < count; i++) {
        if (next < gone_count && (size_t)gone[next] == i) {
            is_sound = is_sound && rows[i] == LP_BASIC;
            next++;
        } else {
            rows[kept++] = rows[i];
        }
    }
    return is_sound;
}

static mcp_status follow_stage(sddp *study, size_t stage, mcp_error *err)
{
    cut_pool *pool = study_pool(study, stage);
    basis_store *store = &study->basis_stores[stage];
    size_t fixed = stage_lp_lines(&study->programs[stage]);
    int *gone = study->workers[0].gone;

    if (store->version == pool->version && store->epoch == pool->epoch)
        return MCP_OK;
    mcp_status st = widen_basis_store(study, stage, fixed + pool->set_count, err);
    if (st != MCP_OK)
        return st;
    size_t gone_count = cuts_gone(pool, store->rows, store->row_count, gone);
    size_t kept = store->row_count - gone_count;
    for (size_t i = 0; i < store->slots; i++) {
        uint8_t *basis = study_basis(study, stage, i);
        if (!shorten(basis + fixed, store->row_count, gone, gone_count)) {
            memcpy(basis, study->slack_basis[stage], fixed);
            memset(basis + fixed, LP_BASIC, kept);
        }
        memset(basis + fixed + kept, LP_BASIC, pool->set_count - kept);
    }
    memcpy(store->rows, pool->set, pool->set_count * sizeof *store->rows);
    store->row_count = pool->set_count;
    store->version = pool->version;
    store->epoch = pool->epoch;
    return MCP_OK;
}

mcp_status study_follow(sddp *study, size_t stage, mcp_error *err)
{
    size_t leader = study->node[stage], last = study->stages - 1;
    mcp_status st = follow_stage(study, leader, err);

    /* The end of a cycle alone has the node of another stage. */
    if (st == MCP_OK && last != leader && study->node[last] == leader)
        st = follow_stage(study, last, err);
    return st;
}

mcp_status study_settle(sddp *study, size_t stage, mcp_error *err)
{
    cut_pool *pool = study_pool(study, stage);
    uint8_t *all = study->workers[0].workspaces[stage].tight;
    size_t count = pool->count;

    for (unsigned i = 0; i < study->threads; i++) {
        const workspace *ws = &study->workers[i].workspaces[stage];
        for (size_t c = 0; i > 0 && c < count; c++)
            all[c] |= ws->tight[c];
        for (size_t c = 0; c < count; c++)
            pool->hits[c] += ws->hits[c];
    }
    for (size_t c = 0; c < count; c++)
        if (all[c] && pool->is_active[c])
            cuts_touch(pool, (uint32_t)c);
    study_forget_notes(study, stage);
    return study_follow(study, stage, err);
}

void study_forget_notes(sddp *study, size_t stage)
{
    size_t count = study_pool(study, stage)->count;

    for (unsigned i = 0; i < study->threads; i++) {
        workspace *ws = &study->workers[i].workspaces[stage];
        memset(ws->tight, 0, count);
        memset(ws->hits, 0, count * sizeof *ws->hits);
    }
}

/* ---- records of iterations ------------------------------------------------------------------- */

mcp_status study_reserve_row(sddp *study, mcp_error *err)
{
    size_t capacity = study->row_capacity ? 2 * study->row_capacity : FIRST_ROWS;

    if (study->row_count < study->row_capacity)
        return MCP_OK;
    sddp_iteration *rows = mcp_arena_array(study->arena, capacity, sizeof *rows);
    if (!rows)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu iteration records", capacity);
    if (study->row_count > 0)
        memcpy(rows, study->rows, study->row_count * sizeof *rows);
    study->rows = rows;
    study->row_capacity = capacity;
    return MCP_OK;
}

bool study_keeps_states(const sddp *study)
{
    const cobre_config *config = &study->input->config;

    return config->selection.method == COBRE_SELECTION_DOMINATION || config->export_states ||
           config->inner_bound.enabled;
}

static mcp_status reserve_block(sddp *s, mcp_error *err)
{
    state_archive *all = &s->visited;
    size_t capacity = all->capacity ? 2 * all->capacity : FIRST_ROWS;

    if (all->count < all->capacity)
        return MCP_OK;
    double **blocks = mcp_arena_array(s->arena, capacity, sizeof *blocks);
    if (!blocks)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the visited states");
    if (all->count > 0)
        memcpy(blocks, all->blocks, all->count * sizeof *blocks);
    all->blocks = blocks;
    all->capacity = capacity;
    return MCP_OK;
}

mcp_status study_keep_states(sddp *study, mcp_error *err)
{
    size_t length = study->trials * study->scenarios * study->dimension;
    mcp_status st = reserve_block(study, err);

    if (st != MCP_OK)
        return st;
    double *block = mcp_arena_array(study->arena, length, sizeof *block);
    if (!block)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the visited states");
    if (length > 0)
        memcpy(block, study->trial, length * sizeof *block);
    study->visited.blocks[study->visited.count++] = block;
    return MCP_OK;
}

/* ---- totals ---------------------------------------------------------------------------------- */

int64_t study_own_solver_ns(const sddp *study)
{
    int64_t total = 0;

    for (unsigned i = 0; i < study->threads; i++)
        for (size_t t = 0; t < study->stages; t++)
            if (study->workers[i].workspaces[t].model)
                total += lp_work(study->workers[i].workspaces[t].model)->solver_ns;
    for (unsigned i = 0; i < study->threads; i++)
        total += dual_work_totals(study->workers[i].dual)->solver_ns;
    return total;
}

int64_t study_own_solves(const sddp *study)
{
    int64_t total = 0;

    for (unsigned i = 0; i < study->threads; i++)
        total += study->workers[i].solves;
    return total;
}

int64_t study_solver_ns(const sddp *study)
{
    return study_own_solver_ns(study) + study->elsewhere_solver_ns;
}

int64_t study_solves(const sddp *study)
{
    return study_own_solves(study) + study->elsewhere_solves;
}

sddp_parts sddp_parts_of(const sddp *study)
{
    return (sddp_parts){ study->tree, &study->models.inflow, &study->models.hydro };
}

mcp_status sddp_measure(program_scaling *out, const sddp *study, size_t stage, mcp_error *err)
{
    return program_scaling_of(out, &study->programs[stage].program, err);
}
