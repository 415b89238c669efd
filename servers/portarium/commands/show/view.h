/**
 * view.h - documents of a plane on a terminal and in a pipe: tables, one document in full, JSON.
 *
 * Texts of others are shown by text.h; ids are never cut. Times are those of this machine on a
 * terminal, and RFC 3339 elsewhere.
 */
#ifndef PORTARIUM_COMMANDS_SHOW_VIEW_H
#define PORTARIUM_COMMANDS_SHOW_VIEW_H

#include "commands/link.h"

/** What a column of a table shows. */
typedef enum portarium_cell {
    PORTARIUM_CELL_TEXT,  /* as it is */
    PORTARIUM_CELL_WORDS, /* of people: cut on a terminal, where it is long */
    PORTARIUM_CELL_TIME,
    PORTARIUM_CELL_COUNT /* how many members a list has */
} portarium_cell;

typedef struct portarium_shown {
    const char *title;
    const char *pointer; /* "/links/runIds" (RFC 6901); NULL ends a table */
    portarium_cell cell;
} portarium_shown;

/** Print a table of objects. */
mcp_status portarium_view_table(portarium_link *self, const portarium_shown *columns,
                                const mcp_json *const *items, size_t count, mcp_error *err);

/** Print an object in full: a line a member, nested ones indented. */
mcp_status portarium_view_document(portarium_link *self, FILE *stream, const mcp_json *document,
                                   mcp_error *err);

/** Print a value as one line of JSON. */
mcp_status portarium_view_json(portarium_link *self, const mcp_json *value, mcp_error *err);

/** Print the answer of a command: as JSON, or in full. */
mcp_status portarium_view_answer(portarium_link *self, const mcp_json *answer, mcp_error *err);

/** A value on one line; NULL: there is none. In the link's arena. */
const char *portarium_view_text(portarium_link *self, const mcp_json *value);

#endif
