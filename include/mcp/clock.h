/**
 * clock.h - the monotonic clock and the wall clock.
 */
#ifndef MCP_CLOCK_H
#define MCP_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Milliseconds since an unspecified point; never decreases. For durations and deadlines. */
int64_t mcp_clock_mono_ms(void);

/** The same in nanoseconds. */
int64_t mcp_clock_mono_ns(void);

/** Milliseconds since 1970-01-01T00:00:00Z. */
int64_t mcp_clock_wall_ms(void);

/** Room for mcp_clock_utc with its NUL. */
#define MCP_CLOCK_UTC_SIZE 25

/**
 * Write a wall time as ISO 8601 in UTC: "2026-01-17T08:00:00Z", or with ".123" where `with_ms`.
 */
void mcp_clock_utc(char out[MCP_CLOCK_UTC_SIZE], int64_t wall_ms, int with_ms);

#ifdef __cplusplus
}
#endif

#endif
