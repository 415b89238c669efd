/*
 * settle.h - what casparian_commit_settle and casparian_commit_sweep do.
 */
#ifndef CASPARIAN_SINKS_SETTLE_H
#define CASPARIAN_SINKS_SETTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

mcp_status settle_intent(bool *is_committed, const char *text, size_t length, mcp_error *err);
mcp_status settle_sweep(int dir_fd, int64_t now_ms, bool (*is_live)(void *data, const char *name),
                        void *data, size_t *removed, mcp_error *err);

#endif
