/*
 * visit.c - solves stage programs so that the answer depends on (stage, state, noise, cuts) alone.
 *
 * Before a solve the program is brought to a state that only these decide: the rows of the working
 * set in its order, fresh bounds, a given basis. After it, the whole pool is looked through; the
 * most violated cuts come in as rows and the program is solved again, until none is violated.
 * Those rows are taken out at the next visit. So neither the order of visits nor the number of
 * workers shows in any bit of the results, and the optimum is that over all cuts.
 */
#include "sddp/stage/visit.h"

#include <string.h>

/* Cuts brought in at once: more make the rows many, fewer make the solves many. */
#define CUTS_AT_ONCE 3

static void append_batch(const sddp *s, worker *w, size_t t, const uint32_t *cuts, size_t count)
{
    const cut_pool *pool = &s->pools[t];
    const stage_lp *program = &s->programs[t];
    double lower[ROW_BATCH], upper[ROW_BATCH];
    int start[ROW_BATCH + 1], at = 0;

    for (size_t i = 0; i < count; i++) {
        start[i] = at;
        lower[i] = pool->intercept[cuts[i]];
        upper[i] = LP_INFINITY;
        for (size_t j = 0; j < pool->dimension; j++) {
            double slope = pool->slope[j * pool->capacity + cuts[i]];
            if (slope == 0.0)
                continue;
            w->row_column[at] = stage_lp_state_column(program, j);
            w->row_value[at++] = -slope;
        }
        w->row_column[at] = program->theta;
        w->row_value[at++] = 1.0;
    }
    start[count] = at;
    lp_add_rows(w->desks[t].model,
                &(lp_rows){ (int)count, lower, upper, start, w->row_column, w->row_value });
}

static void append_rows(const sddp *s, worker *w, size_t t, const uint32_t *cuts, size_t count)
{
    for (size_t i = 0; i < count; i += ROW_BATCH)
        append_batch(s, w, t, cuts + i, count - i < ROW_BATCH ? count - i : ROW_BATCH);
}

/* Delete the rows whose positions among the cut rows are w->gone. */
static void delete_rows(const sddp *s, worker *w, size_t t, size_t count)
{
    int first = s->programs[t].program.rows;

    for (size_t i = 0; i < count; i++)
        w->gone[i] += first;
    lp_delete_rows(w->desks[t].model, (int)count, w->gone);
}

static void drop_local_rows(const sddp *s, worker *w, size_t t)
{
    desk *d = &w->desks[t];

    if (d->local_count == 0)
        return;
    for (size_t i = 0; i < d->local_count; i++)
        w->gone[i] = (int)(d->set_count + i);
    delete_rows(s, w, t, d->local_count);
    d->local_count = 0;
}

static void hold_working_set(const sddp *s, worker *w, size_t t)
{
    const cut_pool *pool = &s->pools[t];
    desk *d = &w->desks[t];

    if (d->version == pool->version && d->epoch == pool->epoch)
        return;
    size_t gone = 0;
    if (d->epoch == pool->epoch)
        gone = cuts_gone(pool, d->rows, d->set_count, w->gone);
    else
        for (; gone < d->set_count; gone++)
            w->gone[gone] = (int)gone;
    delete_rows(s, w, t, gone);
    size_t kept = d->set_count - gone;
    append_rows(s, w, t, pool->set + kept, pool->set_count - kept);
    if (pool->set_count > 0)
        memcpy(d->rows, pool->set, pool->set_count * sizeof *d->rows);
    d->set_count = pool->set_count;
    d->version = pool->version;
    d->epoch = pool->epoch;
}

static mcp_status sit_down(const sddp *s, worker *w, size_t t, mcp_error *err)
{
    desk *d = &w->desks[t];

    if (!d->model) {
        mcp_status st = lp_new(&d->model, &s->programs[t].program, err);
        if (st != MCP_OK)
            return st;
    }
    drop_local_rows(s, w, t);
    hold_working_set(s, w, t);
    return MCP_OK;
}

static mcp_status no_optimum(worker *w, size_t t, lp_status end, mcp_error *err)
{
    w->end = end;
    return mcp_error_set(err, MCP_E_INTERNAL, "the LP of stage %zu has no optimum: %s", t,
                         lp_status_name(end));
}

static void note_tight_rows(desk *d, const uint8_t *cut_rows)
{
    size_t count = d->set_count + d->local_count;

    for (size_t i = 0; i < count; i++)
        if (cut_rows[i] != LP_BASIC)
            d->tight[d->rows[i]] = 1;
}

/* How many violated cuts the solution of the lp has; the worst are appended as rows. */
static size_t bring_in_violated(const sddp *s, worker *w, size_t t)
{
    const cut_pool *pool = &s->pools[t];
    const stage_lp *program = &s->programs[t];
    desk *d = &w->desks[t];
    const double *primal = lp_primal(d->model);
    uint32_t *local = d->rows + d->set_count;

    for (size_t j = 0; j < pool->dimension; j++)
        w->outgoing[j] = primal[stage_lp_state_column(program, j)];
    cuts_values(pool, w->outgoing, w->values);
    size_t found = cuts_violated(pool, w->values, primal[program->theta], local, d->local_count,
                                 local + d->local_count, CUTS_AT_ONCE);
    append_rows(s, w, t, local + d->local_count, found);
    d->local_count += found;
    return found;
}

mcp_status visit_solve(lp **model, const sddp *study, worker *w, const visit *v, mcp_error *err)
{
    size_t t = v->stage;
    const cut_pool *pool = &study->pools[t];
    desk *d = &w->desks[t];
    size_t fixed = study_lines(study, t);
    mcp_status st = sit_down(study, w, t, err);

    if (st != MCP_OK)
        return st;
    stage_lp_enter(&study->programs[t], d->model, v->state, v->noise);
    lp_set_basis(d->model, v->basis);
    w->visits++;
    lp_status end = lp_solve(d->model);
    if (end != LP_OPTIMAL)
        return no_optimum(w, t, end, err);
    const uint8_t *basis = lp_basis(d->model);
    if (v->keep_basis)
        memcpy(v->keep_basis, basis, fixed + d->set_count);
    note_tight_rows(d, basis + fixed);
    while (d->set_count + d->local_count < pool->count && bring_in_violated(study, w, t)) {
        end = lp_solve(d->model);
        if (end != LP_OPTIMAL)
            return no_optimum(w, t, end, err);
        note_tight_rows(d, lp_basis(d->model) + fixed);
    }
    *model = d->model;
    return MCP_OK;
}
