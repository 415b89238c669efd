/*
 * about.c - cobre-mcp version and cobre doctor: what the program is made of, and whether the
 * machine has what it needs.
 */
#include "about/doctor.h"
#include "run/run.h"
#include "shell/commands.h"

static void check(doctor *self, const cli_line *line, void *data)
{
    (void)data;
    for (size_t i = 0; i < cli_argument_count(line); i++)
        doctor_check_directory(self, "directory", cli_argument(line, i), true);
    if (cli_argument_count(line) == 0)
        doctor_check_directory(self, "directory", ".", true);
    doctor_check_library(self, "libduckdb", columns_version);
    doctor_check_listening(self, line);
}

int cobre_command_doctor(const cli_line *line, void *data)
{
    return doctor_run(line, check, data);
}

int cobre_mcp_command_version(const cli_line *line, void *data)
{
    const about_program program = { .name = "cobre-mcp",
                                    .version = COBRE_VERSION,
                                    .libraries = cobre_libraries };
    (void)data;
    return about_version(&program, line);
}
