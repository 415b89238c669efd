/**
 * agent.h - the registration of an agent: either form of its body as one struct, and what its
 * machine and its tier allow.
 */
#ifndef PORTARIUM_CHECK_AGENT_H
#define PORTARIUM_CHECK_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/fields.h"
#include "model/shapes.h"
#include "model/tool_classes.h"

/** A registration. Immutable, lives in one arena. */
typedef struct portarium_agent {
    const char *id;
    const char *machine_id;
    const char *name;
    portarium_tier tier;             /* HumanApprove when not stated */
    bool has_all_capabilities;       /* none were stated: those of the machine */
    const char *const *capabilities; /* "entity:verb", each once */
    size_t capability_count;
    const char *const *tools; /* allowedTools */
    size_t tool_count;
} portarium_agent;

/**
 * Read a list of capabilities: words, or objects with the member `capability`. Words without a
 * colon are mapped.
 *
 * @param out    the arena's
 * @param fields one that occurs twice
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status portarium_capabilities_read(const char *const **out, size_t *count, mcp_arena *arena,
                                       const mcp_json *list, const char *place,
                                       portarium_fields *fields, mcp_error *err);

/**
 * Read a registration: the canonical form, or that of a page, which has `name` and no `agentId` and
 * gets an id "agent-<uuid>".
 *
 * @param out    the arena's; its texts are those of `body`, which must live as long
 * @param fields what is wrong
 * @return MCP_OK; MCP_E_SCHEMA (`fields` says why); MCP_E_LIMIT; MCP_E_NOMEM; MCP_E_IO
 */
mcp_status portarium_agent_read(const portarium_agent **out, mcp_arena *arena,
                                const portarium_shapes *shapes, const mcp_json *body,
                                portarium_fields *fields, mcp_error *err);

/**
 * Judge a registration: every capability is one of the machine's; every allowed tool may be used
 * from the agent's tier, by its class.
 *
 * @param fields each capability that cannot be routed, each tool that needs a stricter tier
 * @return MCP_OK; MCP_E_SCHEMA; MCP_E_NOMEM
 */
mcp_status portarium_agent_judge(const portarium_agent *agent, const char *const *machine,
                                 size_t machine_count, const portarium_tool_pattern *patterns,
                                 size_t pattern_count, portarium_fields *fields, mcp_error *err);

#endif
