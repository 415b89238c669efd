/*
 * coverage.c - layer 4: statistics cover every entity in every study stage of its life.
 *
 * A statistics file without rows counts as absent. One finding per entity lists its gaps, so that a
 * hydro without any row is one finding and not one per stage. Source: the errors page, section 5.4.
 */
#include "validate/layers.h"

/* The registry that a statistics file must cover. */
struct demand {
    cobre_file_id file;
    cobre_registry registry;
};

static bool has_row(const cobre_table *table, int64_t entity, int64_t stage)
{
    size_t low = 0, high = table->rows;

    while (low < high) {
        size_t middle = low + (high - low) / 2, row = table->order[middle];
        int64_t id = cobre_table_int(table, COBRE_COL_ENTITY, row);
        int64_t at = cobre_table_int(table, COBRE_COL_STAGE, row);
        if (id == entity && at == stage)
            return true;
        if (id < entity || (id == entity && at < stage))
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Hydros need rows in their stages of [entry, exit) only. */
static bool is_alive(cobre_registry registry, const cobre_entity *record, int64_t stage)
{
    if (registry != COBRE_HYDROS)
        return true;
    const cobre_raw_hydro *hydro = (const void *)record;
    return (hydro->entry == COBRE_ABSENT || stage >= hydro->entry) &&
           (hydro->exit == COBRE_ABSENT || stage < hydro->exit);
}

static void report_gap(const cobre_input *input, const struct demand *demand,
                       const cobre_entity *record, int64_t first, size_t missing)
{
    const char *noun = cobre_registry_noun(demand->registry);
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_COVERAGE_MISMATCH, 4,
                                             demand->registry, record, "stage_id");

    finding.file = cobre_files_known[demand->file].path;
    finding.message = cobre_report_text(
        input->report, "no row for %s %lld in stage %lld%s", noun, (long long)record->id,
        (long long)first,
        missing > 1 ? cobre_report_text(input->report, " and %zu further stages", missing - 1)
                    : "");
    finding.suggestion = cobre_report_text(
        input->report, "Add a row for every study stage of %s %lld.", noun, (long long)record->id);
    finding.members = COBRE_MEMBERS(COBRE_TEXT("missing_dimension", "stage_id"),
                                    COBRE_TEXT("expected_coverage", "every study stage"),
                                    COBRE_INT("stage_id", first));
    cobre_report_add(input->report, &finding);
}

static void check_entity(const cobre_input *input, const struct demand *demand,
                         const cobre_entity *record)
{
    const cobre_table *table = &input->tables[demand->file];
    int64_t first = 0;
    size_t missing = 0;

    for (size_t i = 0; i < input->stage_count; i++) {
        int64_t stage = input->stages[i].head.id;
        if (!input->stages[i].is_study || !is_alive(demand->registry, record, stage) ||
            has_row(table, record->id, stage))
            continue;
        if (missing++ == 0)
            first = stage;
    }
    if (missing > 0)
        report_gap(input, demand, record, first, missing);
}

void cobre_check_coverage(const cobre_input *input)
{
    static const struct demand demands[] = {
        { COBRE_FILE_INFLOW_STATS, COBRE_HYDROS },
        { COBRE_FILE_LOAD_STATS, COBRE_BUSES },
    };

    for (size_t d = 0; d < sizeof demands / sizeof demands[0]; d++) {
        const cobre_registry_items *items = &input->registries[demands[d].registry];
        if (input->tables[demands[d].file].rows == 0)
            continue;
        for (size_t i = 0; i < items->count; i++)
            check_entity(input, &demands[d], cobre_registry_at(items, i));
    }
}
