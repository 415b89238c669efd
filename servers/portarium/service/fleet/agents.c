/*
 * agents.c - agents: registration, review of changed capabilities, heartbeats.
 */
#include <string.h>

#include "check/agent.h"
#include "service/fleet/fleet.h"
#include "service/list.h"
#include "service/note.h"
#include "service/operations.h"

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_quarantined(const portarium_record *agent)
{
    return mcp_json_get(agent->json, "quarantinedAtIso") != NULL;
}

static mcp_status write_view(mcp_json_writer *json, portarium_tx *tx, const portarium_record *agent,
                             mcp_error *err)
{
    static const char *const same[] = { "agentId",         "workspaceId",  "machineId",
                                        "policyTier",      "allowedTools", "registeredAtIso",
                                        "quarantinedAtIso" };
    portarium_pulse pulse;
    mcp_status st = portarium_pulse_read(&pulse, tx, PORTARIUM_KIND_AGENT, agent->id, err);
    const char *machine = mcp_json_get_string(agent->json, "machineId");
    mcp_write_object(json);
    mcp_write_member_int(json, "schemaVersion", 1);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (mcp_json_get(agent->json, same[i]))
            mcp_write_member_value(json, same[i], mcp_json_get(agent->json, same[i]));
    }
    mcp_write_member_value(json, "name", mcp_json_get(agent->json, "displayName"));
    mcp_write_member_string(json, "endpoint",
                            mcp_arena_printf(tx->arena, "machine://%s", machine ? machine : ""));
    mcp_write_member_value(json, "allowedCapabilities", mcp_json_get(agent->json, "capabilities"));
    mcp_write_member_array(json, "usedByWorkflowIds");
    mcp_write_end(json);
    portarium_write_pulse(
        json, &pulse, is_quarantined(agent) ? "quarantined" : portarium_pulse_liveness(&pulse, tx));
    mcp_write_end(json);
    return st;
}

static mcp_status list_agents(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_agents, request, write_view, err);
}

/* The agent of the path. An agent's token sees itself alone. */
static mcp_status get(portarium_record *out, portarium_tx *tx, const portarium_request *request,
                      mcp_error *err)
{
    const char *id = portarium_argument(request, "agentId");
    const char *own = request->actor->agent_id;
    if (own && strcmp(own, id) != 0)
        return mcp_error_set(err, MCP_E_DENIED, "The token is of another agent.");
    return portarium_record_get(out, tx, &portarium_agents, id, err);
}

static mcp_status get_agent(portarium_tx *tx, const portarium_request *request,
                            portarium_reply *reply, mcp_error *err)
{
    portarium_record agent;
    mcp_status st = get(&agent, tx, request, err);
    return st == MCP_OK ? portarium_reply_view(reply, tx, &agent, write_view, err) : st;
}

/* ---- registration ---------------------------------------------------------------------------- */

/* A registration with what it depends on. */
typedef struct registration {
    const portarium_agent *agent;
    const char *const *capabilities; /* the agent's, or all of the machine's */
    size_t capability_count;
    const mcp_json *json; /* the document that is stored */
} registration;

/* The machine is there, active, and has what the agent wants to have. */
static mcp_status read_machine(registration *self, portarium_tx *tx, portarium_reply *reply,
                               mcp_error *err)
{
    portarium_record machine;
    portarium_fields *fields = &reply->fields;
    const portarium_agent *agent = self->agent;
    const char *const *all = NULL;
    size_t count = 0;
    mcp_status st = portarium_record_get(&machine, tx, &portarium_machines, agent->machine_id, err);
    if (st == MCP_OK && !portarium_is_active(&machine))
        return portarium_refuse(reply, tx, err, 409, "Machine %s is inactive.", agent->machine_id);
    if (st == MCP_OK)
        st = portarium_capabilities_read(&all, &count, tx->arena,
                                         mcp_json_get(machine.json, "capabilities"),
                                         "/capabilities", fields, err);
    if (st == MCP_OK)
        st = portarium_agent_judge(agent, all, count, NULL, 0, fields, err);
    self->capabilities = agent->has_all_capabilities ? all : agent->capabilities;
    self->capability_count = agent->has_all_capabilities ? count : agent->capability_count;
    return st;
}

