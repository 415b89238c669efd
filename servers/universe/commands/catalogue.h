/*
 * catalogue.h - the 25 commands in their 10 categories: one table from which commands are checked,
 * listed and described by JSON Schemas.
 */
#ifndef UNIVERSE_CATALOGUE_H
#define UNIVERSE_CATALOGUE_H

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/json.h"
#include "model/members.h"

#define UNIVERSE_CATEGORIES 10
#define UNIVERSE_COMMANDS 25

typedef struct universe_category {
    const char *id;   /* "star-crud" */
    const char *name; /* "Star CRUD": spelled as in the contract */
} universe_category;

/* One command type. Its members besides `type` are a shape, as those of entities are
 * (model/members.h). */
typedef struct universe_command_type {
    const char *type; /* "addStar" */
    const universe_category *category;
    const universe_shape *shape; /* required and optional members */
    const char *purpose;         /* a sentence or two */
    const char *rejections;      /* event types, comma-separated; "" for none of its own */
} universe_command_type;

extern const universe_category universe_categories[UNIVERSE_CATEGORIES];
extern const universe_command_type universe_command_types[UNIVERSE_COMMANDS];

/* The category of that id or name, in any case of letters; NULL when there is none. */
const universe_category *universe_category_find(const char *id);

/* The command of that type; NULL when there is none. */
const universe_command_type *universe_command_find(const char *type, size_t length);

/* The command as it may be sent: one JSON object a line (examples.c). */
const char *universe_command_examples(const universe_command_type *command);

/* The listing for people: a heading a category "(n commands)", a table and examples each. `only`
 * NULL: all categories. */
mcp_status universe_catalogue_markdown(mcp_buf *out, const universe_category *only);

/*
 * The listing for programs:
 * {"commandTypes":[...],
 *  "categories":[{"id","name","commands":[{"type","required","optional","schema"?}]}]}
 * The schemas are there where one category is asked for: all together they are long.
 */
void universe_catalogue_json(mcp_json_writer *writer, const universe_category *only);

/* The JSON Schema (2020-12) of one command; its entities are in line. */
void universe_command_schema(mcp_json_writer *writer, const universe_command_type *command);

/* {"oneOf":[all 25],"$defs":{entities}}, each variant with additionalProperties false. */
void universe_commands_schema(mcp_json_writer *writer);

/* Its two values alone, for a schema around it: the references are to "#/$defs/". */
void universe_commands_one_of(mcp_json_writer *writer);
void universe_commands_defs(mcp_json_writer *writer);

#endif
