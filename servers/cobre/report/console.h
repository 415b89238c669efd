/**
 * console.h - what a person sees of a run: how far it is, and how it ended.
 *
 * Everything goes to the stream that is given, which is standard error: standard output is for
 * results. On a terminal progress is a bar, elsewhere a line each; quiet prints nothing at all.
 *
 * Source: the output page, section 8.
 */
#ifndef COBRE_REPORT_CONSOLE_H
#define COBRE_REPORT_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/progress.h"

#include "case/case.h"
#include "run/run.h"
#include "sddp/sddp.h"

typedef struct console {
    FILE *stream;
    bool is_quiet;
    bool use_color;
    unsigned threads;
    const cobre_case *input; /* once the run has begun */
    cli_progress progress;
    bool is_simulating;
    double first_gap;
} console;

/** Print text that may hold names from outside: control characters become '?', so that none
 *  commands the terminal. */
void console_put(FILE *stream, const char *text);

/** "error: MESSAGE" and, where there is one, "  -> SUGGESTION" on a line of its own. */
void console_complain(FILE *stream, const char *word, const char *message, const char *suggestion);

/** Say what is about to run. `stream` is borrowed. */
void console_begin(console *self, FILE *stream, bool is_quiet, bool use_color, unsigned threads,
                   const char *case_dir);

/* The observer's callbacks, in the order of a run. */
void console_started(console *self, const cobre_case *input);
void console_iteration(console *self, const sddp_iteration *row);
void console_trained(console *self, const sddp_training *training);
void console_scenario(console *self, uint32_t done, uint32_t total);

/**
 * The run is over: clear the bar, say what the simulation gave and where the output is.
 *
 * @param result NULL when there is none
 */
void console_end(console *self, const cobre_run_result *result);

#endif
