/*
 * fuzz_schema.c - any schema against any value: what comes before the first NUL or newline is
 * the schema, the rest the value.
 *
 * Whatever they are, compiling and checking come back soon with one of their statuses, and a
 * value that does not fit comes with a complete finding.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/arena.h"
#include "mcp/json.h"
#include "mcp/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds)
{
    if (!holds)
        abort();
}

static void must_be_complete(const mcp_schema_finding *finding)
{
    const char *path = finding->instance_path;

    demand(finding->keyword != NULL && finding->message[0] != '\0');
    demand(finding->expected != NULL && finding->actual != NULL);
    demand(path != NULL && (path[0] == '\0' || path[0] == '/'));
    demand(finding->schema_path != NULL);
}

static void check(const mcp_json *json, const mcp_json *value, mcp_arena *arena)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;
    mcp_schema_document document = { "http://x/value", value };
    mcp_schema_finding finding;
    mcp_schema *schema = NULL;
    mcp_error err = MCP_ERROR_INIT;

    options.documents = &document;
    options.document_count = 1;
    options.assert_formats = true;
    options.subschemas_max = 2000;
    options.steps_max = 100000;
    if (mcp_schema_compile(&schema, json, &options, &err) != MCP_OK) {
        demand(err.status == MCP_E_SCHEMA || err.status == MCP_E_LIMIT);
        return;
    }
    mcp_status st = mcp_schema_check(schema, value, arena, &finding, &err);
    demand(st == MCP_OK || st == MCP_E_SCHEMA || st == MCP_E_LIMIT);
    if (st == MCP_E_SCHEMA)
        must_be_complete(&finding);
    demand(mcp_schema_check(schema, value, arena, NULL, NULL) == st);
    mcp_schema_free(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const mcp_json *schema = NULL;
    const mcp_json *value = NULL;
    size_t split = 0;

    while (split < size && text[split] != '\n' && text[split] != '\0')
        split++;
    if (split == size)
        return 0;
    mcp_arena *arena = mcp_arena_new((size_t)16 << 20);
    demand(arena != NULL);
    if (mcp_json_read(&schema, arena, text, split, NULL) == MCP_OK &&
        mcp_json_read(&value, arena, text + split + 1, size - split - 1, NULL) == MCP_OK)
        check(schema, value, arena);
    mcp_arena_free(arena);
    return 0;
}
