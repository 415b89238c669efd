/*
 * start.c - builds the kernel that a basis names, and makes it dual feasible.
 *
 * The kept basis may name cuts that are gone or deactivated. A column or a row that leaves the
 * kernel singular, or not square, is left out of it. A wrong sign of a reduced cost is mended by
 * moving a boxed column to its other bound. What remains wrong makes the start one from the slack
 * basis.
 */
#include "lp/dual/start.h"

#include <math.h>
#include <string.h>

#include "lp/dual/kernel.h"
#include "lp/dual/price.h"
#include "lp/dual/rows.h"

/* A wrong sign up to here is rounding; up to there it does not count for a column that cannot be
 * moved. */
#define ROUNDING 1e-12
#define WRONG 1e-7

/* A reduced cost up to here is zero: the column may stay anywhere between its bounds. */
#define WRONG_FREE 1e-9

/* Stands for a bound that the cost of a column asks for and the program lacks. */
#define FAR 1e6

static bool is_boxed(const dual_work *w, int column)
{
    return isfinite(w->lower[column]) && isfinite(w->upper[column]);
}

/* The bound of a column that a basis names; the next best where it has none there. */
static lp_place place_of(const dual_work *w, int column, uint8_t named)
{
    bool has_lower = isfinite(w->lower[column]), has_upper = isfinite(w->upper[column]);

    if (program_is_fixed(w->program, column))
        return LP_FIXED;
    if (!has_lower && !has_upper)
        return LP_FREE;
    if (named == LP_AT_UPPER && has_upper)
        return LP_AT_UPPER;
    return has_lower ? LP_AT_LOWER : LP_AT_UPPER;
}

/* The side of a row in the kernel. */
static lp_place side_of(const dual_work *w, int row, uint8_t named)
{
    if (named == LP_AT_UPPER && isfinite(w->row_upper[row]))
        return LP_AT_UPPER;
    return isfinite(w->row_lower[row]) ? LP_AT_LOWER : LP_AT_UPPER;
}

static void watch_rows(dual_work *w)
{
    w->watched_count = 0;
    for (int row = 0; row < w->program->rows + w->slots; row++) {
        w->row_watch[row] = -1;
        if (w->row_position[row] < 0 && rows_can_fail(w, row))
            rows_watch(w, row);
    }
}

static void empty_kernel(dual_work *w)
{
    w->size = w->outside = 0;
    for (int j = 0; j < w->program->columns; j++)
        w->position[j] = -1;
    for (int row = 0; row < w->program->rows + w->slots; row++) {
        w->row_position[row] = -1;
        w->row_place[row] = LP_BASIC;
    }
}

/* ---- from the slack basis -------------------------------------------------------------------- */

static void box_lower(dual_work *w, int column)
{
    double upper = isfinite(w->upper[column]) ? w->upper[column] : 0.0;

    w->is_boxed[column] = LP_AT_LOWER;
    w->lower[column] = w->low[column] = upper - FAR;
    w->boxed++;
}

static void box_upper(dual_work *w, int column)
{
    double lower = isfinite(w->lower[column]) ? w->lower[column] : 0.0;

    w->is_boxed[column] = LP_AT_UPPER;
    w->upper[column] = w->high[column] = lower + FAR;
    w->boxed++;
}

static void place_by_cost(dual_work *w, int column)
{
    double cost = w->program->cost[column];

    if (cost > 0.0 && isinf(w->lower[column]))
        box_lower(w, column);
    if (cost < 0.0 && isinf(w->upper[column]))
        box_upper(w, column);
    task_set_place(w, column, place_of(w, column, cost < 0.0 ? LP_AT_UPPER : LP_AT_LOWER));
}

static void unbox(dual_work *w, int column)
{
    if (w->is_boxed[column] == LP_AT_LOWER)
        w->lower[column] = w->low[column] = -INFINITY;
    else
        w->upper[column] = w->high[column] = INFINITY;
    w->is_boxed[column] = 0;
    w->boxed--;
    if (w->position[column] < 0)
        task_set_place(w, column, place_of(w, column, LP_AT_LOWER));
}

box_end start_unbox(dual_work *w)
{
    box_end end = BOX_NONE;

    for (int j = 0; w->boxed > 0 && j < w->program->columns; j++) {
        if (!w->is_boxed[j] || w->place[j] != w->is_boxed[j])
            continue;
        if (fabs(price_column(w, j)) > WRONG_FREE)
            return BOX_UNBOUNDED;
        unbox(w, j);
        end = BOX_MOVED;
    }
    return end;
}

void start_from_slack(dual_work *w)
{
    empty_kernel(w);
    for (int j = 0; j < w->program->columns; j++)
        place_by_cost(w, j);
    w->pivots_since = 0;
    price_compute(w);
    watch_rows(w);
}

