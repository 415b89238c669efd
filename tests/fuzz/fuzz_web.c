/*
 * fuzz_web.c - header values, paths, queries and the file of tokens, as clients and operators may
 * write them.
 *
 * The first line is taken as a header value and as a path, the rest as a query and as a file of
 * tokens. Beyond surviving: arguments are an object of strings, and a Host that is known is no
 * longer known with a letter more.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/arena.h"
#include "mcp/transport/authorize.h"
#include "mcp/transport/http/header_fields.h"
#include "mcp/transport/rest/route_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mcp_status nothing(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

static const mcp_route routes[] = { { "GET", "/a/{b}/c/{d}", nothing, MCP_READS, 0 },
                                    { "POST", "/{a}", nothing, MCP_READS, 0 },
                                    { 0 } };

static void must(int claim)
{
    if (!claim)
        abort();
}

static void read_fields(mcp_arena *arena, const char *value)
{
    mcp__accepted accepted = { .json = false };
    const char *longer = mcp_arena_printf(arena, "x%s", value);

    mcp__field_accept(&accepted, value);
    (void)mcp__field_is_type(value, "application/json");
    (void)mcp__field_is_json(value);
    (void)mcp__origin_is_own(value, "localhost", 80, NULL);
    if (mcp__host_is_known(value, NULL))
        must(longer && !mcp__host_is_known(longer, NULL));
}

static void read_target(mcp_arena *arena, const char *path, const char *query)
{
    const mcp_json *arguments = NULL;
    mcp_buf allowed;

    mcp_buf_init(&allowed, 64);
    const mcp_route *route = mcp__route_find(routes, "GET", path, strlen(path), &allowed);
    if (!route && allowed.length > 0)
        route = &routes[1];
    mcp_buf_clear(&allowed);
    if (!route ||
        mcp__route_arguments(&arguments, arena, route, path, strlen(path), query, NULL) != MCP_OK)
        return;
    must(mcp_json_is_object(arguments));
    for (size_t i = 0; i < mcp_json_count(arguments); i++)
        must(mcp_json_is_string(mcp_json_item(arguments, i)));
}

static void read_tokens(mcp_arena *arena, const char *text, size_t length)
{
    mcp__token_file file;

    if (mcp__token_file_parse(&file, arena, text, length, "file", NULL) != MCP_OK)
        return;
    for (size_t i = 0; i < file.count; i++)
        must(file.tokens[i].principal.name[0] != '\0' &&
             mcp__token_file_find(&file, file.tokens[i].hash) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mcp_arena *arena = mcp_arena_new(0);
    const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t head = newline ? (size_t)(newline - data) : size;
    size_t rest = newline ? size - head - 1 : 0;

    if (!arena)
        return 0;
    const char *first = mcp_arena_strndup(arena, size > 0 ? (const char *)data : "", head);
    const char *second = mcp_arena_strndup(arena, rest > 0 ? (const char *)newline + 1 : "", rest);
    if (first && second) {
        read_fields(arena, first);
        read_target(arena, first, second);
        read_tokens(arena, second, rest);
    }
    mcp_arena_free(arena);
    return 0;
}
