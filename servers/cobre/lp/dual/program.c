/*
 * program.c - copies, scales and transposes a program.
 *
 * The elements of a row lie in three parts: those of columns with a single element, those of other
 * movable columns, over which pivots run too, and those of fixed ones.
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

double dual_tolerance(double bound)
{
    return FEASIBILITY + (isfinite(bound) ? FEASIBILITY_RELATIVE * fabs(bound) : 0.0);
}

static bool allocate(dual_program *p, const lp_layout *layout, int elements)
{
    size_t n = (size_t)p->columns, m = (size_t)p->rows, e = (size_t)elements;
    double *real = mcp_alloc((8 * n + 5 * m + 2 * e + 1) * sizeof *real);
    int *whole = mcp_alloc((5 * n + 3 * m + 2 * e + layout->states + layout->gradients + 3) *
                           sizeof *whole);

    p->column_scale = real;
    p->start = whole;
    p->item = mcp_alloc((layout->items + 1) * sizeof *p->item);
    if (!real || !whole || !p->item)
        return false;
    p->lower = p->column_scale + n;
    p->upper = p->lower + n;
    p->cost = p->upper + n;
    p->low = p->cost + n;
    p->high = p->low + n;
    p->single = p->high + n;
    p->key = p->single + n;
    p->row_scale = p->key + n;
    p->row_lower = p->row_scale + m;
    p->row_upper = p->row_lower + m;
    p->row_low = p->row_upper + m;
    p->row_high = p->row_low + m;
    p->value = p->row_high + m;
    p->element = p->value + e;
    p->order = p->start + n + 1;
    p->number = p->order + n;
    p->state_of = p->number + n;
    p->unbounded = p->state_of + n;
    p->run = p->unbounded + n;
    p->row_start = p->run + m + 1;
    p->row_fixed = p->row_start + m + 1;
    p->row = p->row_fixed + m;
    p->column = p->row + e;
    p->state = p->column + e;
    p->gradient = p->state + layout->states;
    return true;
}

/* ---- the order of the columns ---------------------------------------------------------------- */

/* The parts of the order. */
typedef enum column_kind {
    COLUMN_SINGLE,
    COLUMN_MOVABLE,
    COLUMN_FIXED,
} column_kind;

static int kind_of(const lp_program *from, int column)
{
    bool is_free = from->lower[column] <= -LP_INFINITY && from->upper[column] >= LP_INFINITY;
    int first = from->start[column];

    if (from->lower[column] == from->upper[column])
        return COLUMN_FIXED;
    return from->start[column + 1] == first + 1 && from->value[first] != 0.0 && !is_free
               ? COLUMN_SINGLE
               : COLUMN_MOVABLE;
}

/* By the caller's numbers. Cuts have elements in the columns of the state and of future costs. */
static void list_kinds(const lp_program *from, const lp_layout *layout, int *kind)
{
    for (int j = 0; j < from->columns; j++)
        kind[j] = kind_of(from, j);
    for (size_t i = 0; i < layout->items; i++)
        if (layout->item[i].kind == LP_ITEM_FIXED)
            kind[layout->item[i].index] = COLUMN_FIXED;
        else if (layout->item[i].kind == LP_ITEM_UPPER)
            kind[layout->item[i].index] = COLUMN_MOVABLE;
    for (size_t i = 0; i < layout->states; i++)
        if (kind[layout->state[i]] == COLUMN_SINGLE)
            kind[layout->state[i]] = COLUMN_MOVABLE;
    for (int k = layout->theta; k < layout->theta + (int)layout->thetas; k++)
        if (kind[k] == COLUMN_SINGLE)
            kind[k] = COLUMN_MOVABLE;
}

static double key_of(const lp_program *from, int column)
{
    return from->cost[column] / from->value[from->start[column]];
}

/* By cost a unit, the lowest number on ties. */
static void sort_run(const lp_program *from, int *order, int count)
{
    for (int gap = count / 2; gap > 0; gap /= 2)
        for (int i = gap; i < count; i++) {
            int column = order[i], at = i;
            double key = key_of(from, column);
            for (; at >= gap; at -= gap) {
                double other = key_of(from, order[at - gap]);
                if (other < key || (other == key && order[at - gap] < column))
                    break;
                order[at] = order[at - gap];
            }
            order[at] = column;
        }
}

static void order_singles(dual_program *p, const lp_program *from, const int *kind)
{
    int *next = p->row_fixed;

    for (int i = 0; i <= p->rows; i++)
        p->run[i] = 0;
    for (int j = 0; j < p->columns; j++)
        if (kind[j] == COLUMN_SINGLE)
            p->run[from->row[from->start[j]] + 1]++;
    for (int i = 0; i < p->rows; i++) {
        next[i] = p->run[i];
        p->run[i + 1] += p->run[i];
    }
    for (int j = 0; j < p->columns; j++)
        if (kind[j] == COLUMN_SINGLE)
            p->order[next[from->row[from->start[j]]]++] = j;
    for (int i = 0; i < p->rows; i++)
        sort_run(from, p->order + p->run[i], p->run[i + 1] - p->run[i]);
}

