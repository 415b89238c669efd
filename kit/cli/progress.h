/**
 * progress.h - the progress of a long operation: a bar on a terminal, elsewhere plain lines or
 * nothing.
 *
 * On a terminal one line is redrawn, at most eight times a second, and cleared at the end. One
 * thread uses a progress.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** The kind of output. */
typedef enum cli_progress_style {
    CLI_PROGRESS_NONE, /* nothing is printed */
    CLI_PROGRESS_BAR,  /* who watches a terminal */
    CLI_PROGRESS_LINES /* elsewhere too: each step is one line */
} cli_progress_style;

typedef struct cli_progress {
    FILE *stream;
    const char *label; /* "Training" */
    const char *unit;  /* "iter" */
    uint64_t total;    /* 0: not known */
    cli_progress_style style;
    bool is_terminal, is_drawn;
    unsigned width; /* of the terminal, in columns */
    int64_t began_ms, drawn_ms;
} cli_progress;

/**
 * Begin. Nothing is printed yet on a terminal.
 *
 * @param progress the caller's; holds no memory of its own
 * @param label    borrowed until the end, as `unit` is
 * @param total    how many steps there will be; 0: not known
 */
void cli_progress_begin(cli_progress *progress, FILE *stream, const char *label, const char *unit,
                        uint64_t total, cli_progress_style style);

/**
 * One more step is done.
 *
 * @param done   steps done in all
 * @param detail a text for the line: "LB: 1.03624e6  gap: 26.0%"; NULL: nothing
 */
void cli_progress_step(cli_progress *progress, uint64_t done, const char *detail);

/** Print a line above the bar; nothing for CLI_PROGRESS_NONE. */
void cli_progress_say(cli_progress *progress, const char *line);

/** Clear the bar. */
void cli_progress_end(cli_progress *progress);

/** Room for cli_format_number and cli_format_duration. */
#define CLI_FORMAT_SIZE 32

/** Five decimals, the exponent without padding: "1.03624e6". */
void cli_format_number(char out[CLI_FORMAT_SIZE], double number);

/** "9.1s" below a minute, "2m 5s" below an hour, then "1h 12m". */
void cli_format_duration(char out[CLI_FORMAT_SIZE], int64_t ms);

/** Columns of the terminal behind the stream, else COLUMNS, else 120. */
unsigned cli_width(FILE *stream);

#endif
