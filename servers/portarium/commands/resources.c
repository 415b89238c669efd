/*
 * resources.c - portarium WHAT list, and portarium WHAT get.
 */
#include "commands/resources.h"

#include <string.h>

#include "commands/plane_commands.h"
#include "store/page.h"

#define TEXT PORTARIUM_CELL_TEXT
#define WORDS PORTARIUM_CELL_WORDS
#define TIME PORTARIUM_CELL_TIME
#define COUNT PORTARIUM_CELL_COUNT

/* clang-format off */
static const portarium_resource resources[] = {
    { "runs", "listRuns", "getRun", "runId", "full",
      { { "run", "/runId", TEXT }, { "workflow", "/workflowId", TEXT },
        { "status", "/status", TEXT }, { "started by", "/initiatedByUserId", TEXT },
        { "created", "/createdAtIso", TIME }, { "ended", "/endedAtIso", TIME } },
      { { "status", "status" }, { "workflow", "workflowId" } } },
    { "approvals", "listApprovals", "getApproval", "approvalId", NULL,
      { { "approval", "/approvalId", TEXT }, { "status", "/status", TEXT },
        { "run", "/runId", TEXT }, { "action", "/actionId", TEXT },
        { "asked by", "/requestedByUserId", TEXT }, { "asked", "/requestedAtIso", TIME },
        { "prompt", "/prompt", WORDS } },
      { { "status", "status" }, { "run", "runId" }, { "plan", "planId" },
        { "work-item", "workItemId" }, { "assignee", "assigneeUserId" },
        { "requested-by", "requestedByUserId" } } },
    { "work-items", "listWorkItems", "getWorkItem", "workItemId", NULL,
      { { "work item", "/workItemId", TEXT }, { "status", "/status", TEXT },
        { "owner", "/ownerUserId", TEXT }, { "due", "/sla/dueAtIso", TIME },
        { "created", "/createdAtIso", TIME }, { "title", "/title", WORDS } },
      { { "status", "status" }, { "owner", "ownerUserId" }, { "run", "runId" },
        { "workflow", "workflowId" }, { "approval", "approvalId" } } },
    { "human-tasks", "listHumanTasks", "getHumanTask", "humanTaskId", NULL,
      { { "human task", "/humanTaskId", TEXT }, { "status", "/status", TEXT },
        { "run", "/runId", TEXT }, { "step", "/stepId", TEXT },
        { "assignee", "/assigneeId", TEXT }, { "description", "/description", WORDS } },
      { { "status", "status" }, { "run", "runId" }, { "assignee", "assigneeId" } } },
    { "agents", "listAgents", "getAgent", "agentId", NULL,
      { { "agent", "/agentId", TEXT }, { "machine", "/machineId", TEXT },
        { "tier", "/policyTier", TEXT }, { "liveness", "/liveness", TEXT },
        { "last heartbeat", "/lastHeartbeatAtIso", TIME }, { "name", "/name", WORDS } },
      { { "machine", "machineId" } } },
    { "machines", "listMachines", "getMachine", "machineId", NULL,
      { { "machine", "/machineId", TEXT }, { "active", "/active", TEXT },
        { "last heartbeat", "/lastHeartbeatAtIso", TIME }, { "name", "/displayName", WORDS } },
      { { "active", "active" } } },
    { "workflows", "listWorkflows", "getWorkflow", "workflowId", NULL,
      { { "workflow", "/workflowId", TEXT }, { "version", "/version", TEXT },
        { "active", "/active", TEXT }, { "tier", "/executionTier", TEXT },
        { "actions", "/actions", COUNT }, { "name", "/name", WORDS } },
      { { "active", "active" }, { "name", "name" } } },
    { "policies", "listPolicies", "getPolicy", "policyId", NULL,
      { { "policy", "/policyId", TEXT }, { "version", "/version", TEXT },
        { "active", "/active", TEXT }, { "priority", "/priority", TEXT },
        { "rules", "/rules", COUNT }, { "name", "/name", WORDS } },
      { { "active", "active" } } },
    { "workspaces", "listWorkspaces", NULL, "workspaceId", NULL,
      { { "workspace", "/workspaceId", TEXT }, { "created", "/createdAtIso", TIME },
        { "frozen", "/frozen", TEXT }, { "name", "/name", WORDS } },
      { { "name", "name" } } },
    { "credentials", "listCredentials", NULL, "credentialName", NULL,
      { { "credential", "/name", TEXT }, { "stored", "/storedAtIso", TIME } }, { { 0 } } },
    { .name = NULL },
};
/* clang-format on */

