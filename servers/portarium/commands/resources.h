/**
 * resources.h - what may be listed and looked at, as a table: `runs list`, `runs get ID`, ...
 */
#ifndef PORTARIUM_COMMANDS_RESOURCES_H
#define PORTARIUM_COMMANDS_RESOURCES_H

#include "commands/show/view.h"

/** A kind of documents. */
typedef struct portarium_resource {
    const char *name; /* the first word of its commands; NULL ends the table */
    const char *list; /* operation */
    const char *get;  /* operation; NULL: there is none */
    const char *id;   /* the variable of its path */
    const char *view; /* the argument `view` of `get`; NULL: none */
    portarium_shown columns[8];
    struct {
        const char *option, *argument;
    } filters[9]; /* of `list`, ended by NULL */
} portarium_resource;

/** The kind of the line's command. */
const portarium_resource *portarium_resource_of(const cli_line *line);

/** One document, with the id that is the line's first argument. */
mcp_status portarium_resource_get(const mcp_json **out, portarium_link *self,
                                  const portarium_resource *what, const char *id, mcp_error *err);

#endif
