/**
 * work.h - what the commands of cobre share: the objects they work with, and the forms of their
 * answer.
 *
 * Standard output has only results; messages for people go to standard error, with control
 * characters replaced in names from files. An answer has one of four forms:
 *
 *     words      text; the command prints it itself
 *     object     --json: the object of the MCP tool of the same work, or one error record
 *     envelope   --output-format json: the response envelope around it
 *     lines      --output-format json-lines, of run: a stream of objects that ends with the envelope
 *
 *     shell_work work;
 *     int exit_status = shell_begin(&work, line, "inspect", SHELL_CASE);
 *     if (exit_status == COBRE_EXIT_DONE)
 *         exit_status = inspect_case(&work);
 *     shell_end(&work);
 *     return exit_status;
 *
 * Source: the errors page, sections 1, 3 and 4.
 */
#ifndef COBRE_SHELL_WORK_H
#define COBRE_SHELL_WORK_H

#include <stdbool.h>

#include "columns/columns.h"
#include "guard/paths.h"
#include "mcp/arena.h"
#include "mcp/json.h"
#include "shell/commands.h"

#include "findings/record.h"
#include "findings/report.h"

typedef enum shell_format { SHELL_WORDS, SHELL_OBJECT, SHELL_ENVELOPE, SHELL_LINES } shell_format;

/** What the first argument of a command is. */
typedef enum shell_subject {
    SHELL_NOTHING,
    SHELL_CASE,  /* a case directory */
    SHELL_OUTPUT /* an output directory */
} shell_subject;

/** Everything is released by shell_end. */
typedef struct shell_work {
    const cli_line *line;
    const char *command;
    shell_format format;
    mcp_arena *arena;
    guard *guard; /* of the whole file system: the user's permissions are the limit */
    columns *engine;
    int dir_fd;      /* the first argument, opened; -1: none */
    const char *dir; /* its canonical path */
    mcp_error error;
} shell_work;

/** Writes the members of an object that is begun, or with shell_answer.summary a whole value. */
typedef void shell_write(const void *of, mcp_json_writer *writer);

/** The answer of a command. */
typedef struct shell_answer {
    int exit_status;
    const cobre_record *record; /* of a failure; NULL: none, or the findings are the failure */
    const cobre_report *report; /* findings about a case; NULL: none */
    shell_write *members;       /* of the tool's object; NULL: there is none */
    shell_write *data;          /* of the envelope's `data`; NULL: the same members */
    shell_write *summary;       /* the members of the envelope's `summary`; NULL: null */
    const void *of;             /* the argument of the three */
} shell_answer;

/**
 * Begin: read the format, make the arena, the guard and the engine, open the first argument.
 *
 * @return COBRE_EXIT_DONE, or the exit status after the error was printed. shell_end follows
 *         either.
 */
int shell_begin(shell_work *work, const cli_line *line, const char *command, shell_subject subject);

void shell_end(shell_work *work);

/** Open another output directory. Returns as shell_begin; the caller closes `fd`. */
int shell_open_output(int *fd, const char **canonical, const shell_work *work, const char *path);

/** Print the answer in the format of the line; in words only its record is printed. Returns the
 *  exit status. */
int shell_print(const shell_work *work, const shell_answer *answer);

/** Print a failure that is a record. NULL (no memory) is shell_fail. */
int shell_refuse(const shell_work *work, int exit_status, const cobre_record *record);

/** Print an internal failure, described by work->error. */
int shell_fail(const shell_work *work);

/** Print why the records of an output directory could not be read, with the status of the reader
 *  and work->error. */
int shell_refuse_output(const shell_work *work, const char *dir, mcp_status st);

/** Write one line of a stream: an object that begins with its type. */
void shell_print_line(const shell_work *work, const char *type, shell_write *members,
                      const void *of);

/** Print the findings of a severity for people. */
void shell_print_findings(const shell_work *work, FILE *stream, const cobre_report *report,
                          cobre_severity severity);

/** Whether to colour standard output (or standard error). */
bool shell_use_color(const shell_work *work, FILE *stream);

#endif
