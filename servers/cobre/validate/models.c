/*
 * models.c - layers 4 and 5 for what hydros make of water: geometry, evaporation, planes and
 * production models.
 *
 * A hydro needs planes in the stages where its model takes them from the file, and geometry,
 * tailrace, losses and efficiency where they are computed. The original asks more than that (planes
 * of computed hydros, geometry of precomputed ones), which is not done here. Source: the errors
 * page, sections 5.4, 5.5, 5.6 and 5.8.
 */
#include "validate/layers.h"

enum { LAYER = 5 };

/* ---- rows ------------------------------------------------------------------------------------ */

static void check_geometry_row(const cobre_input *input, const cobre_table *table, size_t before,
                               size_t row)
{
    static const size_t columns_checked[] = { COBRE_GEO_VOLUME, COBRE_GEO_HEIGHT, COBRE_GEO_AREA };

    for (size_t i = 0; i < 3; i++) {
        size_t column = columns_checked[i];
        double low = cobre_table_real(table, column, before);
        double high = cobre_table_real(table, column, row);
        if (high > low || (high == low && column != COBRE_GEO_VOLUME))
            continue;
        cobre_finding finding = cobre_finding_row(COBRE_SEVERITY_ERROR,
                                                  COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER, input,
                                                  COBRE_FILE_GEOMETRY, column, row);
        cobre_report_rule(input, &finding, "geometry_ascends",
                          "Let volumes ascend, and heights and areas not descend with them.",
                          "%s is %.12g after %.12g, in the order of volumes", finding.field, high,
                          low);
        return;
    }
}

static void check_geometry(const cobre_input *input)
{
    const cobre_table *table = &input->tables[COBRE_FILE_GEOMETRY];

    for (size_t i = 1; i < table->rows; i++) {
        size_t before = table->order[i - 1], row = table->order[i];
        if (cobre_table_int(table, COBRE_COL_ENTITY, before) ==
            cobre_table_int(table, COBRE_COL_ENTITY, row))
            check_geometry_row(input, table, before, row);
    }
}

/* The signs of a plane's coefficients (sections 5.5 and 5.8). */
static const struct plane_rule {
    size_t column;
    double low, high;
    bool above; /* the value must be above `low`, not at it */
    const char *rule, *words;
} plane_rules[] = {
    { COBRE_PLANE_V, 0, INFINITY, false, "gamma_v_not_negative", "must be >= 0" },
    { COBRE_PLANE_S, -INFINITY, 0, false, "gamma_s_not_positive", "must be <= 0" },
    { COBRE_PLANE_Q, 0, INFINITY, true, "gamma_q_positive", "must be > 0" },
    { COBRE_PLANE_KAPPA, 0, 1, true, "kappa_in_unit", "must lie in (0, 1]" },
};

static void check_planes(const cobre_input *input)
{
    const cobre_table *table = &input->tables[COBRE_FILE_HYPERPLANES];

    for (size_t i = 0; i < table->rows; i++) {
        for (size_t k = 0; k < sizeof plane_rules / sizeof plane_rules[0]; k++) {
            const struct plane_rule *rule = &plane_rules[k];
            size_t row = table->order[i];
            double value = cobre_table_real(table, rule->column, row);
            if (isnan(value) ||
                ((rule->above ? value > rule->low : value >= rule->low) && value <= rule->high))
                continue;
            cobre_finding finding = cobre_finding_row(COBRE_SEVERITY_ERROR,
                                                      COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER, input,
                                                      COBRE_FILE_HYPERPLANES, rule->column, row);
            cobre_report_rule(input, &finding, rule->rule, "Correct the plane's coefficient.",
                              "%s is %.12g, but %s", finding.field, value, rule->words);
        }
    }
}

/* ---- rows of a hydro ------------------------------------------------------------------------- */

/* The rows of a hydro are those from `*begin` to the returned end in the table's order. */
static size_t rows_of(const cobre_table *table, int64_t hydro, size_t *begin)
{
    size_t low = 0, high = table->rows;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cobre_table_int(table, COBRE_COL_ENTITY, table->order[middle]) < hydro)
            low = middle + 1;
        else
            high = middle;
    }
    *begin = low;
    while (low < table->rows &&
           cobre_table_int(table, COBRE_COL_ENTITY, table->order[low]) == hydro)
        low++;
    return low;
}

static size_t count_rows(const cobre_table *table, int64_t hydro)
{
    size_t begin = 0;

    return rows_of(table, hydro, &begin) - begin;
}

/* Whether the hydro has planes for the stage: its own, or those of all stages. */
static bool has_planes(const cobre_table *table, int64_t hydro, int64_t stage)
{
    size_t begin = 0, end = rows_of(table, hydro, &begin);

    for (size_t i = begin; i < end; i++) {
        int64_t id = cobre_table_int(table, COBRE_COL_STAGE, table->order[i]);
        if (id == COBRE_ABSENT || id == stage)
            return true;
    }
    return false;
}

/* ---- production models ----------------------------------------------------------------------- */

