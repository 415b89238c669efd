/*
 * digest.h - one number for the data of a study: ranks compare theirs, and a policy keeps that of
 * the case that it is from.
 */
#ifndef SDDP_RANKS_DIGEST_H
#define SDDP_RANKS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "sddp/sddp.h"

/* Of all that the optima are made of: programs, noises, the first state, the weights of bad
 * outcomes. Equal for equal cases, on machines of one arithmetic. */
uint64_t digest_of_study(const sddp *study);

/* The digest so far, and further bytes. */
uint64_t digest_add(uint64_t sum, const void *bytes, size_t length);

#endif
