/**
 * check.h - bodies of REST requests: their shape, and the rules between their members.
 */
#ifndef PORTARIUM_CHECK_H
#define PORTARIUM_CHECK_H

#include <stdint.h>

#include "mcp/json.h"
#include "model/fields.h"
#include "model/shapes.h"

/**
 * Check a body. Besides the shape:
 *
 *   times        are real ones; a due time is not before `created_ms`
 *   approvals    steps of escalation rise in order and in hours; a packet has one primary artifact
 *                and no id twice
 *   plans        no effect's id twice
 *   references   name a port family that there is
 *   machines     an active one has authentication; no capability twice
 *   adapters     the family exists and has the capabilities, which schema 2 needs; no operation
 *                twice; the templates of a binding are templates
 *
 * Policies and workflows have readers of their own, as have agents (agent.h).
 *
 * @param created_ms when the object was or will be created: the earliest due time
 * @param fields     what is wrong; when the shape does not fit, that alone
 * @return MCP_OK; MCP_E_SCHEMA (`fields` says why); MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status portarium_body_check(const portarium_shapes *shapes, portarium_shape shape,
                                const mcp_json *body, int64_t created_ms, portarium_fields *fields,
                                mcp_error *err);

/** Note what is not portable in a body that is to be stored (language/portable.h): it may become
 *  evidence, or part of what is approved. */
void portarium_body_judge_portable(const mcp_json *body, portarium_fields *fields);

#endif
