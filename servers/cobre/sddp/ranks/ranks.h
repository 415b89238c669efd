/*
 * ranks.h - the ranks of a run: processes that work on the same study, step by step together.
 *
 * All ranks hold the same case, the same cuts and the same bases. Each solves its part of the tasks
 * of a pass, all gather what the tasks wrote, and then each does the same bookkeeping. Rank 0 alone
 * writes files and speaks to people.
 *
 * Each exchange begins with a word of every rank, which says at which step it is. A rank that ends,
 * for whatever reason, says RANK_ENDS: all others hear it at their next exchange, and none waits
 * for it. A process that dies without a last word ends the job (mpirun does that).
 *
 * NULL in place of `ranks` means one process. One thread uses a `ranks`.
 *
 * Method page, 12.
 */
#ifndef SDDP_RANKS_RANKS_H
#define SDDP_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"

#include "sddp/ranks/exchange.h"
#include "sddp/sddp.h"

/* Where a rank is when it speaks. */
typedef enum rank_step {
    RANK_JOINS,   /* with its study */
    RANK_MEETS,   /* between two steps of a run */
    RANK_AGREES,  /* before an iteration */
    RANK_PASSES,  /* after its part of a pass */
    RANK_REPORTS, /* after an iteration */
    RANK_ENDS     /* its last word */
} rank_step;

/* Of the constant texts of sddp_failure. */
#define RANK_NAME_SIZE 24

typedef struct rank_word {
    rank_step step;
    uint32_t number; /* of the exchange; set by ranks_speak */
    uint64_t check;  /* the same on all ranks, like step and number */
    uint64_t bytes;  /* that it gives next, by ranks_gather; a multiple of 8 */
    sddp_stop stop;
    uint32_t threads;                     /* of its team */
    int64_t elapsed_ns;                   /* by its clock */
    int64_t solves, solver_ns, fallbacks; /* of its own workers, since the study began */
    uint64_t failed;                      /* its lowest task that failed; UINT64_MAX: none */
    mcp_status status;                    /* of that task */
    int exit_status;                      /* RANK_ENDS */
    sddp_failure where;                   /* of that task, without its texts */
    char solver[RANK_NAME_SIZE];          /* where.solver_status; "": NULL */
    char message[sizeof((mcp_error *)0)->message]; /* of the failed task; why the rank ends */
} rank_word;

/* Why a run cannot go on: what an MpiError record says. */
typedef struct rank_loss {
    const char *operation; /* "end", "agree" or "gather"; constant */
    unsigned rank;         /* that ended, or differs */
    int code;              /* the exit status of that rank, or the status of the exchange */
    char detail[sizeof((mcp_error *)0)->message];
} rank_loss;

typedef struct ranks ranks;

/* `exchange` is borrowed. MCP_OK; MCP_E_NOMEM. */
mcp_status ranks_new(ranks **out, const rank_exchange *exchange, mcp_error *err);
void ranks_free(ranks *self);

/* 1 and 0 without ranks. */
unsigned ranks_count(const ranks *self);
unsigned ranks_own(const ranks *self);

/* The first of `tasks` tasks that a rank solves: ranks_count(self) parts in order, which differ by
 * one task at most. */
size_t ranks_first_task(const ranks *self, size_t tasks, unsigned rank);

/*
 * Say a word and hear those of all: *all has them by rank, until the next call; NULL: not wanted.
 *
 * MCP_OK; MCP_E_INTERNAL: a rank has ended, or is at another step, or the exchange has failed
 * (ranks_lost). From then on every call fails.
 */
mcp_status ranks_speak(ranks *self, rank_word *own, const rank_word **all, mcp_error *err);

/* Say nothing but the step: all ranks are there. As ranks_speak. */
mcp_status ranks_meet(ranks *self, mcp_error *err);

/*
 * Gather bytes, after a word with their number.
 *
 * own holds as many bytes as the word said. *all receives those of rank r from byte first[r] on,
 * until the next call; on ranks above 0 NULL without `for_all`. As ranks_speak.
 */
mcp_status ranks_gather(ranks *self, const mcp_buf *own, bool for_all, const char **all,
                        const size_t **first, mcp_error *err);

/* Scratch for the bytes to give, emptied. Complete it by ranks_pad before its length is used. */
mcp_buf *ranks_own_bytes(ranks *self);
void ranks_pad(mcp_buf *bytes);

/* The time spent waiting for words and exchanging bytes, so far. */
typedef struct rank_times {
    int64_t waiting_ns, moving_ns;
} rank_times;

rank_times ranks_times(const ranks *self);

/* Why the calls fail; NULL: they do not. */
const rank_loss *ranks_lost(const ranks *self);

/* Whether the exchange itself failed, so that others may be waiting for good. */
bool ranks_is_broken(const ranks *self);

/* Keep why this rank ends, for its last word. The first text counts. NULL is allowed for `self`. */
void ranks_explain(ranks *self, const char *why);

/*
 * Say the last word. Returns the exit status that the ranks agree on: that of rank 0; of another
 * where rank 0 did not fail; 4 where rank 0 still works.
 */
int ranks_end(ranks *self, int exit_status);

#endif
