/*
 * stages.c - reads stages.json: the policy graph, the stages of both kinds, the seasons.
 *
 * Study stages and pre-study stages share one id space and are merged and sorted by id. The order
 * of the blocks in the file is free; here they are sorted by id, which must be 0 to n-1. Source:
 * the case page, section 3.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "case/read/readers.h"

static const char *const graph_types[] = { "finite_horizon", "cyclic", NULL };
static const char *const block_modes[] = { "parallel", "chronological", NULL };
static const char *const samplings[] = { "saa",        "lhs",       "qmc_sobol",
                                         "qmc_halton", "selective", "historical_residuals",
                                         NULL };
static const char *const cycles[] = { "monthly", "weekly", "custom", NULL };

struct root {
    const mcp_json *graph, *stages, *pre_study, *seasons, *transitions;
    const char *schema;
    cobre_raw_graph kept;
};

static const cobre_field root_fields[] = {
    COBRE_F(struct root, "$schema", TEXT, COBRE_OPTIONAL, schema),
    COBRE_F(struct root, "policy_graph", OBJECT, COBRE_REQUIRED, graph),
    COBRE_C(struct root, "policy_graph.type", COBRE_REQUIRED, kept.type, graph_types, -1),
    COBRE_F(struct root, "policy_graph.annual_discount_rate", REAL,
            COBRE_REQUIRED | COBRE_NOT_NEGATIVE, kept.rate),
    COBRE_F(struct root, "policy_graph.transitions", ARRAY, 0, transitions),
    COBRE_F(struct root, "stages", ARRAY, COBRE_REQUIRED, stages),
    COBRE_F(struct root, "pre_study_stages", ARRAY, COBRE_OPTIONAL, pre_study),
    COBRE_F(struct root, "season_definitions", OBJECT, COBRE_OPTIONAL, seasons),
    COBRE_FIELDS_END
};

static const cobre_field transition_fields[] = {
    COBRE_F(cobre_raw_transition, "source_id", INT32, COBRE_REQUIRED, source),
    COBRE_F(cobre_raw_transition, "target_id", INT32, COBRE_REQUIRED, target),
    COBRE_F(cobre_raw_transition, "probability", REAL, COBRE_REQUIRED | COBRE_NOT_NEGATIVE,
            probability),
    COBRE_F(cobre_raw_transition, "annual_discount_rate_override", REAL,
            COBRE_OPTIONAL | COBRE_NOT_NEGATIVE, rate),
    COBRE_FIELDS_END
};

static const cobre_field stage_fields[] = {
    COBRE_F(cobre_raw_stage, "id", INT32, COBRE_REQUIRED, head.id),
    COBRE_F(cobre_raw_stage, "start_date", DATE, COBRE_REQUIRED, start),
    COBRE_F(cobre_raw_stage, "end_date", DATE, COBRE_REQUIRED, end),
    COBRE_F(cobre_raw_stage, "season_id", UINT32, COBRE_OPTIONAL, season), COBRE_FIELDS_END
};

struct study_members {
    cobre_raw_stage kept;
};

static const cobre_field study_fields[] = {
    COBRE_F(struct study_members, "blocks", ARRAY, COBRE_REQUIRED, kept.blocks_json),
    COBRE_C(struct study_members, "block_mode", 0, kept.block_mode, block_modes, 0),
    COBRE_F(struct study_members, "state_variables", OBJECT, COBRE_OPTIONAL, kept.state_variables),
    COBRE_P(struct study_members, "state_variables.storage", BOOL, 0, kept.storage_state, 1),
    COBRE_P(struct study_members, "state_variables.inflow_lags", BOOL, 0, kept.lag_state, 0),
    COBRE_F(struct study_members, "risk_measure", ANY, 0, kept.risk_json),
    COBRE_F(struct study_members, "num_scenarios", UINT32, COBRE_REQUIRED | COBRE_POSITIVE,
            kept.openings),
    COBRE_C(struct study_members, "sampling_method", 0, kept.sampling, samplings, 0),
    COBRE_FIELDS_END
};

/* ---- blocks ---------------------------------------------------------------------------------- */

struct block_members {
    int64_t id;
    const char *name;
    double hours;
};

static const cobre_field block_fields[] = {
    COBRE_F(struct block_members, "id", UINT32, COBRE_REQUIRED, id),
    COBRE_F(struct block_members, "name", TEXT, COBRE_REQUIRED, name),
    COBRE_F(struct block_members, "hours", REAL, COBRE_REQUIRED | COBRE_POSITIVE, hours),
    COBRE_FIELDS_END
};

