/**
 * template.h - texts with places for values: `${parameters.customer.id}`.
 *
 * References:
 *
 *     ${parameters}, ${parameters.x.y}         the run's parameters, or a value within them
 *     ${actions.ID.output}, ${actions.ID.output.x}   what an action gave
 *     ${run.id}
 *     ${credential}                            in a header, where the caller has one
 *
 * After `parameters` and `output` a path is parts with dots (a decimal number is an array's index),
 * or a JSON Pointer: `${parameters/x.y/0}`. There is no other code, and no escape: `${` always
 * begins a reference. A value never becomes a template itself. Pure functions; any thread.
 */
#ifndef PORTARIUM_TEMPLATE_H
#define PORTARIUM_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/buf.h"
#include "mcp/error.h"
#include "mcp/json.h"

/** What a reference refers to. */
typedef enum portarium_reference_kind {
    PORTARIUM_REFERS_TO_PARAMETERS,
    PORTARIUM_REFERS_TO_OUTPUT,
    PORTARIUM_REFERS_TO_RUN_ID,
    PORTARIUM_REFERS_TO_CREDENTIAL,
} portarium_reference_kind;

/** A reference; the texts are borrowed from the template. */
typedef struct portarium_reference {
    portarium_reference_kind kind;
    const char *text; /* all of it, "${" and "}" included */
    size_t length;
    const char *action; /* the action's id, for PORTARIUM_REFERS_TO_OUTPUT */
    size_t action_length;
    const char *path; /* "" or from its first '.' or '/' */
    size_t path_length;
} portarium_reference;

/** Receives each reference of a template; a status other than MCP_OK ends the scan. */
typedef mcp_status portarium_template_visit(const portarium_reference *reference, void *data,
                                            mcp_error *err);

/**
 * Read the references of one text without resolving them.
 *
 * @return MCP_OK; MCP_E_PARSE (err->offset says where: not a reference, or it does not end); what
 *         `visit` returns
 */
mcp_status portarium_template_scan(const char *text, size_t length, portarium_template_visit *visit,
                                   void *data, mcp_error *err);

/** The values of references. */
typedef struct portarium_scope {
    const mcp_json *parameters; /* NULL: none */
    const char *run_id;
    const char *credential; /* NULL: ${credential} is refused */
    /* The output of an action, NULL when it has none. */
    const mcp_json *(*output)(const char *action, size_t length, void *data);
    void *data;
} portarium_scope;

/**
 * Write a JSON template with its references resolved. A string that is one reference becomes the
 * value; a reference within a longer string becomes the text of a string, number or boolean. Names
 * of members are no templates and may not contain `${`.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND (a reference without value; the message names it); MCP_E_PARAMS
 *         (a value that is no text, within a text); MCP_E_DENIED (${credential}); MCP_E_PARSE; the
 *         writer's status
 */
mcp_status portarium_template_body(mcp_json_writer *out, const mcp_json *body,
                                   const portarium_scope *scope, mcp_error *err);

/**
 * Append a URL. Scheme, host and port are literal: the first reference comes after them, in one
 * segment of the path or in the query, and its value is percent-encoded. A segment that a value
 * makes empty, "." or ".." is refused.
 *
 * @param scope NULL: every value is "x", to check the template itself
 * @return as portarium_template_body; MCP_E_PARAMS also when it is not http or https with a literal
 *         host, has user information, a fragment or characters that no URL has
 */
mcp_status portarium_template_url(mcp_buf *out, const char *url, const portarium_scope *scope,
                                  mcp_error *err);

/**
 * Append the value of a header field. ${credential} is allowed when the scope has one.
 *
 * @param scope NULL: every value is "x", to check the template itself
 * @return as portarium_template_body; MCP_E_PARAMS also for a control character
 */
mcp_status portarium_template_header(mcp_buf *out, const char *text, const portarium_scope *scope,
                                     mcp_error *err);

#endif
