/**
 * follow.h - watches a job to its end, and runs it here where no other process does.
 */
#ifndef CASPARIAN_SHELL_FOLLOW_H
#define CASPARIAN_SHELL_FOLLOW_H

#include "gateway/app.h"
#include "jobs/job.h"

/**
 * Follow a job, with a progress bar for who watches a terminal. SIGINT cancels it.
 *
 * @param app  has the parts STORE and DRIVER
 * @param line its option `timeout`, where it has one, bounds the wait
 * @param job  receives the job as it ended; in the app's arena
 * @return MCP_OK: it has ended, see job->state; MCP_E_TIMEOUT; statuses of db.h and of
 *         casparian_runner_new
 */
mcp_status casparian_shell_follow_to(casparian_job *job, casparian_app *app, const cli_line *line,
                                     int64_t id, mcp_error *err);

/** The same, then print how it ended. @return MCP_OK: completed; MCP_E_STOPPED: it failed or was
 *  cancelled, and err says why */
mcp_status casparian_shell_follow(casparian_app *app, const cli_line *line, int64_t id,
                                  mcp_error *err);

#endif
