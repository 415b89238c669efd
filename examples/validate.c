/*
 * validate.c - the JSON reader and the JSON Schema validator alone, without a server.
 *
 *     $ example-validate schema.json value.json
 *     /port: 70000 is above the maximum 65535
 *
 * A schema is compiled once; then any number of values can be checked against it, on any thread.
 * All checks of this program share one budget of steps, as those of one request do in a server.
 * Exit status: 0 valid, 1 not, 2 failed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mcp/mcp.h"

enum { FILE_MAX = 1 << 20, STEPS = 1000000 };

static mcp_status read_file(const mcp_json **out, mcp_arena *arena, const char *path,
                            mcp_error *err)
{
    FILE *file = fopen(path, "rb");
    char *bytes = mcp_arena_alloc(arena, FILE_MAX);
    size_t length = file && bytes ? fread(bytes, 1, FILE_MAX, file) : 0;

    if (file)
        (void)fclose(file);
    if (!file || length == FILE_MAX)
        return mcp_error_set(err, MCP_E_IO, "%s cannot be read, or is larger than 1 MiB", path);
    return mcp_json_read(out, arena, bytes, length, err);
}

/* The schema must be valid before values can be: mcp_schema_compile says where it is not. */
static mcp_status check_files(char **paths, mcp_arena *arena, mcp_error *err)
{
    mcp_schema_options options = MCP_SCHEMA_OPTIONS_INIT;
    mcp_schema_finding finding = { 0 };
    uint64_t steps_left = STEPS;
    const mcp_json *value = NULL;
    mcp_schema *schema = NULL;

    options.assert_formats = true;
    mcp_status st = read_file(&value, arena, paths[0], err);
    if (st == MCP_OK)
        st = mcp_schema_compile(&schema, value, &options, err);
    for (paths++; st == MCP_OK && *paths; paths++) {
        st = read_file(&value, arena, *paths, err);
        if (st == MCP_OK)
            st = mcp_schema_check_within(schema, value, &steps_left, arena, &finding, err);
    }
    if (finding.keyword)
        printf("%s\n", finding.message);
    mcp_schema_free(schema);
    return st;
}

/* One check that needs no budget of its own. */
static bool is_object(const mcp_json *value, mcp_arena *arena)
{
    static const char text[] = "{\"type\":\"object\"}";
    const mcp_json *type = NULL;
    mcp_schema *schema = NULL;
    bool fits = mcp_json_read(&type, arena, text, sizeof text - 1, NULL) == MCP_OK &&
                mcp_schema_compile(&schema, type, NULL, NULL) == MCP_OK &&
                mcp_schema_check(schema, value, arena, NULL, NULL) == MCP_OK;

    mcp_schema_free(schema);
    return fits;
}

int main(int argc, char **argv)
{
    const mcp_json *schema = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (argc < 3) {
        fprintf(stderr, "usage: %s SCHEMA VALUE...\n", argv[0]);
        return 2;
    }
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = read_file(&schema, arena, argv[1], &err);
    if (st == MCP_OK && !is_object(schema, arena))
        st = mcp_error_set(&err, MCP_E_SCHEMA, "%s is not an object", argv[1]);
    if (st == MCP_OK)
        st = check_files(argv + 1, arena, &err);
    if (st != MCP_OK)
        fprintf(stderr, "%s (%s, JSON-RPC code %d): %s; %zu bytes used\n", mcp_status_words(st),
                mcp_status_name(st), mcp_status_code(st), err.message, mcp_arena_used(arena));
    mcp_arena_free(arena);
    return st == MCP_OK ? 0 : st == MCP_E_SCHEMA ? 1 : 2;
}
