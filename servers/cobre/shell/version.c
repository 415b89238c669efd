/*
 * version.c - cobre version: what this program was built of.
 */
#include <sys/utsname.h>

#include "lp/lp.h"
#include "run/run.h"
#include "shell/work.h"

#ifdef NDEBUG
#define BUILD "release"
#else
#define BUILD "debug"
#endif

const about_library cobre_libraries[] = { { "DuckDB", columns_version }, { 0 } };

static const about_program about = { .name = "cobre",
                                     .version = COBRE_VERSION,
                                     .libraries = cobre_libraries };

/* Of the envelope, whose members are fixed. `of`: as the command's `data`. */
static void write_data(const void *of, mcp_json_writer *writer)
{
    mcp_write_member_string(writer, "version", COBRE_VERSION);
    mcp_write_member_string(writer, "git_commit", about_revision());
    mcp_write_member_null(writer, "build_date");
    mcp_write_member_string(writer, "compiler", about_compiler());
    mcp_write_member_string(writer, "solver_backend", lp_solver_name());
    mcp_write_member_string(writer, "solver_version", lp_solver_version());
    mcp_write_member_bool(writer, "mpi_available", of != NULL);
    mcp_write_member_array(writer, "features");
    mcp_write_string(writer, "mcp");
    mcp_write_string(writer, "parquet");
    mcp_write_string(writer, "zstd");
    mcp_write_end(writer);
}

static void write_members(const void *of, mcp_json_writer *writer)
{
    write_data(of, writer);
    mcp_write_name(writer, "libraries");
    about_write_libraries(writer, &about);
}

static void print_words(FILE *out, const cobre_run_ranks *ranks)
{
    struct utsname machine;
    fprintf(out, "cobre   v%s\nsolver: %s %s\ncomm:   %s\nzstd:   enabled\n", COBRE_VERSION,
            lp_solver_name(), lp_solver_version(), ranks ? ranks->distribution.library : "local");
    if (uname(&machine) == 0)
        fprintf(out, "arch:   %s-%s\n", machine.machine, machine.sysname);
    fprintf(out, "build:  %s (C17, %s), %s\n\n", BUILD, about_compiler(), about_revision());
    about_print_libraries(out, &about);
}

int cobre_command_version(const cli_line *line, void *data)
{
    shell_work work;
    const shell_answer answer = { .members = write_members, .data = write_data, .of = data };
    int exit_status = shell_begin(&work, line, "version", SHELL_NOTHING);
    if (exit_status == COBRE_EXIT_DONE && work.format == SHELL_WORDS)
        print_words(cli_out(line), data);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = shell_print(&work, &answer);
    shell_end(&work);
    return exit_status;
}
