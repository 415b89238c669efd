/*
 * walk.c - the walk: one basis goes from optimum to optimum, and the lanes that it is optimal for
 * get off.
 *
 * The target is the lane with the least violation, the lowest opening on ties, and it stays the
 * target until it is optimal: each lane then sees an ordinary dual simplex, so the usual arguments
 * end it. The leaving row, the entering column and the flips are the target's; for the others any
 * dual feasible basis is as good.
 *
 * Trouble (a singular kernel, too many pivots, an optimum that does not hold) sends the target
 * alone to the slack basis. The others wait and go on from where it ends. When that fails too, the
 * caller takes another solver.
 */
#include "lp/dual/dual.h"

#include "lp/dual/answer.h"
#include "lp/dual/lanes.h"
#include "lp/dual/pivot.h"
#include "lp/dual/pool.h"
#include "lp/dual/rows.h"
#include "lp/dual/start.h"
#include "lp/dual/task.h"
#include "mcp/clock.h"

#ifdef LP_DUAL_FEW_PIVOTS /* for tests */
#define PIVOTS_MAX LP_DUAL_FEW_PIVOTS
#else
#define PIVOTS_MAX 20000
#endif
#define PIVOTS_PER_INVERSE 50
#define NO_TARGET SIZE_MAX

/* The end of one step of the walk. */
typedef enum step {
    STEP_ON,
    STEP_TROUBLE,
    STEP_ENDS, /* by w->end */
} step;

typedef struct walk {
    size_t target;
    lp_status end;
    bool is_alone; /* the lane in trouble, from the slack basis */
} walk;

/* ---- inversion ------------------------------------------------------------------------------- */

#ifdef LP_DUAL_FORCED_TROUBLE
/* A build of the tests spoils the inverse now and then, after pivots and after inversions. */
static void spoil(dual_work *w)
{
    int at = (int)(w->totals.pivots % (w->size > 0 ? w->size : 1));

    if (w->size > 0 && (w->totals.pivots + w->totals.refactors) % LP_DUAL_FORCED_TROUBLE == 0)
        task_inverse(w, at)[at] += 0.25;
}
#else
static void spoil(dual_work *w)
{
    (void)w;
}
#endif

/* Invert again and compute everything from it. */
static step refactor(dual_work *w)
{
    if (!start_refactor(w) || !start_mend(w))
        return STEP_TROUBLE;
    spoil(w);
    lanes_compute(w);
    return STEP_ON;
}

/* ---- lanes that are done --------------------------------------------------------------------- */

static void list_done(dual_work *w)
{
    w->done_count = 0;
    for (size_t l = 0; l < w->lanes; l++)
        if (w->violation[l] == 0.0)
            w->done[w->done_count++] = (uint32_t)l;
}

static void remove_done(dual_work *w, walk *at)
{
    for (size_t i = w->done_count; i-- > 0;) {
        size_t lane = w->done[i];
        if (at->target == lane)
            at->target = NO_TARGET;
        else if (at->target == w->lanes - 1)
            at->target = lane;
        lanes_remove(w, lane);
    }
}

