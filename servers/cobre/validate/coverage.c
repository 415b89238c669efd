/*
 * coverage.c - layer 4: statistics cover every entity in every study stage of its life.
 *
 * A statistics file without rows counts as absent. One finding per entity lists its gaps, so that a
 * hydro without any row is one finding and not one per stage. External scenarios and openings must
 * be complete tables; gaps in external scenarios that no scheme uses are warnings. Source: the
 * errors page, sections 5.4 and 5.8.
 */
#include "validate/layers.h"

/* The registry that a statistics file must cover. */
struct demand {
    cobre_file_id file;
    cobre_registry registry;
    bool is_partial; /* entities without any row need none, and a gap is a warning */
};

static bool is_within(int64_t entry, int64_t exit, int64_t stage)
{
    return (entry == COBRE_ABSENT || stage >= entry) && (exit == COBRE_ABSENT || stage < exit);
}

/* Hydros and sources need rows in their stages of [entry, exit) only. */
static bool is_alive(cobre_registry registry, const cobre_entity *record, int64_t stage)
{
    const cobre_raw_hydro *hydro = (const void *)record;
    const cobre_raw_source_plant *source = (const void *)record;

    if (registry == COBRE_HYDROS)
        return is_within(hydro->entry, hydro->exit, stage);
    return registry != COBRE_SOURCES || is_within(source->entry, source->exit, stage);
}

static void report_gap(const cobre_input *input, const struct demand *demand,
                       const cobre_entity *record, int64_t first, size_t missing)
{
    const char *noun = cobre_registry_noun(demand->registry);
    cobre_severity severity = demand->is_partial ? COBRE_SEVERITY_WARNING : COBRE_SEVERITY_ERROR;
    cobre_finding finding = cobre_finding_at(severity, COBRE_KIND_COVERAGE_MISMATCH, 4,
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
    size_t missing = 0, present = 0;

    for (size_t i = 0; i < input->stage_count; i++) {
        int64_t stage = input->stages[i].head.id;
        if (!input->stages[i].is_study || !is_alive(demand->registry, record, stage))
            continue;
        if (cobre_table_find(table, record->id, stage) != COBRE_NONE)
            present++;
        else if (missing++ == 0)
            first = stage;
    }
    if (missing > 0 && (present > 0 || !demand->is_partial))
        report_gap(input, demand, record, first, missing);
}

/* ---- files by stage and scenario ------------------------------------------------------------- */

/* A file whose rows must fill a table of stage index, number within the stage, and entity. */
struct cube {
    cobre_file_id file;
    cobre_registry registry; /* COBRE_NO_REGISTRY: entities are numbered */
    const bool *needed;      /* by index in the registry; NULL: all of them */
    size_t entities;         /* that need rows */
    bool is_used;            /* each study stage needs rows; else a gap is a warning */
};

static size_t study_stages(const cobre_input *input)
{
    size_t count = 0;

    for (size_t i = 0; i < input->stage_count; i++)
        count += input->stages[i].is_study;
    return count;
}

static cobre_severity severity_of(const struct cube *cube)
{
    return cube->is_used ? COBRE_SEVERITY_ERROR : COBRE_SEVERITY_WARNING;
}

static void report_cube(const cobre_input *input, const struct cube *cube, size_t row,
                        const char *field, const char *expected, const char *message)
{
    cobre_finding finding = cobre_finding_in(severity_of(cube), COBRE_KIND_COVERAGE_MISMATCH, 4,
                                             cobre_files_known[cube->file].path, field);

    finding.row = row == COBRE_NONE ? 0 : (int64_t)row + 1; /* of many: no entity is named */
    finding.message = message;
    finding.suggestion = "Number the rows of each stage from 0 without gaps, one row per entity.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("missing_dimension", field),
                                    COBRE_TEXT("expected_coverage", expected));
    cobre_report_add(input->report, &finding);
}

