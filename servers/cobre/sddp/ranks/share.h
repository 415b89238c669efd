/*
 * share.h - what the ranks do together with a study: join, share the outcome of a pass, agree on
 * when to stop, collect the records of an iteration.
 *
 * All return MCP_OK, what their texts say, or the status of ranks_speak. Without ranks they do
 * nothing but what their texts say.
 */
#ifndef SDDP_RANKS_SHARE_H
#define SDDP_RANKS_SHARE_H

#include "sddp/pass.h"
#include "sddp/ranks/ranks.h"
#include "sddp/study.h"

/*
 * After this rank's part of a pass: gather what the tasks of the others wrote, and the notes of
 * their workers (into those of worker 0).
 *
 * end  becomes that of the lowest task that failed on any rank; p->is_halted is set when any rank
 *      was halted. Where one of these is, nothing else was gathered.
 */
mcp_status share_pass(pass *p, size_t tasks, pass_end *end, mcp_error *err);

/* Before an iteration: the strongest stop that any rank was told, and the time by the clock of
 * rank 0. Both hold this rank's own before. */
mcp_status share_stop(sddp *study, sddp_stop *stop, int64_t *elapsed_ns, mcp_error *err);

#endif
