/*
 * stop.h - the stopping rules of the case. Method page, 10.
 */
#ifndef SDDP_STOP_H
#define SDDP_STOP_H

#include <stdbool.h>

#include "case/case.h"
#include "sddp/sddp.h"

/* Whether the rules end training after the last of `count` rows, and by which reason. */
bool stop_by_rules(sddp_reason *reason, const cobre_config *config, const sddp_iteration *rows,
                   size_t count, double elapsed_seconds);

#endif
