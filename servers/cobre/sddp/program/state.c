/*
 * state.c - builds the table of the state, and moves values and gradients through it.
 */
#include "sddp/program/state.h"

#include <string.h>

#include "stochastic/lags.h"

/* The sums of one change to longer periods: `lags` entries a hydro from `first` on. */
typedef struct rebuilding {
    size_t stage; /* the first of the longer periods */
    const lag_rebuild *rebuild;
    size_t first;
} rebuilding;

typedef struct builder {
    const inflow_model *model;
    mcp_arena *arena;
    size_t hydros, lags, dimension;
    size_t sums; /* entry of the first running sum; 0: none */
    rebuilding *rebuildings;
    size_t rebuilding_count;
    state_entry *entries;
    /* The move in work; NULL while it is counted. */
    uint32_t *start, *from;
    double *share;
    size_t terms;
} builder;

static mcp_status out_of_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the moves of the state");
}

/* ---- entries --------------------------------------------------------------------------------- */

static mcp_status count_entries(builder *b, mcp_error *err)
{
    const inflow_model *model = b->model;

    b->dimension = b->hydros * (1 + b->lags);
    if (b->lags > 0 && model->accumulates) {
        b->sums = b->dimension;
        b->dimension += b->hydros;
    }
    b->rebuildings = mcp_arena_array(b->arena, model->stages, sizeof *b->rebuildings);
    if (!b->rebuildings)
        return out_of_memory(err);
    for (size_t t = 1; b->lags > 0 && t < model->stages; t++) {
        const lag_rebuild *rebuild = model->moves[t].rebuild;
        if (!rebuild)
            continue;
        b->rebuildings[b->rebuilding_count++] = (rebuilding){ t, rebuild, b->dimension };
        b->dimension += b->hydros * rebuild->lags;
    }
    return MCP_OK;
}

static void name_entries(builder *b, state_entry *entries)
{
    size_t n = b->hydros;

    for (size_t h = 0; h < n; h++)
        entries[h] = (state_entry){ STATE_STORAGE, h, 0 };
    for (size_t i = 0; i < b->lags * n; i++)
        entries[n + i] = (state_entry){ STATE_LAG, i % n, 1 + i / n };
    for (size_t h = 0; b->sums > 0 && h < n; h++)
        entries[b->sums + h] = (state_entry){ STATE_SUM, h, 0 };
    for (size_t r = 0; r < b->rebuilding_count; r++)
        for (size_t i = 0; i < b->rebuildings[r].rebuild->lags * n; i++)
            entries[b->rebuildings[r].first + i] = (state_entry){ STATE_SUM, i % n, 1 + i / n };
}

/* ---- one move -------------------------------------------------------------------------------- */

static void add_term(builder *b, size_t from, double share)
{
    if (share == 0.0)
        return;
    if (b->from) {
        b->from[b->terms] = (uint32_t)from;
        b->share[b->terms] = share;
    }
    b->terms++;
}

static size_t inflow_of(const builder *b, size_t hydro)
{
    return b->dimension + hydro;
}

/* The sum that becomes a lag when stage `next` begins longer periods. */
static void add_rebuild_terms(builder *b, const rebuilding *r, size_t t, size_t hydro, size_t lag)
{
    size_t first = r->rebuild->first[lag], count = r->rebuild->count[lag];

    if (t < first)
        return;
    if (t > first)
        add_term(b, r->first + lag * b->hydros + hydro, 1.0);
    if (t - first < count)
        add_term(b, inflow_of(b, hydro), r->rebuild->share[lag][t - first]);
}

/* The change to longer periods before stage t + 1, if it sets this lag. */
static const rebuilding *rebuilt_after(const builder *b, size_t t, size_t lag)
{
    for (size_t r = 0; r < b->rebuilding_count; r++)
        if (b->rebuildings[r].stage == t + 1 && lag < b->rebuildings[r].rebuild->lags)
            return &b->rebuildings[r];
    return NULL;
}

