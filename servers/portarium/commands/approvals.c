/*
 * approvals.c - portarium approvals approve, deny, request-changes and resubmit.
 *
 * The approval is shown in full first, and the decision carries the hash of the subject that was
 * shown: where the subject has changed meanwhile, the plane refuses it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/input.h"
#include "commands/plane_commands.h"
#include "commands/resources.h"
#include "serve/serve.h"

enum { REPLY_SIZE = 64 };

/* The commands, and what each decides. */
static const struct {
    const char *command, *decision, *question;
} decisions[] = {
    { "approvals approve", "Approved", "Approve this?" },
    { "approvals deny", "Denied", "Deny this?" },
    { "approvals request-changes", "RequestChanges", "Request changes of this?" },
};

static size_t decision_of(const cli_line *line)
{
    size_t i = 0;
    while (strcmp(decisions[i].command, cli_command_name(line)) != 0)
        i++;
    return i;
}

/* Who sits at a terminal is asked; a program has decided already. */
static mcp_status confirm(portarium_link *self, const char *question, mcp_error *err)
{
    char reply[REPLY_SIZE];
    FILE *stream = cli_err(self->line);
    bool asks = isatty(STDIN_FILENO) && isatty(fileno(stream)) && !cli_flag(self->line, "yes");
    if (!asks)
        return MCP_OK;
    fprintf(stream, "%s [y/N] ", question);
    fflush(stream);
    bool agrees = fgets(reply, sizeof reply, stdin) && (reply[0] == 'y' || reply[0] == 'Y');
    return agrees ? MCP_OK : mcp_error_set(err, MCP_E_DENIED, "nothing was decided");
}

static mcp_status decision_body(const mcp_json **out, portarium_link *self, const char *decision,
                                const char *rationale, const char *hash, mcp_error *err)
{
    const mcp_json *inputs = NULL;
    portarium_draft draft;
    mcp_status st = portarium_input_object(&inputs, self, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "decision", decision);
    mcp_write_member_string(&draft.json, "rationale", rationale);
    if (hash)
        mcp_write_member_string(&draft.json, "subjectHash", hash);
    if (inputs)
        mcp_write_member_value(&draft.json, "inputs", inputs);
    return portarium_end_draft(&draft, self, out, err);
}

/* @param given --subject-hash; NULL: what is shown is meant */
static mcp_status check_hash(const char *given, const char *shown, mcp_error *err)
{
    if (!given || (shown && strcmp(given, shown) == 0))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_EXISTS,
                         "the subject is not the one of --subject-hash; it has %s now",
                         shown ? shown : "no hash");
}

static mcp_status print_decided(portarium_link *self, const mcp_json *approval, mcp_error *err)
{
    if (cli_flag(self->line, "json"))
        return portarium_view_json(self, approval, err);
    fprintf(cli_out(self->line), "%s  %s\n",
            portarium_view_text(self, mcp_json_get(approval, "approvalId")),
            portarium_view_text(self, mcp_json_get(approval, "status")));
    return MCP_OK;
}

static mcp_status decide(portarium_link *self, mcp_error *err)
{
    size_t which = decision_of(self->line);
    const char *id = cli_argument(self->line, 0);
    const mcp_json *approval = NULL, *body = NULL, *arguments = NULL, *decided = NULL;
    const char *rationale = cli_string(self->line, "rationale");
    mcp_status st = portarium_resource_get(&approval, self, portarium_resource_of(self->line), id,
                                           err);
    if (st == MCP_OK)
        st = portarium_view_document(self, cli_err(self->line), approval, err);
    const char *hash = mcp_json_get_string(approval, "subjectHash");
    if (st == MCP_OK)
        st = check_hash(cli_string(self->line, "subject-hash"), hash, err);
    if (st == MCP_OK)
        st = confirm(self, decisions[which].question, err);
    if (st == MCP_OK)
        st = decision_body(&body, self, decisions[which].decision, rationale, hash, err);
    if (st == MCP_OK)
        st = PORTARIUM_OBJECT(self, &arguments, err, "approvalId", id);
    if (st == MCP_OK)
        st = portarium_ask(&decided, self, "decideApproval", arguments, body, err);
    return st == MCP_OK ? print_decided(self, decided, err) : st;
}

int portarium_command_decide(const cli_line *line, void *data)
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = decide(&link, &err);
    return portarium_link_end(&link, st, &err);
}

static mcp_status resubmit(portarium_link *self, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *arguments = NULL, *body = NULL, *input = NULL, *approval = NULL;
    const char *note = cli_string(self->line, "note");
    mcp_status st = PORTARIUM_OBJECT(self, &arguments, err, "approvalId",
                                     cli_argument(self->line, 0));
    if (st == MCP_OK)
        st = portarium_input_object(&input, self, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "note", note);
    if (cli_string(self->line, "prompt"))
        mcp_write_member_string(&draft.json, "prompt", cli_string(self->line, "prompt"));
    if (input)
        mcp_write_member_value(&draft.json, "input", input);
    st = portarium_end_draft(&draft, self, &body, err);
    if (st == MCP_OK)
        st = portarium_ask(&approval, self, "resubmitApproval", arguments, body, err);
    return st == MCP_OK ? print_decided(self, approval, err) : st;
}

int portarium_command_resubmit(const cli_line *line, void *data)
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = resubmit(&link, &err);
    return portarium_link_end(&link, st, &err);
}
