/*
 * stages.c - layer 5b: the policy graph, the seasons and the series over the stages.
 *
 * Two checks that the original makes only when it builds a study are made here too: no study stage,
 * and fewer than two. Source: the errors page, sections 5.6 and 5.8.
 */
#include "validate/layers.h"

#include <stdlib.h>

enum { LAYER = 5 };

static cobre_finding at_stages(cobre_severity severity, cobre_kind kind, const char *field)
{
    const char *file = cobre_files_known[COBRE_FILE_STAGES].path;

    return cobre_finding_in(severity, kind, LAYER, file, field);
}

/* ---- the policy graph ------------------------------------------------------------------------ */

static void check_stage_count(const cobre_input *input)
{
    size_t count = 0;

    for (size_t i = 0; i < input->stage_count; i++)
        count += input->stages[i].is_study;
    if (count >= 2)
        return;
    cobre_finding finding = at_stages(COBRE_SEVERITY_ERROR, COBRE_KIND_STAGE_MISMATCH, "stages");
    finding.message = cobre_report_text(
        input->report, "a study needs at least 2 stages with id >= 0, found %zu", count);
    finding.suggestion = "Add study stages.";
    finding.members = COBRE_MEMBERS(COBRE_NULL("stage_id"),
                                    COBRE_TEXT("detail", "fewer than 2 study stages"));
    cobre_report_add(input->report, &finding);
}

static void check_end(const cobre_input *input, const char *field, int64_t id)
{
    if (cobre_input_find(input, COBRE_STUDY_STAGES, id))
        return;
    cobre_finding finding = at_stages(COBRE_SEVERITY_ERROR, COBRE_KIND_STAGE_MISMATCH, field);
    finding.noun = "stage";
    finding.has_entity_id = true;
    finding.entity_id = id;
    finding.message = cobre_report_text(input->report, "%s names stage %lld, which does not exist",
                                        field, (long long)id);
    finding.suggestion = "Let transitions lead between stages of stages.json.";
    finding.members = COBRE_MEMBERS(COBRE_INT("stage_id", id),
                                    COBRE_TEXT("detail", "no such study stage"));
    cobre_report_add(input->report, &finding);
}

/* A finite graph is a chain of its stages, whatever its transitions say (case page, 3.1); to the
 * original every graph is. */
static cobre_severity graph_severity(const cobre_input *input)
{
    return input->graph.is_cyclic && input->config.compatibility == COBRE_ABSENT
               ? COBRE_SEVERITY_ERROR
               : COBRE_SEVERITY_WARNING;
}

/* Transitions lead from a stage to the next one, or, in a cyclic graph, from the last one back. */
static void check_step(const cobre_input *input, const cobre_raw_transition *transition)
{
    const cobre_raw_stage *last = input->stages + input->stage_count - 1;
    const cobre_raw_stage *source = (const void *)cobre_input_find(input, COBRE_STUDY_STAGES,
                                                                   transition->source);
    const cobre_raw_stage *target = (const void *)cobre_input_find(input, COBRE_STUDY_STAGES,
                                                                   transition->target);

    if (!source || !target || target == source + 1)
        return;
    if (input->graph.is_cyclic && source == last && target->is_study)
        return;
    cobre_finding finding = at_stages(graph_severity(input), COBRE_KIND_STAGE_MISMATCH,
                                      "policy_graph.transitions.target_id");
    finding.noun = "stage";
    finding.has_entity_id = true;
    finding.entity_id = transition->source;
    finding.message = cobre_report_text(
        input->report, "the transition from stage %lld to stage %lld skips stages or leads back",
        (long long)transition->source, (long long)transition->target);
    finding.suggestion = "Let each transition lead to the next stage; in a cyclic graph one leads "
                         "from the last stage back.";
    finding.members = COBRE_MEMBERS(COBRE_INT("stage_id", transition->target),
                                    COBRE_TEXT("detail", "not the stage after the source"));
    cobre_report_add(input->report, &finding);
}

static void check_sum(const cobre_input *input, int64_t source, double sum)
{
    if (fabs(sum - 1) <= 1e-6)
        return;
    cobre_finding finding = at_stages(COBRE_SEVERITY_ERROR, COBRE_KIND_OUT_OF_RANGE,
                                      "policy_graph.transitions.probability");
    finding.internal_kind = "InvalidValue";
    finding.noun = "stage";
    finding.has_entity_id = true;
    finding.entity_id = source;
    finding.message = cobre_report_text(
        input->report, "the probabilities of the transitions from stage %lld sum to %.12g, not 1",
        (long long)source, sum);
    finding.suggestion = "Let the probabilities of one source sum to 1.";
    finding.members = COBRE_MEMBERS(COBRE_REAL("value", sum), COBRE_REAL("min", 1),
                                    COBRE_REAL("max", 1));
    cobre_report_add(input->report, &finding);
}

