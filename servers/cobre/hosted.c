/*
 * hosted.c - how hosts start cobre: as cobre-mcp, or as the command serve. Hosts want names of
 * tools without a slash.
 */
#include "host/host.h"
#include "shell/commands.h"

#define TOOL_NAMES "--tool-names=safe"

static const char *const serve[] = { "serve", TOOL_NAMES, NULL };
static const char *const serve_alone[] = { TOOL_NAMES, NULL };
static const char *const no_command[] = { NULL };

#define IMAGE                                                                                      \
    {                                                                                              \
        .name = "cobre-mcp", .command = no_command, .folder = "/cases"                             \
    }

int cobre_command_host(const cli_line *line, void *data)
{
    static const host_server server = {
        .name = "cobre", .start = serve, .alias = "cobre", .has_directories = true, .image = IMAGE
    };
    (void)data;
    return host_run(&server, line);
}

int cobre_mcp_command_host(const cli_line *line, void *data)
{
    static const host_server server = { .name = "cobre",
                                        .start = serve_alone,
                                        .alias = "cobre-mcp",
                                        .has_directories = true,
                                        .image = IMAGE };
    (void)data;
    return host_run(&server, line);
}
