/*
 * program.c - copies, scales and transposes a program.
 *
 * Columns that a program fixes never enter a basis, so the elements of a row lie in two parts:
 * those of movable columns, over which pivots run, and those of fixed ones.
 */
#include "lp/dual/program.h"

#include <math.h>
#include <stdlib.h>

#include "lp/scale.h"
#include "mcp/alloc.h"

/* Above this size (structural rows and state) other methods are faster. */
#define SIZE_MAX_OWN 192

bool dual_fits(const lp_program *program, const lp_layout *layout)
{
    return (size_t)program->rows + layout->states + 1 <= SIZE_MAX_OWN;
}

double dual_tolerance(double lower, double upper)
{
    double size = 0.0;

    if (isfinite(lower))
        size = fabs(lower);
    if (isfinite(upper))
        size = fmax(size, fabs(upper));
    return FEASIBILITY + FEASIBILITY_RELATIVE * size;
}

static bool allocate(dual_program *p, int elements)
{
    size_t n = (size_t)p->columns, m = (size_t)p->rows, e = (size_t)elements;
    double *real = mcp_alloc((6 * n + 5 * m + 2 * e + 1) * sizeof *real);
    int *whole = mcp_alloc((3 * n + 2 * m + 2 * e + 2) * sizeof *whole);

    p->column_scale = real;
    p->start = whole;
    p->is_fixed = mcp_alloc_zeroed(n + 1, 1);
    if (!real || !whole || !p->is_fixed)
        return false;
    p->lower = p->column_scale + n;
    p->upper = p->lower + n;
    p->cost = p->upper + n;
    p->low = p->cost + n;
    p->high = p->low + n;
    p->row_scale = p->high + n;
    p->row_lower = p->row_scale + m;
    p->row_upper = p->row_lower + m;
    p->row_low = p->row_upper + m;
    p->row_high = p->row_low + m;
    p->value = p->row_high + m;
    p->element = p->value + e;
    p->state_of = p->start + n + 1;
    p->unbounded = p->state_of + n;
    p->row_start = p->unbounded + n;
    p->row_fixed = p->row_start + m + 1;
    p->row = p->row_fixed + m;
    p->column = p->row + e;
    return true;
}

/* Also true for NaN. */
static bool is_beyond(double value)
{
    return !(fabs(value) <= LP_LARGEST);
}

/* A lower bound times a power of two; notes a number that is neither a bound nor infinite. */
static double scaled_lower(dual_program *p, double value, double scale)
{
    if (value <= -LP_INFINITY)
        return -INFINITY;
    p->is_beyond = p->is_beyond || is_beyond(value);
    return value * scale;
}

static double scaled_upper(dual_program *p, double value, double scale)
{
    return -scaled_lower(p, -value, scale);
}

static void copy_columns(dual_program *p, const lp_program *from)
{
    for (int j = 0; j < p->columns; j++) {
        double scale = p->column_scale[j];
        p->lower[j] = scaled_lower(p, from->lower[j], 1.0 / scale);
        p->upper[j] = scaled_upper(p, from->upper[j], 1.0 / scale);
        p->cost[j] = from->cost[j] * scale * p->objective_scale;
        p->is_beyond = p->is_beyond || is_beyond(from->cost[j]);
        p->is_contradictory = p->is_contradictory || p->lower[j] > p->upper[j];
        double tolerance = dual_tolerance(p->lower[j], p->upper[j]);
        p->low[j] = p->lower[j] - tolerance;
        p->high[j] = p->upper[j] + tolerance;
        p->start[j] = from->start[j];
        for (int e = from->start[j]; e < from->start[j + 1]; e++) {
            p->row[e] = from->row[e];
            p->value[e] = from->value[e] * scale * p->row_scale[from->row[e]];
            p->is_beyond = p->is_beyond || is_beyond(from->value[e]);
        }
    }
    p->start[p->columns] = from->start[p->columns];
}

static void copy_rows(dual_program *p, const lp_program *from)
{
    for (int i = 0; i < p->rows; i++) {
        p->row_lower[i] = scaled_lower(p, from->row_lower[i], p->row_scale[i]);
        p->row_upper[i] = scaled_upper(p, from->row_upper[i], p->row_scale[i]);
        p->is_contradictory = p->is_contradictory || p->row_lower[i] > p->row_upper[i];
        double tolerance = dual_tolerance(p->row_lower[i], p->row_upper[i]);
        p->row_low[i] = p->row_lower[i] - tolerance;
        p->row_high[i] = p->row_upper[i] + tolerance;
    }
}

static void mark_columns(dual_program *p)
{
    const lp_layout *layout = &p->layout;

    for (int j = 0; j < p->columns; j++) {
        p->is_fixed[j] = p->lower[j] == p->upper[j];
        p->state_of[j] = -1;
    }
    for (size_t i = 0; i < layout->items; i++)
        if (layout->item[i].kind != LP_ITEM_SHIFT)
            p->is_fixed[layout->item[i].index] = layout->item[i].kind == LP_ITEM_FIXED;
    for (size_t i = 0; i < layout->states; i++)
        p->state_of[layout->state[i]] = (int)i;
    for (int j = 0; j < p->columns; j++)
        if (!p->is_fixed[j] && isinf(p->lower[j]) && isinf(p->upper[j]))
            p->unbounded[p->unbounded_count++] = j;
}

/* Append the elements of fixed or of movable columns to their rows; row_fixed is where. */
static void append_elements(dual_program *p, bool fixed)
{
    for (int j = 0; j < p->columns; j++) {
        if (p->is_fixed[j] != fixed)
            continue;
        for (int e = p->start[j]; e < p->start[j + 1]; e++) {
            int at = p->row_fixed[p->row[e]]++;
            p->column[at] = j;
            p->element[at] = p->value[e];
        }
    }
}

static void transpose(dual_program *p)
{
    for (int i = 0; i <= p->rows; i++)
        p->row_start[i] = 0;
    for (int e = 0; e < p->start[p->columns]; e++)
        p->row_start[p->row[e] + 1]++;
    for (int i = 0; i < p->rows; i++) {
        p->row_start[i + 1] += p->row_start[i];
        p->row_fixed[i] = p->row_start[i];
    }
    append_elements(p, false);
    append_elements(p, true);
    /* Back from the ends of the rows to where their fixed columns begin. */
    for (int j = 0; j < p->columns; j++)
        for (int e = p->start[j]; p->is_fixed[j] && e < p->start[j + 1]; e++)
            p->row_fixed[p->row[e]]--;
}

mcp_status dual_program_new(dual_program **out, const lp_program *program, const lp_layout *layout,
                            mcp_error *err)
{
    dual_program *p = mcp_alloc_zeroed(1, sizeof *p);

    if (p) {
        p->columns = program->columns;
        p->rows = program->rows;
        p->states = (int)layout->states;
        p->layout = *layout;
    }
    if (!p || !allocate(p, program->start[program->columns])) {
        dual_program_free(p);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an LP");
    }
    lp_scale_program(program, p->column_scale, p->row_scale, &p->objective_scale);
    copy_columns(p, program);
    copy_rows(p, program);
    mark_columns(p);
    transpose(p);
    *out = p;
    return MCP_OK;
}

void dual_program_free(dual_program *program)
{
    if (!program)
        return;
    free(program->column_scale);
    free(program->start);
    free(program->is_fixed);
    free(program);
}
