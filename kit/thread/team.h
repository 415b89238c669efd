/**
 * team.h - threads that run one function together, again and again: a parallel region.
 *
 * The threads stay between two regions. A thread that has nothing to do polls for some
 * microseconds, which is cheaper than to be woken, then sleeps; on a busy machine it takes no
 * processor time from others.
 *
 *     static void work(void *data, unsigned member)
 *     {
 *         for (size_t i; (i = atomic_fetch_add(&next, 1)) < tasks;)
 *             run_task(data, i, member);
 *     }
 *     ...
 *     thread_team_run(team, work, data);
 */
#ifndef THREAD_TEAM_H
#define THREAD_TEAM_H

#include "mcp/error.h"

typedef struct thread_team thread_team;

/**
 * Start a team.
 *
 * @param out  the caller's, freed by thread_team_free
 * @param size members, the calling thread included; where the system gives fewer threads the team
 *             is smaller
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status thread_team_new(thread_team **out, unsigned size, mcp_error *err);

/** The number of members; at least 1. */
unsigned thread_team_size(const thread_team *team);

/**
 * Call `work` once for each member, at once on as many threads, and return when all have returned.
 * Called by one thread at a time; member 0 runs on it. What it wrote before is seen by the members,
 * and what they wrote by it.
 */
void thread_team_run(thread_team *team, void (*work)(void *data, unsigned member), void *data);

/** End the threads. NULL is allowed. */
void thread_team_free(thread_team *team);

#endif
