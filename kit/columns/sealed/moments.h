/*
 * moments.h - dates, times and numbers of the engine as texts.
 */
#ifndef COLUMNS_SEALED_MOMENTS_H
#define COLUMNS_SEALED_MOMENTS_H

#include <duckdb.h>

#include "mcp/buf.h"

/* 2024-01-31; "infinity", "-infinity" of the two ends. */
void moments_put_date(mcp_buf *out, int32_t days);

/* 2024-01-31T08:00:00[.123456]; `per_second` is 1, 1,000, 10^6 or 10^9, and says how many digits a
 * fraction that is not zero has (6, or 9). `zone` is "Z" or "". */
void moments_put_timestamp(mcp_buf *out, int64_t value, int64_t per_second, const char *zone);

/* 08:00:00[.123456] */
void moments_put_time(mcp_buf *out, int64_t value, int64_t per_second);

/* 08:00:00+01:00 of the engine's bits. */
void moments_put_time_tz(mcp_buf *out, uint64_t bits);

/* PT90.5S, -PT0.5S, P14M3DT1S */
void moments_put_interval(mcp_buf *out, duckdb_interval interval);

/* An integer of 128 bits with `scale` digits behind the point. */
void moments_put_decimal(mcp_buf *out, duckdb_hugeint value, unsigned scale);
void moments_put_unsigned(mcp_buf *out, duckdb_uhugeint value);

/* 01234567-89ab-cdef-0123-456789abcdef */
void moments_put_uuid(mcp_buf *out, duckdb_hugeint value);

#endif
