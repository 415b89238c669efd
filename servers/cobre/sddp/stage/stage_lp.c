/*
 * stage_lp.c - builds the program of a stage, sets its state and noise, reads its results.
 *
 * Two passes over the same code: place_* give every region its columns and rows, then put_* write
 * the matrix as (row, column, value) triplets, first to count them, then to keep them; compress()
 * sorts them by column and row and adds up those of one element. A column with constant bounds [0,
 * 0] and a row that nothing can violate are omitted.
 *
 * The method page fixes incoming storages and lags by equations and computes the inflow z in a
 * third one; here all three are columns with equal bounds, which saves 2N + NL rows and the pivots
 * in them. The balance takes z instead of its right-hand side, so it is the row of the page up to
 * constants, with the same dual.
 */
#include "sddp/stage/stage_lp.h"

#include <math.h>
#include <string.h>

typedef struct builder {
    stage_lp *lp;
    const cobre_case *input;
    const cobre_stage *stage;
    size_t t, blocks;
    int columns, rows;
    double *lower, *upper, *cost, *row_lower, *row_upper;
    size_t elements;
    int *row, *column; /* triplets; NULL while they are counted */
    double *value;
} builder;

static const cobre_hydro_stage *hydro_at(const builder *b, size_t h)
{
    return &b->input->hydro_stages[b->t * b->input->hydro_count + h];
}

static const cobre_bus_stage *bus_at(const builder *b, size_t i)
{
    return &b->input->bus_stages[b->t * b->input->bus_count + i];
}

static double hours_of(const builder *b, size_t block)
{
    return b->stage->blocks[block].hours;
}

