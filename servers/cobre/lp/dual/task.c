/*
 * task.c - memory that grows to the largest group so far.
 */
#include "lp/dual/task.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"

/* Slots for cuts that join, before memory has to grow. */
#define SLOTS_SPARE 16

static bool grow(double **array, size_t count)
{
    double *larger = mcp_realloc(*array, (count ? count : 1) * sizeof *larger);

    if (larger)
        *array = larger;
    return larger != NULL;
}

static bool grow_integers(int **array, size_t count)
{
    int *larger = mcp_realloc(*array, (count ? count : 1) * sizeof *larger);

    if (larger)
        *array = larger;
    return larger != NULL;
}

static bool grow_bytes(uint8_t **array, size_t count)
{
    uint8_t *larger = mcp_realloc(*array, count ? count : 1);

    if (larger)
        *array = larger;
    return larger != NULL;
}

static bool grow_numbers(uint32_t **array, size_t count)
{
    uint32_t *larger = mcp_realloc(*array, (count ? count : 1) * sizeof *larger);

    if (larger)
        *array = larger;
    return larger != NULL;
}

bool task_reserve_reals(double **array, size_t *room, size_t count)
{
    if (*array && count <= *room)
        return true;
    size_t larger = count + count / 2;
    if (!grow(array, larger))
        return false;
    *room = larger;
    return true;
}

static bool reserve_columns(dual_work *w, size_t n)
{
    double **reals[] = { &w->lower, &w->upper, &w->low,     &w->high,          &w->direction,
                         &w->alpha, &w->price, &w->scatter, &w->scatter_flips, &w->nonbasic };

    if (w->lower && n <= w->column_room)
        return true;
    bool fits = grow_integers(&w->position, n) && grow_integers(&w->lane_bound, n) &&
                grow_bytes(&w->place, n) && grow_bytes(&w->is_boxed, n);
    for (size_t i = 0; fits && i < sizeof reals / sizeof reals[0]; i++)
        fits = grow(reals[i], n);
    if (!fits)
        return false;
    memset(w->scatter, 0, n * sizeof *w->scatter);
    memset(w->scatter_flips, 0, n * sizeof *w->scatter_flips);
    w->column_room = n;
    return true;
}

static bool reserve_rows(dual_work *w, size_t rows)
{
    double **reals[] = { &w->row_lower, &w->row_upper, &w->row_low, &w->row_high };

    if (w->row_lower && rows <= w->row_room)
        return true;
    bool fits = grow_integers(&w->row_position, rows) && grow_integers(&w->row_watch, rows) &&
                grow_integers(&w->watched, rows) && grow_bytes(&w->row_place, rows) &&
                grow_integers(&w->slot_theta, rows) && grow_numbers(&w->slot_cut, rows);
    for (size_t i = 0; fits && i < sizeof reals / sizeof reals[0]; i++)
        fits = grow(reals[i], rows);
    if (fits)
        w->row_room = rows;
    return fits;
}

bool task_reserve_slots(dual_work *w, int count)
{
    size_t rows = (size_t)(w->program->rows + count), spare = rows + SLOTS_SPARE;
    size_t states = (size_t)w->program->states;

    return (rows <= w->row_room && w->row_lower ? true : reserve_rows(w, spare + rows / 2)) &&
           task_reserve_reals(&w->slope, &w->slope_room, (size_t)count * states + 1) &&
           task_reserve_reals(&w->watch, &w->watch_room, rows * w->lane_stride + 1);
}

static bool reserve_kernel(dual_work *w)
{
    size_t room = (size_t)w->kernel_room;
    double **reals[] = { &w->y, &w->rho, &w->rho_other, &w->u, &w->flipped, &w->right };

    if (!task_reserve_reals(&w->inverse, &w->inverse_room, 3 * room * (size_t)w->stride) ||
        !task_reserve_reals(&w->values, &w->values_room, room * w->lane_stride))
        return false;
    w->elimination = w->inverse + room * (size_t)w->stride;
    if (w->y && room <= w->kernel_memory)
        return true;
    bool fits = grow_integers(&w->kernel_column, room) && grow_integers(&w->kernel_row, room);
    for (size_t i = 0; fits && i < sizeof reals / sizeof reals[0]; i++)
        fits = grow(reals[i], room);
    if (fits)
        w->kernel_memory = room;
    return fits;
}

static bool reserve_lanes(dual_work *w)
{
    size_t items = w->program->layout.items, stride = w->lane_stride;

    if (!task_reserve_reals(&w->varying_values, &w->varying_memory, items * stride + 1) ||
        !task_reserve_reals(&w->lane_upper, &w->lane_upper_memory, items * stride + 1))
        return false;
    if (w->lane && stride <= w->lane_room)
        return true;
    if (!grow_numbers(&w->lane, stride) || !grow_numbers(&w->done, stride) ||
        !grow(&w->violation, stride) || !grow(&w->delta, stride) || !grow(&w->old, stride))
        return false;
    w->lane_room = stride;
    return true;
}

