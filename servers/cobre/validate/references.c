/*
 * references.c - layer 3: every id that a file mentions exists.
 *
 * The field and column tables of the readers name the registries of their ids, so most of the layer
 * is one loop over tables. The format skips rows whose entity exists but whose stage does not; they
 * get a warning, because most of them are mistakes. Source: the errors page, section 5.3.
 */
#include "validate/layers.h"

#include "case/read/readers.h"

/* ---- registries ------------------------------------------------------------------------------ */

static void check_record(const cobre_input *input, cobre_registry registry,
                         const cobre_field *fields, const cobre_entity *record)
{
    for (const cobre_field *field = fields; field->path; field++) {
        if (field->refers == COBRE_NO_REGISTRY)
            continue;
        int64_t id = *(const int64_t *)(const void *)((const char *)record + field->offset);
        if (id == COBRE_ABSENT || cobre_input_find(input, field->refers, id))
            continue;
        cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_MISSING_REFERENCE,
                                                 3, registry, record, field->path);
        cobre_report_reference(input, &finding, field->path, id, field->refers);
    }
}

static void check_registry(const cobre_input *input, cobre_registry registry)
{
    const cobre_registry_items *items = &input->registries[registry];
    const cobre_field *fields = cobre_registry_fields(registry);

    for (size_t i = 0; i < items->count && fields; i++)
        check_record(input, registry, fields, cobre_registry_at(items, i));
}

/* ---- Parquet rows ---------------------------------------------------------------------------- */

static cobre_finding at_cell(cobre_severity severity, const cobre_input *input, cobre_file_id id,
                             size_t column, size_t row)
{
    return cobre_finding_row(severity, COBRE_KIND_MISSING_REFERENCE, 3, input, id, column, row);
}

static void check_column(const cobre_input *input, cobre_file_id id, size_t column)
{
    const cobre_table *table = &input->tables[id];
    const cobre_column *spec = &table->spec->columns[column];

    for (size_t i = 0; i < table->rows; i++) {
        size_t row = table->order[i];
        int64_t value = cobre_table_int(table, column, row);
        if (value == COBRE_ABSENT || cobre_input_find(input, spec->refers, value))
            continue;
        cobre_finding finding = at_cell(COBRE_SEVERITY_ERROR, input, id, column, row);
        cobre_report_reference(input, &finding, spec->name, value, spec->refers);
    }
}

/* Rows whose stage is no study stage, in files where such rows are skipped. */
static void warn_stages(const cobre_input *input, cobre_file_id id)
{
    const cobre_table *table = &input->tables[id];

    for (size_t i = 0; i < table->rows; i++) {
        size_t row = table->order[i];
        int64_t stage = cobre_table_int(table, COBRE_COL_STAGE, row);
        if (stage == COBRE_ABSENT || cobre_input_find(input, COBRE_STUDY_STAGES, stage))
            continue;
        cobre_finding finding = at_cell(COBRE_SEVERITY_WARNING, input, id, COBRE_COL_STAGE, row);
        cobre_report_reference(input, &finding, "stage_id", stage, COBRE_STUDY_STAGES);
    }
}

static void check_table(const cobre_input *input, cobre_file_id id)
{
    const cobre_table *table = &input->tables[id];

    for (size_t i = 0; table->rows > 0 && table->spec->columns[i].name; i++) {
        if (table->spec->columns[i].refers != COBRE_NO_REGISTRY)
            check_column(input, id, i);
    }
    bool is_override = table->rows > 0 && table->spec->repeats == COBRE_REPEATS_LAST_WINS &&
                       table->spec->columns[COBRE_COL_STAGE].refers == COBRE_NO_REGISTRY;
    if (is_override || id == COBRE_FILE_CONSTRAINT_BOUNDS || id == COBRE_FILE_HYPERPLANES)
        warn_stages(input, id);
}

/* ---- factors and initial conditions ---------------------------------------------------------- */

