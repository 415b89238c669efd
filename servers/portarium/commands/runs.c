/*
 * runs.c - portarium runs start, plan, cancel, intervene and resolve.
 */
#include <string.h>

#include "commands/input.h"
#include "commands/plane_commands.h"
#include "commands/watch.h"
#include "serve/serve.h"

/* ---- start and plan -------------------------------------------------------------------------- */

static mcp_status start_body(const mcp_json **out, portarium_link *self, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *parameters = NULL;
    mcp_status st = portarium_input_object(&parameters, self, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "workflowId", cli_argument(self->line, 0));
    if (parameters)
        mcp_write_member_value(&draft.json, "parameters", parameters);
    return portarium_end_draft(&draft, self, out, err);
}

/* Print the run that was started, and follow it when asked. */
static mcp_status after_start(int *exit_status, portarium_link *self, const mcp_json *run,
                              mcp_error *err)
{
    const char *id = mcp_json_get_string(run, "runId");
    FILE *out = cli_out(self->line);
    if (!id)
        return mcp_error_set(err, MCP_E_IO, "%s answers with no run", self->place);
    if (cli_flag(self->line, "wait"))
        return portarium_watch(exit_status, self, id, err);
    if (cli_flag(self->line, "json"))
        return portarium_view_json(self, run, err);
    fprintf(out, "%s\n", portarium_view_text(self, mcp_json_get(run, "runId")));
    return MCP_OK;
}

int portarium_command_start(const cli_line *line, void *data)
{
    portarium_link link;
    int exit_status = SERVE_EXIT_DONE;
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *body = NULL, *run = NULL;
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    link.key = cli_string(line, "idempotency-key");
    if (st == MCP_OK && link.key && !*link.key) /* of an unset variable: all starts would be one */
        st = mcp_error_set(&err, MCP_E_PARAMS, "--idempotency-key is empty");
    if (st == MCP_OK)
        st = start_body(&body, &link, &err);
    if (st == MCP_OK)
        st = portarium_ask(&run, &link, "startRun", NULL, body, &err);
    if (st == MCP_OK)
        st = after_start(&exit_status, &link, run, &err);
    int ended = portarium_link_end(&link, st, &err);
    return ended == SERVE_EXIT_DONE ? exit_status : ended;
}

/* Above the table. */
static void print_frozen(portarium_link *self, const mcp_json *plan)
{
    bool is_frozen = false;
    mcp_json_bool(mcp_json_get(plan, "frozen"), &is_frozen);
    if (is_frozen)
        fputs("The workspace is frozen: until an admin unfreezes it, nothing is dispatched.\n",
              cli_out(self->line));
}

static mcp_status print_plan(portarium_link *self, const mcp_json *plan, mcp_error *err)
{
    static const portarium_shown columns[] = {
        { "action", "/actionId", PORTARIUM_CELL_TEXT },
        { "decision", "/decision", PORTARIUM_CELL_TEXT },
        { "tier", "/effectiveTier", PORTARIUM_CELL_TEXT },
        { "policy", "/policyId", PORTARIUM_CELL_TEXT },
        { "rule", "/ruleId", PORTARIUM_CELL_TEXT },
        { NULL, NULL, PORTARIUM_CELL_TEXT },
    };
    const mcp_json *actions = mcp_json_get(plan, "actions");
    size_t count = mcp_json_count(actions);
    if (cli_flag(self->line, "json"))
        return portarium_view_json(self, plan, err);
    print_frozen(self, plan);
    const mcp_json **items = mcp_arena_array(self->arena, count + 1, sizeof *items);
    for (size_t i = 0; items && i < count; i++)
        items[i] = mcp_json_item(actions, i);
    return items ? portarium_view_table(self, columns, items, count, err)
                 : mcp_error_set(err, MCP_E_NOMEM, "no memory for a table");
}

int portarium_command_plan(const cli_line *line, void *data)
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *body = NULL, *plan = NULL;
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = start_body(&body, &link, &err);
    if (st == MCP_OK)
        st = portarium_ask(&plan, &link, "planRun", NULL, body, &err);
    if (st == MCP_OK)
        st = print_plan(&link, plan, &err);
    return portarium_link_end(&link, st, &err);
}

/* ---- what is done to a run ------------------------------------------------------------------- */

/* Send a body about the run, and print the answer. */
static mcp_status send(portarium_link *self, const char *operation, const mcp_json *arguments,
                       const mcp_json *body, mcp_error *err)
{
    const mcp_json *answer = NULL;
    mcp_status st = portarium_ask(&answer, self, operation, arguments, body, err);
    return st == MCP_OK ? portarium_view_answer(self, answer, err) : st;
}

static mcp_status cancel(portarium_link *self, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *arguments = NULL, *body = NULL;
    mcp_status st = PORTARIUM_OBJECT(self, &arguments, err, "runId", cli_argument(self->line, 0));
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    if (cli_string(self->line, "rationale"))
        mcp_write_member_string(&draft.json, "rationale", cli_string(self->line, "rationale"));
    if (cli_flag(self->line, "compensate"))
        mcp_write_member_bool(&draft.json, "compensate", true);
    st = portarium_end_draft(&draft, self, &body, err);
    return st == MCP_OK ? send(self, "cancelRun", arguments, body, err) : st;
}

static mcp_status intervene(portarium_link *self, mcp_error *err)
{
    const mcp_json *arguments = NULL, *body = NULL;
    const char *rationale = cli_string(self->line, "rationale");
    mcp_status st = PORTARIUM_OBJECT(self, &arguments, err, "runId", cli_argument(self->line, 0));
    if (st == MCP_OK)
        st = PORTARIUM_OBJECT(self, &body, err, "interventionType", cli_argument(self->line, 1),
                              "rationale", rationale, "target", cli_string(self->line, "target"));
    return st == MCP_OK ? send(self, "interveneInRun", arguments, body, err) : st;
}

static mcp_status resolve(portarium_link *self, mcp_error *err)
{
    const mcp_json *arguments = NULL, *body = NULL, *output = NULL;
    portarium_draft draft;
    const char *outcome = cli_string(self->line, "outcome");
    const char *rationale = cli_string(self->line, "rationale");
    mcp_status st = PORTARIUM_OBJECT(self, &arguments, err, "runId", cli_argument(self->line, 0),
                                     "actionId", cli_argument(self->line, 1));
    if (st == MCP_OK)
        st = portarium_input_object(&output, self, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "outcome", outcome);
    mcp_write_member_string(&draft.json, "rationale", rationale);
    if (output)
        mcp_write_member_value(&draft.json, "output", output);
    st = portarium_end_draft(&draft, self, &body, err);
    return st == MCP_OK ? send(self, "resolveAction", arguments, body, err) : st;
}

static int run(const cli_line *line, mcp_status (*work)(portarium_link *self, mcp_error *err))
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = work(&link, &err);
    return portarium_link_end(&link, st, &err);
}

int portarium_command_cancel(const cli_line *line, void *data)
{
    (void)data;
    return run(line, cancel);
}

int portarium_command_intervene(const cli_line *line, void *data)
{
    (void)data;
    return run(line, intervene);
}

int portarium_command_resolve(const cli_line *line, void *data)
{
    (void)data;
    return run(line, resolve);
}
