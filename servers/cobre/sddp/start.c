/*
 * start.c - takes a saved policy into a study.
 *
 * A policy that does not fit exactly, because it has no resume.bin or another number of forward
 * passes, for one, is resumed from its cuts alone: they become cuts that were loaded, as those of a
 * warm start. The records of its iterations are kept where it has them.
 */
#include "sddp/start.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sddp/iteration/simulation_rule.h"
#include "sddp/ranks/digest.h"
#include "sddp/study.h"

static mcp_status out_of_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for the policy");
}

/* Whether the cuts of a stage have a place in the study. */
static bool takes_cuts(const sddp *s, size_t t)
{
    return study_node_visits(s, t) > 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static mcp_status check_hydros(const sddp *s, const policy_metadata *from, mcp_error *err)
{
    const cobre_case *in = s->input;

    if (!from->hydro_ids)
        return MCP_OK;
    if (from->hydro_count != in->hydro_count)
        return mcp_error_set(err, MCP_E_PARAMS, "the policy has %zu hydros, the case has %zu",
                             from->hydro_count, in->hydro_count);
    for (size_t h = 0; h < in->hydro_count; h++)
        if (from->hydro_ids[h] != in->hydros[h].id)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "hydro %zu is %" PRId32 " in the policy, and %" PRId32
                                 " in the case",
                                 h, from->hydro_ids[h], in->hydros[h].id);
    return MCP_OK;
}

static mcp_status check(const sddp *s, const policy *from, mcp_error *err)
{
    bool is_strict = s->input->config.policy.validate_compatibility;

    if (from->dimension != s->dimension)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the policy has %zu state entries (state_dimension), the case %zu",
                             from->dimension, s->dimension);
    if (is_strict && from->stage_count != s->stages)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the policy has %zu stages (num_stages), the case has %zu",
                             from->stage_count, s->stages);
    for (size_t t = 0; t < least(s->stages, from->stage_count); t++) {
        size_t thetas = s->pools[t].thetas;
        uint32_t openings = thetas > 1 ? (uint32_t)thetas : 0;
        const policy_stage *stage = &from->stages[t];
        if (takes_cuts(s, t) && stage->cut_count > 0 && stage->opening_count != openings)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "stage %zu: the policy has cuts for %" PRIu32
                                 " openings (0: single cuts), the case for %" PRIu32,
                                 t, stage->opening_count, openings);
        for (size_t i = 0; i < stage->cut_count; i++)
            if (stage->cuts[i].opening >= (openings > 0 ? openings : 1))
                return mcp_error_set(err, MCP_E_PARAMS, "stage %zu: a cut of opening %" PRIu32, t,
                                     stage->cuts[i].opening);
    }
    return is_strict ? check_hydros(s, &from->metadata, err) : MCP_OK;
}

/* Whether every array of the policy has the size of the study's. */
static bool fits_exactly(const sddp *s, const policy *from)
{
    bool fits = from->is_exact && from->stage_count == s->stages &&
                from->metadata.forward_passes == s->scenarios &&
                from->metadata.rng_seed == s->input->config.seed;

    for (size_t t = 0; t < s->stages && fits; t++) {
        const policy_stage *stage = &from->stages[t];
        const lp_program *program = &s->programs[t].program;
        size_t own = study_leads_node(s, t) ? 0 : from->stages[s->node[t]].bases.set_count;
        size_t states = from->metadata.completed_iterations * study_node_visits(s, t) *
                        s->scenarios;
        fits = stage->bases.columns == (size_t)program->columns &&
               stage->bases.rows == (size_t)program->rows + own &&
               stage->bases.count == s->basis_stores[t].slots &&
               (stage->state_count == states ||
                (stage->state_count == 0 && !study_keeps_states(s))) &&
               (takes_cuts(s, t) || stage->cut_count == s->pools[t].count);
    }
    return fits;
}

static mcp_status keep_names(sddp *s, size_t t, const policy_cut *from, size_t count,
                             mcp_error *err)
{
    policy_cut *cuts = mcp_arena_array(s->arena, count, sizeof *cuts);

    if (!cuts)
        return out_of_memory(err);
    if (count > 0)
        memcpy(cuts, from, count * sizeof *cuts);
    s->loaded[t].cuts = cuts;
    s->loaded[t].count = count;
    return MCP_OK;
}

/* The cuts of a stage; the first `warm` of them as loaded ones. */
static mcp_status take_cuts(sddp *s, size_t t, const policy_stage *stage, size_t warm,
                            mcp_error *err)
{
    cut_pool *pool = &s->pools[t];
    mcp_status st = study_reserve_cuts(s, t, stage->cut_count, err);

    if (st == MCP_OK)
        st = keep_names(s, t, stage->cuts, warm, err);
    for (size_t i = 0; i < stage->cut_count && st == MCP_OK; i++) {
        const policy_cut *cut = &stage->cuts[i];
        cut_record record = { .iteration = i < warm ? CUT_LOADED : cut->iteration,
                              .forward = cut->forward_pass,
                              .active_count = cut->active_count,
                              .last_active = cut->last_active,
                              .window = cut->activity_bits };
        for (size_t j = 0; j < s->dimension; j++)
            s->slope[j] = policy_coefficient(stage, i, j);
        st = cuts_append(pool, cut->intercept, s->slope, cut->opening, &record, err);
        if (st == MCP_OK && !cut->is_active)
            cuts_deactivate(pool, pool->count - 1);
    }
    return st;
}

