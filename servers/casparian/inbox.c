/*
 * inbox.c - casparian approvals serve: the page for approvals, on this machine alone, and a runner
 * for the jobs that it approves.
 *
 * The key is made at each start and is written to standard output alone, in the fragment of the
 * address, which browsers do not send. The server stores its hash.
 */
#include <signal.h>
#include <stdio.h>

#include "jobs/runner.h"
#include "mcp/http.h"
#include "mcp/random.h"
#include "rest/rest.h"
#include "shell/commands.h"
#include "shell/shell.h"

enum { ID_DIGITS = MCP_RANDOM_ID_SIZE - 1 };

/* clang-format off */
const cli_option casparian_approvals_serve_options[] = {
    { .name = "port", .type = CLI_INT, .argument = "N", .min = 0, .max = 65535, .standard = "0",
      .help = "of 127.0.0.1; 0: any free one" },
    { 0 },
};
/* clang-format on */

/* What the page's address is made of. */
struct address {
    const cli_line *line;
    char key[2 * ID_DIGITS + 1];
};

static void print_address(int port, void *data)
{
    const struct address *self = data;
    fprintf(cli_out(self->line), "http://127.0.0.1:%d/#key=%s\n", port, self->key);
    fflush(cli_out(self->line));
}

static mcp_status make_key(struct address *self, mcp_error *err)
{
    mcp_status st = mcp_random_id(self->key, err);
    return st == MCP_OK ? mcp_random_id(self->key + ID_DIGITS, err) : st;
}

static mcp_status serve_page(casparian_app *app, mcp_server *server, struct address *self,
                             mcp_error *err)
{
    const char *const tokens[] = { self->key, NULL };
    const mcp_http_auth auth = { .tokens = tokens };
    const mcp_http_options http = { .port = (int)cli_int(self->line, "port", 0),
                                    .routes = casparian_page_routes,
                                    .routes_data = app,
                                    .auth = &auth,
                                    .ready = print_address,
                                    .data = self };
    const casparian_runner_options options = { .store = app->store, .driver = app->driver };
    casparian_runner *runner = NULL;
    mcp_status st = casparian_runner_new(&runner, &options, err);
    if (st == MCP_OK)
        st = mcp_server_http(server, &http, err);
    casparian_runner_free(runner);
    return st;
}

static mcp_status serve(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    const mcp_server_options options = { .name = "casparian-approvals",
                                         .version = CAUSEWAY_VERSION,
                                         .log = app->log,
                                         .allow_write = true };
    struct address self = { .line = line };
    mcp_server *server = NULL;
    sigaction(SIGPIPE, &ignore, NULL);
    mcp_status st = make_key(&self, err);
    if (st == MCP_OK)
        st = mcp_server_new(&server, &options, err);
    if (st == MCP_OK)
        st = serve_page(app, server, &self, err);
    mcp_server_free(server);
    return st;
}

int casparian_command_approvals_serve(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(
        line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_AUDIT | CASPARIAN_NEEDS_DRIVER, serve);
}
