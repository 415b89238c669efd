/*
 * risk.c - the weights of (1 - lambda) * E + lambda * CVaR_alpha over equally likely outcomes.
 *
 * CVaR is the maximum of sum nu*Z over densities nu with nu <= p/alpha (Rockafellar and Uryasev,
 * 2000); for sorted outcomes that maximum is greedy from the worst one down. The mixed measure
 * keeps (1 - lambda)*p of every outcome, a lower limit that the original's greedy step omits.
 */
#include "sddp/risk.h"

#include <math.h>

/* Worst first, equal ones in their order: a binary insertion sort is stable. */
static void sort_descending(uint32_t *order, const double *outcomes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = i;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (outcomes[order[middle]] >= outcomes[i])
                low = middle + 1;
            else
                high = middle;
        }
        for (size_t at = i; at > low; at--)
            order[at] = order[at - 1];
        order[low] = (uint32_t)i;
    }
}

void risk_weights(double *weights, const cobre_stage *stage, bool greedy, const double *outcomes,
                  size_t n, uint32_t *order)
{
    double p = 1.0 / (double)n, lambda = stage->is_cvar ? stage->cvar_lambda : 0.0;
    double remaining = 1.0;

    if (lambda == 0.0) {
        for (size_t i = 0; i < n; i++)
            weights[i] = p;
        return;
    }
    double base = greedy ? 0.0 : (1.0 - lambda) * p;
    double scale = greedy ? 1.0 : lambda;
    double most = p / stage->cvar_alpha;
    if (greedy)
        most = (1.0 - lambda) * p + lambda * most;
    sort_descending(order, outcomes, n);
    for (size_t i = 0; i < n; i++) {
        double share = fmin(most, remaining);
        remaining -= share;
        weights[order[i]] = base + scale * share;
    }
}
