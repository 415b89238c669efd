/*
 * result.c - copies a stage's solution into the arrays of a result.
 *
 * Columns that the program omits are zero. Prices are duals: of the load row per hour of the block,
 * of the water balance as it stands (zero or negative where more water would be of use). Output
 * page, 5.
 */
#include "sddp/result.h"

#include <string.h>

typedef struct reader {
    const stage_lp *program;
    const double *primal, *duals;
    double *memory; /* advances as arrays are taken from it */
    size_t blocks;
} reader;

size_t result_length(const sddp *study, size_t stage)
{
    const cobre_case *in = study->input;
    size_t blocks = in->stages[stage].block_count;
    size_t by_block = 7 * in->hydro_count + in->thermal_count + 2 * in->line_count +
                      5 * in->bus_count;

    return by_block * blocks + 7 * in->hydro_count;
}

static double *take(reader *r, size_t count)
{
    double *array = r->memory;

    r->memory += count;
    return array;
}

/* A whole region of columns. */
static const double *region(reader *r, int first, size_t count)
{
    double *array = take(r, count);

    if (count > 0)
        memcpy(array, r->primal + first, count * sizeof *array);
    return array;
}

/* `width` columns an entity from first[entity], zeros where it has none. */
static const double *optional(reader *r, const int *first, size_t entities, size_t width)
{
    double *array = take(r, entities * width);

    for (size_t i = 0; i < entities; i++)
        for (size_t k = 0; k < width; k++)
            array[i * width + k] = first[i] == NO_COLUMN ? 0.0 : r->primal[first[i] + (int)k];
    return array;
}

static void read_hydros(reader *r, sddp_stage_result *out, const double *state)
{
    const stage_lp *p = r->program;
    size_t hydros = p->input->hydro_count, blocks = r->blocks;
    double *initial = take(r, hydros), *slack = take(r, hydros), *value = take(r, hydros);

    out->turbined = region(r, p->turbined, hydros * blocks);
    out->spilled = region(r, p->spilled, hydros * blocks);
    out->diverted = optional(r, p->diverted, hydros, blocks);
    out->outflow_below = optional(r, p->outflow_below, hydros, blocks);
    out->outflow_above = optional(r, p->outflow_above, hydros, blocks);
    out->turbined_below = optional(r, p->turbined_below, hydros, blocks);
    out->generation_below = optional(r, p->generation_below, hydros, blocks);
    out->withdrawal_neg = optional(r, p->withdrawal_neg, hydros, 1);
    out->withdrawal_pos = optional(r, p->withdrawal_pos, hydros, 1);
    out->storage_final = region(r, p->storage, hydros);
    out->inflow = region(r, p->inflow, hydros);
    for (size_t h = 0; h < hydros; h++) {
        initial[h] = state[h];
        slack[h] = p->inflow_slack == NO_COLUMN ? 0.0 : r->primal[p->inflow_slack + (int)h];
        value[h] = r->duals[p->balance + (int)h] * COST_SCALE;
    }
    out->storage_initial = initial;
    out->inflow_slack = slack;
    out->water_value = value;
}

static void read_deficit(reader *r, size_t bus, double *power, double *cost)
{
    const stage_lp *p = r->program;
    const cobre_bus *entity = &p->input->buses[bus];

    for (size_t k = 0; k < r->blocks; k++) {
        power[k] = cost[k] = 0.0;
        for (size_t s = 0; s < entity->segment_count; s++) {
            int j = p->deficit[bus] + (int)(s * r->blocks + k);
            power[k] += r->primal[j];
            cost[k] += r->primal[j] * p->program.cost[j] * COST_SCALE;
        }
    }
}

static void read_buses(reader *r, sddp_stage_result *out, const double *noise)
{
    const stage_lp *p = r->program;
    size_t buses = p->input->bus_count, blocks = r->blocks, cells = buses * blocks;
    double *power = take(r, cells), *cost = take(r, cells);
    double *load = take(r, cells), *price = take(r, cells);

    for (size_t i = 0; i < buses; i++) {
        read_deficit(r, i, power + i * blocks, cost + i * blocks);
        for (size_t k = 0; k < blocks; k++) {
            double hours = p->input->stages[p->stage].blocks[k].hours;
            size_t cell = i * blocks + k;
            load[cell] = stage_lp_load(p, i, k, noise);
            price[cell] = r->duals[p->load + (int)cell] * COST_SCALE / hours;
        }
    }
    out->deficit_mw = power;
    out->deficit_cost = cost;
    out->load_mw = load;
    out->spot_price = price;
    out->excess_mw = region(r, p->excess, cells);
}

void result_fill(sddp_stage_result *out, double *memory, const sddp *study, size_t stage,
                 const lp *model, const double *state, const double *noise)
{
    const stage_lp *p = &study->programs[stage];
    const cobre_case *in = study->input;
    reader r = { p, lp_primal(model), lp_duals(model), memory, in->stages[stage].block_count };

    out->stage = stage;
    out->blocks = r.blocks;
    out->objective = lp_objective(model) * COST_SCALE;
    out->future_cost = p->theta_cost * r.primal[p->theta] * COST_SCALE;
    out->discount = study->discount[stage];
    read_hydros(&r, out, state);
    out->thermal_mw = region(&r, p->thermal, in->thermal_count * r.blocks);
    out->direct_mw = region(&r, p->direct, in->line_count * r.blocks);
    out->reverse_mw = region(&r, p->reverse, in->line_count * r.blocks);
    read_buses(&r, out, noise);
}
