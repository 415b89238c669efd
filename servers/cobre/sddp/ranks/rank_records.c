/*
 * rank_records.c - gathers the rows of each rank and puts them together.
 *
 * The solver rows of a rank are those of the forward pass, one a stage and the same on all ranks,
 * then any number of the backward pass, then one of the bound.
 */
#include "sddp/ranks/rank_records.h"

#include <stdlib.h>
#include <string.h>

/* What comes before the rows of a rank. */
typedef struct head {
    uint64_t solver_count, worker_count;
    sddp_rank_times times;
} head;

/* The rows put together so far. */
typedef struct sums {
    size_t solver, workers;
    size_t forward; /* the first of the solver rows */
    sddp_solver_row bound;
} sums;

mcp_status rank_records_make(rank_records *out, const ranks *all, size_t solver_rows,
                             size_t workers, mcp_arena *arena, mcp_error *err)
{
    *out = (rank_records){ .solver_most = solver_rows, .worker_most = workers };
    out->solver = mcp_arena_array(arena, solver_rows, sizeof *out->solver);
    out->workers = mcp_arena_array(arena, workers, sizeof *out->workers);
    out->ranks = mcp_arena_array(arena, ranks_count(all), sizeof *out->ranks);
    if (!out->solver || !out->workers || !out->ranks)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the records of all ranks");
    return MCP_OK;
}

static void add_row(sddp_solver_row *sum, const sddp_solver_row *more)
{
    sum->solves += more->solves;
    sum->first_try += more->first_try;
    sum->retried += more->retried;
    sum->failed += more->failed;
    sum->attempts += more->attempts;
    sum->bases_offered += more->bases_offered;
    sum->bases_rejected += more->bases_rejected;
    sum->pivots += more->pivots;
    sum->solve_ms += more->solve_ms;
    sum->load_ms += more->load_ms;
    sum->bounds_ms += more->bounds_ms;
    sum->basis_ms += more->basis_ms;
    sum->bases_rebuilt += more->bases_rebuilt;
    for (size_t i = 0; i < SDDP_RETRY_LEVELS; i++)
        sum->levels[i] += more->levels[i];
}

/* False: there is no room for the row. */
static bool add_solver_row(rank_records *to, sums *at, const sddp_solver_row *row, bool is_first)
{
    if (row->phase == SDDP_PHASE_LOWER_BOUND) {
        if (is_first)
            at->bound = *row;
        else
            add_row(&at->bound, row);
        return true;
    }
    if (row->phase == SDDP_PHASE_FORWARD && !is_first) {
        if ((size_t)row->stage >= at->forward)
            return false;
        add_row(&to->solver[row->stage], row);
        return true;
    }
    if (at->solver + 1 >= to->solver_most) /* the bound comes last */
        return false;
    to->solver[at->solver++] = *row;
    at->forward += row->phase == SDDP_PHASE_FORWARD;
    return true;
}

/* Add what a rank sent. False: it does not fit. */
static bool add_rank(rank_records *to, sums *at, unsigned rank, const char *from, size_t length)
{
    head first;
    sddp_solver_row row;

    if (length < sizeof first)
        return false;
    memcpy(&first, from, sizeof first);
    from += sizeof first;
    length -= sizeof first;
    if (first.solver_count > to->solver_most ||
        first.worker_count > to->worker_most - at->workers ||
        length < first.solver_count * sizeof row + first.worker_count * sizeof *to->workers)
        return false;
    to->ranks[rank] = first.times;
    memcpy(to->workers + at->workers, from, first.worker_count * sizeof *to->workers);
    at->workers += first.worker_count;
    from += first.worker_count * sizeof *to->workers;
    for (uint64_t i = 0; i < first.solver_count; i++, from += sizeof row) {
        memcpy(&row, from, sizeof row);
        if (!add_solver_row(to, at, &row, rank == 0))
            return false;
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const sddp_solver_row *x = a, *y = b;

    if (x->stage != y->stage)
        return x->stage < y->stage ? 1 : -1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->worker != y->worker)
        return x->worker < y->worker ? -1 : 1;
    return (x->opening > y->opening) - (x->opening < y->opening);
}

static mcp_status put_together(rank_records *to, const ranks *all, const char *bytes,
                               const size_t *first, sddp_records *records, mcp_error *err)
{
    sums at = { .solver = 0 };

    for (unsigned i = 0; i < ranks_count(all); i++)
        if (!add_rank(to, &at, i, bytes + first[i], first[i + 1] - first[i]))
            return mcp_error_set(err, MCP_E_INTERNAL, "the records of rank %u do not fit", i);
    qsort(to->solver + at.forward, at.solver - at.forward, sizeof *to->solver, by_place);
    to->solver[at.solver++] = at.bound;
    records->solver = to->solver;
    records->solver_count = at.solver;
    records->workers = to->workers;
    records->worker_count = at.workers;
    records->ranks = to->ranks;
    records->rank_count = ranks_count(all);
    return MCP_OK;
}

mcp_status rank_records_collect(rank_records *memory, ranks *all, sddp_records *records,
                                const sddp_rank_times *own, mcp_error *err)
{
    const head first = { records->solver_count, records->worker_count, *own };
    rank_word word = { .step = RANK_REPORTS, .check = records->number };
    mcp_buf *mine = ranks_own_bytes(all);
    const char *bytes = NULL;
    const size_t *offsets = NULL;

    mcp_buf_append(mine, &first, sizeof first);
    mcp_buf_append(mine, records->workers, records->worker_count * sizeof *records->workers);
    mcp_buf_append(mine, records->solver, records->solver_count * sizeof *records->solver);
    ranks_pad(mine);
    if (mine->status != MCP_OK)
        return mcp_error_set(err, mine->status, "no memory for the records of the iteration");
    word.bytes = mine->length;
    mcp_status st = ranks_speak(all, &word, NULL, err);
    if (st == MCP_OK)
        st = ranks_gather(all, mine, false, &bytes, &offsets, err);
    return st == MCP_OK && bytes ? put_together(memory, all, bytes, offsets, records, err) : st;
}
