/*
 * lp_instance.h - groups for the tests of the dual simplex, and the oracle: Clp itself, cold, at
 * tolerance 1e-11, with every active cut as a row.
 */
#ifndef TESTS_LP_INSTANCE_H
#define TESTS_LP_INSTANCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <coin/Clp_C_Interface.h>

#include "lp/dual/dual.h"

enum {
    COLUMNS_MAX = 160,
    ROWS_MAX = 60,
    ELEMENTS_MAX = 4000,
    CUTS_MAX = 1024,
    LANES_MAX = 256,
    ITEMS_MAX = 32,
    STATES_MAX = 24,
    CHUNK = 64,
};

typedef struct instance {
    int start[COLUMNS_MAX + 1], row[ELEMENTS_MAX];
    double value[ELEMENTS_MAX];
    double lower[COLUMNS_MAX], upper[COLUMNS_MAX], cost[COLUMNS_MAX];
    double row_lower[ROWS_MAX], row_upper[ROWS_MAX];
    lp_program program;

    lp_item item[ITEMS_MAX];
    int state[STATES_MAX], gradient[STATES_MAX];
    lp_layout layout;

    double intercept[CUTS_MAX], slope[CUTS_MAX / CHUNK][STATES_MAX * CHUNK];
    const double *chunk[CUTS_MAX / CHUNK];
    uint32_t theta[CUTS_MAX], set[CUTS_MAX];
    uint8_t active[CUTS_MAX];
    lp_cuts cuts;

    double values[ITEMS_MAX * LANES_MAX], tail[STATES_MAX * LANES_MAX];
    uint8_t basis[COLUMNS_MAX + ROWS_MAX + CUTS_MAX];
    lp_group group;
} instance;

typedef struct answers {
    double objective[LANES_MAX], gradient[LANES_MAX * STATES_MAX];
    double primal[LANES_MAX * COLUMNS_MAX], duals[LANES_MAX * ROWS_MAX];
    uint32_t which[LANES_MAX], hits[CUTS_MAX];
    uint8_t keep[COLUMNS_MAX + ROWS_MAX + CUTS_MAX], tight[CUTS_MAX];
    lp_answers out;
} answers;

/* A program without columns, rows or cuts, solved for one lane. */
static inline instance *instance_new(void)
{
    instance *in = calloc(1, sizeof *in);

    if (!in)
        abort();
    in->program = (lp_program){ 0,         0,         in->start, in->row,       in->value,
                                in->lower, in->upper, in->cost,  in->row_lower, in->row_upper };
    in->layout.item = in->item;
    in->layout.state = in->state;
    in->layout.gradient = in->gradient;
    for (int i = 0; i < CUTS_MAX / CHUNK; i++)
        in->chunk[i] = in->slope[i];
    in->cuts = (lp_cuts){ 0, in->intercept, in->chunk, CHUNK, NULL, NULL, in->set, 0 };
    in->group = (lp_group){ 1, in->values, in->tail, &in->cuts, NULL, 1e-10 };
    return in;
}

static inline answers *answers_new(void)
{
    answers *a = calloc(1, sizeof *a);

    if (!a)
        abort();
    a->out = (lp_answers){ .objective = a->objective,
                           .which = a->which,
                           .gradient = a->gradient,
                           .primal = a->primal,
                           .duals = a->duals,
                           .keep = a->keep,
                           .tight = a->tight,
                           .hits = a->hits };
    return a;
}

/* Append a column without elements; append an element to the last one. */
static inline int add_column(instance *in, double lower, double upper, double cost)
{
    int j = in->program.columns++;

    in->lower[j] = lower;
    in->upper[j] = upper;
    in->cost[j] = cost;
    in->start[j + 1] = in->start[j];
    return j;
}

static inline int add_row(instance *in, double lower, double upper)
{
    in->row_lower[in->program.rows] = lower;
    in->row_upper[in->program.rows] = upper;
    return in->program.rows++;
}

static inline void add_element(instance *in, int row, double value)
{
    int at = in->start[in->program.columns]++;

    in->row[at] = row;
    in->value[at] = value;
}

static inline void add_item(instance *in, lp_item_kind kind, int index)
{
    in->item[in->layout.items++] = (lp_item){ kind, index };
}

static inline double *slope_of(instance *in, size_t cut, size_t j)
{
    return &in->slope[cut / CHUNK][j * CHUNK + cut % CHUNK];
}

