/*
 * about.c - portarium version and portarium doctor: what the program is made of, and whether the
 * machine has what it needs.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "about/doctor.h"
#include "about/version.h"
#include "db/probe.h"
#include "gateway/app.h"
#include "proc/proc.h"
#include "shell/line.h"

#define WORDS_SIZE 4200

/* Executors run commands in a sandbox of these. */
#define SANDBOX (PROC_FILES | PROC_NO_NETWORK | PROC_SYSCALLS)

static void check_sandbox(doctor *self)
{
    char words[PROC_WORDS_SIZE];
    unsigned has = proc_protections(0);
    bool is_good = (has & SANDBOX) == SANDBOX;
    proc_protection_words(words, has);
    doctor_note(self, "sandbox", is_good, "%s%s", words,
                is_good ? "" : "; commands of executors need landlock, no-network and seccomp");
}

/* A key that is not there is made at the first start. The file of --config was judged when the
 * line was read. */
static void check_key(doctor *self, const cli_line *line, const char *name)
{
    const char *path = cli_string(line, name);
    if (path && access(path, F_OK) == 0)
        doctor_check_secret(self, name, path, S_IRWXG | S_IRWXO);
    else if (path)
        doctor_check_made(self, name, path);
}

static void check(doctor *self, const cli_line *line, void *data)
{
    char words[WORDS_SIZE];
    mcp_error err = MCP_ERROR_INIT;
    (void)data;
    mcp_status st = db_probe(words, sizeof words, cli_string(line, "db"), portarium_files, &err);
    doctor_note(self, "database", st == MCP_OK, "%s", st == MCP_OK ? words : err.message);
    check_sandbox(self);
    check_key(self, line, "key-file");
    check_key(self, line, "evidence-key");
    doctor_check_listening(self, line);
}

int portarium_line_doctor(const cli_line *line, void *data)
{
    return doctor_run(line, check, data);
}

int portarium_line_version(const cli_line *line, void *data)
{
    static const about_library libraries[] = { { "libpq", db_libpq_version }, { 0 } };
    static const about_program program = { .name = "portarium",
                                           .version = PORTARIUM_VERSION,
                                           .libraries = libraries };
    (void)data;
    return about_version(&program, line);
}
