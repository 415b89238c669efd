/*
 * inner_lp.c - appends the columns and rows of a convex combination to a stage's program.
 *
 * Column by column: an outgoing storage gets one more element, in the row of its entry; then come
 * the vertices, then `more` and `less` by entry. The rows are the sum of the weights, then one an
 * entry. Theta stays where it is, fixed at zero.
 */
#include "sddp/program/inner_lp.h"

#include <string.h>

#define ELEMENTS_MAX 1e8

typedef struct builder {
    const stage_lp *stage;
    const inner_vertices *vertices;
    const double *slopes;
    size_t dimension;
    int columns, rows; /* of the stage's own program */
    int *start, *row;
    double *value, *lower, *upper, *cost, *row_lower, *row_upper;
    int column, at; /* the next column and element */
} builder;

static int entry_row(const builder *b, size_t entry)
{
    return b->rows + 1 + (int)entry;
}

static void put(builder *b, int row, double value)
{
    b->row[b->at] = row;
    b->value[b->at++] = value;
}

/* ---- the stage's own columns ----------------------------------------------------------------- */

static void copy_columns(builder *b)
{
    const lp_program *from = &b->stage->program;
    int first = stage_lp_storage(b->stage, 0), hydros = (int)b->stage->input->hydro_count;

    for (int j = 0; j < from->columns; j++) {
        int count = from->start[j + 1] - from->start[j];
        b->start[j] = b->at;
        memcpy(b->row + b->at, from->row + from->start[j], (size_t)count * sizeof *b->row);
        memcpy(b->value + b->at, from->value + from->start[j], (size_t)count * sizeof *b->value);
        b->at += count;
        if (j >= first && j < first + hydros)
            put(b, entry_row(b, (size_t)(j - first)), 1.0);
        b->lower[j] = from->lower[j];
        b->upper[j] = from->upper[j];
        b->cost[j] = from->cost[j];
    }
    b->lower[b->stage->theta] = b->upper[b->stage->theta] = 0.0;
    b->column = from->columns;
}

/* ---- the future cost ------------------------------------------------------------------------- */

static void begin_column(builder *b, double cost)
{
    b->start[b->column] = b->at;
    b->lower[b->column] = 0.0;
    b->upper[b->column] = LP_INFINITY;
    b->cost[b->column++] = cost;
}

/* `price`: of a thousand of future cost. */
static void put_vertices(builder *b, double price)
{
    for (size_t i = 0; i < b->vertices->count; i++) {
        begin_column(b, price * b->vertices->value[i]);
        put(b, b->rows, 1.0);
        for (size_t j = 0; j < b->dimension; j++)
            if (b->vertices->state[i][j] != 0.0)
                put(b, entry_row(b, j), -b->vertices->state[i][j]);
    }
}

static void put_distances(builder *b, double price)
{
    for (size_t j = 0; j < b->dimension; j++) {
        double cost = price * b->slopes[j] / COST_SCALE;
        begin_column(b, cost);
        put(b, entry_row(b, j), -1.0);
        begin_column(b, cost);
        put(b, entry_row(b, j), 1.0);
    }
}

static void put_rows(builder *b)
{
    const lp_program *from = &b->stage->program;

    for (int i = 0; i < b->rows; i++) {
        b->row_lower[i] = from->row_lower[i];
        b->row_upper[i] = from->row_upper[i];
    }
    b->row_lower[b->rows] = b->row_upper[b->rows] = 1.0;
    for (size_t j = 0; j < b->dimension; j++)
        b->row_lower[entry_row(b, j)] = b->row_upper[entry_row(b, j)] = 0.0;
}

/* ---- building -------------------------------------------------------------------------------- */

static mcp_status make_arrays(builder *b, mcp_arena *arena, double elements, size_t columns,
                              size_t rows, mcp_error *err)
{
    if (elements > ELEMENTS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT,
                             "the upper bound's program of stage %zu would have %.0f elements; the "
                             "limit is 100 million: in config.json raise "
                             "upper_bound_evaluation.interval_iterations or disable it",
                             b->stage->stage, elements);
    b->start = mcp_arena_array(arena, columns + 1, sizeof *b->start);
    b->row = mcp_arena_array(arena, (size_t)elements, sizeof *b->row);
    b->value = mcp_arena_array(arena, (size_t)elements, sizeof *b->value);
    b->lower = mcp_arena_array(arena, columns, 3 * sizeof *b->lower);
    b->row_lower = mcp_arena_array(arena, rows, 2 * sizeof *b->row_lower);
    if (!b->start || !b->row || !b->value || !b->lower || !b->row_lower)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the upper bound of stage %zu",
                             b->stage->stage);
    b->upper = b->lower + columns;
    b->cost = b->upper + columns;
    b->row_upper = b->row_lower + rows;
    return MCP_OK;
}

mcp_status inner_lp_build(inner_lp *out, mcp_arena *arena, const stage_lp *stage,
                          const inner_vertices *vertices, const double *slopes, mcp_error *err)
{
    const lp_program *own = &stage->program;
    size_t n = stage->context->state.dimension;
    size_t columns = (size_t)own->columns + vertices->count + 2 * n;
    size_t rows = (size_t)own->rows + 1 + n;
    double elements = (double)own->start[own->columns] + (double)stage->input->hydro_count +
                      (double)vertices->count * (double)(1 + n) + 2.0 * (double)n;
    builder b = { .stage = stage,
                  .vertices = vertices,
                  .slopes = slopes,
                  .dimension = n,
                  .columns = own->columns,
                  .rows = own->rows };
    mcp_status st = make_arrays(&b, arena, elements, columns, rows, err);

    if (st != MCP_OK)
        return st;
    copy_columns(&b);
    put_vertices(&b, own->cost[stage->theta]);
    put_distances(&b, own->cost[stage->theta]);
    b.start[b.column] = b.at;
    put_rows(&b);
    *out = (inner_lp){ stage,
                       { (int)columns, (int)rows, b.start, b.row, b.value, b.lower, b.upper, b.cost,
                         b.row_lower, b.row_upper } };
    return MCP_OK;
}

void inner_lp_enter(const inner_lp *self, lp *model, const double *outgoing)
{
    const state_table *table = &self->stage->context->state;
    int first = self->stage->program.rows + 1;

    for (size_t j = table->hydros; j < table->dimension; j++)
        lp_set_row(model, first + (int)j, -outgoing[j], -outgoing[j]);
}
