/**
 * console.h - progress and summaries of a run for people.
 *
 * All text goes to one stream, standard error; standard output is for results. On a terminal
 * progress is a bar, elsewhere one line per step; quiet prints nothing.
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
} console;

/** Print text that may hold names from outside: control characters become '?', so that none
 *  controls the terminal. */
void console_put(FILE *stream, const char *text);

/** "error: MESSAGE" and, where there is one, "  -> SUGGESTION" on a line of its own. */
void console_complain(FILE *stream, const char *word, const char *message, const char *suggestion);

/** Print the header of a run. `stream` is borrowed. */
void console_begin(console *self, FILE *stream, bool is_quiet, bool use_color, unsigned threads,
                   const char *case_dir);

/**
 * Print the summary of a training, or of a simulation, that ended: from the run, or from its output
 * directory.
 *
 * @param reason why the training ended, "iteration_limit"
 */
void console_say_training(const console *self, const sddp_training *training, const char *reason);
void console_say_simulation(const console *self, const sddp_simulation *simulation);

/** Print what the study is built from: its plants, and where the stochastic model comes from. */
void console_describe(const console *self, const cobre_run_models *models);

/* The observer's callbacks, in the order of a run. */
void console_started(console *self, const cobre_case *input);
void console_iteration(console *self, const sddp_iteration *row);
void console_trained(console *self, const sddp_training *training);
void console_scenario(console *self, uint32_t done, uint32_t total);

/**
 * The run has ended: clear the bar, print the simulation's summary and the output directory.
 *
 * @param result NULL when there is none
 */
void console_end(console *self, const cobre_run_result *result);

#endif
