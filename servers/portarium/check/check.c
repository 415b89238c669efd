/*
 * check.c - the rules between members: a function a shape, found by a table.
 *
 * A rule runs after the shape was checked, so members have their types; absent members are NULL,
 * which every accessor takes.
 */
#include "check/check.h"

#include <string.h>

#include "language/portable.h"
#include "language/template.h"
#include "model/families.h"
#include "model/identity.h"

typedef struct rules {
    portarium_fields *fields;
    int64_t created_ms;
} rules;

typedef void rule(const rules *self, const mcp_json *body, const char *place);

static const char *at(const rules *self, const char *place, const char *name)
{
    return portarium_fields_at(self->fields, place, name);
}

/* True, and *out set, when the member is there and a real time. */
static bool judge_time(int64_t *out, const rules *self, const mcp_json *object, const char *member,
                       const char *place)
{
    const char *text = mcp_json_get_string(object, member);

    if (text && !portarium_time_read(out, text))
        portarium_fields_add(self->fields, at(self, place, member), "not a time of RFC 3339");
    else if (text)
        return true;
    return false;
}

static void judge_due(const rules *self, const mcp_json *object, const char *place)
{
    int64_t due;

    if (judge_time(&due, self, object, "dueAtIso", place) && due < self->created_ms)
        portarium_fields_add(self->fields, at(self, place, "dueAtIso"),
                             "before the object was created");
}

static void judge_family(const rules *self, const mcp_json *object, const char *place)
{
    const char *name = mcp_json_get_string(object, "portFamily");

    if (name && !portarium_family_exists(name))
        portarium_fields_add(self->fields, at(self, place, "portFamily"),
                             "there is no port family '%s'", name);
}

/* ---- work items, approvals, plans ------------------------------------------------------------ */

static void judge_work_item(const rules *self, const mcp_json *body, const char *place)
{
    const mcp_json *refs = mcp_json_get(body, "externalRefs");
    const char *list = at(self, place, "externalRefs");

    judge_due(self, mcp_json_get(body, "sla"), at(self, place, "sla"));
    for (size_t i = 0; i < mcp_json_count(refs); i++)
        judge_family(self, mcp_json_item(refs, i), portarium_fields_index(self->fields, list, i));
}

static void judge_packet(const rules *self, const mcp_json *body, const char *place)
{
    const mcp_json *artifacts = mcp_json_get(body, "artifacts");
    size_t primaries = 0;

    for (size_t i = 0; i < mcp_json_count(artifacts); i++)
        primaries += strcmp(mcp_json_get_string(mcp_json_item(artifacts, i), "role"), "primary") ==
                     0;
    if (primaries != 1)
        portarium_fields_add(self->fields, at(self, place, "artifacts"),
                             "one artifact, and only one, is primary");
    portarium_fields_judge_unique(self->fields, artifacts, "artifactId",
                                  at(self, place, "artifacts"));
    portarium_fields_judge_unique(self->fields, mcp_json_get(body, "requestedCapabilities"),
                                  "capabilityId", at(self, place, "requestedCapabilities"));
}

/* Orders and hours rise from step to step. */
static void judge_escalation(const rules *self, const mcp_json *chain, const char *place)
{
    int64_t last_order = 0;
    double last_hours = 0;

    for (size_t i = 0; i < mcp_json_count(chain); i++) {
        const mcp_json *step = mcp_json_item(chain, i);
        const char *item = portarium_fields_index(self->fields, place, i);
        int64_t order = 0;
        double hours = 0;
        mcp_json_int(mcp_json_get(step, "stepOrder"), &order);
        mcp_json_double(mcp_json_get(step, "afterHours"), &hours);
        if (order <= last_order)
            portarium_fields_add(self->fields, at(self, item, "stepOrder"),
                                 "not larger than that of the step before");
        if (hours <= last_hours)
            portarium_fields_add(self->fields, at(self, item, "afterHours"),
                                 "not larger than that of the step before");
        last_order = order;
        last_hours = hours;
    }
}

