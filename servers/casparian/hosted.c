/*
 * hosted.c - how hosts start casparian.
 */
#include "host/host.h"
#include "shell/commands.h"

static const char *const start[] = { "mcp", "serve", NULL };
static const char *const options[] = { "--mount", "type=volume,src=casparian,dst=/data", NULL };

int casparian_command_host(const cli_line *line, void *data)
{
    static const host_server server = { .name = "casparian",
                                        .start = start,
                                        .has_directories = true,
                                        .image = { .name = "casparian",
                                                   .options = options,
                                                   .command = start,
                                                   .folder = "/files",
                                                   .folder_is_read_only = true } };
    (void)data;
    return host_run(&server, line);
}
