/*
 * rows.c - elements of rows and columns, and the slots of cuts.
 *
 * A cut's row is theta - slope . state >= intercept in scaled columns, divided by the scale of its
 * theta, so that the element of theta is one. Only its slope is stored. All scales are powers of
 * two, so a slot has the digits of its cut.
 */
#include "lp/dual/rows.h"

#include <math.h>
#include <string.h>

/* ---- slots ----------------------------------------------------------------------------------- */

static void clear_row(dual_work *w, int row)
{
    w->row_position[row] = w->row_watch[row] = -1;
    w->row_place[row] = LP_BASIC;
}

static bool is_alive(const lp_cuts *cuts, uint32_t cut)
{
    return cut < cuts->count && (!cuts->active || cuts->active[cut]);
}

/* A slot that constrains nothing. */
static void clear_slot(dual_work *w, int slot)
{
    int row = w->program->rows + slot;

    clear_row(w, row);
    w->slot_cut[slot] = NO_CUT;
    w->slot_theta[slot] = 0;
    w->row_lower[row] = w->row_low[row] = -INFINITY;
    w->row_upper[row] = w->row_high[row] = INFINITY;
    memset(w->slope + slot * w->program->states, 0, (size_t)w->program->states * sizeof *w->slope);
}

static lp_status load_cut(dual_work *w, int slot, uint32_t cut)
{
    const dual_program *p = w->program;
    const lp_cuts *cuts = w->cuts;
    int row = p->rows + slot, theta = program_theta(p, cuts->theta ? (int)cuts->theta[cut] : 0);
    double *slope = w->slope + slot * p->states, inverse = 1.0 / p->column_scale[theta];
    const double *from = cuts->slope[cut / cuts->chunk] + cut % cuts->chunk;
    double intercept = cuts->intercept[cut] * inverse;
    bool is_sound = fabs(cuts->intercept[cut]) <= LP_LARGEST;

    for (int j = 0; j < p->states; j++) {
        double value = from[(size_t)j * cuts->chunk];
        is_sound = is_sound && fabs(value) <= LP_LARGEST;
        slope[j] = value * (p->column_scale[p->layout.state[j]] * inverse);
    }
    w->slot_cut[slot] = cut;
    w->slot_theta[slot] = theta;
    w->row_lower[row] = intercept;
    w->row_low[row] = intercept - dual_tolerance(intercept);
    w->is_known[cut] = 1;
    return is_sound ? LP_OPTIMAL : LP_FAILED;
}

lp_status rows_load(dual_work *w)
{
    const dual_program *p = w->program;
    size_t bytes = (size_t)p->rows * sizeof *w->row_lower;
    lp_status end = LP_OPTIMAL;

    w->watched_count = 0;
    w->slots = w->set_slots = w->cuts ? (int)w->cuts->set_count : 0;
    memcpy(w->row_lower, p->row_lower, bytes);
    memcpy(w->row_upper, p->row_upper, bytes);
    memcpy(w->row_low, p->row_low, bytes);
    memcpy(w->row_high, p->row_high, bytes);
    for (int i = 0; i < p->rows; i++)
        clear_row(w, i);
    /* The search of runs knows no cuts. */
    for (int k = 0; k < w->thetas; k++)
        if (program_theta(p, k) < p->singles)
            end = LP_FAILED;
    for (int s = 0; s < w->slots; s++) {
        uint32_t cut = w->cuts->set[s];
        clear_slot(w, s);
        if (end == LP_OPTIMAL && is_alive(w->cuts, cut) && !w->is_known[cut])
            end = load_cut(w, s, cut);
    }
    return end;
}

lp_status rows_join(dual_work *w, uint32_t cut)
{
    if (!task_reserve_slots(w, w->slots + 1))
        return LP_NO_MEMORY;
    clear_slot(w, w->slots);
    return load_cut(w, w->slots++, cut);
}

void rows_forget(dual_work *w)
{
    for (int s = 0; s < w->slots; s++)
        if (w->slot_cut[s] != NO_CUT)
            w->is_known[w->slot_cut[s]] = 0;
    w->slots = 0;
}

/* ---- watched rows ---------------------------------------------------------------------------- */

void rows_watch(dual_work *w, int row)
{
    w->row_watch[row] = w->watched_count;
    w->watched[w->watched_count++] = row;
}

/* The last one moves into its place, with its values. */
void rows_unwatch(dual_work *w, int row)
{
    int at = w->row_watch[row], last = --w->watched_count;

    if (at != last) {
        memcpy(task_watch(w, at), task_watch(w, last), w->lanes * sizeof *w->watch);
        w->watched[at] = w->watched[last];
        w->row_watch[w->watched[at]] = at;
    }
    w->row_watch[row] = -1;
}

bool rows_can_fail(const dual_work *w, int row)
{
    return isfinite(w->row_lower[row]) || isfinite(w->row_upper[row]);
}

/* ---- elements -------------------------------------------------------------------------------- */

static double slot_dot(const dual_work *w, int slot, const double *by_column)
{
    const double *slope = w->slope + slot * w->program->states;
    const int *state = w->program->layout.state;
    double sum = by_column[w->slot_theta[slot]];

    for (int j = 0; j < w->program->states; j++)
        sum -= slope[j] * by_column[state[j]];
    return sum;
}

static double run_dot(const dual_program *p, int row, const double *by_column)
{
    int first = p->run[row];

    return task_dot(p->single + first, by_column + first, p->run[row + 1] - first);
}

static double elements_dot(const dual_program *p, int from, int to, const double *by_column)
{
    double sum = 0.0;

    for (int e = from; e < to; e++)
        sum += p->element[e] * by_column[p->column[e]];
    return sum;
}

