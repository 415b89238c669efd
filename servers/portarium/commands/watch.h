/**
 * watch.h - following a run to its end.
 */
#ifndef PORTARIUM_COMMANDS_WATCH_H
#define PORTARIUM_COMMANDS_WATCH_H

#include "commands/show/view.h"

/** What a run does at the moment, in words. In the arena. */
typedef struct portarium_progress {
    const char *words;  /* "WaitingForApproval: deploy (approval apr-1)" */
    size_t done, total; /* actions */
    bool is_over;
    bool has_succeeded;
} portarium_progress;

/** Read it from a run's document in full. Pure. @return false: it is no run */
bool portarium_progress_read(portarium_progress *out, mcp_arena *arena, const mcp_json *run);

/**
 * Follow a run until it ends: a line that changes on a terminal, elsewhere a line for each change;
 * with --json the document at each change. --timeout ends it earlier.
 *
 * @param exit_status SERVE_EXIT_DONE, or PORTARIUM_EXIT_RUN: the run has not succeeded
 * @return MCP_OK; MCP_E_TIMEOUT; MCP_E_STOPPED by a signal; statuses of portarium_ask
 */
mcp_status portarium_watch(int *exit_status, portarium_link *self, const char *run, mcp_error *err);

#endif