/* ---- from a basis ---------------------------------------------------------------------------- */

static int list_columns(dual_work *w, const uint8_t *basis)
{
    int count = 0;

    for (int j = 0; j < w->program->columns; j++) {
        uint8_t named = basis[w->program->order[j]];
        bool is_basic = named == LP_BASIC && !program_is_fixed(w->program, j);
        task_set_place(w, j, is_basic ? LP_BASIC : place_of(w, j, named));
        if (is_basic && count < w->kernel_room)
            w->kernel_column[count++] = j;
        else if (is_basic)
            return -1;
    }
    return count;
}

static int list_rows(dual_work *w, const uint8_t *basis)
{
    int count = 0, rows = w->program->rows + w->set_slots;

    for (int row = 0; row < rows; row++) {
        uint8_t named = basis[w->program->columns + row];
        if (named == LP_BASIC || !rows_can_fail(w, row))
            continue;
        if (count == w->kernel_room)
            return -1;
        w->row_place[row] = (uint8_t)side_of(w, row, named);
        w->kernel_row[count++] = row;
    }
    return count;
}

static void leave_out(dual_work *w, int columns, int rows)
{
    for (int c = w->size; c < columns; c++)
        task_set_place(w, w->kernel_column[c], place_of(w, w->kernel_column[c], LP_AT_LOWER));
    for (int r = w->size; r < rows; r++)
        w->row_place[w->kernel_row[r]] = LP_BASIC;
}

/* False: the start is one from the slack basis. */
static bool take_basis(dual_work *w, const uint8_t *basis)
{
    empty_kernel(w);
    int columns = list_columns(w, basis), rows = list_rows(w, basis);
    if (columns < 0 || rows < 0)
        return false;
    kernel_invert(w, columns, rows);
    leave_out(w, columns, rows);
    price_compute(w);
    return start_mend(w);
}

void start_from_basis(dual_work *w)
{
    if (!w->group->basis || !take_basis(w, w->group->basis))
        start_from_slack(w);
    else
        watch_rows(w);
}

bool start_refactor(dual_work *w)
{
    int size = w->size;

    kernel_invert(w, size, size);
    if (w->size < size)
        return false;
    price_compute(w);
    return true;
}

/* ---- signs of reduced costs ------------------------------------------------------------------ */

static bool mend_column(dual_work *w, int column)
{
    double d = w->price[column];
    lp_place place = (lp_place)w->place[column];
    double wrong = place == LP_AT_LOWER ? -d : place == LP_AT_UPPER ? d : fabs(d);

    if (wrong <= ROUNDING)
        return true;
    if (!is_boxed(w, column))
        return wrong <= WRONG;
    task_set_place(w, column, place == LP_AT_LOWER ? LP_AT_UPPER : LP_AT_LOWER);
    return true;
}

static bool mend_row(dual_work *w, int position)
{
    int row = w->kernel_row[position];
    bool is_upper = w->row_place[row] == LP_AT_UPPER;
    double wrong = is_upper ? w->y[position] : -w->y[position];

    if (wrong <= ROUNDING || w->row_lower[row] == w->row_upper[row])
        return true;
    if (isinf(is_upper ? w->row_lower[row] : w->row_upper[row]))
        return wrong <= WRONG;
    w->row_place[row] = is_upper ? LP_AT_LOWER : LP_AT_UPPER;
    return true;
}

bool start_mend(dual_work *w)
{
    for (int j = 0; j < w->program->movable; j++)
        if (w->position[j] < 0 && !mend_column(w, j))
            return false;
    for (int r = 0; r < w->size; r++)
        if (!mend_row(w, r))
            return false;
    return true;
}

/* ---- to bytes -------------------------------------------------------------------------------- */

void start_write(const dual_work *w, uint8_t *basis)
{
    size_t columns = (size_t)w->program->columns;

    for (size_t j = 0; j < columns; j++)
        basis[w->program->order[j]] = w->is_boxed[j] && w->place[j] != LP_BASIC ? LP_FREE
                                                                                : w->place[j];
    memcpy(basis + columns, w->row_place, (size_t)(w->program->rows + w->set_slots));
}

void start_note_before_outside(dual_work *w)
{
    if (!w->answers->keep)
        return;
    start_write(w, w->before_outside);
    w->has_before_outside = true;
}

void start_keep(const dual_work *w)
{
    size_t bytes = (size_t)(w->program->columns + w->program->rows + w->set_slots);

    if (w->answers->keep && w->outside == 0)
        start_write(w, w->answers->keep);
    else if (w->answers->keep && w->has_before_outside)
        memcpy(w->answers->keep, w->before_outside, bytes);
}