/* The working set and the bases; the stages of a node in their order, its first one before. */
static mcp_status take_bases(sddp *s, size_t t, const policy_bases *bases, mcp_error *err)
{
    size_t length = bases->columns + bases->rows + bases->set_count;

    if (study_leads_node(s, t))
        cuts_set_rows(&s->pools[t], bases->set, bases->set_count);
    mcp_status st = study_follow(s, t, err);
    for (size_t i = 0; i < bases->count && st == MCP_OK; i++)
        memcpy(study_basis(s, t, i), bases->bytes + i * bases->stride, length);
    return st;
}

static void take_states(sddp *s, size_t t, const policy_stage *stage)
{
    size_t visits = study_node_visits(s, t), length = s->scenarios * s->dimension, next = 0;

    if (stage->state_count == 0 || length == 0)
        return;
    for (size_t i = 0; i < s->visited.count; i++)
        for (size_t v = 0; v < visits; v++)
            for (size_t m = 0; m < s->scenarios; m++)
                memcpy(s->visited.blocks[i] + (t + 1 + v * study_node_stride(s)) * length +
                           m * s->dimension,
                       policy_state(stage, next++, s->dimension), s->dimension * sizeof(double));
}

/* An archive of all iterations, if one of the stages has states. */
static mcp_status make_archive(sddp *s, const policy *from, mcp_error *err)
{
    state_archive *all = &s->visited;
    size_t count = 0, length = s->trials * s->scenarios;

    for (size_t t = 0; t < s->stages; t++)
        if (from->stages[t].state_count > 0)
            count = from->metadata.completed_iterations;
    all->blocks = mcp_arena_array(s->arena, count, sizeof *all->blocks);
    if (!all->blocks)
        return out_of_memory(err);
    for (size_t i = 0; i < count; i++) {
        all->blocks[i] = mcp_arena_array(s->arena, length, s->dimension * sizeof(double));
        if (!all->blocks[i])
            return out_of_memory(err);
    }
    all->count = all->capacity = count;
    return MCP_OK;
}

static mcp_status take_rows(sddp *s, const policy *from, mcp_error *err)
{
    sddp_iteration *rows = mcp_arena_array(s->arena, from->iteration_count, sizeof *rows);

    if (!rows)
        return out_of_memory(err);
    for (size_t i = 0; i < from->iteration_count; i++) {
        rows[i] = from->iterations[i];
        if (rows[i].cuts_active > s->peak_active)
            s->peak_active = rows[i].cuts_active;
    }
    s->rows = rows;
    s->row_count = s->row_capacity = from->iteration_count;
    return MCP_OK;
}

/* What is known of cuts that are there already, those of a boundary. */
static void take_activity(cut_pool *pool, const policy_stage *stage)
{
    for (size_t i = 0; i < pool->count; i++) {
        pool->record[i].active_count = stage->cuts[i].active_count;
        pool->record[i].last_active = stage->cuts[i].last_active;
        pool->record[i].window = stage->cuts[i].activity_bits;
    }
}

static mcp_status take_exactly(sddp *s, const policy *from, mcp_error *err)
{
    mcp_status st = simulation_rule_prepare(s, err);
    if (st == MCP_OK && from->mean_count == s->rule_memory_length)
        memcpy(s->rule_memory, from->means, from->mean_count * sizeof *from->means);
    if (st == MCP_OK)
        st = make_archive(s, from, err);

    for (size_t t = 0; t < s->stages && st == MCP_OK; t++)
        if (takes_cuts(s, t))
            st = take_cuts(s, t, &from->stages[t], from->stages[t].warm_count, err);
        else
            take_activity(&s->pools[t], &from->stages[t]);
    for (size_t t = 0; t < s->stages && st == MCP_OK; t++) {
        st = take_bases(s, t, &from->stages[t].bases, err);
        take_states(s, t, &from->stages[t]);
    }
    return st == MCP_OK ? take_rows(s, from, err) : st;
}

/* All cuts as loaded ones; what is known of their activity is of another training. */
static mcp_status take_as_loaded(sddp *s, const policy *from, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t t = 0; t < least(s->stages, from->stage_count) && st == MCP_OK; t++)
        if (takes_cuts(s, t))
            st = take_cuts(s, t, &from->stages[t], from->stages[t].cut_count, err);
    return st;
}

