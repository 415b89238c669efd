/*
 * layout.h - where groups put their systems: a group's own position, or a place on a grid.
 */
#ifndef UNIVERSE_LAYOUT_H
#define UNIVERSE_LAYOUT_H

#include "model/core.h"

typedef struct universe_layout universe_layout;

/* @return MCP_OK; *out is NULL where there are no groups; MCP_E_NOMEM */
mcp_status universe_layout_new(universe_layout **out, const universe_core *core, mcp_error *err);
void universe_layout_free(universe_layout *layout);

/* The place of a system: that in its group, or the origin. NULL is a layout without groups. */
void universe_layout_place(double xyz[3], universe_layout *layout, const universe_body *system);

#endif
