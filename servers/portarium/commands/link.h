/**
 * link.h - a command's way to a control plane: a database that it opens itself, or a plane
 * elsewhere over REST. Both by the table of operations, through the client.
 *
 *     portarium_link link;
 *     mcp_status st = portarium_link_open(&link, line, &err);
 *     if (st == MCP_OK)
 *         st = portarium_ask(&run, &link, "getRun", arguments, NULL, &err);
 *     return portarium_link_end(&link, st, &err);
 */
#ifndef PORTARIUM_COMMANDS_LINK_H
#define PORTARIUM_COMMANDS_LINK_H

#include "cli/cli.h"
#include "client/remote.h"
#include "service/plane.h"

/** The exit status of a command that followed a run to another end than Succeeded. */
#define PORTARIUM_EXIT_RUN 3

typedef struct portarium_link {
    const cli_line *line;
    mcp_arena *arena;         /* of what the command reads */
    portarium_plane *plane;   /* NULL: the plane is elsewhere */
    portarium_remote *remote; /* NULL: the plane is here */
    portarium_client client;
    portarium_actor actor;
    const char *place;     /* the URL of the plane, or of the database */
    const char *workspace; /* NULL: not known yet */
    const char *key;       /* of idempotency for the next command; NULL: a new one */
    bool has_token;        /* PORTARIUM_TOKEN is set */
    bool is_terminal;      /* of the output */
} portarium_link;

/**
 * Open what the line names. A database is opened as the owner of PORTARIUM_TOKEN, else as
 * "local:USER", an admin; it must exist.
 *
 * @param out ended by portarium_link_end, whatever is returned
 * @return MCP_OK; MCP_E_PARAMS: --db and --base-url are both given; statuses of
 *         portarium_plane_open and portarium_remote_new
 */
mcp_status portarium_link_open(portarium_link *out, const cli_line *line, mcp_error *err);

/** Close it and, when the status is not MCP_OK, print why. @return the exit status */
int portarium_link_end(portarium_link *self, mcp_status status, const mcp_error *err);

/**
 * Ask for an operation. Without --workspace it is the only one that the token sees.
 *
 * @param answer    in the link's arena; NULL where there is none
 * @param arguments,body NULL: none
 * @return MCP_OK; the message of any other status says what was refused, or the way out
 */
mcp_status portarium_ask(const mcp_json **answer, portarium_link *self, const char *operation,
                         const mcp_json *arguments, const mcp_json *body, mcp_error *err);

/** An object of texts: pairs of name and value, ended by NULL; a NULL value is left out. */
#define PORTARIUM_OBJECT(link, out, err, ...)                                                      \
    portarium_object(&(portarium_tx){ .arena = (link)->arena }, out, err, __VA_ARGS__, (char *)NULL)

/** What may be printed of a database's URL: no user, password or settings. In the arena. Pure. */
const char *portarium_place_of(mcp_arena *arena, const char *url);

/** Close a draft and read it into the link's arena. */
mcp_status portarium_end_draft(portarium_draft *draft, portarium_link *self, const mcp_json **out,
                               mcp_error *err);

/** Wait. @return false: a signal asks the command to end */
bool portarium_pause(int64_t ms);

#endif
