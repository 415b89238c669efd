/*
 * fuzz_trace.c - traceparent, tracestate and baggage as clients may write them.
 *
 * The input is taken as each of the three. A traceparent that is valid begins with the ids that are
 * read, what is sent in its place is valid and reads the same, and a byte changed to upper case
 * makes it invalid. A list that is valid has no byte that would end a header field.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/core/call/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
    if (!claim)
        abort();
}

static void check_parent(const char *text, size_t length)
{
    mcp_trace trace = { .tracestate = NULL }, again = { .tracestate = NULL };
    char copy[MCP_TRACEPARENT_SIZE];

    if (!mcp__traceparent_read(&trace, text, length))
        return;
    must(strlen(trace.trace_id) == 32 && memcmp(text + 3, trace.trace_id, 32) == 0);
    must(strlen(trace.parent_id) == 16 && memcmp(text + 36, trace.parent_id, 16) == 0);
    must(strlen(trace.traceparent) == 55);
    must(mcp__traceparent_read(&again, trace.traceparent, 55));
    must(memcmp(&trace, &again, sizeof trace) == 0);
    memcpy(copy, trace.traceparent, sizeof copy);
    for (size_t i = 0; i < 55; i++) {
        copy[i] = (char)toupper((unsigned char)copy[i]);
        must(copy[i] == trace.traceparent[i] || !mcp__traceparent_read(&again, copy, 55));
        copy[i] = trace.traceparent[i];
    }
}

static void check_list(const char *text, size_t length, size_t max)
{
    must(length > 0 && length <= max);
    for (size_t i = 0; i < length; i++)
        must((text[i] >= 0x20 && text[i] <= 0x7e) || text[i] == '\t');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size > 0 ? size : 1); /* no byte more, so that one read too many is seen */

    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    check_parent(text, size);
    if (mcp__tracestate_is_valid(text, size))
        check_list(text, size, MCP__TRACESTATE_MAX);
    if (mcp__baggage_is_valid(text, size))
        check_list(text, size, MCP__BAGGAGE_MAX);
    free(text);
    return 0;
}