static int compare_transitions(const void *a, const void *b)
{
    const cobre_raw_transition *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

/* Only the last stage of a cycle has a choice; `sorted` is sorted by source. */
static void check_branches(const cobre_input *input, const cobre_raw_transition *sorted)
{
    for (size_t i = 1; i < input->graph.transition_count; i++) {
        if (sorted[i].source != sorted[i - 1].source || sorted[i].target == sorted[i - 1].target)
            continue;
        cobre_finding finding = at_stages(graph_severity(input), COBRE_KIND_INCOMPATIBLE_SETTINGS,
                                          "policy_graph.transitions");
        finding.noun = "stage";
        finding.has_entity_id = true;
        finding.entity_id = sorted[i].source;
        cobre_report_setting(input, &finding, "Keep one transition from each stage.",
                             "stage %lld leads to stages %lld and %lld, but a graph cannot branch",
                             (long long)sorted[i].source, (long long)sorted[i - 1].target,
                             (long long)sorted[i].target);
    }
}

static void check_sums(const cobre_input *input)
{
    const cobre_raw_graph *graph = &input->graph;
    cobre_raw_transition *sorted = mcp_arena_array(input->arena, graph->transition_count,
                                                   sizeof *sorted);
    double sum = 0;

    if (!sorted) {
        cobre_report_out_of_memory(input->report);
        return;
    }
    for (size_t i = 0; i < graph->transition_count; i++)
        sorted[i] = graph->transitions[i];
    if (graph->transition_count > 1)
        qsort(sorted, graph->transition_count, sizeof *sorted, compare_transitions);
    check_branches(input, sorted);
    for (size_t i = 0; i < graph->transition_count; i++) {
        sum += sorted[i].probability;
        if (i + 1 < graph->transition_count && sorted[i + 1].source == sorted[i].source)
            continue;
        check_sum(input, sorted[i].source, sum);
        sum = 0;
    }
}

/* The rate of a stage: that of the first transition that leaves it, else the graph's. */
static double rate_of(const cobre_raw_graph *graph, int64_t stage)
{
    for (size_t i = 0; i < graph->transition_count; i++) {
        if (graph->transitions[i].source == stage)
            return isnan(graph->transitions[i].rate) ? graph->rate : graph->transitions[i].rate;
    }
    return graph->rate;
}

/* Whether some stage of the cycle is discounted: from the target of the last stage's transition. */
static bool cycle_is_discounted(const cobre_input *input)
{
    const cobre_raw_graph *graph = &input->graph;
    const cobre_raw_stage *last = input->stages + input->stage_count - 1;
    int64_t start = INT64_MIN;

    for (size_t i = graph->transition_count; i > 0 && input->stage_count > 0; i--) {
        if (graph->transitions[i - 1].source == last->head.id)
            start = graph->transitions[i - 1].target;
    }
    for (size_t i = 0; i < input->stage_count; i++) {
        const cobre_raw_stage *stage = &input->stages[i];
        if (stage->is_study && stage->head.id >= start && rate_of(graph, stage->head.id) > 0)
            return true;
    }
    return false;
}

static void check_graph(const cobre_input *input)
{
    const cobre_raw_graph *graph = &input->graph;

    for (size_t i = 0; i < graph->transition_count; i++) {
        check_end(input, "policy_graph.transitions.source_id", graph->transitions[i].source);
        check_end(input, "policy_graph.transitions.target_id", graph->transitions[i].target);
        check_step(input, &graph->transitions[i]);
    }
    check_sums(input);
    if (!graph->is_cyclic || (graph->rate > 0 && cycle_is_discounted(input)))
        return;
    cobre_finding finding = at_stages(COBRE_SEVERITY_ERROR, COBRE_KIND_OUT_OF_RANGE,
                                      "policy_graph.annual_discount_rate");
    finding.internal_kind = "InvalidValue";
    finding.message = "a cyclic graph needs a discount rate above 0 in its cycle";
    finding.suggestion = "Set annual_discount_rate, or make the graph finite_horizon.";
    finding.members = COBRE_MEMBERS(COBRE_REAL("value", graph->rate), COBRE_REAL("min", 0),
                                    COBRE_NULL("max"));
    cobre_report_add(input->report, &finding);
}

/* ---- dates ----------------------------------------------------------------------------------- */

/* Stages follow one another by their ids, so their dates ascend; stages of a calendar that overlap
 * or leave days out are odd, but only discounts and lags look at dates. */
static void check_dates(const cobre_input *input)
{
    for (size_t i = 1; i < input->stage_count; i++) {
        const cobre_raw_stage *before = &input->stages[i - 1], *stage = &input->stages[i];
        bool ascends = stage->start.day > before->start.day;
        if (ascends && (stage->start.day == before->end.day || !before->is_study))
            continue;
        cobre_finding finding = cobre_finding_at(
            ascends ? COBRE_SEVERITY_WARNING : COBRE_SEVERITY_ERROR, COBRE_KIND_STAGE_MISMATCH,
            LAYER, COBRE_STUDY_STAGES, &stage->head, "start_date");
        const char *relation = !ascends                             ? "is not after the start of"
                               : stage->start.day < before->end.day ? "lies within"
                                                                    : "leaves out days after";
        if (ascends)
            finding.internal_kind = "ModelQuality";
        finding.message = cobre_report_text(input->report, "start_date %s %s stage %lld (%s to %s)",
                                            stage->start.text, relation, (long long)before->head.id,
                                            before->start.text, before->end.text);
        finding.suggestion = "Let each stage start on the end_date of the stage with the id before "
                             "it, which is exclusive.";
        finding.members = COBRE_MEMBERS(COBRE_INT("stage_id", stage->head.id),
                                        COBRE_TEXT("detail", relation));
        cobre_report_add(input->report, &finding);
    }
}

/* ---- seasons --------------------------------------------------------------------------------- */

static bool season_exists(const cobre_input *input, int64_t id)
{
    for (size_t i = 0; i < input->season_count; i++) {
        if (input->seasons[i].id == id)
            return true;
    }
    return false;
}

static void report_season(const cobre_input *input, cobre_severity severity, int64_t stage,
                          const char *rule, const char *message, const char *suggestion)
{
    cobre_finding finding = at_stages(severity, COBRE_KIND_PHYSICAL_CONSTRAINT, "season_id");

    finding.noun = stage == COBRE_ABSENT ? NULL : "stage";
    finding.has_entity_id = finding.noun != NULL;
    finding.entity_id = stage;
    finding.message = message;
    finding.suggestion = suggestion;
    finding.members = COBRE_MEMBERS(COBRE_TEXT("rule", rule), COBRE_TEXT("detail", message));
    if (severity == COBRE_SEVERITY_WARNING)
        finding.internal_kind = "ModelQuality";
    cobre_report_add(input->report, &finding);
}

/* The shortest and the longest study stage of a season. */
struct lengths {
    int32_t least, most;
    int64_t longest; /* a stage's id */
    bool used;
};

static struct lengths season_lengths(const cobre_input *input, int64_t season)
{
    struct lengths lengths = { INT32_MAX, 0, 0, false };

    for (size_t i = 0; i < input->stage_count; i++) {
        const cobre_raw_stage *stage = &input->stages[i];
        int32_t days = stage->end.day - stage->start.day;
        if (!stage->is_study || stage->season != season)
            continue;
        lengths.used = true;
        lengths.least = days < lengths.least ? days : lengths.least;
        if (days > lengths.most) {
            lengths.most = days;
            lengths.longest = stage->head.id;
        }
    }
    return lengths;
}

static void check_season(const cobre_input *input, const cobre_raw_season *season)
{
    struct lengths lengths = season_lengths(input, season->id);

    if (!lengths.used)
        report_season(input, COBRE_SEVERITY_WARNING, COBRE_ABSENT, "season_is_used",
                      cobre_report_text(input->report, "season %lld '%s' is used by no stage",
                                        (long long)season->id, season->label),
                      "Remove the season, or give its stages its season_id.");
    else if (lengths.most - lengths.least > 7)
        report_season(input, COBRE_SEVERITY_ERROR, lengths.longest, "season_stages_alike",
                      cobre_report_text(input->report,
                                        "stages of season %lld last between %d and %d days",
                                        (long long)season->id, lengths.least, lengths.most),
                      "Stages of one season may differ by at most 7 days.");
}

static void check_seasons(const cobre_input *input)
{
    if (!input->has_seasons)
        return;
    for (size_t i = 0; i < input->stage_count; i++) {
        const cobre_raw_stage *stage = &input->stages[i];
        if (stage->is_study && stage->season != COBRE_ABSENT &&
            !season_exists(input, stage->season))
            report_season(input, COBRE_SEVERITY_ERROR, stage->head.id, "season_is_defined",
                          cobre_report_text(input->report, "season_id %lld is not defined",
                                            (long long)stage->season),
                          "Define the season in season_definitions.");
    }
    for (size_t i = 0; i < input->season_count; i++)
        check_season(input, &input->seasons[i]);
}

/* ---- series ---------------------------------------------------------------------------------- */

static void warn_deterministic(const cobre_input *input)
{
    const cobre_table *table = &input->tables[COBRE_FILE_INFLOW_STATS];

    for (size_t i = 0; i < table->rows; i++) {
        size_t row = table->order[i];
        int64_t hydro = cobre_table_int(table, COBRE_COL_ENTITY, row);
        if (cobre_table_real(table, COBRE_STATS_STD, row) > 0)
            continue;
        cobre_finding finding = cobre_finding_in(
            COBRE_SEVERITY_WARNING, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER,
            cobre_files_known[COBRE_FILE_INFLOW_STATS].path, "std_m3s");
        finding.internal_kind = "ModelQuality";
        finding.noun = "hydro";
        finding.has_entity_id = true;
        finding.entity_id = hydro;
        finding.row = (int64_t)row + 1;
        finding.message = cobre_report_text(
            input->report, "deterministic inflow: std_m3s is 0 in stage %lld",
            (long long)cobre_table_int(table, COBRE_COL_STAGE, row));
        finding.suggestion = "Give std_m3s if the inflow is uncertain.";
        finding.members = COBRE_MEMBERS(COBRE_TEXT("rule", "deterministic_inflow"),
                                        COBRE_TEXT("detail", "std_m3s is 0"));
        cobre_report_add(input->report, &finding);
    }
}

static void check_block(const cobre_input *input, cobre_file_id file, cobre_severity severity,
                        const char *noun, const cobre_raw_factor *factor)
{
    const cobre_raw_stage *stage = (const void *)cobre_input_find(input, COBRE_STUDY_STAGES,
                                                                  factor->stage);

    if (!stage || factor->block < (int64_t)stage->block_count)
        return;
    cobre_finding finding = cobre_finding_in(severity, COBRE_KIND_PHYSICAL_CONSTRAINT, LAYER,
                                             cobre_files_known[file].path, "block_id");
    finding.noun = noun;
    finding.has_entity_id = true;
    finding.entity_id = factor->entity;
    finding.message = cobre_report_text(input->report, "stage %lld has no block %lld",
                                        (long long)factor->stage, (long long)factor->block);
    finding.suggestion = "Use the block ids of the stage in stages.json.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("rule", "block_exists"),
                                    COBRE_INT("stage_id", factor->stage),
                                    COBRE_TEXT("detail", finding.message));
    cobre_report_add(input->report, &finding);
}

