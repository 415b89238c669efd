/*
 * agent.c - registrations of agents.
 */
#include "check/agent.h"

#include <string.h>

#include "model/identity.h"
#include "model/mapping.h"

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a registration");
}

static bool has_text(const char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

mcp_status portarium_capabilities_read(const char *const **out, size_t *count, mcp_arena *arena,
                                       const mcp_json *list, const char *place,
                                       portarium_fields *fields, mcp_error *err)
{
    size_t length = mcp_json_count(list);
    const char **names = mcp_arena_array(arena, length + 1, sizeof *names);
    size_t used = 0;

    if (!names)
        return no_memory(err);
    for (size_t i = 0; i < length; i++) {
        const mcp_json *item = mcp_json_item(list, i);
        const char *word = mcp_json_is_object(item) ? mcp_json_get_string(item, "capability")
                                                    : mcp_json_string(item, NULL);
        const char *name = portarium_capability_of(word, arena);
        if (!name)
            return no_memory(err);
        if (has_text(names, used, name))
            portarium_fields_add(fields, portarium_fields_index(fields, place, i),
                                 "'%s' is used twice", name);
        else
            names[used++] = name;
    }
    *out = names;
    *count = used;
    return MCP_OK;
}

static mcp_status read_tools(portarium_agent *agent, mcp_arena *arena, const mcp_json *list,
                             mcp_error *err)
{
    const char **tools = mcp_arena_array(arena, mcp_json_count(list) + 1, sizeof *tools);

    if (!tools)
        return no_memory(err);
    for (size_t i = 0; i < mcp_json_count(list); i++)
        tools[i] = mcp_json_string(mcp_json_item(list, i), NULL);
    agent->tools = tools;
    agent->tool_count = mcp_json_count(list);
    return MCP_OK;
}

mcp_status portarium_agent_read(const portarium_agent **out, mcp_arena *arena,
                                const portarium_shapes *shapes, const mcp_json *body,
                                portarium_fields *fields, mcp_error *err)
{
    bool is_form = mcp_json_get(body, "name") && !mcp_json_get(body, "agentId");
    const char *list = is_form ? "/allowedCapabilities" : "/capabilities";
    const mcp_json *capabilities = mcp_json_get(body, list + 1);
    mcp_status st = portarium_shape_check(
        shapes, is_form ? PORTARIUM_SHAPE_AgentForm : PORTARIUM_SHAPE_Agent, body, fields, err);

    if (st != MCP_OK)
        return st;
    portarium_agent *agent = mcp_arena_alloc(arena, sizeof *agent);
    if (!agent)
        return no_memory(err);
    agent->id = mcp_json_get_string(body, "agentId");
    agent->machine_id = mcp_json_get_string(body, "machineId");
    agent->name = mcp_json_get_string(body, is_form ? "name" : "displayName");
    agent->tier = PORTARIUM_TIER_HUMAN_APPROVE;
    portarium_tier_read(&agent->tier, mcp_json_get_string(body, "policyTier"));
    agent->has_all_capabilities = capabilities == NULL;
    st = portarium_capabilities_read(&agent->capabilities, &agent->capability_count, arena,
                                     capabilities, list, fields, err);
    if (st == MCP_OK)
        st = read_tools(agent, arena, mcp_json_get(body, "allowedTools"), err);
    if (st == MCP_OK && !agent->id)
        st = portarium_id_new(&agent->id, "agent-", arena, err);
    if (st == MCP_OK)
        st = portarium_fields_status(fields, err);
    if (st == MCP_OK)
        *out = agent;
    return st;
}

mcp_status portarium_agent_judge(const portarium_agent *agent, const char *const *machine,
                                 size_t machine_count, const portarium_tool_pattern *patterns,
                                 size_t pattern_count, portarium_fields *fields, mcp_error *err)
{
    for (size_t i = 0; i < agent->capability_count; i++)
        if (!has_text(machine, machine_count, agent->capabilities[i]))
            portarium_fields_add(fields, portarium_fields_index(fields, "/capabilities", i),
                                 "the machine does not have the capability '%s'",
                                 agent->capabilities[i]);
    for (size_t i = 0; i < agent->tool_count; i++) {
        portarium_tier needed = portarium_tool_class_tier(
            portarium_tool_class_of(patterns, pattern_count, agent->tools[i]));
        if (agent->tier < needed)
            portarium_fields_add(fields, portarium_fields_index(fields, "/allowedTools", i),
                                 "'%s' needs the tier %s", agent->tools[i],
                                 portarium_tier_text(needed));
    }
    return portarium_fields_status(fields, err);
}
