/*
 * stop.h - the stopping rules of the case. Method page, 10.
 */
#ifndef SDDP_STOP_H
#define SDDP_STOP_H

#include <stdbool.h>

#include "case/case.h"
#include "sddp/sddp.h"

/*
 * Whether the rules end training after the last of `count` rows, and by which reason.
 *
 * @param simulated by rule: what a simulation rule says (simulation_rule.h)
 */
bool stop_by_rules(sddp_reason *reason, const cobre_config *config, const sddp_iteration *rows,
                   size_t count, double elapsed_seconds, const bool *simulated);

/* Whether a rule wants a simulation after the last of `count` rows: every `period` iterations, if
 * the bound is stable. */
bool stop_simulates(const cobre_stopping_rule *rule, const sddp_iteration *rows, size_t count);

/* The distance of mean costs by stage from those before, relative to these. */
double stop_distance(const double *before, const double *now, size_t stages);

#endif
