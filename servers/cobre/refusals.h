/**
 * refusals.h - the error records of calls that the library refuses before their handlers run.
 *
 * Source: the errors page, section 7.
 */
#ifndef COBRE_REFUSALS_H
#define COBRE_REFUSALS_H

#include "mcp/mcp.h"

/** mcp_server_options.error_formatter. */
mcp_status cobre_refuse_call(mcp_call *call, mcp_refusal reason, const mcp_schema_finding *finding,
                             void *data);

#endif
