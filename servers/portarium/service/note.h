/**
 * note.h - the evidence and the event of a change that a person or an agent made by an operation.
 */
#ifndef PORTARIUM_SERVICE_NOTE_H
#define PORTARIUM_SERVICE_NOTE_H

#include "store/journal.h"

/**
 * Add evidence of the category OperatorSurface, and the event.
 *
 * @param event   NULL: none; an event of the kind "workitem" links the evidence to the work item
 * @param summary one line
 */
mcp_status portarium_note(portarium_tx *tx, const portarium_event *event, mcp_error *err,
                          const char *summary, ...) MCP_PRINTF(4, 5);

#endif
