/*
 * hydros.c - fills the hydros: their place in the cascade, geometry, planes, evaporation, filling
 * and history.
 *
 * Source: the case page, sections 4, 6.3, 6.8 and 6.10.
 */
#include <stdlib.h>
#include <string.h>

#include "case/build/builder.h"

static int compare_storages(const void *a, const void *b)
{
    int64_t x = ((const cobre_raw_storage *)a)->hydro, y = ((const cobre_raw_storage *)b)->hydro;

    return x < y ? -1 : x > y;
}

static const cobre_raw_storage *find_storage(const cobre_raw_storage *list, size_t count,
                                             int64_t hydro)
{
    const cobre_raw_storage key = { hydro, 0 };

    return count > 0 ? bsearch(&key, list, count, sizeof key, compare_storages) : NULL;
}

/* Of `storage` or, which the original does not read, of `filling_storage`; 0 without an entry. */
static double initial_storage(const cobre_builder *b, int64_t hydro)
{
    const cobre_input *input = b->input;
    const cobre_raw_storage *found = find_storage(input->storages, input->storage_count, hydro);

    if (!found && !b->is_original)
        found = find_storage(input->filling_storages, input->filling_storage_count, hydro);
    return found ? found->value : 0;
}

static double inflow_cost(const cobre_input *input, const cobre_raw_hydro *raw)
{
    double own = raw->costs[COBRE_COST_INFLOW];

    return isnan(own) ? input->penalties.costs[COBRE_COST_INFLOW] : own;
}

