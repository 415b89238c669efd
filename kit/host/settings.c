/*
 * settings.c - the settings of a server in the file of a host.
 *
 * The files have one shape: a member with the servers by name, each with a program, its words and
 * its variables, or with a URL and its headers. Hosts differ in the member's name, in whether a
 * server has a `type`, and in how a text names a variable of the host.
 */
#include <string.h>

#include "host/host_int.h"

#define PLACEHOLDER_SIZE 256

static void write_placeholder(mcp_json_writer *json, const host_kind *kind, const char *before,
                              const char *name)
{
    char text[PLACEHOLDER_SIZE];
    snprintf(text, sizeof text, "%s%s%s%s", before, kind->placeholder, name,
             kind->placeholder[0] == '$' ? "}" : ">");
    mcp_write_string(json, text);
}

static void write_program(mcp_json_writer *json, const host_plan *plan, const host_kind *kind)
{
    if (kind->type)
        mcp_write_member_string(json, "type", kind->type);
    mcp_write_member_string(json, "command", plan->command);
    mcp_write_member_array(json, "args");
    for (size_t i = 0; i < plan->word_count; i++)
        mcp_write_string(json, plan->words[i]);
    mcp_write_end(json);
    if (plan->variable_count == 0)
        return;
    mcp_write_member_object(json, "env");
    for (size_t i = 0; i < plan->variable_count; i++) {
        const host_variable *variable = &plan->variables[i];
        mcp_write_name(json, variable->name);
        if (variable->value)
            mcp_write_string(json, variable->value);
        else
            write_placeholder(json, kind, "", variable->name);
    }
    mcp_write_end(json);
}

static void write_url(mcp_json_writer *json, const host_plan *plan, const host_kind *kind)
{
    if (kind->url_type)
        mcp_write_member_string(json, "type", kind->url_type);
    mcp_write_member_string(json, "url", plan->url);
    if (!plan->bearer)
        return;
    mcp_write_member_object(json, "headers");
    mcp_write_name(json, "Authorization");
    write_placeholder(json, kind, "Bearer ", plan->bearer);
    mcp_write_end(json);
}

static void write_input(mcp_json_writer *json, const char *name)
{
    mcp_write_object(json);
    mcp_write_member_string(json, "type", "promptString");
    mcp_write_member_string(json, "id", name);
    mcp_write_member_string(json, "description", name);
    mcp_write_member_bool(json, "password", true);
    mcp_write_end(json);
}

static bool asks_for_something(const host_plan *plan, const host_kind *kind)
{
    bool has_some = plan->url && plan->bearer;
    for (size_t i = 0; i < plan->variable_count && !plan->url; i++)
        has_some |= !plan->variables[i].value;
    return has_some && strcmp(kind->placeholder, "${input:") == 0;
}

static void write_inputs(mcp_json_writer *json, const host_plan *plan)
{
    mcp_write_array(json);
    if (plan->url)
        write_input(json, plan->bearer);
    for (size_t i = 0; i < plan->variable_count && !plan->url; i++)
        if (!plan->variables[i].value)
            write_input(json, plan->variables[i].name);
    mcp_write_end(json);
}

static void write_inputs_member(mcp_json_writer *json, const host_plan *plan, const host_kind *kind)
{
    if (!asks_for_something(plan, kind))
        return;
    mcp_write_name(json, "inputs");
    write_inputs(json, plan);
}

mcp_status host_inputs(mcp_buf *out, const host_plan *plan, const host_kind *kind)
{
    mcp_json_writer json;
    if (!asks_for_something(plan, kind))
        return MCP_OK;
    mcp_json_writer_init(&json, out);
    write_inputs(&json, plan);
    return mcp_json_writer_status(&json);
}

void host_write_server(mcp_json_writer *json, const host_plan *plan, const host_kind *kind,
                       const char *name)
{
    mcp_write_object(json);
    if (name) {
        mcp_write_member_string(json, "name", name);
        write_inputs_member(json, plan, kind);
    }
    if (plan->url)
        write_url(json, plan, kind);
    else
        write_program(json, plan, kind);
    mcp_write_end(json);
}

void host_write_file(mcp_json_writer *json, const host_plan *plan, const host_kind *kind)
{
    mcp_write_object(json);
    write_inputs_member(json, plan, kind);
    mcp_write_member_object(json, kind->servers);
    mcp_write_name(json, plan->name);
    host_write_server(json, plan, kind, NULL);
    mcp_write_end(json);
    mcp_write_end(json);
}
