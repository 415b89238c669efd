/*
 * fuzz_casparian_temporal.c - a line with a pattern of dates, and any bytes behind it as a text:
 * the layout of the pattern reads what the pattern reads, or leaves it to the pattern.
 */
#include <stdlib.h>
#include <string.h>

#include "schema/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
    if (!claim)
        abort();
}

static bool is_same(const casparian_moment *a, const casparian_moment *b)
{
    return a->date.year == b->date.year && a->date.month == b->date.month &&
           a->date.day == b->date.day && casparian_time_of(a) == casparian_time_of(b) &&
           a->has_offset == b->has_offset && a->offset_s == b->offset_s;
}

static void read_both_ways(const casparian_format *format, const casparian_layout *layout,
                           const char *text, size_t length)
{
    casparian_moment slow = { .hour = 0 }, fast = { .hour = 0 };
    bool fits = casparian_format_match(&slow, format, text, length);
    casparian_layout_match match = casparian_layout_read(&fast, layout, text, length);
    must(match != CASPARIAN_DIFFERS || !fits);
    must(match != CASPARIAN_MATCHES || (fits && is_same(&slow, &fast)));
}

/* The forms that need no pattern: those of a pattern whose numbers all have their longest form. */
static void read_without_pattern(const char *text, size_t length)
{
    static const struct {
        casparian_temporal kind;
        const char *pattern;
    } forms[] = {
        { CASPARIAN_TEMPORAL_DATE, "%Y-%m-%d" },
        { CASPARIAN_TEMPORAL_TIMESTAMP, "%Y-%m-%dT%H:%M:%S%.f" },
        { CASPARIAN_TEMPORAL_TIME, "%H:%M:%S%.f" },
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        casparian_moment slow = { .hour = 0 }, fast = { .hour = 0 };
        casparian_layout layout = casparian_layout_of(forms[i].pattern);
        bool fits = casparian_temporal_match(&slow, forms[i].kind, text, length);
        if (casparian_layout_read(&fast, &layout, text, length) == CASPARIAN_MATCHES)
            must(fits && is_same(&slow, &fast));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char pattern[CASPARIAN_FORMAT_MAX + 2];
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t length = end ? (size_t)(end - data) : 0;
    if (!end || length >= sizeof pattern || memchr(data, '\0', length))
        return 0;
    memcpy(pattern, data, length);
    pattern[length] = '\0';
    char *text = malloc(size - length - 1 ? size - length - 1 : 1);
    mcp_arena *arena = mcp_arena_new(0);
    must(text && arena);
    memcpy(text, end + 1, size - length - 1);
    for (int kind = CASPARIAN_TEMPORAL_DATE; kind <= CASPARIAN_TEMPORAL_TIME; kind++) {
        const casparian_format *format = NULL;
        mcp_error err = MCP_ERROR_INIT;
        mcp_status st = casparian_format_compile(&format, arena, pattern, (casparian_temporal)kind,
                                                 &err);
        must(st == MCP_OK || (st == MCP_E_PARAMS || st == MCP_E_LIMIT));
        if (st != MCP_OK)
            continue;
        casparian_layout layout = casparian_layout_of(pattern);
        read_both_ways(format, &layout, text, size - length - 1);
    }
    read_without_pattern(text, size - length - 1);
    mcp_arena_free(arena);
    free(text);
    return 0;
}