static void check_factor(const cobre_input *input, cobre_file_id file, cobre_severity severity,
                         const cobre_raw_factor *factor, cobre_registry registry,
                         const char *entity_key)
{
    cobre_finding finding = cobre_finding_in(severity, COBRE_KIND_MISSING_REFERENCE, 3,
                                             cobre_files_known[file].path, entity_key);

    finding.noun = cobre_registry_noun(registry);
    finding.has_entity_id = true;
    finding.entity_id = factor->entity;
    if (!cobre_input_find(input, registry, factor->entity))
        cobre_report_reference(input, &finding, entity_key, factor->entity, registry);
    finding.field = "stage_id";
    if (!cobre_input_find(input, COBRE_STUDY_STAGES, factor->stage))
        cobre_report_reference(input, &finding, "stage_id", factor->stage, COBRE_STUDY_STAGES);
}

static void check_factors(const cobre_input *input, cobre_file_id file, cobre_severity severity,
                          const cobre_raw_factors *factors, cobre_registry registry,
                          const char *entity_key)
{
    int64_t last = -1;

    for (size_t i = 0; i < factors->count; i++) {
        if (factors->items[i].entry != last)
            check_factor(input, file, severity, &factors->items[i], registry, entity_key);
        last = factors->items[i].entry;
    }
}

/* A hydro that initial_conditions.json names. */
static void check_initial(const cobre_input *input, int64_t hydro, const char *field,
                          cobre_severity severity)
{
    if (cobre_input_find(input, COBRE_HYDROS, hydro))
        return;
    cobre_finding finding = cobre_finding_in(severity, COBRE_KIND_MISSING_REFERENCE, 3,
                                             cobre_files_known[COBRE_FILE_INITIAL].path, field);
    finding.noun = "hydro";
    finding.has_entity_id = true;
    finding.entity_id = hydro;
    cobre_report_reference(input, &finding, "hydro_id", hydro, COBRE_HYDROS);
}

static void check_model(const cobre_input *input, int64_t hydro)
{
    if (cobre_input_find(input, COBRE_HYDROS, hydro))
        return;
    cobre_finding finding = cobre_finding_in(COBRE_SEVERITY_ERROR, COBRE_KIND_MISSING_REFERENCE, 3,
                                             cobre_files_known[COBRE_FILE_MODELS].path, "hydro_id");
    finding.noun = "hydro";
    finding.has_entity_id = true;
    finding.entity_id = hydro;
    cobre_report_reference(input, &finding, "hydro_id", hydro, COBRE_HYDROS);
}

static void check_storages(const cobre_input *input, const cobre_raw_storage *list, size_t count,
                           const char *field)
{
    for (size_t i = 0; i < count; i++)
        check_initial(input, list[i].hydro, field, COBRE_SEVERITY_ERROR);
}

void cobre_check_references(const cobre_input *input)
{
    for (size_t i = COBRE_BUSES; i <= COBRE_CONTRACTS; i++)
        check_registry(input, (cobre_registry)i);
    for (size_t i = 0; i < COBRE_FILE_COUNT; i++)
        check_table(input, (cobre_file_id)i);
    check_factors(input, COBRE_FILE_LOAD_FACTORS, COBRE_SEVERITY_ERROR, &input->load_factors,
                  COBRE_BUSES, "bus_id");
    check_factors(input, COBRE_FILE_SOURCE_FACTORS, COBRE_SEVERITY_ERROR, &input->source_factors,
                  COBRE_SOURCES, "ncs_id");
    check_factors(input, COBRE_FILE_EXCHANGE_FACTORS, COBRE_SEVERITY_WARNING,
                  &input->exchange_factors, COBRE_LINES, "line_id");
    check_storages(input, input->storages, input->storage_count, "storage.hydro_id");
    check_storages(input, input->filling_storages, input->filling_storage_count,
                   "filling_storage.hydro_id");
    for (size_t i = 0; i < input->past_inflow_count; i++)
        check_initial(input, input->past_inflows[i].hydro, "past_inflows.hydro_id",
                      cobre_input_asks_for_lags(input) ? COBRE_SEVERITY_ERROR
                                                       : COBRE_SEVERITY_WARNING);
    for (size_t i = 0; i < input->model_count; i++)
        check_model(input, input->models[i].hydro);
    for (size_t i = 0; i < input->recent_count; i++)
        check_initial(input, input->recent[i].hydro, "recent_observations.hydro_id",
                      COBRE_SEVERITY_WARNING);
}
