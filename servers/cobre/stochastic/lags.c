/*
 * lags.c - periods of the inflow lags.
 *
 * A lag is the mean inflow of a period: a month or a quarter. With monthly season_definitions the
 * season of a stage names its period, and stages shorter than a period accumulate: the mean of the
 * period becomes lag 1 after its last stage. A stage that reaches into the next period begins that
 * one's mean (spill). Elsewhere every stage is a period of its own, the plain rule. The original
 * leaves lags as they are where it has no period; "cobre-0.5" does so too.
 *
 * A period that one stage makes up has weight 1 exactly, so that its mean is the inflow bit for
 * bit.
 */
#include "stochastic/lags.h"

#include "stochastic/calendar.h"

typedef struct period {
    calendar_span span;
    bool is_known; /* else the plain rule */
} period;

typedef struct builder {
    inflow_model *model;
    mcp_arena *arena;
    const cobre_case *input;
    period *periods; /* by stage */
    lag_move *moves;
} builder;

static calendar_span span_of(const cobre_stage *stage)
{
    return (calendar_span){ stage->start, stage->end };
}

static int32_t length_of(calendar_span span)
{
    return span.end - span.start;
}

static bool same_span(calendar_span a, calendar_span b)
{
    return a.start == b.start && a.end == b.end;
}

/* The season's months that the stage overlaps: those of the year it starts in, of the year before
 * or of the next. */
static period period_of(const cobre_case *input, const cobre_stage *stage)
{
    static const int32_t shifts[] = { 0, -1, 1 };

    if (!input->has_seasons || input->cycle != COBRE_CYCLE_MONTHLY || !stage->has_season)
        return (period){ .is_known = false };
    const cobre_season *season = calendar_season(input, stage->season_id);
    int32_t year = calendar_date_of(stage->start).year;
    for (size_t i = 0; season && i < sizeof shifts / sizeof shifts[0]; i++) {
        calendar_span span = calendar_season_span(season, year + shifts[i]);
        if (calendar_overlap(span, span_of(stage)) > 0)
            return (period){ span, true };
    }
    return (period){ .is_known = false };
}

/* The next stage of another period; the number of stages when there is none. */
static size_t next_period(const builder *b, size_t t)
{
    size_t next = t + 1;

    while (next < b->model->stages && b->periods[next].is_known &&
           same_span(b->periods[next].span, b->periods[t].span))
        next++;
    return next;
}

static double share(calendar_span stage, calendar_span of)
{
    return (double)calendar_overlap(stage, of) / (double)length_of(of);
}

static bool is_longer(const builder *b, size_t t)
{
    const period *before = &b->periods[t - 1], *at = &b->periods[t];

    return before->is_known && at->is_known && length_of(at->span) > 45 &&
           length_of(before->span) <= 45;
}

static void set_move(builder *b, size_t t)
{
    const period *at = &b->periods[t];
    const cobre_stage *stage = &b->input->stages[t];
    lag_move *move = &b->moves[t];

    *move = (lag_move){ .weight = 1.0, .share = 1.0, .begins = true, .is_last = true };
    if (!at->is_known) {
        move->is_frozen = b->input->config.original_arithmetic;
        return;
    }
    size_t next = next_period(b, t);
    double spill = 0.0;
    move->share = share(span_of(stage), at->span);
    move->begins = t == 0 ? b->model->initial_weight == 0.0
                          : next_period(b, t - 1) == t && b->moves[t - 1].spill == 0.0;
    if (next == t + 1 && next < b->model->stages && b->periods[next].is_known &&
        !is_longer(b, next) && b->periods[next].span.start == at->span.end)
        spill = share(span_of(stage), b->periods[next].span);
    lags_continue(move, next == t + 1, spill);
}

void lags_continue(lag_move *last, bool is_last, double spill)
{
    last->is_last = is_last;
    last->spill = is_last ? spill : 0.0;
    last->weight = last->begins && is_last ? 1.0 : last->share;
}

/* A boundary policy may know of later stages in the period of the last one: then the sum of the
 * running period is a part of the state. */
static bool may_go_on(const builder *b)
{
    size_t last = b->model->stages - 1;

    return b->input->config.policy.boundary_path && b->model->lags > 0 &&
           b->periods[last].is_known && b->input->stages[last].end != b->periods[last].span.end;
}

/* ---- quarters after months ------------------------------------------------------------------- */

/* The shares that the stages before `end` have in the mean of a span; false when they do not cover
 * it. */
static bool shares_of(const builder *b, calendar_span span, size_t end, size_t *first,
                      size_t *count, double **shares, mcp_status *st)
{
    int32_t covered = 0;

    *first = end;
    *count = 0;
    for (size_t t = end; t-- > 0 && b->input->stages[t].end > span.start;) {
        covered += calendar_overlap(span_of(&b->input->stages[t]), span);
        if (calendar_overlap(span_of(&b->input->stages[t]), span) == 0)
            continue;
        *first = t;
        ++*count;
    }
    if (covered < length_of(span))
        return false;
    *shares = mcp_arena_array(b->arena, *count, sizeof **shares);
    if (!*shares) {
        *st = MCP_E_NOMEM;
        return false;
    }
    for (size_t i = 0; i < *count; i++)
        (*shares)[i] = share(span_of(&b->input->stages[*first + i]), span);
    return true;
}

