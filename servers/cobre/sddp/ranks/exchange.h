/**
 * exchange.h - the port through which the processes of one study exchange bytes. MPI implements it
 * in the program cobre-mpi (mpi/); tests implement it in memory.
 */
#ifndef SDDP_RANKS_EXCHANGE_H
#define SDDP_RANKS_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/error.h"

typedef struct rank_exchange {
    unsigned rank, size; /* of this process; of all */

    /**
     * Gather bytes of all ranks. Called on every rank, by one thread, in the same order; returns
     * when what this rank needs has come.
     *
     * @param all     receives the bytes of rank r at [first[r], first[r + 1]); not used on ranks
     *                above 0 without `for_all`
     * @param own     this rank's
     * @param first   size + 1 offsets, multiples of 8, the same on all ranks
     * @param for_all all ranks receive, else rank 0 alone
     * @return MCP_OK; another status: nothing more can be exchanged
     */
    mcp_status (*gather)(void *all, const void *own, const size_t *first, bool for_all, void *data,
                         mcp_error *err);
    void *data;
} rank_exchange;

#endif
