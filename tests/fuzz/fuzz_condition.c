/*
 * fuzz_condition.c - any text as a condition, over one fixed context: it ends in a truth or in an
 * error, the same each time, and a refusal has its place within the text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "language/condition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char context[] =
    "{\"a\":1,\"b\":\"text\",\"c\":[1,\"text\",null,true],\"d\":{\"e\":false,\"f\":-1.5e3},"
    "\"t\":true,\"n\":null}";

static void must(int claim)
{
    if (!claim)
        abort();
}

static mcp_status judge(bool *out, const portarium_condition *condition, const mcp_json *world)
{
    mcp_status st = portarium_condition_judge(out, condition, portarium_condition_get_member,
                                              (void *)world, NULL);

    must(st == MCP_OK || st == MCP_E_PARAMS || st == MCP_E_LIMIT);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const portarium_condition *condition = NULL;
    const portarium_condition *negation = NULL;
    const mcp_json *world = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(0);

    must(arena && mcp_json_read(&world, arena, context, strlen(context), NULL) == MCP_OK);
    mcp_status st = portarium_condition_parse(&condition, arena, (const char *)data, size, &err);
    must(st == MCP_OK || st == MCP_E_PARSE || st == MCP_E_LIMIT);
    if (st == MCP_E_PARSE)
        must(err.offset >= 0 && (size_t)err.offset <= size);
    if (st == MCP_OK) {
        bool is = false;
        bool is_not = false;
        char *text = mcp_arena_printf(arena, "!(%.*s)", (int)size, (const char *)data);
        st = judge(&is, condition, world);
        must(text != NULL);
        if (portarium_condition_parse(&negation, arena, text, strlen(text), NULL) == MCP_OK) {
            mcp_status other = judge(&is_not, negation, world);
            must(other == st || other == MCP_E_LIMIT);
            must(other != MCP_OK || is_not == !is);
        }
        for (size_t i = 0; portarium_condition_name(condition, i); i++)
            must(strlen(portarium_condition_name(condition, i)) > 0);
    }
    mcp_arena_free(arena);
    return 0;
}
