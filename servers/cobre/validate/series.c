/*
 * series.c - layers 4 and 5 for autoregressive inflows: the coefficients, the past that they need,
 * and their estimation from history.
 *
 * Estimation is active when there is a history and not both statistics and coefficients are given.
 * Source: the errors page, sections 5.6 (rules 13, 19 to 24, 28, 31, 32) and 5.8.
 */
#include "validate/layers.h"

#include <stdlib.h>

#include "stochastic/calendar.h"
#include "stochastic/history/fit.h"

enum { LAYER = 5 };

static cobre_finding at_row(const cobre_input *input, cobre_file_id file, size_t column, size_t row)
{
    return cobre_finding_row(COBRE_SEVERITY_ERROR, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER, input,
                             file, column, row);
}

/* ---- coefficients ---------------------------------------------------------------------------- */

/* The rows of a file about one hydro and stage, `begin` to `end` in the table's order. */
struct group {
    cobre_file_id file;
    int64_t hydro, stage;
    size_t begin, end;
};

static size_t first_row(const cobre_input *input, const struct group *group)
{
    return input->tables[group->file].order[group->begin];
}

static void report_orphan(const cobre_input *input, const struct group *group)
{
    cobre_finding finding = cobre_finding_row(COBRE_SEVERITY_ERROR, COBRE_KIND_COVERAGE_MISMATCH, 4,
                                              input, group->file, COBRE_COL_STAGE,
                                              first_row(input, group));

    finding.message = cobre_report_text(input->report, "hydro %lld has no statistics in stage %lld",
                                        (long long)group->hydro, (long long)group->stage);
    finding.suggestion = "Add the row to scenarios/inflow_seasonal_stats.parquet.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("missing_dimension", "stage_id"),
                                    COBRE_TEXT("expected_coverage", "a row of statistics"),
                                    COBRE_INT("stage_id", group->stage));
    cobre_report_add(input->report, &finding);
}

/* A model with memory needs a season, statistics and, unless all of it is annual, a deviation. */
static void check_stage_of(const cobre_input *input, const struct group *group)
{
    const cobre_table *stats = &input->tables[COBRE_FILE_INFLOW_STATS];
    const cobre_raw_stage *stage = (const void *)cobre_input_find(input, COBRE_STUDY_STAGES,
                                                                  group->stage);
    size_t row = cobre_table_find(stats, group->hydro, group->stage);

    if (row == COBRE_NONE && (stats->rows > 0 || input->tables[COBRE_FILE_HISTORY].rows == 0))
        report_orphan(input, group);
    if (stage && stage->season == COBRE_ABSENT) {
        cobre_finding finding = at_row(input, group->file, COBRE_COL_STAGE,
                                       first_row(input, group));
        cobre_report_rule(input, &finding, "memory_has_a_season", "Give the stage a season_id.",
                          "inflow that depends on the past needs a season_id in stage %lld",
                          (long long)group->stage);
    }
    if (stage && row != COBRE_NONE && group->file == COBRE_FILE_AR &&
        !(cobre_table_real(stats, COBRE_STATS_STD, row) > 0)) {
        cobre_finding finding = at_row(input, COBRE_FILE_INFLOW_STATS, COBRE_STATS_STD, row);
        cobre_report_rule(input, &finding, "memory_has_a_deviation",
                          "Give std_m3s, or remove the coefficients.",
                          "std_m3s is 0 in stage %lld, but the inflow has coefficients there",
                          (long long)group->stage);
    }
}

