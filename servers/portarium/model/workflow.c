/*
 * workflow.c - reading a definition: shape first, then its members, its graph and its rules.
 */
#include "model/workflow.h"

#include <string.h>

#include "mcp/schema.h"
#include "model/families.h"
#include "model/workflow/draft.h"

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a workflow");
}

static uint32_t number_or(const mcp_json *object, const char *name, uint32_t otherwise)
{
    int64_t number;

    return mcp_json_int(mcp_json_get(object, name), &number) ? (uint32_t)number : otherwise;
}

static bool truth_or(const mcp_json *object, const char *name, bool otherwise)
{
    bool truth = otherwise;

    mcp_json_bool(mcp_json_get(object, name), &truth);
    return truth;
}

/* The body's actions by order; a gap or a repetition is a breach. */
static void sort_by_order(portarium_draft *draft, const mcp_json *list)
{
    for (size_t i = 0; i < draft->count; i++) {
        const mcp_json *source = mcp_json_item(list, i);
        uint32_t order = number_or(source, "order", 0);
        const char *place = portarium_fields_index(draft->fields, "/actions", i);
        const char *field = portarium_fields_at(draft->fields, place, "order");
        if (order == 0 || order > draft->count) {
            portarium_fields_add(draft->fields, field, "orders are 1, 2, 3, ... without a gap");
        } else if (draft->sources[order - 1]) {
            portarium_fields_add(draft->fields, field, "another action has this order");
        } else {
            draft->sources[order - 1] = source;
            draft->places[order - 1] = place;
        }
    }
}

static portarium_retry read_retry(const mcp_json *source)
{
    portarium_retry retry = portarium_retry_default;

    retry.max_attempts = number_or(source, "maxAttempts", retry.max_attempts);
    retry.initial_ms = number_or(source, "initialBackoffMs", retry.initial_ms);
    retry.max_ms = number_or(source, "maxBackoffMs", retry.max_ms);
    mcp_json_double(mcp_json_get(source, "backoffMultiplier"), &retry.multiplier);
    return retry;
}

static void judge_family(portarium_draft *draft, size_t index, bool needs_capability)
{
    const portarium_action *action = &draft->actions[index];
    portarium_fields *fields = draft->fields;
    const char *place = draft->places[index];

    if (!portarium_family_exists(action->port_family)) {
        portarium_fields_add(fields, portarium_fields_at(fields, place, "portFamily"),
                             "there is no port family '%s'", action->port_family);
        return;
    }
    if (action->capability && !portarium_family_has(action->port_family, action->capability))
        portarium_fields_add(fields, portarium_fields_at(fields, place, "capability"),
                             "the port family %s has no capability '%s'", action->port_family,
                             action->capability);
    if (!action->capability && needs_capability)
        portarium_fields_add(fields, portarium_fields_at(fields, place, "capability"),
                             "needed in schema version 2");
}

static void read_action(portarium_draft *draft, size_t index)
{
    const mcp_json *source = draft->sources[index];
    portarium_action *action = &draft->actions[index];
    portarium_tier own;

    action->id = mcp_json_get_string(source, "actionId");
    action->port_family = mcp_json_get_string(source, "portFamily");
    action->capability = mcp_json_get_string(source, "capability");
    action->operation = mcp_json_get_string(source, "operation");
    action->when = mcp_json_get_string(source, "when");
    action->input = mcp_json_get(source, "input");
    action->approval_form = mcp_json_get(source, "approvalForm");
    action->compensation = mcp_json_get_string(source, "compensationOperation");
    action->compensation_input = mcp_json_get(source, "compensationInput");
    action->retry = read_retry(mcp_json_get(source, "retry"));
    action->timeout_ms = number_or(source, "timeoutMs", PORTARIUM_TIMEOUT_DEFAULT_MS);
    action->limit_ms = number_or(source, "timeoutMs", 0);
    action->is_manual = truth_or(source, "manual", false);
    action->has_side_effect = truth_or(source, "sideEffect", true);
    action->tier = draft->workflow->tier;
    if (portarium_tier_read(&own, mcp_json_get_string(source, "executionTierOverride"))) {
        if (own < action->tier)
            portarium_fields_add(
                draft->fields,
                portarium_fields_at(draft->fields, draft->places[index], "executionTierOverride"),
                "less strict than the workflow's %s", portarium_tier_text(action->tier));
        action->tier = own;
    }
    if (action->compensation_input && !action->compensation)
        portarium_fields_add(
            draft->fields,
            portarium_fields_at(draft->fields, draft->places[index], "compensationInput"),
            "without compensationOperation");
}