/* The bounds of a lane. */
static inline void lane_bounds(const instance *in, size_t lane, double *lower, double *upper,
                               double *row_lower, double *row_upper)
{
    memcpy(lower, in->lower, sizeof in->lower);
    memcpy(upper, in->upper, sizeof in->upper);
    memcpy(row_lower, in->row_lower, sizeof in->row_lower);
    memcpy(row_upper, in->row_upper, sizeof in->row_upper);
    for (size_t i = 0; i < in->layout.items; i++) {
        double value = in->values[i * in->group.lanes + lane];
        int at = in->item[i].index;
        if (in->item[i].kind == LP_ITEM_SHIFT) {
            row_lower[at] += value;
            row_upper[at] += value;
            continue;
        }
        upper[at] = value;
        if (in->item[i].kind == LP_ITEM_FIXED)
            lower[at] = value;
    }
}

static inline void add_cut_rows(Clp_Simplex *clp, const instance *in, size_t lane)
{
    size_t states = in->layout.states;

    for (size_t c = 0; c < in->cuts.count; c++) {
        int column[STATES_MAX + 1], start[2] = { 0, (int)states + 1 };
        double value[STATES_MAX + 1], bound = in->intercept[c], none = LP_INFINITY;
        const double *slope = in->slope[c / CHUNK] + c % CHUNK;
        if (in->cuts.active && !in->active[c])
            continue;
        for (size_t j = 0; j < states; j++) {
            column[j] = in->state[j];
            value[j] = -slope[j * CHUNK];
        }
        for (size_t j = states; j < in->layout.dimension; j++)
            bound += slope[j * CHUNK] * in->tail[(j - states) * in->group.lanes + lane];
        column[states] = in->layout.theta + (in->cuts.theta ? (int)in->theta[c] : 0);
        value[states] = 1.0;
        Clp_addRows(clp, 1, &bound, &none, start, column, value);
    }
}

/* Clp's answer for a lane: 0 optimal, 1 infeasible, 2 unbounded. */
static inline int oracle(const instance *in, size_t lane, double *objective)
{
    double lower[COLUMNS_MAX], upper[COLUMNS_MAX], row_lower[ROWS_MAX], row_upper[ROWS_MAX];
    Clp_Simplex *clp = Clp_newModel();

    lane_bounds(in, lane, lower, upper, row_lower, row_upper);
    Clp_setLogLevel(clp, 0);
    Clp_loadProblem(clp, in->program.columns, in->program.rows, in->start, in->row, in->value,
                    lower, upper, in->cost, row_lower, row_upper);
    add_cut_rows(clp, in, lane);
    Clp_setPrimalTolerance(clp, 1e-11);
    Clp_setDualTolerance(clp, 1e-11);
    Clp_dual(clp, 0);
    if (Clp_status(clp) != 0)
        Clp_primal(clp, 0);
    int status = Clp_status(clp);
    *objective = Clp_objectiveValue(clp);
    Clp_deleteModel(clp);
    return status;
}

/* Random numbers of the tests, 64-bit SplitMix; or, while `bytes` is set, what the bytes say, then
 * zeros. */
typedef struct chance {
    uint64_t state;
    const uint8_t *bytes;
    size_t left;
} chance;

