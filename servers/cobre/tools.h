/**
 * tools.h - cobre as an MCP server: its tools and what they share.
 */
#ifndef COBRE_TOOLS_H
#define COBRE_TOOLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "columns/columns.h"
#include "guard/paths.h"
#include "mcp/mcp.h"

/** What the tools of one server share. Handlers on several threads use it at once. */
typedef struct cobre_app {
    guard *guard; /* the directories that may be touched */
    columns *engine;
    unsigned threads;         /* of a run, where the machine gives as many */
    pthread_mutex_t run_lock; /* guards the two below */
    bool is_running;
    char running_case[4096]; /* PATH_MAX; for the message that refuses a second run */
} cobre_app;

/** The ten tools of the contract (seed SS2), to be added with cobre_files. */
extern const mcp_tool cobre_tools[];

/** The files embedded by the build: tools/, schemas/. */
extern const mcp_file cobre_files[];

/** mcp_server_options.fit: forms of arguments as the contract's examples have them. */
mcp_status cobre_fit_arguments(mcp_call *call, const char *tool, const mcp_json **arguments,
                               void *data);

#endif