static void judge_approval(const rules *self, const mcp_json *body, const char *place)
{
    const mcp_json *packet = mcp_json_get(body, "approvalPacket");

    judge_due(self, body, place);
    judge_escalation(self, mcp_json_get(body, "escalationChain"),
                     at(self, place, "escalationChain"));
    if (packet)
        judge_packet(self, packet, at(self, place, "approvalPacket"));
}

static void judge_effects(const rules *self, const mcp_json *list, const char *place)
{
    portarium_fields_judge_unique(self->fields, list, "effectId", place);
    for (size_t i = 0; i < mcp_json_count(list); i++)
        judge_family(self, mcp_json_get(mcp_json_item(list, i), "target"),
                     at(self, portarium_fields_index(self->fields, place, i), "target"));
}

static void judge_plan(const rules *self, const mcp_json *body, const char *place)
{
    judge_effects(self, mcp_json_get(body, "plannedEffects"), at(self, place, "plannedEffects"));
    judge_effects(self, mcp_json_get(body, "predictedEffects"),
                  at(self, place, "predictedEffects"));
}

static void judge_completion(const rules *self, const mcp_json *body, const char *place)
{
    int64_t completed;

    judge_time(&completed, self, body, "completedAtIso", place);
}

/* ---- machines and adapters ------------------------------------------------------------------- */

static void judge_machine(const rules *self, const mcp_json *body, const char *place)
{
    const char *kind = mcp_json_get_string(mcp_json_get(body, "authConfig"), "kind");
    bool is_active = false;

    mcp_json_bool(mcp_json_get(body, "active"), &is_active);
    if (is_active && (!kind || strcmp(kind, "none") == 0))
        portarium_fields_add(self->fields, at(self, at(self, place, "authConfig"), "kind"),
                             "an active machine has authentication");
}

static mcp_status judge_reference(const portarium_reference *reference, void *data, mcp_error *err)
{
    (void)data;
    return reference->kind == PORTARIUM_REFERS_TO_CREDENTIAL
               ? mcp_error_set(err, MCP_E_DENIED, "${credential} is for headers only")
               : MCP_OK;
}

static void judge_template(const rules *self, const mcp_json *value, const char *place)
{
    bool is_object = mcp_json_is_object(value);
    mcp_error err = MCP_ERROR_INIT;
    size_t length;
    const char *text = mcp_json_string(value, &length);

    if (text && portarium_template_scan(text, length, judge_reference, NULL, &err) != MCP_OK)
        portarium_fields_add(self->fields, place, "%s", err.message);
    for (size_t i = 0; i < mcp_json_count(value); i++)
        judge_template(self, mcp_json_item(value, i),
                       is_object ? at(self, place, mcp_json_name(value, i, NULL))
                                 : portarium_fields_index(self->fields, place, i));
}

/* The text of a URL or of a header, resolved without values. */
static void judge_text(const rules *self, const char *text, bool is_url, const char *place)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf buf;

    mcp_buf_init(&buf, 1 << 16);
    mcp_status st = is_url ? portarium_template_url(&buf, text, NULL, &err)
                           : portarium_template_header(&buf, text, NULL, &err);
    if (st == MCP_E_NOMEM)
        self->fields->is_out_of_memory = true;
    else if (st != MCP_OK)
        portarium_fields_add(self->fields, place, "%s", err.message);
    mcp_buf_clear(&buf);
}

