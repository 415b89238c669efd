/*
 * rules.c - what stands inside the members of an action: conditions, templates, forms, schemas.
 */
#include <string.h>

#include "language/template.h"
#include "mcp/schema.h"
#include "model/context.h"
#include "model/workflow/draft.h"

/* ---- when ------------------------------------------------------------------------------------ */

/* "actions.ID.state" and "actions.ID.output..." of an action that precedes. */
static bool names_ancestor(const portarium_draft *draft, size_t index, const char *name)
{
    static const char prefix[] = "actions.";

    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *id = name + sizeof prefix - 1;
    const char *member = id + strcspn(id, ".");
    bool is_known = strcmp(member, ".state") == 0 || strcmp(member, ".output") == 0 ||
                    strncmp(member, ".output.", 8) == 0;
    int found = portarium_draft_find(draft, id, (size_t)(member - id));
    return is_known && found >= 0 && portarium_draft_precedes(draft, (size_t)found, index);
}

static mcp_status judge_when(portarium_draft *draft, size_t index)
{
    portarium_action *action = &draft->actions[index];
    mcp_error err = MCP_ERROR_INIT;

    if (!action->when)
        return MCP_OK;
    const char *place = portarium_fields_at(draft->fields, draft->places[index], "when");
    mcp_status st = portarium_condition_parse(&action->test, draft->arena, action->when,
                                              strlen(action->when), &err);
    if (st == MCP_E_NOMEM)
        return mcp_error_set(draft->err, st, "%s", err.message);
    if (st != MCP_OK) {
        portarium_fields_add(draft->fields, place, "%s", err.message);
        return MCP_OK;
    }
    for (size_t i = 0; portarium_condition_name(action->test, i); i++) {
        const char *name = portarium_condition_name(action->test, i);
        if (!portarium_context_has(name) && !names_ancestor(draft, index, name))
            portarium_fields_add(draft->fields, place,
                                 "'%s' is neither known nor of an action that precedes this one",
                                 name);
    }
    return MCP_OK;
}

/* ---- templates ------------------------------------------------------------------------------- */

typedef struct walk {
    portarium_draft *draft;
    size_t index;         /* of the action */
    bool may_refer_to_it; /* a compensation runs after its action */
} walk;

static mcp_status judge_reference(const portarium_reference *reference, void *data, mcp_error *err)
{
    const walk *self = data;

    if (reference->kind == PORTARIUM_REFERS_TO_CREDENTIAL)
        return mcp_error_set(err, MCP_E_DENIED, "${credential} is for the headers of an adapter");
    if (reference->kind != PORTARIUM_REFERS_TO_OUTPUT)
        return MCP_OK;
    int found = portarium_draft_find(self->draft, reference->action, reference->action_length);
    if (found < 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no action '%.*s'",
                             (int)(reference->action_length < 64 ? reference->action_length : 64),
                             reference->action);
    bool is_own = (size_t)found == self->index && self->may_refer_to_it;
    if (!is_own && !portarium_draft_precedes(self->draft, (size_t)found, self->index))
        return mcp_error_set(err, MCP_E_PARAMS, "the action '%s' does not precede this one",
                             self->draft->actions[found].id);
    return MCP_OK;
}

static void judge_template(const walk *self, const mcp_json *value, const char *place)
{
    portarium_fields *fields = self->draft->fields;
    mcp_error err = MCP_ERROR_INIT;
    size_t length;
    const char *text = mcp_json_string(value, &length);

    if (text) {
        if (portarium_template_scan(text, length, judge_reference, (void *)self, &err) != MCP_OK)
            portarium_fields_add(fields, place, "%s", err.message);
        return;
    }
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = mcp_json_is_object(value) ? mcp_json_name(value, i, NULL) : NULL;
        const char *deeper = name ? portarium_fields_at(fields, place, name)
                                  : portarium_fields_index(fields, place, i);
        if (name && strstr(name, "${"))
            portarium_fields_add(fields, deeper, "the name of a member is no template");
        judge_template(self, mcp_json_item(value, i), deeper);
    }
}

/* ---- schemas --------------------------------------------------------------------------------- */

static mcp_status judge_schema(portarium_draft *draft, const mcp_json *schema, const char *place)
{
    mcp_schema *compiled = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp_schema_compile(&compiled, schema, NULL, &err);

    mcp_schema_free(compiled);
    if (st == MCP_E_NOMEM)
        return mcp_error_set(draft->err, st, "%s", err.message);
    if (st != MCP_OK)
        portarium_fields_add(draft->fields, place, "%s", err.message);
    return MCP_OK;
}

/* An object of strings, numbers, integers and booleans: what a page can ask. */
static mcp_status judge_form(portarium_draft *draft, const mcp_json *form, const char *place)
{
    static const char scalars[] = " string number integer boolean ";
    const mcp_json *members = mcp_json_get(form, "properties");
    const char *type = mcp_json_get_string(form, "type");
    const char *deeper = portarium_fields_at(draft->fields, place, "properties");

    if (!type || strcmp(type, "object") != 0 || !mcp_json_is_object(members)) {
        portarium_fields_add(draft->fields, place,
                             "a form is a schema of type object with properties");
        return MCP_OK;
    }
    for (size_t i = 0; i < mcp_json_count(members); i++) {
        const char *kind = mcp_json_get_string(mcp_json_item(members, i), "type");
        const char *found = kind && kind[0] != '\0' && !strchr(kind, ' ') ? strstr(scalars, kind)
                                                                          : NULL;
        if (!found || found[-1] != ' ' || found[strlen(kind)] != ' ')
            portarium_fields_add(
                draft->fields,
                portarium_fields_at(draft->fields, deeper, mcp_json_name(members, i, NULL)),
                "a question of a form is of type string, number, integer or boolean");
    }
    return judge_schema(draft, form, place);
}

mcp_status portarium_draft_judge(portarium_draft *draft)
{
    mcp_status st = MCP_OK;

    if (draft->workflow->parameters_schema)
        st = judge_schema(draft, draft->workflow->parameters_schema, "/parametersSchema");
    for (size_t i = 0; st == MCP_OK && i < draft->count; i++) {
        const portarium_action *action = &draft->actions[i];
        const char *place = draft->places[i];
        walk own = { .draft = draft, .index = i };
        walk after = { .draft = draft, .index = i, .may_refer_to_it = true };
        st = judge_when(draft, i);
        if (action->input)
            judge_template(&own, action->input, portarium_fields_at(draft->fields, place, "input"));
        if (action->compensation_input)
            judge_template(&after, action->compensation_input,
                           portarium_fields_at(draft->fields, place, "compensationInput"));
        if (st == MCP_OK && action->approval_form)
            st = judge_form(draft, action->approval_form,
                            portarium_fields_at(draft->fields, place, "approvalForm"));
    }
    return st;
}