static inline uint64_t chance_next(chance *c)
{
    if (c->bytes) {
        uint64_t byte = c->left > 0 ? *c->bytes : 0;
        c->bytes += c->left > 0;
        c->left -= c->left > 0;
        return byte;
    }
    uint64_t z = c->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A whole number from `low` to `high`. */
static inline int chance_in(chance *c, int low, int high)
{
    return low + (int)(chance_next(c) % (uint64_t)(high - low + 1));
}

static inline double chance_real(chance *c)
{
    return (double)(chance_next(c) >> 11) * 0x1p-53;
}

/*
 * The shape of the Brazilian system: four reservoirs in parallel systems and a transit node, 140
 * columns by 9 rows, mostly thermal plants; inflows vary. Columns: 4 storages, 4 inflows, 4
 * incoming storages, theta, then plants.
 */
static inline void make_brazil(instance *in, size_t lanes, size_t cuts, chance *c)
{
    static const double volume[] = { 200717.6, 19617.2, 51806.1, 12744.9 };
    static const double flow[] = { 39462.0, 6800.0, 5900.0, 6000.0 },
                        load[] = { 45515, 11692, 10811, 6507 };
    for (int i = 0; i < 4; i++)
        add_row(in, 0, 0); /* water: v + q + s - v0 - inflow = 0 */
    for (int i = 0; i < 4; i++)
        add_row(in, load[i], load[i]);
    add_row(in, 0, 0);
    for (int i = 0; i < 4; i++) {
        in->state[i] = add_column(in, 0, volume[i], 0);
        add_element(in, i, 1);
    }
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < 4; i++) {
            int j = add_column(in, 0, 0, 0);
            add_element(in, i, -1);
            add_item(in, LP_ITEM_FIXED, j);
            if (kind == 1)
                in->gradient[i] = j;
        }
    in->layout.theta = add_column(in, 0, LP_INFINITY, 1);
    for (int i = 0; i < 4; i++) {
        add_column(in, 0, flow[i], 0);
        add_element(in, i, 1);
        add_element(in, 4 + i, 1);
        add_column(in, 0, LP_INFINITY, 0.001);
        add_element(in, i, 1);
        static const double share[] = { 0.05, 0.05, 0.1, 0.8 },
                            price[] = { 1142.8, 2465.4, 5152.46, 5845.54 };
        for (int s = 0; s < 4; s++) {
            add_column(in, 0, share[s] * load[i], price[s]);
            add_element(in, 4 + i, 1);
        }
    }
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) {
            if (a == b || (a < 4 && b < 4 && (a + b) % 2 == 0))
                continue;
            add_column(in, 0, 500.0 * chance_in(c, 2, 12), 0.0005 * chance_in(c, 1, 4));
            add_element(in, a < 4 ? 4 + a : 8, -1);
            add_element(in, b < 4 ? 4 + b : 8, 1);
        }
    while (in->program.columns < 140) {
        int j = add_column(in, 0, 0, 10.0 + 1000.0 * chance_real(c) * chance_real(c));
        in->lower[j] = chance_in(c, 0, 2) ? 0.0 : 20.0 * chance_real(c);
        in->upper[j] = in->lower[j] + 10.0 + 600.0 * chance_real(c);
        add_element(in, 4 + (chance_in(c, 0, 9) < 5 ? 0 : chance_in(c, 1, 3)), 1);
    }
    in->layout.states = in->layout.dimension = in->layout.gradients = 4;
    in->group.lanes = lanes;
    for (size_t l = 0; l < lanes; l++)
        for (int i = 0; i < 4; i++) {
            static const double mean[] = { 39000, 6000, 7000, 8000 };
            in->values[(size_t)i * lanes + l] = mean[i] * (0.7 + 0.6 * chance_real(c));
            in->values[(size_t)(4 + i) * lanes + l] = volume[i] * 0.5;
        }
    /* Supports of a convex cost of the storages, so that many cuts are tight somewhere. */
    for (size_t k = 0; k < cuts; k++) {
        double value = 0.0;
        for (size_t i = 0; i < 4; i++) {
            double at = chance_real(c), top = 3000.0;
            *slope_of(in, k, i) = -top * (1.0 - at) * (1.0 - at);
            value += top * (1.0 - at) * (1.0 - at) * (1.0 - at) / 3.0 * volume[i];
            value -= *slope_of(in, k, i) * at * volume[i];
        }
        in->intercept[k] = value;
    }
    in->cuts.count = cuts;
}

/* Bounds around a value that rows can meet. */
static inline void random_bounds(chance *c, double at, double *lower, double *upper)
{
    int kind = chance_in(c, 0, 9);

    *lower = at - chance_in(c, 0, 6);
    *upper = at + chance_in(c, 0, 6);
    if (kind == 0)
        *lower = -LP_INFINITY;
    if (kind == 1 || kind == 2)
        *upper = LP_INFINITY;
    if (kind == 3)
        *lower = *upper = at;
    if (kind == 4) {
        *lower = -LP_INFINITY;
        *upper = LP_INFINITY;
    }
}

