/*
 * lanes.c - loads the items, computes values from scratch, and moves them along with a pivot.
 *
 * Items with one value for all lanes are bounds like any other. The others are *varying*: fixed
 * columns and nonbasic columns at an upper bound by lane count as zero in the common right-hand
 * side, and their values are added lane by lane. A row whose bounds move by lane is held as its
 * value less that, so its bounds are those of the program; so is a cut with a tail.
 */
#include "lp/dual/lanes.h"

#include <math.h>
#include <string.h>

#include "lp/dual/kernel.h"
#include "lp/dual/rows.h"

/* ---- items ----------------------------------------------------------------------------------- */

static bool is_shared(const double *values, size_t lanes)
{
    for (size_t l = 1; l < lanes; l++)
        if (values[l] != values[0])
            return false;
    return true;
}

static bool is_sound(const double *values, size_t lanes)
{
    for (size_t l = 0; l < lanes; l++)
        if (!(fabs(values[l]) <= LP_LARGEST))
            return false;
    return true;
}

static void set_limits(double lower, double upper, double *low, double *high)
{
    *low = lower - dual_tolerance(lower);
    *high = upper + dual_tolerance(upper);
}

static void load_shared(dual_work *w, lp_item item, double value)
{
    int at = item.index;

    if (item.kind == LP_ITEM_SHIFT) {
        value *= w->program->row_scale[at];
        w->row_lower[at] += value;
        w->row_upper[at] += value;
        set_limits(w->row_lower[at], w->row_upper[at], &w->row_low[at], &w->row_high[at]);
        return;
    }
    w->upper[at] = value / w->program->column_scale[at];
    if (item.kind == LP_ITEM_FIXED)
        w->lower[at] = w->upper[at];
    set_limits(w->lower[at], w->upper[at], &w->low[at], &w->high[at]);
}

/* The limits are those of the largest bound. */
static void load_varying(dual_work *w, lp_item item, const double *values)
{
    dual_varying *varying = &w->varying[w->varying_count++];
    int at = item.index;

    *varying = (dual_varying){ -1, -1, values };
    if (item.kind == LP_ITEM_SHIFT) {
        varying->row = at;
        return;
    }
    varying->column = at;
    if (item.kind == LP_ITEM_FIXED) {
        w->lower[at] = w->upper[at] = 0.0;
        return;
    }
    double scale = 1.0 / w->program->column_scale[at];
    w->lane_bound[at] = w->lane_uppers++;
    w->upper[at] = values[0] * scale;
    for (size_t l = 1; l < w->lanes; l++)
        w->upper[at] = values[l] * scale > w->upper[at] ? values[l] * scale : w->upper[at];
    set_limits(w->lower[at], w->upper[at], &w->low[at], &w->high[at]);
}

/* The first lane in which the upper bounds of an item are below the lower one, or `lanes`. */
static size_t contradiction(const dual_work *w, lp_item item, const double *values)
{
    size_t l = 0;

    if (item.kind != LP_ITEM_UPPER)
        return w->lanes;
    double lower = w->program->lower[item.index] * w->program->column_scale[item.index];
    while (l < w->lanes && values[l] >= lower)
        l++;
    return l;
}

static void load_columns(dual_work *w)
{
    const dual_program *p = w->program;
    size_t bytes = (size_t)p->columns * sizeof *w->lower;

    memcpy(w->lower, p->lower, bytes);
    memcpy(w->upper, p->upper, bytes);
    memcpy(w->low, p->low, bytes);
    memcpy(w->high, p->high, bytes);
    memset(w->lane_bound, 0xff, (size_t)p->columns * sizeof *w->lane_bound);
    memset(w->is_boxed, 0, (size_t)p->columns);
    w->boxed = 0;
}

lp_status lanes_load(dual_work *w)
{
    const lp_layout *layout = &w->program->layout;
    const double *tail = w->group->tail;

    load_columns(w);
    w->lanes = w->group->lanes;
    if (tail && !is_sound(tail, (layout->dimension - layout->states) * w->lanes))
        return LP_FAILED;
    w->aside = 0;
    w->varying_count = 0;
    w->lane_uppers = 0;
    for (size_t l = 0; l < w->lanes; l++)
        w->lane[l] = (uint32_t)l;
    for (size_t i = 0; i < layout->items; i++) {
        const double *values = w->group->values + i * w->lanes;
        size_t failed = contradiction(w, layout->item[i], values);
        if (!is_sound(values, w->lanes))
            return LP_FAILED;
        if (failed < w->lanes) {
            w->answers->failed = failed;
            return LP_INFEASIBLE;
        }
        if (is_shared(values, w->lanes))
            load_shared(w, layout->item[i], values[0]);
        else
            load_varying(w, layout->item[i], values);
    }
    return LP_OPTIMAL;
}

/* ---- values of nonbasic columns -------------------------------------------------------------- */

