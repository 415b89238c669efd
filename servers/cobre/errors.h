/**
 * errors.h - how cobre's tools say no: always with an error record.
 *
 * Source: the errors page, section 7.
 */
#ifndef COBRE_ERRORS_H
#define COBRE_ERRORS_H

#include "mcp/mcp.h"

#include "run/record.h"

#define COBRE_WRITES_DISABLED                                                                      \
    "Write operations are disabled. Start the server with --allow-write to enable training and "   \
    "export."

/** Answer with one record, isError true. NULL (memory is out) becomes MCP_E_NOMEM. */
mcp_status cobre_refuse(mcp_call *call, const cobre_record *record);

/** Answer with the first error of a report, and under `errors` with all of them. */
mcp_status cobre_refuse_case(mcp_call *call, const cobre_report *report);

/**
 * Answer that the tool cannot be used so: kind IncompatibleSettings.
 *
 * @param settings what stands in the way, "--allow-write"
 * @param suggestion the way out; NULL: none
 */
mcp_status cobre_refuse_use(mcp_call *call, const char *settings, const char *suggestion,
                            const char *message);

/** What the library asks for when it refuses a call by itself (mcp_server_options.refuse). */
mcp_status cobre_refuse_call(mcp_call *call, mcp_refusal reason, const mcp_schema_finding *finding,
                             void *data);

#endif
