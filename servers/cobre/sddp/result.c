/*
 * result.c - copies a stage's solution into the memory of a result.
 *
 * The memory holds the objective, the future cost and the costs by category, then the arrays in one
 * order, in which both functions take them. Places without a column are zero; regions without one
 * have no memory and share an array of zeros. Prices are duals: of the load row per hour of the
 * block, of the water balance as it stands (zero or negative where more water would be of use).
 * Output page, 5.
 */
#include "sddp/result.h"

#include <string.h>

/* The first numbers of the memory. */
enum { OBJECTIVE, FUTURE_COST, COSTS, FIRST_ARRAY = COSTS + COST_CATEGORIES };

typedef struct reader {
    const stage_lp *program;
    const double *primal, *duals;
    double *memory; /* advances as arrays are taken from it */
    double *cost;   /* by category */
} reader;

static size_t columns_of(const stage_lp *p, column_region r)
{
    return (size_t)(p->first[r + 1] - p->first[r]);
}

size_t result_length(const sddp *study, size_t stage)
{
    const stage_lp *p = &study->programs[stage];
    const cobre_case *in = study->input;
    size_t length = FIRST_ARRAY + in->hydro_count * (1 + study->models.inflow.lags) +
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

/* NULL: the region has no columns. */
static const double *write_region(reader *in, column_region r)
{
    const stage_lp *p = in->program;

    if (columns_of(p, r) == 0)
        return NULL;
    double *values = take(in, p->values[r]);
    if (columns_of(p, r) < p->values[r])
        memset(values, 0, p->values[r] * sizeof *values);
    for (int j = p->first[r]; j < p->first[r + 1]; j++)
        values[p->place[j]] = in->primal[j];
    return values;
}

static void write_costs(const reader *in)
{
    const stage_lp *p = in->program;

    memset(in->cost, 0, COST_CATEGORIES * sizeof *in->cost);
    for (column_region r = 0; r < REGION_COUNT; r++) {
        cost_category category = region_columns[r].category;
        if (category >= COST_CATEGORIES)
            continue;
        for (int j = p->first[r]; j < p->first[r + 1]; j++)
            in->cost[category] += in->primal[j] * p->program.cost[j] * COST_SCALE;
    }
}

static void write_generation(reader *in, const double *const *value)
{
    const stage_lp *p = in->program;
    const program_site site = program_site_of(p->context, p->stage);
    double *power = take(in, p->input->hydro_count * p->blocks);

    for (size_t h = 0; h < p->input->hydro_count; h++)
        for (size_t k = 0; k < p->blocks; k++) {
            bool is_fpha = site_is_fpha(&site, h);
            const double *from = value[is_fpha ? REGION_GENERATION : REGION_TURBINED];
            size_t cell = h * p->blocks + k;
            power[cell] = from ? from[cell] : 0.0;
            if (!is_fpha)
                power[cell] *= site_productivity(&site, h);
        }
}

static void write_buses(reader *in, const double *noise)
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
}

/* Also turns the cost of generating into the cost of curtailing. */
static void write_sources(reader *in, const double *noise)
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
                in->cost[COST_CURTAILMENT] -= power * p->program.cost[column] * COST_SCALE;
        }
}

double result_write(double *memory, const sddp *study, size_t stage, const solve_output *solved,
                    const double *state, const double *noise)
{
    const stage_lp *p = &study->programs[stage];
    size_t hydros = study->input->hydro_count, lags = study->models.inflow.lags * hydros;
    reader in = { p, solved->primal, solved->duals, memory + FIRST_ARRAY, memory + COSTS };
    const double *value[REGION_COUNT];

    memory[OBJECTIVE] = solved->objective[0] * COST_SCALE;
    memory[FUTURE_COST] = stage_lp_future(p, in.primal) * COST_SCALE;
    write_costs(&in);
    for (column_region r = 0; r < REGION_COUNT; r++)
        value[r] = write_region(&in, r);
    write_generation(&in, value);
    write_buses(&in, noise);
    write_sources(&in, noise);
    double *water_value = take(&in, hydros);
    for (size_t h = 0; h < hydros; h++)
        water_value[h] = in.duals[p->row[ROW_BALANCE][h]] * COST_SCALE;
    if (lags > 0)
        memcpy(take(&in, lags), state + hydros, lags * sizeof *state);
    return memory[OBJECTIVE] - memory[FUTURE_COST];
}

/* The next array. */
static const double *next(const double **memory, size_t count)
{
    const double *array = *memory;

    *memory += count;
    return array;
}

void result_read(sddp_stage_result *out, const double *memory, const sddp *study, size_t stage,
                 const double *zeros)
{
    const stage_lp *p = &study->programs[stage];
    const cobre_case *in = study->input;
    size_t lags = study->models.inflow.lags * in->hydro_count;
    const double *from = memory + FIRST_ARRAY;

    *out = (sddp_stage_result){ .stage = stage, .blocks = p->blocks };
    out->objective = memory[OBJECTIVE];
    out->future_cost = memory[FUTURE_COST];
    out->discount = study->discount[stage];
    memcpy(out->cost, memory + COSTS, sizeof out->cost);
    memcpy(out->width, p->width, sizeof out->width);
    for (column_region r = 0; r < REGION_COUNT; r++)
        out->value[r] = columns_of(p, r) > 0 ? next(&from, p->values[r]) : zeros;
    out->generation_mw = next(&from, in->hydro_count * p->blocks);
    out->load_mw = next(&from, in->bus_count * p->blocks);
    out->spot_price = next(&from, in->bus_count * p->blocks);
    out->available_mw = next(&from, in->source_count * p->blocks);
    out->water_value = next(&from, in->hydro_count);
    out->lags = lags > 0 ? next(&from, lags) : NULL;
}
