/*
 * hosted.c - how hosts start universe.
 */
#include "host/host.h"
#include "shell/line.h"

static const char *const start[] = { "serve", "--transport", "stdio", NULL };
static const char *const options[] = { "--mount", "type=volume,src=universe,dst=/data", NULL };
static const char *const command[] = {
    "serve", "--transport", "stdio", "--db", "sqlite:/data/universe.db", NULL
};

int universe_line_host(const cli_line *line, void *data)
{
    static const host_server server = {
        .name = "universe",
        .start = start,
        .image = { .name = "universe", .options = options, .command = command },
    };
    (void)data;
    return host_run(&server, line);
}
