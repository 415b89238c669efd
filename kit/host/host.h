/**
 * host.h - the command `host`: prints what to paste into a host (a program with an MCP client), so
 * that the host starts a server or calls one over HTTP.
 *
 *     universe host                            the hosts
 *     universe host claude-code                a command and a file for Claude Code
 *     universe host vscode --json              the file alone
 *     universe host cursor --url http://127.0.0.1:3001/mcp
 *     cobre-mcp host ssh -- --allow-write /srv/cases
 *
 * Nothing is written but standard output. The program stands there with its absolute path, since
 * hosts of the desktop do not have the PATH of a shell; relative directories among the arguments
 * become absolute, since hosts start programs in "/".
 *
 *     static const char *const start[] = { "serve", "--transport", "stdio", NULL };
 *     static const host_server hosted = { .name = "echo", .start = start };
 *
 *     static int print_host(const cli_line *line, void *data) { return host_run(&hosted, line); }
 *
 *     static const cli_command commands[] = { HOST_COMMAND(print_host), ... };
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stdbool.h>

#include "cli/cli.h"

/** How many words may be behind the host's name. */
#define HOST_ARGUMENTS_MAX 256

/** The image of a server, as docker starts it on standard input and output. */
typedef struct host_image {
    const char *name;
    const char *const *options; /* of `docker run`, before the image; ends with NULL; NULL: none */
    /** What follows the image: its own command, which further arguments replace. Ends with NULL. */
    const char *const *command;
    const char *folder; /* where the directory of the arguments is mounted; NULL: there is none */
    bool folder_is_read_only;
} host_image;

/** How hosts start a server. */
typedef struct host_server {
    const char *name; /* in the settings of hosts */
    /** The words between program and arguments that serve a client on standard input and output.
     * Ends with NULL. */
    const char *const *start;
    /** The name of the program, where what it does depends on the name that it was called by. NULL:
     * it does not. */
    const char *alias;
    bool has_directories; /* the arguments are directories; without any, the current one is named */
    host_image image;
} host_server;

/** The options of the command, and what help says after them. */
extern const cli_option host_options[];
extern const char host_notes[];
cli_complete host_complete;

/* clang-format off */
/** The row of the command in a table of cli_command. */
#define HOST_COMMAND(run_)                                                                         \
    { .name = "host", .arguments = "[HOST] [-- ARGS]", .arguments_max = 1 + HOST_ARGUMENTS_MAX,    \
      .summary = "print the settings of Claude Code, VS Code and other hosts for this server",     \
      .notes = host_notes, .options = host_options, .takes_placeholders = true,                    \
      .complete = host_complete, .run = run_ }
/* clang-format on */

/** Run the command. @return the exit status */
int host_run(const host_server *server, const cli_line *line);

#endif