static void check_lags(const cobre_input *input, const struct group *group)
{
    const cobre_table *table = &input->tables[COBRE_FILE_AR];
    double ratio = cobre_table_real(table, COBRE_AR_RATIO, first_row(input, group));

    for (size_t i = group->begin; i < group->end; i++) {
        size_t row = table->order[i];
        int64_t lag = cobre_table_int(table, COBRE_AR_LAG, row);
        double other = cobre_table_real(table, COBRE_AR_RATIO, row);
        if (lag != (int64_t)(i - group->begin) + 1) {
            cobre_finding finding = at_row(input, COBRE_FILE_AR, COBRE_AR_LAG, row);
            cobre_report_rule(input, &finding, "lags_without_gaps", "Give the lags 1 to p.",
                              "lag %lld follows lag %zu in stage %lld", (long long)lag,
                              i - group->begin, (long long)group->stage);
            return;
        }
        if (other == ratio)
            continue;
        cobre_finding finding = at_row(input, COBRE_FILE_AR, COBRE_AR_RATIO, row);
        finding.kind = COBRE_KIND_OUT_OF_RANGE;
        finding.internal_kind = "InvalidValue";
        finding.message = cobre_report_text(
            input->report, "residual_std_ratio is %.12g in lag %lld, but %.12g in lag 1", other,
            (long long)lag, ratio);
        finding.suggestion = "Repeat the same ratio in every lag of a hydro and stage.";
        finding.members = COBRE_MEMBERS(COBRE_REAL("value", other), COBRE_REAL("min", ratio),
                                        COBRE_REAL("max", ratio));
        cobre_report_add(input->report, &finding);
        return;
    }
}

static void check_groups(const cobre_input *input, cobre_file_id file)
{
    const cobre_table *table = &input->tables[file];
    size_t end = 0;

    for (size_t begin = 0; begin < table->rows; begin = end) {
        size_t row = table->order[begin];
        struct group group = { file, cobre_table_int(table, COBRE_COL_ENTITY, row),
                               cobre_table_int(table, COBRE_COL_STAGE, row), begin, begin };
        while (group.end < table->rows &&
               cobre_table_int(table, COBRE_COL_ENTITY, table->order[group.end]) == group.hydro &&
               cobre_table_int(table, COBRE_COL_STAGE, table->order[group.end]) == group.stage)
            group.end++;
        end = group.end;
        check_stage_of(input, &group);
        if (file == COBRE_FILE_AR)
            check_lags(input, &group);
    }
}

/* ---- the past -------------------------------------------------------------------------------- */

static cobre_finding in_initial(cobre_severity severity, const char *field, int64_t hydro)
{
    cobre_finding finding = cobre_finding_in(severity, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER,
                                             cobre_files_known[COBRE_FILE_INITIAL].path, field);

    finding.noun = hydro == COBRE_ABSENT ? NULL : "hydro";
    finding.has_entity_id = finding.noun != NULL;
    finding.entity_id = hydro;
    return finding;
}

static int compare_past(const void *a, const void *b)
{
    int64_t x = ((const cobre_raw_past *)a)->hydro, y = ((const cobre_raw_past *)b)->hydro;

    return x < y ? -1 : x > y;
}

/* How many past inflows the hydro has. */
static size_t past_of(const cobre_input *input, int64_t hydro)
{
    const cobre_raw_past key = { .hydro = hydro };
    const cobre_raw_past *found = bsearch(&key, input->past_inflows, input->past_inflow_count,
                                          sizeof key, compare_past);

    return found ? found->count : 0;
}

/* Lags of an annual component: twelve months. */
#define ANNUAL_LAGS 12

/* A lag without a value counts as 0 (case page, 4), which is hardly ever meant. */
static void check_past_length(const cobre_input *input, int64_t hydro, int64_t order,
                              cobre_severity severity)
{
    cobre_finding finding = in_initial(severity, "past_inflows", hydro);
    bool is_warning = severity == COBRE_SEVERITY_WARNING;

    if ((int64_t)past_of(input, hydro) >= order)
        return;
    if (is_warning)
        finding.internal_kind = "ModelQuality";
    cobre_report_rule(input, &finding, "past_as_long_as_order",
                      "Give one value of past_inflows per lag, the most recent first.",
                      "hydro %lld has %zu past inflows, but its coefficients reach back %lld%s",
                      (long long)hydro, past_of(input, hydro), (long long)order,
                      is_warning ? "; the missing ones count as 0 m3/s" : "");
}

/* The largest lag of each hydro with coefficients against its past; rows are sorted by hydro. */
static void check_past_lengths(const cobre_input *input, cobre_severity severity)
{
    const cobre_table *table = &input->tables[COBRE_FILE_AR];

    for (size_t i = 0; i < table->rows;) {
        int64_t hydro = cobre_table_int(table, COBRE_COL_ENTITY, table->order[i]), order = 0;
        for (;
             i < table->rows && cobre_table_int(table, COBRE_COL_ENTITY, table->order[i]) == hydro;
             i++) {
            int64_t lag = cobre_table_int(table, COBRE_AR_LAG, table->order[i]);
            order = lag > order ? lag : order;
        }
        check_past_length(input, hydro, order, severity);
    }
}

