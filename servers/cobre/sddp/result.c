/*
 * result.c - copies a stage's solution into the arrays of a result.
 *
 * Places without a column are zero; regions without one share the study's array of zeros. Prices
 * are duals: of the load row per hour of the block, of the water balance as it stands (zero or
 * negative where more water would be of use). Output page, 5.
 */
#include "sddp/result.h"

#include <string.h>

typedef struct reader {
    const stage_lp *program;
    const double *primal, *duals;
    double *memory; /* advances as arrays are taken from it */
} reader;

static size_t columns_of(const stage_lp *p, column_region r)
{
    return (size_t)(p->first[r + 1] - p->first[r]);
}

size_t result_length(const sddp *study, size_t stage)
{
    const stage_lp *p = &study->programs[stage];
    const cobre_case *in = study->input;
    size_t length = in->hydro_count * (1 + study->models.inflow.lags) +
                    p->blocks * (in->hydro_count + 2 * in->bus_count + in->source_count);

    for (column_region r = 0; r < REGION_COUNT; r++)
        if (columns_of(p, r) > 0)
            length += p->values[r];
    return length;
}

size_t result_zeros(const sddp *study)
{
    size_t most = 0;

    for (size_t t = 0; t < study->stages; t++)
        for (column_region r = 0; r < REGION_COUNT; r++)
            if (study->programs[t].values[r] > most)
                most = study->programs[t].values[r];
    return most;
}

static double *take(reader *r, size_t count)
{
    double *array = r->memory;

    r->memory += count;
    return array;
}

static const double *read_region(reader *in, column_region r, const double *zeros)
{
    const stage_lp *p = in->program;

    if (columns_of(p, r) == 0)
        return zeros;
    double *values = take(in, p->values[r]);
    if (columns_of(p, r) < p->values[r])
        memset(values, 0, p->values[r] * sizeof *values);
    for (int j = p->first[r]; j < p->first[r + 1]; j++)
        values[p->place[j]] = in->primal[j];
    return values;
}

static void add_costs(const reader *in, double *cost)
{
    const stage_lp *p = in->program;

    for (column_region r = 0; r < REGION_COUNT; r++) {
        cost_category category = region_columns[r].category;
        if (category >= COST_CATEGORIES)
            continue;
        for (int j = p->first[r]; j < p->first[r + 1]; j++)
            cost[category] += in->primal[j] * p->program.cost[j] * COST_SCALE;
    }
}

static const double *read_generation(reader *in, const sddp_stage_result *out)
{
    const stage_lp *p = in->program;
    const program_site site = program_site_of(p->context, p->stage);
    double *power = take(in, p->input->hydro_count * p->blocks);

    for (size_t h = 0; h < p->input->hydro_count; h++)
        for (size_t k = 0; k < p->blocks; k++) {
            size_t cell = h * p->blocks + k;
            power[cell] = site_is_fpha(&site, h)
                              ? out->value[REGION_GENERATION][cell]
                              : out->value[REGION_TURBINED][cell] * site_productivity(&site, h);
        }
    return power;
}

static void read_buses(reader *in, sddp_stage_result *out, const double *noise)
{
    const stage_lp *p = in->program;
    size_t cells = p->input->bus_count * p->blocks;
    double *load = take(in, cells), *price = take(in, cells);

    for (size_t i = 0; i < p->input->bus_count; i++)
        for (size_t k = 0; k < p->blocks; k++) {
            double hours = p->input->stages[p->stage].blocks[k].hours;
            size_t cell = i * p->blocks + k;
            load[cell] = stage_lp_load(p, i, k, noise);
            price[cell] = in->duals[p->row[ROW_LOAD][i] + (int)k] * COST_SCALE / hours;
        }
    out->load_mw = load;
    out->spot_price = price;
}

/* Also turns the cost of generating into the cost of curtailing. */
static void read_sources(reader *in, sddp_stage_result *out, const double *noise)
{
    const stage_lp *p = in->program;
    size_t sources = p->input->source_count;
    double *available = take(in, sources * p->blocks);

    for (size_t j = 0; j < sources; j++)
        for (size_t k = 0; k < p->blocks; k++) {
            int column = stage_lp_column(p, REGION_SOURCE, j, k);
            double power = stage_lp_available(p, j, k, noise);
            available[j * p->blocks + k] = power;
            if (column != NO_COLUMN)
                out->cost[COST_CURTAILMENT] -= power * p->program.cost[column] * COST_SCALE;
        }
    out->available_mw = available;
}

void result_fill(sddp_stage_result *out, double *memory, const sddp *study, size_t stage,
                 const double *zeros, const lp *model, const double *state, const double *noise)
{
    const stage_lp *p = &study->programs[stage];
    size_t hydros = study->input->hydro_count;
    reader in = { p, lp_primal(model), lp_duals(model), memory };

    *out = (sddp_stage_result){ .stage = stage, .blocks = p->blocks };
    out->objective = lp_objective(model) * COST_SCALE;
    out->future_cost = stage_lp_future(p, in.primal) * COST_SCALE;
    out->discount = study->discount[stage];
    memcpy(out->width, p->width, sizeof out->width);
    for (column_region r = 0; r < REGION_COUNT; r++)
        out->value[r] = read_region(&in, r, zeros);
    add_costs(&in, out->cost);
    out->generation_mw = read_generation(&in, out);
    read_buses(&in, out, noise);
    read_sources(&in, out, noise);
    double *value = take(&in, hydros);
    for (size_t h = 0; h < hydros; h++)
        value[h] = in.duals[p->row[ROW_BALANCE][h]] * COST_SCALE;
    out->water_value = value;
    size_t lags = study->models.inflow.lags * hydros;
    double *lag = take(&in, lags);
    if (lags > 0)
        memcpy(lag, state + hydros, lags * sizeof *lag);
    out->lags = lags > 0 ? lag : NULL;
}
