/*
 * elastic.c - the elastic program of a stage: two more columns for each balance (of every block in
 * chronological stages), of water that comes from nowhere and that goes nowhere, two for each row
 * of a generic constraint, of what its left side lacks and has too much, and no cost but theirs.
 */
#include "sddp/stage/elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"

#include "sddp/program/items.h"

/* A smaller violation is rounding. */
#define SMALLEST 1e-6

/* The cost of a violated constraint, for each hm3 that it is worth, where water costs 1. */
#define ROW_COST 1e-3

/* The arrays of the elastic program, in two allocations. */
typedef struct elastic {
    int *start, *row;
    double *value, *lower, *upper, *cost;
} elastic;

static bool allocate(elastic *e, size_t columns, size_t elements)
{
    e->start = mcp_alloc((columns + 1 + elements) * sizeof *e->start);
    e->value = mcp_alloc_zeroed(3 * columns + elements, sizeof *e->value);
    if (!e->start || !e->value)
        return false;
    e->row = e->start + columns + 1;
    e->lower = e->value + elements;
    e->upper = e->lower + columns;
    e->cost = e->upper + columns;
    return true;
}

/* A column of one element. */
static void add_column(elastic *e, int j, int row, double value, double cost)
{
    int element = e->start[j];

    e->row[element] = row;
    e->value[element] = value;
    e->start[j + 1] = element + 1;
    e->upper[j] = LP_INFINITY;
    e->cost[j] = cost;
}

/* What may be violated in a stage. */
typedef struct elastic_parts {
    size_t each;     /* the water balances of a plant */
    size_t balances; /* of all plants */
    size_t rows;     /* of generic constraints */
} elastic_parts;

static elastic_parts parts_of(const stage_lp *stage)
{
    program_site site = program_site_of(stage->context, stage->stage);

    return (elastic_parts){ .each = site.balances,
                            .balances = site.balances * stage->input->hydro_count,
                            .rows = site.constraint_count };
}

/* By constraint row: its largest coefficient, so that a violation is worth as much whatever unit
 * the constraint is written in. */
static void measure_rows(double *scale, const stage_lp *stage, size_t count)
{
    const lp_program *p = &stage->program;
    int first = count > 0 ? stage->row[ROW_GENERIC][0] : 0;

    for (size_t i = 0; i < count; i++)
        scale[i] = 0.0;
    for (int element = 0; element < p->start[p->columns] && count > 0; element++) {
        int i = p->row[element] - first;
        if (i >= 0 && i < (int)count)
            scale[i] = fmax(scale[i], fabs(p->value[element]));
    }
    for (size_t i = 0; i < count; i++)
        if (scale[i] == 0.0) /* a constraint of nothing but constants */
            scale[i] = 1.0;
}

/* After the program's columns: of each balance one that takes water from nowhere and one that loses
 * it, then of each constraint row one that adds to its left side and one that takes from it. */
static void fill(elastic *e, const stage_lp *stage, const elastic_parts *parts, const double *scale)
{
    const lp_program *p = &stage->program;
    size_t columns = (size_t)p->columns, elements = (size_t)p->start[p->columns];
    int j = p->columns;

    memcpy(e->start, p->start, (columns + 1) * sizeof *e->start);
    memcpy(e->row, p->row, elements * sizeof *e->row);
    memcpy(e->value, p->value, elements * sizeof *e->value);
    memcpy(e->lower, p->lower, columns * sizeof *e->lower);
    memcpy(e->upper, p->upper, columns * sizeof *e->upper);
    for (size_t i = 0; i < parts->balances; i++, j += 2) {
        int row = stage->row[ROW_BALANCE][i / parts->each] + (int)(i % parts->each);
        add_column(e, j, row, -1.0, 1.0);
        add_column(e, j + 1, row, 1.0, 1.0);
    }
    for (size_t i = 0; i < parts->rows; i++, j += 2) {
        int row = stage->row[ROW_GENERIC][i];
        add_column(e, j, row, scale[i], ROW_COST);
        add_column(e, j + 1, row, -scale[i], ROW_COST);
    }
}

static lp *load(const stage_lp *stage, const elastic_parts *parts, const double *scale)
{
    const lp_program *p = &stage->program;
    size_t more = 2 * (parts->balances + parts->rows);
    size_t columns = (size_t)p->columns + more;
    elastic e = { 0 };
    lp *model = NULL;

    if (allocate(&e, columns, (size_t)p->start[p->columns] + more)) {
        fill(&e, stage, parts, scale);
        const lp_program program = { (int)columns, p->rows, e.start, e.row,        e.value,
                                     e.lower,      e.upper, e.cost,  p->row_lower, p->row_upper };
        if (lp_new(&model, &program, NULL) != MCP_OK)
            model = NULL;
    }
    free(e.start);
    free(e.value);
    return model;
}

/* Put a gap in its place among the largest; the new count. */
static size_t insert(elastic_gap *gaps, size_t count, size_t most, elastic_gap gap)
{
    size_t at = count < most ? count++ : most;

    for (; at > 0 && fabs(gaps[at - 1].amount) < fabs(gap.amount); at--)
        if (at < most)
            gaps[at] = gaps[at - 1];
    if (at < most)
        gaps[at] = gap;
    return count;
}

/* From the values of the columns after the program's. */
static void find(elastic_gaps *out, const elastic_parts *parts, const double *scale,
                 const double *water)
{
    const double *rows = water + 2 * parts->balances;

    for (size_t i = 0; i < parts->balances; i += parts->each) {
        elastic_gap gap = { i / parts->each, 0.0 };
        for (size_t k = i; k < i + parts->each; k++)
            gap.amount += water[2 * k] - water[2 * k + 1];
        if (fabs(gap.amount) > SMALLEST)
            out->hydro_count = insert(out->hydros, out->hydro_count, out->most, gap);
    }
    for (size_t i = 0; i < parts->rows; i++) {
        double worth = rows[2 * i] - rows[2 * i + 1];
        if (fabs(worth) > SMALLEST)
            out->row_count = insert(out->rows, out->row_count, out->most,
                                    (elastic_gap){ i, worth * scale[i] });
    }
}

void elastic_find(elastic_gaps *out, const stage_lp *stage, const double *values, size_t stride)
{
    const elastic_parts parts = parts_of(stage);
    double *scale = mcp_alloc((parts.rows + 1) * sizeof *scale);
    lp *model = NULL;

    out->hydro_count = out->row_count = 0;
    if (scale) {
        measure_rows(scale, stage, parts.rows);
        model = load(stage, &parts, scale);
    }
    if (model) {
        items_enter(stage, model, values, stride);
        if (lp_solve(model) == LP_OPTIMAL)
            find(out, &parts, scale, lp_primal(model) + stage->program.columns);
    }
    lp_free(model);
    free(scale);
}
