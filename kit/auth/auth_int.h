/*
 * auth_int.h - auth_open for tests with a clock of their own.
 */
#ifndef AUTH_AUTH_INT_H
#define AUTH_AUTH_INT_H

#include <stdint.h>

#include "auth/auth.h"

/* As auth_open. `mono_ms` tells how old the keys are. */
mcp_status auth_open_with_clock(auth **out, const auth_options *options, int64_t (*mono_ms)(void),
                                mcp_error *err);

#endif