static void check_blocks(const cobre_input *input)
{
    for (size_t i = 0; i < input->load_factors.count; i++)
        check_block(input, COBRE_FILE_LOAD_FACTORS, COBRE_SEVERITY_ERROR, "bus",
                    &input->load_factors.items[i]);
    for (size_t i = 0; i < input->source_factors.count; i++)
        check_block(input, COBRE_FILE_SOURCE_FACTORS, COBRE_SEVERITY_ERROR, "source",
                    &input->source_factors.items[i]);
    for (size_t i = 0; i < input->exchange_factors.count; i++)
        check_block(input, COBRE_FILE_EXCHANGE_FACTORS, COBRE_SEVERITY_WARNING, "line",
                    &input->exchange_factors.items[i]);
}

/* Training without an iteration_limit stops at 100 iterations, which the case does not mention. */
static void warn_no_limit(const cobre_input *input)
{
    const cobre_raw_config *config = &input->config;

    for (size_t i = 0; i < config->rule_count; i++) {
        if (config->rules[i].type == COBRE_RULE_ITERATION_LIMIT)
            return;
    }
    cobre_finding finding = cobre_finding_in(
        COBRE_SEVERITY_WARNING, COBRE_KIND_INCOMPATIBLE_SETTINGS, LAYER,
        cobre_files_known[COBRE_FILE_CONFIG].path, "training.stopping_rules");
    finding.internal_kind = "ModelQuality";
    finding.message = "no iteration_limit: training stops after 100 iterations at the latest";
    finding.suggestion = "Add a stopping rule of type iteration_limit.";
    finding.members = COBRE_MEMBERS(COBRE_TEXT("settings", "training.stopping_rules"),
                                    COBRE_TEXT("detail", "no rule of type iteration_limit"));
    cobre_report_add(input->report, &finding);
}

void cobre_check_stages(const cobre_input *input)
{
    check_stage_count(input);
    check_graph(input);
    check_dates(input);
    check_seasons(input);
    warn_deterministic(input);
    check_blocks(input);
    warn_no_limit(input);
}