static void judge_binding(const rules *self, const mcp_json *binding, const char *place)
{
    const char *kind = mcp_json_get_string(binding, "kind");
    const mcp_json *headers = mcp_json_get(binding, "headers");
    const char *list = at(self, place, "headers");

    judge_template(self, mcp_json_get(binding, "arguments"), at(self, place, "arguments"));
    if (!kind || strcmp(kind, "http") != 0)
        return;
    judge_text(self, mcp_json_get_string(binding, "url"), true, at(self, place, "url"));
    judge_template(self, mcp_json_get(binding, "body"), at(self, place, "body"));
    for (size_t i = 0; i < mcp_json_count(headers); i++)
        judge_text(self, mcp_json_string(mcp_json_item(headers, i), NULL), false,
                   at(self, list, mcp_json_name(headers, i, NULL)));
}

static void judge_adapter(const rules *self, const mcp_json *body, const char *place)
{
    const mcp_json *matrix = mcp_json_get(body, "capabilityMatrix");
    const char *family = mcp_json_get_string(body, "portFamily");
    const char *list = at(self, place, "capabilityMatrix");
    int64_t version = 1;

    judge_family(self, body, place);
    judge_binding(self, mcp_json_get(body, "binding"), at(self, place, "binding"));
    portarium_fields_judge_unique(self->fields, matrix, "operation", list);
    mcp_json_int(mcp_json_get(body, "schemaVersion"), &version);
    for (size_t i = 0; i < mcp_json_count(matrix) && portarium_family_exists(family); i++) {
        const char *capability = mcp_json_get_string(mcp_json_item(matrix, i), "capability");
        const char *item = portarium_fields_index(self->fields, list, i);
        if (!capability && version == 2)
            portarium_fields_add(self->fields, at(self, item, "capability"),
                                 "needed in schema version 2");
        if (capability && !portarium_family_has(family, capability))
            portarium_fields_add(self->fields, at(self, item, "capability"),
                                 "the port family %s has no capability '%s'", family, capability);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static rule *const table[PORTARIUM_SHAPE_COUNT] = {
    [PORTARIUM_SHAPE_WorkItemCreate] = judge_work_item,
    [PORTARIUM_SHAPE_WorkItemPatch] = judge_work_item,
    [PORTARIUM_SHAPE_ApprovalCreate] = judge_approval,
    [PORTARIUM_SHAPE_ApprovalPacket] = judge_packet,
    [PORTARIUM_SHAPE_Plan] = judge_plan,
    [PORTARIUM_SHAPE_CompletionSignal] = judge_completion,
    [PORTARIUM_SHAPE_Machine] = judge_machine,
    [PORTARIUM_SHAPE_AdapterRegistration] = judge_adapter,
};

mcp_status portarium_body_check(const portarium_shapes *shapes, portarium_shape shape,
                                const mcp_json *body, int64_t created_ms, portarium_fields *fields,
                                mcp_error *err)
{
    const rules self = { .fields = fields, .created_ms = created_ms };
    mcp_status st = portarium_shape_check(shapes, shape, body, fields, err);

    if (st != MCP_OK || !table[shape])
        return st;
    table[shape](&self, body, "");
    return portarium_fields_status(fields, err);
}

/* ---- all bodies ------------------------------------------------------------------------------ */

void portarium_body_judge_portable(const mcp_json *body, portarium_fields *fields)
{
    const char *place = "";
    mcp_error why = MCP_ERROR_INIT;
    size_t i = 0;
    mcp_status st = portarium_portable_check(body, &why);

    while (st == MCP_E_PARAMS && i < mcp_json_count(body)) {
        const char *name = mcp_json_is_object(body) ? mcp_json_name(body, i, NULL) : NULL;
        const mcp_json *item = mcp_json_item(body, i++);
        if (portarium_portable_check(item, NULL) == MCP_OK)
            continue;
        place = name ? portarium_fields_at(fields, place, name)
                     : portarium_fields_index(fields, place, i - 1);
        body = item;
        i = 0;
    }
    if (st != MCP_OK)
        st = portarium_portable_check(body, &why);
    if (st == MCP_E_PARAMS)
        portarium_fields_add(fields, place, "%s", why.message);
    else if (st != MCP_OK)
        fields->is_out_of_memory = true;
}
