/*
 * compensate.c - which actions are undone, in which order.
 */
#include "engine/compensate.h"

#include <string.h>

/* Whether a ended after b; within a millisecond, the one of higher order. */
static bool is_later(const portarium_run_action *a, const portarium_run_action *b)
{
    const char *a_ended = mcp_json_get_string(a->record.json, "endedAtIso");
    const char *b_ended = mcp_json_get_string(b->record.json, "endedAtIso");
    int order = a_ended && b_ended ? strcmp(a_ended, b_ended) : 0;
    return order != 0 ? order > 0 : a > b;
}

/* Those that succeeded, the last first. @return whether one of them has a side effect */
static bool collect(const portarium_run_action **out, size_t *count, const portarium_run *run)
{
    bool has_side_effect = false;
    *count = 0;
    for (size_t i = 0; i < run->action_count; i++) {
        const portarium_run_action *action = &run->actions[i];
        if (action->state != PORTARIUM_ACTION_SUCCEEDED)
            continue;
        has_side_effect |= action->definition->has_side_effect;
        if (!action->definition->compensation)
            continue;
        size_t at = (*count)++;
        for (; at > 0 && is_later(action, out[at - 1]); at--)
            out[at] = out[at - 1];
        out[at] = action;
    }
    return has_side_effect;
}

mcp_status portarium_compensate_begin(size_t *count, portarium_run *run, portarium_tx *tx,
                                      mcp_error *err)
{
    mcp_status st = MCP_OK;
    const portarium_run_action **done = mcp_arena_array(tx->arena, run->action_count, sizeof *done);
    if (!done)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for compensations");
    if (!collect(done, count, run))
        *count = 0;
    for (size_t i = 0; st == MCP_OK && i < *count; i++) {
        const portarium_action *definition = portarium_compensation_of(tx, done[i]->definition);
        st = definition ? portarium_action_insert(tx, run->record.id, definition,
                                                  (int64_t)(run->action_count + i) + 1, err)
                        : mcp_error_set(err, MCP_E_NOMEM, "no memory for compensations");
    }
    return st == MCP_OK && *count > 0
               ? portarium_run_evidence(run, tx, "Action", err,
                                        "Compensation of %zu actions begins", *count)
               : st;
}
