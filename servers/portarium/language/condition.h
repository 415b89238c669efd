/**
 * condition.h - the conditions of policies and of actions: a text that is true, false or an error.
 *
 *     actor.roles contains 'operator' && (run.parameters.amount > 1000 || env == "prod")
 *
 * Literals: strings in either quote (backslash before a quote or a backslash), JSON numbers, true,
 * false, null. Names: identifiers joined by dots; after the first, a part may begin with a digit or
 * a hyphen. Operators, loosest first: `||`; `&&`; `==` `===` `!=` `!==`; `<` `<=` `>` `>=` `in`
 * `contains`; `!`. Parentheses.
 *
 * There are no conversions. `&&`, `||` and `!` take booleans and skip what they need not know.
 * Equality compares scalars, and values of different types are unequal; the forms with two and
 * three characters mean the same. Order compares two numbers, or two strings byte by byte.
 * `x in y` is `y contains x`: an array has an equal scalar, or a string has the string. Anything
 * else is an error, which the caller must treat as a refusal, never as false.
 */
#ifndef PORTARIUM_CONDITION_H
#define PORTARIUM_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

/** Maximum characters of a text, and steps of one evaluation: each literal, name and operator is
 *  one, and each item of an array that `in` or `contains` compares. */
#define PORTARIUM_CONDITION_MAX 512
#define PORTARIUM_CONDITION_STEPS_MAX 1000
/** Maximum nesting of parentheses and of `!`. */
#define PORTARIUM_CONDITION_DEPTH_MAX 32

/** A parsed condition. Immutable; any thread. */
typedef struct portarium_condition portarium_condition;

/**
 * The value of a name.
 *
 * @param out  untouched when the name has no value: it is then null
 * @param name its text, `length` bytes: "run.parameters.amount"
 * @return MCP_OK; MCP_E_NOT_FOUND when there can be no such name, which is an error of the
 *         evaluation; another status, which the evaluation returns
 */
typedef mcp_status portarium_condition_get(const mcp_json **out, const char *name, size_t length,
                                           void *data);

/**
 * Parse a condition.
 *
 * @param out  the arena's; untouched unless MCP_OK is returned
 * @param text UTF-8 without NUL; not kept
 * @return MCP_OK; MCP_E_PARSE (err->offset says where); MCP_E_LIMIT (too long, or nested too
 *         deep); MCP_E_NOMEM
 */
mcp_status portarium_condition_parse(const portarium_condition **out, mcp_arena *arena,
                                     const char *text, size_t length, mcp_error *err);

/**
 * Evaluate a condition.
 *
 * @param out  untouched unless MCP_OK is returned
 * @param get  gives the values of names, with `data`
 * @return MCP_OK; MCP_E_PARAMS (an operand of the wrong type, an unknown name, or a result that is
 *         no boolean); MCP_E_LIMIT (more than PORTARIUM_CONDITION_STEPS_MAX steps); what `get`
 *         returns
 */
mcp_status portarium_condition_judge(bool *out, const portarium_condition *condition,
                                     portarium_condition_get *get, void *data, mcp_error *err);

/**
 * A portarium_condition_get over one object, the `data`: the first part of a name must be a member
 * of it, the others lead deeper into objects; what is not there is null.
 */
mcp_status portarium_condition_get_member(const mcp_json **out, const char *name, size_t length,
                                          void *data);

/** The i-th name in the text, in its order; NULL behind the last. */
const char *portarium_condition_name(const portarium_condition *condition, size_t index);

#endif
