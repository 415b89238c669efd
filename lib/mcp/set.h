/*
 * set.h - the features that a server offers at one time.
 */
#ifndef MCP_SET_H
#define MCP_SET_H

#include <stdatomic.h>

#include "mcp/feature/feature.h"
#include "mcp/server.h"

/** Never changes once a call can see it: a change makes another set. */
typedef struct mcp__set {
    atomic_int holders; /* who may look at it; the last one frees it */
    unsigned capabilities;
    mcp__tools *tools;
    mcp__resources *resources;
    mcp__prompts *prompts;
    mcp__completions *completions;
} mcp__set;

/** An empty set with one holder. @param out yours, end it with mcp__set_drop */
mcp_status mcp__set_new(mcp__set **out, const mcp_server_options *options, mcp_error *err);

/** Add features, while nobody else sees the set. */
mcp_status mcp__set_load(mcp__set *set, const mcp_features *features, mcp_error *err);

/** The bits of enum mcp__capability that some features stand for. */
unsigned mcp__set_capabilities(const mcp_features *features);

/** Any thread. One holder less; NULL is fine. */
void mcp__set_drop(const mcp__set *set);

#endif