const portarium_resource *portarium_resource_of(const cli_line *line)
{
    const char *name = cli_command_name(line);
    size_t length = strcspn(name, " ");
    const portarium_resource *at = resources;
    while (at->name && (strlen(at->name) != length || strncmp(at->name, name, length) != 0))
        at++;
    return at->name ? at : NULL;
}

/* ---- one ------------------------------------------------------------------------------------- */

mcp_status portarium_resource_get(const mcp_json **out, portarium_link *self,
                                  const portarium_resource *what, const char *id, mcp_error *err)
{
    const mcp_json *arguments = NULL;
    mcp_status st = PORTARIUM_OBJECT(self, &arguments, err, what->id, id, "view", what->view);
    return st == MCP_OK ? portarium_ask(out, self, what->get, arguments, NULL, err) : st;
}

int portarium_command_get(const cli_line *line, void *data)
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *document = NULL;
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = portarium_resource_get(&document, &link, portarium_resource_of(line),
                                    cli_argument(line, 0), &err);
    if (st == MCP_OK)
        st = portarium_view_answer(&link, document, &err);
    return portarium_link_end(&link, st, &err);
}

/* ---- many ------------------------------------------------------------------------------------ */

typedef struct gathering {
    const mcp_json **items;
    size_t count, limit;
    const char *cursor; /* of the next page; NULL: it was the last */
} gathering;

static mcp_status arguments_of(const mcp_json **out, portarium_link *self,
                               const portarium_resource *what, const gathering *so_far,
                               mcp_error *err)
{
    portarium_draft draft;
    size_t left = so_far->limit - so_far->count;
    size_t page = left < PORTARIUM_LIMIT_MAX ? left : PORTARIUM_LIMIT_MAX;
    portarium_draft_object(&draft);
    for (size_t i = 0; what->filters[i].option; i++) {
        const char *value = cli_string(self->line, what->filters[i].option);
        if (value)
            mcp_write_member_string(&draft.json, what->filters[i].argument, value);
    }
    mcp_write_member_string(&draft.json, "limit", mcp_arena_printf(self->arena, "%zu", page));
    if (cli_string(self->line, "sort"))
        mcp_write_member_string(&draft.json, "sort", cli_string(self->line, "sort"));
    if (cli_string(self->line, "search"))
        mcp_write_member_string(&draft.json, "q", cli_string(self->line, "search"));
    if (so_far->cursor)
        mcp_write_member_string(&draft.json, "cursor", so_far->cursor);
    return portarium_end_draft(&draft, self, out, err);
}

static mcp_status gather_page(gathering *out, portarium_link *self, const portarium_resource *what,
                              mcp_error *err)
{
    const mcp_json *arguments = NULL, *page = NULL;
    mcp_status st = arguments_of(&arguments, self, what, out, err);
    if (st == MCP_OK)
        st = portarium_ask(&page, self, what->list, arguments, NULL, err);
    if (st != MCP_OK)
        return st;
    const mcp_json *items = mcp_json_get(page, "items");
    for (size_t i = 0; i < mcp_json_count(items) && out->count < out->limit; i++)
        out->items[out->count++] = mcp_json_item(items, i);
    out->cursor = mcp_json_count(items) > 0 ? mcp_json_get_string(page, "nextCursor") : NULL;
    return MCP_OK;
}

static mcp_status print_list(portarium_link *self, const portarium_resource *what,
                             const gathering *all, mcp_error *err)
{
    FILE *out = cli_out(self->line);
    if (cli_flag(self->line, "json")) {
        fputc('[', out);
        for (size_t i = 0; i < all->count; i++)
            fprintf(out, "%s%s", i > 0 ? "," : "", portarium_view_text(self, all->items[i]));
        fputs("]\n", out);
        return MCP_OK;
    }
    mcp_status st = portarium_view_table(self, what->columns, all->items, all->count, err);
    if (st == MCP_OK && all->cursor)
        fprintf(cli_err(self->line), "the first %zu are shown; --limit N shows more\n", all->count);
    return st;
}

int portarium_command_list(const cli_line *line, void *data)
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    const portarium_resource *what = portarium_resource_of(line);
    gathering all = { .limit = (size_t)cli_int(line, "limit", PORTARIUM_LIMIT_MAX) };
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK) {
        all.items = mcp_arena_array(link.arena, all.limit, sizeof *all.items);
        if (!all.items)
            st = mcp_error_set(&err, MCP_E_NOMEM, "no memory for a list");
    }
    do {
        if (st == MCP_OK)
            st = gather_page(&all, &link, what, &err);
    } while (st == MCP_OK && all.cursor && all.count < all.limit);
    if (st == MCP_OK)
        st = print_list(&link, what, &all, &err);
    return portarium_link_end(&link, st, &err);
}
