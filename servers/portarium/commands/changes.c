/*
 * changes.c - portarium work-items update, human-tasks complete, workflows apply and archive,
 * policies apply and simulate, credentials put and delete.
 */
#include <string.h>

#include "commands/input.h"
#include "commands/plane_commands.h"
#include "commands/resources.h"
#include "mcp/clock.h"
#include "model/identity.h"
#include "serve/serve.h"

typedef mcp_status work(portarium_link *self, mcp_error *err);

static int run(const cli_line *line, work *what)
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = what(&link, &err);
    return portarium_link_end(&link, st, &err);
}

static mcp_status send(portarium_link *self, const char *operation, const mcp_json *arguments,
                       const mcp_json *body, mcp_error *err)
{
    const mcp_json *answer = NULL;
    mcp_status st = portarium_ask(&answer, self, operation, arguments, body, err);
    return st == MCP_OK ? portarium_view_answer(self, answer, err) : st;
}

/* The line's first argument as the variable of the path. */
static mcp_status argument_of(const mcp_json **out, portarium_link *self, mcp_error *err)
{
    return PORTARIUM_OBJECT(self, out, err, portarium_resource_of(self->line)->id,
                            cli_argument(self->line, 0));
}

/* ---- work items ------------------------------------------------------------------------------ */

/* A text, or null where it is empty. */
static void put(mcp_json_writer *json, const char *name, const char *value)
{
    if (value && !*value)
        mcp_write_member_null(json, name);
    else if (value)
        mcp_write_member_string(json, name, value);
}

static mcp_status update_work_item(portarium_link *self, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *arguments = NULL, *patch = NULL;
    const char *due = cli_string(self->line, "due");
    portarium_draft_object(&draft);
    put(&draft.json, "title", cli_string(self->line, "title"));
    put(&draft.json, "status", cli_string(self->line, "status"));
    put(&draft.json, "ownerUserId", cli_string(self->line, "owner"));
    if (due) {
        mcp_write_member_object(&draft.json, "sla");
        mcp_write_member_string(&draft.json, "dueAtIso", due);
        mcp_write_end(&draft.json);
    }
    mcp_status st = portarium_end_draft(&draft, self, &patch, err);
    if (st == MCP_OK && mcp_json_count(patch) == 0)
        st = mcp_error_set(err, MCP_E_PARAMS,
                           "nothing to change: give --title, --status, --owner or --due");
    if (st == MCP_OK)
        st = argument_of(&arguments, self, err);
    return st == MCP_OK ? send(self, "updateWorkItem", arguments, patch, err) : st;
}

int portarium_command_update_work_item(const cli_line *line, void *data)
{
    (void)data;
    return run(line, update_work_item);
}

/* ---- human tasks ----------------------------------------------------------------------------- */

static mcp_status complete_task(portarium_link *self, mcp_error *err)
{
    char now[MCP_CLOCK_UTC_SIZE];
    portarium_draft draft;
    const mcp_json *arguments = NULL, *body = NULL, *task = NULL;
    mcp_status st = portarium_resource_get(&task, self, portarium_resource_of(self->line),
                                           cli_argument(self->line, 0), err);
    if (st != MCP_OK)
        return st;
    const char *token = mcp_json_get_string(task, "completionToken");
    if (!token)
        return mcp_error_set(err, MCP_E_DENIED,
                             "the task may not be completed by this token: an operator's or an "
                             "approver's sees its completion token");
    portarium_time_write(now, mcp_clock_wall_ms());
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    mcp_write_member_string(&draft.json, "runId", mcp_json_get_string(task, "runId"));
    mcp_write_member_string(&draft.json, "actionId", mcp_json_get_string(task, "stepId"));
    mcp_write_member_string(&draft.json, "completionToken", token);
    mcp_write_member_string(&draft.json, "outcome", cli_string(self->line, "outcome"));
    mcp_write_member_string(&draft.json, "completedAtIso", now);
    if (cli_string(self->line, "notes"))
        mcp_write_member_string(&draft.json, "notes", cli_string(self->line, "notes"));
    st = portarium_end_draft(&draft, self, &body, err);
    if (st == MCP_OK)
        st = argument_of(&arguments, self, err);
    return st == MCP_OK ? send(self, "completeHumanTask", arguments, body, err) : st;
}