static void read_block(cobre_reader *reader, const mcp_json *json, size_t index,
                       cobre_raw_stage *stage)
{
    struct block_members members;
    char path[64];

    snprintf(path, sizeof path, "blocks[%zu]", index);
    if (!cobre_reader_is_object(reader, json, path))
        return;
    snprintf(path, sizeof path, "blocks[%zu].", index);
    cobre_read_fields(reader, json, path, block_fields, &members);
    if (reader->failed)
        return;
    snprintf(path, sizeof path, "blocks[%zu].id", index);
    if (members.id >= (int64_t)stage->block_count)
        cobre_reader_range(reader, path, (double)members.id, 0, (double)stage->block_count - 1,
                           "must number the blocks 0 to n-1");
    else if (stage->blocks[members.id].name)
        cobre_reader_duplicate(reader, path, members.id, "blocks");
    else
        stage->blocks[members.id] = (cobre_block){ (uint32_t)members.id, members.name,
                                                   members.hours };
}

static void read_blocks(cobre_reader *reader, cobre_raw_stage *stage)
{
    if (reader->failed)
        return;
    stage->block_count = mcp_json_count(stage->blocks_json);
    if (stage->block_count == 0) {
        cobre_reader_violation(reader, "blocks", "at least one block", "none",
                               "Give the stage a block with its hours.");
        return;
    }
    stage->blocks = cobre_reader_array(reader, stage->block_count, sizeof *stage->blocks);
    for (size_t i = 0; i < stage->block_count && !reader->failed; i++)
        read_block(reader, mcp_json_item(stage->blocks_json, i), i, stage);
}

/* ---- risk measure ---------------------------------------------------------------------------- */

struct risk_members {
    const mcp_json *cvar;
    double alpha, lambda;
};

static const cobre_field risk_fields[] = {
    COBRE_F(struct risk_members, "cvar", OBJECT, COBRE_REQUIRED, cvar),
    COBRE_F(struct risk_members, "cvar.alpha", REAL,
            COBRE_REQUIRED | COBRE_POSITIVE | COBRE_AT_MOST_ONE, alpha),
    COBRE_F(struct risk_members, "cvar.lambda", REAL,
            COBRE_REQUIRED | COBRE_NOT_NEGATIVE | COBRE_AT_MOST_ONE, lambda),
    COBRE_FIELDS_END
};

