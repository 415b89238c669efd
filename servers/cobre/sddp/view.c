/*
 * view.c - the policy of a study, without copying what is large.
 *
 * What an exact resume needs is what a dropped iteration restores (rollback.c): the cuts with their
 * records, the working sets in their order, the bases; and what rules look back on.
 */
#include "sddp/view.h"

#include <inttypes.h>
#include <math.h>

#include "sddp/ranks/digest.h"
#include "sddp/study.h"

_Static_assert((int)LP_FREE == (int)POLICY_PLACE_FREE && (int)LP_BASIC == (int)POLICY_PLACE_BASIC &&
                   (int)LP_AT_UPPER == (int)POLICY_PLACE_AT_UPPER &&
                   (int)LP_AT_LOWER == (int)POLICY_PLACE_AT_LOWER &&
                   (int)LP_SUPER == (int)POLICY_PLACE_SUPER &&
                   (int)LP_FIXED == (int)POLICY_PLACE_FIXED,
               "a policy has the places of an lp");

static mcp_status out_of_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policy");
}

/* A cut as the policy has it. Loaded ones keep their names, in the first slots. */
static policy_cut cut_of(const sddp *s, size_t t, size_t i, const policy_stage *stage)
{
    const cut_record *record = &s->pools[t].record[i];
    policy_cut cut = { 0 };

    if (i < stage->warm_count) {
        cut = s->loaded[t].cuts[i];
        cut.slot = (uint32_t)i;
    } else {
        cut.iteration = record->iteration;
        cut.forward_pass = record->forward;
        cut.opening = s->pools[t].theta[i];
        cut.slot = (uint32_t)policy_slot(stage, cut.iteration, cut.forward_pass, cut.opening);
        cut.id = cut.slot - stage->warm_count;
    }
    cut.is_active = s->pools[t].is_active[i] != 0;
    cut.intercept = s->pools[t].intercept[i];
    cut.last_active = record->last_active;
    cut.active_count = record->active_count;
    cut.activity_bits = record->window;
    return cut;
}

static mcp_status export_cuts(policy_stage *stage, const sddp *s, size_t t, mcp_arena *arena,
                              mcp_error *err)
{
    const cut_pool *pool = &s->pools[t];
    policy_cut *cuts = mcp_arena_array(arena, pool->count, sizeof *cuts);

    if (!cuts)
        return out_of_memory(err);
    stage->warm_count = (uint32_t)s->loaded[t].count;
    stage->opening_count = pool->thetas > 1 ? (uint32_t)pool->thetas : 0;
    for (size_t i = 0; i < pool->count; i++)
        cuts[i] = cut_of(s, t, i, stage);
    stage->cuts = cuts;
    stage->cut_count = pool->count;
    stage->coefficients = (const double *const *)pool->slope;
    stage->cuts_a_chunk = CUT_CHUNK;
    stage->cut_stride = 1;
    stage->state_stride = CUT_CHUNK;
    return MCP_OK;
}

/* The cuts of a node belong to its first stage; to the others their rows are like those of the
 * program. */
static policy_bases bases_of(const sddp *s, size_t t)
{
    const basis_store *store = &s->basis_stores[t];
    const lp_program *program = &s->programs[t].program;
    policy_bases bases = { .columns = program->columns,
                           .rows = program->rows,
                           .bytes = store->bytes,
                           .stride = store->stride,
                           .count = store->slots };

    if (study_leads_node(s, t)) {
        bases.set = store->rows;
        bases.set_count = store->row_count;
    } else {
        bases.rows += store->row_count;
    }
    return bases;
}

static mcp_status export_states(policy_stage *stage, const sddp *s, size_t t, mcp_arena *arena,
                                mcp_error *err)
{
    size_t visits = study_node_visits(s, t), length = s->scenarios * s->dimension, next = 0;
    const double **chunks = mcp_arena_array(arena, s->visited.count * visits, sizeof *chunks);

    if (!chunks)
        return out_of_memory(err);
    for (size_t i = 0; i < s->visited.count; i++)
        for (size_t v = 0; v < visits; v++)
            chunks[next++] = s->visited.blocks[i] + (t + 1 + v * study_node_stride(s)) * length;
    stage->states = chunks;
    stage->states_a_chunk = s->scenarios;
    stage->state_count = next * s->scenarios;
    return MCP_OK;
}

