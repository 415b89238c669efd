/*
 * demo.c - portarium demo: fills a new database and becomes `portarium serve` of it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/app.h"
#include "mcp/clock.h"
#include "model/identity.h"
#include "serve/serve.h"
#include "shell/apply.h"
#include "shell/line.h"
#include "shell/session.h"
#include "store/tokens.h"

enum { DAY_MS = 24 * 3600 * 1000, URL_SIZE = 4200 };

static const char workspace[] = "demo";

/* Who gets a token, and what for. */
static const struct {
    const char *subject;
    const char *agent; /* NULL: a person */
    portarium_roles roles;
    const char *words;
} people[] = {
    { "anna", NULL, PORTARIUM_ROLE(ADMIN) | PORTARIUM_ROLE(APPROVER),
      "the cockpit of Anna, who approves" },
    { "otto", NULL, PORTARIUM_ROLE(OPERATOR), "the cockpit of Otto, who starts runs" },
    { "agent-1", "agent-1", PORTARIUM_ROLE(OPERATOR), "the token of the agent" },
};

enum { PEOPLE = sizeof people / sizeof people[0] };

typedef struct secrets {
    char text[PEOPLE][PORTARIUM_TOKEN_SIZE];
} secrets;

static mcp_status make_tokens(portarium_tx *tx, void *data, mcp_error *err)
{
    secrets *out = data;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < PEOPLE; i++) {
        portarium_token token = { .subject = people[i].subject,
                                  .agent_id = people[i].agent,
                                  .roles = people[i].roles,
                                  .owner = people[i].agent ? "otto" : NULL,
                                  .expires_ms = mcp_clock_wall_ms() + DAY_MS };
        st = portarium_id_new(&token.id, "tok-", tx->arena, err);
        if (st == MCP_OK)
            st = portarium_token_create(out->text[i], tx, &token, err);
    }
    return st;
}

/* Runs that Otto has started; the engine of the server takes them up. */
static mcp_status start_runs(portarium_session *session, const mcp_json *runs, mcp_error *err)
{
    mcp_status st = MCP_OK;
    session->actor.subject = "otto";
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(runs); i++)
        st = portarium_session_run(session, "startRun", workspace, NULL, mcp_json_item(runs, i),
                                   err);
    return st;
}

static mcp_status fill(secrets *out, portarium_session *session, mcp_error *err)
{
    const mcp_file *file = mcp_files_find(portarium_files, "demo/content.json");
    const mcp_json *content = NULL;
    portarium_applied done = { .created = 0 };
    if (!file)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "this program was built without the demo");
    /* Else the database is that of an earlier demo, and has its runs. */
    bool is_new = portarium_session_run(session, "getWorkspace", workspace, NULL, NULL, NULL) !=
                  MCP_OK;
    mcp_status st = mcp_json_read(&content, session->arena, file->bytes, file->length, err);
    if (st == MCP_OK)
        st = portarium_apply(&done, session, content, err);
    if (st == MCP_OK && is_new)
        st = start_runs(session, mcp_json_get(content, "runs"), err);
    return st == MCP_OK ? portarium_plane_write(session->plane, workspace, session->arena,
                                                make_tokens, out, err)
                        : st;
}

static void print(const cli_line *line, const secrets *tokens, const char *url, const char *port)
{
    FILE *out = cli_out(line);
    for (size_t i = 0; i < PEOPLE; i++) {
        if (people[i].agent)
            fprintf(out, "%s, at http://127.0.0.1:%s/mcp and over REST:\n  %s\n", people[i].words,
                    port, tokens->text[i]);
        else
            fprintf(out, "%s:\n  http://127.0.0.1:%s/#token=%s\n", people[i].words, port,
                    tokens->text[i]);
    }
    /* The URL of a server may have a password in it. */
    fprintf(out, "the tokens are valid for a day; the data is in %s\n",
            strstr(url, "://") ? "the database of --db" : url);
    fflush(out);
}

/* Before tokens are made and printed that would lead to another server. */
static mcp_status check_port(int64_t port, mcp_error *err)
{
    int on = 1;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = getenv("PORTARIUM_BIND") ? -1 : socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) /* the server will tell */
        return MCP_OK;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool is_taken = bind(fd, (struct sockaddr *)&at, sizeof at) != 0 && errno == EADDRINUSE;
    close(fd);
    return is_taken ? mcp_error_set(err, MCP_E_IO,
                                    "port %lld of 127.0.0.1 is in use, perhaps by another demo: "
                                    "--port names another",
                                    (long long)port)
                    : MCP_OK;
}

/* A file in a folder of its own, which stays. */
static mcp_status name_database(char out[URL_SIZE], const cli_line *line, mcp_error *err)
{
    char folder[] = "/tmp/portarium-demo-XXXXXX";
    const char *given = cli_string(line, "db");
    if (given) {
        snprintf(out, URL_SIZE, "%s", given);
        return strlen(given) < URL_SIZE ? MCP_OK
                                        : mcp_error_set(err, MCP_E_PARAMS, "--db is too long");
    }
    if (!mkdtemp(folder))
        return mcp_error_set(err, MCP_E_IO, "no new folder in /tmp: %s", strerror(errno));
    snprintf(out, URL_SIZE, "sqlite:%s/portarium.db", folder);
    return MCP_OK;
}

int portarium_line_demo(const cli_line *line, void *data)
{
    static char url[URL_SIZE];
    char port[16];
    portarium_session session;
    secrets tokens;
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    snprintf(port, sizeof port, "%lld", (long long)cli_int(line, "port", 0));
    mcp_status st = check_port(cli_int(line, "port", 0), &err);
    if (st == MCP_OK)
        st = name_database(url, line, &err);
    if (st == MCP_OK)
        st = portarium_session_make(&session, line, url, &err);
    if (st != MCP_OK)
        return serve_fail(line, st, &err);
    st = fill(&tokens, &session, &err);
    portarium_session_close(&session);
    if (st != MCP_OK)
        return serve_fail(line, st, &err);
    print(line, &tokens, url, port);
    execl("/proc/self/exe", "portarium", "serve", "--db", url, "--port", port, (char *)NULL);
    mcp_error_set(&err, MCP_E_IO, "the server cannot be started: %s", strerror(errno));
    return serve_fail(line, MCP_E_IO, &err);
}
