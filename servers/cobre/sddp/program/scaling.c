/*
 * scaling.c - scales a program as the solver does when it loads it, and measures both forms.
 */
#include "sddp/program/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lp/scale.h"
#include "mcp/arena.h"

static void add(scaling_range *range, double value)
{
    double size = fabs(value);

    if (size == 0.0)
        return;
    if (range->most == 0.0 || size < range->least)
        range->least = size;
    if (size > range->most)
        range->most = size;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the factors. */
static scaling_factors factors_of(double *values, size_t count)
{
    if (count == 0)
        return (scaling_factors){ 0 };
    qsort(values, count, sizeof *values, ascending);
    double median = (values[(count - 1) / 2] + values[count / 2]) / 2.0;
    return (scaling_factors){ values[0], values[count - 1], median, count };
}

static void measure(program_scaling *out, const lp_program *p, double *column, double *row)
{
    double objective = 1.0;

    lp_scale_program(p, column, row, &objective);
    for (int j = 0; j < p->columns; j++) {
        add(&out->costs_before, p->cost[j]);
        add(&out->costs_after, p->cost[j] * column[j] * objective);
        for (int e = p->start[j]; e < p->start[j + 1]; e++) {
            add(&out->matrix_before, p->value[e]);
            add(&out->matrix_after, p->value[e] * column[j] * row[p->row[e]]);
        }
    }
    out->columns = (size_t)p->columns;
    out->rows = (size_t)p->rows;
    out->elements = (size_t)p->start[p->columns];
    out->column = factors_of(column, out->columns);
    out->row = factors_of(row, out->rows);
}

mcp_status program_scaling_of(program_scaling *out, const lp_program *program, mcp_error *err)
{
    size_t lines = (size_t)program->columns + (size_t)program->rows;
    mcp_arena *scratch = mcp_arena_new(lines * sizeof(double) + 4096);
    double *scales = scratch ? mcp_arena_array(scratch, lines, sizeof *scales) : NULL;

    if (!scales) {
        mcp_arena_free(scratch);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to measure a program of %zu lines",
                             lines);
    }
    *out = (program_scaling){ 0 };
    measure(out, program, scales, scales + program->columns);
    mcp_arena_free(scratch);
    return MCP_OK;
}
