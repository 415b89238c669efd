/*
 * tables.h - the statistics, coefficients and correlations that a case gives or its history yields.
 */
#ifndef STOCHASTIC_TABLES_H
#define STOCHASTIC_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "case/case.h"

/* The case's statistics, given or estimated, as exported under stochastic/. */
typedef struct inflow_tables {
    const cobre_inflow_stats *stats;
    size_t stats_count;
    const cobre_ar_row *ar;
    size_t ar_count;
    const cobre_annual_row *annual;
    size_t annual_count;
    const cobre_correlation_profile *profiles;
    size_t profile_count;
    const size_t *profile_of_stage; /* by stage; NULL: no correlation */
    bool stats_estimated, ar_estimated, correlation_estimated;
    const struct inflow_estimate *estimate; /* history/estimate.h; NULL: nothing was estimated */
} inflow_tables;

#endif