/* `weight` is what the running period has before the stage. */
static void add_lag_terms(builder *b, size_t t, size_t hydro, size_t lag, double weight)
{
    const lag_move *move = &b->model->moves[t];
    const rebuilding *rebuilt = rebuilt_after(b, t, lag);
    size_t place = b->hydros * (1 + lag) + hydro;

    if (rebuilt) {
        add_rebuild_terms(b, rebuilt, t, hydro, lag);
    } else if (!move->is_last) {
        add_term(b, place, 1.0);
    } else if (lag > 0) {
        add_term(b, place - b->hydros, 1.0);
    } else if (b->sums == 0 || weight + move->weight <= 0.0) {
        add_term(b, inflow_of(b, hydro), 1.0);
    } else {
        double total = weight + move->weight;
        if (weight > 0.0)
            add_term(b, b->sums + hydro, 1.0 / total);
        add_term(b, inflow_of(b, hydro), move->weight / total);
    }
}

static void add_sum_terms(builder *b, size_t t, size_t hydro, double weight)
{
    const lag_move *move = &b->model->moves[t];

    if (move->is_last) {
        add_term(b, inflow_of(b, hydro), move->spill);
        return;
    }
    if (weight > 0.0)
        add_term(b, b->sums + hydro, 1.0);
    add_term(b, inflow_of(b, hydro), move->weight);
}

static void add_entry_terms(builder *b, size_t t, size_t e, double weight)
{
    const state_entry *entry = &b->entries[e];

    if (entry->kind == STATE_LAG) {
        add_lag_terms(b, t, entry->hydro, entry->lag - 1, weight);
        return;
    }
    if (entry->lag == 0) {
        add_sum_terms(b, t, entry->hydro, weight);
        return;
    }
    for (size_t r = 0; r < b->rebuilding_count; r++) {
        const rebuilding *at = &b->rebuildings[r];
        if (e >= at->first && e < at->first + at->rebuild->lags * b->hydros && t + 1 < at->stage)
            add_rebuild_terms(b, at, t, entry->hydro, entry->lag - 1);
    }
}

static void add_terms(builder *b, size_t t, double weight)
{
    b->terms = 0;
    for (size_t e = b->hydros; e < b->dimension; e++) {
        if (b->start)
            b->start[e - b->hydros] = (uint32_t)b->terms;
        add_entry_terms(b, t, e, weight);
    }
    if (b->start)
        b->start[b->dimension - b->hydros] = (uint32_t)b->terms;
}

