/* tools.h - how calls of the tools are refused before their handlers run. */
#ifndef UNIVERSE_TOOLS_H
#define UNIVERSE_TOOLS_H

#include "app.h"

/** {"error":"Invalid arguments","field","message","universeId"?}; see mcp_refuser. */
mcp_status universe_refuse_call(mcp_call *call, mcp_refusal reason,
                                const mcp_schema_finding *finding, void *data);

#endif
