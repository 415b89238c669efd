/*
 * client.c - client capabilities as bits.
 *
 * What a client declares is looked at once, when it is declared, so that handlers on their threads read a
 * number and not somebody's JSON. Capabilities that we know how to use have a row; others are passed over.
 */
#include "mcp/core/session/client.h"

#include <stddef.h>
#include <string.h>

static const struct capability {
    unsigned bit;
    const char *group;
    const char *member; /* NULL: the group being there is enough */
} capabilities[] = {
    { MCP_CLIENT_ROOTS,           "roots",       NULL },
    { MCP_CLIENT_SAMPLING,        "sampling",    NULL },
    { MCP_CLIENT_SAMPLING_TOOLS,  "sampling",    "tools" },
    { MCP_CLIENT_ELICITATION,     "elicitation", "form" },
    { MCP_CLIENT_ELICITATION_URL, "elicitation", "url" },
    { MCP_CLIENT_TASKS,           "extensions",  "io.modelcontextprotocol/tasks" },
    { MCP_CLIENT_UI,              "extensions",  "io.modelcontextprotocol/ui" },
};

#define COUNT (sizeof(capabilities) / sizeof(capabilities[0]))

/* An empty `elicitation` means forms: it is older than the other kind. */
static bool has(const mcp_json *group, const struct capability *capability)
{
    if (!mcp_json_is_object(group))
        return false;
    if (!capability->member || mcp_json_is_object(mcp_json_get(group, capability->member)))
        return true;
    return capability->bit == MCP_CLIENT_ELICITATION && mcp_json_count(group) == 0;
}

unsigned mcp__client_read(const mcp_json *declared)
{
    unsigned bits = 0;

    for (size_t i = 0; i < COUNT; i++)
        if (has(mcp_json_get(declared, capabilities[i].group), &capabilities[i]))
            bits |= capabilities[i].bit;
    return bits;
}

void mcp__client_write(mcp_json_writer *writer, unsigned bits)
{
    const char *open = NULL;

    for (size_t i = 0; i < COUNT; i++) {
        const struct capability *capability = &capabilities[i];
        if (!(bits & capability->bit))
            continue;
        if (!open || strcmp(open, capability->group) != 0) {
            if (open)
                mcp_write_end(writer);
            open = capability->group;
            mcp_write_member_object(writer, open);
        }
        if (capability->member && capability->bit != MCP_CLIENT_ELICITATION) {
            mcp_write_member_object(writer, capability->member);
            mcp_write_end(writer);
        }
    }
    if (open)
        mcp_write_end(writer);
}