static double bounded(double value)
{
    return value < LP_INFINITY ? value : LP_INFINITY;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The first pass, without arrays, numbers the columns; the second writes them. */
static int add_column(builder *b, double lower, double upper, double cost)
{
    int j = b->columns++;

    if (b->lower) {
        b->lower[j] = lower;
        b->upper[j] = bounded(upper);
        b->cost[j] = cost / COST_SCALE;
    }
    return j;
}

/* One column per block, its cost per hour times the hours. */
static int add_blocks(builder *b, double lower, double upper, double hourly_cost)
{
    int first = b->columns;

    for (size_t k = 0; k < b->blocks; k++)
        add_column(b, lower, upper, hourly_cost * hours_of(b, k));
    return first;
}

static double turbine_limit(const cobre_hydro *hydro, const cobre_hydro_stage *at)
{
    if (hydro->productivity > 0.0)
        return fmin(at->max_turbined, at->max_generation / hydro->productivity);
    return at->max_turbined;
}

static void place_state(builder *b)
{
    size_t hydros = b->input->hydro_count;

    b->lp->storage = b->columns;
    for (size_t h = 0; h < hydros; h++)
        add_column(b, hydro_at(b, h)->min_storage, hydro_at(b, h)->max_storage, 0.0);
    b->lp->lag = b->columns;
    for (size_t i = 0; i < b->lp->lags * hydros; i++)
        add_column(b, 0.0, 0.0, 0.0);
    b->lp->inflow = b->columns;
    for (size_t h = 0; h < hydros; h++)
        add_column(b, 0.0, 0.0, 0.0);
    b->lp->incoming = b->columns;
    for (size_t h = 0; h < hydros; h++)
        add_column(b, 0.0, 0.0, 0.0);
    bool last = b->t + 1 == b->input->stage_count;
    b->lp->theta = add_column(b, 0.0, last ? 0.0 : LP_INFINITY, b->stage->discount * COST_SCALE);
}

static void place_water(builder *b, int *diverted)
{
    size_t hydros = b->input->hydro_count;

    b->lp->turbined = b->columns;
    for (size_t h = 0; h < hydros; h++)
        add_blocks(b, 0.0, turbine_limit(&b->input->hydros[h], hydro_at(b, h)), 0.0);
    b->lp->spilled = b->columns;
    for (size_t h = 0; h < hydros; h++)
        add_blocks(b, 0.0, LP_INFINITY, hydro_at(b, h)->spillage_cost);
    for (size_t h = 0; h < hydros; h++) {
        double most = b->input->hydros[h].diversion_max_m3s;
        diverted[h] = NO_COLUMN;
        if (most > 0.0)
            diverted[h] = add_blocks(b, 0.0, most, hydro_at(b, h)->diversion_cost);
    }
}

static void place_power(builder *b)
{
    const cobre_case *in = b->input;
    const cobre_thermal_stage *thermals = in->thermal_stages + b->t * in->thermal_count;

    b->lp->thermal = b->columns;
    for (size_t i = 0; i < in->thermal_count; i++)
        add_blocks(b, thermals[i].min_mw, thermals[i].max_mw, thermals[i].cost_per_mwh);
}

static void place_line_region(builder *b, bool direct)
{
    const cobre_case *in = b->input;

    for (size_t i = 0; i < in->line_count; i++) {
        const cobre_line_stage *at = &in->line_stages[b->t * in->line_count + i];
        const double *factor = direct ? at->direct_factor : at->reverse_factor;
        double limit = direct ? at->direct_mw : at->reverse_mw;
        for (size_t k = 0; k < b->blocks; k++)
            add_column(b, 0.0, limit * (factor ? factor[k] : 1.0),
                       at->exchange_cost * hours_of(b, k));
    }
}

static void place_buses(builder *b, int *deficit)
{
    for (size_t i = 0; i < b->input->bus_count; i++) {
        const cobre_bus *bus = &b->input->buses[i];
        deficit[i] = b->columns;
        for (size_t s = 0; s < bus->segment_count; s++)
            add_blocks(b, 0.0, bus->segments[s].depth_mw, bus->segments[s].cost);
    }
    b->lp->excess = b->columns;
    for (size_t i = 0; i < b->input->bus_count; i++)
        add_blocks(b, 0.0, LP_INFINITY, bus_at(b, i)->excess_cost);
}

/* ---- violations and their rows --------------------------------------------------------------- */

typedef struct slacks {
    int *outflow_below, *outflow_above, *turbined_below, *generation_below;
    int *withdrawal_neg, *withdrawal_pos;
} slacks;

static void place_slacks(builder *b, const slacks *s)
{
    size_t hydros = b->input->hydro_count;
    cobre_inflow_method method = b->input->config.inflow_method;

    b->lp->inflow_slack = NO_COLUMN;
    if (method == COBRE_INFLOW_PENALTY || method == COBRE_INFLOW_TRUNCATION_WITH_PENALTY)
        b->lp->inflow_slack = b->columns;
    for (size_t h = 0; b->lp->inflow_slack != NO_COLUMN && h < hydros; h++)
        add_column(b, 0.0, LP_INFINITY,
                   b->input->hydros[h].inflow_nonnegativity_cost * b->stage->hours);
    for (size_t h = 0; h < hydros; h++) {
        const cobre_hydro_stage *at = hydro_at(b, h);
        double hours = b->stage->hours, none = LP_INFINITY;
        bool draws = at->withdrawal > 0.0;
#define BLOCKS_IF(needed, price) ((needed) ? add_blocks(b, 0.0, none, (price)) : NO_COLUMN)
#define COLUMN_IF(needed, price) ((needed) ? add_column(b, 0.0, none, (price)) : NO_COLUMN)
        s->withdrawal_neg[h] = COLUMN_IF(draws, at->withdrawal_neg_cost * hours);
        s->withdrawal_pos[h] = COLUMN_IF(draws, at->withdrawal_pos_cost * hours);
        s->outflow_below[h] = BLOCKS_IF(at->min_outflow > 0.0, at->outflow_below_cost);
        s->outflow_above[h] = BLOCKS_IF(at->max_outflow < none, at->outflow_above_cost);
        s->turbined_below[h] = BLOCKS_IF(at->min_turbined > 0.0, at->turbined_below_cost);
        s->generation_below[h] = BLOCKS_IF(at->min_generation > 0.0, at->generation_below_cost);
#undef BLOCKS_IF
#undef COLUMN_IF
    }
}

static int add_row(builder *b, double lower, double upper)
{
    int i = b->rows++;

    if (b->row_lower) {
        b->row_lower[i] = lower;
        b->row_upper[i] = bounded(upper);
    }
    return i;
}

static void put(builder *b, int row, int column, double value)
{
    if (b->row) {
        b->row[b->elements] = row;
        b->column[b->elements] = column;
        b->value[b->elements] = value;
    }
    b->elements++;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* `sign` times the water that leaves hydro h through the columns from `first`, into a balance
 * row. */
static void put_flow(builder *b, size_t row_hydro, int first, double sign)
{
    for (size_t k = 0; k < b->blocks; k++)
        put(b, b->lp->balance + (int)row_hydro, first + (int)k,
            sign * HM3_PER_M3S_HOUR * hours_of(b, k));
}

static void put_outflows(builder *b, size_t h)
{
    const cobre_hydro *hydro = &b->input->hydros[h];
    int width = (int)b->blocks;
    int q = b->lp->turbined + (int)h * width, s = b->lp->spilled + (int)h * width;
    int d = b->lp->diverted[h];

    put_flow(b, h, q, 1.0);
    put_flow(b, h, s, 1.0);
    if (hydro->downstream != COBRE_NONE) {
        put_flow(b, hydro->downstream, q, -1.0);
        put_flow(b, hydro->downstream, s, -1.0);
    }
    if (d == NO_COLUMN)
        return;
    put_flow(b, h, d, 1.0);
    if (hydro->diversion_downstream != COBRE_NONE)
        put_flow(b, hydro->diversion_downstream, d, -1.0);
}

static void put_balances(builder *b)
{
    const stage_lp *p = b->lp;
    double zeta = HM3_PER_M3S_HOUR * b->stage->hours;

    b->lp->balance = b->rows;
    for (size_t h = 0; h < b->input->hydro_count; h++) {
        double drawn = -zeta * hydro_at(b, h)->withdrawal;
        int row = add_row(b, drawn, drawn), i = (int)h;
        put(b, row, p->storage + i, 1.0);
        put(b, row, p->incoming + i, -1.0);
        put(b, row, p->inflow + i, -zeta);
        if (p->inflow_slack != NO_COLUMN)
            put(b, row, p->inflow_slack + i, -zeta);
        if (p->withdrawal_neg[h] != NO_COLUMN) {
            put(b, row, p->withdrawal_neg[h], -zeta);
            put(b, row, p->withdrawal_pos[h], zeta);
        }
    }
    for (size_t h = 0; h < b->input->hydro_count; h++)
        put_outflows(b, h);
}

/* One column per block from `first`, with `value`, into the load rows of a bus. */
static void put_supply(builder *b, size_t bus, int first, double value)
{
    for (size_t k = 0; k < b->blocks; k++)
        put(b, b->lp->load + (int)(bus * b->blocks + k), first + (int)k, value);
}

static void put_lines(builder *b)
{
    for (size_t i = 0; i < b->input->line_count; i++) {
        const cobre_line *line = &b->input->lines[i];
        int direct = b->lp->direct + (int)(i * b->blocks);
        int reverse = b->lp->reverse + (int)(i * b->blocks);
        put_supply(b, line->target, direct, 1.0);
        put_supply(b, line->target, reverse, -1.0);
        put_supply(b, line->source, direct, -1.0);
        put_supply(b, line->source, reverse, 1.0);
    }
}

static void put_loads(builder *b)
{
    const cobre_case *in = b->input;
    int width = (int)b->blocks;

    b->lp->load = b->rows;
    for (size_t i = 0; i < in->bus_count; i++)
        for (size_t k = 0; k < b->blocks; k++) {
            double factor = bus_at(b, i)->load_factor ? bus_at(b, i)->load_factor[k] : 1.0;
            double load = bus_at(b, i)->load_mean * factor;
            add_row(b, load, load);
        }
    for (size_t h = 0; h < in->hydro_count; h++)
        put_supply(b, in->hydros[h].bus, b->lp->turbined + (int)h * width,
                   in->hydros[h].productivity);
    for (size_t i = 0; i < in->thermal_count; i++)
        put_supply(b, in->thermals[i].bus, b->lp->thermal + (int)i * width, 1.0);
    put_lines(b);
    for (size_t i = 0; i < in->bus_count; i++) {
        for (size_t s = 0; s < in->buses[i].segment_count; s++)
            put_supply(b, i, b->lp->deficit[i] + (int)s * width, 1.0);
        put_supply(b, i, b->lp->excess + (int)i * width, -1.0);
    }
}

typedef struct limit_row {
    int slack; /* first column, or NO_COLUMN: no row */
    double lower, upper;
    double turbined; /* coefficient of the turbined flow */
    double others;   /* of spilled and diverted flow */
    double slack_sign;
} limit_row;

static void put_limit(builder *b, size_t h, const limit_row *limit)
{
    for (size_t k = 0; limit->slack != NO_COLUMN && k < b->blocks; k++) {
        int row = add_row(b, limit->lower, limit->upper);
        int at = (int)(h * b->blocks + k);
        put(b, row, b->lp->turbined + at, limit->turbined);
        put(b, row, limit->slack + (int)k, limit->slack_sign);
        if (limit->others == 0.0)
            continue;
        put(b, row, b->lp->spilled + at, limit->others);
        if (b->lp->diverted[h] != NO_COLUMN)
            put(b, row, b->lp->diverted[h] + (int)k, limit->others);
    }
}

static void put_limits(builder *b)
{
    const stage_lp *p = b->lp;
    double none = LP_INFINITY;

    for (size_t h = 0; h < b->input->hydro_count; h++) {
        const cobre_hydro_stage *at = hydro_at(b, h);
        double rho = b->input->hydros[h].productivity;
        const limit_row limits[] = {
            { p->outflow_below[h], at->min_outflow, none, 1.0, 1.0, 1.0 },
            { p->outflow_above[h], -none, at->max_outflow, 1.0, 1.0, -1.0 },
            { p->turbined_below[h], at->min_turbined, none, 1.0, 0.0, 1.0 },
            { p->generation_below[h], at->min_generation, none, rho, 0.0, 1.0 },
        };
        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
            put_limit(b, h, &limits[i]);
    }
}

/* ---- assembly -------------------------------------------------------------------------------- */

static mcp_status out_of_memory(size_t t, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the program of stage %zu", t);
}

static bool index_arrays(stage_lp *p, mcp_arena *arena, slacks *s, int **diverted, int **deficit)
{
    size_t hydros = p->input->hydro_count;
    int *by_hydro = mcp_arena_array(arena, 7 * hydros, sizeof *by_hydro);

    *deficit = mcp_arena_array(arena, p->input->bus_count, sizeof **deficit);
    if (!by_hydro || !*deficit)
        return false;
    *diverted = by_hydro;
    s->outflow_below = by_hydro + hydros;
    s->outflow_above = by_hydro + 2 * hydros;
    s->turbined_below = by_hydro + 3 * hydros;
    s->generation_below = by_hydro + 4 * hydros;
    s->withdrawal_neg = by_hydro + 5 * hydros;
    s->withdrawal_pos = by_hydro + 6 * hydros;
    p->diverted = *diverted;
    p->deficit = *deficit;
    p->outflow_below = s->outflow_below;
    p->outflow_above = s->outflow_above;
    p->turbined_below = s->turbined_below;
    p->generation_below = s->generation_below;
    p->withdrawal_neg = s->withdrawal_neg;
    p->withdrawal_pos = s->withdrawal_pos;
    return true;
}

static void emit(builder *b, const slacks *s, int *diverted, int *deficit)
{
    b->columns = b->rows = 0;
    b->elements = 0;
    place_state(b);
    place_water(b, diverted);
    place_power(b);
    b->lp->direct = b->columns;
    place_line_region(b, true);
    b->lp->reverse = b->columns;
    place_line_region(b, false);
    place_buses(b, deficit);
    place_slacks(b, s);
    put_balances(b);
    put_loads(b);
    put_limits(b);
}

static bool element_arrays(builder *b, mcp_arena *arena)
{
    size_t columns = (size_t)b->columns, rows = (size_t)b->rows;

    b->lower = mcp_arena_array(arena, columns, 3 * sizeof(double));
    b->row_lower = mcp_arena_array(arena, rows, 2 * sizeof(double));
    b->row = mcp_arena_array(arena, b->elements, 2 * sizeof(int));
    b->value = mcp_arena_array(arena, b->elements, sizeof(double));
    if (!b->lower || !b->row_lower || !b->row || !b->value)
        return false;
    b->upper = b->lower + columns;
    b->cost = b->upper + columns;
    b->row_upper = b->row_lower + rows;
    b->column = b->row + b->elements;
    return true;
}

/* Stable counting sort of `order` by key; `count` has keys + 1 entries. */
static void sort_by(int *out, const int *order, const int *key, size_t n, int *count, size_t keys)
{
    memset(count, 0, (keys + 1) * sizeof *count);
    for (size_t i = 0; i < n; i++)
        count[key[i] + 1]++;
    for (size_t k = 0; k < keys; k++)
        count[k + 1] += count[k];
    for (size_t i = 0; i < n; i++) {
        int element = order ? order[i] : (int)i;
        out[count[key[element]]++] = element;
    }
}

static void fill_columns(const builder *b, const int *order, int *start, int *row, double *value)
{
    int kept = 0, last_column = -1;

    for (size_t i = 0; i < b->elements; i++) {
        int e = order[i];
        if (b->column[e] == last_column && row[kept - 1] == b->row[e]) {
            value[kept - 1] += b->value[e];
            continue;
        }
        while (last_column < b->column[e])
            start[++last_column] = kept;
        row[kept] = b->row[e];
        value[kept++] = b->value[e];
    }
    while (last_column < b->columns)
        start[++last_column] = kept;
}

static mcp_status compress(builder *b, mcp_arena *arena, mcp_error *err)
{
    size_t n = b->elements, columns = (size_t)b->columns, rows = (size_t)b->rows;
    size_t keys = columns > rows ? columns : rows;
    int *scratch = mcp_arena_array(arena, 2 * n + keys + 1, sizeof *scratch);
    int *start = mcp_arena_array(arena, columns + 1, sizeof *start);
    int *row = mcp_arena_array(arena, n, sizeof *row);
    double *value = mcp_arena_array(arena, n, sizeof *value);

    if (!scratch || !start || !row || !value)
        return out_of_memory(b->t, err);
    sort_by(scratch, NULL, b->row, n, scratch + 2 * n, rows);
    sort_by(scratch + n, scratch, b->column, n, scratch + 2 * n, columns);
    fill_columns(b, scratch + n, start, row, value);
    b->lp->program = (lp_program){ b->columns, b->rows,  start,   row,          value,
                                   b->lower,   b->upper, b->cost, b->row_lower, b->row_upper };
    return MCP_OK;
}

static mcp_status number_noise(stage_lp *p, mcp_arena *arena, mcp_error *err)
{
    const cobre_case *in = p->input;
    int *noise_of_bus = mcp_arena_array(arena, in->bus_count, sizeof *noise_of_bus);
    int next = (int)in->hydro_count;

    if (!noise_of_bus)
        return out_of_memory(p->stage, err);
    for (size_t i = 0; i < in->bus_count; i++)
        noise_of_bus[i] = in->bus_is_stochastic[i] ? next++ : NO_COLUMN;
    p->noise_of_bus = noise_of_bus;
    return MCP_OK;
}

mcp_status stage_lp_build(stage_lp *out, mcp_arena *arena, const cobre_case *input, size_t t,
                          size_t lags, mcp_error *err)
{
    cobre_inflow_method method = input->config.inflow_method;
    stage_lp made = { .input = input, .stage = t, .lags = lags };
    builder b = { .lp = &made,
                  .input = input,
                  .stage = &input->stages[t],
                  .t = t,
                  .blocks = input->stages[t].block_count };
    slacks s;
    int *diverted, *deficit;

    made.theta_cost = input->stages[t].discount;
    made.truncates = method == COBRE_INFLOW_TRUNCATION ||
                     method == COBRE_INFLOW_TRUNCATION_WITH_PENALTY;
    if (!index_arrays(&made, arena, &s, &diverted, &deficit))
        return out_of_memory(t, err);
    emit(&b, &s, diverted, deficit);
    if (!element_arrays(&b, arena))
        return out_of_memory(t, err);
    emit(&b, &s, diverted, deficit);
    mcp_status st = compress(&b, arena, err);
    if (st == MCP_OK)
        st = number_noise(&made, arena, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

void stage_lp_size(const cobre_case *input, size_t t, size_t lags, double out[3])
{
    double blocks = (double)input->stages[t].block_count, hydros = (double)input->hydro_count;
    double buses = (double)input->bus_count, segments = 0.0;

    for (size_t i = 0; i < input->bus_count; i++)
        segments += (double)input->buses[i].segment_count;
    double supply = (double)input->thermal_count + segments + buses;
    out[0] = hydros * (6.0 + (double)lags + 7.0 * blocks) + 1.0 +
             blocks * (supply + 2.0 * (double)input->line_count);
    out[1] = hydros * (1.0 + 4.0 * blocks) + blocks * buses;
    out[2] = hydros * (6.0 + 20.0 * blocks) + blocks * (supply + 4.0 * (double)input->line_count);
}

/* ---- in and out ------------------------------------------------------------------------------ */

/* The inflow of a hydro by the model, raised to zero where the case wants that and there is
 * noise. Method page, 3.2. */
static double inflow_at(const stage_lp *stage, size_t h, const double *noise)
{
    const cobre_case *in = stage->input;
    const cobre_hydro_stage *at = &in->hydro_stages[stage->stage * in->hydro_count + h];
    double inflow = at->inflow_mean + at->inflow_std * noise[h];

    if (stage->truncates && inflow < 0.0 && at->inflow_std > 0.0)
        return 0.0;
    return inflow;
}

double stage_lp_load(const stage_lp *stage, size_t bus, size_t block, const double *noise)
{
    const cobre_case *in = stage->input;
    const cobre_bus_stage *at = &in->bus_stages[stage->stage * in->bus_count + bus];
    double load = at->load_mean, factor = at->load_factor ? at->load_factor[block] : 1.0;

    if (stage->noise_of_bus[bus] != NO_COLUMN)
        load = fmax(0.0, load + at->load_std * noise[stage->noise_of_bus[bus]]);
    return load * factor;
}

size_t stage_lp_lines(const stage_lp *stage)
{
    return (size_t)stage->program.columns + (size_t)stage->program.rows;
}

void stage_lp_enter(const stage_lp *stage, lp *model, const double *state, const double *noise)
{
    const cobre_case *in = stage->input;
    size_t hydros = in->hydro_count, blocks = in->stages[stage->stage].block_count;

    for (size_t h = 0; h < hydros; h++)
        lp_set_column(model, stage->incoming + (int)h, state[h], state[h]);
    for (size_t i = 0; i < stage->lags * hydros; i++)
        lp_set_column(model, stage->lag + (int)i, state[hydros + i], state[hydros + i]);
    for (size_t h = 0; h < hydros; h++) {
        double inflow = inflow_at(stage, h, noise);
        lp_set_column(model, stage->inflow + (int)h, inflow, inflow);
    }
    for (size_t i = 0; i < in->bus_count; i++) {
        if (stage->noise_of_bus[i] == NO_COLUMN)
            continue;
        for (size_t k = 0; k < blocks; k++) {
            double load = stage_lp_load(stage, i, k, noise);
            lp_set_row(model, stage->load + (int)(i * blocks + k), load, load);
        }
    }
}

int stage_lp_state_column(const stage_lp *stage, size_t j)
{
    size_t hydros = stage->input->hydro_count;

    if (j < hydros)
        return stage->storage + (int)j;
    if (j < 2 * hydros)
        return stage->inflow + (int)(j - hydros);
    return stage->lag + (int)(j - 2 * hydros);
}

void stage_lp_leave(const stage_lp *stage, const double *primal, double *state)
{
    const lp_program *p = &stage->program;
    size_t hydros = stage->input->hydro_count;

    for (size_t h = 0; h < hydros; h++) {
        size_t j = (size_t)stage->storage + h;
        state[h] = fmin(fmax(primal[j], p->lower[j]), p->upper[j]);
    }
    for (size_t i = hydros; i < hydros * (1 + stage->lags); i++)
        state[i] = primal[stage_lp_state_column(stage, i)];
}

void stage_lp_gradient(const stage_lp *stage, const double *reduced_costs, double *gradient)
{
    size_t hydros = stage->input->hydro_count;

    memcpy(gradient, reduced_costs + stage->incoming, hydros * sizeof *gradient);
    memcpy(gradient + hydros, reduced_costs + stage->lag, stage->lags * hydros * sizeof *gradient);
}
