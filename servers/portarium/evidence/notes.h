/**
 * notes.h - a file of checkpoints, one after the other, with an empty line between two.
 *
 * What is no whole checkpoint, as a writer that was killed leaves it, is passed over. Nothing is
 * verified here.
 */
#ifndef PORTARIUM_NOTES_H
#define PORTARIUM_NOTES_H

#include <stdio.h>

#include "evidence/note.h"

/** One of them. Valid during the call that gets it. */
typedef struct portarium_stored_note {
    char origin[PORTARIUM_ORIGIN_MAX + 1];
    uint64_t size;
    const char *note; /* for portarium_checkpoint_open */
    size_t length;
} portarium_stored_note;

/** Gets each checkpoint, in the order of the file. @return MCP_OK: go on */
typedef mcp_status portarium_on_note(const portarium_stored_note *note, void *data, mcp_error *err);

/** Read a file to its end. @return MCP_OK; MCP_E_IO; a status of `on_note`, which ends it */
mcp_status portarium_notes_read(FILE *file, portarium_on_note *on_note, void *data, mcp_error *err);

#endif
