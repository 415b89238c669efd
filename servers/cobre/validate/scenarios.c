/*
 * scenarios.c - layers 3 and 5 for the sources of noise: schemes, sampling methods, correlation,
 * and the settings of the training that hang together.
 *
 * Source: the errors page, sections 5.3, 5.6 and 5.8; the case page, sections 2.3, 2.4 and 7.
 */
#include "validate/layers.h"

#include <stdlib.h>
#include <string.h>

#include "stochastic/calendar.h"
#include "stochastic/points/halton.h"
#include "stochastic/points/hypercube.h"
#include "stochastic/points/sobol.h"

enum { LAYER = 5 };

static cobre_finding in_config(cobre_severity severity, const char *field)
{
    return cobre_finding_in(severity, COBRE_KIND_INCOMPATIBLE_SETTINGS, LAYER,
                            cobre_files_known[COBRE_FILE_CONFIG].path, field);
}

/* ---- schemes --------------------------------------------------------------------------------- */

static void check_external(const cobre_input *input, const char *field, int64_t scheme,
                           cobre_file_id file)
{
    if (scheme != COBRE_EXTERNAL || input->tables[file].rows > 0)
        return;
    cobre_finding finding = in_config(COBRE_SEVERITY_ERROR, field);
    cobre_report_setting(input, &finding, "Add the file, or choose another scheme.",
                         "the scheme external needs rows in %s", cobre_files_known[file].path);
}

static bool is_listed(const mcp_json *years, int64_t year)
{
    int64_t from = year, to = year, one = 0;

    if (mcp_json_is_object(years))
        return mcp_json_int(mcp_json_get(years, "from"), &from) &&
               mcp_json_int(mcp_json_get(years, "to"), &to) && from <= year && year <= to;
    for (size_t i = 0; i < mcp_json_count(years); i++) {
        if (mcp_json_int(mcp_json_item(years, i), &one) && one == year)
            return true;
    }
    return false;
}

/* A path begins in a year of the list that was observed. A season that wraps, or a week, may belong
 * to the year after or before that of its date. */
static void check_years(const cobre_input *input, const cobre_raw_source *source, const char *field)
{
    const cobre_table *table = &input->tables[COBRE_FILE_HISTORY];
    const mcp_json *years = source->historical_years;
    int64_t tried = INT64_MIN;

    if (!years || mcp_json_is_null(years))
        return;
    for (size_t row = 0; row < table->rows; row++) {
        int64_t day = cobre_table_int(table, COBRE_HISTORY_DATE, row);
        int64_t year = calendar_date_of((cobre_day)day).year;
        if (year == tried)
            continue;
        tried = year;
        if (is_listed(years, year) || is_listed(years, year - 1) || is_listed(years, year + 1))
            return;
    }
    cobre_finding finding = in_config(COBRE_SEVERITY_ERROR, field);
    cobre_report_setting(input, &finding, "List years that were observed, or remove the list.",
                         "no listed year has observations in %s",
                         cobre_files_known[COBRE_FILE_HISTORY].path);
}

static void check_source(const cobre_input *input, const cobre_raw_source *source,
                         const char *const fields[4])
{
    check_external(input, fields[0], source->inflow, COBRE_FILE_EXTERNAL_INFLOW);
    check_external(input, fields[1], source->load, COBRE_FILE_EXTERNAL_LOAD);
    check_external(input, fields[2], source->ncs, COBRE_FILE_EXTERNAL_NCS);
    if (source->inflow != COBRE_HISTORICAL)
        return;
    if (input->tables[COBRE_FILE_HISTORY].rows > 0) {
        check_years(input, source, fields[3]);
        return;
    }
    cobre_finding finding = in_config(COBRE_SEVERITY_ERROR, fields[0]);
    cobre_report_setting(input, &finding, "Add the file, or choose another scheme.",
                         "the scheme historical needs rows in %s",
                         cobre_files_known[COBRE_FILE_HISTORY].path);
}

static void check_schemes(const cobre_input *input)
{
    static const char *const training[] = { "training.scenario_source.inflow.scheme",
                                            "training.scenario_source.load.scheme",
                                            "training.scenario_source.ncs.scheme",
                                            "training.scenario_source.historical_years" };
    static const char *const simulation[] = { "simulation.scenario_source.inflow.scheme",
                                              "simulation.scenario_source.load.scheme",
                                              "simulation.scenario_source.ncs.scheme",
                                              "simulation.scenario_source.historical_years" };

    check_source(input, &input->config.training_source, training);
    if (input->config.simulation_source.json)
        check_source(input, &input->config.simulation_source, simulation);
}