/* What varies of a fixed column, or of one at its upper bound. */
static double varying_of(const dual_work *w, int column, size_t lane)
{
    if (w->place[column] == LP_AT_UPPER && w->lane_bound[column] >= 0)
        return task_lane_upper(w, column)[lane];
    for (size_t i = 0; w->place[column] == LP_FIXED && i < w->varying_count; i++)
        if (w->varying[i].column == column)
            return w->varying[i].value[w->lane[lane]] / w->program->column_scale[column];
    return 0.0;
}

double lanes_nonbasic_of(const dual_work *w, int column, size_t lane)
{
    return w->nonbasic[column] + varying_of(w, column, lane);
}

void lanes_point(const dual_work *w, size_t lane, double *by_column)
{
    memcpy(by_column, w->nonbasic, (size_t)w->program->columns * sizeof *by_column);
    for (int c = 0; c < w->size; c++)
        by_column[w->kernel_column[c]] = task_values(w, c)[lane];
    for (size_t i = 0; i < w->varying_count; i++) {
        int j = w->varying[i].column;
        if (j >= 0 && w->position[j] < 0)
            by_column[j] = lanes_nonbasic_of(w, j, lane);
    }
}

/* ---- from scratch ---------------------------------------------------------------------------- */

/* By lane, in scaled numbers. */
static double *gather(dual_work *w, size_t number)
{
    const dual_varying *varying = &w->varying[number];
    double *out = w->varying_values + number * w->lane_stride;
    double scale = varying->column >= 0 ? 1.0 / w->program->column_scale[varying->column]
                                        : w->program->row_scale[varying->row];

    for (size_t l = 0; l < w->lanes; l++)
        out[l] = varying->value[w->lane[l]] * scale;
    return out;
}

static void add_scaled(double *restrict to, double factor, const double *restrict from,
                       size_t count)
{
#pragma omp simd
    for (size_t l = 0; l < count; l++)
        to[l] += factor * from[l];
}

/* Add what a varying part of the kernel's right-hand sides does to the columns. */
static void add_part(dual_work *w, const double *right, const double *by_lane)
{
    kernel_multiply(w, right, w->u);
    for (int c = 0; c < w->size; c++)
        if (w->u[c] != 0.0)
            add_scaled(task_values(w, c), w->u[c], by_lane, w->lanes);
}

/* Whether a varying column is nonbasic at the bound that varies. */
static bool is_in_force(const dual_work *w, int column)
{
    return w->place[column] == LP_FIXED || w->place[column] == LP_AT_UPPER;
}

static void add_varying(dual_work *w, size_t number)
{
    const dual_varying *varying = &w->varying[number];
    const double *by_lane = gather(w, number);
    int column = varying->column;

    if (column >= 0 && w->lane_bound[column] >= 0)
        memcpy(task_lane_upper(w, column), by_lane, w->lanes * sizeof *by_lane);
    memset(w->right, 0, (size_t)w->size * sizeof *w->right);
    if (column >= 0 && is_in_force(w, column))
        rows_add_column(w, column, -1.0, w->right);
    else if (column < 0 && w->row_position[varying->row] >= 0)
        w->right[w->row_position[varying->row]] = 1.0;
    else
        return;
    add_part(w, w->right, by_lane);
}

/* What the tails of the kernel's cuts do to the columns. */
static void add_tails(dual_work *w)
{
    for (int r = 0; r < w->size; r++) {
        int slot = w->kernel_row[r] - w->program->rows;
        if (slot < 0 || !rows_tail(w, slot, w->delta))
            continue;
        for (int c = 0; c < w->size; c++)
            add_scaled(task_values(w, c), task_inverse(w, c)[r], w->delta, w->lanes);
    }
}

static double side_of(const dual_work *w, int row)
{
    return w->row_place[row] == LP_AT_UPPER ? w->row_upper[row] : w->row_lower[row];
}

static void compute_columns(dual_work *w)
{
    for (int r = 0; r < w->size; r++) {
        int row = w->kernel_row[r];
        w->right[r] = side_of(w, row) - rows_dot_all(w, row, w->nonbasic);
    }
    kernel_multiply(w, w->right, w->u);
    for (int c = 0; c < w->size; c++) {
        double *values = task_values(w, c), common = w->u[c];
        for (size_t l = 0; l < w->lanes; l++)
            values[l] = common;
    }
    for (size_t i = 0; i < w->varying_count; i++)
        add_varying(w, i);
    add_tails(w);
}

/* The element of a row of either kind. */
static double element(const dual_work *w, int row, int column)
{
    const dual_program *p = w->program;

    if (row >= p->rows)
        return task_is_cut_column(w, column) ? rows_slot_element(w, row - p->rows, column) : 0.0;
    for (int e = p->start[column]; e < p->start[column + 1]; e++)
        if (p->row[e] == row)
            return p->value[e];
    return 0.0;
}