static void order_columns(dual_program *p, const lp_program *from, const lp_layout *layout)
{
    int *kind = p->state_of;

    list_kinds(from, layout, kind);
    order_singles(p, from, kind);
    p->singles = p->movable = p->run[p->rows];
    for (int j = 0; j < p->columns; j++)
        if (kind[j] == COLUMN_MOVABLE)
            p->order[p->movable++] = j;
    for (int j = 0, at = p->movable; j < p->columns; j++)
        if (kind[j] == COLUMN_FIXED)
            p->order[at++] = j;
    for (int j = 0; j < p->columns; j++)
        p->number[p->order[j]] = j;
}

/* The layout by the columns' own numbers. */
static void copy_layout(dual_program *p, const lp_layout *layout)
{
    p->layout = *layout;
    p->layout.item = p->item;
    p->layout.state = p->state;
    p->layout.gradient = p->gradient;
    for (size_t i = 0; i < layout->items; i++) {
        p->item[i] = layout->item[i];
        if (p->item[i].kind != LP_ITEM_SHIFT)
            p->item[i].index = p->number[p->item[i].index];
    }
    for (size_t i = 0; i < layout->states; i++)
        p->state[i] = p->number[layout->state[i]];
    for (size_t i = 0; i < layout->gradients; i++)
        p->gradient[i] = p->number[layout->gradient[i]];
}

/* ---- numbers --------------------------------------------------------------------------------- */

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

static void copy_columns(dual_program *p, const lp_program *from, const double *scales)
{
    int at = 0;

    for (int j = 0; j < p->columns; j++) {
        int own = p->order[j];
        double scale = p->column_scale[j] = scales[own];
        p->lower[j] = scaled_lower(p, from->lower[own], 1.0 / scale);
        p->upper[j] = scaled_upper(p, from->upper[own], 1.0 / scale);
        p->cost[j] = from->cost[own] * scale * p->objective_scale;
        p->is_beyond = p->is_beyond || is_beyond(from->cost[own]);
        p->is_contradictory = p->is_contradictory || p->lower[j] > p->upper[j];
        p->low[j] = p->lower[j] - dual_tolerance(p->lower[j]);
        p->high[j] = p->upper[j] + dual_tolerance(p->upper[j]);
        p->start[j] = at;
        for (int e = from->start[own]; e < from->start[own + 1]; e++, at++) {
            p->row[at] = from->row[e];
            p->value[at] = from->value[e] * scale * p->row_scale[from->row[e]];
            p->is_beyond = p->is_beyond || is_beyond(from->value[e]);
        }
    }
    p->start[p->columns] = at;
}

static void copy_rows(dual_program *p, const lp_program *from)
{
    for (int i = 0; i < p->rows; i++) {
        p->row_lower[i] = scaled_lower(p, from->row_lower[i], p->row_scale[i]);
        p->row_upper[i] = scaled_upper(p, from->row_upper[i], p->row_scale[i]);
        p->is_contradictory = p->is_contradictory || p->row_lower[i] > p->row_upper[i];
        p->row_low[i] = p->row_lower[i] - dual_tolerance(p->row_lower[i]);
        p->row_high[i] = p->row_upper[i] + dual_tolerance(p->row_upper[i]);
    }
}

static void mark_columns(dual_program *p)
{
    for (int j = 0; j < p->columns; j++)
        p->state_of[j] = -1;
    for (size_t i = 0; i < p->layout.states; i++)
        p->state_of[p->state[i]] = (int)i;
    for (int j = 0; j < p->movable; j++)
        if (isinf(p->lower[j]) && isinf(p->upper[j]))
            p->unbounded[p->unbounded_count++] = j;
    for (int j = 0; j < p->singles; j++) {
        p->single[j] = p->value[p->start[j]];
        p->key[j] = p->cost[j] / p->single[j];
    }
}

/* Append the elements of the columns from `first` on to their rows; row_fixed is where. */
static void append_elements(dual_program *p, int first)
{
    for (int j = first; j < p->columns; j++)
        for (int e = p->start[j]; e < p->start[j + 1]; e++) {
            int at = p->row_fixed[p->row[e]]++;
            p->column[at] = j;
            p->element[at] = p->value[e];
        }
}

/* The elements that are not single ones. */
static void transpose(dual_program *p)
{
    for (int i = 0; i <= p->rows; i++)
        p->row_start[i] = 0;
    for (int e = p->start[p->singles]; e < p->start[p->columns]; e++)
        p->row_start[p->row[e] + 1]++;
    for (int i = 0; i < p->rows; i++) {
        p->row_start[i + 1] += p->row_start[i];
        p->row_fixed[i] = p->row_start[i];
    }
    append_elements(p, p->singles);
    /* Back from the ends of the rows to where their fixed columns begin. */
    for (int e = p->start[p->movable]; e < p->start[p->columns]; e++)
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
    }
    if (!p || !allocate(p, layout, program->start[program->columns])) {
        dual_program_free(p);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an LP");
    }
    lp_scale_program(program, p->single, p->row_scale, &p->objective_scale);
    order_columns(p, program, layout);
    copy_layout(p, layout);
    copy_columns(p, program, p->single);
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
    free(program->item);
    free(program);
}
