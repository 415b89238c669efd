/*
 * uri_template.h - URI templates (RFC 6570) read backwards: from a URI to its variables.
 */
#ifndef MCP_FEATURE_URI_TEMPLATE_H
#define MCP_FEATURE_URI_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

#define MCP__URI_TEMPLATE_MAX 2048  /* bytes of a template */
#define MCP__URI_EXPRESSIONS_MAX 16 /* `{...}` in a template */
#define MCP__URI_VARIABLES_MAX 32   /* names in all its expressions */
#define MCP__URI_MAX 16384          /* bytes of a URI that is matched */

/** A compiled template. Never changes; may be matched by several threads at once. */
typedef struct mcp__uri_template mcp__uri_template;

typedef enum mcp__uri_slashes {
    MCP__SLASHES_ENCODED, /* as RFC 6570 expands: '/' within `{x}` must come as %2F */
    MCP__SLASHES_RAW /* the template's first `{x}` also takes raw slashes, when text follows it */
} mcp__uri_slashes;

/**
 * Compile a template.
 *
 * @param out   the arena's
 * @param text  borrowed while the template lives
 * @return MCP_OK; MCP_E_PARAMS (not a template, an operator that cannot be matched, two adjacent
 *         variables); MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status mcp__uri_template_compile(const mcp__uri_template **out, mcp_arena *arena,
                                     const char *text, mcp_error *err);

/**
 * Match a URI and read its variables, percent-decoded once.
 *
 * @param out an object in the arena: a string for each variable that the URI has, an array of
 *            strings for an exploded one (`{x*}`); a `{?x}` that the URI leaves out is absent
 * @return MCP_OK; MCP_E_NOT_FOUND (another form); MCP_E_PARAMS (a bad escape, a NUL, text that is
 *         not UTF-8, a URI too long); MCP_E_NOMEM; MCP_E_LIMIT (the arena's)
 */
mcp_status mcp__uri_template_match(const mcp_json **out, const mcp__uri_template *template,
                                   const char *uri, size_t length, mcp__uri_slashes slashes,
                                   mcp_arena *arena, mcp_error *err);

/** True when the template has a variable of that name. */
bool mcp__uri_template_has(const mcp__uri_template *template, const char *variable);

/** True when the text has an expression, so that it is a template and not a URI. */
bool mcp__uri_is_template(const char *text);

#endif
