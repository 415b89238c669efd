/*
 * answer.c - objective by lane; gradient once for all lanes of a basis.
 */
#include "lp/dual/answer.h"

#include <math.h>
#include <string.h>

#include "lp/dual/lanes.h"
#include "lp/dual/price.h"
#include "lp/dual/rows.h"
#include "lp/dual/start.h"

/* What residuals and wrong reduced costs may add to an objective, by 1 + its magnitude. */
#define LOSS 1e-10

/* ---- objective ------------------------------------------------------------------------------- */

static double varying_cost(const dual_work *w, size_t lane)
{
    double sum = 0.0;

    for (size_t i = 0; i < w->varying_count; i++) {
        int j = w->varying[i].column;
        if (j >= 0 && w->position[j] < 0 && w->program->cost[j] != 0.0)
            sum += w->program->cost[j] * (lanes_nonbasic_of(w, j, lane) - w->nonbasic[j]);
    }
    return sum;
}

/* Scaled. */
static double objective_of(const dual_work *w, size_t lane)
{
    double sum = w->shared_cost + varying_cost(w, lane);

    for (int c = 0; c < w->size; c++)
        sum += w->program->cost[w->kernel_column[c]] * task_values(w, c)[lane];
    return sum;
}

/* ---- the check ------------------------------------------------------------------------------- */

/* What moves the bounds of a row in a lane. */
static double shift_of(dual_work *w, int row, size_t lane)
{
    double shift = 0.0;

    if (row >= w->program->rows)
        return rows_tail(w, row - w->program->rows, w->delta) ? w->delta[lane] : 0.0;
    for (size_t i = 0; i < w->varying_count; i++)
        if (w->varying[i].row == row)
            shift += w->varying[i].value[w->lane[lane]] * w->program->row_scale[row];
    return shift;
}

/* What the values of watched rows differ by from the columns' at `by_column`. */
static double watch_error(dual_work *w, const double *by_column, size_t lane)
{
    double largest = 0.0;

    for (int i = 0; i < w->watched_count; i++) {
        int row = w->watched[i];
        double value = rows_dot_all(w, row, by_column) - shift_of(w, row, lane);
        double error = fabs(value - task_watch(w, i)[lane]) / (1.0 + fabs(value));
        largest = error > largest ? error : largest;
    }
    return largest;
}

/* Whether the values of the columns satisfy the kernel's rows in a lane, and are those that watched
 * rows were computed from. */
static bool holds_in(dual_work *w, size_t lane, double loss)
{
    const dual_program *p = w->program;
    double residual = 0.0, size = 0.0, objective = objective_of(w, lane);

    lanes_point(w, lane, w->scatter);
    for (int r = 0; r < w->size; r++) {
        int row = w->kernel_row[r];
        bool is_upper = w->row_place[row] == LP_AT_UPPER;
        double side = (is_upper ? w->row_upper[row] : w->row_lower[row]) + shift_of(w, row, lane);
        double miss = fabs(rows_dot_all(w, row, w->scatter) - side);
        loss += miss * fabs(w->y[r]);
        residual = miss > residual ? miss : residual;
        size = fabs(side) > size ? fabs(side) : size;
    }
    double error = watch_error(w, w->scatter, lane);
    memset(w->scatter, 0, (size_t)p->columns * sizeof *w->scatter);
    /* Written so that NaN does not hold. */
    return loss <= LOSS * (1.0 + fabs(objective)) && residual <= LOSS * (1.0 + size) &&
           error <= LOSS;
}

bool answer_holds(dual_work *w)
{
    w->shared_cost = task_dot(w->program->cost, w->nonbasic, w->program->columns);
    double loss = price_loss(w);
    size_t first = w->done[0], last = w->done[w->done_count - 1];

    return holds_in(w, first, loss) && (last == first || holds_in(w, last, loss));
}

/* ---- answers --------------------------------------------------------------------------------- */

static void write_gradient(const dual_work *w, double *gradient)
{
    const dual_program *p = w->program;
    const lp_layout *layout = &p->layout;

    for (size_t i = 0; i < layout->gradients; i++) {
        int j = layout->gradient[i];
        gradient[i] = price_column(w, j) / (p->column_scale[j] * p->objective_scale);
    }
}

/* The dual of a cut in the units of the program. */
static double cut_dual(const dual_work *w, int position)
{
    int slot = w->kernel_row[position] - w->program->rows;

    return w->y[position] /
           (w->program->column_scale[w->slot_theta[slot]] * w->program->objective_scale);
}

static void write_tail_gradient(const dual_work *w, double *gradient)
{
    const lp_layout *layout = &w->program->layout;
    size_t states = layout->states;

    for (size_t j = states; j < layout->dimension; j++)
        gradient[j - states] = 0.0;
    for (int r = 0; r < w->size && layout->dimension > states; r++) {
        int slot = w->kernel_row[r] - w->program->rows;
        if (slot < 0)
            continue;
        uint32_t cut = w->slot_cut[slot];
        const double *slope = w->cuts->slope[cut / w->cuts->chunk] + cut % w->cuts->chunk;
        for (size_t j = states; j < layout->dimension; j++)
            gradient[j - states] += cut_dual(w, r) * slope[j * w->cuts->chunk];
    }
}

static void count_cuts(const dual_work *w)
{
    const lp_answers *out = w->answers;

    for (int r = 0; r < w->size; r++) {
        int slot = w->kernel_row[r] - w->program->rows;
        if (slot < 0)
            continue;
        if (out->tight)
            out->tight[w->slot_cut[slot]] = 1;
        if (out->hits && cut_dual(w, r) > w->group->activity_tolerance)
            out->hits[w->slot_cut[slot]] += (uint32_t)w->done_count;
    }
}

static void write_primal(const dual_work *w, size_t lane, double *primal)
{
    const dual_program *p = w->program;

    lanes_point(w, lane, w->scatter);
    for (int j = 0; j < p->columns; j++)
        primal[p->order[j]] = w->scatter[j] * p->column_scale[j];
    memset(w->scatter, 0, (size_t)p->columns * sizeof *w->scatter);
}

static void write_duals(const dual_work *w, double *duals)
{
    const dual_program *p = w->program;

    for (int i = 0; i < p->rows; i++)
        duals[i] = w->row_position[i] < 0
                       ? 0.0
                       : w->y[w->row_position[i]] * (p->row_scale[i] / p->objective_scale);
}

static void answer_basis(const dual_work *w)
{
    lp_answers *out = w->answers;
    const lp_layout *layout = &w->program->layout;
    size_t length = layout->gradients + layout->dimension - layout->states;

    count_cuts(w);
    if (!out->gradient)
        return;
    double *gradient = out->gradient + out->bases * length;
    write_gradient(w, gradient);
    write_tail_gradient(w, gradient + layout->gradients);
}

void answer_lanes(dual_work *w)
{
    lp_answers *out = w->answers;
    double inverse = 1.0 / w->program->objective_scale;

    answer_basis(w);
    for (size_t i = 0; i < w->done_count; i++) {
        size_t lane = w->done[i], number = w->lane[lane];
        if (out->objective)
            out->objective[number] = objective_of(w, lane) * inverse;
        if (out->which)
            out->which[number] = (uint32_t)out->bases;
        if (out->primal)
            write_primal(w, lane, out->primal + number * (size_t)w->program->columns);
        if (out->duals)
            write_duals(w, out->duals + number * (size_t)w->program->rows);
        if (number == 0)
            start_keep(w);
    }
    out->bases++;
}
