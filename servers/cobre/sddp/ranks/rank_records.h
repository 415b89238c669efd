/*
 * rank_records.h - the records of an iteration (records.h) of all ranks, on rank 0.
 */
#ifndef SDDP_RANKS_RANK_RECORDS_H
#define SDDP_RANKS_RANK_RECORDS_H

#include "mcp/arena.h"

#include "sddp/ranks/ranks.h"
#include "sddp/records.h"

/* Memory for the records of all ranks. */
typedef struct rank_records {
    sddp_solver_row *solver;
    sddp_worker_times *workers;
    sddp_rank_times *ranks;
    size_t solver_most, worker_most;
} rank_records;

/* Make room for so many rows of all ranks together. MCP_OK; MCP_E_NOMEM. */
mcp_status rank_records_make(rank_records *out, const ranks *all, size_t solver_rows,
                             size_t workers, mcp_arena *arena, mcp_error *err);

/*
 * Collect after an iteration; called on all ranks, with the records and the times of their own.
 *
 * records  on rank 0 those of all ranks, in `memory`: the rows of the forward pass and of the bound
 *          added up, those of the backward pass by stage, rank and worker; elsewhere unchanged
 * MCP_OK; as ranks_speak
 */
mcp_status rank_records_collect(rank_records *memory, ranks *all, sddp_records *records,
                                const sddp_rank_times *own, mcp_error *err);

#endif
