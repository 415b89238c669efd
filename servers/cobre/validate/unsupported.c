/*
 * unsupported.c - the features of the case format that this version does not model, in one table.
 *
 * Nothing that would change a result is ignored in silence. What the original models is modelled
 * here, and so is what it ignores, unless the case asks for the original's arithmetic
 * (modeling.compatibility "cobre-0.5"): then that is ignored with a warning. A feature that changes
 * no result is a warning at most. Source: the case page, section 9; the method page, section 16.
 */
#include "case/input.h"
#include "validate/layers.h"

/* The original's treatment of the feature, and so the severity of its finding. */
enum original {
    BUILT,    /* the original ignores it: a warning under compatibility alone */
    HARMLESS, /* a warning: no result changes */
};

/* True when the input uses the feature; `record` is the registry's record or the stage. */
typedef bool is_used(const cobre_input *input, const void *record);

/* ---- config.json ----------------------------------------------------------------------------- */

static bool multi_cut(const cobre_input *input, const void *record)
{
    (void)record;
    return input->config.cut_formulation == COBRE_CUT_MULTI;
}

static bool simulation_rule(const cobre_input *input, const void *record)
{
    (void)record;
    for (size_t i = 0; i < input->config.rule_count; i++) {
        if (input->config.rules[i].type == COBRE_RULE_SIMULATION)
            return true;
    }
    return false;
}

static bool upper_bound(const cobre_input *input, const void *record)
{
    (void)record;
    return input->config.upper_bound_enabled;
}

static bool inner_policy(const cobre_input *input, const void *record)
{
    (void)record;
    return input->config.policy_type != 0;
}

static bool soft_storage(const cobre_input *input, const void *record)
{
    (void)record;
    return input->config.storage_bounds != 0;
}

/* ---- stages.json ----------------------------------------------------------------------------- */

static bool cyclic(const cobre_input *input, const void *record)
{
    (void)record;
    return input->graph.is_cyclic;
}

/* Storages are always states, and so are lags that an inflow depends on. */
static bool state_switches(const cobre_input *input, const void *record)
{
    const cobre_raw_stage *stage = record;
    bool lags = true;

    mcp_json_bool(mcp_json_get(stage->state_variables, "inflow_lags"), &lags);
    return !stage->storage_state || (!lags && input->tables[COBRE_FILE_AR].rows > 0);
}

static bool chronological(const cobre_input *input, const void *record)
{
    const cobre_raw_stage *stage = record;

    (void)input;
    return stage->block_mode != 0 && stage->block_count > 1;
}

/* ---- system/ --------------------------------------------------------------------------------- */

static bool hydro_life(const cobre_input *input, const void *record)
{
    const cobre_raw_hydro *hydro = record;

    (void)input;
    return hydro->entry != COBRE_ABSENT || hydro->exit != COBRE_ABSENT;
}

static bool line_life(const cobre_input *input, const void *record)
{
    const cobre_raw_line *line = record;

    (void)input;
    return line->entry != COBRE_ABSENT || line->exit != COBRE_ABSENT;
}

static bool thermal_life(const cobre_input *input, const void *record)
{
    const cobre_raw_thermal *thermal = record;

    (void)input;
    return thermal->entry != COBRE_ABSENT || thermal->exit != COBRE_ABSENT;
}

static bool filling(const cobre_input *input, const void *record)
{
    (void)input;
    return ((const cobre_raw_hydro *)record)->filling != NULL;
}

static bool line_losses(const cobre_input *input, const void *record)
{
    (void)input;
    return ((const cobre_raw_line *)record)->losses > 0;
}