/* What the body says and the server knows must agree; *out is the one that is there. */
static void agree(const char **out, const mcp_json *body, const char *field, const char *known,
                  portarium_fields *fields)
{
    const char *said = mcp_json_get_string(body, field + 1);

    if (said && known && strcmp(said, known) != 0)
        portarium_fields_add(fields, field, "is '%s' here", known);
    *out = known ? known : said;
    if (!*out)
        portarium_fields_add(fields, field, "missing");
}

static void read_head(portarium_draft *draft, const mcp_json *body,
                      const portarium_workflow_origin *origin)
{
    portarium_workflow *workflow = draft->workflow;
    int64_t version = 0;

    agree(&workflow->id, body, "/workflowId", origin->id, draft->fields);
    agree(&workflow->workspace_id, body, "/workspaceId", origin->workspace_id, draft->fields);
    workflow->version = origin->version > 0 ? origin->version : 1;
    if (mcp_json_int(mcp_json_get(body, "version"), &version) && version != workflow->version)
        portarium_fields_add(draft->fields, "/version", "is %lld here",
                             (long long)workflow->version);
    workflow->name = mcp_json_get_string(body, "name");
    workflow->is_active = truth_or(body, "active", true);
    portarium_tier_read(&workflow->tier, mcp_json_get_string(body, "executionTier"));
    workflow->parameters_schema = mcp_json_get(body, "parametersSchema");
    workflow->source = body;
}

static mcp_status begin(portarium_draft *draft, const mcp_json *list)
{
    draft->count = mcp_json_count(list);
    draft->workflow = mcp_arena_alloc(draft->arena, sizeof *draft->workflow);
    draft->actions = mcp_arena_array(draft->arena, draft->count, sizeof *draft->actions);
    draft->sources = mcp_arena_array(draft->arena, draft->count, sizeof *draft->sources);
    draft->places = mcp_arena_array(draft->arena, draft->count, sizeof *draft->places);
    return draft->workflow && draft->actions && draft->sources && draft->places
               ? MCP_OK
               : no_memory(draft->err);
}

mcp_status portarium_workflow_read(const portarium_workflow **out, mcp_arena *arena,
                                   const portarium_shapes *shapes, const mcp_json *body,
                                   const portarium_workflow_origin *origin,
                                   portarium_fields *fields, mcp_error *err)
{
    portarium_draft draft = { .arena = arena, .fields = fields, .err = err };
    const mcp_json *list = mcp_json_get(body, "actions");
    mcp_status st = portarium_shape_check(shapes, PORTARIUM_SHAPE_Workflow, body, fields, err);

    if (st == MCP_OK)
        st = begin(&draft, list);
    if (st != MCP_OK)
        return st;
    read_head(&draft, body, origin);
    sort_by_order(&draft, list);
    st = portarium_fields_status(fields, err);
    if (st != MCP_OK)
        return st;
    int64_t schema_version = 1;
    mcp_json_int(mcp_json_get(body, "schemaVersion"), &schema_version);
    for (size_t i = 0; i < draft.count; i++) {
        read_action(&draft, i);
        judge_family(&draft, i, schema_version == 2);
    }
    st = portarium_draft_link(&draft);
    if (st == MCP_OK)
        st = portarium_draft_judge(&draft);
    if (st == MCP_OK)
        st = portarium_fields_status(fields, err);
    if (st != MCP_OK)
        return st;
    draft.workflow->actions = draft.actions;
    draft.workflow->action_count = draft.count;
    *out = draft.workflow;
    return MCP_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static const char *const action_members[] = {
    "actionId",
    "order",
    "portFamily",
    "capability",
    "operation",
    "inputSchemaRef",
    "outputSchemaRef",
    "executionTierOverride",
    "dependsOn",
    "when",
    "approvalForm",
    "input",
    "retry",
    "timeoutMs",
    "manual",
    "compensationOperation",
    "compensationInput",
    "sideEffect",
};

static void write_members(mcp_json_writer *out, const mcp_json *source, const char *const *names,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const mcp_json *value = mcp_json_get(source, names[i]);
        if (value)
            mcp_write_member_value(out, names[i], value);
    }
}

