/*
 * fuzz_canonical.c - canonical JSON of any JSON text.
 *
 * The form is JSON that has the same value, and is its own form.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "keys/canonical.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim)
{
    if (!claim)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mcp_json *value = NULL, *again = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_buf form, second;

    mcp_buf_init(&form, (size_t)1 << 24);
    mcp_buf_init(&second, (size_t)1 << 24);
    must(arena != NULL);
    if (mcp_json_read(&value, arena, (const char *)data, size, NULL) == MCP_OK) {
        mcp_status st = keys_canonical(&form, value, NULL);
        must(st == MCP_OK || st == MCP_E_PARAMS);
        if (st == MCP_OK) {
            must(mcp_json_read(&again, arena, form.data, form.length, NULL) == MCP_OK);
            must(keys_canonical(&second, again, NULL) == MCP_OK);
            must(form.length == second.length && memcmp(form.data, second.data, form.length) == 0);
        }
    }
    mcp_buf_clear(&form);
    mcp_buf_clear(&second);
    mcp_arena_free(arena);
    return 0;
}