/* ---- sampling methods ------------------------------------------------------------------------ */

static void warn_sobol(const cobre_input *input, const cobre_raw_stage *stage)
{
    if ((stage->openings & (stage->openings - 1)) == 0)
        return;
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_WARNING, COBRE_KIND_PHYSICAL_CONSTRAINT,
                                             LAYER, COBRE_STUDY_STAGES, &stage->head,
                                             "num_scenarios");
    finding.internal_kind = "ModelQuality";
    cobre_report_rule(input, &finding, "sobol_power_of_two", "Use a power of two.",
                      "qmc_sobol with %lld openings, which is no power of two",
                      (long long)stage->openings);
}

static void refuse_method(const cobre_input *input, const cobre_raw_stage *stage,
                          const char *detail)
{
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_INCOMPATIBLE_SETTINGS,
                                             LAYER, COBRE_STUDY_STAGES, &stage->head,
                                             "sampling_method");

    cobre_report_setting(input, &finding, "Choose another sampling_method.", "%s", detail);
}

/* The numbers in a noise vector (method page, 4). */
static size_t dimensions_of(const cobre_input *input)
{
    size_t buses = 0, sources = 0;

    cobre_noisy_entities(input, COBRE_FILE_LOAD_STATS, COBRE_BUSES, true, &buses);
    cobre_noisy_entities(input, COBRE_FILE_SOURCE_STATS, COBRE_SOURCES, false, &sources);
    return input->registries[COBRE_HYDROS].count + buses + sources;
}

static bool is_out_of_sample(const cobre_raw_source *source)
{
    return source->inflow == COBRE_OUT_OF_SAMPLE || source->load == COBRE_OUT_OF_SAMPLE ||
           source->ncs == COBRE_OUT_OF_SAMPLE;
}

/* Out of sample a stage draws a point for each scenario of a phase. */
static void check_hypercubes(const cobre_input *input)
{
    const cobre_raw_config *config = &input->config;
    int64_t most = config->forward_passes;

    if (config->simulation_enabled && config->scenarios > most)
        most = config->scenarios;
    if (most <= HYPERCUBE_POINTS_MAX || (!is_out_of_sample(&config->training_source) &&
                                         !is_out_of_sample(&config->simulation_source)))
        return;
    for (size_t i = 0; i < input->stage_count; i++) {
        if (input->stages[i].is_study && input->stages[i].sampling == COBRE_SAMPLING_LHS)
            refuse_method(input, &input->stages[i],
                          cobre_report_text(input->report,
                                            "lhs out of sample takes at most %d scenarios, not "
                                            "%lld",
                                            HYPERCUBE_POINTS_MAX, (long long)most));
    }
}

static void check_sampling(const cobre_input *input)
{
    bool has_tree = input->tables[COBRE_FILE_OPENINGS].rows > 0;
    size_t dimensions = dimensions_of(input);

    for (size_t i = 0; i < input->stage_count && !has_tree; i++) {
        const cobre_raw_stage *stage = &input->stages[i];
        if (!stage->is_study)
            continue;
        if (stage->sampling == COBRE_SAMPLING_SELECTIVE)
            refuse_method(input, stage,
                          "selective draws nothing: it needs scenarios/noise_openings.parquet");
        else if (stage->sampling == COBRE_SAMPLING_HISTORICAL &&
                 input->tables[COBRE_FILE_HISTORY].rows == 0)
            refuse_method(input, stage,
                          "historical_residuals needs rows in scenarios/inflow_history.parquet");
        else if (stage->sampling == COBRE_SAMPLING_SOBOL && dimensions > sobol_dimensions())
            refuse_method(input, stage, "qmc_sobol takes at most 1000 stochastic entities");
        else if (stage->sampling == COBRE_SAMPLING_HALTON && dimensions > HALTON_DIMENSIONS)
            refuse_method(input, stage, "qmc_halton takes at most 1000 stochastic entities");
        else if (stage->sampling == COBRE_SAMPLING_SOBOL)
            warn_sobol(input, stage);
    }
}