/* What a hydro's models ask for, with the first stage that does; COBRE_ABSENT: none. */
struct demand {
    int64_t planes;       /* a stage without planes */
    int64_t computed;     /* a stage with a fit */
    int64_t productivity; /* a stage of constant productivity without one */
    bool takes_planes, is_linearized;
};

static void note(int64_t *first, bool is_so, int64_t stage)
{
    if (is_so && *first == COBRE_ABSENT)
        *first = stage;
}

static void add_stage(const cobre_input *input, const cobre_raw_hydro *hydro,
                      const cobre_raw_model *model, const cobre_raw_stage *stage,
                      struct demand *out)
{
    const cobre_table *planes = &input->tables[COBRE_FILE_HYPERPLANES];
    cobre_raw_choice choice = cobre_model_choice(hydro, model, stage->head.id, stage->season);

    if (choice.is_fpha && choice.is_computed) {
        note(&out->computed, true, stage->head.id);
    } else if (choice.is_fpha) {
        out->takes_planes = true;
        note(&out->planes, !has_planes(planes, hydro->head.id, stage->head.id), stage->head.id);
    } else {
        note(&out->productivity, isnan(choice.productivity), stage->head.id);
    }
}

static struct demand demand_of(const cobre_input *input, const cobre_raw_hydro *hydro,
                               const cobre_raw_model *model)
{
    struct demand demand = { COBRE_ABSENT, COBRE_ABSENT, COBRE_ABSENT, false,
                             hydro->model == COBRE_MODEL_LINEARIZED };

    for (size_t i = 0; i < input->stage_count; i++) {
        if (input->stages[i].is_study)
            add_stage(input, hydro, model, &input->stages[i], &demand);
    }
    return demand;
}

static cobre_finding at_hydro(const cobre_raw_hydro *hydro, const char *field)
{
    return cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER,
                            COBRE_HYDROS, &hydro->head, field);
}

static void report_coverage(const cobre_input *input, const cobre_raw_hydro *hydro,
                            cobre_file_id file, const char *expected)
{
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_COVERAGE_MISMATCH, 4,
                                             COBRE_HYDROS, &hydro->head, "hydro_id");

    finding.file = cobre_files_known[file].path;
    finding.message = cobre_report_text(input->report, "hydro %lld needs %s",
                                        (long long)hydro->head.id, expected);
    finding.suggestion = "Add the rows, or give the hydro another production model.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("missing_dimension", "hydro_id"),
                                    COBRE_TEXT("expected_coverage", expected));
    cobre_report_add(input->report, &finding);
}

static void check_planes_of(const cobre_input *input, const cobre_raw_hydro *hydro,
                            const struct demand *demand)
{
    const cobre_table *planes = &input->tables[COBRE_FILE_HYPERPLANES];

    if (demand->planes == COBRE_ABSENT)
        return;
    if (planes->rows > 0 && count_rows(planes, hydro->head.id) == 0) {
        report_coverage(input, hydro, COBRE_FILE_HYPERPLANES, "at least one plane");
        return;
    }
    cobre_finding finding = at_hydro(hydro, "generation.model");
    cobre_report_rule(input, &finding, "fpha_has_planes",
                      "Add rows to system/fpha_hyperplanes.parquet, for the stage or for all.",
                      "the hydro has no planes in stage %lld", (long long)demand->planes);
}

/* What a fit needs beyond the geometry; NULL when nothing lacks. */
static const char *lacking_part(const cobre_raw_hydro *hydro)
{
    if (!hydro->tailrace_json)
        return "tailrace";
    if (!hydro->losses_json)
        return "hydraulic_losses";
    return hydro->efficiency_json ? NULL : "efficiency";
}

static void check_fit_of(const cobre_input *input, const cobre_raw_hydro *hydro,
                         const struct demand *demand)
{
    const cobre_table *geometry = &input->tables[COBRE_FILE_GEOMETRY];
    bool has_rows = count_rows(geometry, hydro->head.id) >= 2;
    const char *lacking = lacking_part(hydro);

    if (geometry->rows > 0 && !has_rows &&
        (demand->computed != COBRE_ABSENT || demand->is_linearized))
        report_coverage(input, hydro, COBRE_FILE_GEOMETRY, "at least 2 rows of geometry");
    if (demand->computed == COBRE_ABSENT)
        return;
    if (geometry->rows == 0) {
        cobre_finding finding = at_hydro(hydro, "generation.model");
        cobre_report_rule(input, &finding, "fit_has_geometry",
                          "Add system/hydro_geometry.parquet with at least 2 rows of the hydro.",
                          "computed planes need the geometry of the reservoir (stage %lld)",
                          (long long)demand->computed);
    }
    if (!lacking)
        return;
    cobre_finding finding = at_hydro(hydro, lacking);
    cobre_report_rule(input, &finding, "fit_has_head",
                      "Give tailrace, hydraulic_losses and efficiency, or use given planes.",
                      "computed planes need %s (stage %lld)", lacking, (long long)demand->computed);
}

static double turbined_cost(const cobre_input *input, const cobre_raw_hydro *hydro)
{
    double own = hydro->costs[COBRE_COST_FPHA_TURBINED];

    return isnan(own) ? input->penalties.costs[COBRE_COST_FPHA_TURBINED] : own;
}