void portarium_workflow_write(mcp_json_writer *out, const portarium_workflow *workflow)
{
    static const char *const before[] = { "name", "description" };
    static const char *const after[] = { "executionTier", "parametersSchema" };
    const mcp_json *list = mcp_json_get(workflow->source, "actions");

    mcp_write_object(out);
    mcp_write_member_value(out, "schemaVersion", mcp_json_get(workflow->source, "schemaVersion"));
    mcp_write_member_string(out, "workflowId", workflow->id);
    mcp_write_member_string(out, "workspaceId", workflow->workspace_id);
    write_members(out, workflow->source, before, sizeof before / sizeof *before);
    mcp_write_member_int(out, "version", workflow->version);
    mcp_write_member_bool(out, "active", workflow->is_active);
    write_members(out, workflow->source, after, sizeof after / sizeof *after);
    mcp_write_member_array(out, "actions");
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        mcp_write_object(out);
        write_members(out, mcp_json_item(list, i), action_members,
                      sizeof action_members / sizeof *action_members);
        mcp_write_end(out);
    }
    mcp_write_end(out);
    mcp_write_end(out);
}

const portarium_action *portarium_workflow_action(const portarium_workflow *workflow,
                                                  const char *id)
{
    for (size_t i = 0; i < workflow->action_count; i++)
        if (strcmp(workflow->actions[i].id, id) == 0)
            return &workflow->actions[i];
    return NULL;
}

/* ---- values of a run ------------------------------------------------------------------------- */

/* Whether a part of the schema is marked with "writeOnly". */
static bool marks_secrets(const mcp_json *schema)
{
    bool marked = false;
    if (mcp_json_is_object(schema))
        mcp_json_bool(mcp_json_get(schema, "writeOnly"), &marked);
    for (size_t i = 0; !marked && i < mcp_json_count(schema); i++)
        marked = marks_secrets(mcp_json_item(schema, i));
    return marked;
}

/* Hold a value against a schema that was accepted before; breaches are below `place`. A message
 * may repeat the value, so one of a schema with secrets says only where the breach is. */
static mcp_status check_value(const mcp_json *schema, const mcp_json *value, const char *place,
                              portarium_fields *fields, mcp_error *err)
{
    mcp_schema_finding finding = { .instance_path = "" };
    mcp_schema *compiled = NULL;
    mcp_status st = mcp_schema_compile(&compiled, schema, NULL, err);

    if (st == MCP_OK)
        st = mcp_schema_check(compiled, value, fields->arena, &finding, err);
    if (st == MCP_E_SCHEMA) {
        const char *path = mcp_arena_printf(fields->arena, "%s%s", place, finding.instance_path);
        if (path && finding.property)
            path = portarium_fields_at(fields, path, finding.property);
        portarium_fields_add(fields, path ? path : place, "%s",
                             marks_secrets(schema)
                                 ? "is not what the schema allows; the value may be a secret"
                                 : finding.message);
        st = portarium_fields_status(fields, err);
    }
    mcp_schema_free(compiled);
    return st;
}

static const mcp_json *or_empty(const mcp_json *value, mcp_arena *arena)
{
    const mcp_json *empty = NULL;

    if (!value && mcp_json_read(&empty, arena, "{}", 2, NULL) == MCP_OK)
        return empty;
    return value;
}

mcp_status portarium_workflow_check_parameters(const portarium_workflow *workflow,
                                               const mcp_json *parameters, portarium_fields *fields,
                                               mcp_error *err)
{
    const mcp_json *value = or_empty(parameters, fields->arena);
    mcp_json_writer writer;
    mcp_buf buf;

    if (!value)
        return no_memory(err);
    mcp_buf_init(&buf, PORTARIUM_PARAMETERS_MAX);
    mcp_json_writer_init(&writer, &buf);
    mcp_write_value(&writer, value);
    mcp_status st = mcp_json_writer_status(&writer);
    mcp_buf_clear(&buf);
    if (st == MCP_E_NOMEM)
        return no_memory(err);
    if (st != MCP_OK)
        portarium_fields_add(fields, "/parameters", "larger than %d bytes",
                             PORTARIUM_PARAMETERS_MAX);
    if (st == MCP_OK && workflow->parameters_schema)
        return check_value(workflow->parameters_schema, value, "/parameters", fields, err);
    return portarium_fields_status(fields, err);
}

mcp_status portarium_form_check(const mcp_json *form, const mcp_json *inputs,
                                portarium_fields *fields, mcp_error *err)
{
    const mcp_json *value = or_empty(inputs, fields->arena);

    return value ? check_value(form, value, "/inputs", fields, err) : no_memory(err);
}