static bool reserve_items(dual_work *w, size_t items)
{
    if (w->varying && items <= w->varying_room)
        return true;
    dual_varying *larger = mcp_realloc(w->varying, (items + 1) * sizeof *larger);
    if (!larger)
        return false;
    w->varying = larger;
    w->varying_room = items;
    return true;
}

static bool reserve_candidates(dual_work *w, size_t count)
{
    if (w->candidate && count <= w->candidate_room)
        return true;
    if (!grow_integers(&w->candidate, count) || !grow_integers(&w->flips, count) ||
        !grow(&w->size_of, count) || !grow(&w->ratio, count) || !grow(&w->rho_of, count) ||
        !grow_integers(&w->step_of, count) || !grow(&w->inverse_of, count))
        return false;
    w->candidate_room = count;
    return true;
}

/* All cuts are unknown at first; a task leaves them so. */
static bool reserve_known(dual_work *w, size_t cuts)
{
    if (cuts <= w->known_room)
        return true;
    if (!grow_bytes(&w->is_known, cuts + cuts / 2))
        return false;
    memset(w->is_known, 0, cuts + cuts / 2);
    w->known_room = cuts + cuts / 2;
    return true;
}

static bool reserve_basis(dual_work *w, size_t bytes)
{
    if (w->before_outside && bytes <= w->basis_room)
        return true;
    if (!grow_bytes(&w->before_outside, bytes))
        return false;
    w->basis_room = bytes;
    return true;
}

/* 0 without cuts: the layout may then have no theta. */
static int count_thetas(const lp_layout *layout, const lp_cuts *cuts)
{
    uint32_t last = 0;

    if (!cuts || cuts->count == 0)
        return 0;
    if (layout->thetas > 0)
        return (int)layout->thetas;
    for (size_t c = 0; cuts->theta && c < cuts->count; c++)
        last = cuts->theta[c] > last ? cuts->theta[c] : last;
    return (int)last + 1;
}

bool task_reserve(dual_work *w)
{
    const dual_program *p = w->program;
    size_t set = w->cuts ? w->cuts->set_count : 0, n = (size_t)p->columns;

    w->thetas = count_thetas(&p->layout, w->cuts);
    /* Columns of a nonsingular kernel: the cuts have elements in these columns alone. */
    w->kernel_room = p->rows + p->states + w->thetas + 1;
    w->stride = (w->kernel_room + 7) & ~7;
    w->lane_stride = (w->group->lanes + 7) & ~(size_t)7;
    w->lanes = 0;
    if (!reserve_columns(w, n))
        return false;
    return task_reserve_slots(w, (int)set) && reserve_kernel(w) && reserve_lanes(w) &&
           reserve_items(w, p->layout.items) &&
           reserve_candidates(w, n + 2 * (size_t)w->kernel_room + CANDIDATE_SPARE) &&
           reserve_known(w, w->cuts ? w->cuts->count : 0) &&
           reserve_basis(w, n + (size_t)p->rows + set + 1);
}

mcp_status dual_work_new(dual_work **out, mcp_error *err)
{
    dual_work *w = mcp_alloc_zeroed(1, sizeof *w);

    if (!w)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an LP");
    *out = w;
    return MCP_OK;
}

void dual_work_free(dual_work *w)
{
    if (!w)
        return;
    double *reals[] = { w->lower,         w->upper,     w->low,       w->high,
                        w->direction,     w->alpha,     w->price,     w->scatter,
                        w->scatter_flips, w->row_lower, w->row_upper, w->row_low,
                        w->row_high,      w->slope,     w->inverse,   w->y,
                        w->rho,           w->rho_other, w->u,         w->flipped,
                        w->right,         w->violation, w->delta,     w->old,
                        w->values,        w->watch,     w->ratio,     w->varying_values,
                        w->lane_upper,    w->size_of,   w->state,     w->inverse_of,
                        w->worst,         w->nonbasic,  w->rho_of };
    int *whole[] = { w->position,  w->lane_bound, w->row_position,  w->row_watch,
                     w->watched,   w->slot_theta, w->kernel_column, w->kernel_row,
                     w->candidate, w->flips,      w->step_of };
    uint8_t *bytes[] = { w->place, w->is_boxed, w->row_place, w->is_known, w->before_outside };

    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        free(reals[i]);
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        free(whole[i]);
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        free(bytes[i]);
    free(w->slot_cut);
    free(w->lane);
    free(w->done);
    free(w->varying);
    free(w);
}

const dual_totals *dual_work_totals(const dual_work *work)
{
    return &work->totals;
}
