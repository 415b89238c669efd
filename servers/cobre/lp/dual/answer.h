/*
 * answer.h - an optimal basis: its check, and the answers of the lanes that end with it.
 */
#ifndef LP_DUAL_ANSWER_H
#define LP_DUAL_ANSWER_H

#include "lp/dual/task.h"

/* Whether the present basis is optimal for the first and the last of the done lanes but for
 * rounding: the values of columns and watched rows, and the signs of reduced costs. */
bool answer_holds(dual_work *w);

/* Answer the done lanes by the present basis, after answer_holds of it; they stay. */
void answer_lanes(dual_work *w);

#endif
