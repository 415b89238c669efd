/**
 * fields.h - the list of what is wrong with a body, for the `errors` of a 422 answer.
 *
 * A reader adds every error that it finds, so that a client sees them all at once; the first 50 are
 * kept. A field is a JSON Pointer into the body: "/actions/0/operation", or the pointer of a member
 * that is missing; "" is the body itself.
 */
#ifndef PORTARIUM_FIELDS_H
#define PORTARIUM_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

/** Maximum number of errors that are kept. */
#define PORTARIUM_FIELDS_MAX 50

/** One error; both texts are the arena's. */
typedef struct portarium_field {
    const char *field;
    const char *message;
} portarium_field;

/** The list. Callers read items and count. */
typedef struct portarium_fields {
    mcp_arena *arena;
    size_t count;
    bool is_out_of_memory; /* an error was lost */
    portarium_field items[PORTARIUM_FIELDS_MAX];
} portarium_fields;

/** Begin an empty list, whose texts will be the arena's. */
void portarium_fields_init(portarium_fields *fields, mcp_arena *arena);

/** Add an error. `field` is copied. */
void portarium_fields_add(portarium_fields *fields, const char *field, const char *format, ...)
    MCP_PRINTF(3, 4);

/** A pointer one level deeper, in the list's arena: `base` "/actions" and `name` "0" give
 *  "/actions/0"; '~' and '/' of the name are escaped. @return never NULL; "" when out of memory */
const char *portarium_fields_at(portarium_fields *fields, const char *base, const char *name);
/** The same for the index of an array's item. */
const char *portarium_fields_index(portarium_fields *fields, const char *base, size_t index);

/** Add an error for each object of a list whose text member `member` an earlier one has, too. Up to
 *  a thousand items, as every pair is compared. */
void portarium_fields_judge_unique(portarium_fields *fields, const mcp_json *list,
                                   const char *member, const char *place);

/** MCP_OK when nothing was added; MCP_E_SCHEMA (err has the first error); MCP_E_NOMEM. */
mcp_status portarium_fields_status(const portarium_fields *fields, mcp_error *err);

/** Write the array of {"field","message"}. */
void portarium_fields_write(mcp_json_writer *out, const portarium_fields *fields);

#endif
