/**
 * shell.h - what the commands share: the home of the line, and how they end.
 */
#ifndef CASPARIAN_SHELL_SHELL_H
#define CASPARIAN_SHELL_SHELL_H

#include "gateway/app.h"
#include "gateway/refusal.h"

/** Exit statuses (casparian_exit_notes). */
enum {
    CASPARIAN_EXIT_DONE = 0,
    CASPARIAN_EXIT_FAILED = 1,
    CASPARIAN_EXIT_USAGE = 2,
    CASPARIAN_EXIT_ENVIRONMENT = 3,
    CASPARIAN_EXIT_NOT_FOUND = 4,
    CASPARIAN_EXIT_REFUSED = 5
};

/**
 * Open the home and the parts that a command needs.
 *
 * @param app zero; close it with casparian_app_close in any case
 * @return CASPARIAN_EXIT_DONE; another exit status: the error was printed
 */
int casparian_shell_open(casparian_app *app, const cli_line *line, unsigned parts);

/** What a command does with its open app. */
typedef mcp_status casparian_shell_work(casparian_app *app, const cli_line *line, mcp_error *err);

/** Open the home and the parts, do the work, close, and print a failure: app->failure where the
 *  work has set its message, else the status. @return the exit status */
int casparian_shell_run(const cli_line *line, unsigned parts, casparian_shell_work *work);

/** One failure of a command. Texts may be NULL, but for the message. */
typedef struct casparian_shell_failure {
    casparian_code code;
    const char *message;
    const char *context;        /* what it was about */
    const char *suggestions[4]; /* what to try, ended by NULL */
    bool is_answered;           /* the answer was printed as JSON: no error follows it there */
} casparian_shell_failure;

/**
 * Print "error: ..." and "TRY: ..." on the error stream and, where the line has --json, the error
 * as an object on the output stream.
 *
 * @return the exit status of the code
 */
int casparian_shell_fail(const cli_line *line, const casparian_shell_failure *failure);

/** The same for a status with its error. */
int casparian_shell_fail_status(const cli_line *line, mcp_status status, const mcp_error *err);

/** Print a text that is one JSON value, with a newline, on the output stream. */
void casparian_shell_print(const cli_line *line, const mcp_buf *text);

#endif
