/*
 * fuzz_zone.c - any bytes as the file of a time zone.
 *
 * Whatever a file says, offsets stay within 8 days (a rule may say 167 hours), and the instant of a
 * wall clock time is that time less an offset.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "schema/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EIGHT_DAYS_S = 8 * 86400 };

static void must(bool claim)
{
    if (!claim)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t times[] = {
        -(INT64_C(1) << 45), -5000000000, -1,          0,
        1000000000,          1700000000,  20000000000, INT64_C(1) << 45
    };
    const casparian_zone *zone = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    must(arena != NULL);
    if (casparian_zone_read(&zone, arena, "fuzz", data, size, NULL) == MCP_OK) {
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
            int32_t offset = casparian_zone_offset(zone, times[i]);
            int64_t shift = casparian_zone_instant(zone, times[i]) - times[i];
            must(offset > -EIGHT_DAYS_S && offset < EIGHT_DAYS_S);
            must(shift > -EIGHT_DAYS_S && shift < EIGHT_DAYS_S);
        }
    }
    mcp_arena_free(arena);
    return 0;
}
