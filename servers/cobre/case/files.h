/**
 * files.h - opens a case's files beneath its directory; layer 1's findings about them.
 */
#ifndef COBRE_CASE_FILES_H
#define COBRE_CASE_FILES_H

#include "case/inventory.h"

/**
 * Open one of the 40 files for reading.
 *
 * @param fd -1 when the file is absent, or cannot be read and was reported; else the caller closes
 *           it
 */
mcp_status cobre_file_open(int *fd, int dir_fd, cobre_file_id id, cobre_report *report,
                           mcp_error *err);

/**
 * Read one of the 40 as text of at most 64 MiB.
 *
 * @param text NULL when it was reported
 */
mcp_status cobre_file_text(const char **text, size_t *length, int dir_fd, cobre_file_id id,
                           cobre_report *report, mcp_arena *arena, mcp_error *err);

/** An arena that holds the longest text. NULL when memory is out. */
mcp_arena *cobre_file_text_arena(void);

/** A finding about a whole file; `detail` may be NULL. */
void cobre_file_report(cobre_report *report, cobre_file_id id, cobre_kind kind, int layer,
                       const char *message, const char *suggestion, const char *detail);

/** The paths of the files present, sorted; NULL when memory is out. */
const char *const *cobre_files_list(const bool *present, mcp_arena *arena, size_t *count);

#endif
