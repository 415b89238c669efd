/*
 * correlation.h - correlated noise from independent noise: eta becomes D eta, where D is the
 * symmetric square root of a correlation matrix.
 *
 * Made once from the profiles of a case, never changed, read by all threads. Each group of a
 * profile has a matrix of its own; there is no correlation across groups or classes. Method page,
 * 4.3.
 */
#ifndef STOCHASTIC_CORRELATION_H
#define STOCHASTIC_CORRELATION_H

#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/tables.h"

/* The largest number of members of a group. */
#define CORRELATION_MEMBERS_MAX 1024

typedef struct correlation correlation;

/*
 * The roots of all profiles of a case, given or estimated.
 *
 * out is the arena's; the case and the tables are not kept. MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT (a
 * group is too large: the text names it)
 */
mcp_status correlation_new(const correlation **out, mcp_arena *arena, const cobre_case *input,
                           const inflow_tables *tables, mcp_error *err);

/* Correlate the deviates of a class in a noise vector, by the profile of a stage. Groups with a
 * member that is not stochastic are left as they are. */
void correlation_apply(const correlation *c, size_t stage, cobre_noise_class class, double *noise);

/*
 * The symmetric square root V sqrt(max(lambda, 0)) V' of a symmetric matrix V lambda V'.
 *
 * out, matrix: [row * count + column]; scratch: 2 * count * count numbers
 */
void correlation_root(double *out, const double *matrix, size_t count, double *scratch);

#endif
