/*
 * features.h - the features that a server offers at one time, and the seam between the method table
 * and them.
 *
 * Each of their methods is one function that the method table calls on the loop. Such a function
 * must not block, and ends in one of three ways:
 *
 *   the answer is known     write the members of `result` to mcp_call_result(call), return MCP_OK
 *   a handler must run      set call->request.name, arguments and in call->plan kind, feature,
 *                           schema, run, data, flags, timeout_ms; return MCP_OK. The kind's
 *                           `finish` then writes the members of `result` on the worker, from
 *                           call->answer
 *   it cannot be            fill call->err (mcp_error_set), maybe mcp_call_error_data(call), and
 *                           return the status
 *
 * `run` NULL is fine: the result is then written by `finish` on the loop.
 */
#ifndef MCP_FEATURES_H
#define MCP_FEATURES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/map.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/subscriptions/subscriptions.h"
#include "mcp/feature/list.h"
#include "mcp/server.h"

/** What a server can do, as a bit each; a method whose bit is not set does not exist for it. */
enum mcp__capability {
    MCP__CAN_ALWAYS = 0,
    MCP__CAN_TOOLS = 1 << 0,
    MCP__CAN_RESOURCES = 1 << 1,
    MCP__CAN_PROMPTS = 1 << 2,
    MCP__CAN_COMPLETIONS = 1 << 3,
    MCP__CAN_LOGGING = 1 << 4,
    MCP__CAN_SUBSCRIBE = 1 << 5, /* changes of resources are notified */
    MCP__CAN_CHANGE = 1 << 6,    /* changes of lists are notified */
    MCP__CAN_TASKS = 1 << 7      /* a tool may be one */
};

/** Never changes once a call can see it, so workers may read it without a lock: a change makes
 *  another set. */
struct mcp__features {
    atomic_int holders; /* who may look at it; the last one frees it */
    unsigned capabilities;
    const mcp_server_options *options; /* borrowed; every default is filled in */
    mcp_arena *arena;                  /* pays for all but the schemas of tools */
    mcp__list tools;
    mcp__list resources; /* of exact URIs */
    mcp__list templates;
    mcp__list prompts;
    mcp__map completions;                        /* "<of>\n<argument>" to its row and data */
    struct mcp__listed_resource *first_template; /* in the order of the tables */
    struct mcp__listed_resource **last_template;
    const mcp_tool *tool_rows; /* that are being loaded: their names are registered, too */
    int long_threads;          /* how many MCP_LONG calls may run: the sum of their max_running */
};

/** An empty set with one holder. @param out yours, end it with mcp__features_drop */
mcp_status mcp__features_new(mcp__features **out, const mcp_server_options *options,
                             mcp_error *err);

/** Add features, while nobody else sees the set. */
mcp_status mcp__features_load(mcp__features *set, const mcp_features *features, mcp_error *err);

/** The bits of enum mcp__capability that some features stand for. */
unsigned mcp__features_capabilities(const mcp_features *features);

/** The lists of such capabilities, enum mcp__list_kind. */
unsigned mcp__features_lists(unsigned capabilities);

/** Any thread, when no holder is left. */
void mcp__features_free(mcp__features *set);

/** Any thread. One holder less; NULL is fine. */
static inline void mcp__features_drop(const mcp__features *set)
{
    mcp__features *held = (mcp__features *)set; /* only the count of a shared set ever changes */

    if (held && atomic_fetch_sub(&held->holders, 1) == 1)
        mcp__features_free(held);
}

/** The feature of that name, registered or safe, or of that URI or template; NULL: none. */
mcp__feature *mcp__features_find(const mcp__features *set, mcp_feature kind, const char *name,
                                 size_t length);

/** As mcp__features_find, among those that the client of a call may know of. */
mcp__feature *mcp__features_find_shown(const mcp_call *call, mcp_feature kind, const char *name,
                                       size_t length);

/** Whether the path is "<folder>/ANYTHING<end>". */
bool mcp__features_has_file(const char *path, const char *folder, const char *end);

/** Which clients are notified of a change; NULL: everybody may know of everything. */
const mcp__visibility *mcp__features_visibility(const mcp_server_options *options);

/**
 * Describe features for mcp__visibility, with the scopes that they have in a set. A feature that
 * went is in no set any more, so its description is kept from when it is first added.
 *
 * @param out      filled, in `arena`; unchanged on failure
 * @param set      has the features
 * @param features their names are borrowed
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status mcp__features_describe(mcp__list_change *out, mcp_arena *arena, const mcp__features *set,
                                  const mcp_features *features, mcp_error *err);

/* ---- one kind each --------------------------------------------------------------------------- */

/* Each is called where the table of its kind is not NULL. */
mcp_status mcp__tools_load(mcp__features *set, const mcp_features *features, mcp_error *err);
mcp_status mcp__resources_load(mcp__features *set, const mcp_features *features, mcp_error *err);
mcp_status mcp__prompts_load(mcp__features *set, const mcp_features *features, mcp_error *err);
mcp_status mcp__completions_load(mcp__features *set, const mcp_features *features, mcp_error *err);

/** Free what the set's arena does not pay for. */
void mcp__tools_free(mcp__features *set);

mcp_status mcp__tools_call(mcp_call *call);
mcp_status mcp__resources_read(mcp_call *call);
mcp_status mcp__prompts_get(mcp_call *call);
mcp_status mcp__completions_complete(mcp_call *call);
mcp_status mcp__tasks_get(mcp_call *call);
mcp_status mcp__tasks_update(mcp_call *call);
mcp_status mcp__tasks_result(mcp_call *call);
mcp_status mcp__tasks_cancel(mcp_call *call);
mcp_status mcp__tasks_list(mcp_call *call);

/**
 * Whether a call of a tool may run as its client wants it, as a task or not, on a server with
 * tasks. Its flags are set. Where it is to be a task at once, call->task.begins is set.
 *
 * @return MCP_OK; MCP_E_METHOD, MCP_E_CAPABILITY, MCP_E_PARAMS: call->err says why
 */
mcp_status mcp__tasks_decide(mcp_call *call);

/** A text with the names of tools as lists of that revision show them: itself, or a copy in the
 *  arena. */
const char *mcp__tools_text(const mcp__features *set, mcp_arena *arena, const char *text,
                            mcp_revision revision);

/** Whether the prompt of that registered name has that argument. */
bool mcp__prompts_has(const mcp__features *set, const char *name, const char *argument);

/** Whether that template has that variable. */
bool mcp__resources_has(const mcp__features *set, const char *uri, const char *variable);

/** Whether there is such a URI, and all that could read it is hidden from `call`, whose arena pays
 *  for the templates' matches. */
bool mcp__resources_hides(const mcp__features *set, mcp_call *call, const char *uri);

#endif
