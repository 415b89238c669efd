/**
 * mpi_exchange.h - the exchange of ranks (sddp/ranks/exchange.h) over MPI.
 *
 * Only the program cobre-mpi has it: neither cobre nor the MCP server links or starts MPI.
 */
#ifndef COBRE_MPI_MPI_EXCHANGE_H
#define COBRE_MPI_MPI_EXCHANGE_H

#include "mcp/error.h"

#include "results/results.h"
#include "sddp/ranks/exchange.h"

/**
 * Start MPI, for the thread that calls: it alone may use the exchange.
 *
 * @param out          the exchange of all processes
 * @param distribution what is reported of them; its texts live as long as the program
 * @return MCP_OK; MCP_E_INTERNAL: MPI cannot be started
 */
mcp_status mpi_exchange_open(rank_exchange *out, results_distribution *distribution, int *argc,
                             char ***argv, mcp_error *err);

/** End MPI. Waits for the other processes. */
void mpi_exchange_close(void);

/** End all processes: others may wait for this one for good. */
_Noreturn void mpi_exchange_abort(int exit_status);

#endif