static cobre_hydro hydro_of(const cobre_builder *b, const cobre_raw_hydro *raw)
{
    bool fills = raw->filling && !b->is_original;
    cobre_hydro hydro = {
        .id = (int32_t)raw->head.id,
        .name = raw->head.name,
        .bus = cobre_input_index(b->input, COBRE_BUSES, raw->bus),
        .downstream = cobre_index_or_none(b, COBRE_HYDROS, raw->downstream),
        .diversion_downstream = cobre_index_or_none(b, COBRE_HYDROS, raw->diversion_downstream),
        .diversion_max_m3s = raw->diversion ? raw->diversion_max : 0,
        .productivity = isnan(raw->productivity) ? 0 : raw->productivity,
        .initial_storage_hm3 = initial_storage(b, raw->head.id),
        .inflow_nonnegativity_cost = inflow_cost(b->input, raw),
        .min_storage = raw->min_storage,
        .max_storage = raw->max_storage,
        .max_turbined = raw->max_turbined,
        .tailrace = raw->tailrace,
        .tailrace_coefficients = raw->tailrace_coefficients,
        .tailrace_points = raw->tailrace_points,
        .tailrace_count = raw->tailrace_count,
        .loss = raw->loss,
        .loss_value = raw->loss_value,
        .efficiency = raw->efficiency,
        .evaporates = raw->evaporation_json != NULL,
        .has_filling = fills,
        .filling_start = fills ? cobre_stage_index(b, raw->filling_start) : 0,
    };

    memcpy(hydro.evaporation_mm, raw->evaporation_mm, sizeof hydro.evaporation_mm);
    memcpy(hydro.evaporation_reference, raw->evaporation_reference,
           sizeof hydro.evaporation_reference);
    return hydro;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The rows of each hydro lie together, because the table is sorted by hydro first. */
static void set_geometry(cobre_builder *b, cobre_hydro *hydros)
{
    const cobre_table *table = &b->input->tables[COBRE_FILE_GEOMETRY];
    cobre_geometry *rows = cobre_make(b, table->rows, sizeof *rows);

    for (size_t i = 0; i < table->rows && rows; i++) {
        size_t row = table->order[i];
        int64_t id = cobre_table_int(table, COBRE_COL_ENTITY, row);
        size_t hydro = cobre_input_index(b->input, COBRE_HYDROS, id);
        rows[i] = (cobre_geometry){ cobre_table_real(table, COBRE_GEO_VOLUME, row),
                                    cobre_table_real(table, COBRE_GEO_HEIGHT, row),
                                    cobre_table_real(table, COBRE_GEO_AREA, row) };
        if (hydro == COBRE_NONE)
            continue;
        if (hydros[hydro].geometry_count++ == 0)
            hydros[hydro].geometry = &rows[i];
    }
}

static cobre_hyperplane plane_of(const cobre_table *table, size_t row, size_t stage)
{
    double kappa = cobre_table_real(table, COBRE_PLANE_KAPPA, row);

    return (cobre_hyperplane){
        .stage = stage,
        .plane_id = (int32_t)cobre_table_int(table, COBRE_PLANE_ID, row),
        .gamma_0 = cobre_table_real(table, COBRE_PLANE_0, row),
        .gamma_v = cobre_table_real(table, COBRE_PLANE_V, row),
        .gamma_q = cobre_table_real(table, COBRE_PLANE_Q, row),
        .gamma_s = cobre_table_real(table, COBRE_PLANE_S, row),
        .kappa = isnan(kappa) ? 1 : kappa,
    };
}

/* One hydro's rows from `begin` to `end`: those of a stage, then, which sort first in the table,
 * those of all stages. Rows of a stage that does not exist are skipped. */
static size_t add_planes(const cobre_builder *b, const cobre_table *table, size_t begin, size_t end,
                         cobre_hyperplane *out)
{
    size_t count = 0;

    for (int general = 0; general < 2; general++) {
        for (size_t i = begin; i < end; i++) {
            size_t row = table->order[i];
            int64_t id = cobre_table_int(table, COBRE_COL_STAGE, row);
            size_t stage = id == COBRE_ABSENT ? COBRE_NONE : cobre_stage_index(b, id);
            if ((id == COBRE_ABSENT) != (general == 1) || (!general && stage == COBRE_NONE))
                continue;
            out[count++] = plane_of(table, row, stage);
        }
    }
    return count;
}

static void set_planes(cobre_builder *b, cobre_hydro *hydros)
{
    const cobre_table *table = &b->input->tables[COBRE_FILE_HYPERPLANES];
    cobre_hyperplane *planes = cobre_make(b, table->rows, sizeof *planes);
    size_t end = 0;

    for (size_t begin = 0; begin < table->rows && planes; begin = end) {
        int64_t id = cobre_table_int(table, COBRE_COL_ENTITY, table->order[begin]);
        size_t hydro = cobre_input_index(b->input, COBRE_HYDROS, id);
        while (end < table->rows &&
               cobre_table_int(table, COBRE_COL_ENTITY, table->order[end]) == id)
            end++;
        if (hydro == COBRE_NONE)
            continue;
        hydros[hydro].planes = planes + begin;
        hydros[hydro].plane_count = add_planes(b, table, begin, end, planes + begin);
    }
}

static void set_past(const cobre_builder *b, cobre_hydro *hydros)
{
    for (size_t i = 0; i < b->input->past_inflow_count; i++) {
        const cobre_raw_past *past = &b->input->past_inflows[i];
        size_t hydro = cobre_input_index(b->input, COBRE_HYDROS, past->hydro);
        if (hydro == COBRE_NONE)
            continue;
        hydros[hydro].past_inflow = past->values;
        hydros[hydro].past_inflow_count = past->count;
    }
}

void cobre_build_hydros(cobre_builder *b)
{
    const cobre_registry_items *items = &b->input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *raw = items->items;
    cobre_hydro *hydros = cobre_make(b, items->count, sizeof *hydros);

    if (!hydros)
        return;
    for (size_t i = 0; i < items->count; i++)
        hydros[i] = hydro_of(b, &raw[i]);
    set_geometry(b, hydros);
    set_planes(b, hydros);
    set_past(b, hydros);
    b->built->hydros = hydros;
    b->built->hydro_count = items->count;
}
