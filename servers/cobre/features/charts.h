/**
 * charts.h - images that follow a result where the call asks for them by
 * _meta["causeway/chart"]: true.
 *
 * Source: the output page, section 10, "Images".
 */
#ifndef COBRE_FEATURES_CHARTS_H
#define COBRE_FEATURES_CHARTS_H

#include "mcp/call.h"
#include "query/rows.h"
#include "results/results.h"

/** Whether the call asks for a chart. */
bool cobre_chart_is_wanted(const mcp_call *call);

/** Add the bounds of the iterations in the range. */
mcp_status cobre_chart_convergence(mcp_call *call, const results_convergence *history,
                                   const query_range *range);

/** Values of a column by stage, gathered from rows. All zero but `table` at first. */
typedef struct cobre_stage_values {
    const query_table *table;
    const char *name; /* of the column; NULL: the rows have none that can be drawn */
    struct cobre_stage_value {
        int32_t stage;
        double value;
    } * items; /* the call's */
    size_t count, room;
} cobre_stage_values;

/** Gather from rows: the column that is usual for the table, else the first of real numbers. */
mcp_status cobre_chart_gather(cobre_stage_values *values, mcp_call *call,
                              const columns_table *rows);

/** Add the mean of each stage, and the band between the tenth and the ninetieth percentile; a text
 *  that says why not, where the rows have no stage or no such column. Sorts the values. */
mcp_status cobre_chart_stages(mcp_call *call, cobre_stage_values *values);

#endif
