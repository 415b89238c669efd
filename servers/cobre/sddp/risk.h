/*
 * risk.h - the risk of the outcomes of a stage's openings: expectation, or a mix of it with the
 * mean of the worst tail. Method page, 7.
 */
#ifndef SDDP_RISK_H
#define SDDP_RISK_H

#include <stddef.h>
#include <stdint.h>

#include "case/case.h"

/*
 * The weights mu of equally likely outcomes: the weighted sum of the outcomes is their risk. They
 * sum to 1.
 *
 * @param order scratch of n numbers
 * @param greedy the arithmetic of the original, which overweights bad outcomes for 0 < lambda < 1
 */
void risk_weights(double *weights, const cobre_stage *stage, bool greedy, const double *outcomes,
                  size_t n, uint32_t *order);

#endif
