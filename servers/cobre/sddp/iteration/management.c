/*
 * management.c - applies the case's cut selection to the pools, and prunes the working sets.
 *
 * It comes after the lower bound, which takes all cuts of the first stage anyway, so that nothing
 * after it can fail and an abandoned iteration has deactivated nothing.
 */
#include "sddp/iteration/management.h"

#include <string.h>

#include "mcp/clock.h"

#include "sddp/iteration/recorder.h"
#include "sddp/stage/selection.h"

/* A cut that was slack in every solve of this many iterations leaves the working set. */
#define SET_MEMORY 2

static size_t dominated(sddp *s, size_t t, uint32_t iteration, double epsilon)
{
    cut_pool *pool = &s->pools[t];
    worker *w = &s->workers[0];
    /* Between passes these are free, the marks all zero. */
    domination_scratch scratch = { w->values, w->limits, w->workspaces[t].tight };
    size_t length = s->scenarios * s->dimension;
    visited_states visited = { .blocks = (const double *const *)s->visited.blocks,
                               .block_count = s->visited.count,
                               .first = (t + 1) * length,
                               .stride = study_node_stride(s) * length,
                               .repeats = study_node_visits(s, t),
                               .states = s->scenarios };
    size_t removed = selection_domination(pool, iteration, epsilon, &visited, &scratch);

    memset(scratch.needed, 0, pool->count);
    return removed;
}

static size_t select_cuts(sddp *s, size_t t, uint32_t iteration)
{
    const cobre_cut_selection *rule = &s->input->config.selection;

    switch (rule->method) {
    case COBRE_SELECTION_LEVEL1:
        return selection_level1(&s->pools[t], iteration, rule->threshold);
    case COBRE_SELECTION_LML1:
        return selection_lml1(&s->pools[t], iteration, rule->memory_window);
    case COBRE_SELECTION_DOMINATION:
        return dominated(s, t, iteration, rule->epsilon);
    case COBRE_SELECTION_NONE:
        return 0;
    }
    return 0;
}

/* Selection and budget of one stage; the number of cuts deactivated. */
static size_t manage_stage(sddp *s, size_t t, uint32_t iteration, bool selects)
{
    size_t most = s->input->config.selection.max_active;
    cut_pool *pool = &s->pools[t];
    sddp_selection_row row = { .stage = (int32_t)t,
                               .populated = (int32_t)pool->count,
                               .active_before = (int32_t)pool->active,
                               .has_budget = most > 0 };
    int64_t begin = mcp_clock_mono_ns();
    size_t removed = selects && t > 0 ? select_cuts(s, t, iteration) : 0, evicted = 0;

    row.time_ms = (double)(mcp_clock_mono_ns() - begin) * 1e-6;
    row.deactivated = (int32_t)removed;
    row.active_after = (int32_t)pool->active;
    if (most > 0) {
        evicted = selection_budget(pool, iteration, most);
        row.evicted = (int32_t)evicted;
        row.active_after_budget = (int32_t)pool->active;
    }
    if (most > 0 || (selects && t > 0))
        recorder_add_selection(s, &row);
    return removed + evicted;
}

mcp_status management_run(const iteration_run *run, int64_t *removed, mcp_error *err)
{
    sddp *s = run->study;
    const cobre_cut_selection *rule = &s->input->config.selection;
    bool selects = rule->method != COBRE_SELECTION_NONE &&
                   run->iteration % rule->check_frequency == 0;
    int64_t begin = mcp_clock_mono_ns();
    mcp_status st = study_keeps_states(s) ? study_keep_states(s, err) : MCP_OK;

    *removed = 0;
    if (st != MCP_OK)
        return st;
    for (size_t t = 0; t < s->stages; t++)
        cuts_end_iteration(&s->pools[t], run->iteration);
    for (size_t t = 0; t < s->stages && (selects || rule->max_active > 0); t++)
        if (study_node_visits(s, t) > 0)
            *removed += (int64_t)manage_stage(s, t, run->iteration, selects);
    s->recorder->times.selection = mcp_clock_mono_ns() - begin;
    for (size_t t = 0; t < s->stages && st == MCP_OK; t++) {
        cuts_prune(&s->pools[t], SET_MEMORY);
        st = study_follow(s, t, err);
    }
    return st;
}