static bool is_needed(const cobre_input *input, const struct cube *cube, size_t row)
{
    int64_t id = cobre_table_int(&input->tables[cube->file], COBRE_EXT_ENTITY, row);

    if (!cube->needed)
        return true;
    size_t entity = cobre_input_index(input, cube->registry, id);
    return entity != COBRE_NONE && cube->needed[entity];
}

/* The rows of one number in one stage, from `begin` on in key order; returns the row after them. */
static size_t check_number(const cobre_input *input, const struct cube *cube, size_t begin,
                           int64_t expected)
{
    const cobre_table *table = &input->tables[cube->file];
    const char *word = table->spec->columns[COBRE_EXT_SCENARIO].name;
    size_t first = table->order[begin], end = begin, rows = 0;
    int64_t stage = cobre_table_int(table, COBRE_EXT_STAGE, first);
    int64_t number = cobre_table_int(table, COBRE_EXT_SCENARIO, first);

    for (; end < table->rows; end++) {
        size_t row = table->order[end];
        if (cobre_table_int(table, COBRE_EXT_STAGE, row) != stage ||
            cobre_table_int(table, COBRE_EXT_SCENARIO, row) != number)
            break;
        rows += is_needed(input, cube, row);
    }
    if (number != expected)
        report_cube(input, cube, first, word, "0 to n-1",
                    cobre_report_text(input->report, "stage %lld has no %s %lld, but %lld",
                                      (long long)stage, word, (long long)expected,
                                      (long long)number));
    else if (rows != cube->entities)
        report_cube(input, cube, first, table->spec->columns[COBRE_EXT_ENTITY].name, "every entity",
                    cobre_report_text(input->report,
                                      "%s %lld of stage %lld has %zu rows of %zu entities", word,
                                      (long long)number, (long long)stage, rows, cube->entities));
    return end;
}

static void check_entities(const cobre_input *input, const struct cube *cube)
{
    const cobre_table *table = &input->tables[cube->file];
    const char *field = table->spec->columns[COBRE_EXT_ENTITY].name;

    for (size_t row = 0; row < table->rows && cube->registry == COBRE_NO_REGISTRY; row++) {
        int64_t entity = cobre_table_int(table, COBRE_EXT_ENTITY, row);
        if (entity < (int64_t)cube->entities)
            continue;
        report_cube(input, cube, row, field, "hydros and stochastic buses",
                    cobre_report_text(input->report, "%s %lld, but there are %zu entities", field,
                                      (long long)entity, cube->entities));
        return;
    }
}

static void report_stage(const cobre_input *input, const struct cube *cube, int64_t stage,
                         size_t row, const char *trouble)
{
    report_cube(input, cube, row, "stage_id", "the study stages, numbered from 0",
                cobre_report_text(input->report, "stage %lld %s", (long long)stage, trouble));
}

/* The rows of one stage from `begin` on, with its first problem; returns the row after them. */
static size_t check_cube_stage(const cobre_input *input, const struct cube *cube, size_t begin,
                               int64_t stages)
{
    const cobre_table *table = &input->tables[cube->file];
    int64_t stage = cobre_table_int(table, COBRE_EXT_STAGE, table->order[begin]), number = 0;
    size_t findings = cobre_report_count(input->report, severity_of(cube)), at = begin;

    if (stage < 0 || stage >= stages)
        report_stage(input, cube, stage, table->order[begin], "does not exist");
    while (at < table->rows && cobre_table_int(table, COBRE_EXT_STAGE, table->order[at]) == stage) {
        if (cobre_report_count(input->report, severity_of(cube)) == findings)
            at = check_number(input, cube, at, number++);
        else
            at++;
    }
    return at;
}

