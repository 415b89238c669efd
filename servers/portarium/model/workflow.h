/**
 * workflow.h - the definition of a workflow: read and judged once, never changed afterwards.
 */
#ifndef PORTARIUM_WORKFLOW_H
#define PORTARIUM_WORKFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/condition.h"
#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/fields.h"
#include "model/shapes.h"
#include "model/states.h"

/** Limits of a definition. */
#define PORTARIUM_ACTIONS_MAX 1000
#define PORTARIUM_TIMEOUT_DEFAULT_MS 300000
/** Limit of a run's parameters, in bytes of compact JSON. */
#define PORTARIUM_PARAMETERS_MAX (256 << 10)

/** One action. Its index in the workflow is its order less one. */
typedef struct portarium_action {
    const char *id;
    const char *port_family;
    const char *capability; /* NULL: none stated (schema 1) */
    const char *operation;
    portarium_tier tier;             /* the stricter of the workflow's and its own */
    const char *when;                /* NULL: always */
    const portarium_condition *test; /* `when`, parsed */
    const mcp_json *input;           /* a template; NULL: none */
    const mcp_json *approval_form;   /* a flat JSON Schema; NULL: none */
    const char *compensation;        /* an operation; NULL: none */
    const mcp_json *compensation_input;
    portarium_retry retry;
    uint32_t timeout_ms; /* of an attempt */
    uint32_t limit_ms;   /* of a person who does it; 0: none */
    bool is_manual;
    bool has_side_effect;
    const uint32_t *predecessors; /* indexes; all must have succeeded */
    size_t predecessor_count;
    const uint32_t *successors;
    size_t successor_count;
} portarium_action;

/** A definition. Immutable, lives in one arena; any thread. */
typedef struct portarium_workflow {
    const char *id;
    const char *workspace_id;
    const char *name;
    int64_t version;
    bool is_active;
    portarium_tier tier;
    const portarium_action *actions; /* by order */
    size_t action_count;
    const mcp_json *parameters_schema; /* NULL: none */
    const mcp_json *source;            /* the body */
} portarium_workflow;

/** What the server knows of a definition and the body may leave out or repeat, not contradict. */
typedef struct portarium_workflow_origin {
    const char *id;
    const char *workspace_id;
    int64_t version;
} portarium_workflow_origin;

/**
 * Read a definition.
 *
 * Rules besides the shape of schemas/Workflow.json: orders are 1, 2, 3, ...; ids are unique; the
 * family exists and has the capability, which schema 2 needs; an override is not less strict than
 * the workflow; `dependsOn` names other actions, without a circle; `when` parses and names only
 * actions that precede; templates refer only to actions that precede (a compensation also to its
 * own); `approvalForm` is flat; schemas compile. Without any `dependsOn` each action depends on the
 * one before it; else only on those that it names.
 *
 * @param out    the arena's, with everything in it; `body` must live in the same arena or longer
 * @param fields every breach of a rule; when the shape does not fit, that alone
 * @return MCP_OK; MCP_E_SCHEMA (`fields` says why); MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status portarium_workflow_read(const portarium_workflow **out, mcp_arena *arena,
                                   const portarium_shapes *shapes, const mcp_json *body,
                                   const portarium_workflow_origin *origin,
                                   portarium_fields *fields, mcp_error *err);

/** Write a definition as it was read, without members that are not known. */
void portarium_workflow_write(mcp_json_writer *out, const portarium_workflow *workflow);

/** The action of an id, NULL when there is none. */
const portarium_action *portarium_workflow_action(const portarium_workflow *workflow,
                                                  const char *id);

/**
 * Hold a run's parameters against the workflow's `parametersSchema` and PORTARIUM_PARAMETERS_MAX.
 *
 * @param parameters NULL: none, which is {}
 * @param fields     the mismatch, below /parameters
 * @return MCP_OK; MCP_E_SCHEMA; MCP_E_LIMIT (a schema too costly to check); MCP_E_NOMEM
 */
mcp_status portarium_workflow_check_parameters(const portarium_workflow *workflow,
                                               const mcp_json *parameters, portarium_fields *fields,
                                               mcp_error *err);

/**
 * Hold the answers of a decision against a form.
 *
 * @param inputs NULL: none, which is {}
 * @param fields the mismatch, below /inputs
 * @return as portarium_workflow_check_parameters
 */
mcp_status portarium_form_check(const mcp_json *form, const mcp_json *inputs,
                                portarium_fields *fields, mcp_error *err);

#endif
