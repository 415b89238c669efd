/**
 * plot.h - charts of a run: bounds by iteration, and a result by stage.
 */
#ifndef COBRE_CHART_PLOT_H
#define COBRE_CHART_PLOT_H

#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/buf.h"

/** One curve, and a band around it. What is not finite is left out. */
typedef struct plot_curve {
    const char *name;         /* lower-case letters */
    const double *y;          /* one an x */
    const double *low, *high; /* NULL: no band */
} plot_curve;

typedef struct plot {
    const char *title, *x_name; /* lower-case letters */
    const double *x;            /* ascending */
    size_t count;
    plot_curve curves[2];
    size_t curve_count;
} plot;

/**
 * Append a chart as a PNG file.
 *
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT (of `out`)
 */
mcp_status plot_png(mcp_buf *out, const plot *self, mcp_arena *arena);

#endif