/* An annual component takes the mean of twelve past inflows. */
static void warn_annual_past(const cobre_input *input)
{
    const cobre_table *table = &input->tables[COBRE_FILE_ANNUAL];
    int64_t last = COBRE_ABSENT;

    for (size_t i = 0; i < table->rows; i++) {
        int64_t hydro = cobre_table_int(table, COBRE_COL_ENTITY, table->order[i]);
        if (hydro != last)
            check_past_length(input, hydro, ANNUAL_LAGS, COBRE_SEVERITY_WARNING);
        last = hydro;
    }
}

static bool season_is_defined(const cobre_input *input, int64_t id)
{
    for (size_t i = 0; i < input->season_count; i++) {
        if (input->seasons[i].id == id)
            return true;
    }
    return false;
}

static void check_past_seasons(const cobre_input *input, const cobre_raw_past *past)
{
    for (size_t i = 0; i < past->count && past->seasons && input->has_seasons; i++) {
        if (season_is_defined(input, past->seasons[i]))
            continue;
        cobre_finding finding = in_initial(COBRE_SEVERITY_ERROR, "past_inflows.season_ids",
                                           past->hydro);
        cobre_report_rule(input, &finding, "season_is_defined",
                          "Define the season in season_definitions of stages.json.",
                          "season %lld is not defined", (long long)past->seasons[i]);
        return;
    }
}

static void check_past(const cobre_input *input)
{
    bool is_asked = cobre_input_asks_for_lags(input);

    if (is_asked && input->past_inflow_count == 0) {
        cobre_finding finding = in_initial(COBRE_SEVERITY_ERROR, "past_inflows", COBRE_ABSENT);
        cobre_report_rule(input, &finding, "lags_have_a_past",
                          "Give past_inflows, or set state_variables.inflow_lags to false.",
                          "stages have inflow lags as states, but there are no past_inflows");
        return;
    }
    check_past_lengths(input, is_asked ? COBRE_SEVERITY_ERROR : COBRE_SEVERITY_WARNING);
    warn_annual_past(input);
    for (size_t i = 0; i < input->past_inflow_count && is_asked; i++)
        check_past_seasons(input, &input->past_inflows[i]);
}

/* ---- estimation ------------------------------------------------------------------------------ */

static bool estimates(const cobre_input *input)
{
    return input->tables[COBRE_FILE_HISTORY].rows > 0 &&
           !(input->tables[COBRE_FILE_INFLOW_STATS].rows > 0 &&
             input->tables[COBRE_FILE_AR].rows > 0);
}

static bool custom_contains(const cobre_raw_season *season, calendar_date date)
{
    int64_t month_end = season->month_end == COBRE_ABSENT ? season->month_start : season->month_end;
    int64_t day_start = season->day_start == COBRE_ABSENT ? 1 : season->day_start;
    int64_t day_end = season->day_end == COBRE_ABSENT ? 31 : season->day_end;
    int64_t start = season->month_start * 32 + day_start, end = month_end * 32 + day_end;
    int64_t at = (int64_t)date.month * 32 + date.day;

    return start <= end ? at >= start && at <= end : at >= start || at <= end;
}

static bool season_contains(const cobre_input *input, const cobre_raw_season *season, int32_t day)
{
    calendar_date date = calendar_date_of(day);
    uint32_t week = calendar_iso_week(day) - 1;

    switch (input->cycle) {
    case COBRE_CYCLE_MONTHLY:
        return season->month_start == date.month;
    case COBRE_CYCLE_WEEKLY:
        return season->id == (week > 51 ? 51 : week);
    default:
        return custom_contains(season, date);
    }
}

/* The days that the stages cover; most of a history lies before them. */
static calendar_span stage_span(const cobre_input *input)
{
    calendar_span span = { INT32_MAX, INT32_MIN };

    for (size_t i = 0; i < input->stage_count; i++) {
        const cobre_raw_stage *stage = &input->stages[i];
        span.start = stage->start.day < span.start ? stage->start.day : span.start;
        span.end = stage->end.day > span.end ? stage->end.day : span.end;
    }
    return span;
}

