/*
 * scenarios.c - fills the stochastic data: statistics, series, external scenarios, a given tree.
 *
 * Rows keep their stage ids, because statistics may belong to pre-study stages. External scenarios
 * and openings name a stage by its index; layer 4 has checked that they are complete. Source: the
 * case page, sections 4 and 7.
 */
#include "case/build/builder.h"

/* ---- rows by hydro --------------------------------------------------------------------------- */

/* The table's rows of existing hydros in key order. */
static bool next_of_hydro(const cobre_builder *b, cobre_cursor *at)
{
    while (at->next < at->table->rows) {
        at->row = at->table->order[at->next++];
        int64_t id = cobre_table_int(at->table, COBRE_COL_ENTITY, at->row);
        at->entity = cobre_input_index(b->input, COBRE_HYDROS, id);
        if (at->entity != COBRE_NONE)
            return true;
    }
    return false;
}

static int32_t integer(const cobre_cursor *at, size_t column)
{
    return (int32_t)cobre_table_int(at->table, column, at->row);
}

static void set_stats(cobre_builder *b, cobre_scenarios *out)
{
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_INFLOW_STATS);
    cobre_inflow_stats *rows = cobre_make(b, at.table->rows, sizeof *rows);

    while (rows && next_of_hydro(b, &at))
        rows[out->inflow_stats_count++] = (cobre_inflow_stats){
            .hydro = at.entity,
            .stage_id = integer(&at, COBRE_COL_STAGE),
            .mean = cobre_cell_real(&at, COBRE_STATS_MEAN),
            .std = cobre_cell_real(&at, COBRE_STATS_STD),
        };
    out->inflow_stats = rows;
}

static void set_ar(cobre_builder *b, cobre_scenarios *out)
{
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_AR);
    cobre_ar_row *rows = cobre_make(b, at.table->rows, sizeof *rows);

    while (rows && next_of_hydro(b, &at))
        rows[out->ar_count++] = (cobre_ar_row){
            .hydro = at.entity,
            .stage_id = integer(&at, COBRE_COL_STAGE),
            .lag = (uint32_t)integer(&at, COBRE_AR_LAG),
            .coefficient = cobre_cell_real(&at, COBRE_AR_COEFFICIENT),
            .residual_ratio = cobre_cell_real(&at, COBRE_AR_RATIO),
        };
    out->ar = rows;
}

static void set_annual(cobre_builder *b, cobre_scenarios *out)
{
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_ANNUAL);
    cobre_annual_row *rows = cobre_make(b, at.table->rows, sizeof *rows);

    while (rows && next_of_hydro(b, &at))
        rows[out->annual_count++] = (cobre_annual_row){
            .hydro = at.entity,
            .stage_id = integer(&at, COBRE_COL_STAGE),
            .coefficient = cobre_cell_real(&at, COBRE_ANNUAL_COEFFICIENT),
            .mean = cobre_cell_real(&at, COBRE_ANNUAL_MEAN),
            .std = cobre_cell_real(&at, COBRE_ANNUAL_STD),
        };
    out->annual = rows;
}

static void set_history(cobre_builder *b, cobre_scenarios *out)
{
    cobre_cursor at = cobre_rows_of(b, COBRE_FILE_HISTORY);
    cobre_observation *rows = cobre_make(b, at.table->rows, sizeof *rows);

    while (rows && next_of_hydro(b, &at))
        rows[out->history_count++] = (cobre_observation){
            .hydro = at.entity,
            .date = integer(&at, COBRE_HISTORY_DATE),
            .value = cobre_cell_real(&at, COBRE_HISTORY_VALUE),
        };
    out->history = rows;
}

static void set_recent(cobre_builder *b, cobre_scenarios *out)
{
    const cobre_input *input = b->input;
    cobre_recent *rows = cobre_make(b, input->recent_count, sizeof *rows);

    for (size_t i = 0; i < input->recent_count && rows; i++) {
        const cobre_raw_recent *raw = &input->recent[i];
        size_t hydro = cobre_input_index(input, COBRE_HYDROS, raw->hydro);
        if (hydro != COBRE_NONE)
            rows[out->recent_count++] = (cobre_recent){ hydro, raw->start.day, raw->end.day,
                                                        raw->value };
    }
    out->recent = rows;
}

/* ---- by stage and scenario ------------------------------------------------------------------- */

/* Rows of a table whose first columns are stage index, number within the stage, and entity. */
struct cube {
    const cobre_table *table;
    cobre_registry registry; /* COBRE_NO_REGISTRY: the entity column is an index */
    size_t entities;
    uint32_t *counts; /* by stage */
    double **values;  /* by stage: [number * entities + entity] */
};

