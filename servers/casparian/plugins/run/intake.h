/*
 * intake.h - what comes of one file: outputs, rows, log lines, and the first failure.
 *
 * Both runtimes hand in what they received; the rules that hold for both are checked here. Once
 * there is a failure or a status, nothing more is taken.
 */
#ifndef CASPARIAN_PLUGINS_RUN_INTAKE_H
#define CASPARIAN_PLUGINS_RUN_INTAKE_H

#include "mcp/buf.h"
#include "mcp/json.h"
#include "plugins/outcome.h"

/* A stream of log text that is cut into lines. */
typedef struct casparian_lines {
    mcp_buf rest;
    casparian_log_level level;
} casparian_lines;

typedef struct casparian_intake {
    const casparian_guest_limits *limits;
    const casparian_guest_events *events;
    casparian_guest_outcome *outcome;
    mcp_status status; /* of events, or of the host itself: the file is given up */
    mcp_error *err;

    char outputs[CASPARIAN_OUTPUTS_MAX][CASPARIAN_OUTPUT_NAME_MAX + 1];
    uint64_t rows[CASPARIAN_OUTPUTS_MAX];
    size_t output_count;
    uint64_t row_limit; /* rows of an output above it are dropped; 0: none */
    uint64_t dropped;

    casparian_lines out, errors; /* standard output and error */
    bool log_was_cut;
    int64_t heard_ms; /* when something came last */
} casparian_intake;

/* Begin a file. @param outcome filled in from nothing */
void casparian_intake_init(casparian_intake *self, casparian_guest_outcome *outcome,
                           const casparian_guest_limits *limits,
                           const casparian_guest_events *events, mcp_error *err);

/* Give the rest of the log, and free memory. */
void casparian_intake_clear(casparian_intake *self);

/* Whether nothing more is taken. */
bool casparian_intake_is_over(const casparian_intake *self);

/* Set the failure; the first one counts. */
void casparian_intake_fail(casparian_intake *self, casparian_failure failure, const char *format,
                           ...) MCP_PRINTF(3, 4);

/* Set the failure by the JSON of an ERROR frame: error, kind, retryable, traceback. */
void casparian_intake_error(casparian_intake *self, const mcp_json *json,
                            casparian_failure otherwise);

/* Announce an output. @param index of it, for casparian_intake_rows; an output of that name that is
 * known already has the same. @return false: it failed */
bool casparian_intake_output(casparian_intake *self, size_t *index, const char *name);

/* Hand on rows: a payload of CFJ1 or CFB1. @return the count of rows; SIZE_MAX: it failed */
size_t casparian_intake_rows(casparian_intake *self, size_t index, const char *payload,
                             size_t length);

/* Whether a row limit is reached: every output has as many rows, or very many were dropped. */
bool casparian_intake_has_enough(const casparian_intake *self);

/* Hand on a line of the log. */
void casparian_intake_log(casparian_intake *self, casparian_log_level level, const char *text,
                          size_t length);

/* Hand on text of a standard stream, line by line. */
void casparian_intake_text(casparian_intake *self, casparian_lines *lines, const char *text,
                           size_t length);

#endif