/* Answer the lanes that the present basis is optimal for. */
static step settle(dual_work *w, walk *at)
{
    list_done(w);
    if (w->done_count == 0)
        return STEP_ON;
    at->end = pool_search(w);
    if (at->end != LP_OPTIMAL)
        return STEP_ENDS;
    if (w->done_count == 0)
        return STEP_ON;
    box_end box = start_unbox(w);
    if (box == BOX_MOVED)
        return refactor(w);
    if (box == BOX_UNBOUNDED) {
        at->end = LP_UNBOUNDED;
        at->target = w->done[0];
        return STEP_ENDS;
    }
    if (!answer_holds(w)) {
        at->target = w->done[0];
        return w->pivots_since > 0 ? refactor(w) : STEP_TROUBLE;
    }
    answer_lanes(w);
    remove_done(w, at);
    return STEP_ON;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static size_t choose_target(const dual_work *w)
{
    size_t best = 0;

    for (size_t l = 1; l < w->lanes; l++)
        if (w->violation[l] < w->violation[best] ||
            (w->violation[l] == w->violation[best] && w->lane[l] < w->lane[best]))
            best = l;
    return best;
}

static step pivot(dual_work *w, walk *at)
{
    if (w->pivots_left <= 0)
        return STEP_TROUBLE;
    if (w->pivots_since >= PIVOTS_PER_INVERSE)
        return refactor(w);
    spoil(w);
    pivot_end end = pivot_once(w, at->target);
    if (end == PIVOT_DONE)
        return STEP_ON;
    if (w->pivots_since > 0)
        return refactor(w);
    if (end == PIVOT_EXCUSED) {
        w->pivots_left--;
        lanes_compute(w);
        return STEP_ON;
    }
    if (end == PIVOT_UNSTABLE)
        return STEP_TROUBLE;
    at->end = LP_INFEASIBLE;
    return STEP_ENDS;
}

/* The target goes alone to the slack basis; the others wait. */
static void go_alone(dual_work *w, walk *at)
{
    uint32_t number = w->lane[at->target];

    w->lane[at->target] = w->lane[0];
    w->lane[0] = number;
    w->aside = w->lanes - 1;
    w->lanes = 1;
    w->pivots_left = PIVOTS_MAX;
    w->totals.retries++;
    at->is_alone = true;
    at->target = 0;
    start_from_slack(w);
    lanes_compute(w);
}

/* The one in trouble is done; the others go on from its basis. */
static void rejoin(dual_work *w, walk *at)
{
    for (size_t l = 0; l < w->aside; l++)
        w->lane[l] = w->lane[l + 1];
    w->lanes = w->aside;
    w->aside = 0;
    at->is_alone = false;
    at->target = NO_TARGET;
    lanes_compute(w);
}

static step walk_step(dual_work *w, walk *at)
{
    step result = settle(w, at);

    if (result != STEP_ON || w->lanes == 0)
        return result;
    if (at->target == NO_TARGET)
        at->target = choose_target(w);
    /* The inverse was computed again, or the last lanes violate cuts that have joined. */
    if (w->violation[at->target] == 0.0)
        return STEP_ON;
    return pivot(w, at);
}

static lp_status walk_all(dual_work *w)
{
    walk at = { .target = NO_TARGET, .end = LP_OPTIMAL };

    while (w->lanes > 0) {
        step result = walk_step(w, &at);
        if (result == STEP_TROUBLE && at.is_alone)
            at.end = LP_FAILED;
        if (result == STEP_ENDS || at.end != LP_OPTIMAL) {
            w->answers->failed = w->lane[at.target == NO_TARGET ? 0 : at.target];
            return at.end;
        }
        if (result == STEP_TROUBLE)
            go_alone(w, &at);
        if (w->lanes == 0 && w->aside > 0)
            rejoin(w, &at);
    }
    return LP_OPTIMAL;
}

static lp_status solve(dual_work *w)
{
    w->answers->bases = 0;
    w->answers->failed = 0;
    w->pivots_left = PIVOTS_MAX;
    w->has_before_outside = false;
    if (w->program->is_beyond)
        return LP_FAILED;
    if (w->program->is_contradictory)
        return LP_INFEASIBLE;
    if (!task_reserve(w))
        return LP_NO_MEMORY;
    lp_status end = rows_load(w);
    if (end == LP_OPTIMAL)
        end = lanes_load(w);
    if (end == LP_OPTIMAL) {
        start_from_basis(w);
        lanes_compute(w);
        end = walk_all(w);
    }
    rows_forget(w);
    return end;
}

lp_status dual_solve(const dual_program *program, dual_work *work, const lp_group *group,
                     lp_answers *answers)
{
    int64_t begin = mcp_clock_mono_ns();

    work->program = program;
    work->group = group;
    work->cuts = group->cuts;
    work->answers = answers;
    lp_status end = solve(work);
    if (end == LP_OPTIMAL)
        work->totals.solves += (int64_t)group->lanes;
    else
        work->totals.fallbacks += (int64_t)group->lanes;
    work->totals.solver_ns += mcp_clock_mono_ns() - begin;
    return end;
}