mcp_status sddp_start(sddp *study, const policy *from, sddp_start_mode mode, bool *is_exact,
                      mcp_error *err)
{
    mcp_status st = check(study, from, err);
    bool exact = mode == SDDP_START_RESUME && fits_exactly(study, from);

    if (st == MCP_OK)
        st = exact ? take_exactly(study, from, err) : take_as_loaded(study, from, err);
    if (st != MCP_OK)
        return st;
    if (mode == SDDP_START_RESUME) {
        study->completed = from->metadata.completed_iterations;
        if (!exact && from->iteration_count == study->completed)
            st = take_rows(study, from, err);
    }
    if (st != MCP_OK)
        return st;
    if (is_exact)
        *is_exact = exact;
    return MCP_OK;
}

bool sddp_is_of_other_data(const sddp *study, const policy *from)
{
    char own[20];

    if (!from->metadata.case_digest)
        return false;
    snprintf(own, sizeof own, "%016" PRIx64, digest_of_study(study));
    return strcmp(own, from->metadata.case_digest) != 0;
}

/* ---- boundary -------------------------------------------------------------------------------- */

/* Whether the states are the same but for the sums of a running period, which one of both has, and
 * on which the cuts of the stage do not depend: all stages of the policy are whole periods, or the
 * stage is the last of its own. */
static bool differs_in_sums(const sddp *s, const policy *from, uint32_t source)
{
    const policy_period *periods = from->metadata.periods;
    size_t hydros = s->input->hydro_count, plain = hydros * (1 + s->context.inflow->lags);

    if (s->context.inflow->accumulates)
        return !periods && from->dimension == plain && s->dimension == plain + hydros;
    return periods && source < from->stage_count && periods[source].is_last &&
           periods[source].spill == 0.0 && s->dimension == plain &&
           from->dimension == plain + hydros;
}

static mcp_status check_boundary(const sddp *s, const policy *from, uint32_t source, mcp_error *err)
{
    if (s->cycle_start != COBRE_NONE)
        return mcp_error_set(err, MCP_E_PARAMS, "a cycle has no last stage for boundary cuts");
    if (from->dimension != s->dimension && !differs_in_sums(s, from, source))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the boundary policy has %zu state entries (state_dimension), the "
                             "case %zu",
                             from->dimension, s->dimension);
    if (s->context.inflow->accumulates && from->dimension == s->dimension &&
        !from->metadata.periods)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the boundary policy does not say how its stages divide the months "
                             "(lag_periods in its metadata.json): it is of another version, or its "
                             "stages are whole months");
    if (source >= from->stage_count)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the boundary policy has %zu stages, and none with index %" PRIu32,
                             from->stage_count, source);
    if (from->stages[source].opening_count > 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the boundary policy has cuts by opening (multi-cut): train it with "
                             "training.cut_formulation \"single\"");
    return s->input->config.policy.validate_compatibility ? check_hydros(s, &from->metadata, err)
                                                          : MCP_OK;
}

/* The period of the last stage ends, or continues, as in the study that the cuts are from. */
static mcp_status continue_period(sddp *s, const policy *from, uint32_t source, mcp_error *err)
{
    if (!s->context.inflow->accumulates)
        return MCP_OK;
    policy_period period = { .is_last = true, .spill = 0.0 };
    if (from->metadata.periods)
        period = from->metadata.periods[source];
    return state_table_continue(&s->context.state, s->arena, period.is_last, period.spill, err);
}

/* What the stages behind the last one earn. */
static mcp_status lower_floors(sddp *s, const policy *from, uint32_t source, mcp_error *err)
{
    double least = from->metadata.floors ? from->metadata.floors[source] : 0.0;

    return least < 0.0 && s->context.extends ? study_lower_floors(s, least, err) : MCP_OK;
}

mcp_status sddp_set_boundary(sddp *study, const policy *from, uint32_t source_stage, mcp_error *err)
{
    size_t last = study->stages - 1, active = 0;
    mcp_status st = check_boundary(study, from, source_stage, err);

    if (st != MCP_OK)
        return st;
    const policy_stage *source = &from->stages[source_stage];
    st = continue_period(study, from, source_stage, err);
    if (st == MCP_OK)
        st = lower_floors(study, from, source_stage, err);
    if (st == MCP_OK)
        st = study_reserve_cuts(study, last, source->cut_count, err);
    if (st != MCP_OK)
        return st;
    policy_cut *names = mcp_arena_array(study->arena, source->cut_count, sizeof *names);
    if (!names)
        return out_of_memory(err);
    for (size_t i = 0; i < source->cut_count; i++) {
        if (!source->cuts[i].is_active)
            continue;
        for (size_t j = 0; j < study->dimension; j++)
            study->slope[j] = j < from->dimension ? policy_coefficient(source, i, j) : 0.0;
        st = cuts_append(&study->pools[last], source->cuts[i].intercept, study->slope, 0,
                         &(cut_record){ .iteration = CUT_LOADED }, err);
        if (st != MCP_OK)
            return st;
        names[active++] = source->cuts[i];
    }
    study->loaded[last] = (loaded_cuts){ names, active };
    return MCP_OK;
}