static mcp_status write_document(registration *self, portarium_tx *tx, const char *registered,
                                 const char *quarantined, mcp_error *err)
{
    portarium_draft draft;
    const portarium_agent *agent = self->agent;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    mcp_write_member_string(&draft.json, "agentId", agent->id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_string(&draft.json, "machineId", agent->machine_id);
    mcp_write_member_string(&draft.json, "displayName", agent->name);
    portarium_write_texts(&draft.json, "capabilities", self->capabilities, self->capability_count);
    mcp_write_member_string(&draft.json, "policyTier", portarium_tier_text(agent->tier));
    portarium_write_texts(&draft.json, "allowedTools", agent->tools, agent->tool_count);
    mcp_write_member_string(&draft.json, "registeredAtIso", registered);
    if (quarantined)
        mcp_write_member_string(&draft.json, "quarantinedAtIso", quarantined);
    return portarium_draft_read(&draft, tx, &self->json, err);
}

static bool has_capability(const mcp_json *list, const char *capability)
{
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        if (strcmp(mcp_json_string(mcp_json_item(list, i), NULL), capability) == 0)
            return true;
    }
    return false;
}

static bool has_drifted(const registration *self, const portarium_record *agent)
{
    const mcp_json *stored = mcp_json_get(agent->json, "capabilities");
    if (mcp_json_count(stored) != self->capability_count)
        return true;
    for (size_t i = 0; i < self->capability_count; i++) {
        if (!has_capability(stored, self->capabilities[i]))
            return true;
    }
    return false;
}

static mcp_status quarantine(portarium_record *agent, portarium_tx *tx, mcp_error *err)
{
    const mcp_json *patch = NULL;
    const portarium_event event = { .type = "AgentCapabilityDriftQuarantined",
                                    .kind = PORTARIUM_KIND_AGENT,
                                    .id = agent->id };
    if (is_quarantined(agent))
        return MCP_OK;
    mcp_status st = portarium_object(tx, &patch, err, "quarantinedAtIso", tx->now, NULL);
    if (st == MCP_OK)
        st = portarium_record_patch(agent, tx, &portarium_agents, patch, NULL, err);
    return st == MCP_OK
               ? portarium_note(tx, &event, err,
                                "Agent %s quarantined: its capabilities have changed", agent->id)
               : st;
}

/* It was registered before: agents restart. */
static mcp_status register_again(portarium_record *agent, const registration *self,
                                 portarium_tx *tx, portarium_reply *reply, mcp_error *err)
{
    const char *machine = mcp_json_get_string(agent->json, "machineId");
    if (strcmp(machine, self->agent->machine_id) != 0)
        return portarium_refuse(reply, tx, err, 409, "Agent %.128s is registered on machine %s.",
                                agent->id, machine);
    if (!has_drifted(self, agent))
        return portarium_reply_view(reply, tx, agent, write_view, err);
    mcp_status st = quarantine(agent, tx, err);
    return st == MCP_OK ? portarium_refuse_kept(reply, tx, err, 409,
                                                "The capabilities of agent %.128s have changed: "
                                                "it is quarantined until an admin reviews it.",
                                                agent->id)
                        : st;
}

/* A token that is bound to a machine or an agent registers that one alone. */
static mcp_status check_binding(const registration *self, portarium_tx *tx, portarium_reply *reply,
                                mcp_error *err)
{
    const portarium_actor *actor = tx->actor;
    if (actor->machine_id && strcmp(actor->machine_id, self->agent->machine_id) != 0)
        return portarium_refuse(reply, tx, err, 403, "The token is of another machine.");
    if (actor->agent_id && strcmp(actor->agent_id, self->agent->id) != 0)
        return portarium_refuse(reply, tx, err, 403, "The token is of another agent.");
    return MCP_OK;
}

static mcp_status create_agent(portarium_tx *tx, const portarium_request *request,
                               portarium_reply *reply, mcp_error *err)
{
    registration self = { .agent = NULL };
    portarium_record agent;
    mcp_status st = portarium_agent_read(&self.agent, tx->arena, tx->settings->shapes,
                                         request->body, &reply->fields, err);
    if (st == MCP_OK)
        st = check_binding(&self, tx, reply, err);
    if (st == MCP_OK)
        st = read_machine(&self, tx, reply, err);
    if (st != MCP_OK)
        return st;
    st = portarium_record_get(&agent, tx, &portarium_agents, self.agent->id, err);
    if (st == MCP_OK)
        return register_again(&agent, &self, tx, reply, err);
    if (st == MCP_E_NOT_FOUND)
        st = write_document(&self, tx, tx->now, NULL, err);
    if (st == MCP_OK)
        st = portarium_record_insert(&agent, tx, &portarium_agents, self.agent->id, self.json, NULL,
                                     err);
    if (st != MCP_OK)
        return st;
    const portarium_event event = { .type = "AgentRegistered",
                                    .kind = PORTARIUM_KIND_AGENT,
                                    .id = agent.id };
    st = portarium_note(tx, &event, err, "Agent %s registered on machine %s", agent.id,
                        self.agent->machine_id);
    portarium_reply_location(reply, tx, "agents", agent.id);
    if (st == MCP_OK)
        st = portarium_reply_view(reply, tx, &agent, write_view, err);
    reply->status = st == MCP_OK ? 201 : reply->status;
    return st;
}

