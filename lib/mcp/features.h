/*
 * features.h - the features that a server offers at one time.
 */
#ifndef MCP_FEATURES_H
#define MCP_FEATURES_H

#include <stdatomic.h>

#include "mcp/core/context.h"
#include "mcp/feature/feature.h"
#include "mcp/server.h"

/** What a server can do, as a bit each; a method whose bit is not set does not exist for it. */
enum mcp__capability {
    MCP__CAN_ALWAYS = 0,
    MCP__CAN_TOOLS = 1 << 0,
    MCP__CAN_RESOURCES = 1 << 1,
    MCP__CAN_PROMPTS = 1 << 2,
    MCP__CAN_COMPLETIONS = 1 << 3,
    MCP__CAN_LOGGING = 1 << 4,
    MCP__CAN_SUBSCRIBE = 1 << 5, /* changes of resources are notified */
    MCP__CAN_CHANGE = 1 << 6,    /* changes of lists are notified */
    MCP__CAN_TASKS = 1 << 7      /* a tool may be one */
};

/** Never changes once a call can see it: a change makes another set. */
struct mcp__features {
    atomic_int holders; /* who may look at it; the last one frees it */
    unsigned capabilities;
    mcp__tools *tools;
    mcp__resources *resources;
    mcp__prompts *prompts;
    mcp__completions *completions;
};

/** An empty set with one holder. @param out yours, end it with mcp__features_drop */
mcp_status mcp__features_new(mcp__features **out, const mcp_server_options *options,
                             mcp_error *err);

/** Add features, while nobody else sees the set. */
mcp_status mcp__features_load(mcp__features *set, const mcp_features *features, mcp_error *err);

/** The bits of enum mcp__capability that some features stand for. */
unsigned mcp__features_capabilities(const mcp_features *features);

/** Any thread. One holder less; NULL is fine. */
void mcp__features_drop(const mcp__features *set);

#endif
