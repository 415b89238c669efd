/* tools.h - how calls of the tools are refused before their handlers run, and the strict form of a
 * schema. */
#ifndef UNIVERSE_TOOLS_H
#define UNIVERSE_TOOLS_H

#include "gateway/app.h"

/** {"error":"Invalid arguments","field","message","universeId"?}; see mcp_error_formatter. */
mcp_status universe_refuse_call(mcp_call *call, mcp_refusal reason,
                                const mcp_schema_finding *finding, void *data);

/** The program's files, where send_universe_command takes the 25 commands and nothing else. The
 *  arena's. */
mcp_status universe_files_strict_arguments(const mcp_file **out, mcp_arena *arena, mcp_error *err);

#endif
