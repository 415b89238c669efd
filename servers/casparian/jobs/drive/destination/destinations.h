/*
 * destinations.h - the sinks of a run, and which of them an output goes to.
 *
 * A run has one sink, or routes by the names of outputs (casparian_spec.routes). The folder of a
 * sink is opened, and made where it is missing, when the first output goes there.
 */
#ifndef CASPARIAN_JOBS_DRIVE_DESTINATION_DESTINATIONS_H
#define CASPARIAN_JOBS_DRIVE_DESTINATION_DESTINATIONS_H

#include "jobs/drive/drive.h"

/* Read the sinks. `self->uri` and `self->spec` are there. As casparian_sink_uri_read. */
mcp_status casparian_destinations_read(casparian_drive *self, mcp_error *err);

/* The sink of an output. MCP_E_NOT_FOUND: no route is for it. */
mcp_status casparian_destination_find(casparian_destination **out, const casparian_drive *self,
                                      const char *output, mcp_error *err);

/* The place of an output, or of its quarantine table, in self->outputs.sink. MCP_E_NOT_FOUND;
 * MCP_E_PARAMS: a database has its quarantine tables itself; as casparian_sink_add_place; as
 * guard_open_or_make_dir. */
mcp_status casparian_destination_place(size_t *out, casparian_drive *self, const char *output,
                                       bool is_quarantine, mcp_error *err);

/* Open the sink of a run, without tables. A failure is the job's. */
mcp_status casparian_destinations_open(casparian_drive *self, mcp_error *err);

void casparian_destinations_close(casparian_drive *self);

#endif