/* The season of a date: that of its stage, else that of the definitions (method page, 14). */
static int64_t season_of(const cobre_input *input, calendar_span span, int32_t day)
{
    bool is_inside = day >= span.start && day < span.end;

    for (size_t i = 0; is_inside && i < input->stage_count; i++) {
        const cobre_raw_stage *stage = &input->stages[i];
        if (day >= stage->start.day && day < stage->end.day && stage->season != COBRE_ABSENT)
            return stage->season;
    }
    for (size_t i = 0; i < input->season_count; i++) {
        if (season_contains(input, &input->seasons[i], day))
            return input->seasons[i].id;
    }
    return COBRE_ABSENT;
}

struct observation {
    int64_t hydro, season;
    int32_t year;
    size_t row;
};

static int compare(const void *a, const void *b)
{
    const struct observation *x = a, *y = b;

    if (x->hydro != y->hydro)
        return x->hydro < y->hydro ? -1 : 1;
    if (x->season != y->season)
        return x->season < y->season ? -1 : 1;
    if (x->year != y->year)
        return x->year < y->year ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static cobre_finding in_history(cobre_severity severity, const struct observation *at)
{
    cobre_finding finding = cobre_finding_in(severity, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER,
                                             cobre_files_known[COBRE_FILE_HISTORY].path, "date");

    finding.noun = "hydro";
    finding.has_entity_id = true;
    finding.entity_id = at->hydro;
    finding.row = (int64_t)at->row + 1;
    if (severity == COBRE_SEVERITY_WARNING)
        finding.internal_kind = "ModelQuality";
    return finding;
}

/* The observations of one hydro in one season, sorted by year: enough of them, none missing. */
static void check_season(const cobre_input *input, const struct observation *list, size_t count,
                         bool *warned_finer)
{
    int64_t least = input->config.min_observations;

    if ((int64_t)count < least) {
        cobre_finding finding = in_history(COBRE_SEVERITY_WARNING, list);
        cobre_report_rule(input, &finding, "enough_observations",
                          "Give a longer history, or lower min_observations_per_season.",
                          "hydro %lld has %zu observations in season %lld; %lld are asked for",
                          (long long)list->hydro, count, (long long)list->season, (long long)least);
    }
    for (size_t i = 1; i < count; i++) {
        if (list[i].year == list[i - 1].year && !*warned_finer) {
            cobre_finding finding = in_history(COBRE_SEVERITY_WARNING, &list[i]);
            cobre_report_rule(input, &finding, "one_observation_a_season",
                              "Give one value per season, or accept their mean.",
                              "the history is finer than the seasons: several values of season "
                              "%lld in %d are averaged",
                              (long long)list[i].season, list[i].year);
            *warned_finer = true;
        } else if (list[i].year > list[i - 1].year + 1) {
            cobre_finding finding = in_history(COBRE_SEVERITY_ERROR, &list[i]);
            cobre_report_rule(input, &finding, "history_without_gaps",
                              "Add the missing year's observation.",
                              "season %lld has no observation in %d", (long long)list[i].season,
                              list[i - 1].year + 1);
            return;
        }
    }
}

static void check_seasons_of(const cobre_input *input, const struct observation *list, size_t count)
{
    bool warned_finer = false;
    size_t end = 0;

    for (size_t begin = 0; begin < count; begin = end) {
        while (end < count && list[end].hydro == list[begin].hydro &&
               list[end].season == list[begin].season)
            end++;
        if (list[begin].season == COBRE_ABSENT) {
            cobre_finding finding = in_history(COBRE_SEVERITY_ERROR, &list[begin]);
            cobre_report_rule(input, &finding, "date_has_a_season",
                              "Let season_definitions cover the whole year.",
                              "the date lies in no season");
        } else {
            check_season(input, list + begin, end - begin, &warned_finer);
        }
    }
}

/* Seasons of study stages that no observation falls into. */
static void check_empty_seasons(const cobre_input *input, const struct observation *list,
                                size_t count)
{
    bool is_external = input->config.training_source.inflow == COBRE_EXTERNAL;

    for (size_t i = 0; i < input->season_count && !is_external; i++) {
        const cobre_raw_season *season = &input->seasons[i];
        size_t k = 0;
        while (k < count && list[k].season != season->id)
            k++;
        if (k < count)
            continue;
        cobre_finding finding = cobre_finding_in(
            COBRE_SEVERITY_WARNING, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER,
            cobre_files_known[COBRE_FILE_HISTORY].path, "date");
        finding.internal_kind = "ModelQuality";
        cobre_report_rule(
            input, &finding, "season_has_observations", "Extend the history, or remove the season.",
            "no observation falls into season %lld '%.60s'", (long long)season->id, season->label);
    }
}

static void check_hydros(const cobre_input *input)
{
    const cobre_table *table = &input->tables[COBRE_FILE_HISTORY];
    const cobre_registry_items *items = &input->registries[COBRE_HYDROS];
    size_t at = 0;

    for (size_t i = 0; i < items->count; i++) {
        const cobre_entity *hydro = cobre_registry_at(items, i);
        while (at < table->rows &&
               cobre_table_int(table, COBRE_COL_ENTITY, table->order[at]) < hydro->id)
            at++;
        if (at < table->rows &&
            cobre_table_int(table, COBRE_COL_ENTITY, table->order[at]) == hydro->id)
            continue;
        cobre_finding finding = cobre_finding_at(
            COBRE_SEVERITY_ERROR, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER, COBRE_HYDROS, hydro, NULL);
        finding.file = cobre_files_known[COBRE_FILE_HISTORY].path;
        cobre_report_rule(input, &finding, "hydro_has_history",
                          "Add the hydro's observations to the file.",
                          "hydro %lld has no observations to estimate from", (long long)hydro->id);
    }
}

/* ---- enough to estimate from ----------------------------------------------------------------- */

static int compare_seasons(const void *a, const void *b)
{
    const struct observation *x = a, *y = b;

    if (x->hydro != y->hydro)
        return x->hydro < y->hydro ? -1 : 1;
    return x->season < y->season ? -1 : x->season > y->season;
}

/* The years in which a season of a hydro was observed; the list is sorted. */
static size_t years_of(const struct observation *list, size_t count, int64_t hydro, int64_t season)
{
    const struct observation key = { .hydro = hydro, .season = season };
    const struct observation *at = bsearch(&key, list, count, sizeof key, compare_seasons);
    size_t years = at ? 1 : 0;

    while (at && at > list && compare_seasons(at - 1, &key) == 0)
        at--;
    for (; at && at + 1 < list + count && compare_seasons(at + 1, &key) == 0; at++)
        years += at[1].year != at->year;
    return years;
}

static cobre_finding of_history(const cobre_entity *hydro)
{
    cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR, COBRE_KIND_PHYSICAL_CONSTRAINT,
                                             LAYER, COBRE_HYDROS, hydro, "date");

    finding.file = cobre_files_known[COBRE_FILE_HISTORY].path;
    return finding;
}