double rows_dot(const dual_work *w, int row, const double *by_column)
{
    const dual_program *p = w->program;

    if (row >= p->rows)
        return slot_dot(w, row - p->rows, by_column);
    return run_dot(p, row, by_column) +
           elements_dot(p, p->row_start[row], p->row_fixed[row], by_column);
}

double rows_dot_all(const dual_work *w, int row, const double *by_column)
{
    const dual_program *p = w->program;

    if (row >= p->rows)
        return slot_dot(w, row - p->rows, by_column);
    return run_dot(p, row, by_column) +
           elements_dot(p, p->row_start[row], p->row_start[row + 1], by_column);
}

static double slot_size(const dual_work *w, int slot, const double *by_column)
{
    const double *slope = w->slope + slot * w->program->states;
    const int *state = w->program->layout.state;
    double sum = fabs(by_column[w->slot_theta[slot]]);

    for (int j = 0; j < w->program->states; j++)
        sum += fabs(slope[j] * by_column[state[j]]);
    return sum;
}

double rows_size(const dual_work *w, int row, const double *by_column)
{
    const dual_program *p = w->program;
    double sum = 0.0;

    if (row >= p->rows)
        return slot_size(w, row - p->rows, by_column);
    for (int j = p->run[row]; j < p->run[row + 1]; j++)
        sum += fabs(p->single[j] * by_column[j]);
    for (int e = p->row_start[row]; e < p->row_start[row + 1]; e++)
        sum += fabs(p->element[e] * by_column[p->column[e]]);
    return sum;
}

static void slot_add(const dual_work *w, int slot, double factor, double *by_column)
{
    const double *slope = w->slope + slot * w->program->states;
    const int *state = w->program->layout.state;

    by_column[w->slot_theta[slot]] += factor;
    for (int j = 0; j < w->program->states; j++)
        by_column[state[j]] -= factor * slope[j];
}

static void add_run(double *restrict to, double factor, const double *restrict from, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        to[i] += factor * from[i];
}

void rows_add_others(const dual_work *w, int row, double factor, double *by_column)
{
    const dual_program *p = w->program;

    if (row >= p->rows) {
        slot_add(w, row - p->rows, factor, by_column);
        return;
    }
    for (int e = p->row_start[row]; e < p->row_fixed[row]; e++)
        by_column[p->column[e]] += factor * p->element[e];
}

void rows_add(const dual_work *w, int row, double factor, double *by_column)
{
    const dual_program *p = w->program;
    int first = row < p->rows ? p->run[row] : 0;

    if (row < p->rows)
        add_run(by_column + first, factor, p->single + first, p->run[row + 1] - first);
    rows_add_others(w, row, factor, by_column);
}

static void gather_slot(const dual_work *w, int slot, double *by_position)
{
    const dual_program *p = w->program;
    const double *slope = w->slope + slot * p->states;
    int theta = w->position[w->slot_theta[slot]];

    if (theta >= 0)
        by_position[theta] = 1.0;
    for (int j = 0; j < p->states; j++) {
        int at = w->position[p->layout.state[j]];
        if (at >= 0)
            by_position[at] = -slope[j];
    }
}

void rows_gather(const dual_work *w, int row, double *by_position)
{
    const dual_program *p = w->program;

    for (int c = 0; c < w->size; c++)
        by_position[c] = 0.0;
    if (row >= p->rows) {
        gather_slot(w, row - p->rows, by_position);
        return;
    }
    for (int c = 0; c < w->size; c++) {
        int j = w->kernel_column[c];
        if (j >= p->run[row] && j < p->run[row + 1])
            by_position[c] = p->single[j];
    }
    for (int e = p->row_start[row]; e < p->row_fixed[row]; e++)
        if (w->position[p->column[e]] >= 0)
            by_position[w->position[p->column[e]]] += p->element[e];
}

double rows_slot_element(const dual_work *w, int slot, int column)
{
    int entry = w->program->state_of[column];

    if (entry >= 0)
        return -w->slope[slot * w->program->states + entry];
    return w->slot_theta[slot] == column ? 1.0 : 0.0;
}

void rows_add_column(const dual_work *w, int column, double factor, double *by_position)
{
    const dual_program *p = w->program;

    for (int e = p->start[column]; e < p->start[column + 1]; e++) {
        int at = w->row_position[p->row[e]];
        if (at >= 0)
            by_position[at] += factor * p->value[e];
    }
    if (!task_is_cut_column(w, column))
        return;
    for (int r = 0; r < w->size; r++)
        if (w->kernel_row[r] >= p->rows)
            by_position[r] += factor * rows_slot_element(w, w->kernel_row[r] - p->rows, column);
}

bool rows_tail(const dual_work *w, int slot, double *by_lane)
{
    const lp_cuts *cuts = w->cuts;
    size_t states = w->program->layout.states, dimension = w->program->layout.dimension;
    uint32_t cut = w->slot_cut[slot];

    if (dimension <= states || cut == NO_CUT)
        return false;
    double scale = 1.0 / w->program->column_scale[w->slot_theta[slot]];
    const double *slope = cuts->slope[cut / cuts->chunk] + cut % cuts->chunk;
    for (size_t l = 0; l < w->lanes; l++)
        by_lane[l] = 0.0;
    for (size_t j = states; j < dimension; j++) {
        const double *tail = w->group->tail + (j - states) * w->group->lanes;
        double factor = slope[j * cuts->chunk] * scale;
        for (size_t l = 0; l < w->lanes; l++)
            by_lane[l] += factor * tail[w->lane[l]];
    }
    return true;
}