static mcp_status make_rebuild(builder *b, size_t t)
{
    size_t lags = b->model->lags;
    calendar_date start = calendar_date_of(b->periods[t].span.start);
    int32_t months = (length_of(b->periods[t].span) + 15) / 30;
    lag_rebuild *made = mcp_arena_alloc(b->arena, sizeof *made);
    size_t *first = mcp_arena_array(b->arena, lags, sizeof *first);
    size_t *count = mcp_arena_array(b->arena, lags, sizeof *count);
    double **shares = mcp_arena_array(b->arena, lags, sizeof *shares);
    mcp_status st = MCP_OK;
    size_t known = 0;

    if (!made || !first || !count || !shares)
        return MCP_E_NOMEM;
    for (; known < lags; known++) {
        int32_t last = (int32_t)start.month - months * (int32_t)known;
        calendar_span span = { calendar_day_of(start.year, last - months, 1),
                               calendar_day_of(start.year, last, 1) };
        if (!shares_of(b, span, t, &first[known], &count[known], &shares[known], &st))
            break;
    }
    if (st != MCP_OK || known == 0)
        return st;
    *made = (lag_rebuild){ known, first, count, (const double *const *)shares };
    b->moves[t].rebuild = made;
    return MCP_OK;
}

/* ---- before the first stage ------------------------------------------------------------------ */

/* Days and value * days of the observations of a hydro inside a span. */
static void add_observations(const cobre_case *input, size_t hydro, calendar_span span,
                             double *days, double *sum)
{
    const cobre_scenarios *scenarios = &input->scenarios;

    *days = *sum = 0.0;
    for (size_t i = 0; i < scenarios->recent_count; i++) {
        const cobre_recent *seen = &scenarios->recent[i];
        if (seen->hydro != hydro)
            continue;
        double shared = calendar_overlap((calendar_span){ seen->start, seen->end }, span);
        *days += shared;
        *sum += shared * seen->value;
    }
}

/* The part of the first period that was over before the study, from recent_observations. One weight
 * holds for all hydros, that of the longest observation; a hydro that was observed for less counts
 * with its mean, one without observations with the mean of the season. The original adds
 * value * hours without dividing by the hours of the month, and takes observations whole. */
static void set_accumulators(builder *b, double *sums, const double *means)
{
    inflow_model *model = b->model;
    const period *first = &b->periods[0];

    if (model->lags == 0 || !first->is_known || b->input->scenarios.recent_count == 0)
        return;
    bool original = b->input->config.original_arithmetic;
    calendar_span all = { INT32_MIN / 2, INT32_MAX / 2 };
    calendar_span before = { first->span.start, b->input->stages[0].start };
    calendar_span span = original ? all : before;
    double longest = 0.0, days = 0.0, sum = 0.0;
    for (size_t h = 0; h < model->hydros; h++) {
        add_observations(b->input, h, span, &days, &sum);
        longest = days > longest ? days : longest;
    }
    model->initial_weight = longest / (double)length_of(first->span);
    for (size_t h = 0; longest > 0.0 && h < model->hydros; h++) {
        add_observations(b->input, h, span, &days, &sum);
        if (original)
            sums[h] = sum * 24.0;
        else
            sums[h] = model->initial_weight * (days > 0.0 ? sum / days : means[h]);
    }
}

static void set_initial_lags(const builder *b, double *initial)
{
    for (size_t h = 0; h < b->model->hydros; h++) {
        const cobre_hydro *hydro = &b->input->hydros[h];
        for (size_t l = 0; l < b->model->lags && l < hydro->past_inflow_count; l++)
            initial[l * b->model->hydros + h] = hydro->past_inflow[l];
    }
}

mcp_status lags_build(inflow_model *model, mcp_arena *arena, const cobre_case *input,
                      const double *means, mcp_error *err)
{
    builder b = { .model = model, .arena = arena, .input = input };
    double *initial = mcp_arena_array(arena, model->lags, model->hydros * sizeof *initial);
    double *sums = mcp_arena_array(arena, model->hydros, sizeof *sums);
    mcp_status st = MCP_OK;

    b.periods = mcp_arena_array(arena, model->stages, sizeof *b.periods);
    b.moves = mcp_arena_array(arena, model->stages, sizeof *b.moves);
    if (!initial || !sums || !b.periods || !b.moves)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the inflow lags");
    for (size_t t = 0; t < model->stages; t++)
        b.periods[t] = period_of(input, &input->stages[t]);
    set_initial_lags(&b, initial);
    set_accumulators(&b, sums, means);
    model->accumulates = (model->lags > 0 && model->initial_weight > 0.0) || may_go_on(&b);
    for (size_t t = 0; t < model->stages; t++) {
        set_move(&b, t);
        if (model->lags > 0 && (!b.moves[t].is_last || b.moves[t].spill > 0.0))
            model->accumulates = true;
        if (st == MCP_OK && model->lags > 0 && t > 0 && is_longer(&b, t))
            st = make_rebuild(&b, t);
    }
    if (st != MCP_OK)
        return mcp_error_set(err, st, "no memory for the lags of longer periods");
    model->initial = initial;
    model->initial_sum = sums;
    model->moves = b.moves;
    return MCP_OK;
}
