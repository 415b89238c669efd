/*
 * lp_clp_seed.h - the one call of lp_clp.c that goes to C++.
 */
#ifndef LP_LP_CLP_SEED_H
#define LP_LP_CLP_SEED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Put the random numbers of a Clp_Simplex back to their start. */
void lp_clp_seed(void *model);

#ifdef __cplusplus
}
#endif

#endif
