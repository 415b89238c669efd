/**
 * inspect.h - the contents of a case directory, without validation.
 */
#ifndef COBRE_CASE_READ_INSPECT_H
#define COBRE_CASE_READ_INSPECT_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

#include "findings/report.h"

/** The result of cobre/inspect-case (output page, section 10). */
typedef struct cobre_inspection {
    const mcp_json *config; /* config.json unchanged */
    int64_t hydros, thermals, buses, lines;
    int64_t stages;                   /* with id >= 0 */
    const char *scenario_source;      /* "par" or "external" */
    const char *const *files_present; /* of the 40 paths of the format, sorted */
    size_t file_count;
} cobre_inspection;

/**
 * Inspect a case directory.
 *
 * @param out    filled only when the report holds no error: a missing config.json is MissingFile, a
 *               config.json, stages.json or registry that does not parse is ParseError
 * @return MCP_OK also when the directory has errors: look at `report`; MCP_E_NOMEM
 */
mcp_status cobre_case_inspect(cobre_inspection *out, int dir_fd, cobre_report *report,
                              mcp_arena *arena, mcp_error *err);

/** Write the members of cobre/inspect-case's result. */
void cobre_inspection_write(const cobre_inspection *about, mcp_json_writer *writer);

#endif
