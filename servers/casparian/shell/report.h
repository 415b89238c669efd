/**
 * report.h - how a job ended and what was invalid, for a person.
 */
#ifndef CASPARIAN_SHELL_REPORT_H
#define CASPARIAN_SHELL_REPORT_H

#include "shell/print.h"

/**
 * Print a line about the job, a table of its outputs, and tables of what was invalid and of the
 * files that failed, where there is such. With --quiet nothing is printed.
 *
 * @param line without --json
 * @param job  as casparian_job_write writes it, ended
 */
mcp_status casparian_shell_report(const cli_line *line, const mcp_json *job, mcp_arena *arena,
                                  mcp_error *err);

/**
 * Print a table of the violations of outputs; nothing where there are none.
 *
 * @param line    without --json
 * @param outputs by their names, each with `violations`, as in the result of a job or a preview
 */
mcp_status casparian_shell_violations(const cli_line *line, const mcp_json *outputs,
                                      mcp_arena *arena, mcp_error *err);

#endif