static size_t stage_of(const cobre_builder *b, const cobre_table *table, size_t row)
{
    int64_t stage = cobre_table_int(table, COBRE_EXT_STAGE, row);

    return stage >= 0 && stage < (int64_t)b->built->stage_count ? (size_t)stage : COBRE_NONE;
}

static void count_numbers(cobre_builder *b, struct cube *cube)
{
    for (size_t row = 0; row < cube->table->rows; row++) {
        size_t stage = stage_of(b, cube->table, row);
        uint32_t number = (uint32_t)cobre_table_int(cube->table, COBRE_EXT_SCENARIO, row);
        if (stage != COBRE_NONE && number >= cube->counts[stage])
            cube->counts[stage] = number + 1;
    }
}

static void make_stages(cobre_builder *b, struct cube *cube)
{
    for (size_t i = 0; i < b->built->stage_count && !b->failed; i++) {
        size_t cells = (size_t)cube->counts[i] * cube->entities;
        cube->values[i] = cobre_make(b, cells, sizeof **cube->values);
        for (size_t k = 0; k < cells && cube->values[i]; k++)
            cube->values[i][k] = NAN;
    }
}

static void place_values(cobre_builder *b, struct cube *cube)
{
    const cobre_table *table = cube->table;

    for (size_t row = 0; row < table->rows; row++) {
        size_t stage = stage_of(b, table, row);
        int64_t id = cobre_table_int(table, COBRE_EXT_ENTITY, row);
        size_t number = (size_t)cobre_table_int(table, COBRE_EXT_SCENARIO, row);
        size_t entity = cube->registry == COBRE_NO_REGISTRY
                            ? (size_t)id
                            : cobre_input_index(b->input, cube->registry, id);
        if (stage != COBRE_NONE && entity < cube->entities)
            cube->values[stage][number * cube->entities + entity] = cobre_table_real(
                table, COBRE_EXT_VALUE, row);
    }
}

/* False when the table is empty or memory is out. */
static bool fill_cube(cobre_builder *b, struct cube *cube)
{
    if (cube->table->rows == 0)
        return false;
    cube->counts = cobre_make(b, b->built->stage_count, sizeof *cube->counts);
    cube->values = cobre_make(b, b->built->stage_count, sizeof *cube->values);
    if (!cube->counts || !cube->values)
        return false;
    count_numbers(b, cube);
    make_stages(b, cube);
    if (!b->failed)
        place_values(b, cube);
    return !b->failed;
}

/* A file that no scheme uses may lack rows; it is left out. */
static void set_external(cobre_builder *b, cobre_file_id file, cobre_registry registry,
                         bool is_used, cobre_external *out)
{
    struct cube cube = { .table = &b->input->tables[file],
                         .registry = registry,
                         .entities = b->input->registries[registry].count };

    out->entities = cube.entities;
    if (!is_used || !fill_cube(b, &cube))
        return;
    out->counts = cube.counts;
    out->values = (const double *const *)cube.values;
}

static void set_openings(cobre_builder *b, cobre_scenarios *out)
{
    struct cube cube = { .table = &b->input->tables[COBRE_FILE_OPENINGS],
                         .entities = b->built->hydro_count };

    for (size_t i = 0; i < b->built->bus_count; i++)
        cube.entities += b->built->bus_is_stochastic[i];
    if (!fill_cube(b, &cube))
        return;
    out->opening_counts = cube.counts;
    out->openings = (const double *const *)cube.values;
}

void cobre_build_scenarios(cobre_builder *b)
{
    cobre_scenarios *out = &b->built->scenarios;
    const cobre_raw_source *one = &b->input->config.training_source;
    const cobre_raw_source *two = &b->input->config.simulation_source;

    set_stats(b, out);
    set_ar(b, out);
    set_annual(b, out);
    set_history(b, out);
    set_recent(b, out);
    set_external(b, COBRE_FILE_EXTERNAL_INFLOW, COBRE_HYDROS,
                 one->inflow == COBRE_EXTERNAL || two->inflow == COBRE_EXTERNAL, &out->inflow);
    set_external(b, COBRE_FILE_EXTERNAL_LOAD, COBRE_BUSES,
                 one->load == COBRE_EXTERNAL || two->load == COBRE_EXTERNAL, &out->load);
    set_external(b, COBRE_FILE_EXTERNAL_NCS, COBRE_SOURCES,
                 one->ncs == COBRE_EXTERNAL || two->ncs == COBRE_EXTERNAL, &out->ncs);
    set_openings(b, out);
    cobre_build_correlation(b);
}
