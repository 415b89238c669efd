/*
 * rollback.h - the state of a study between two iterations, to which an abandoned one returns.
 *
 * What an iteration changes, and the next one's bits depend on: the cuts, the working sets and the
 * bases. Returning allocates nothing, so it cannot fail.
 */
#ifndef SDDP_ITERATION_ROLLBACK_H
#define SDDP_ITERATION_ROLLBACK_H

#include "sddp/study.h"

typedef struct rollback rollback;

/* The study's own. MCP_OK; MCP_E_NOMEM. */
mcp_status rollback_new(rollback **out, sddp *study, mcp_error *err);

/* Note the present state. MCP_OK; MCP_E_NOMEM. */
mcp_status rollback_mark(sddp *study, mcp_error *err);

/* Return to the state noted last. */
void rollback_return(sddp *study);

#endif