static mcp_status build_move(builder *b, state_move *out, size_t t, double weight, mcp_error *err)
{
    b->start = b->from = NULL;
    add_terms(b, t, weight);
    uint32_t *start = mcp_arena_array(b->arena, b->dimension - b->hydros + 1, sizeof *start);
    uint32_t *from = mcp_arena_array(b->arena, b->terms, sizeof *from);
    b->share = mcp_arena_array(b->arena, b->terms, sizeof *b->share);
    uint8_t *is_random = mcp_arena_array(b->arena, b->dimension - b->hydros, 1);
    if (!start || !from || !b->share || !is_random)
        return out_of_memory(err);
    b->start = start;
    b->from = from;
    add_terms(b, t, weight);
    for (size_t e = 0; e < b->dimension - b->hydros; e++)
        for (uint32_t i = start[e]; i < start[e + 1]; i++)
            is_random[e] |= from[i] >= b->dimension;
    *out = (state_move){ start, from, b->share, is_random };
    return MCP_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Whether stage t moves the state as the stage before it does: both are periods of their own. */
static bool is_like_last(const builder *b, size_t t)
{
    const lag_move *now = &b->model->moves[t], *last = &b->model->moves[t > 0 ? t - 1 : 0];

    return t > 0 && b->dimension == b->hydros * (1 + b->lags) && now->is_last && last->is_last;
}

static mcp_status build_moves(builder *b, state_move *moves, mcp_error *err)
{
    double weight = b->model->initial_weight;

    for (size_t t = 0; t < b->model->stages; t++) {
        const lag_move *move = &b->model->moves[t];
        mcp_status st = MCP_OK;
        if (is_like_last(b, t))
            moves[t] = moves[t - 1];
        else
            st = build_move(b, &moves[t], t, weight, err);
        if (st != MCP_OK)
            return st;
        weight = move->is_last ? move->spill : weight + move->weight;
    }
    return MCP_OK;
}

mcp_status state_table_build(state_table *out, mcp_arena *arena, const inflow_model *model,
                             mcp_error *err)
{
    builder b = { .model = model, .arena = arena, .hydros = model->hydros, .lags = model->lags };
    mcp_status st = count_entries(&b, err);

    if (st != MCP_OK)
        return st;
    b.entries = mcp_arena_array(arena, b.dimension, sizeof *b.entries);
    state_move *moves = mcp_arena_array(arena, model->stages, sizeof *moves);
    if (!b.entries || !moves)
        return out_of_memory(err);
    name_entries(&b, b.entries);
    st = build_moves(&b, moves, err);
    if (st == MCP_OK)
        *out = (state_table){ model, b.hydros, b.dimension, b.entries, moves };
    return st;
}

mcp_status state_table_continue(state_table *table, mcp_arena *arena, bool is_last, double spill,
                                mcp_error *err)
{
    size_t stages = table->model->stages;
    inflow_model *model = mcp_arena_alloc(arena, sizeof *model);
    lag_move *moves = mcp_arena_array(arena, stages, sizeof *moves);

    if (!model || !moves)
        return out_of_memory(err);
    memcpy(moves, table->model->moves, stages * sizeof *moves);
    lags_continue(&moves[stages - 1], is_last, spill);
    *model = *table->model;
    model->moves = moves;
    return state_table_build(table, arena, model, err);
}

/* ---- values and gradients -------------------------------------------------------------------- */

void state_start(const state_table *table, const cobre_case *input, double *state)
{
    const inflow_model *model = table->model;
    size_t n = table->hydros;

    for (size_t e = 0; e < table->dimension; e++) {
        const state_entry *entry = &table->entries[e];
        state[e] = 0.0;
        if (entry->kind == STATE_STORAGE)
            state[e] = input->hydros[entry->hydro].initial_storage_hm3;
        else if (entry->kind == STATE_LAG)
            state[e] = model->initial[(entry->lag - 1) * n + entry->hydro];
        else if (entry->lag == 0)
            state[e] = model->initial_sum[entry->hydro];
    }
}

void state_advance(const state_table *table, size_t stage, const double *state, size_t stride,
                   const double *inflow, size_t lanes, double *tail)
{
    const state_move *move = &table->moves[stage];
    size_t dimension = table->dimension;

    for (size_t e = 0; e < dimension - table->hydros; e++) {
        double *values = tail + e * lanes;
        for (size_t l = 0; l < lanes; l++)
            values[l] = 0.0;
        for (uint32_t i = move->start[e]; i < move->start[e + 1]; i++) {
            size_t from = move->from[i];
            for (size_t l = 0; l < lanes; l++)
                values[l] += move->share[i] * (from < dimension
                                                   ? state[l * stride + from]
                                                   : inflow[(from - dimension) * lanes + l]);
        }
    }
}

void state_pull_back(const state_table *table, size_t stage, const double *by_storage,
                     double *by_inflow, const double *by_outgoing, double *gradient)
{
    const inflow_model *model = table->model;
    const state_move *move = &table->moves[stage];
    size_t n = table->hydros, dimension = table->dimension;

    memcpy(gradient, by_storage, n * sizeof *gradient);
    memset(gradient + n, 0, (dimension - n) * sizeof *gradient);
    for (size_t e = n; e < dimension; e++)
        for (uint32_t i = move->start[e - n]; i < move->start[e - n + 1]; i++) {
            size_t from = move->from[i];
            if (from < dimension)
                gradient[from] += move->share[i] * by_outgoing[e];
            else
                by_inflow[from - dimension] += move->share[i] * by_outgoing[e];
        }
    for (size_t h = 0; h < n; h++) {
        const double *psi = model->psi + (stage * n + h) * model->lags;
        for (size_t l = 0; l < model->order[stage * n + h]; l++)
            gradient[n + l * n + h] += psi[l] * by_inflow[h];
    }
}
