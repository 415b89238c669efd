/**
 * definition.h - the schema of one output: its columns and how strictly rows are held against them.
 *
 * A definition is read from JSON with all that is wrong with it, is immutable then, and has one
 * canonical form, whose SHA-256 names it: definitions that differ in the order of members, in
 * aliases or in omitted defaults only have one hash, all others have different ones.
 */
#ifndef CASPARIAN_SCHEMA_DEFINITION_H
#define CASPARIAN_SCHEMA_DEFINITION_H

#include "mcp/buf.h"
#include "mcp/hash.h"
#include "schema/format.h"
#include "schema/type.h"

#define CASPARIAN_COLUMNS_MAX 2000
#define CASPARIAN_COLUMN_NAME_MAX 128
#define CASPARIAN_OUTPUT_NAME_MAX 63
#define CASPARIAN_OUTPUTS_MAX 64

/** Room for a hash as 64 hexadecimal digits, with its NUL. */
#define CASPARIAN_HASH_SIZE (2 * MCP_SHA256_SIZE + 1)

/** What happens to a row that lacks columns or has more. */
typedef enum casparian_mode {
    CASPARIAN_MODE_STRICT,                 /* both are violations */
    CASPARIAN_MODE_ALLOW_EXTRA,            /* more columns are dropped and counted */
    CASPARIAN_MODE_ALLOW_MISSING_OPTIONAL, /* missing nullable columns are null */
} casparian_mode;

/** "strict", and so on. */
const char *casparian_mode_text(casparian_mode mode);

/** A column. Strings live in the arena of the definition. */
typedef struct casparian_column {
    const char *name;
    casparian_type type;
    bool is_nullable;
    const char *pattern;            /* of a temporal column, as declared; NULL: none */
    const casparian_format *format; /* compiled; NULL: none */
} casparian_column;

typedef struct casparian_definition {
    const char *output;
    casparian_mode mode;
    size_t count;
    const casparian_column *columns;
    char hash[CASPARIAN_HASH_SIZE]; /* of the canonical form */
} casparian_definition;

/** Definitions by output, in the order of the JSON object. */
typedef struct casparian_schemas {
    size_t count;
    const casparian_definition *items;
} casparian_schemas;

/**
 * Receives something that is wrong. Called on the thread of the reader, in the order of the input.
 *
 * @param place   a JSON Pointer into what is read: "/columns/2/type"; borrowed
 * @param message one line; borrowed
 */
typedef void casparian_report(void *data, const char *place, const char *message);

/**
 * Read a definition.
 *
 * @param out    everything in the arena
 * @param report called for each error; may be NULL
 * @return MCP_OK; MCP_E_SCHEMA: something is wrong with it (err has the first error); MCP_E_NOMEM
 */
mcp_status casparian_definition_read(casparian_definition *out, mcp_arena *arena,
                                     const mcp_json *json, casparian_report *report, void *data,
                                     mcp_error *err);

/** Read an object of definitions by output, each under its `output_name`. As above. */
mcp_status casparian_schemas_read(casparian_schemas *out, mcp_arena *arena, const mcp_json *json,
                                  casparian_report *report, void *data, mcp_error *err);

/** Whether an output may not have that name, since it is that of a view of the output x: "x__all",
 *  "x__schema_" and 8 digits, "x_quarantine". */
bool casparian_output_name_is_reserved(const char *name);

/** How it ends, for messages. */
#define CASPARIAN_OUTPUT_NAME_RESERVED                                                             \
    "names that end in __all, _quarantine or __schema_ and 8 digits are those of views"

/** The definition of an output; NULL: there is none. */
const casparian_definition *casparian_schemas_find(const casparian_schemas *schemas,
                                                   const char *output);

/** Append the canonical form: members in byte order, no whitespace, columns as declared.
 *  @return the buffer's status */
mcp_status casparian_definition_canonical(mcp_buf *out, const casparian_definition *definition);

/** The hash that the plugin protocol has: of name, type, nullable and format of the columns alone.
 *  @return MCP_OK; MCP_E_NOMEM, MCP_E_INTERNAL */
mcp_status casparian_definition_protocol_hash(char out[CASPARIAN_HASH_SIZE],
                                              const casparian_definition *definition,
                                              mcp_error *err);

/**
 * The SHA-256 of texts, each followed by one byte 0x1F, as hexadecimal digits.
 *
 * @param parts texts; NULL is an empty one
 * @return MCP_OK; MCP_E_NOMEM, MCP_E_INTERNAL
 */
mcp_status casparian_hash_parts(char out[CASPARIAN_HASH_SIZE], const char *const *parts,
                                size_t count, mcp_error *err);

#endif
