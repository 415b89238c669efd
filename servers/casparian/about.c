/*
 * about.c - casparian version: what the program is made of.
 */
#include "about/version.h"
#include "columns/columns.h"
#include "shell/commands.h"

int casparian_command_version(const cli_line *line, void *data)
{
    static const about_library libraries[] = { { "DuckDB", columns_version }, { 0 } };
    static const about_program program = { .name = "casparian",
                                           .version = CAUSEWAY_VERSION,
                                           .libraries = libraries };
    (void)data;
    return about_version(&program, line);
}