static bool gnl(const cobre_input *input, const void *record)
{
    (void)input;
    return ((const cobre_raw_thermal *)record)->gnl != NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool column_is_used(const cobre_table *table, size_t column)
{
    for (size_t row = 0; row < table->rows; row++) {
        if (table->columns[column] && columns_is_valid(table->columns[column], row))
            return true;
    }
    return false;
}

static bool diversion_bounds(const cobre_input *input, const void *record)
{
    (void)record;
    return column_is_used(&input->tables[COBRE_FILE_HYDRO_BOUNDS], COBRE_HB_DIVERSION);
}

static bool block_bounds(const cobre_input *input, const void *record)
{
    (void)record;
    return column_is_used(&input->tables[COBRE_FILE_THERMAL_BOUNDS], COBRE_TB_BLOCK);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct unsupported {
    cobre_file_id file;
    const char *field; /* NULL: the file as a whole, used when it has rows or entries */
    enum original original;
    cobre_registry each; /* checked for every record of this registry; else once */
    is_used *used;
    const char *feature;
    const char *way_out;
    /* clang-format off */
} unsupported[] = {
    { COBRE_FILE_CONFIG, "training.cut_formulation", BUILT, 0, multi_cut,
      "the multi-cut form", "Set training.cut_formulation to \"single\"." },
    { COBRE_FILE_CONFIG, "training.stopping_rules", BUILT, 0, simulation_rule,
      "the stopping rule simulation", "Stop by iteration_limit, time_limit or bound_stalling." },
    { COBRE_FILE_CONFIG, "upper_bound_evaluation.enabled", BUILT, 0, upper_bound,
      "the evaluation of a true upper bound", "Set upper_bound_evaluation.enabled to false." },
    { COBRE_FILE_CONFIG, "simulation.policy_type", HARMLESS, 0, inner_policy,
      "simulating an inner approximation", "Set simulation.policy_type to \"outer\"." },
    { COBRE_FILE_CONFIG, "modeling.storage_bounds", BUILT, 0, soft_storage,
      "soft storage bounds", "Set modeling.storage_bounds to \"hard\"." },
    { COBRE_FILE_STAGES, "policy_graph.type", BUILT, 0, cyclic,
      "a cyclic horizon", "Set policy_graph.type to \"finite_horizon\"." },
    { COBRE_FILE_STAGES, "state_variables", HARMLESS, COBRE_STUDY_STAGES, state_switches,
      "taking storages or lags out of the state", "Remove state_variables." },
    { COBRE_FILE_STAGES, "block_mode", BUILT, COBRE_STUDY_STAGES, chronological,
      "chronological blocks", "Set block_mode to \"parallel\"." },
    { COBRE_FILE_HYDROS, "entry_stage_id", BUILT, COBRE_HYDROS, hydro_life,
      "entry and exit of a hydro", "Set entry_stage_id and exit_stage_id to null." },
    { COBRE_FILE_HYDROS, "filling", BUILT, COBRE_HYDROS, filling,
      "filling", "Set filling to null." },
    { COBRE_FILE_LINES, "losses_percent", BUILT, COBRE_LINES, line_losses,
      "line losses", "Set losses_percent to 0." },
    { COBRE_FILE_LINES, "entry_stage_id", BUILT, COBRE_LINES, line_life,
      "entry and exit of a line", "Set entry_stage_id and exit_stage_id to null." },
    { COBRE_FILE_THERMALS, "entry_stage_id", BUILT, COBRE_THERMALS, thermal_life,
      "entry and exit of a thermal", "Set entry_stage_id and exit_stage_id to null." },
    { COBRE_FILE_THERMALS, "gnl_config", HARMLESS, COBRE_THERMALS, gnl,
      "GNL dispatch lags", "Set gnl_config to null." },
    { COBRE_FILE_HYDRO_BOUNDS, "max_diversion_m3s", HARMLESS, 0, diversion_bounds,
      "a diversion bound per stage", "Leave max_diversion_m3s empty." },
    { COBRE_FILE_THERMAL_BOUNDS, "block_id", HARMLESS, 0, block_bounds,
      "thermal bounds of a single block",
      "Leave block_id empty: a bound then applies to every block." },
    { COBRE_FILE_STATIONS, NULL, BUILT, 0, NULL,
      "pumping stations", "Empty the list." },
    { COBRE_FILE_CONTRACTS, NULL, BUILT, 0, NULL,
      "energy contracts", "Empty the list." },
};
/* clang-format on */

static const char *describe(const cobre_input *input, const struct unsupported *row)
{
    if (row->original == BUILT)
        return cobre_report_text(
            input->report, "Cobre 0.5 does not model %s; modeling.compatibility has it ignored",
            row->feature);
    return cobre_report_text(input->report, "this version does not model %s; it is ignored",
                             row->feature);
}

static void report(const cobre_input *input, const struct unsupported *row, cobre_finding *finding)
{
    const char *file = cobre_files_known[row->file].path;
    const char *place = row->field ? row->field : file;
    const char *detail = describe(input, row);

    if (row->original == BUILT && input->config.compatibility == COBRE_ABSENT)
        return;
    finding->internal_kind = "NotImplemented";
    finding->message = cobre_report_text(input->report, "%s: %s", place, detail);
    finding->suggestion = row->way_out;
    if (row->original == BUILT)
        finding->suggestion = cobre_report_text(
            input->report, "%s Or remove modeling.compatibility to have it modelled.",
            row->way_out);
    finding->members = COBRE_MEMBERS(COBRE_TEXT("settings", place), COBRE_TEXT("detail", detail));
    cobre_report_add(input->report, finding);
}

static void ask_stages(const cobre_input *input, const struct unsupported *row)
{
    for (size_t i = 0; i < input->stage_count; i++) {
        if (!input->stages[i].is_study || !row->used(input, &input->stages[i]))
            continue;
        cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_WARNING,
                                                 COBRE_KIND_INCOMPATIBLE_SETTINGS, 5, row->each,
                                                 &input->stages[i].head, row->field);
        report(input, row, &finding);
    }
}

static void ask_registry(const cobre_input *input, const struct unsupported *row)
{
    const cobre_registry_items *items = &input->registries[row->each];

    for (size_t i = 0; i < items->count; i++) {
        const cobre_entity *record = cobre_registry_at(items, i);
        if (!row->used(input, record))
            continue;
        cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_WARNING,
                                                 COBRE_KIND_INCOMPATIBLE_SETTINGS, 5, row->each,
                                                 record, row->field);
        report(input, row, &finding);
    }
}

static void ask_once(const cobre_input *input, const struct unsupported *row)
{
    bool used = row->used ? row->used(input, NULL) : input->entries[row->file] > 0;

    if (!used)
        return;
    cobre_finding finding = cobre_finding_in(COBRE_SEVERITY_WARNING,
                                             COBRE_KIND_INCOMPATIBLE_SETTINGS, 5,
                                             cobre_files_known[row->file].path, row->field);
    report(input, row, &finding);
}

void cobre_check_unsupported(const cobre_input *input)
{
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++) {
        if (unsupported[i].each == COBRE_STUDY_STAGES)
            ask_stages(input, &unsupported[i]);
        else if (unsupported[i].each != COBRE_NO_REGISTRY)
            ask_registry(input, &unsupported[i]);
        else
            ask_once(input, &unsupported[i]);
    }
}