static bool season_is_named(const cobre_input *input, int64_t season)
{
    for (size_t i = 0; i < input->stage_count; i++) {
        if (input->stages[i].season == season)
            return true;
    }
    return false;
}

/* Statistics need two years of each season that a stage has, an annual mean 13 observations. */
static void check_enough(const cobre_input *input, const struct observation *list, size_t count,
                         const cobre_entity *hydro)
{
    size_t all = 0;

    for (size_t k = 0; k < input->season_count; k++) {
        int64_t season = input->seasons[k].id;
        size_t years = years_of(list, count, hydro->id, season);
        all += years;
        if (years >= 2 || !season_is_named(input, season))
            continue;
        cobre_finding finding = of_history(hydro);
        cobre_report_rule(input, &finding, "statistics_need_two_years", "Give a longer history.",
                          "hydro %lld is observed in %zu years of season %lld; statistics need 2",
                          (long long)hydro->id, years, (long long)season);
    }
    if (all >= 13 || input->config.order_selection != COBRE_SELECT_PACF_ANNUAL)
        return;
    cobre_finding finding = of_history(hydro);
    cobre_report_rule(input, &finding, "annual_mean_needs_13", "Give a longer history.",
                      "hydro %lld has %zu observations; pacf_annual needs 13", (long long)hydro->id,
                      all);
}

/* A hydro without any observation has a finding of its own. */
static void check_all_enough(const cobre_input *input, const struct observation *list, size_t count)
{
    const cobre_registry_items *items = &input->registries[COBRE_HYDROS];

    for (size_t i = 0; i < items->count; i++) {
        const cobre_entity *hydro = cobre_registry_at(items, i);
        bool is_observed = false;
        for (size_t k = 0; k < input->season_count && !is_observed; k++)
            is_observed = years_of(list, count, hydro->id, input->seasons[k].id) > 0;
        if (is_observed)
            check_enough(input, list, count, hydro);
    }
}

