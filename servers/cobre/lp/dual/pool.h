/*
 * pool.h - the search of the whole pool for cuts that lanes violate.
 */
#ifndef LP_DUAL_POOL_H
#define LP_DUAL_POOL_H

#include "lp/dual/task.h"

/*
 * Search for the lanes in w->done, which the watched rows have nothing against. The most violated
 * cut of each joins the watched rows, and w->done keeps the lanes that violate none, in order.
 * LP_OPTIMAL; LP_FAILED (a number of a cut is beyond LP_LARGEST); LP_NO_MEMORY.
 */
lp_status pool_search(dual_work *w);

#endif
