/**
 * schema.h - JSON Schema 2020-12: compile once, check many times.
 *
 * Every applicator, validation and reference keyword of the draft is served, `$dynamicRef` and
 * `unevaluated*` included; `format` asserts only when asked. Patterns are ECMA-262 expressions. Nothing
 * is ever fetched: what a `$ref` names must be in the schema, in `documents`, or be the draft's own
 * meta-schema. A compiled schema never changes and may be used by several threads at once.
 *
 * Source: JSON Schema Core and Validation, draft 2020-12.
 */
#ifndef MCP_SCHEMA_H
#define MCP_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A compiled schema. It never changes. */
typedef struct mcp_schema mcp_schema;

/** A document that a `$ref` may name. Both are borrowed while the schema lives. */
typedef struct mcp_schema_document {
    const char *uri; /* absolute, without fragment */
    const mcp_json *schema; /* the document */
} mcp_schema_document;

/** How to compile a schema. Zero is the default of every field. */
typedef struct mcp_schema_options {
    const char *base_uri;                 /* of a schema without $id; NULL: none */
    const mcp_schema_document *documents; /* may be NULL */
    size_t document_count;                /* how many those are */
    bool assert_formats;                  /* false: `format` is an annotation, as the draft has it */
    uint32_t subschemas_max;              /* 0 means 10000 */
    uint64_t steps_max;                   /* work one check may do; 0 means 1000000 */
} mcp_schema_options;

/** Every field at its default. */
#define MCP_SCHEMA_OPTIONS_INIT { 0, 0, 0, 0, 0, 0 }
/* clang-format on */

/**
 * Where and why a value does not fit: the first finding, at the deepest place that explains it. The
 * paths are JSON Pointers and the scratch arena's.
 */
typedef struct mcp_schema_finding {
    const char *keyword;       /* "required", "type", "minimum", ...; a constant */
    const char *instance_path; /* to the value at fault, "" for the root */
    const char *schema_path;   /* to the keyword within its schema */
    const char *property;      /* the missing or surplus member's name, else NULL */
    const mcp_json *expected;  /* the keyword's own value; borrowed from the schema */
    const mcp_json *actual;    /* the value at fault; borrowed */
    char message[240];         /* one line: the place and the rule */
} mcp_schema_finding;

/**
 * Compile a schema.
 *
 * @param out     yours, free it with mcp_schema_free
 * @param schema  an object or a boolean; borrowed while the compiled schema lives
 * @param options NULL for the defaults
 * @return MCP_OK; MCP_E_SCHEMA (not a valid schema, an unknown dialect, a `$ref` that leads nowhere, a
 *         pattern that does not compile; the message has the JSON Pointer); MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status mcp_schema_compile(mcp_schema **out, const mcp_json *schema,
                              const mcp_schema_options *options, mcp_error *err);

/** NULL is fine. */
void mcp_schema_free(mcp_schema *schema);

/**
 * Check a value.
 *
 * @param scratch pays for the check's own needs and for the finding's paths
 * @param finding filled when MCP_E_SCHEMA is returned; may be NULL
 * @return MCP_OK; MCP_E_SCHEMA (err and finding say where and why); MCP_E_LIMIT (more than steps_max
 *         steps, or a pattern's match limit: the value is neither right nor wrong; the message has the place); MCP_E_NOMEM
 */
mcp_status mcp_schema_check(const mcp_schema *schema, const mcp_json *value, mcp_arena *scratch,
                            mcp_schema_finding *finding, mcp_error *err);

/**
 * The same, where several checks share one budget, such as all that one message causes.
 *
 * @param steps_left what the check may do in place of steps_max; shrinks by what it did
 */
mcp_status mcp_schema_check_within(const mcp_schema *schema, const mcp_json *value,
                                   uint64_t *steps_left, mcp_arena *scratch,
                                   mcp_schema_finding *finding, mcp_error *err);

#ifdef __cplusplus
}
#endif

#endif
