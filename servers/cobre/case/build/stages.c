/*
 * stages.c - fills the stages, the seasons and the shape of the horizon.
 *
 * Source: the case page, section 3; the method page, sections 6 and 16.
 */
#include "case/build/builder.h"

static const cobre_raw_transition *transition_from(const cobre_raw_graph *graph, int64_t stage)
{
    for (size_t i = 0; i < graph->transition_count; i++) {
        if (graph->transitions[i].source == stage)
            return &graph->transitions[i];
    }
    return NULL; /* only the first one that leaves a stage counts */
}

static double discount_of(const cobre_raw_graph *graph, int64_t stage, int32_t days)
{
    const cobre_raw_transition *transition = transition_from(graph, stage);
    double rate = transition && !isnan(transition->rate) ? transition->rate : graph->rate;

    return rate == 0 ? 1 : 1 / pow(1 + rate, days / 365.25);
}

static void set_stage(const cobre_builder *b, const cobre_raw_stage *raw, cobre_stage *stage)
{
    *stage = (cobre_stage){
        .id = (int32_t)raw->head.id,
        .start_date = raw->start.text,
        .end_date = raw->end.text,
        .start = raw->start.day,
        .end = raw->end.day,
        .days = raw->end.day - raw->start.day,
        .sampling = (cobre_sampling)raw->sampling,
        .is_chronological = raw->block_mode != 0 && !b->is_original,
        .has_season = raw->season != COBRE_ABSENT,
        .season_id = raw->season != COBRE_ABSENT ? (uint32_t)raw->season : 0,
        .blocks = raw->blocks,
        .block_count = raw->block_count,
        .openings = (uint32_t)raw->openings,
        .is_cvar = raw->is_cvar,
        .cvar_alpha = raw->alpha,
        .cvar_lambda = raw->lambda,
    };
    for (size_t i = 0; i < raw->block_count; i++)
        stage->hours += raw->blocks[i].hours;
    stage->discount = discount_of(&b->input->graph, raw->head.id, stage->days);
}

static void set_stages(cobre_builder *b)
{
    const cobre_input *input = b->input;
    cobre_stage *stages = cobre_make(b, input->stage_count, sizeof *stages);
    cobre_pre_stage *before = cobre_make(b, input->stage_count, sizeof *before);
    size_t count = 0, before_count = 0;

    for (size_t i = 0; i < input->stage_count && stages && before; i++) {
        const cobre_raw_stage *raw = &input->stages[i];
        bool has_season = raw->season != COBRE_ABSENT;
        if (raw->is_study)
            set_stage(b, raw, &stages[count++]);
        else
            before[before_count++] = (cobre_pre_stage){
                .id = (int32_t)raw->head.id,
                .start = raw->start.day,
                .end = raw->end.day,
                .has_season = has_season,
                .season_id = has_season ? (uint32_t)raw->season : 0,
            };
    }
    b->built->stages = stages;
    b->built->stage_count = count;
    b->built->pre_stages = before;
    b->built->pre_stage_count = before_count;
}

static uint32_t day_or(int64_t value, int64_t fallback)
{
    return (uint32_t)(value == COBRE_ABSENT ? fallback : value);
}

static void set_seasons(cobre_builder *b)
{
    const cobre_input *input = b->input;
    cobre_season *seasons = cobre_make(b, input->season_count, sizeof *seasons);

    for (size_t i = 0; i < input->season_count && seasons; i++) {
        const cobre_raw_season *raw = &input->seasons[i];
        seasons[i] = (cobre_season){
            .id = (uint32_t)raw->id,
            .label = raw->label,
            .month_start = (uint32_t)raw->month_start,
            .day_start = day_or(raw->day_start, 1),
            .month_end = day_or(raw->month_end, raw->month_start),
            .day_end = day_or(raw->day_end, 31),
        };
    }
    b->built->seasons = seasons;
    b->built->season_count = input->season_count;
    b->built->has_seasons = input->has_seasons;
    b->built->cycle = (cobre_cycle)input->cycle;
}

/* The last stage's transition says where a cycle begins; without one it is the first stage. */
static void set_horizon(cobre_builder *b)
{
    cobre_case *built = b->built;

    built->is_cyclic = b->input->graph.is_cyclic && !b->is_original;
    if (!built->is_cyclic || built->stage_count == 0)
        return;
    int64_t last = built->stages[built->stage_count - 1].id;
    const cobre_raw_transition *transition = transition_from(&b->input->graph, last);
    size_t start = transition ? cobre_stage_index(b, transition->target) : COBRE_NONE;
    built->cycle_start = start == COBRE_NONE ? 0 : start;
}

void cobre_build_stages(cobre_builder *b)
{
    set_stages(b);
    set_seasons(b);
    if (!b->failed)
        set_horizon(b);
}