static void check_cube(const cobre_input *input, const struct cube *cube)
{
    const cobre_table *table = &input->tables[cube->file];
    int64_t stages = (int64_t)study_stages(input), next = 0;

    check_entities(input, cube);
    for (size_t at = 0; at < table->rows;) {
        int64_t stage = cobre_table_int(table, COBRE_EXT_STAGE, table->order[at]);
        for (; cube->is_used && next < stage && next < stages; next++)
            report_stage(input, cube, next, COBRE_NONE, "has no rows");
        next = stage + 1;
        at = check_cube_stage(input, cube, at, stages);
    }
    for (; cube->is_used && next < stages; next++)
        report_stage(input, cube, next, COBRE_NONE, "has no rows");
}

const bool *cobre_noisy_entities(const cobre_input *input, cobre_file_id stats,
                                 cobre_registry registry, bool by_deviation, size_t *count)
{
    const cobre_table *table = &input->tables[stats];
    bool *flags = mcp_arena_array(input->arena, input->registries[registry].count, sizeof *flags);

    *count = 0;
    if (!flags)
        cobre_report_out_of_memory(input->report);
    for (size_t row = 0; row < table->rows && flags; row++) {
        int64_t id = cobre_table_int(table, COBRE_COL_ENTITY, row);
        int64_t stage = cobre_table_int(table, COBRE_COL_STAGE, row);
        size_t entity = cobre_input_index(input, registry, id);
        if (entity == COBRE_NONE || flags[entity] ||
            !cobre_input_find(input, COBRE_STUDY_STAGES, stage) ||
            (by_deviation && !(cobre_table_real(table, COBRE_STATS_STD, row) > 0)))
            continue;
        flags[entity] = true;
        (*count)++;
    }
    return flags;
}

static void check_cubes(const cobre_input *input)
{
    const cobre_raw_source *a = &input->config.training_source;
    const cobre_raw_source *b = &input->config.simulation_source;
    size_t hydros = input->registries[COBRE_HYDROS].count, buses = 0, sources = 0;
    const bool *loads = cobre_noisy_entities(input, COBRE_FILE_LOAD_STATS, COBRE_BUSES, true,
                                             &buses);
    const bool *winds = cobre_noisy_entities(input, COBRE_FILE_SOURCE_STATS, COBRE_SOURCES, false,
                                             &sources);
    const struct cube cubes[] = {
        { COBRE_FILE_EXTERNAL_INFLOW, COBRE_HYDROS, NULL, hydros,
          a->inflow == COBRE_EXTERNAL || b->inflow == COBRE_EXTERNAL },
        { COBRE_FILE_EXTERNAL_LOAD, COBRE_BUSES, loads, buses,
          a->load == COBRE_EXTERNAL || b->load == COBRE_EXTERNAL },
        { COBRE_FILE_EXTERNAL_NCS, COBRE_SOURCES, winds, sources,
          a->ncs == COBRE_EXTERNAL || b->ncs == COBRE_EXTERNAL },
        { COBRE_FILE_OPENINGS, COBRE_NO_REGISTRY, NULL, hydros + buses, true },
    };

    for (size_t i = 0; i < sizeof cubes / sizeof cubes[0] && loads && winds; i++) {
        if (input->tables[cubes[i].file].rows > 0)
            check_cube(input, &cubes[i]);
    }
}

void cobre_check_coverage(const cobre_input *input)
{
    static const struct demand demands[] = {
        { COBRE_FILE_INFLOW_STATS, COBRE_HYDROS, false },
        { COBRE_FILE_LOAD_STATS, COBRE_BUSES, false },
        { COBRE_FILE_SOURCE_STATS, COBRE_SOURCES, true }, /* a source without any is not random */
    };

    for (size_t d = 0; d < sizeof demands / sizeof demands[0]; d++) {
        const cobre_registry_items *items = &input->registries[demands[d].registry];
        if (input->tables[demands[d].file].rows == 0)
            continue;
        for (size_t i = 0; i < items->count; i++)
            check_entity(input, &demands[d], cobre_registry_at(items, i));
    }
    check_cubes(input);
}