static mcp_status export_stage(policy_stage *stage, const sddp *s, size_t t, mcp_arena *arena,
                               mcp_error *err)
{
    size_t visits = study_node_visits(s, t);
    mcp_status st = MCP_OK;

    stage->passes = (uint32_t)(s->scenarios * (visits > 0 ? visits : 1));
    stage->bases = bases_of(s, t);
    if (study_leads_node(s, t))
        st = export_cuts(stage, s, t, arena, err);
    return st == MCP_OK ? export_states(stage, s, t, arena, err) : st;
}

/* NULL where every stage is a whole period. */
static mcp_status export_periods(const policy_period **out, const sddp *s, mcp_arena *arena,
                                 mcp_error *err)
{
    const inflow_model *model = s->context.state.model;

    *out = NULL;
    if (!model->accumulates)
        return MCP_OK;
    policy_period *periods = mcp_arena_array(arena, s->stages, sizeof *periods);
    if (!periods)
        return out_of_memory(err);
    for (size_t t = 0; t < s->stages; t++)
        periods[t] = (policy_period){ model->moves[t].is_last, model->moves[t].spill };
    *out = periods;
    return MCP_OK;
}

/* NULL where no future cost is below zero. */
static const double *floors_of(const sddp *s)
{
    for (size_t t = 0; t < s->stages; t++)
        if (s->context.floor[t] < 0.0)
            return s->context.floor;
    return NULL;
}

mcp_status sddp_view_policy(policy *out, const sddp *study, mcp_arena *arena, mcp_error *err)
{
    policy_stage *stages = mcp_arena_array(arena, study->stages, sizeof *stages);
    int32_t *ids = mcp_arena_array(arena, study->input->hydro_count, sizeof *ids);
    const sddp_iteration *last = study->row_count > 0 ? &study->rows[study->row_count - 1] : NULL;
    mcp_status st = stages && ids ? MCP_OK : out_of_memory(err);

    for (size_t t = 0; t < study->stages && st == MCP_OK; t++)
        st = export_stage(&stages[t], study, t, arena, err);
    for (size_t h = 0; h < study->input->hydro_count && st == MCP_OK; h++)
        ids[h] = study->input->hydros[h].id;
    const policy_period *periods = NULL;
    const char *digest = mcp_arena_printf(arena, "%016" PRIx64, digest_of_study(study));
    if (!digest)
        return out_of_memory(err);
    if (st == MCP_OK)
        st = export_periods(&periods, study, arena, err);
    if (st != MCP_OK)
        return st;
    *out = (policy){
        .metadata = { .completed_iterations = study->completed,
                      .final_lower_bound = last ? last->lower_bound : NAN,
                      .best_upper_bound = last ? last->upper_bound : NAN,
                      .max_iterations = study->input->config.max_iterations,
                      .forward_passes = study->input->config.forward_passes,
                      .rng_seed = study->input->config.seed,
                      .hydro_ids = ids,
                      .hydro_count = study->input->hydro_count,
                      .case_digest = digest,
                      .floors = floors_of(study),
                      .periods = periods },
        .dimension = study->dimension,
        .stages = stages,
        .stage_count = study->stages,
        .is_exact = study->completed == study->row_count,
        .means = study->rule_memory,
        .mean_count = study->rule_memory_length,
        .iterations = study->rows,
        .iteration_count = study->row_count,
        .elapsed_ns = last ? last->wall_time_ms * 1000000 : 0,
    };
    return MCP_OK;
}

const double *sddp_view_means(size_t *count, const sddp *study)
{
    *count = study->rule_memory_length;
    return study->rule_memory;
}
