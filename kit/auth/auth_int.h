/*
 * auth_int.h - the same door for tests, who bring their own clock.
 */
#ifndef AUTH_AUTH_INT_H
#define AUTH_AUTH_INT_H

#include <stdint.h>

#include "auth/auth.h"

/* As auth_open. `mono_ms` tells how old the keys are. */
mcp_status auth_open_with_clock(auth **out, const auth_options *options, int64_t (*mono_ms)(void),
                                mcp_error *err);

#endif