/* ---- changing -------------------------------------------------------------------------------- */

/* The members of a patch by their stored names; the words of the view are accepted. */
static mcp_status stored_names(portarium_tx *tx, const mcp_json **out, const mcp_json *body,
                               mcp_error *err)
{
    static const char *const names[][2] = { { "name", "displayName" },
                                            { "displayName", "displayName" },
                                            { "allowedCapabilities", "capabilities" },
                                            { "capabilities", "capabilities" },
                                            { "policyTier", "policyTier" },
                                            { "allowedTools", "allowedTools" },
                                            { "machineId", "machineId" } };
    portarium_draft draft;
    portarium_draft_object(&draft);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (mcp_json_get(body, names[i][0]))
            mcp_write_member_value(&draft.json, names[i][1], mcp_json_get(body, names[i][0]));
    }
    return portarium_draft_read(&draft, tx, out, err);
}

/* Whether it is quarantined after the patch: an admin alone ends a quarantine. */
static mcp_status judge_quarantine(const char **out, const portarium_record *agent,
                                   portarium_tx *tx, const mcp_json *body, portarium_reply *reply,
                                   mcp_error *err)
{
    const mcp_json *member = mcp_json_get(body, "quarantined");
    bool wanted = is_quarantined(agent);
    *out = mcp_json_get_string(agent->json, "quarantinedAtIso");
    if (member && !mcp_json_bool(member, &wanted)) {
        portarium_fields_add(&reply->fields, "/quarantined", "must be true or false");
        return portarium_fields_status(&reply->fields, err);
    }
    if (is_quarantined(agent) && !(tx->actor->roles & PORTARIUM_ROLE(ADMIN)))
        return portarium_refuse(reply, tx, err, 403,
                                "A quarantined agent is reviewed by an admin.");
    if (wanted && !*out)
        *out = tx->now;
    else if (!wanted)
        *out = NULL;
    return MCP_OK;
}

static mcp_status patched(registration *self, portarium_record *agent, portarium_tx *tx,
                          const mcp_json *body, portarium_reply *reply, mcp_error *err)
{
    const mcp_json *patch = NULL, *merged = NULL;
    const char *quarantined = NULL;
    mcp_status st = judge_quarantine(&quarantined, agent, tx, body, reply, err);
    if (st == MCP_OK)
        st = stored_names(tx, &patch, body, err);
    if (st == MCP_OK)
        st = portarium_merge(tx, &merged, agent->json, patch, err);
    if (st == MCP_OK)
        st = portarium_agent_read(&self->agent, tx->arena, tx->settings->shapes, merged,
                                  &reply->fields, err);
    if (st == MCP_OK &&
        strcmp(self->agent->machine_id, mcp_json_get_string(agent->json, "machineId")) != 0)
        return portarium_refuse(reply, tx, err, 409, "An agent stays on its machine.");
    if (st == MCP_OK)
        st = read_machine(self, tx, reply, err);
    return st == MCP_OK
               ? write_document(self, tx, mcp_json_get_string(agent->json, "registeredAtIso"),
                                quarantined, err)
               : st;
}

static mcp_status patch_agent(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    registration self = { .agent = NULL };
    portarium_record agent;
    mcp_status st = get(&agent, tx, request, err);
    if (st == MCP_OK)
        st = portarium_check_if_match_view(reply, tx, request, &agent, write_view, err);
    if (st == MCP_OK)
        st = patched(&self, &agent, tx, request->body, reply, err);
    if (st == MCP_OK && mcp_json_equal(self.json, agent.json))
        return portarium_reply_view(reply, tx, &agent, write_view, err);
    if (st == MCP_OK)
        st = portarium_record_replace(&agent, tx, &portarium_agents, self.json, err);
    if (st == MCP_OK)
        st = portarium_note(tx, NULL, err, "Agent %s changed%s", agent.id,
                            is_quarantined(&agent) ? ": it is quarantined" : "");
    return st == MCP_OK ? portarium_reply_view(reply, tx, &agent, write_view, err) : st;
}