static void compute_row(dual_work *w, int row)
{
    double *values = task_watch(w, w->row_watch[row]), common = rows_dot_all(w, row, w->nonbasic);

    for (size_t l = 0; l < w->lanes; l++)
        values[l] = common;
    rows_gather(w, row, w->right);
    for (int c = 0; c < w->size; c++)
        if (w->right[c] != 0.0)
            add_scaled(values, w->right[c], task_values(w, c), w->lanes);
    for (size_t i = 0; i < w->varying_count; i++) {
        const dual_varying *varying = &w->varying[i];
        double factor = varying->row == row ? -1.0 : 0.0;
        if (varying->column >= 0 && is_in_force(w, varying->column))
            factor = element(w, row, varying->column);
        if (factor != 0.0)
            add_scaled(values, factor, gather(w, i), w->lanes);
    }
    if (row >= w->program->rows && rows_tail(w, row - w->program->rows, w->delta))
        add_scaled(values, -1.0, w->delta, w->lanes);
}

void lanes_compute(dual_work *w)
{
    compute_columns(w);
    for (int i = 0; i < w->watched_count; i++)
        compute_row(w, w->watched[i]);
    for (size_t l = 0; l < w->lanes; l++)
        w->violation[l] = 0.0;
    for (int c = 0; c < w->size; c++)
        lanes_move_column(w, c, (lanes_step){ 0.0, 0.0 });
    for (int i = 0; i < w->watched_count; i++)
        lanes_move_row(w, i, (lanes_step){ 0.0, 0.0 });
}

void lanes_compute_row(dual_work *w, int row)
{
    compute_row(w, row);
    lanes_move_row(w, w->row_watch[row], (lanes_step){ 0.0, 0.0 });
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* Padding is never read for a decision. */
static void move(double *restrict values, lanes_step step, const double *restrict delta, double low,
                 double high, double *restrict violation, size_t count)
{
#pragma omp simd
    for (size_t l = 0; l < count; l++) {
        double value = values[l] - (step.u * delta[l] + step.constant);
        double below = low - value, above = value - high;
        double miss = below > above ? below : above;
        values[l] = value;
        violation[l] += miss > 0.0 ? miss : 0.0;
    }
}

/* The same where nothing moves. */
static void check(const double *restrict values, double low, double high,
                  double *restrict violation, size_t count)
{
#pragma omp simd
    for (size_t l = 0; l < count; l++) {
        double below = low - values[l], above = values[l] - high;
        double miss = below > above ? below : above;
        violation[l] += miss > 0.0 ? miss : 0.0;
    }
}

static void move_line(dual_work *w, double *values, lanes_step step, double low, double high)
{
    bool moves = step.u != 0.0 || step.constant != 0.0;

    if (moves)
        move(values, step, w->delta, low, high, w->violation, w->lanes);
    else if (isfinite(low) || isfinite(high))
        check(values, low, high, w->violation, w->lanes);
}

/* Upper bounds by lane. */
static void move_bounded(dual_work *w, double *values, lanes_step step, int column)
{
    const double *upper = task_lane_upper(w, column);
    double low = w->low[column], tolerance = w->high[column] - w->upper[column];

    for (size_t l = 0; l < w->lanes; l++) {
        double value = values[l];
        if (step.u != 0.0 || step.constant != 0.0)
            value -= step.u * w->delta[l] + step.constant;
        double below = low - value, above = value - (upper[l] + tolerance);
        double miss = below > above ? below : above;
        values[l] = value;
        w->violation[l] += miss > 0.0 ? miss : 0.0;
    }
}

void lanes_move_column(dual_work *w, int position, lanes_step step)
{
    int column = w->kernel_column[position];

    if (w->lane_bound[column] >= 0)
        move_bounded(w, task_values(w, position), step, column);
    else
        move_line(w, task_values(w, position), step, w->low[column], w->high[column]);
}

void lanes_move_row(dual_work *w, int watched, lanes_step step)
{
    int row = w->watched[watched];

    move_line(w, task_watch(w, watched), step, w->row_low[row], w->row_high[row]);
}

void lanes_shift(dual_work *w, int column, const double *by)
{
    double *scatter = w->scatter_flips, *u = w->flipped;

    kernel_enter_column(w, column, u);
    for (int c = 0; c < w->size; c++)
        scatter[w->kernel_column[c]] = -u[c];
    scatter[column] = 1.0;
    for (int i = 0; i < w->watched_count; i++)
        add_scaled(task_watch(w, i), rows_dot(w, w->watched[i], scatter), by, w->lanes);
    for (int c = 0; c < w->size; c++) {
        add_scaled(task_values(w, c), -u[c], by, w->lanes);
        scatter[w->kernel_column[c]] = 0.0;
    }
    scatter[column] = 0.0;
}

void lanes_remove(dual_work *w, size_t lane)
{
    size_t last = --w->lanes;

    if (lane == last)
        return;
    w->lane[lane] = w->lane[last];
    w->violation[lane] = w->violation[last];
    for (int c = 0; c < w->size; c++)
        task_values(w, c)[lane] = task_values(w, c)[last];
    for (int i = 0; i < w->watched_count; i++)
        task_watch(w, i)[lane] = task_watch(w, i)[last];
    for (int u = 0; u < w->lane_uppers; u++)
        w->lane_upper[(size_t)u * w->lane_stride + lane] =
            w->lane_upper[(size_t)u * w->lane_stride + last];
}
