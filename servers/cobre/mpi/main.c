/*
 * main.c - the program cobre-mpi: `cobre run` on the processes that mpirun starts, on one machine
 * or several.
 *
 * Rank 0 speaks on the streams of the program, the others are silent. What makes another rank fail
 * is in its last word, which rank 0 reports. All ranks end with the same exit status.
 */
#include <stdio.h>

#include "mpi/mpi_exchange.h"
#include "run/run.h"
#include "sddp/ranks/ranks.h"
#include "serve/serve.h"
#include "shell/commands.h"

static const cli_option version_options[] = { COBRE_OPTION_JSON,
                                              COBRE_OPTION_FORMAT(cobre_formats),
                                              { 0 } };

static const cli_command commands[] = {
    { .name = "run",
      .arguments = "CASE",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "train and simulate a case directory; --threads is of each process",
      .notes = cobre_exit_notes,
      .options = cobre_run_options,
      .run = cobre_command_run },
    { .name = "version",
      .summary = "show the version, the solver and the build",
      .options = version_options,
      .run = cobre_command_version },
    { 0 },
};

static const cli_program cobre_mpi = {
    .name = "cobre-mpi",
    .version = COBRE_VERSION,
    .summary = "cobre run by several processes: mpirun -n 4 cobre-mpi run CASE",
    .notes = cobre_exit_notes,
    .options = cobre_program_options,
    .commands = commands,
    .usage_record = COBRE_USAGE_RECORD,
    .usage_envelope = cobre_usage_envelope,
};

/* The command, on this rank; then the exit status that the ranks agree on. */
static int run_rank(cobre_run_ranks *own, const rank_exchange *exchange, int argc, char **argv)
{
    bool is_first = exchange->rank == 0;
    FILE *nowhere = is_first ? NULL : fopen("/dev/null", "w");
    int exit_status = COBRE_EXIT_FILES;

    if (is_first)
        exit_status = serve_main_with(&cobre_mpi, argc, argv, stdout, stderr, own);
    else if (nowhere)
        exit_status = serve_main_with(&cobre_mpi, argc, argv, nowhere, nowhere, own);
    else
        ranks_explain(own->ranks, "/dev/null cannot be opened");
    ranks_explain(own->ranks, "the command line, or a file or directory of it");
    if (nowhere)
        fclose(nowhere);
    return ranks_end(own->ranks, exit_status);
}

int main(int argc, char **argv)
{
    mcp_error err = MCP_ERROR_INIT;
    cobre_run_ranks own = { .ranks = NULL };
    rank_exchange exchange;
    mcp_status st = mpi_exchange_open(&exchange, &own.distribution, &argc, &argv, &err);

    if (st == MCP_OK)
        st = ranks_new(&own.ranks, &exchange, &err);
    if (st != MCP_OK) {
        fprintf(stderr, "error: %s\n", err.message);
        mpi_exchange_abort(COBRE_EXIT_INTERNAL);
    }
    int exit_status = run_rank(&own, &exchange, argc, argv);
    if (ranks_is_broken(own.ranks)) {
        fprintf(stderr, "error: rank %u: %s\n", exchange.rank, ranks_lost(own.ranks)->detail);
        mpi_exchange_abort(exit_status);
    }
    ranks_free(own.ranks);
    mpi_exchange_close();
    return exit_status;
}
