/*
 * lp_clp_guard.h - the C++ functions that lp_clp.c calls.
 */
#ifndef LP_LP_CLP_GUARD_H
#define LP_LP_CLP_GUARD_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Put the random numbers of a Clp_Simplex back to their start. */
void lp_clp_seed(void *model);

/* A copy of a Clp_Simplex, to be freed by Clp_deleteModel. Throws without memory. */
void *lp_clp_copy(void *model);

/* Let Clp multiply objective and bounds inside its solves. */
void lp_clp_scale(void *model, double objective, double bounds);

/* Run `work`, which calls Clp. @return false: Clp has thrown an exception, for lack of memory */
bool lp_clp_run(void (*work)(void *data), void *data);

#ifdef __cplusplus
}
#endif

#endif
