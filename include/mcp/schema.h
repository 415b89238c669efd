/**
 * schema.h - JSON Schema 2020-12: compile once, check many times.
 *
 * Every applicator, validation and reference keyword of the draft is supported, including
 * `$dynamicRef` and `unevaluated*`; `format` is an assertion only with `assert_formats`. Patterns
 * are ECMA-262 expressions. Nothing is fetched: the target of a `$ref` must be in the schema, in
 * `documents`, or be the draft's own meta-schema. A compiled schema is immutable; several threads
 * may use it at once.
 *
 * Formats that can assert: date-time, date, time, duration, email, hostname, ipv4, ipv6, uri,
 * uri-reference, uuid, json-pointer, relative-json-pointer, regex. Others accept every string.
 * `hostname` checks letters, digits, hyphens and lengths (RFC 1123); it does not decode A-labels
 * ("xn--..."), so those that IDNA2008 forbids are accepted.
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

/** A compiled, immutable schema. */
typedef struct mcp_schema mcp_schema;

/** A document that a `$ref` may refer to. Both fields are borrowed while the schema lives. */
typedef struct mcp_schema_document {
    const char *uri;        /* absolute, without fragment */
    const mcp_json *schema; /* the document */
} mcp_schema_document;

/** How to compile a schema. Zero is the default of every field. */
typedef struct mcp_schema_options {
    const char *base_uri;                 /* of a schema without `$id`; NULL: none */
    const mcp_schema_document *documents; /* may be NULL */
    size_t document_count;                /* number of documents */
    bool assert_formats;     /* false: `format` is an annotation, the draft's default */
    uint32_t subschemas_max; /* 0 means 10000 */
    uint64_t steps_max;      /* limit of one check; 0 means 1000000 */
} mcp_schema_options;

/** Every field at its default. */
#define MCP_SCHEMA_OPTIONS_INIT MCP_ZERO_INIT

/**
 * Where and why a value does not match: the first mismatch, at the deepest place that explains it.
 * The paths are JSON Pointers and belong to the scratch arena.
 */
typedef struct mcp_schema_finding {
    const char *keyword;       /* "required", "type", "minimum", ...; a constant */
    const char *instance_path; /* to the mismatching value, "" for the root */
    const char *schema_path;   /* to the keyword within its schema */
    const char *property;      /* name of the missing or unexpected member, else NULL */
    const mcp_json *expected;  /* the keyword's value; borrowed from the schema */
    const mcp_json *actual;    /* the mismatching value; borrowed */
    char message[240];         /* one line: the place and the rule */
} mcp_schema_finding;

/**
 * Compile a schema.
 *
 * @param out     yours, free it with mcp_schema_free
 * @param schema  an object or a boolean; borrowed while the compiled schema lives
 * @param options NULL for the defaults
 * @return MCP_OK; MCP_E_SCHEMA (not a valid schema, an unknown dialect, a `$ref` without target, a
 *         pattern that does not compile; the message has the JSON Pointer); MCP_E_LIMIT;
 *         MCP_E_NOMEM
 */
mcp_status mcp_schema_compile(mcp_schema **out, const mcp_json *schema,
                              const mcp_schema_options *options, mcp_error *err);

/** Free a compiled schema. NULL is allowed. */
void mcp_schema_free(mcp_schema *schema);

/**
 * Check a value.
 *
 * @param scratch memory of the check and of the finding's paths
 * @param finding filled when MCP_E_SCHEMA is returned; may be NULL
 * @return MCP_OK; MCP_E_SCHEMA (err and finding say where and why); MCP_E_LIMIT (more than
 *         steps_max steps, or a pattern's match limit: the value is neither valid nor invalid; the
 *         message has the place); MCP_E_NOMEM
 */
mcp_status mcp_schema_check(const mcp_schema *schema, const mcp_json *value, mcp_arena *scratch,
                            mcp_schema_finding *finding, mcp_error *err);

/**
 * As mcp_schema_check, with a budget that several checks share, such as all checks of one message.
 *
 * @param steps_left the limit in place of steps_max; reduced by the steps of this check; NULL: none
 */
mcp_status mcp_schema_check_within(const mcp_schema *schema, const mcp_json *value,
                                   uint64_t *steps_left, mcp_arena *scratch,
                                   mcp_schema_finding *finding, mcp_error *err);

#ifdef __cplusplus
}
#endif

#endif