static void read_risk(cobre_reader *reader, cobre_raw_stage *stage)
{
    static const char *const words[] = { "expectation", NULL };
    const mcp_json *json = stage->risk_json;
    const char *word = mcp_json_string(json, NULL);
    struct risk_members members;

    if (reader->failed || !json)
        return;
    if (word) {
        if (strcasecmp(word, "expectation") != 0)
            cobre_reader_enum(reader, "risk_measure", word, words);
        return;
    }
    if (!mcp_json_is_object(json)) {
        cobre_reader_type(reader, "risk_measure", "string or object", json);
        return;
    }
    cobre_read_fields(reader, json, "risk_measure.", risk_fields, &members);
    stage->is_cvar = true;
    stage->alpha = members.alpha;
    stage->lambda = members.lambda;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static void read_study_members(cobre_reader *reader, const mcp_json *json, cobre_raw_stage *stage)
{
    struct study_members members = { .kept = *stage };

    cobre_read_fields(reader, json, "", study_fields, &members);
    *stage = members.kept;
    read_blocks(reader, stage);
    read_risk(reader, stage);
    stage->is_study = stage->head.id >= 0;
}

static void read_stage(cobre_reader *reader, const mcp_json *json, const char *array, size_t index,
                       cobre_raw_stage *stage)
{
    bool is_pre_study = strcmp(array, "pre_study_stages") == 0;
    char path[64];

    snprintf(path, sizeof path, "%s[%zu]", array, index);
    if (!cobre_reader_is_object(reader, json, path))
        return;
    cobre_reader_entity(reader, is_pre_study ? "pre-study stage" : "stage", json);
    reader->name = NULL;
    cobre_read_fields(reader, json, "", stage_fields, stage);
    if (!reader->failed && stage->start.day >= stage->end.day)
        cobre_reader_violation(
            reader, "end_date", "a date after start_date",
            cobre_report_text(reader->report, "%s, start %s", stage->end.text, stage->start.text),
            "The end date is exclusive: a stage of January ends on 02-01.");
    if (!reader->failed && !is_pre_study)
        read_study_members(reader, json, stage);
    cobre_reader_entity(reader, NULL, NULL);
}

static void read_stage_arrays(cobre_reader *reader, const struct root *root, cobre_input *input)
{
    size_t study = mcp_json_count(root->stages), before = mcp_json_count(root->pre_study);
    int64_t twice = 0;

    input->stages = cobre_reader_array(reader, study + before, sizeof *input->stages);
    for (size_t i = 0; i < study && !reader->failed; i++)
        read_stage(reader, mcp_json_item(root->stages, i), "stages", i, &input->stages[i]);
    for (size_t i = 0; i < before && !reader->failed; i++)
        read_stage(reader, mcp_json_item(root->pre_study, i), "pre_study_stages", i,
                   &input->stages[study + i]);
    if (reader->failed)
        return;
    if (!cobre_registry_sort(input->stages, study + before, sizeof *input->stages, &twice)) {
        reader->noun = "stage";
        cobre_reader_duplicate(reader, "id", twice, "stages.json");
    }
    input->stage_count = study + before;
}

static void read_transitions(cobre_reader *reader, const mcp_json *array, cobre_raw_graph *graph)
{
    char path[64];

    graph->transition_count = mcp_json_count(array);
    graph->transitions = cobre_reader_array(reader, graph->transition_count,
                                            sizeof *graph->transitions);
    for (size_t i = 0; i < graph->transition_count && !reader->failed; i++) {
        const mcp_json *json = mcp_json_item(array, i);
        snprintf(path, sizeof path, "policy_graph.transitions[%zu]", i);
        if (!cobre_reader_is_object(reader, json, path))
            return;
        snprintf(path, sizeof path, "policy_graph.transitions[%zu].", i);
        cobre_read_fields(reader, json, path, transition_fields, &graph->transitions[i]);
    }
}

/* ---- seasons --------------------------------------------------------------------------------- */

struct season_root {
    int64_t cycle;
    const mcp_json *seasons;
};

static const cobre_field season_root_fields[] = {
    COBRE_C(struct season_root, "cycle_type", COBRE_REQUIRED, cycle, cycles, -1),
    COBRE_F(struct season_root, "seasons", ARRAY, COBRE_REQUIRED, seasons), COBRE_FIELDS_END
};

static const cobre_field season_fields[] = {
    COBRE_F(cobre_raw_season, "id", UINT32, COBRE_REQUIRED, id),
    COBRE_F(cobre_raw_season, "label", TEXT, COBRE_REQUIRED, label),
    COBRE_F(cobre_raw_season, "month_start", UINT32, COBRE_REQUIRED, month_start),
    COBRE_F(cobre_raw_season, "day_start", UINT32, COBRE_OPTIONAL, day_start),
    COBRE_F(cobre_raw_season, "month_end", UINT32, COBRE_OPTIONAL, month_end),
    COBRE_F(cobre_raw_season, "day_end", UINT32, COBRE_OPTIONAL, day_end),
    COBRE_FIELDS_END
};

static void check_calendar(cobre_reader *reader, const char *path, int64_t value, int64_t max)
{
    if (!reader->failed && value != COBRE_ABSENT && (value < 1 || value > max))
        cobre_reader_range(reader, path, (double)value, 1, (double)max,
                           "must be a month (1 to 12) or a day (1 to 31)");
}

static void read_season(cobre_reader *reader, const mcp_json *json, size_t index,
                        cobre_raw_season *season)
{
    char path[64];

    snprintf(path, sizeof path, "season_definitions.seasons[%zu]", index);
    if (!cobre_reader_is_object(reader, json, path))
        return;
    cobre_reader_entity(reader, "season", json);
    cobre_read_fields(reader, json, "", season_fields, season);
    check_calendar(reader, "month_start", season->month_start, 12);
    check_calendar(reader, "month_end", season->month_end, 12);
    check_calendar(reader, "day_start", season->day_start, 31);
    check_calendar(reader, "day_end", season->day_end, 31);
    cobre_reader_entity(reader, NULL, NULL);
}

static int compare_seasons(const void *a, const void *b)
{
    int64_t x = ((const cobre_raw_season *)a)->id, y = ((const cobre_raw_season *)b)->id;

    return x < y ? -1 : x > y;
}

static void sort_seasons(cobre_reader *reader, cobre_input *input)
{
    if (!reader->failed && input->season_count > 1)
        qsort(input->seasons, input->season_count, sizeof *input->seasons, compare_seasons);
    for (size_t i = 1; i < input->season_count && !reader->failed; i++) {
        if (input->seasons[i].id == input->seasons[i - 1].id) {
            reader->noun = "season";
            cobre_reader_duplicate(reader, "id", input->seasons[i].id, "season_definitions");
        }
    }
}

static void read_seasons(cobre_reader *reader, const mcp_json *object, cobre_input *input)
{
    struct season_root root;

    cobre_read_fields(reader, object, "season_definitions.", season_root_fields, &root);
    if (reader->failed)
        return;
    input->season_count = mcp_json_count(root.seasons);
    input->seasons = cobre_reader_array(reader, input->season_count, sizeof *input->seasons);
    for (size_t i = 0; i < input->season_count && !reader->failed; i++)
        read_season(reader, mcp_json_item(root.seasons, i), i, &input->seasons[i]);
    sort_seasons(reader, input);
    input->has_seasons = !reader->failed;
    input->cycle = root.cycle;
}

/* ---- the file -------------------------------------------------------------------------------- */

void cobre_read_stages(cobre_reader *reader, const mcp_json *root, cobre_input *input)
{
    struct root members = { 0 };

    if (mcp_json_get(root, "scenario_source")) {
        cobre_reader_violation(reader, "scenario_source", "no such key", "one",
                               "Move scenario_source to training.scenario_source in config.json.");
        return;
    }
    cobre_read_fields(reader, root, "", root_fields, &members);
    if (reader->failed)
        return;
    members.kept.is_cyclic = members.kept.type == 1;
    read_transitions(reader, members.transitions, &members.kept);
    read_stage_arrays(reader, &members, input);
    if (!reader->failed && members.seasons)
        read_seasons(reader, members.seasons, input);
    input->graph = members.kept;
}

/* ---- the shape ------------------------------------------------------------------------------- */

static const cobre_shape block = { .tables = { block_fields } };
static const cobre_shape blocks = { .kind = COBRE_SHAPE_LIST, .of = &block, .least = 1 };
static const cobre_shape cvar = { .tables = { risk_fields } };
static const cobre_shape expectation = {
    .kind = COBRE_SHAPE_TEXT,
    .pattern = "^[Ee][Xx][Pp][Ee][Cc][Tt][Aa][Tt][Ii][Oo][Nn]$",
};
static const cobre_shape risk = {
    .kind = COBRE_SHAPE_EITHER,
    .either = (const cobre_shape *const[]){ &expectation, &cvar, NULL },
};
static const cobre_joint stage_joints[] = { { "blocks", &blocks },
                                            { "risk_measure", &risk },
                                            { NULL, NULL } };
static const cobre_shape stage_shape = { .tables = { stage_fields, study_fields },
                                         .joints = stage_joints };
static const cobre_shape pre_stage = { .tables = { stage_fields } };
static const cobre_shape study_stages = { .kind = COBRE_SHAPE_LIST, .of = &stage_shape };
static const cobre_shape pre_stages = { .kind = COBRE_SHAPE_LIST, .of = &pre_stage };
static const cobre_shape transition = { .tables = { transition_fields } };
static const cobre_shape transitions = { .kind = COBRE_SHAPE_LIST, .of = &transition };

static const cobre_shape month = { .kind = COBRE_SHAPE_INTEGER, .min = 1, .max = 12 };
static const cobre_shape day = { .kind = COBRE_SHAPE_INTEGER, .min = 1, .max = 31 };
static const cobre_joint season_joints[] = { { "month_start", &month },
                                             { "month_end", &month },
                                             { "day_start", &day },
                                             { "day_end", &day },
                                             { NULL, NULL } };
static const cobre_shape season_shape = { .tables = { season_fields }, .joints = season_joints };
static const cobre_shape season_list = { .kind = COBRE_SHAPE_LIST, .of = &season_shape };
static const cobre_joint definition_joints[] = { { "seasons", &season_list }, { NULL, NULL } };
static const cobre_shape definitions = { .tables = { season_root_fields },
                                         .joints = definition_joints };

static const cobre_joint root_joints[] = {
    { "policy_graph.transitions", &transitions },
    { "stages", &study_stages },
    { "pre_study_stages", &pre_stages },
    { "season_definitions", &definitions },
    { NULL, NULL },
};
const cobre_shape cobre_shape_stages = { .tables = { root_fields },
                                         .joints = root_joints,
                                         .forbidden = "scenario_source" };
