/*
 * credentials.c - portarium credentials put and delete. A value is a line of standard input, so it
 * is in no history of a shell and in no list of processes; a terminal does not show it.
 */
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "commands/link.h"
#include "commands/plane_commands.h"
#include "commands/show/view.h"
#include "executors/credentials.h"

static mcp_status read_line(char *out, size_t size, const cli_line *line, mcp_error *err)
{
    struct termios shown, hidden;
    bool is_terminal = tcgetattr(STDIN_FILENO, &shown) == 0;
    if (is_terminal) {
        fputs("Value (it is not shown): ", cli_err(line));
        hidden = shown;
        hidden.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    }
    bool is_read = fgets(out, (int)size, stdin) != NULL;
    if (is_terminal) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
        fputc('\n', cli_err(line));
    }
    out[is_read ? strcspn(out, "\r\n") : 0] = '\0';
    return is_read && *out ? MCP_OK
                           : mcp_error_set(err, MCP_E_PARAMS,
                                           "the value is a line of standard input, which is empty");
}

static mcp_status put(portarium_link *self, mcp_error *err)
{
    char value[PORTARIUM_CREDENTIAL_MAX + 2];
    const mcp_json *arguments = NULL, *body = NULL, *answer = NULL;
    mcp_status st = read_line(value, sizeof value, self->line, err);
    if (st == MCP_OK)
        st = PORTARIUM_OBJECT(self, &arguments, err, "credentialName", cli_argument(self->line, 0));
    if (st == MCP_OK)
        st = PORTARIUM_OBJECT(self, &body, err, "value", value);
    explicit_bzero(value, sizeof value);
    if (st == MCP_OK)
        st = portarium_ask(&answer, self, "putCredential", arguments, body, err);
    return st == MCP_OK ? portarium_view_answer(self, answer, err) : st;
}

static mcp_status delete (portarium_link *self, mcp_error *err)
{
    const mcp_json *arguments = NULL, *answer = NULL;
    mcp_status st = PORTARIUM_OBJECT(self, &arguments, err, "credentialName",
                                     cli_argument(self->line, 0));
    return st == MCP_OK ? portarium_ask(&answer, self, "deleteCredential", arguments, NULL, err)
                        : st;
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

int portarium_command_put_credential(const cli_line *line, void *data)
{
    (void)data;
    return run(line, put);
}

int portarium_command_delete_credential(const cli_line *line, void *data)
{
    (void)data;
    return run(line, delete);
}
