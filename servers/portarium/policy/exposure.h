/**
 * exposure.h - which tools a caller may see and call (tool exposure policy, version 1).
 */
#ifndef PORTARIUM_EXPOSURE_H
#define PORTARIUM_EXPOSURE_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/fields.h"
#include "model/roles.h"
#include "model/shapes.h"

/** The id of the policy: it is stored among the policies of the workspace, and is not one that
 *  actions are judged by. */
#define PORTARIUM_EXPOSURE_ID "tool-exposure"

/** One rule; the first whose pattern fits decides. */
typedef struct portarium_exposure_rule {
    const char *pattern;           /* a name, a prefix with '*', or "*" */
    portarium_roles allowed_roles; /* 0: every role */
    portarium_tier minimum_tier;
} portarium_exposure_rule;

/** A policy. Immutable, lives in one arena; any thread. */
typedef struct portarium_exposure {
    const portarium_exposure_rule *rules;
    size_t rule_count;
    bool allows_by_default;
} portarium_exposure;

/**
 * Read a policy.
 *
 * @param out    the arena's; its texts are those of `body`, which must live as long
 * @param fields what is wrong with it
 * @return MCP_OK; MCP_E_SCHEMA (`fields` says why); MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status portarium_exposure_read(const portarium_exposure **out, mcp_arena *arena,
                                   const portarium_shapes *shapes, const mcp_json *body,
                                   portarium_fields *fields, mcp_error *err);

/** Note each pattern of a body, of `rules` and of `toolClasses`, that has '*' elsewhere than at its
 *  end: no tool would fit it. */
void portarium_exposure_judge_patterns(const mcp_json *body, portarium_fields *fields);

/**
 * True when a caller with these roles, of this tier, may use the tool. A rule allows a caller who
 * has one of its roles and a tier at least as strict as its minimum.
 *
 * @param policy NULL: everything is allowed
 */
bool portarium_exposure_allows(const portarium_exposure *policy, const char *tool,
                               portarium_roles roles, portarium_tier tier);

#endif
