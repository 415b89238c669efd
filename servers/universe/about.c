/*
 * about.c - universe version and universe doctor: what the program is made of, and whether the
 * machine has what it needs.
 */
#include "about/doctor.h"
#include "about/version.h"
#include "db/probe.h"
#include "gateway/app.h"
#include "shell/line.h"
#include "shell/open.h"

#define WORDS_SIZE 4200

static void check(doctor *self, const cli_line *line, void *data)
{
    char words[WORDS_SIZE];
    const char *url = NULL;
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    mcp_status st = universe_database_url(&url, line, &err);
    if (st == MCP_OK)
        st = db_probe(words, sizeof words, url ? url : UNIVERSE_STANDARD_URL, universe_files, &err);
    doctor_note(self, "database", st == MCP_OK, "%s", st == MCP_OK ? words : err.message);
    doctor_check_listening(self, line);
}

int universe_line_doctor(const cli_line *line, void *data)
{
    return doctor_run(line, check, data);
}

int universe_line_version(const cli_line *line, void *data)
{
    static const about_library libraries[] = { { "libpq", db_libpq_version }, { 0 } };
    static const about_program program = { .name = "universe",
                                           .version = UNIVERSE_VERSION,
                                           .libraries = libraries };
    (void)data;
    return about_version(&program, line);
}
