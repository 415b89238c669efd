/*
 * admin.c - portarium admin status, freeze, unfreeze and backup.
 */
#include <string.h>

#include "commands/input.h"
#include "commands/plane_commands.h"
#include "commands/show/view.h"
#include "db/backup.h"
#include "serve/serve.h"

/* ---- status ---------------------------------------------------------------------------------- */

static mcp_status print_status(portarium_link *self, mcp_error *err)
{
    const mcp_json *status = NULL;
    mcp_status st = portarium_ask(&status, self, "getStatus", NULL, NULL, err);
    if (st == MCP_OK && !cli_flag(self->line, "json"))
        fprintf(cli_out(self->line), "plane: %s\n", self->place);
    return st == MCP_OK ? portarium_view_answer(self, status, err) : st;
}

int portarium_command_status(const cli_line *line, void *data)
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = print_status(&link, &err);
    return portarium_link_end(&link, st, &err);
}

/* ---- freeze ---------------------------------------------------------------------------------- */

static mcp_status freeze(portarium_link *self, mcp_error *err)
{
    const mcp_json *body = NULL, *workspace = NULL;
    bool thaws = strcmp(cli_command_name(self->line), "admin unfreeze") == 0;
    const char *rationale = cli_string(self->line, "rationale");
    mcp_status st = PORTARIUM_OBJECT(self, &body, err, "rationale", rationale);
    if (st == MCP_OK)
        st = portarium_ask(&workspace, self, thaws ? "unfreezeWorkspace" : "freezeWorkspace", NULL,
                           body, err);
    return st == MCP_OK ? portarium_view_answer(self, workspace, err) : st;
}

int portarium_command_freeze(const cli_line *line, void *data)
{
    portarium_link link;
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    mcp_status st = portarium_link_open(&link, line, &err);
    if (st == MCP_OK)
        st = freeze(&link, &err);
    return portarium_link_end(&link, st, &err);
}

/* ---- backup ---------------------------------------------------------------------------------- */

int portarium_command_backup(const cli_line *line, void *data)
{
    int64_t bytes = 0;
    mcp_error err = MCP_ERROR_INIT;
    const char *path = cli_argument(line, 0);
    (void)data;
    mcp_status st = db_backup(&bytes, cli_string(line, "db"), path, &err);
    if (st != MCP_OK)
        return serve_fail(line, st, &err);
    if (cli_flag(line, "json"))
        fprintf(cli_out(line), "{\"bytes\":%lld}\n", (long long)bytes);
    else
        fprintf(cli_out(line), "%s: %lld bytes\n", path, (long long)bytes);
    return SERVE_EXIT_DONE;
}
