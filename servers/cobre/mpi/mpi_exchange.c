/*
 * mpi_exchange.c - gathers bytes by MPI.
 *
 * MPI libraries wait in a busy loop. Ranks wait for the slowest of them at the end of each pass, so
 * where they share processors the loop would take the time that the others need: here a wait polls
 * for a short time, then sleeps between two looks.
 */
#include "mpi/mpi_exchange.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mcp/arena.h"

/* Counts are of MPI_UINT64_T: 16 GiB in all. */
#define UNIT 8

#define POLLS 2000 /* with sched_yield between them */
#define SLEEP_NS 50000

static struct {
    int *counts, *offsets; /* by rank, in units */
    mcp_arena *arena;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    char standard[24];
} own;

static mcp_status fail(const char *what, int code, mcp_error *err)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;

    MPI_Error_string(code, text, &length);
    return mcp_error_set(err, MCP_E_INTERNAL, "%s failed: %.150s", what, text);
}

static int wait_for(MPI_Request *request)
{
    const struct timespec pause = { 0, SLEEP_NS };
    int is_done = 0;

    for (unsigned polls = 0;; polls++) {
        int code = MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || is_done)
            return code;
        if (polls < POLLS)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
}

static mcp_status gather(void *all, const void *mine, const size_t *first, bool for_all, void *data,
                         mcp_error *err)
{
    const rank_exchange *port = data;
    MPI_Request request;
    int code;

    if (first[port->size] / UNIT > INT32_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "the ranks cannot exchange %zu bytes at once",
                             first[port->size]);
    for (unsigned i = 0; i < port->size; i++) {
        own.offsets[i] = (int)(first[i] / UNIT);
        own.counts[i] = (int)((first[i + 1] - first[i]) / UNIT);
    }
    int count = own.counts[port->rank];
    if (for_all)
        code = MPI_Iallgatherv(mine, count, MPI_UINT64_T, all, own.counts, own.offsets,
                               MPI_UINT64_T, MPI_COMM_WORLD, &request);
    else
        code = MPI_Igatherv(mine, count, MPI_UINT64_T, all, own.counts, own.offsets, MPI_UINT64_T,
                            0, MPI_COMM_WORLD, &request);
    if (code == MPI_SUCCESS)
        code = wait_for(&request);
    return code == MPI_SUCCESS ? MCP_OK : fail("the exchange between the ranks", code, err);
}

/* ---- start and end --------------------------------------------------------------------------- */

/* The machines: each has one process that is the first there. */
static int count_nodes(unsigned *nodes)
{
    MPI_Comm here = MPI_COMM_NULL;
    int rank_here = 0, is_first = 0, sum = 1;
    int code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);

    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(here, &rank_here);
    is_first = rank_here == 0;
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&is_first, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (here != MPI_COMM_NULL)
        MPI_Comm_free(&here);
    *nodes = (unsigned)sum;
    return code;
}

static void name_library(void)
{
    int length = 0, major = 0, minor = 0;

    MPI_Get_library_version(own.library, &length);
    own.library[strcspn(own.library, ",\n")] = '\0'; /* what follows is of the build */
    MPI_Get_version(&major, &minor);
    snprintf(own.standard, sizeof own.standard, "%d.%d", major, minor);
}

static const char *level_name(int level)
{
    switch (level) {
    case MPI_THREAD_SINGLE:
        return "single";
    case MPI_THREAD_FUNNELED:
        return "funneled";
    case MPI_THREAD_SERIALIZED:
        return "serialized";
    default:
        return "multiple";
    }
}

mcp_status mpi_exchange_open(rank_exchange *out, results_distribution *distribution, int *argc,
                             char ***argv, mcp_error *err)
{
    int level = MPI_THREAD_SINGLE, rank = 0, size = 1;
    unsigned nodes = 1;
    int code = MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);

    if (code != MPI_SUCCESS)
        return fail("the start of MPI", code, err);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (code == MPI_SUCCESS)
        code = count_nodes(&nodes);
    if (code != MPI_SUCCESS)
        return fail("the start of MPI", code, err);
    own.arena = mcp_arena_new(0);
    own.counts = own.arena ? mcp_arena_array(own.arena, (size_t)size, sizeof *own.counts) : NULL;
    own.offsets = own.arena ? mcp_arena_array(own.arena, (size_t)size, sizeof *own.offsets) : NULL;
    if (!own.counts || !own.offsets)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %d ranks", size);
    name_library();
    *out = (rank_exchange){ (unsigned)rank, (unsigned)size, gather, out };
    *distribution = (results_distribution){ .ranks = (unsigned)size,
                                            .nodes = nodes,
                                            .library = own.library,
                                            .standard = own.standard,
                                            .thread_level = level_name(level),
                                            .job = getenv("SLURM_JOB_ID") };
    return MCP_OK;
}

void mpi_exchange_close(void)
{
    MPI_Finalize();
    mcp_arena_free(own.arena);
}

_Noreturn void mpi_exchange_abort(int exit_status)
{
    MPI_Abort(MPI_COMM_WORLD, exit_status);
    _Exit(exit_status);
}