/* ---- being there ----------------------------------------------------------------------------- */

static mcp_status agent_heartbeat(portarium_tx *tx, const portarium_request *request,
                                  portarium_reply *reply, mcp_error *err)
{
    portarium_record agent;
    const char *machine = portarium_body_string(request, "machineId");
    const char *bound = tx->actor->machine_id;
    mcp_status st = get(&agent, tx, request, err);
    if (st != MCP_OK)
        return st;
    const char *own = mcp_json_get_string(agent.json, "machineId");
    if (machine && strcmp(machine, own) != 0)
        return portarium_refuse(reply, tx, err, 409, "Agent %.128s is registered on machine %s.",
                                agent.id, own);
    if (bound && strcmp(bound, own) != 0)
        return portarium_refuse(reply, tx, err, 403, "The token is of another machine.");
    return portarium_take_heartbeat(tx, request, reply, PORTARIUM_KIND_AGENT, "agentId", agent.id,
                                    err);
}

/* Why no work goes to an agent now; NULL: work does. */
static const char *obstacle(const portarium_record *agent, const portarium_record *machine,
                            const char *liveness)
{
    if (is_quarantined(agent))
        return "the agent is quarantined";
    if (!portarium_is_active(machine))
        return "its machine is inactive";
    if (strcmp(liveness, "online") == 0)
        return NULL;
    return strcmp(liveness, "never-seen") == 0 ? "it has never sent a heartbeat"
                                               : "it is stale, offline or draining";
}

static mcp_status test_agent(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    portarium_record agent, machine;
    portarium_draft draft;
    portarium_pulse pulse;
    mcp_status st = get(&agent, tx, request, err);
    if (st == MCP_OK)
        st = portarium_record_get(&machine, tx, &portarium_machines,
                                  mcp_json_get_string(agent.json, "machineId"), err);
    if (st == MCP_OK)
        st = portarium_pulse_read(&pulse, tx, PORTARIUM_KIND_AGENT, agent.id, err);
    if (st != MCP_OK)
        return st;
    const char *liveness = portarium_pulse_liveness(&pulse, tx);
    const char *reason = obstacle(&agent, &machine, liveness);
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "agentId", agent.id);
    mcp_write_member_bool(&draft.json, "routable", !reason);
    if (reason)
        mcp_write_member_string(&draft.json, "reason", reason);
    portarium_write_pulse(&draft.json, &pulse, is_quarantined(&agent) ? "quarantined" : liveness);
    return portarium_reply_draft(reply, tx, 200, &draft, err);
}

/* clang-format off */
const portarium_operation portarium_agent_operations[] = {
    { "listAgents", "GET", "/agents", PORTARIUM_MAY_READ_AGENTS, 0,
      PORTARIUM_NO_BODY, "Agent", "the agents of the workspace", list_agents },
    { "createAgent", "POST", "/agents", PORTARIUM_MAY_REGISTER_AGENT,
      PORTARIUM_COMMAND | PORTARIUM_PATCH | PORTARIUM_AGENTS, PORTARIUM_NO_BODY, "Agent",
      "register an agent on a machine", create_agent },
    { "getAgent", "GET", "/agents/{agentId}", PORTARIUM_MAY_READ_AGENTS,
      PORTARIUM_AGENTS | PORTARIUM_ETAG,
      PORTARIUM_NO_BODY, "Agent", "one agent", get_agent },
    { "updateAgent", "PATCH", "/agents/{agentId}", PORTARIUM_MAY_REGISTER_AGENT,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH | PORTARIUM_PATCH, PORTARIUM_NO_BODY, "Agent", "change an agent",
      patch_agent },
    { "testAgent", "POST", "/agents/{agentId}/test", PORTARIUM_MAY_REGISTER_AGENT, 0,
      PORTARIUM_NO_BODY, "Agent", "whether work would go to it", test_agent },
    { "agentHeartbeat", "POST", "/agents/{agentId}/heartbeat", PORTARIUM_MAY_HEARTBEAT,
      PORTARIUM_AGENTS, PORTARIUM_SHAPE_Heartbeat, "Heartbeat", "the agent is there",
      agent_heartbeat },
    { 0 },
};
/* clang-format on */