/* ---- settings of the training ---------------------------------------------------------------- */

static void check_selection(const cobre_input *input)
{
    const cobre_raw_config *config = &input->config;

    if (config->cut_selection_enabled && config->cut_method == COBRE_ABSENT) {
        cobre_finding finding = in_config(COBRE_SEVERITY_ERROR, "training.cut_selection.method");
        cobre_report_setting(input, &finding, "Give level1, lml1 or domination, or disable it.",
                             "cut selection is enabled without a method");
    }
    if (config->cut_selection_enabled && config->cut_check_frequency == 0) {
        cobre_finding finding = in_config(COBRE_SEVERITY_ERROR,
                                          "training.cut_selection.check_frequency");
        cobre_report_setting(input, &finding, "Give a number of iterations above 0.",
                             "check_frequency is 0");
    }
    if (config->cut_max_active != COBRE_ABSENT && config->cut_max_active < config->forward_passes) {
        cobre_finding finding = in_config(COBRE_SEVERITY_WARNING,
                                          "training.cut_selection.max_active_per_stage");
        finding.internal_kind = "ModelQuality";
        cobre_report_setting(input, &finding, "Allow at least one cut per forward pass.",
                             "the budget of %lld cuts is below the %lld forward passes",
                             (long long)config->cut_max_active, (long long)config->forward_passes);
    }
}

static void warn_fixed(const cobre_input *input)
{
    if (input->config.order_selection != COBRE_SELECT_FIXED)
        return;
    cobre_finding finding = in_config(COBRE_SEVERITY_WARNING, "estimation.order_selection");
    finding.internal_kind = "ModelQuality";
    cobre_report_setting(input, &finding, "Write \"pacf\".",
                         "order_selection fixed is deprecated and means pacf");
}

/* Whether the steepest slopes of the cost cannot all be derived: that is done for storages of
 * constant productivity alone (method page, section 16). */
static bool needs_slope(const cobre_input *input)
{
    const cobre_raw_hydro *hydros = input->registries[COBRE_HYDROS].items;

    if (input->tables[COBRE_FILE_AR].rows > 0 || input->tables[COBRE_FILE_ANNUAL].rows > 0 ||
        input->model_count > 0 || input->config.storage_bounds != 0 ||
        input->entries[COBRE_FILE_STATIONS] > 0 || input->entries[COBRE_FILE_CONSTRAINTS] > 0)
        return true;
    for (size_t i = 0; i < input->registries[COBRE_HYDROS].count; i++)
        if (hydros[i].model == COBRE_MODEL_FPHA || hydros[i].filling)
            return true;
    return false;
}

static void check_inner_bound(const cobre_input *input)
{
    const cobre_raw_config *config = &input->config;

    if (!config->upper_bound_enabled || config->compatibility != COBRE_ABSENT)
        return;
    if (config->lipschitz_mode && strcmp(config->lipschitz_mode, "auto") != 0) {
        cobre_finding finding = in_config(COBRE_SEVERITY_ERROR,
                                          "upper_bound_evaluation.lipschitz.mode");
        cobre_report_setting(input, &finding, "Write \"auto\" and give fallback_value.",
                             "the slopes of mode '%.60s' are not known", config->lipschitz_mode);
    }
    if (isnan(config->lipschitz_fallback) && needs_slope(input)) {
        cobre_finding finding = in_config(COBRE_SEVERITY_ERROR,
                                          "upper_bound_evaluation.lipschitz.fallback_value");
        cobre_report_setting(input, &finding,
                             "Give fallback_value: the steepest slope of the cost.",
                             "inflow lags, production functions, filling, soft storage bounds, "
                             "pumping stations and generic constraints need fallback_value");
    }
}

/* ---- correlation ----------------------------------------------------------------------------- */

static const cobre_registry class_registries[] = { COBRE_HYDROS, COBRE_BUSES, COBRE_SOURCES };

static cobre_finding in_correlation(cobre_severity severity, cobre_kind kind, int layer,
                                    const char *field)
{
    return cobre_finding_in(severity, kind, layer, cobre_files_known[COBRE_FILE_CORRELATION].path,
                            field);
}

