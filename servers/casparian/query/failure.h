/**
 * failure.h - what a client sees of a query that failed.
 */
#ifndef CASPARIAN_QUERY_FAILURE_H
#define CASPARIAN_QUERY_FAILURE_H

#include "columns/sealed/sealed.h"
#include "query/query.h"
#include "query/views.h"

/**
 * Fill a failure, and say which status of casparian_query_run it is.
 *
 * @param out   may be NULL
 * @param st    of what failed: the guard, the views or columns_sealed_query
 * @param words of it
 * @param views names of files for the paths in the words; may be NULL
 */
mcp_status casparian_query_fail(casparian_query_failure *out, mcp_status st, const char *words,
                                const casparian_catalog *catalog, const casparian_views *views,
                                mcp_arena *arena, mcp_error *err);

#endif
