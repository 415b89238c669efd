/*
 * feature.h - the seam between the method table and the features.
 *
 * Each feature is an object with the same five verbs: new, load (once for each mcp_server_add whose
 * table for it is not NULL), free, and for each of its methods one function that the method table
 * calls on the loop. Such a function must not block, and ends in one of three ways:
 *
 *   the answer is known     write the members of `result` to mcp_call_result(call), return MCP_OK
 *   a handler must run      set call->request.name, arguments and in call->plan kind, feature, schema, run, data, flags,
 *                           timeout_ms; return MCP_OK. The kind's `finish` then writes the members of `result` on
 *                           the worker, from call->answer
 *   it cannot be            fill call->err (mcp_error_set), maybe mcp__call_error_data(call), and
 *                           return the status
 *
 * `run` NULL is fine: the result is then written by `finish` on the loop.
 * What is loaded never changes afterwards, so workers may read it without a lock.
 */
#ifndef MCP_FEATURE_FEATURE_H
#define MCP_FEATURE_FEATURE_H

#include <stdbool.h>

#include "mcp/core/call/call_int.h"
#include "mcp/error.h"
#include "mcp/feature/list/list.h"
#include "mcp/server.h"

typedef struct mcp__tools mcp__tools;
typedef struct mcp__resources mcp__resources;
typedef struct mcp__prompts mcp__prompts;
typedef struct mcp__completions mcp__completions;

/* `options` of all: borrowed while the object lives; every default is filled in. */

mcp_status mcp__tools_new(mcp__tools **out, const mcp_server_options *options, mcp_error *err);
void mcp__tools_free(mcp__tools *tools);
mcp_status mcp__tools_load(mcp__tools *tools, const mcp_features *features, mcp_error *err);
mcp_status mcp__tools_list(mcp__tools *tools, mcp_call *call);
mcp_status mcp__tools_call(mcp__tools *tools, mcp_call *call);

/** Append the scopes that tools ask for; likewise below. */
void mcp__tools_scopes(const mcp__tools *tools, mcp_buf *out);

/** The scopes that a tool asks for, NULL: none; likewise below. */
const char *mcp__tools_scopes_of(const mcp__tools *tools, const char *name);

/** A text with the names of tools as lists of that revision show them: itself, or a copy in the
 *  arena. */
const char *mcp__tools_text(mcp__tools *tools, mcp_arena *arena, const char *text,
                            mcp_revision revision);

/** How many MCP_LONG calls may run at once: the sum of their max_running. */
int mcp__tools_long_threads(const mcp__tools *tools);

mcp_status mcp__resources_new(mcp__resources **out, const mcp_server_options *options,
                              mcp_error *err);
void mcp__resources_free(mcp__resources *resources);
mcp_status mcp__resources_load(mcp__resources *resources, const mcp_features *features,
                               mcp_error *err);
mcp_status mcp__resources_list(mcp__resources *resources, mcp_call *call);
mcp_status mcp__resources_templates(mcp__resources *resources, mcp_call *call);
mcp_status mcp__resources_read(mcp__resources *resources, mcp_call *call);
void mcp__resources_scopes(const mcp__resources *resources, mcp_buf *out);
const char *mcp__resources_scopes_of(const mcp__resources *resources, const char *uri);

mcp_status mcp__prompts_new(mcp__prompts **out, const mcp_server_options *options, mcp_error *err);
void mcp__prompts_free(mcp__prompts *prompts);
mcp_status mcp__prompts_load(mcp__prompts *prompts, const mcp_features *features, mcp_error *err);
mcp_status mcp__prompts_list(mcp__prompts *prompts, mcp_call *call);
mcp_status mcp__prompts_get(mcp__prompts *prompts, mcp_call *call);
void mcp__prompts_scopes(const mcp__prompts *prompts, mcp_buf *out);
const char *mcp__prompts_scopes_of(const mcp__prompts *prompts, const char *name);

/** The prompt of that name, registered or safe, as registered; NULL: none that `call` may know
 *  of. */
const char *mcp__prompts_name(const mcp__prompts *prompts, const mcp_call *call, const char *name);
bool mcp__prompts_has(const mcp__prompts *prompts, const char *name, const char *argument);

/** The exact resource, or the template by its own text, as registered; NULL: none that `call`
 *  may know of. */
const char *mcp__resources_name(const mcp__resources *resources, const mcp_call *call,
                                const char *uri);
/** Whether there is such a URI, and all that could read it is hidden from `call`. */
bool mcp__resources_hides(const mcp__resources *resources, mcp_call *call, const char *uri);
bool mcp__resources_has(const mcp__resources *resources, const char *uri, const char *variable);

/** `prompts` and `resources` are borrowed: what can be completed. */
mcp_status mcp__completions_new(mcp__completions **out, const mcp_server_options *options,
                                const mcp__prompts *prompts, const mcp__resources *resources,
                                mcp_error *err);
void mcp__completions_free(mcp__completions *completions);
mcp_status mcp__completions_load(mcp__completions *completions, const mcp_features *features,
                                 mcp_error *err);
mcp_status mcp__completions_complete(mcp__completions *completions, mcp_call *call);

#endif
