/*
 * fuzz_config.c - configuration files: whatever comes, the file is refused with a place, or all of
 * it is there as JSON, and as written again it is the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

static const config_key keys[] = {
    { .name = "a", .type = CONFIG_ANY },
    { .name = "b.*.c", .type = CONFIG_STRINGS },
    { .name = "d[].e", .type = CONFIG_INT, .min = 1, .max = 9 },
    { .name = "f", .type = CONFIG_STRING },
    { 0 },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    config *self = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = config_parse(&self, (const char *)data, size, "f", keys, &err);

    if ((st == MCP_OK) != (self != NULL) || (st != MCP_OK && err.message[0] == '\0'))
        abort();
    if (st != MCP_OK)
        return 0;
    const mcp_json *root = config_value(self, "");
    const mcp_json *sinks = config_value(self, "d");
    if (!mcp_json_is_object(root) || mcp_json_duplicate(root))
        abort();
    for (size_t i = 0; i < mcp_json_count(root); i++)
        if (!strchr("abdf", mcp_json_name(root, i, NULL)[0]))
            abort();
    for (size_t i = 0; i < mcp_json_count(sinks); i++) {
        const mcp_json *value = mcp_json_get(mcp_json_item(sinks, i), "e");
        int64_t number = 0;
        if (value && (!mcp_json_int(value, &number) || number < 1 || number > 9))
            abort();
    }
    if (config_value(self, "f") && !config_string(self, "f"))
        abort();
    config_free(self);
    return 0;
}
