/*
 * note.c - evidence and events of operations.
 */
#include "service/note.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SUMMARY_MAX = 512 };

mcp_status portarium_note(portarium_tx *tx, const portarium_event *event, mcp_error *err,
                          const char *summary, ...)
{
    char text[SUMMARY_MAX];
    va_list arguments;
    bool is_work_item = event && strcmp(event->kind, "workitem") == 0;
    va_start(arguments, summary);
    vsnprintf(text, sizeof text, summary, arguments);
    va_end(arguments);
    const portarium_evidence entry = { .category = "OperatorSurface",
                                       .summary = text,
                                       .run_id = event ? event->run_id : NULL,
                                       .work_item_id = is_work_item ? event->id : NULL };
    mcp_status st = portarium_evidence_add(tx, &entry, err);
    return st == MCP_OK && event ? portarium_event_add(tx, event, err) : st;
}
