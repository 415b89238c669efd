/*
 * stage_lp.c - builds the program of a stage, and reads its results.
 *
 * Two passes over the same code: layout gives every region its columns and rows, then matrix_put
 * writes the elements as (row, column, value) triplets, first to count them, then to keep them;
 * compress() sorts them by column and row and adds up those of one element.
 *
 * The method page fixes incoming storages and lags by equations and computes the inflow z in a
 * third one; here storages and inflow are columns with equal bounds and lags have none, which saves
 * 2N + 2NL rows and columns and the pivots in them. The balance takes z instead of its right-hand
 * side, so it is the row of the page up to constants, with the same dual.
 */
#include <math.h>
#include <string.h>

#include "sddp/program/stage_lp_int.h"

#define SCRATCH_MAX ((size_t)1 << 30) /* bytes, while a program is measured */

static mcp_status out_of_memory(size_t t, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the program of stage %zu", t);
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* Limits that a solver would refuse as numbers are none. */
static double upper_limit(double value)
{
    return value < LP_LARGEST ? fmax(value, -LP_INFINITY) : LP_INFINITY;
}

static double lower_limit(double value)
{
    return -upper_limit(-value);
}

static void write_column(builder *b, const region_line *line, int place)
{
    int j = b->columns++;

    if (!b->lower)
        return;
    b->lower[j] = lower_limit(line->lower);
    b->upper[j] = upper_limit(line->upper);
    b->cost[j] = line->price / COST_SCALE;
    b->place[j] = place;
}

static void write_row(builder *b, const region_line *line)
{
    int i = b->rows++;

    if (!b->row_lower)
        return;
    b->row_lower[i] = lower_limit(line->lower);
    b->row_upper[i] = upper_limit(line->upper);
}

static void lay_columns(builder *b, column_region r)
{
    const region_row *region = &region_columns[r];
    size_t entities = region_entities(region, &b->site), places = b->lp->width[r];
    region_line line;

    b->lp->first[r] = b->columns;
    for (size_t e = 0; e < entities; e++) {
        int first = b->columns;
        for (size_t k = 0; k < places && region->rule(&line, &b->site, e, k); k++)
            write_column(b, &line, (int)(e * places + k));
        b->column_of[r][e] = b->columns > first ? first : NO_COLUMN;
    }
}

static void lay_rows(builder *b, row_region r)
{
    const region_row *region = &region_rows[r];
    size_t entities = region_entities(region, &b->site), places = region_places(region, &b->site);
    region_line line;

    for (size_t e = 0; e < entities; e++) {
        int first = b->rows;
        for (size_t k = 0; k < places && region->rule(&line, &b->site, e, k); k++)
            write_row(b, &line);
        b->row_of[r][e] = b->rows > first ? first : NO_COLUMN;
    }
}

/* All columns and rows, then all elements. */
static void emit(builder *b)
{
    b->columns = b->rows = 0;
    for (column_region r = 0; r < REGION_COUNT; r++)
        lay_columns(b, r);
    b->lp->first[REGION_COUNT] = b->columns;
    for (row_region r = 0; r < ROW_REGION_COUNT; r++)
        lay_rows(b, r);
    matrix_put(b);
}

/* The arrays by entity. */
static mcp_status begin(builder *b, stage_lp *made, mcp_arena *arena,
                        const program_context *context, size_t t, mcp_error *err)
{
    size_t count = 0;

    *b = (builder){ .lp = made, .site = program_site_of(context, t) };
    *made = (stage_lp){ .context = context, .input = context->input, .stage = t };
    made->blocks = b->site.blocks;
    for (column_region r = 0; r < REGION_COUNT; r++) {
        made->width[r] = region_places(&region_columns[r], &b->site);
        made->values[r] = region_entities(&region_columns[r], &b->site) * made->width[r];
        count += region_entities(&region_columns[r], &b->site);
    }
    for (row_region r = 0; r < ROW_REGION_COUNT; r++)
        count += region_entities(&region_rows[r], &b->site);
    int *at = mcp_arena_array(arena, count, sizeof *at);
    if (!at)
        return out_of_memory(t, err);
    for (column_region r = 0; r < REGION_COUNT; r++) {
        made->column[r] = b->column_of[r] = at;
        at += region_entities(&region_columns[r], &b->site);
    }
    for (row_region r = 0; r < ROW_REGION_COUNT; r++) {
        made->row[r] = b->row_of[r] = at;
        at += region_entities(&region_rows[r], &b->site);
    }
    return MCP_OK;
}

static bool element_arrays(builder *b, mcp_arena *arena)
{
    size_t columns = (size_t)b->columns, rows = (size_t)b->rows;

    b->lower = mcp_arena_array(arena, columns, 3 * sizeof(double));
    b->place = mcp_arena_array(arena, columns, sizeof *b->place);
    b->row_lower = mcp_arena_array(arena, rows, 2 * sizeof(double));
    b->row = mcp_arena_array(arena, b->elements, 2 * sizeof(int));
    b->value = mcp_arena_array(arena, b->elements, sizeof(double));
    b->moving = mcp_arena_array(arena, b->moving_count, sizeof *b->moving);
    if (!b->lower || !b->place || !b->row_lower || !b->row || !b->value || !b->moving)
        return false;
    b->upper = b->lower + columns;
    b->cost = b->upper + columns;
    b->row_upper = b->row_lower + rows;
    b->column = b->row + b->elements;
    return true;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

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
        return out_of_memory(b->site.t, err);
    sort_by(scratch, NULL, b->row, n, scratch + 2 * n, rows);
    sort_by(scratch + n, scratch, b->column, n, scratch + 2 * n, columns);
    fill_columns(b, scratch + n, start, row, value);
    b->lp->program = (lp_program){ b->columns, b->rows,  start,   row,          value,
                                   b->lower,   b->upper, b->cost, b->row_lower, b->row_upper };
    return MCP_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

static mcp_status number_noise(stage_lp *p, mcp_arena *arena, mcp_error *err)
{
    const cobre_case *in = p->input;
    int *noise = mcp_arena_array(arena, in->bus_count + in->source_count, sizeof *noise);
    int next = (int)in->hydro_count;

    if (!noise)
        return out_of_memory(p->stage, err);
    p->noise_of_bus = noise;
    p->noise_of_source = noise + in->bus_count;
    for (size_t i = 0; i < in->bus_count; i++)
        *noise++ = in->bus_is_stochastic[i] ? next++ : NO_COLUMN;
    for (size_t j = 0; j < in->source_count; j++)
        *noise++ = in->sources[j].is_stochastic ? next++ : NO_COLUMN;
    return MCP_OK;
}

mcp_status stage_lp_build(stage_lp *out, mcp_arena *arena, const program_context *context, size_t t,
                          mcp_error *err)
{
    cobre_inflow_method method = context->input->config.inflow_method;
    stage_lp made;
    builder b;
    mcp_status st = begin(&b, &made, arena, context, t, err);

    if (st != MCP_OK)
        return st;
    emit(&b);
    if (!element_arrays(&b, arena))
        return out_of_memory(t, err);
    emit(&b);
    made.place = b.place;
    made.truncates = method == COBRE_INFLOW_TRUNCATION ||
                     method == COBRE_INFLOW_TRUNCATION_WITH_PENALTY;
    made.theta = made.first[REGION_THETA];
    made.moving = b.moving;
    made.moving_count = b.moving_count;
    st = compress(&b, arena, err);
    if (st == MCP_OK)
        st = number_noise(&made, arena, err);
    if (st == MCP_OK)
        st = stage_lp_lay(&made, arena, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

mcp_status stage_lp_size(const program_context *context, size_t t, double out[3], mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(SCRATCH_MAX);
    stage_lp counted;
    builder b;
    mcp_status st = arena ? begin(&b, &counted, arena, context, t, err) : out_of_memory(t, err);

    if (st == MCP_OK) {
        emit(&b);
        out[0] = b.columns;
        out[1] = b.rows;
        out[2] = (double)b.elements;
    }
    mcp_arena_free(arena);
    return st;
}

double stage_lp_least_columns(const cobre_case *input, size_t t)
{
    double blocks = (double)input->stages[t].block_count;

    /* spilled flow and excess */
    return blocks * ((double)input->hydro_count + (double)input->bus_count);
}

size_t stage_lp_lines(const stage_lp *stage)
{
    return (size_t)stage->program.columns + (size_t)stage->program.rows;
}

/* ---- in and out ------------------------------------------------------------------------------ */

double stage_lp_load(const stage_lp *stage, size_t bus, size_t block, const double *noise)
{
    const cobre_case *in = stage->input;
    const cobre_bus_stage *at = &in->bus_stages[stage->stage * in->bus_count + bus];
    double load = at->load_mean, factor = at->load_factor ? at->load_factor[block] : 1.0;

    if (stage->noise_of_bus[bus] != NO_COLUMN)
        load = fmax(0.0, load + at->load_std * noise[stage->noise_of_bus[bus]]);
    return load * factor;
}

double stage_lp_available(const stage_lp *stage, size_t source, size_t block, const double *noise)
{
    const cobre_case *in = stage->input;
    const cobre_source_stage *at = &in->source_stages[stage->stage * in->source_count + source];
    double most = at->available_mw, factor = at->factor ? at->factor[block] : 1.0;

    if (at->is_absent)
        return 0.0;
    if (stage->noise_of_source[source] != NO_COLUMN) {
        double share = at->mean + at->std * noise[stage->noise_of_source[source]];
        most = in->sources[source].max_mw * fmin(fmax(share, 0.0), 1.0);
    }
    return most * factor;
}

double stage_lp_future(const stage_lp *stage, const double *primal)
{
    double future = 0.0;

    for (int j = stage->first[REGION_THETA]; j < stage->first[REGION_TAIL + 1]; j++)
        future += stage->program.cost[j] * primal[j];
    return future;
}

int stage_lp_storage(const stage_lp *stage, size_t hydro)
{
    return stage->first[REGION_STORAGE] + (int)hydro;
}

void stage_lp_leave(const stage_lp *stage, const double *primal, double *storage)
{
    const lp_program *p = &stage->program;

    for (size_t h = 0; h < stage->input->hydro_count; h++) {
        size_t j = (size_t)stage_lp_storage(stage, h);
        storage[h] = fmin(fmax(primal[j], p->lower[j]), p->upper[j]);
    }
}
