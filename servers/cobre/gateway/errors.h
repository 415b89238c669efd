/**
 * errors.h - the error records that cobre's tools answer with.
 *
 * Source: the errors page, section 7.
 */
#ifndef COBRE_GATEWAY_ERRORS_H
#define COBRE_GATEWAY_ERRORS_H

#include "mcp/call.h"

#include "findings/report.h"

#define COBRE_WRITES_DISABLED                                                                      \
    "Write operations are disabled. Start the server with --allow-write to enable training and "   \
    "export."

/**
 * Answer with an error record, isError true.
 *
 * @param kind, suggestion, members, format as for cobre_record_new
 * @return what the handler returns
 */
mcp_status cobre_refuse(mcp_call *call, const char *kind, const char *suggestion,
                        const cobre_member *members, const char *format, ...) MCP_PRINTF(5, 6);

/** The same with a record that was made. NULL (memory is out) becomes MCP_E_NOMEM. */
mcp_status cobre_refuse_record(mcp_call *call, const cobre_record *record);

/** Answer with the first error of a report, and under `errors` with all of them. */
mcp_status cobre_refuse_case(mcp_call *call, const cobre_report *report);

/**
 * Answer that the tool cannot be used with the settings: kind IncompatibleSettings.
 *
 * @param settings the setting at fault, "--allow-write"
 * @param suggestion NULL: none
 */
mcp_status cobre_refuse_use(mcp_call *call, const char *settings, const char *suggestion,
                            const char *message);

#endif
