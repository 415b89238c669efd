/*
 * definition_json.c - definitions of schemas inside JSON texts of the state.
 */
#include "jobs/state/definition_json.h"

/* The canonical form of one: 2,000 columns of 128 bytes, a zone or a pattern each. */
enum { DEFINITION_MAX = 2 << 20 };

mcp_status casparian_write_definition(mcp_json_writer *out, const casparian_definition *definition,
                                      mcp_error *err)
{
    mcp_buf buf;
    mcp_buf_init(&buf, DEFINITION_MAX);
    mcp_status st = casparian_definition_canonical(&buf, definition);
    if (st == MCP_OK)
        mcp_write_raw(out, buf.data, buf.length);
    else
        st = mcp_error_set(err, st, "the schema of '%s' cannot be written", definition->output);
    mcp_buf_clear(&buf);
    return st;
}

mcp_status casparian_write_schemas(mcp_json_writer *out, const casparian_schemas *schemas,
                                   mcp_error *err)
{
    mcp_status st = MCP_OK;
    mcp_write_object(out);
    for (size_t i = 0; st == MCP_OK && i < schemas->count; i++) {
        mcp_write_name(out, schemas->items[i].output);
        st = casparian_write_definition(out, &schemas->items[i], err);
    }
    if (st == MCP_OK)
        mcp_write_end(out);
    return st;
}
