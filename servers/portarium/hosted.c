/*
 * hosted.c - how hosts start portarium: its seven tools, on a plane of the process or on the one
 * that PORTARIUM_BASE_URL names.
 */
#include "host/host.h"
#include "shell/line.h"

static const char *const start[] = { "mcp", "serve", NULL };
static const char *const options[] = { "--mount", "type=volume,src=portarium,dst=/data", NULL };
static const char *const command[] = { "mcp", "serve", "--transport", "stdio", NULL };

int portarium_line_host(const cli_line *line, void *data)
{
    static const host_server server = {
        .name = "portarium",
        .start = start,
        .image = { .name = "portarium", .options = options, .command = command },
    };
    (void)data;
    return host_run(&server, line);
}
