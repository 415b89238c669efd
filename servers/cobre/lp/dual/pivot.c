/*
 * pivot.c - chooses the leaving row, and changes basis, values and prices.
 *
 * The row with the largest infeasibility^2 / |rho|^2 leaves; with the inverse at hand the norm is
 * exact. The columns that the ratio test flips change the values first, then
 *
 *     delta = (x_leave - bound) / alpha_q    a number by lane
 *     x_C -= u delta      watched -= u_e delta      x_q = old bound + delta
 *     t = d_q / alpha_q   y += t rho                y of a row that joins = -t
 */
#include "lp/dual/pivot.h"

#include <math.h>
#include <string.h>

#include "lp/dual/kernel.h"
#include "lp/dual/lanes.h"
#include "lp/dual/price.h"
#include "lp/dual/rows.h"
#include "lp/dual/start.h"

/* What alpha by the row and by the column may differ by. */
#define AGREEMENT 1e-7

/* From this size of a kernel on, the norms of watched rows are dear: only those of the rows with
 * the largest infeasibilities are computed. */
#define SIZE_LARGE 100
#define ROWS_LARGE 4

/* So are those of more infeasible rows than this: a working set of a long cycle has hundreds. */
#define MISSES_LARGE 24

/* Of each term: 16 units in the last place, for its own sum and for the inverse. */
#define ROUNDING 0x1p-48

/* ---- what leaves ----------------------------------------------------------------------------- */

/* The infeasibility of a value, negative above its upper bound; 0 within tolerance. */
static double miss_of(double value, double lower, double upper, double low, double high)
{
    if (value < low)
        return lower - value;
    return value > high ? upper - value : 0.0;
}

static double miss_of_column(const dual_work *w, int position, size_t target)
{
    int j = w->kernel_column[position];
    const double *bound = task_lane_upper(w, j);
    double upper = bound ? bound[target] : w->upper[j];

    return miss_of(task_values(w, position)[target], w->lower[j], upper, w->low[j],
                   upper + (w->high[j] - w->upper[j]));
}

static double miss_of_row(const dual_work *w, int at, size_t target)
{
    int row = w->watched[at];

    return miss_of(task_watch(w, at)[target], w->row_lower[row], w->row_upper[row], w->row_low[row],
                   w->row_high[row]);
}

static double choose_column(const dual_work *w, size_t target, ratio_row *out)
{
    double best = 0.0;

    for (int c = 0; c < w->size; c++) {
        double miss = miss_of_column(w, c, target);
        if (miss == 0.0)
            continue;
        double score = miss * miss / task_dot(task_inverse(w, c), task_inverse(w, c), w->size);
        if (score > best) {
            best = score;
            *out = (ratio_row){ c, -1, miss > 0.0 ? 1.0 : -1.0, fabs(miss), task_inverse(w, c) };
        }
    }
    return best;
}

/* The least infeasibility of watched rows that are looked at: of a large kernel, that of the fourth
 * largest one. */
static double least_miss(const dual_work *w, size_t target)
{
    double largest[ROWS_LARGE] = { 0.0 };
    int misses = 0;

    if (w->size <= SIZE_LARGE && w->watched_count <= MISSES_LARGE)
        return 0.0;
    for (int i = 0; i < w->watched_count; i++) {
        double miss = fabs(miss_of_row(w, i, target));
        misses += miss > 0.0;
        for (int k = 0; k < ROWS_LARGE; k++)
            if (miss > largest[k]) {
                double next = largest[k];
                largest[k] = miss;
                miss = next;
            }
    }
    return w->size > SIZE_LARGE || misses > MISSES_LARGE ? largest[ROWS_LARGE - 1] : 0.0;
}

static void choose_row(dual_work *w, size_t target, double best, ratio_row *out)
{
    double least = least_miss(w, target);

    for (int i = 0; i < w->watched_count; i++) {
        double miss = miss_of_row(w, i, target);
        if (miss == 0.0 || fabs(miss) < least)
            continue;
        kernel_row_times(w, w->watched[i], w->rho_other);
        double score = miss * miss / (1.0 + task_dot(w->rho_other, w->rho_other, w->size));
        if (score > best) {
            double *rho = w->rho_other;
            best = score;
            w->rho_other = w->rho;
            w->rho = rho;
            *out = (ratio_row){ -1, w->watched[i], miss > 0.0 ? 1.0 : -1.0, fabs(miss), rho };
        }
    }
}

/* ---- flips ----------------------------------------------------------------------------------- */

/* Toggle the places of the flipped columns. What they do to the values is -flipped by position of a
 * column, and scatter_flips by column. */