int portarium_command_complete_task(const cli_line *line, void *data)
{
    (void)data;
    return run(line, complete_task);
}

/* ---- workflows and policies ------------------------------------------------------------------ */

/* Store what a file has: a new document, or the next version of the one with its id. */
static mcp_status apply(portarium_link *self, mcp_error *err)
{
    const portarium_resource *what = portarium_resource_of(self->line);
    bool is_policy = strcmp(what->name, "policies") == 0;
    const mcp_json *body = NULL, *arguments = NULL, *answer = NULL;
    mcp_error why = MCP_ERROR_INIT;
    mcp_status st = portarium_input_file(&body, self->arena, cli_argument(self->line, 0), err);
    if (st != MCP_OK)
        return st;
    const char *id = mcp_json_get_string(body, what->id);
    st = portarium_ask(&answer, self, is_policy ? "createPolicy" : "createWorkflow", NULL, body,
                       &why);
    if (st == MCP_E_EXISTS && id) {
        st = PORTARIUM_OBJECT(self, &arguments, &why, what->id, id);
        if (st == MCP_OK)
            st = portarium_ask(&answer, self, is_policy ? "updatePolicy" : "updateWorkflow",
                               arguments, body, &why);
    }
    if (st != MCP_OK)
        return mcp_error_set(err, st, "%s", why.message);
    if (cli_flag(self->line, "json"))
        return portarium_view_json(self, answer, err);
    fprintf(cli_out(self->line), "%s  version %s\n",
            portarium_view_text(self, mcp_json_get(answer, what->id)),
            portarium_view_text(self, mcp_json_get(answer, "version")));
    return MCP_OK;
}

int portarium_command_apply(const cli_line *line, void *data)
{
    (void)data;
    return run(line, apply);
}

static mcp_status archive(portarium_link *self, mcp_error *err)
{
    const mcp_json *arguments = NULL;
    mcp_status st = argument_of(&arguments, self, err);
    return st == MCP_OK ? send(self, "archiveWorkflow", arguments, NULL, err) : st;
}

int portarium_command_archive(const cli_line *line, void *data)
{
    (void)data;
    return run(line, archive);
}

static mcp_status simulate(portarium_link *self, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *policy = NULL, *body = NULL;
    mcp_status st = portarium_input_file(&policy, self->arena, cli_argument(self->line, 0), err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_value(&draft.json, "policy", policy);
    if (cli_given(self->line, "last"))
        mcp_write_member_int(&draft.json, "last", cli_int(self->line, "last", 0));
    st = portarium_end_draft(&draft, self, &body, err);
    return st == MCP_OK ? send(self, "simulatePolicy", NULL, body, err) : st;
}

int portarium_command_simulate(const cli_line *line, void *data)
{
    (void)data;
    return run(line, simulate);
}

/* ---- credentials ----------------------------------------------------------------------------- */

static mcp_status put_credential(portarium_link *self, mcp_error *err)
{
    char value[PORTARIUM_INPUT_SECRET_MAX + 2];
    const mcp_json *arguments = NULL, *body = NULL;
    mcp_status st = portarium_input_secret(value, self->line, err);
    if (st == MCP_OK)
        st = PORTARIUM_OBJECT(self, &body, err, "value", value);
    explicit_bzero(value, sizeof value);
    if (st == MCP_OK)
        st = argument_of(&arguments, self, err);
    return st == MCP_OK ? send(self, "putCredential", arguments, body, err) : st;
}

int portarium_command_put_credential(const cli_line *line, void *data)
{
    (void)data;
    return run(line, put_credential);
}

static mcp_status delete_credential(portarium_link *self, mcp_error *err)
{
    const mcp_json *arguments = NULL, *answer = NULL;
    mcp_status st = argument_of(&arguments, self, err);
    return st == MCP_OK ? portarium_ask(&answer, self, "deleteCredential", arguments, NULL, err)
                        : st;
}

int portarium_command_delete_credential(const cli_line *line, void *data)
{
    (void)data;
    return run(line, delete_credential);
}
