/*
 * task.h - the state of one call of dual_solve, and the memory for it.
 *
 * Words of the room: a *row* is a structural row of the program or a cut that was brought in; its
 * number is that of the row, or the number of rows plus the *slot* of the cut. A row of the kernel
 * has a *position* there, and so has a basic column. A row outside the kernel that can become
 * infeasible is *watched*. A *lane* is a place among the lanes that are not answered yet.
 */
#ifndef LP_DUAL_TASK_H
#define LP_DUAL_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lp/dual/program.h"

/* A right-hand side or a value of a nonbasic column that differs from lane to lane. */
typedef struct dual_varying {
    int column;          /* or -1 */
    int row;             /* or -1: what its bounds are moved by */
    const double *value; /* by lane */
} dual_varying;

struct dual_work {
    const dual_program *program;
    const lp_group *group;
    const lp_cuts *cuts; /* NULL: none */
    lp_answers *answers;
    dual_totals totals;

    /* By column. Bounds are those of the program and the items that all lanes share. */
    double *lower, *upper, *low, *high;
    double *direction;  /* of what may enter: 1 from its lower bound, -1 from its upper, else 0 */
    double *alpha;      /* of the leaving row, by movable column with more than one element and by
                           candidate */
    double *price;      /* reduced costs of movable columns with more than one element; of all
                           movable ones after they were computed from y */
    double *nonbasic;   /* the value of a nonbasic column as far as all lanes share it, else 0 */
    double shared_cost; /* of those values (answer.c) */
    double *scatter;    /* zero but while a function uses it; and the next one */
    double *scatter_flips;
    int *position;     /* in the kernel, or -1 */
    int *lane_bound;   /* which of the uppers by lane is its bound, or -1 */
    uint8_t *place;    /* lp_place */
    uint8_t *is_boxed; /* LP_AT_LOWER or LP_AT_UPPER: the side where a far bound stands for a
                          missing one (start.h) */
    size_t column_room;
    int boxed; /* columns that are */

    /* By row, slots last. A cut's row: theta - slope . state >= intercept. */
    double *row_lower, *row_upper, *row_low, *row_high;
    int *row_position, *row_watch; /* where it is in the kernel, among the watched; or -1 */
    int *watched;                  /* rows, in any order */
    uint8_t *row_place;            /* LP_BASIC outside the kernel */
    size_t row_room;
    int watched_count;

    /* By slot. */
    double *slope;      /* [slot * states + entry], scaled */
    int *slot_theta;    /* the column */
    uint32_t *slot_cut; /* its number in the pool; NO_CUT: it constrains no more */
    size_t slope_room;
    int slots, set_slots; /* the first ones are the working set */
    int thetas;
    uint8_t *is_known; /* by cut: it has a slot */
    size_t known_room;

    /* The kernel: the inverse has a row by position of a column. */
    int size, stride, kernel_room;
    double *inverse, *elimination;
    int *kernel_column, *kernel_row;                   /* by position */
    double *y, *rho, *rho_other, *u, *flipped, *right; /* by position */
    size_t inverse_room, kernel_memory;
    int outside; /* rows of the kernel that are cuts from outside the working set */
    int pivots_left, pivots_since; /* of the task; since the last inversion */

    /* By lane. Rows of `values` and `watch` are lane_stride long. */
    size_t lanes, lane_stride, lane_room;
    size_t aside;      /* lanes after `lanes` that wait until the one in trouble is done */
    uint32_t *lane;    /* the group's number of a lane */
    double *violation; /* what its values exceed their limits by, summed */
    double *delta;     /* of the entering column */
    double *old;       /* bound of the entering column */
    uint32_t *done;
    size_t done_count;
    double *values; /* of basic columns, by position */
    double *watch;  /* of watched rows, less what moves their bounds by lane */
    size_t values_room, watch_room;

    /* Items that differ. */
    dual_varying *varying;
    double *varying_values;
    size_t varying_count, varying_room, varying_memory;
    double *lane_upper; /* [number * lane_stride + lane] */
    int lane_uppers;
    size_t lane_upper_memory;

    /* The ratio test: candidates and the columns that it flips. */
    int *candidate;
    double *size_of, *ratio, *inverse_of, *rho_of; /* the last: of the row of a single element */
    int *step_of;                                  /* to the next one of that row; or 0 */
    int *flips;
    int candidates, flip_count;
    size_t candidate_room;

    /* The search of the pool: outgoing states and thetas of the done lanes. */
    double *state, *worst;
    size_t state_room, worst_room;

    uint8_t *before_outside; /* the basis before cuts from outside the set entered */
    size_t basis_room;
    bool has_before_outside;
};

#define NO_CUT UINT32_MAX

/* Cleared places after the last candidate, for loops over several at once. */
#define CANDIDATE_SPARE 8

/* Memory for a group; false without. */
bool task_reserve(dual_work *w);

/* Memory for `count` slots and all that goes by row. Slots so far keep their content. */
bool task_reserve_slots(dual_work *w, int count);

/* Room for `count` numbers; content is kept. */
bool task_reserve_reals(double **array, size_t *room, size_t count);

/* Whether cuts hang on a column. */
static inline bool task_is_cut_column(const dual_work *w, int column)
{
    int theta = w->program->order[column] - w->program->layout.theta;

    return w->program->state_of[column] >= 0 || (theta >= 0 && theta < w->thetas);
}

/* The values of a basic column and of a watched row by lane. */
static inline double *task_values(const dual_work *w, int position)
{
    return w->values + (size_t)position * w->lane_stride;
}

static inline double *task_watch(const dual_work *w, int at)
{
    return w->watch + (size_t)at * w->lane_stride;
}

/* The row of the inverse of a basic column. */
static inline double *task_inverse(const dual_work *w, int position)
{
    return w->inverse + (size_t)position * (size_t)w->stride;
}

/* The upper bounds by lane of a column, or NULL: all lanes have the same. */
static inline double *task_lane_upper(const dual_work *w, int column)
{
    int number = w->lane_bound[column];

    return number < 0 ? NULL : w->lane_upper + (size_t)number * w->lane_stride;
}

/* Put a column at a bound, or into or out of the basis. */
static inline void task_set_place(dual_work *w, int column, lp_place place)
{
    bool is_low = place == LP_AT_LOWER || place == LP_FIXED;
    bool is_high = place == LP_AT_UPPER && w->lane_bound[column] < 0;

    w->place[column] = (uint8_t)place;
    w->direction[column] = place == LP_AT_LOWER ? 1.0 : place == LP_AT_UPPER ? -1.0 : 0.0;
    w->nonbasic[column] = is_low ? w->lower[column] : is_high ? w->upper[column] : 0.0;
}

/* Four sums side by side, so that the bits are the same by any vector instructions. */
static inline double task_dot(const double *a, const double *b, int count)
{
    double part[4] = { 0.0 }, rest = 0.0;
    int i = 0;

    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++)
            part[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        rest += a[i] * b[i];
    return ((part[0] + part[1]) + (part[2] + part[3])) + rest;
}

#endif
