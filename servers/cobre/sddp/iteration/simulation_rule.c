/*
 * simulation_rule.c - simulates a fixed set of scenarios, and compares the mean cost of each stage
 * with that of the check before. The draws are those of the simulation phase, the same at every
 * check, so only the policy differs.
 *
 * What the rules remember is one array, so that a policy can carry it: the iteration that they saw
 * last, then for each rule 1 or 0 for whether it has means, and its means by stage.
 */
#include "sddp/iteration/simulation_rule.h"

#include <string.h>

#include "sddp/iteration/groups.h"
#include "sddp/pass.h"
#include "sddp/stop.h"

static double *memory_of(const sddp *s, size_t rule)
{
    return s->rule_memory + 1 + rule * (1 + s->stages);
}

mcp_status simulation_rule_prepare(sddp *study, mcp_error *err)
{
    size_t rules = study->input->config.rule_count;

    if (study->rule_memory)
        return MCP_OK;
    study->rule_memory_length = 1 + rules * (1 + study->stages);
    study->rule_memory = mcp_arena_array(study->arena, study->rule_memory_length, sizeof(double));
    study->rule_fires = mcp_arena_array(study->arena, rules, sizeof *study->rule_fires);
    if (!study->rule_memory || !study->rule_fires)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the stopping rules");
    return MCP_OK;
}

bool simulation_rule_is_pending(const sddp *study)
{
    return study->row_count > 0 && study->rule_memory[0] < (double)study->completed;
}

typedef struct rule_paths {
    size_t count;
    double *costs; /* [path * stages + stage] */
} rule_paths;

/* One path; its costs by stage, not discounted. */
static mcp_status play(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    const rule_paths *all = p->data;
    double *costs = all->costs + index * s->stages;
    study_path path = study_simulation_path(s, index, all->count);
    double objective;
    solve_output out = { .objective = &objective };

    where->scenario = (int32_t)index;
    study_begin_path(s, &path, w->state);
    for (size_t t = 0; t < s->stages; t++) {
        const double *noise = study_draw(s, w, &path, t, w->state, &where->opening);
        solve_input in = groups_path_input(s, w, t, noise, study_basis(s, t, 0));
        mcp_status st = pass_solve(&out, p, w, &in, where, err);
        if (st != MCP_OK)
            return st;
        costs[t] = objective - stage_lp_future(&s->programs[t], out.primal);
        costs[t] *= COST_SCALE;
        solve_leave(w, &in, &out, 0, w->state);
    }
    return MCP_OK;
}

static void list_outputs(const pass *p, size_t begin, size_t end, spans *all)
{
    const rule_paths *paths = p->data;
    size_t stages = p->study->stages;

    spans_add(all, paths->costs + begin * stages, (end - begin) * stages * sizeof *paths->costs);
}

/* The mean costs by stage. The working sets do not learn from these paths. */
static mcp_status simulate(const iteration_run *run, size_t paths, double *costs, double *means,
                           mcp_error *err)
{
    sddp *s = run->study;
    rule_paths all = { paths, costs };
    pass p = { .study = s,
               .observer = run->observer,
               .phase = "simulation",
               .iteration = (int32_t)s->completed,
               .halts_at = SDDP_STOP_NOW,
               .pace = &s->simulation_pace,
               .data = &all,
               .outputs = list_outputs };
    mcp_status st = pass_run(&p, play, paths, run->failure, err);

    for (size_t t = 0; t < s->stages; t++) {
        double sum = 0.0;
        for (size_t i = 0; i < paths; i++)
            sum += costs[i * s->stages + t];
        means[t] = sum / (double)paths;
        study_forget_notes(s, t);
    }
    return st;
}

static mcp_status check_rule(const iteration_run *run, size_t index, double *means, mcp_error *err)
{
    sddp *s = run->study;
    const cobre_stopping_rule *rule = &s->input->config.rules[index];
    mcp_arena *arena = mcp_arena_new(study_most_bytes());
    size_t paths = rule->replications;
    double *costs = arena ? mcp_arena_array(arena, paths, s->stages * sizeof *costs) : NULL;
    mcp_status st = MCP_OK;

    if (costs)
        st = simulate(run, paths, costs, means, err);
    else
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu paths of a stopping rule", paths);
    mcp_arena_free(arena);
    return st;
}

static mcp_status check_all(const iteration_run *run, double *means, mcp_error *err)
{
    sddp *s = run->study;
    const cobre_config *config = &s->input->config;
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < config->rule_count && st == MCP_OK; i++)
        if (stop_simulates(&config->rules[i], s->rows, s->row_count))
            st = check_rule(run, i, means + i * s->stages, err);
    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < config->rule_count; i++) {
        const double *now = means + i * s->stages;
        double *memory = memory_of(s, i);
        s->rule_fires[i] = false;
        if (!stop_simulates(&config->rules[i], s->rows, s->row_count))
            continue;
        if (memory[0] > 0.0)
            s->rule_fires[i] = stop_distance(memory + 1, now, s->stages) <
                               config->rules[i].distance_tolerance;
        memory[0] = 1.0;
        memcpy(memory + 1, now, s->stages * sizeof *memory);
    }
    s->rule_memory[0] = (double)s->completed;
    return MCP_OK;
}

mcp_status simulation_rule_check(const iteration_run *run, mcp_error *err)
{
    const sddp *s = run->study;
    mcp_arena *arena = mcp_arena_new(0);
    size_t rules = s->input->config.rule_count;
    double *means = arena ? mcp_arena_array(arena, rules, s->stages * sizeof *means) : NULL;
    mcp_status st = MCP_OK;

    if (means)
        st = check_all(run, means, err);
    else
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for the stopping rules");
    mcp_arena_free(arena);
    return st;
}
