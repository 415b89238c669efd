/*
 * items.c - walks the varying parts of a program in one order, to list them and to give them
 * values.
 */
#include "sddp/program/items.h"

#include <string.h>

#include "sddp/program/stage_lp_int.h"

/* ---- the layout ------------------------------------------------------------------------------ */

/* The items in work; `item` is NULL while they are counted. */
typedef struct listing {
    size_t count;
    lp_item *item;
} listing;

static void add(listing *to, lp_item_kind kind, int index)
{
    if (to->item)
        to->item[to->count] = (lp_item){ kind, index };
    to->count++;
}

static bool ends_row(const stage_lp *stage, size_t term)
{
    return term + 1 == stage->moving_count ||
           stage->moving[term + 1].row != stage->moving[term].row;
}

static void list_items(listing *to, const stage_lp *stage)
{
    const cobre_case *in = stage->input;
    int hydros = (int)in->hydro_count, blocks = (int)stage->blocks;

    to->count = 0;
    for (int h = 0; h < hydros; h++)
        add(to, LP_ITEM_FIXED, stage->first[REGION_INCOMING] + h);
    for (int h = 0; h < hydros; h++)
        add(to, LP_ITEM_FIXED, stage->first[REGION_INFLOW] + h);
    for (size_t i = 0; i < in->bus_count; i++)
        for (int k = 0; stage->noise_of_bus[i] != NO_COLUMN && k < blocks; k++)
            add(to, LP_ITEM_SHIFT, stage->row[ROW_LOAD][i] + k);
    for (size_t j = 0; j < in->source_count; j++) {
        int first = stage->column[REGION_SOURCE][j];
        bool varies = stage->noise_of_source[j] != NO_COLUMN && first != NO_COLUMN;
        for (int k = 0; varies && k < blocks; k++)
            add(to, LP_ITEM_UPPER, first + k);
    }
    for (size_t i = 0; i < stage->moving_count; i++)
        if (ends_row(stage, i))
            add(to, LP_ITEM_SHIFT, stage->moving[i].row);
}

/* The gradient by the storages, and where the state has more, by the inflows too. */
static size_t list_gradient(const stage_lp *stage, int *columns)
{
    size_t hydros = stage->input->hydro_count, count = 0;

    for (size_t h = 0; h < hydros; h++)
        columns[count++] = stage->first[REGION_INCOMING] + (int)h;
    for (size_t h = 0; stage->context->state.dimension > hydros && h < hydros; h++)
        columns[count++] = stage->first[REGION_INFLOW] + (int)h;
    return count;
}

mcp_status stage_lp_lay(stage_lp *stage, mcp_arena *arena, mcp_error *err)
{
    size_t hydros = stage->input->hydro_count;
    listing all = { 0, NULL };

    list_items(&all, stage);
    all.item = mcp_arena_array(arena, all.count, sizeof *all.item);
    int *columns = mcp_arena_array(arena, hydros, 3 * sizeof *columns);
    if (!all.item || !columns)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the program of stage %zu",
                             stage->stage);
    list_items(&all, stage);
    for (size_t h = 0; h < hydros; h++)
        columns[h] = stage_lp_storage(stage, h);
    stage->layout = (lp_layout){ .items = all.count,
                                 .item = all.item,
                                 .states = hydros,
                                 .state = columns,
                                 .dimension = stage->context->state.dimension,
                                 .theta = stage->theta,
                                 .thetas = stage->width[REGION_THETA],
                                 .gradients = list_gradient(stage, columns + hydros),
                                 .gradient = columns + hydros };
    return MCP_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The rows of generic constraints that curtailed sources move. */
static void moved_rows(const stage_lp *stage, const double *noise, double *at, size_t stride)
{
    double moved = 0.0;

    for (size_t i = 0; i < stage->moving_count; i++) {
        const moving_term *term = &stage->moving[i];
        moved += term->coefficient * stage_lp_available(stage, term->source, term->block, noise);
        if (!ends_row(stage, i))
            continue;
        *at = -moved;
        at += stride;
        moved = 0.0;
    }
}

void items_of_noise(const stage_lp *stage, const double *noise, double *values, size_t stride)
{
    const cobre_case *in = stage->input;
    size_t hydros = in->hydro_count;
    const double *sigma = stage->context->inflow->sigma + stage->stage * hydros;
    double *at = values;

    for (size_t h = 0; h < hydros; h++, at += stride)
        *at = 0.0;
    for (size_t h = 0; h < hydros; h++, at += stride)
        *at = sigma[h] * noise[h];
    for (size_t i = 0; i < in->bus_count; i++)
        for (size_t k = 0; stage->noise_of_bus[i] != NO_COLUMN && k < stage->blocks; k++) {
            *at = stage_lp_load(stage, i, k, noise);
            at += stride;
        }
    for (size_t j = 0; j < in->source_count; j++) {
        bool varies = stage->noise_of_source[j] != NO_COLUMN &&
                      stage->column[REGION_SOURCE][j] != NO_COLUMN;
        for (size_t k = 0; varies && k < stage->blocks; k++) {
            *at = stage_lp_available(stage, j, k, noise);
            at += stride;
        }
    }
    moved_rows(stage, noise, at, stride);
}

void items_of_state(const stage_lp *stage, const double *state, const item_lanes *lanes,
                    double *values)
{
    const inflow_model *model = stage->context->inflow;
    size_t hydros = stage->input->hydro_count, count = lanes->count;
    const double *sigma = model->sigma + stage->stage * hydros;

    for (size_t h = 0; h < hydros; h++)
        for (size_t i = 0; i < count; i++)
            values[h * count + i] = state[i * lanes->state_stride + h];
    for (size_t h = 0; h < hydros; h++) {
        const double *random = lanes->noise + (hydros + h) * lanes->stride;
        const double *lags = state + hydros;
        double *inflow = values + (hydros + h) * count;
        double certain = inflow_certain(model, stage->stage, h, lags);
        for (size_t i = 0; i < count; i++) {
            if (i > 0 && lanes->state_stride > 0)
                certain = inflow_certain(model, stage->stage, h, lags + i * lanes->state_stride);
            inflow[i] = certain + random[i];
        }
        for (size_t i = 0; stage->truncates && sigma[h] > 0.0 && i < count; i++)
            inflow[i] = inflow[i] < 0.0 ? 0.0 : inflow[i];
    }
    for (size_t v = 2 * hydros; v < stage->layout.items; v++)
        memcpy(values + v * count, lanes->noise + v * lanes->stride, count * sizeof *values);
}

void items_enter(const stage_lp *stage, lp *model, const double *values, size_t stride)
{
    const lp_program *p = &stage->program;

    for (size_t v = 0; v < stage->layout.items; v++) {
        const lp_item *item = &stage->layout.item[v];
        double value = values[v * stride];
        switch (item->kind) {
        case LP_ITEM_FIXED:
            lp_set_column(model, item->index, value, value);
            break;
        case LP_ITEM_UPPER:
            lp_set_column(model, item->index, p->lower[item->index], value);
            break;
        case LP_ITEM_SHIFT:
            lp_set_row(model, item->index, p->row_lower[item->index] + value,
                       p->row_upper[item->index] + value);
            break;
        }
    }
}