static void flip_columns(dual_work *w)
{
    for (int r = 0; r < w->size; r++)
        w->right[r] = 0.0;
    for (int i = 0; i < w->flip_count; i++) {
        int j = w->flips[i];
        double by = (w->upper[j] - w->lower[j]) * w->direction[j];
        if (w->lane_bound[j] >= 0)
            continue;
        w->scatter_flips[j] = by;
        rows_add_column(w, j, by, w->right);
        task_set_place(w, j, w->place[j] == LP_AT_LOWER ? LP_AT_UPPER : LP_AT_LOWER);
    }
    kernel_multiply(w, w->right, w->flipped);
    for (int c = 0; c < w->size; c++)
        w->scatter_flips[w->kernel_column[c]] = -w->flipped[c];
}

/* Those whose range differs by lane change the values at once. */
static void flip_varying(dual_work *w)
{
    for (int i = 0; i < w->flip_count; i++) {
        int j = w->flips[i];
        const double *upper = task_lane_upper(w, j);
        if (!upper)
            continue;
        for (size_t l = 0; l < w->lanes; l++)
            w->delta[l] = (upper[l] - w->lower[j]) * w->direction[j];
        lanes_shift(w, j, w->delta);
        task_set_place(w, j, w->place[j] == LP_AT_LOWER ? LP_AT_UPPER : LP_AT_LOWER);
    }
}

