/*
 * durations.c - one histogram for each method, each tool and each route.
 *
 * Labels come from tables of the program, never from clients: a method that does not exist counts
 * as "unknown", a tool that is not registered as no tool. SERIES_MAX bounds what features that come
 * and go may add.
 */
#include "mcp/core/call/durations.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/clock.h"

#define SERIES_MAX 512
#define KEY_MAX 512

const struct mcp__duration_bound mcp__duration_bounds[MCP__DURATION_BOUNDS] = {
    { 50000, "5e-05" },      { 100000, "0.0001" },    { 250000, "0.00025" },
    { 500000, "0.0005" },    { 1000000, "0.001" },    { 2500000, "0.0025" },
    { 5000000, "0.005" },    { 10000000, "0.01" },    { 25000000, "0.025" },
    { 50000000, "0.05" },    { 100000000, "0.1" },    { 250000000, "0.25" },
    { 500000000, "0.5" },    { 1000000000, "1.0" },   { 2500000000, "2.5" },
    { 5000000000, "5.0" },   { 10000000000, "10.0" }, { 30000000000, "30.0" },
    { 60000000000, "60.0" },
};

void mcp__durations_init(mcp__durations *durations)
{
    mcp__map_init(&durations->map, NULL);
    durations->first = NULL;
    durations->end = &durations->first;
}

void mcp__durations_clear(mcp__durations *durations)
{
    while (durations->first) {
        mcp__duration *duration = durations->first;
        durations->first = duration->next;
        free(duration);
    }
    mcp__map_clear(&durations->map);
}

/* Key and names are one block behind the struct: "method", NUL, "name", NUL. */
static mcp__duration *add_series(mcp__durations *durations, const char *key, size_t length,
                                 size_t method_length, bool is_route)
{
    mcp__duration *duration = durations->map.count < SERIES_MAX
                                  ? mcp_alloc_zeroed(1, sizeof *duration + length + 1)
                                  : NULL;

    if (!duration)
        return NULL;
    char *text = memcpy(duration + 1, key, length + 1);
    duration->method = text;
    duration->name = text + method_length + 1;
    duration->is_route = is_route;
    if (mcp__map_put(&durations->map, text, length, duration) != MCP_OK) {
        free(duration);
        return NULL;
    }
    *durations->end = duration;
    durations->end = &duration->next;
    return duration;
}

void mcp__durations_add(mcp__durations *durations, const char *method, const char *name,
                        bool is_route, int64_t ns)
{
    char key[KEY_MAX];
    size_t method_length = strlen(method), name_length = name ? strlen(name) : 0;
    size_t length = method_length + 1 + name_length, bucket = 0;

    if (length >= sizeof key)
        return;
    memcpy(key, method, method_length + 1);
    memcpy(key + method_length + 1, name ? name : "", name_length + 1);
    mcp__duration *duration = mcp__map_get(&durations->map, key, length);
    if (!duration)
        duration = add_series(durations, key, length, method_length, is_route);
    if (!duration)
        return; /* without memory, or beyond the bound: figures are not worth an error */
    while (bucket < MCP__DURATION_BOUNDS && ns > mcp__duration_bounds[bucket].ns)
        bucket++;
    duration->counts[bucket]++;
    duration->sum_ns += ns > 0 ? (uint64_t)ns : 0;
}

void mcp__durations_record(mcp_call *call)
{
    mcp__durations *durations = call->context->durations;
    int64_t began_ns = call->began_ns;
    const char *method = call->plan.method ? call->plan.method : "unknown";
    bool is_route = method[0] >= 'A' && method[0] <= 'Z'; /* methods of MCP begin small */
    bool is_named = is_route || (strcmp(method, "tools/call") == 0 && call->plan.flags != 0);

    call->began_ns = 0;
    if (durations && began_ns != 0)
        mcp__durations_add(durations, method, is_named ? call->request.name : NULL, is_route,
                           mcp_clock_mono_ns() - began_ns);
}