static void check_member(const cobre_input *input, const cobre_raw_group *group,
                         const cobre_raw_member *member)
{
    cobre_registry registry = class_registries[member->type];

    if (!cobre_input_find(input, registry, member->id)) {
        cobre_finding finding = in_correlation(COBRE_SEVERITY_ERROR, COBRE_KIND_MISSING_REFERENCE,
                                               3, "entities.id");
        finding.noun = cobre_registry_noun(registry);
        finding.has_entity_id = true;
        finding.entity_id = member->id;
        cobre_report_reference(input, &finding, "entities.id", member->id, registry);
    }
    if (member->type != group->members[0].type) {
        cobre_finding finding = in_correlation(COBRE_SEVERITY_ERROR, COBRE_KIND_PHYSICAL_CONSTRAINT,
                                               LAYER, "entities.type");
        cobre_report_rule(
            input, &finding, "one_class_a_group", "Give each class a group of its own.",
            "group '%.60s' mixes classes: there is no correlation across them", group->name);
    }
}

static int compare_members(const void *a, const void *b)
{
    const cobre_raw_member *x = a, *y = b;

    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* An entity occurs once in a profile; entities of different classes may have one id. */
static void check_repeats(const cobre_input *input, const cobre_raw_profile *profile)
{
    size_t count = 0, used = 0;

    for (size_t i = 0; i < profile->group_count; i++)
        count += profile->groups[i].count;
    cobre_raw_member *all = mcp_arena_array(input->arena, count, sizeof *all);
    if (!all) {
        cobre_report_out_of_memory(input->report);
        return;
    }
    for (size_t i = 0; i < profile->group_count; i++) {
        for (size_t k = 0; k < profile->groups[i].count; k++)
            all[used++] = profile->groups[i].members[k];
    }
    if (count > 1)
        qsort(all, count, sizeof *all, compare_members);
    for (size_t i = 1; i < count; i++) {
        if (compare_members(&all[i - 1], &all[i]) != 0)
            continue;
        cobre_finding finding = in_correlation(COBRE_SEVERITY_ERROR,
                                               COBRE_KIND_INCOMPATIBLE_SETTINGS, LAYER, "entities");
        finding.noun = cobre_registry_noun(class_registries[all[i].type]);
        finding.has_entity_id = true;
        finding.entity_id = all[i].id;
        cobre_report_setting(input, &finding, "Let an entity occur once in a profile.",
                             "%s %lld occurs twice in profile '%.60s'", finding.noun,
                             (long long)all[i].id, profile->name);
    }
}

/* The study refuses larger groups (stochastic/correlation.h). */
#define GROUP_LARGE 1024

/* What a pivot of the factors below may be short of zero by: matrices have few digits. */
#define PIVOT_LEAST (-1e-6)

/* The pivot of column k, and what is below it, of the factors L D L' of a symmetric matrix whose
 * columns before k are done. inverse[k] receives one over the pivot, or 0 where there is none. */
static bool factor_column(double *a, double *inverse, size_t n, size_t k)
{
    for (size_t i = k; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += a[i * n + j] * a[k * n + j] * inverse[j];
        a[i * n + k] -= sum;
    }
    double pivot = a[k * n + k];
    inverse[k] = pivot > -PIVOT_LEAST ? 1 / pivot : 0;
    if (pivot < PIVOT_LEAST)
        return false;
    for (size_t i = k + 1; i < n && inverse[k] == 0; i++)
        if (a[i * n + k] * a[i * n + k] > -4 * PIVOT_LEAST)
            return false;
    return true;
}

/* Noises with such correlations do not exist. The root that is taken leaves negative eigenvalues
 * out (method page, 4.3), so those drawn have others, and deviations above 1. */
static void warn_indefinite(const cobre_input *input, const cobre_raw_profile *profile,
                            const cobre_raw_group *group)
{
    size_t n = group->count, k = 0;

    if (n == 0 || n > GROUP_LARGE)
        return;
    double *copy = mcp_arena_array(input->arena, n + 1, n * sizeof *copy);
    if (!copy) {
        cobre_report_out_of_memory(input->report);
        return;
    }
    memcpy(copy, group->matrix, n * n * sizeof *copy);
    while (k < n && factor_column(copy, copy + n * n, n, k))
        k++;
    if (k == n)
        return;
    cobre_finding finding = in_correlation(COBRE_SEVERITY_WARNING, COBRE_KIND_PHYSICAL_CONSTRAINT,
                                           LAYER, "matrix");
    finding.internal_kind = "ModelQuality";
    cobre_report_rule(input, &finding, "matrix_is_semidefinite",
                      "Lower the coefficients that contradict one another, or estimate all of them "
                      "from one history.",
                      "the matrix of group '%.60s' in profile '%.60s' is not positive "
                      "semidefinite: no noises have these correlations, and those drawn differ "
                      "from it",
                      group->name, profile->name);
}

static void check_profile(const cobre_input *input, const cobre_raw_profile *profile)
{
    for (size_t i = 0; i < profile->group_count; i++)
        warn_indefinite(input, profile, &profile->groups[i]);
    for (size_t i = 0; i < profile->group_count; i++) {
        for (size_t k = 0; k < profile->groups[i].count; k++)
            check_member(input, &profile->groups[i], &profile->groups[i].members[k]);
    }
    check_repeats(input, profile);
}

static void report_twice(const cobre_input *input, int64_t stage)
{
    cobre_finding finding = in_correlation(COBRE_SEVERITY_ERROR, COBRE_KIND_INCOMPATIBLE_SETTINGS,
                                           LAYER, "schedule.stage_id");

    finding.noun = "stage";
    finding.has_entity_id = true;
    finding.entity_id = stage;
    cobre_report_setting(input, &finding, "Schedule one profile per stage.",
                         "stage %lld is scheduled twice", (long long)stage);
}

static void check_schedule(const cobre_input *input)
{
    const cobre_raw_correlation *correlation = &input->correlation;
    bool *is_scheduled = mcp_arena_array(input->arena, input->stage_count, sizeof *is_scheduled);

    if (!is_scheduled)
        cobre_report_out_of_memory(input->report);
    for (size_t i = 0; i < correlation->schedule_count && is_scheduled; i++) {
        int64_t id = correlation->schedule[i].stage;
        const cobre_raw_stage *stage = (const void *)cobre_input_find(input, COBRE_STUDY_STAGES,
                                                                      id);
        if (!stage) {
            cobre_finding finding = in_correlation(
                COBRE_SEVERITY_WARNING, COBRE_KIND_MISSING_REFERENCE, 3, "schedule.stage_id");
            cobre_report_reference(input, &finding, "stage_id", id, COBRE_STUDY_STAGES);
            continue;
        }
        if (is_scheduled[stage - input->stages])
            report_twice(input, id);
        is_scheduled[stage - input->stages] = true;
    }
}

static void check_default(const cobre_input *input)
{
    const cobre_raw_correlation *correlation = &input->correlation;

    for (size_t i = 0; i < correlation->profile_count; i++) {
        if (strcmp(correlation->profiles[i].name, "default") == 0)
            return;
    }
    if (correlation->profile_count < 2)
        return;
    cobre_finding finding = in_correlation(COBRE_SEVERITY_ERROR, COBRE_KIND_INCOMPATIBLE_SETTINGS,
                                           LAYER, "profiles");
    cobre_report_setting(input, &finding, "Name one of the profiles default.",
                         "there are %zu profiles and none is named default",
                         correlation->profile_count);
}

static void check_correlation(const cobre_input *input)
{
    const cobre_raw_correlation *correlation = &input->correlation;

    if (!correlation->present)
        return;
    if (strcmp(correlation->method, "spectral") != 0 &&
        strcmp(correlation->method, "cholesky") != 0) {
        cobre_finding finding = in_correlation(COBRE_SEVERITY_WARNING,
                                               COBRE_KIND_INCOMPATIBLE_SETTINGS, LAYER, "method");
        finding.internal_kind = "ModelQuality";
        cobre_report_setting(input, &finding, "Write \"spectral\".",
                             "the method '%.60s' is not known; spectral is used",
                             correlation->method);
    }
    for (size_t i = 0; i < correlation->profile_count; i++)
        check_profile(input, &correlation->profiles[i]);
    check_schedule(input);
    check_default(input);
}

void cobre_check_scenarios(const cobre_input *input)
{
    check_schemes(input);
    check_sampling(input);
    check_hypercubes(input);
    check_selection(input);
    warn_fixed(input);
    check_inner_bound(input);
    check_correlation(input);
}
