/*
 * permissions.c - what the settings say of a tool.
 *
 *     [mcp.tools]
 *     casparian_query = "deny"
 *     [mcp.tools.casparian_run_request]
 *     permission = "ask"
 *     sinks = ["parquet"]
 */
#include "gateway/permissions.h"

#include <string.h>

#include "cli/cli.h"

#define HINT_DISTANCE 6

static const char *const words[] = {
    [CASPARIAN_ALLOW] = "allow", [CASPARIAN_ASK] = "ask", [CASPARIAN_DENY] = "deny"
};

static const mcp_json *entry_of(const casparian_config *config, const casparian_tool *tool)
{
    return mcp_json_get(config->mcp.tools, tool->name);
}

static const char *word_of(const mcp_json *entry)
{
    return mcp_json_is_object(entry) ? mcp_json_get_string(entry, "permission")
                                     : mcp_json_string(entry, NULL);
}

static bool is_disabled(const casparian_config *config, const char *name)
{
    for (size_t i = 0; i < config->mcp.disabled_tool_count; i++)
        if (strcmp(config->mcp.disabled_tools[i], name) == 0)
            return true;
    return false;
}

casparian_permission casparian_permission_of(const casparian_config *config,
                                             const casparian_tool *tool)
{
    const char *word = word_of(entry_of(config, tool));
    if (is_disabled(config, tool->name))
        return CASPARIAN_DENY;
    if (config->mcp.profile == CASPARIAN_PROFILE_READONLY && (tool->traits & CASPARIAN_CHANGES))
        return CASPARIAN_DENY;
    if ((tool->traits & CASPARIAN_DECIDES) && config->decide == CASPARIAN_DECIDE_OFF)
        return CASPARIAN_DENY;
    for (int i = CASPARIAN_ALLOW; word && i <= CASPARIAN_DENY; i++)
        if (strcmp(word, words[i]) == 0)
            return (casparian_permission)i;
    return CASPARIAN_ALLOW;
}

bool casparian_permission_has(const casparian_config *config, const casparian_tool *tool,
                              const char *list, const char *value)
{
    const mcp_json *entry = entry_of(config, tool);
    const mcp_json *allowed = mcp_json_is_object(entry) ? mcp_json_get(entry, list) : NULL;
    if (!allowed)
        return true;
    for (size_t i = 0; i < mcp_json_count(allowed); i++)
        if (strcmp(mcp_json_string(mcp_json_item(allowed, i), NULL), value) == 0)
            return true;
    return false;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static mcp_status check_name(const char *where, const char *name, const casparian_tool *tools,
                             mcp_error *err)
{
    const char *near = NULL;
    size_t distance = HINT_DISTANCE;
    for (const casparian_tool *tool = tools; tool->name; tool++) {
        if (strcmp(tool->name, name) == 0)
            return MCP_OK;
        cli_nearer(&near, &distance, name, tool->name);
    }
    return mcp_error_set(err, MCP_E_PARAMS, "config.toml: %s: there is no tool '%.63s'%s%s%s",
                         where, name, near ? "; did you mean '" : "", near ? near : "",
                         near ? "'?" : "");
}

static bool is_permission(const char *word)
{
    for (int i = CASPARIAN_ALLOW; i <= CASPARIAN_DENY; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static bool is_list(const mcp_json *value)
{
    for (size_t i = 0; i < mcp_json_count(value); i++)
        if (!mcp_json_is_string(mcp_json_item(value, i)))
            return false;
    return mcp_json_is_array(value);
}

static mcp_status check_entry(const char *name, const mcp_json *entry, mcp_error *err)
{
    const char *word = word_of(entry);
    if (!mcp_json_is_object(entry) && !word)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "config.toml: mcp.tools.%s: wants allow, ask, deny or a table", name);
    if (word && !is_permission(word))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "config.toml: mcp.tools.%s: wants allow, ask or deny, not '%.63s'",
                             name, word);
    for (size_t i = 0; mcp_json_is_object(entry) && i < mcp_json_count(entry); i++) {
        const char *key = mcp_json_name(entry, i, NULL);
        const mcp_json *value = mcp_json_item(entry, i);
        bool is_known = strcmp(key, "permission") == 0                             ? word != NULL
                        : strcmp(key, "plugins") == 0 || strcmp(key, "sinks") == 0 ? is_list(value)
                                                                                   : false;
        if (!is_known)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "config.toml: mcp.tools.%s.%.63s: a table of a tool has a text "
                                 "permission and the lists plugins and sinks",
                                 name, key);
    }
    return MCP_OK;
}

mcp_status casparian_permissions_check(const casparian_config *config, const casparian_tool *tools,
                                       mcp_error *err)
{
    const mcp_json *entries = config->mcp.tools;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < config->mcp.disabled_tool_count; i++)
        st = check_name("mcp.disabled_tools", config->mcp.disabled_tools[i], tools, err);
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(entries); i++) {
        const char *name = mcp_json_name(entries, i, NULL);
        st = check_name("mcp.tools", name, tools, err);
        if (st == MCP_OK)
            st = check_entry(name, mcp_json_item(entries, i), err);
    }
    return st;
}
