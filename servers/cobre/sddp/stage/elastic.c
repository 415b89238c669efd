/*
 * elastic.c - the elastic program of a stage: two more columns for each balance (of every block in
 * chronological stages), of water that comes from nowhere and that goes nowhere, and no cost but
 * theirs.
 */
#include "sddp/stage/elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"

#include "sddp/program/items.h"

/* A smaller violation is rounding. */
#define SMALLEST_HM3 1e-6

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

static void add_column(elastic *e, int j, int row, double value)
{
    int element = e->start[j];

    e->row[element] = row;
    e->value[element] = value;
    e->start[j + 1] = element + 1;
    e->upper[j] = LP_INFINITY;
    e->cost[j] = 1.0;
}

/* The water balances of a plant. */
static size_t balances_of(const stage_lp *stage)
{
    return program_site_of(stage->context, stage->stage).balances;
}

/* Column n + 2i lets balance i take water from nowhere, column n + 2i + 1 lose it. */
static void fill(elastic *e, const stage_lp *stage)
{
    size_t each = balances_of(stage);
    const lp_program *p = &stage->program;
    size_t columns = (size_t)p->columns, elements = (size_t)p->start[p->columns];

    memcpy(e->start, p->start, (columns + 1) * sizeof *e->start);
    memcpy(e->row, p->row, elements * sizeof *e->row);
    memcpy(e->value, p->value, elements * sizeof *e->value);
    memcpy(e->lower, p->lower, columns * sizeof *e->lower);
    memcpy(e->upper, p->upper, columns * sizeof *e->upper);
    for (size_t i = 0; i < stage->input->hydro_count * each; i++) {
        int j = p->columns + 2 * (int)i, row = stage->row[ROW_BALANCE][i / each] + (int)(i % each);
        add_column(e, j, row, -1.0);
        add_column(e, j + 1, row, 1.0);
    }
}

static lp *load(const stage_lp *stage)
{
    const lp_program *p = &stage->program;
    size_t more = 2 * stage->input->hydro_count * balances_of(stage);
    size_t columns = (size_t)p->columns + more;
    elastic e = { 0 };
    lp *model = NULL;

    if (allocate(&e, columns, (size_t)p->start[p->columns] + more)) {
        fill(&e, stage);
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

    for (; at > 0 && fabs(gaps[at - 1].hm3) < fabs(gap.hm3); at--)
        if (at < most)
            gaps[at] = gaps[at - 1];
    if (at < most)
        gaps[at] = gap;
    return count;
}

size_t elastic_gaps(const stage_lp *stage, const double *values, size_t stride, elastic_gap *gaps,
                    size_t most)
{
    lp *model = load(stage);
    size_t count = 0, each = balances_of(stage);

    if (!model)
        return 0;
    items_enter(stage, model, values, stride);
    if (lp_solve(model) == LP_OPTIMAL) {
        const double *water = lp_primal(model) + stage->program.columns;
        for (size_t h = 0; h < stage->input->hydro_count; h++) {
            elastic_gap gap = { h, 0.0 };
            for (size_t i = h * each; i < (h + 1) * each; i++)
                gap.hm3 += water[2 * i] - water[2 * i + 1];
            if (fabs(gap.hm3) > SMALLEST_HM3)
                count = insert(gaps, count, most, gap);
        }
    }
    lp_free(model);
    return count;
}
