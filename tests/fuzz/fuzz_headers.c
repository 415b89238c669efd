/*
 * fuzz_headers.c - the value of a header against an argument: whatever comes, at most one text of
 * an argument agrees with it, and a value that agrees still agrees when it is encoded.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "mcp/core/headers.h"

struct one {
    mcp__headers face; /* first */
    const char *value;
};

static const char *field(const mcp__headers *self, const char *name, size_t *count)
{
    (void)name;
    *count = 1;
    return ((const struct one *)self)->value;
}

static bool agrees(const char *value, const mcp_json *argument, mcp_arena *arena)
{
    struct one one = { .face.field = field, .value = value };

    return mcp__headers_check_parameter(&one.face, "X", argument, arena, NULL) == MCP_OK;
}

/* A string argument that agreed must agree when its bytes come between the markers. */
static void check_encoded(const mcp_json *argument, mcp_arena *arena)
{
    size_t length = 0;
    const char *text = mcp_json_string(argument, &length);
    char *encoded = text ? mcp_arena_alloc(arena, mcp__base64_length(length) + 1) : NULL;
    const char *value;

    if (!encoded)
        return;
    mcp__base64_encode(encoded, text, length);
    value = mcp_arena_printf(arena, "=?base64?%s?=", encoded);
    if (value && !agrees(value, argument, arena))
        abort();
}

/* The first line is the header's value, the rest the argument as JSON. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *argument = NULL;

    if (newline && arena) {
        size_t value_length = (size_t)(newline - data);
        const char *value = mcp_arena_strndup(arena, (const char *)data, value_length);
        const char *text = (const char *)newline + 1;
        if (value &&
            mcp_json_read(&argument, arena, text, size - value_length - 1, NULL) == MCP_OK &&
            agrees(value, argument, arena))
            check_encoded(argument, arena);
    }
    mcp_arena_free(arena);
    return 0;
}