static void check_model(const cobre_input *input, const cobre_raw_hydro *hydro)
{
    const cobre_raw_model *model = cobre_input_model(input, hydro->head.id);
    struct demand demand = demand_of(input, hydro, model);
    double cost = turbined_cost(input, hydro);

    if (hydro->model == COBRE_MODEL_FPHA && !model) {
        cobre_finding finding = at_hydro(hydro, "generation.model");
        cobre_report_rule(input, &finding, "fpha_has_a_model",
                          "Add the hydro to system/hydro_production_models.json.",
                          "the model fpha needs an entry in hydro_production_models.json");
        return;
    }
    if (demand.productivity != COBRE_ABSENT) {
        cobre_finding finding = at_hydro(hydro, "generation.productivity_mw_per_m3s");
        cobre_report_rule(input, &finding, "constant_model_has_productivity",
                          "Give a productivity, or let a range of the production model cover all "
                          "stages.",
                          "stage %lld has constant productivity, but the hydro gives none",
                          (long long)demand.productivity);
    }
    check_planes_of(input, hydro, &demand);
    check_fit_of(input, hydro, &demand);
    if ((demand.takes_planes || demand.computed != COBRE_ABSENT) && cost < 0) {
        cobre_finding finding = at_hydro(hydro, "penalties.fpha_turbined_cost");
        cobre_report_rule(input, &finding, "fpha_turbined_cost_not_negative", "Raise it to 0.",
                          "fpha_turbined_cost is %.12g, but must be >= 0", cost);
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Every word but fpha means constant productivity, so a misspelt one changes results. */
static void check_word(const cobre_input *input, int64_t hydro, const char *field, const char *word)
{
    static const char *const known[] = { "constant_productivity", "linearized_head", "fpha", NULL };

    for (size_t i = 0; known[i]; i++)
        if (strcmp(word, known[i]) == 0)
            return;
    cobre_finding finding = cobre_finding_in(COBRE_SEVERITY_WARNING, COBRE_KIND_INVALID_ENUM, LAYER,
                                             cobre_files_known[COBRE_FILE_MODELS].path, field);
    finding.internal_kind = "ModelQuality";
    finding.noun = "hydro";
    finding.has_entity_id = true;
    finding.entity_id = hydro;
    finding.message = cobre_report_text(
        input->report, "the model '%s' is not known; constant productivity is used", word);
    finding.suggestion = "Use one of: constant_productivity, linearized_head, fpha.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("value", word), COBRE_LIST("allowed_values", known));
    cobre_report_add(input->report, &finding);
}

static void check_words(const cobre_input *input, const cobre_raw_model *model)
{
    if (model->mode == COBRE_MODEL_BY_SEASON)
        check_word(input, model->hydro, "default_model", model->default_model);
    for (size_t i = 0; i < model->range_count; i++)
        check_word(input, model->hydro, "model", model->ranges[i].model);
}

/* ---- evaporation ----------------------------------------------------------------------------- */

static void check_evaporation_stages(const cobre_input *input, const cobre_raw_hydro *hydro)
{
    for (size_t i = 0; i < input->stage_count; i++) {
        const cobre_raw_stage *stage = &input->stages[i];
        if (!stage->is_study || (stage->season != COBRE_ABSENT && stage->season < 12))
            continue;
        cobre_finding finding = at_hydro(hydro, "evaporation");
        cobre_report_rule(input, &finding, "evaporation_has_months",
                          "Give each stage a season_id of 0 to 11, its calendar month.",
                          "stage %lld has no season_id from 0 to 11, so its month is not known",
                          (long long)stage->head.id);
        return;
    }
}

static void check_evaporation(const cobre_input *input, const cobre_raw_hydro *hydro)
{
    const cobre_table *table = &input->tables[COBRE_FILE_GEOMETRY];
    size_t begin = 0, end = rows_of(table, hydro->head.id, &begin);
    bool has_area = false;

    if (!hydro->evaporation_json)
        return;
    for (size_t i = begin; i < end; i++)
        has_area = has_area || cobre_table_real(table, COBRE_GEO_AREA, table->order[i]) > 0;
    if (!has_area) {
        cobre_finding finding = at_hydro(hydro, "evaporation");
        cobre_report_rule(input, &finding, "evaporation_has_geometry",
                          "Add rows with areas to system/hydro_geometry.parquet.",
                          begin == end ? "a hydro that evaporates needs rows of geometry"
                                       : "every area of the hydro's geometry is 0");
    }
    check_evaporation_stages(input, hydro);
}

void cobre_check_models(const cobre_input *input)
{
    const cobre_registry_items *items = &input->registries[COBRE_HYDROS];
    const cobre_raw_hydro *hydros = items->items;

    check_geometry(input);
    check_planes(input);
    for (size_t i = 0; i < input->model_count; i++)
        check_words(input, &input->models[i]);
    for (size_t i = 0; i < items->count; i++) {
        check_model(input, &hydros[i]);
        check_evaporation(input, &hydros[i]);
    }
}
