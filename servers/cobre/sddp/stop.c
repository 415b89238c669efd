/*
 * stop.c - the stopping rules, in mode any (the first that fires names the reason) or all.
 *
 * Training always ends at the largest iteration limit of the case.
 */
#include "sddp/stop.h"

#include <math.h>

static bool stalls(const cobre_stopping_rule *rule, const sddp_iteration *rows, size_t count)
{
    if (rule->limit < 1 || (uint64_t)rule->limit > count)
        return false;
    double now = rows[count - 1].lower_bound;
    double then = rows[count - (size_t)rule->limit].lower_bound;
    return fabs(now - then) / fmax(1.0, fabs(now)) < rule->tolerance;
}

bool stop_simulates(const cobre_stopping_rule *rule, const sddp_iteration *rows, size_t count)
{
    return rule->kind == COBRE_RULE_SIMULATION && rule->period > 0 && rule->replications > 0 &&
           count > 0 && (uint32_t)rows[count - 1].iteration % rule->period == 0 &&
           stalls(rule, rows, count);
}

double stop_distance(const double *before, const double *now, size_t stages)
{
    double squares = 0.0;

    for (size_t t = 0; t < stages; t++) {
        double relative = (now[t] - before[t]) / fmax(1.0, fabs(before[t]));
        squares += relative * relative;
    }
    return sqrt(squares);
}

static bool fires(const cobre_stopping_rule *rule, const sddp_iteration *rows, size_t count,
                  double elapsed_seconds, bool simulated)
{
    switch (rule->kind) {
    case COBRE_RULE_ITERATION_LIMIT:
        return rows[count - 1].iteration >= rule->limit;
    case COBRE_RULE_TIME_LIMIT:
        return elapsed_seconds >= rule->seconds;
    case COBRE_RULE_BOUND_STALLING:
        return stalls(rule, rows, count);
    case COBRE_RULE_SIMULATION:
        return simulated;
    }
    return false;
}

static sddp_reason reason_of(cobre_rule_kind kind)
{
    switch (kind) {
    case COBRE_RULE_TIME_LIMIT:
        return SDDP_TIME_LIMIT;
    case COBRE_RULE_BOUND_STALLING:
        return SDDP_BOUND_STALLING;
    case COBRE_RULE_SIMULATION:
        return SDDP_SIMULATION;
    default:
        return SDDP_ITERATION_LIMIT;
    }
}

bool stop_by_rules(sddp_reason *reason, const cobre_config *config, const sddp_iteration *rows,
                   size_t count, double elapsed_seconds, const bool *simulated)
{
    size_t fired = 0, first = SIZE_MAX;

    for (size_t i = 0; i < config->rule_count; i++) {
        if (!fires(&config->rules[i], rows, count, elapsed_seconds, simulated[i]))
            continue;
        fired++;
        if (first == SIZE_MAX)
            first = i;
    }
    if (fired > 0 && (!config->stop_when_all || fired == config->rule_count)) {
        *reason = reason_of(config->rules[first].kind);
        return true;
    }
    *reason = SDDP_ITERATION_LIMIT;
    return (uint32_t)rows[count - 1].iteration >= config->max_iterations;
}