static inline void random_columns(instance *in, chance *c, int columns, int rows, double *activity)
{
    int dense = chance_in(c, 1, 4);

    for (int j = 0; j < columns; j++) {
        double at = chance_in(c, -4, 4), lower, upper;
        random_bounds(c, at, &lower, &upper);
        int cost = chance_in(c, -3, 9);
        if (lower <= -LP_INFINITY && upper >= LP_INFINITY)
            cost = chance_in(c, 0, 3) ? 0 : cost;
        add_column(in, lower, upper, cost);
        for (int i = 0; i < rows; i++)
            if (chance_in(c, 0, rows) < dense) {
                int value = chance_in(c, 1, 5) * (chance_in(c, 0, 1) ? 1 : -1);
                add_element(in, i, value);
                activity[i] += value * at;
            }
    }
}

static inline void random_rows(instance *in, chance *c, int rows, const double *activity)
{
    for (int i = 0; i < rows; i++) {
        random_bounds(c, activity[i], &in->row_lower[i], &in->row_upper[i]);
        if (chance_in(c, 0, 2) == 0)
            in->row_lower[i] = in->row_upper[i] = activity[i];
    }
    in->program.rows = rows;
}

/* Items of all kinds, of columns and rows that have none yet. */
static inline void random_items(instance *in, chance *c)
{
    bool is_used[COLUMNS_MAX] = { false };
    size_t lanes = in->group.lanes;

    for (int k = chance_in(c, 0, 5); k > 0; k--) {
        int j = chance_in(c, 0, in->program.columns - 1), i = chance_in(c, 0, in->program.rows - 1);
        bool is_row = chance_in(c, 0, 2) == 0, varies = chance_in(c, 0, 3) > 0;
        double *values = in->values + in->layout.items * lanes, base = 0.0;
        if (is_row) {
            add_item(in, LP_ITEM_SHIFT, i);
        } else if (is_used[j] || in->lower[j] <= -LP_INFINITY || in->upper[j] >= LP_INFINITY) {
            continue;
        } else {
            is_used[j] = true;
            base = in->lower[j];
            add_item(in, in->lower[j] == in->upper[j] ? LP_ITEM_FIXED : LP_ITEM_UPPER, j);
        }
        for (size_t l = 0; l < lanes; l++)
            values[l] = varies || l == 0 ? base + chance_in(c, 0, 3) : values[0];
    }
}

/* Cuts over some columns as state; a theta for each kind of cut. */
static inline void random_cuts(instance *in, chance *c, int states, int thetas)
{
    size_t count = (size_t)(chance_in(c, 0, 3) == 0 ? 0 : chance_in(c, 1, 150));
    size_t tails = (size_t)chance_in(c, 0, 2);

    in->layout.states = (size_t)states;
    in->layout.dimension = (size_t)states + tails;
    for (int j = 0; j < states; j++)
        in->state[j] = j;
    in->layout.theta = in->program.columns;
    for (int k = 0; k < thetas; k++)
        add_column(in, chance_in(c, 0, 1) ? 0 : -200, LP_INFINITY, 1);
    for (size_t k = 0; k < count; k++) {
        in->intercept[k] = chance_in(c, -20, 20);
        for (size_t j = 0; j < in->layout.dimension; j++)
            *slope_of(in, k, j) = chance_in(c, -4, 4);
        in->theta[k] = (uint32_t)chance_in(c, 0, thetas - 1);
        in->active[k] = chance_in(c, 0, 9) > 0;
    }
    for (size_t i = 0; i < tails * in->group.lanes; i++)
        in->tail[i] = chance_in(c, 0, 2);
    in->cuts.count = count;
    in->cuts.theta = thetas > 1 ? in->theta : NULL;
    in->cuts.active = chance_in(c, 0, 1) ? in->active : NULL;
    for (size_t k = 0; k < count; k++)
        if (chance_in(c, 0, 7) == 0)
            in->set[in->cuts.set_count++] = (uint32_t)k;
}

static inline void random_group(instance *in, chance *c)
{
    static const size_t lanes[] = { 1, 2, 3, 7, 8, 9, 20 };
    int rows = chance_in(c, 1, 14), columns = chance_in(c, 2, 40);
    double activity[ROWS_MAX] = { 0.0 };

    in->group.lanes = lanes[chance_in(c, 0, 6)];
    random_columns(in, c, columns, rows, activity);
    random_rows(in, c, rows, activity);
    random_items(in, c);
    random_cuts(in, c, chance_in(c, 1, columns < 5 ? columns : 5), chance_in(c, 1, 3));
    for (int j = 0; j < columns; j++)
        if (in->lower[j] == in->upper[j] && in->layout.gradients < STATES_MAX)
            in->gradient[in->layout.gradients++] = j;
}

#endif
