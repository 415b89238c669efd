/*
 * fuzz_uri_template.c - the first line is a URI template, the rest a URI.
 *
 * Beyond surviving: what matches as RFC 6570 expands must be an object, and a URI without an escape
 * that a template of one `{+x}` matches is the value itself.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/arena.h"
#include "mcp/feature/uri_template.h"
#include "mcp/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int claim)
{
    if (!claim)
        abort();
}

static void match_both(mcp_arena *arena, const char *text, const char *uri, size_t length)
{
    const mcp__uri_template *template = NULL;
    const mcp_json *variables = NULL;

    if (mcp__uri_template_compile(&template, arena, text, NULL) != MCP_OK)
        return;
    for (int slashes = MCP__SLASHES_ENCODED; slashes <= MCP__SLASHES_RAW; slashes++) {
        if (mcp__uri_template_match(&variables, template, uri, length, (mcp__uri_slashes)slashes,
                                    arena, NULL) == MCP_OK)
            must(mcp_json_is_object(variables));
    }
}

static void match_whole(mcp_arena *arena, const char *uri, size_t length)
{
    const mcp__uri_template *template = NULL;
    const mcp_json *variables = NULL;
    const char *value;
    size_t value_length = 0;

    must(mcp__uri_template_compile(&template, arena, "{+x}", NULL) == MCP_OK);
    if (memchr(uri, '%', length) ||
        mcp__uri_template_match(&variables, template, uri, length, MCP__SLASHES_ENCODED, arena,
                                NULL) != MCP_OK)
        return;
    value = mcp_json_string(mcp_json_get(variables, "x"), &value_length);
    must(value && value_length == length && memcmp(value, uri, length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0; /* and `data` may be NULL */
    const uint8_t *newline = memchr(data, '\n', size);
    size_t head = newline ? (size_t)(newline - data) : size;
    const char *uri = (const char *)(newline ? newline + 1 : data + size);
    mcp_arena *arena = mcp_arena_new((size_t)1 << 24);

    if (!arena)
        return 0;
    char *text = mcp_arena_strndup(arena, (const char *)data, head);
    if (text) {
        match_both(arena, text, uri, size - (size_t)(uri - (const char *)data));
        match_whole(arena, uri, size - (size_t)(uri - (const char *)data));
    }
    mcp_arena_free(arena);
    return 0;
}