/* A stage without a season has no statistics. */
static void check_stages_have_seasons(const cobre_input *input)
{
    for (size_t i = 0; i < input->stage_count; i++) {
        const cobre_raw_stage *stage = &input->stages[i];
        if (!stage->is_study || stage->season != COBRE_ABSENT)
            continue;
        cobre_finding finding = cobre_finding_at(COBRE_SEVERITY_ERROR,
                                                 COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER,
                                                 COBRE_STUDY_STAGES, &stage->head, "season_id");
        cobre_report_rule(input, &finding, "estimation_has_seasons", "Give the stage a season_id.",
                          "the estimation of inflows needs the season of stage %lld",
                          (long long)stage->head.id);
    }
}

static void check_order(const cobre_input *input)
{
    int64_t order = input->config.max_order;

    if (order <= FIT_ORDER_MAX)
        return;
    cobre_finding finding = cobre_finding_in(COBRE_SEVERITY_ERROR, COBRE_KIND_OUT_OF_RANGE, LAYER,
                                             cobre_files_known[COBRE_FILE_CONFIG].path,
                                             "estimation.max_order");
    finding.internal_kind = "InvalidValue";
    finding.message = cobre_report_text(input->report, "max_order is %lld, but at most %d",
                                        (long long)order, FIT_ORDER_MAX);
    finding.suggestion = "Lower estimation.max_order.";
    finding.members = COBRE_MEMBERS(COBRE_INT("value", order), COBRE_INT("min", 0),
                                    COBRE_INT("max", FIT_ORDER_MAX));
    cobre_report_add(input->report, &finding);
}

/* How far the coefficients reach back is known after they are estimated. */
static void warn_no_past(const cobre_input *input)
{
    if (input->past_inflow_count > 0 || input->config.max_order == 0 ||
        input->tables[COBRE_FILE_AR].rows > 0)
        return;
    cobre_finding finding = in_initial(COBRE_SEVERITY_WARNING, "past_inflows", COBRE_ABSENT);
    finding.internal_kind = "ModelQuality";
    cobre_report_rule(input, &finding, "lags_have_a_past",
                      "Give the inflows before the study in past_inflows, the most recent first.",
                      "there are no past_inflows: the lags of the estimated model count as 0 m3/s "
                      "before the study");
}

static void check_estimation(const cobre_input *input)
{
    const cobre_table *table = &input->tables[COBRE_FILE_HISTORY];

    if (!estimates(input))
        return;
    check_order(input);
    check_hydros(input);
    warn_no_past(input);
    if (!input->has_seasons) {
        cobre_finding finding = cobre_finding_in(
            COBRE_SEVERITY_ERROR, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER,
            cobre_files_known[COBRE_FILE_STAGES].path, "season_definitions");
        cobre_report_rule(input, &finding, "estimation_has_seasons",
                          "Define the seasons in stages.json.",
                          "estimation from inflow_history needs season_definitions");
        return;
    }
    calendar_span span = stage_span(input);
    struct observation *list = mcp_arena_array(input->arena, table->rows, sizeof *list);
    if (!list) {
        cobre_report_out_of_memory(input->report);
        return;
    }
    for (size_t i = 0; i < table->rows; i++) {
        size_t row = table->order[i];
        int32_t day = (int32_t)cobre_table_int(table, COBRE_HISTORY_DATE, row);
        list[i] = (struct observation){ cobre_table_int(table, COBRE_COL_ENTITY, row),
                                        season_of(input, span, day), calendar_date_of(day).year,
                                        row };
    }
    if (table->rows > 1)
        qsort(list, table->rows, sizeof *list, compare);
    check_seasons_of(input, list, table->rows);
    check_empty_seasons(input, list, table->rows);
    check_all_enough(input, list, table->rows);
    check_stages_have_seasons(input);
}

void cobre_check_series(const cobre_input *input)
{
    check_groups(input, COBRE_FILE_AR);
    check_groups(input, COBRE_FILE_ANNUAL);
    check_past(input);
    check_estimation(input);
}