static void forget_flips(dual_work *w)
{
    for (int i = 0; i < w->flip_count; i++)
        w->scatter_flips[w->flips[i]] = 0.0;
    for (int c = 0; c < w->size; c++)
        w->scatter_flips[w->kernel_column[c]] = 0.0;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* An exchange: what leaves (ratio_row), what enters, and their numbers. */
typedef struct exchange {
    ratio_row leaving;
    int column, position; /* that enters: a column, or the logical of a row of the kernel; or -1 */
    double alpha, d;
} exchange;

static void scatter_entering(dual_work *w, const exchange *e, double sign)
{
    for (int c = 0; c < w->size; c++)
        w->scatter[w->kernel_column[c]] = sign * w->u[c];
    if (e->column >= 0)
        w->scatter[e->column] = -sign;
}

/* The bound that the entering variable leaves, by lane. */
static void note_old_bounds(dual_work *w, const exchange *e)
{
    double common = 0.0;
    const double *by_lane = NULL;

    if (e->column < 0) {
        int row = w->kernel_row[e->position];
        common = w->row_place[row] == LP_AT_UPPER ? w->row_upper[row] : w->row_lower[row];
    } else {
        common = w->nonbasic[e->column];
        by_lane = w->place[e->column] == LP_AT_UPPER ? task_lane_upper(w, e->column) : NULL;
    }
    if (by_lane)
        memcpy(w->old, by_lane, w->lanes * sizeof *w->old);
    for (size_t l = 0; !by_lane && l < w->lanes; l++)
        w->old[l] = common;
}

static double flip_of_row(const dual_work *w, int row)
{
    return w->flip_count > 0 ? -rows_dot(w, row, w->scatter_flips) : 0.0;
}

/* By how much the entering variable moves in each lane. */
static void compute_delta(dual_work *w, const exchange *e)
{
    const ratio_row *leaving = &e->leaving;
    const double *values, *by_lane = NULL;
    double bound, constant;

    if (leaving->row >= 0) {
        int row = leaving->row;
        values = task_watch(w, w->row_watch[row]);
        bound = leaving->sigma > 0.0 ? w->row_lower[row] : w->row_upper[row];
        constant = flip_of_row(w, row);
    } else {
        int column = w->kernel_column[leaving->position];
        values = task_values(w, leaving->position);
        bound = leaving->sigma > 0.0 ? w->lower[column] : w->upper[column];
        by_lane = leaving->sigma > 0.0 ? NULL : task_lane_upper(w, column);
        constant = w->flip_count > 0 ? w->flipped[leaving->position] : 0.0;
    }
    double inverse = 1.0 / e->alpha;
    for (size_t l = 0; by_lane && l < w->lanes; l++)
        w->delta[l] = (values[l] - constant - by_lane[l]) * inverse;
    for (size_t l = 0; !by_lane && l < w->lanes; l++)
        w->delta[l] = (values[l] - constant - bound) * inverse;
}

/* All lines but the one that leaves. */
static void move_lanes(dual_work *w, const exchange *e)
{
    for (size_t l = 0; l < w->lanes; l++)
        w->violation[l] = 0.0;
    for (int c = 0; c < w->size; c++) {
        double constant = w->flip_count > 0 ? w->flipped[c] : 0.0;
        if (c != e->leaving.position)
            lanes_move_column(w, c, (lanes_step){ w->u[c], constant });
    }
    for (int i = 0; i < w->watched_count; i++) {
        int row = w->watched[i];
        if (row == e->leaving.row)
            continue;
        lanes_step step = { rows_dot(w, row, w->scatter), flip_of_row(w, row) };
        lanes_move_row(w, i, step);
    }
}

/* The values of what has entered: old bound + delta. */
static void write_entered(const dual_work *w, double *line)
{
    for (size_t l = 0; l < w->lanes; l++)
        line[l] = w->old[l] + w->delta[l];
}

/* ---- the basis ------------------------------------------------------------------------------- */

static bool is_outside(const dual_work *w, int row)
{
    return row >= w->program->rows + w->set_slots;
}

static void join_kernel(dual_work *w, int row, int position, double sigma, double price)
{
    w->outside += is_outside(w, row);
    w->kernel_row[position] = row;
    w->row_position[row] = position;
    w->row_place[row] = sigma > 0.0 ? LP_AT_LOWER : LP_AT_UPPER;
    w->y[position] = price;
}

/* A row leaves the kernel and is watched; its values are those of what has entered. */
static void leave_kernel(dual_work *w, int row)
{
    w->outside -= is_outside(w, row);
    w->row_position[row] = -1;
    w->row_place[row] = LP_BASIC;
    if (!rows_can_fail(w, row))
        return;
    rows_watch(w, row);
    write_entered(w, task_watch(w, w->row_watch[row]));
    lanes_move_row(w, w->row_watch[row], (lanes_step){ 0.0, 0.0 });
}

static void enter_column(dual_work *w, int column, int position)
{
    w->kernel_column[position] = column;
    w->position[column] = position;
    task_set_place(w, column, LP_BASIC);
    write_entered(w, task_values(w, position));
    lanes_move_column(w, position, (lanes_step){ 0.0, 0.0 });
}

static void leave_column(dual_work *w, int column, double sigma)
{
    w->position[column] = -1;
    task_set_place(w, column, sigma > 0.0 ? LP_AT_LOWER : LP_AT_UPPER);
}

/* A column and a row leave the kernel; the last ones move into the gaps. */
static void shrink(dual_work *w, int position, int row_position)
{
    int last = w->size - 1;

    kernel_column_by_logical(w, position, row_position);
    if (position != last) {
        w->kernel_column[position] = w->kernel_column[last];
        w->position[w->kernel_column[position]] = position;
        memcpy(task_values(w, position), task_values(w, last), w->lanes * sizeof *w->values);
    }
    if (row_position != last) {
        w->kernel_row[row_position] = w->kernel_row[last];
        w->row_position[w->kernel_row[row_position]] = row_position;
        w->y[row_position] = w->y[last];
    }
}

static void column_leaves(dual_work *w, const exchange *e)
{
    int position = e->leaving.position, gone = w->kernel_column[position];

    if (e->column >= 0) {
        kernel_column_by_column(w, position, w->u);
        leave_column(w, gone, e->leaving.sigma);
        enter_column(w, e->column, position);
        return;
    }
    int row = w->kernel_row[e->position];
    leave_column(w, gone, e->leaving.sigma);
    shrink(w, position, e->position);
    leave_kernel(w, row);
}

static void row_leaves(dual_work *w, const exchange *e, double t)
{
    int row = e->leaving.row, place = e->position;

    rows_unwatch(w, row);
    if (e->column >= 0) {
        place = w->size;
        kernel_row_by_column(w, w->u, e->leaving.rho, e->alpha);
        enter_column(w, e->column, place);
    } else {
        kernel_row_by_logical(w, place, e->leaving.rho);
        leave_kernel(w, w->kernel_row[place]);
    }
    join_kernel(w, row, place, e->leaving.sigma, -t);
}

static void change_basis(dual_work *w, const exchange *e)
{
    double t = e->d / e->alpha;

    int gone = e->leaving.row >= 0 ? -1 : w->kernel_column[e->leaving.position];

    price_move(w, t, e->leaving.rho);
    if (e->column >= 0)
        w->price[e->column] = 0.0;
    if (gone >= 0)
        w->price[gone] = -t;
    if (e->leaving.row >= 0)
        row_leaves(w, e, t);
    else
        column_leaves(w, e);
}

/* ---- rounding -------------------------------------------------------------------------------- */

/* Nonbasic columns at far bounds make terms that are large against their sum. Where rows depend on
 * one another, some are then satisfied but for rounding, which no pivot can mend: a program must
 * not be called infeasible for it. The rounding is bounded by the magnitudes of all terms that a
 * value is computed from: it is rho times the right-hand sides of the kernel's rows, and each of
 * these a sum over the row; that of a watched row is a sum over its own elements besides. */
static double rounding_of(dual_work *w, const ratio_row *leaving, size_t lane)
{
    double sum = 0.0;

    lanes_point(w, lane, w->scatter);
    if (leaving->row >= 0)
        sum = rows_size(w, leaving->row, w->scatter);
    for (int r = 0; r < w->size; r++)
        sum += fabs(leaving->rho[r]) * rows_size(w, w->kernel_row[r], w->scatter);
    memset(w->scatter, 0, (size_t)w->program->columns * sizeof *w->scatter);
    return ROUNDING * sum;
}

static void move_limit(dual_work *w, const ratio_row *leaving, double by)
{
    bool is_below = leaving->sigma > 0.0;

    if (leaving->row >= 0 && is_below)
        w->row_low[leaving->row] = w->row_lower[leaving->row] - by;
    else if (leaving->row >= 0)
        w->row_high[leaving->row] = w->row_upper[leaving->row] + by;
    else if (is_below)
        w->low[w->kernel_column[leaving->position]] =
            w->lower[w->kernel_column[leaving->position]] - by;
    else
        w->high[w->kernel_column[leaving->position]] =
            w->upper[w->kernel_column[leaving->position]] + by;
}

/* Whether the inverse is a fresh one and the leaving row misses its bound in a lane by no more than
 * the rounding of its terms. The limit of that bound is then moved beyond it, for this task. */
static bool is_rounding(dual_work *w, const ratio_row *leaving, size_t lane)
{
    if (w->pivots_since > 0)
        return false;
    double rounding = rounding_of(w, leaving, lane);
    /* Written so that NaN excuses nothing. */
    if (!(leaving->miss <= rounding) || !isfinite(rounding))
        return false;
    move_limit(w, leaving, 2.0 * rounding);
    return true;
}

/* ---- one pivot ------------------------------------------------------------------------------- */

/* u of what enters, and its alpha and d. */
static void prepare_entering(dual_work *w, int entering, exchange *e)
{
    int columns = w->program->columns;

    e->column = entering < columns ? entering : -1;
    e->position = entering < columns ? -1 : entering - columns;
    if (e->column >= 0) {
        e->alpha = w->alpha[e->column];
        e->d = price_column(w, e->column);
        kernel_enter_column(w, e->column, w->u);
    } else {
        e->alpha = -e->leaving.rho[e->position];
        e->d = w->y[e->position];
        kernel_enter_logical(w, e->position, w->u);
    }
}

static bool agrees(const dual_work *w, const exchange *e)
{
    double other = e->leaving.row >= 0 ? rows_dot(w, e->leaving.row, w->scatter)
                                       : w->u[e->leaving.position];

    return fabs(e->alpha - other) <= AGREEMENT * (1.0 + fabs(e->alpha));
}

static void move_and_change(dual_work *w, const exchange *e)
{
    if (w->flip_count > 0) {
        flip_varying(w);
        flip_columns(w);
    }
    note_old_bounds(w, e);
    compute_delta(w, e);
    move_lanes(w, e);
    forget_flips(w);
    scatter_entering(w, e, 0.0);
    change_basis(w, e);
    w->pivots_since++;
    w->pivots_left--;
    w->totals.pivots++;
}

pivot_end pivot_once(dual_work *w, size_t target)
{
    exchange e = { .leaving = { -1, -1, 0.0, 0.0, NULL } };
    double best = choose_column(w, target, &e.leaving);

    choose_row(w, target, best, &e.leaving);
    if (!e.leaving.rho)
        return PIVOT_UNSTABLE;
    int entering = ratio_test(w, &e.leaving, target);
    if (entering == RATIO_NONE)
        return is_rounding(w, &e.leaving, target) ? PIVOT_EXCUSED : PIVOT_BLOCKED;
    prepare_entering(w, entering, &e);
    scatter_entering(w, &e, 1.0);
    if (!agrees(w, &e)) {
        scatter_entering(w, &e, 0.0);
        return PIVOT_UNSTABLE;
    }
    if (e.leaving.row >= 0 && is_outside(w, e.leaving.row) && w->outside == 0)
        start_note_before_outside(w);
    move_and_change(w, &e);
    return PIVOT_DONE;
}
