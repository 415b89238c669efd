/**
 * shapes.h - the JSON Schemas of bodies: schemas/NAME.json, compiled once.
 *
 * The same files are the `components.schemas` of the OpenAPI document, and refer to each other as
 * it does: "#/components/schemas/Id". A schema says what one member may be; rules between members
 * are code, in check/ and in the readers of workflows and policies.
 */
#ifndef PORTARIUM_SHAPES_H
#define PORTARIUM_SHAPES_H

#include "mcp/files.h"
#include "mcp/json.h"
#include "model/fields.h"

/* clang-format off */
/** The shapes that a body may have; each is the name of a file. */
#define PORTARIUM_SHAPE_MAP(X) \
    X(RunStart) X(RunCancel) X(Intervention) X(ActionResolution) X(CompletionSignal) \
    X(UserCreate) X(UserPatch) X(WorkItemCreate) X(WorkItemPatch) X(Assignment) \
    X(ApprovalCreate) X(ApprovalPacket) X(ApprovalFeedback) X(ApprovalDecision) \
    X(ApprovalResubmission) X(Plan) X(ActionProposal) X(ActionExecution) X(ActionRecord) X(ExecutionEnd) X(Machine) X(Agent) \
    X(AgentForm) X(AdapterRegistration) X(Heartbeat) X(Rationale) X(LegalHold) X(Webhook) X(LeaseCompletion) \
    X(LeaseFailure) X(Credential) X(Policy) X(PolicySimulation) X(ToolExposurePolicy) X(ToolNames) X(Workflow)

typedef enum portarium_shape {
#define PORTARIUM_SHAPE_VALUE(name) PORTARIUM_SHAPE_##name,
    PORTARIUM_SHAPE_MAP(PORTARIUM_SHAPE_VALUE)
#undef PORTARIUM_SHAPE_VALUE
    PORTARIUM_SHAPE_COUNT
} portarium_shape;
/* clang-format on */

/** Longest text of a body, in bytes. */
#define PORTARIUM_TEXT_MAX 65536

/** Deepest nesting of a value that is stored: below what JSON is read and written with, since
 *  documents, pages and messages go around it. */
#define PORTARIUM_DEPTH_MAX 56

/** Whether arrays and objects nest deeper than so many levels. NULL does not. */
bool portarium_is_deeper(const mcp_json *value, int levels);

/** The compiled schemas. Immutable; any thread. */
typedef struct portarium_shapes portarium_shapes;

/**
 * Compile the schemas.
 *
 * @param out   yours, free it with portarium_shapes_free
 * @param files the server's embedded files; borrowed for the call
 * @return MCP_OK; MCP_E_NOT_FOUND (no file of a shape); MCP_E_PARSE and MCP_E_SCHEMA (a bad file);
 *         MCP_E_NOMEM
 */
mcp_status portarium_shapes_new(portarium_shapes **out, const mcp_file *files, mcp_error *err);

/** Free the schemas. NULL is allowed. */
void portarium_shapes_free(portarium_shapes *shapes);

/**
 * Hold a body against its shape. The first member that does not fit is added to `fields`, and the
 * first member name that occurs twice, or text that is too long, at any depth, or the first member
 * that makes the body too deep.
 *
 * @return MCP_OK; MCP_E_SCHEMA (`fields` says why); MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status portarium_shape_check(const portarium_shapes *shapes, portarium_shape shape,
                                 const mcp_json *body, portarium_fields *fields, mcp_error *err);

/** Write the object of all schemas by name, for `components.schemas`. */
void portarium_shapes_write(mcp_json_writer *out, const portarium_shapes *shapes);

#endif
