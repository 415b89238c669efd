/**
 * files.h - the files of one table of the simulation, one a scenario.
 *
 * Source: the output page, section 1.
 */
#ifndef COBRE_REPORT_FILES_H
#define COBRE_REPORT_FILES_H

#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"

/** Most scenarios that a report reads. */
#define REPORT_SCENARIOS_MAX 100000

typedef struct report_files {
    const int *fds; /* in the order of the scenarios */
    size_t count;
    size_t left_out; /* further scenarios, beyond what this process may open */
} report_files;

/**
 * Open simulation/<folder>/scenario_id=N/data.parquet, as many as the process may have open (its
 * soft limit is raised to the hard one).
 *
 * @param out   the arena's; closed by report_files_close
 * @param fd_max most files; 0: as many as there are
 * @return MCP_OK; MCP_E_NOT_FOUND (no folder, or no scenario in it); MCP_E_DENIED (a link);
 *         MCP_E_IO; MCP_E_NOMEM
 */
mcp_status report_files_open(report_files *out, int out_fd, const char *folder, size_t fd_max,
                             mcp_arena *arena, mcp_error *err);

void report_files_close(report_files *files);

#endif
