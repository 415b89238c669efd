/*
 * color.c - whether to use colours, and the escape sequences.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static bool is_set(const char *variable)
{
    const char *text = getenv(variable);

    return text && text[0];
}

bool cli_use_color(const char *choice, FILE *stream)
{
    const char *terminal = getenv("TERM");
    const char *force = getenv("FORCE_COLOR");

    if (choice && strcmp(choice, "always") == 0)
        return true;
    if (choice && strcmp(choice, "never") == 0)
        return false;
    if (is_set("NO_COLOR"))
        return false;
    if (force && force[0])
        return strcmp(force, "0") != 0;
    return isatty(fileno(stream)) && terminal && terminal[0] && strcmp(terminal, "dumb") != 0;
}

const char *cli_paint(bool use, cli_color color)
{
    static const char *const sequences[] = {
        [CLI_PLAIN] = "\033[0m", [CLI_BOLD] = "\033[1m",   [CLI_DIM] = "\033[2m",
        [CLI_RED] = "\033[31m",  [CLI_GREEN] = "\033[32m", [CLI_YELLOW] = "\033[33m",
        [CLI_CYAN] = "\033[36m",
    };

    return use ? sequences[color] : "";
}
